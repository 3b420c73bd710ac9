// SPDX-License-Identifier: BSD-2-Clause
#include "code_image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Code of one process as it was at one generation. */
struct page {
	struct page *next;
	uint64_t addr;
	bool in_file, any_captured;
	uint8_t file[PAGE];
	uint64_t captured[PAGE / 64];
	uint8_t capture[PAGE];
};

static struct page *page_at(struct code *c, uint64_t addr, bool make)
{
	struct page *p, **head;

	addr &= ~(uint64_t)(PAGE - 1);
	head = &c->table[addr / PAGE % 4096];
	for (p = *head; p && p->addr != addr; p = p->next)
		;
	if (p || !make)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		abort();
	p->addr = addr;
	p->next = *head;
	*head = p;
	return p;
}

void code_free(struct code *c)
{
	struct page *p;
	size_t i;

	for (i = 0; i < 4096; i++) {
		while ((p = c->table[i])) {
			c->table[i] = p->next;
			free(p);
		}
	}
	free(c->order);
}

static void map_file(struct code *c, const struct vtu_hook_mmap *m)
{
	int fd = m->path[0] == '/' && m->path[1] != '/' ? open(m->path, O_RDONLY) : -1;
	uint64_t off;

	for (off = 0; fd >= 0 && off < m->len; off += PAGE) {
		struct page *p = page_at(c, m->addr + off, true);

		p->in_file = true;
		memset(p->file, 0, PAGE);
		if (pread(fd, p->file, PAGE, (off_t)(m->pgoff + off)) < 0)
			p->in_file = false;
	}
	if (fd >= 0)
		close(fd);
}

static void unmap(struct code *c, uint64_t addr, uint64_t len)
{
	uint64_t a;
	struct page *p;

	for (a = addr; a < addr + len; a += PAGE) {
		p = page_at(c, a, false);
		if (!p)
			continue;
		p->in_file = false;
		memset(p->captured, 0, sizeof(p->captured));
	}
}

static void capture(struct code *c, const struct event *e)
{
	size_t at = 0, i, k;

	for (k = 0; k < e->args[0]; k++) {
		const struct vtu_hook_code *h = (const void *)((char *)e->payload + at);

		for (i = 0; i < h->len; i++) {
			uint64_t a = h->addr + i;
			struct page *p = page_at(c, a, true);

			p->any_captured = true;
			p->capture[a % PAGE] = h->bytes[i];
			p->captured[a % PAGE / 64] |= 1ull << a % 64;
		}
		at += VTU_CODE_SPAN(h->len);
	}
}

static void apply(struct code *c, const struct event *e)
{
	if (e->type == VTU_HOOK_MMAP)
		map_file(c, e->payload);
	else if (e->type == VTU_HOOK_MUNMAP)
		unmap(c, e->args[0], e->args[1]);
	else if (e->type == VTU_HOOK_CODE)
		capture(c, e);
}

static uint64_t generation_of(const struct event *e)
{
	return e->type == VTU_HOOK_CODE ? e->args[2] : e->generation;
}

static int by_generation(const void *a, const void *b)
{
	const struct event *x = *(const struct event *const *)a;
	const struct event *y = *(const struct event *const *)b;
	uint64_t gx = generation_of(x), gy = generation_of(y);

	if (gx != gy)
		return gx < gy ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void sort_events(struct code *c)
{
	size_t i, n = c->process->nevents;

	c->order = malloc((n + 1) * sizeof(*c->order));
	if (!c->order)
		abort();
	for (i = 0; i < n; i++)
		c->order[i] = &c->process->events[i];
	qsort(c->order, n, sizeof(*c->order), by_generation);
}

void code_advance(struct code *c, uint64_t generation)
{
	if (!c->order)
		sort_events(c);
	for (; c->applied < c->process->nevents &&
	       generation_of(c->order[c->applied]) <= generation;
	     c->applied++)
		if (generation_of(c->order[c->applied]) >= c->generation)
			apply(c, c->order[c->applied]);
}

/* A forked child has its parent's code up to the fork. */
static void inherit(struct code *c, const struct process *p)
{
	uint64_t at = p->events[0].generation;
	struct code parent = {.process = p->before};

	if (!p->before || p->before->pid == p->pid)
		return;
	inherit(&parent, p->before);
	code_advance(&parent, at);
	memcpy(c->table, parent.table, sizeof(c->table));
	free(parent.order);
	c->generation = at;
}

void code_begin(struct code *c, const struct process *p)
{
	memset(c, 0, sizeof(*c));
	c->process = p;
	inherit(c, p);
}

size_t code_read(struct code *c, uint64_t ip, uint8_t *buf, size_t size)
{
	const struct page *p;
	size_t i;

	if (!c->last || c->last->addr != (ip & ~(uint64_t)(PAGE - 1)))
		c->last = page_at(c, ip, false);
	p = c->last;
	if (p && p->in_file && !p->any_captured && ip % PAGE + size <= PAGE) {
		memcpy(buf, p->file + ip % PAGE, size);
		return size;
	}
	for (i = 0; i < size; i++) {
		uint64_t a = ip + i;

		if (i && !(a % PAGE))
			p = page_at(c, a, false);
		if (p && p->captured[a % PAGE / 64] >> a % 64 & 1)
			buf[i] = p->capture[a % PAGE];
		else if (p && p->in_file)
			buf[i] = p->file[a % PAGE];
		else
			break;
	}
	return i;
}
