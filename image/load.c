// SPDX-License-Identifier: BSD-2-Clause
/* A file mapped as a loader would, for traces that come without maps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

#define PAGE_MASK 4095ull

static uint64_t lowest_page(const struct image_file *f)
{
	uint64_t low = UINT64_MAX;
	size_t i;

	for (i = 0; i < f->nphdr; i++) {
		if (f->phdr[i].type == PT_LOAD && f->phdr[i].vaddr < low)
			low = f->phdr[i].vaddr;
	}
	return low & ~PAGE_MASK;
}

static int map_segments(struct image_space *s, struct image_moment from,
			const struct image_file *f, uint64_t bias)
{
	struct image_map m = {.path = f->path};
	const struct image_phdr *p;
	int ret = 0;
	size_t i;

	for (i = 0; i < f->nphdr && !ret; i++) {
		p = &f->phdr[i];
		if (p->type != PT_LOAD || !p->filesz)
			continue;
		/* A page shared by two segments belongs to the one with code. */
		if (!(p->flags & PF_X)) {
			m.addr = bias + p->vaddr;
			m.pgoff = p->offset;
		} else {
			m.addr = (bias + p->vaddr) & ~PAGE_MASK;
			m.pgoff = p->offset - (p->vaddr & PAGE_MASK);
			if (m.pgoff > p->offset)
				return -ENOEXEC;
		}
		m.len = bias + p->vaddr + p->filesz - m.addr;
		ret = image_space_map(s, from, &m);
	}
	return ret == -EINVAL ? -ENOEXEC : ret;
}

int image_space_map_elf(struct image_space *s, struct image_moment from, const char *path,
			const uint64_t *addr)
{
	struct image_map m = {};
	struct image_file *f;
	char *full;
	int ret;

	/* Recorded paths are absolute; a user's need not be. */
	full = s->store->sysroot ? strdup(path) : realpath(path, NULL);
	if (!full)
		return -errno;
	pthread_mutex_lock(&s->store->lock);
	f = store_file(s->store, full);
	pthread_mutex_unlock(&s->store->lock);
	free(full);
	if (!f)
		return -ENOMEM;
	if (f->err)
		return f->err;
	if (f->elf && f->nphdr)
		return map_segments(s, from, f, addr ? *addr - lowest_page(f) : 0);
	if (!addr)
		return -ENOEXEC;
	m.path = f->path;
	m.addr = *addr;
	m.len = f->size;
	ret = image_space_map(s, from, &m);
	return ret == -EINVAL ? -ENOEXEC : ret;
}
