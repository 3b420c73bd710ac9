// SPDX-License-Identifier: BSD-2-Clause
/* hwt(4)'s nodes, by name, inside this process. */
#include "embedded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ROOT_NAME	"/dev/hwt"

/* Core's node; lives until destroyed and the last descriptor is closed. */
struct node {
	struct embedded		*e;
	char			name[64];
	struct hwt_context	*ctx;
	struct hwt_buffer	*buffer;
	bool			gone;
	int			refs;
	int			users;		/* descriptors and mappings of clients */
	struct node		*next;
};

struct device {
	struct embedded	*e;
	struct node	*node;		/* NULL: /dev/hwt */
};

/* Lock held. */
static void node_unref(struct node *n)
{
	struct node **link;

	if (--n->refs)
		return;
	for (link = &n->e->nodes; *link && *link != n; link = &(*link)->next)
		;
	if (*link)
		*link = n->next;
	free(n);
}

int embedded_node_create(void *host, const char *name, struct hwt_context *ctx,
			 struct hwt_buffer *buffer, uint32_t uid, struct hwt_node **out)
{
	struct embedded *e = host;
	struct node *n = hwt_fault_hit() ? NULL : calloc(1, sizeof(*n));

	(void)uid;	/* nobody else can reach them */
	if (!n)
		return -ENOMEM;
	if (snprintf(n->name, sizeof(n->name), "/dev/%s", name) >= (int)sizeof(n->name)) {
		free(n);
		return -ENAMETOOLONG;
	}
	n->e = e;
	n->ctx = ctx;
	n->buffer = buffer;
	n->refs = 1;
	pthread_mutex_lock(&e->lock);
	n->next = e->nodes;
	e->nodes = n;
	pthread_mutex_unlock(&e->lock);
	*out = (struct hwt_node *)n;
	return 0;
}

void embedded_node_destroy(void *host, struct hwt_node *node)
{
	struct embedded *e = host;
	struct node *n = (struct node *)node;

	if (!n)
		return;
	pthread_mutex_lock(&e->lock);
	n->gone = true;
	node_unref(n);
	pthread_mutex_unlock(&e->lock);
}

/* One more or one less descriptor or mapping; the last one lets core reclaim. */
static void node_use(struct node *n, int change)
{
	bool idle;

	pthread_mutex_lock(&n->e->lock);
	n->users += change;
	idle = !n->users;
	pthread_mutex_unlock(&n->e->lock);
	if (idle && n->buffer)
		hwt_buffer_idle(n->e->core, n->ctx, n->buffer);
}

static struct node *node_by_name(struct embedded *e, const char *name)
{
	struct node *n;

	for (n = e->nodes; n; n = n->next)
		if (!n->gone && !strcmp(n->name, name))
			return n;
	return NULL;
}

int embedded_dev_open(void *host, const char *name, void **dev)
{
	struct embedded *e = host;
	struct device *d = calloc(1, sizeof(*d));
	struct hwt_cred cred;
	int err = 0;

	if (!d)
		return -ENOMEM;
	d->e = e;
	embedded_cred(&cred);
	if (strcmp(name, ROOT_NAME)) {
		pthread_mutex_lock(&e->lock);
		d->node = node_by_name(e, name);
		if (d->node)
			d->node->refs++;
		pthread_mutex_unlock(&e->lock);
		err = d->node ? hwt_node_open(e->core, &cred, d->node->ctx) : -ENOENT;
	}
	if (err) {
		if (d->node) {
			pthread_mutex_lock(&e->lock);
			node_unref(d->node);
			pthread_mutex_unlock(&e->lock);
		}
		free(d);
		return err;
	}
	if (d->node)
		node_use(d->node, 1);
	*dev = d;
	return 0;
}

void embedded_dev_close(void *dev)
{
	struct device *d = dev;
	struct embedded *e = d->e;
	struct hwt_cred cred;

	if (d->node) {
		embedded_cred(&cred);
		node_use(d->node, -1);
		hwt_node_close(e->core, &cred, d->node->ctx);
		pthread_mutex_lock(&e->lock);
		node_unref(d->node);
		pthread_mutex_unlock(&e->lock);
	}
	free(d);
}

int embedded_dev_ioctl(void *dev, unsigned long request, void *arg)
{
	struct device *d = dev;
	union {
		uint64_t align[2];
		char bytes[_IOC_SIZEMASK + 1];
	} copy;
	size_t size = _IOC_SIZE(request);
	struct hwt_cred cred;
	int err;

	if (request != (unsigned int)request)
		return -ENOTTY;
	embedded_cred(&cred);
	/* As a kernel does: the structure is copied in, checked there, copied out. */
	memset(&copy, 0, sizeof(copy.align));
	if (size && hwt_copyin((uint64_t)(uintptr_t)arg, copy.bytes, size))
		return -EFAULT;
	err = hwt_ioctl(d->e->core, &cred, d->node ? d->node->ctx : NULL,
			d->node ? d->node->buffer : NULL, (unsigned int)request, &copy);
	if ((!err || err == -EINVAL || err == -ENXIO) && _IOC_DIR(request) & _IOC_READ && size &&
	    hwt_copyout(copy.bytes, (uint64_t)(uintptr_t)arg, size))
		return -EFAULT;
	return err;
}

int embedded_dev_mmap(void *dev, size_t length, off_t offset, void **out)
{
	struct device *d = dev;
	struct hwt_pages *pages;
	struct hwt_cred cred;
	void *p;
	int err;

	if (!d->node)
		return -ENODEV;
	embedded_cred(&cred);
	err = hwt_node_mmap(d->e->core, &cred, d->node->ctx, d->node->buffer,
			    (uint64_t)offset, length, false, &pages);
	if (err)
		return err;
	p = mmap(NULL, length, PROT_READ, MAP_SHARED, d->e->dram.fd,
		 (off_t)dram_offset(&d->e->dram, pages) + offset);
	if (p == MAP_FAILED)
		return -errno;
	node_use(d->node, 1);
	*out = p;
	return 0;
}

int embedded_dev_munmap(void *dev, void *addr, size_t length)
{
	struct device *d = dev;

	if (munmap(addr, length) < 0)
		return -errno;
	node_use(d->node, -1);
	return 0;
}

static int ms_left(const struct timespec *end)
{
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (end->tv_sec - now.tv_sec) * 1000LL + (end->tv_nsec - now.tv_nsec) / 1000000;
	return ms > 0 ? (int)ms : 0;
}

int embedded_dev_poll(void *dev, int timeout_ms)
{
	struct device *d = dev;
	struct timespec end;
	struct hwt_wait *wait;
	uint32_t seen;
	int left, err;

	if (!d->node)
		return -ENODEV;
	deadline(&end, timeout_ms < 0 ? 0 : timeout_ms);
	hwt_node_poll(d->node->ctx, &wait);
	for (;;) {
		seen = __atomic_load_n(&wait->wakes, __ATOMIC_SEQ_CST);
		if (hwt_node_poll(d->node->ctx, &wait))
			return 1;
		left = timeout_ms < 0 ? -1 : ms_left(&end);
		if (!left)
			return 0;
		err = hwt_wait_sleep_ms(wait, seen, left);
		if (err == -EINTR)
			return err;
	}
}
