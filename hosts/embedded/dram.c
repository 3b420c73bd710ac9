// SPDX-License-Identifier: BSD-2-Clause
#include "dram.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_ALIGN	(128ull << 20)	/* largest ToPA region */

struct dram_extent {
	uint64_t	start, len;
	struct dram_extent *next;
};

int dram_init(struct dram *d)
{
	int err;

	d->free_list = NULL;
	d->fd = memfd_create("hwt-dram", MFD_CLOEXEC);
	if (d->fd < 0)
		return -errno;
	if (ftruncate(d->fd, (off_t)DRAM_SIZE) < 0)
		goto err_fd;
	d->base = mmap(NULL, DRAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		       d->fd, 0);
	if (d->base == MAP_FAILED)
		goto err_fd;
	/* A core dump of hwt is not one of the traces. */
	madvise(d->base, DRAM_SIZE, MADV_DONTDUMP);
	d->free_list = calloc(1, sizeof(*d->free_list));
	if (!d->free_list)
		goto err_map;
	/* Address 0 stays unused: a driver that forgot to program one is told. */
	d->free_list->start = HWT_PAGE_SIZE;
	d->free_list->len = DRAM_SIZE - HWT_PAGE_SIZE;
	pthread_mutex_init(&d->lock, NULL);
	return 0;

err_map:
	munmap(d->base, DRAM_SIZE);
	errno = ENOMEM;
err_fd:
	err = -errno;
	close(d->fd);
	d->fd = -1;
	return err;
}

void dram_fini(struct dram *d)
{
	struct dram_extent *e, *next;

	if (d->fd < 0)
		return;
	for (e = d->free_list; e; e = next) {
		next = e->next;
		free(e);
	}
	munmap(d->base, DRAM_SIZE);
	close(d->fd);
	pthread_mutex_destroy(&d->lock);
	d->fd = -1;
}

static uint64_t alignment(uint64_t len)
{
	uint64_t a = HWT_PAGE_SIZE;

	while (a < len && a < MAX_ALIGN)
		a *= 2;
	return a;
}

/* Cuts [start, start + len) out of extent *link. */
static int carve(struct dram_extent **link, uint64_t start, uint64_t len)
{
	struct dram_extent *e = *link, *rest;
	uint64_t before = start - e->start, after = e->start + e->len - (start + len);

	if (before && after) {
		rest = calloc(1, sizeof(*rest));
		if (!rest)
			return -ENOMEM;
		rest->start = start + len;
		rest->len = after;
		rest->next = e->next;
		e->len = before;
		e->next = rest;
	} else if (before) {
		e->len = before;
	} else if (after) {
		e->start = start + len;
		e->len = after;
	} else {
		*link = e->next;
		free(e);
	}
	return 0;
}

static int take(struct dram *d, uint64_t len, uint64_t *start)
{
	uint64_t a = alignment(len), at;
	struct dram_extent **link;

	for (link = &d->free_list; *link; link = &(*link)->next) {
		at = ((*link)->start + a - 1) & ~(a - 1);
		if (at + len <= (*link)->start + (*link)->len) {
			*start = at;
			return carve(link, at, len);
		}
	}
	return -ENOMEM;
}

struct hwt_pages *dram_alloc(struct dram *d, size_t npages)
{
	struct hwt_pages *p;
	uint64_t start;
	int err;

	if (!npages || npages > DRAM_SIZE / HWT_PAGE_SIZE)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	pthread_mutex_lock(&d->lock);
	err = take(d, npages * HWT_PAGE_SIZE, &start);
	pthread_mutex_unlock(&d->lock);
	if (err) {
		free(p);
		return NULL;
	}
	p->npages = npages;
	p->kva = d->base + start;
	return p;
}

/* Puts an extent back in its place and joins it with its neighbours. */
static void give_back(struct dram *d, struct dram_extent *e)
{
	struct dram_extent **link = &d->free_list, *prev = NULL, *next;

	while (*link && (*link)->start < e->start) {
		prev = *link;
		link = &(*link)->next;
	}
	e->next = *link;
	*link = e;
	next = e->next;
	if (next && e->start + e->len == next->start) {
		e->len += next->len;
		e->next = next->next;
		free(next);
	}
	if (prev && prev->start + prev->len == e->start) {
		prev->len += e->len;
		prev->next = e->next;
		free(e);
	}
}

void dram_free(struct dram *d, struct hwt_pages *pages)
{
	struct dram_extent *e;

	if (!pages)
		return;
	e = calloc(1, sizeof(*e));
	if (e) {
		e->start = dram_offset(d, pages);
		e->len = pages->npages * HWT_PAGE_SIZE;
		/* The hole reads as zeroes for the next one who gets it. */
		fallocate(d->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)e->start, (off_t)e->len);
		pthread_mutex_lock(&d->lock);
		give_back(d, e);
		pthread_mutex_unlock(&d->lock);
	}
	free(pages);
}

uint64_t dram_offset(const struct dram *d, const struct hwt_pages *pages)
{
	return (uint64_t)((uint8_t *)pages->kva - d->base);
}
