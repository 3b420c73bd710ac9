// SPDX-License-Identifier: BSD-2-Clause
#include "decode.h"

#include <errno.h>
#include <fcntl.h>
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../qemu/execlog_file.h"

#define PAGE 4096u

/* Code of one process as it was at one generation. */
struct page {
	struct page *next;
	uint64_t addr;
	bool in_file, any_captured;
	uint8_t file[PAGE];
	uint64_t captured[PAGE / 64];
	uint8_t capture[PAGE];
};

struct code {
	struct page *table[4096];
	const struct process *process;
	uint64_t generation;	/* the next one to come */
	const struct event **order;	/* events by generation, then arrival */
	size_t applied;		/* of them */
	const struct page *last;
};

void addresses_add(struct addresses *a, uint64_t ip)
{
	if (a->n == a->room) {
		a->room = a->room ? 2 * a->room : 4096;
		a->v = realloc(a->v, a->room * sizeof(*a->v));
		if (!a->v)
			abort();
	}
	a->v[a->n++] = ip;
}

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

static void code_free(struct code *c)
{
	struct page *p;
	size_t i;

	for (i = 0; i < 4096; i++) {
		while ((p = c->table[i])) {
			c->table[i] = p->next;
			free(p);
		}
	}
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

/* Brings c to a generation: events of each in their order. */
static void advance(struct code *c, uint64_t generation)
{
	if (!c->order)
		sort_events(c);
	for (; c->applied < c->process->nevents &&
	       generation_of(c->order[c->applied]) <= generation; c->applied++)
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
	advance(&parent, at);
	memcpy(c->table, parent.table, sizeof(c->table));
	free(parent.order);
	c->generation = at;
}

static int read_code(uint8_t *buf, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *ctx)
{
	struct code *c = ctx;
	const struct page *p;
	size_t i;

	if (!c->last || c->last->addr != (ip & ~(uint64_t)(PAGE - 1)))
		c->last = page_at(c, ip, false);
	p = c->last;
	if (p && p->in_file && !p->any_captured && ip % PAGE + size <= PAGE) {
		memcpy(buf, p->file + ip % PAGE, size);
		return (int)size;
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
	return i ? (int)i : -pte_nomap;
}

/* Offsets of all TIP.PGE packets: each begins a stretch in one generation. */
static void find_enables(const struct pt_config *cfg, struct addresses *offsets)
{
	struct pt_packet_decoder *d = pt_pkt_alloc_decoder(cfg);
	struct pt_packet p;
	uint64_t off;

	if (!d || pt_pkt_sync_forward(d) < 0)
		goto done;
	for (;;) {
		if (pt_pkt_get_offset(d, &off) < 0 || pt_pkt_next(d, &p, sizeof(p)) < 0)
			break;
		if (p.type == ppt_tip_pge)
			addresses_add(offsets, off);
	}
done:
	pt_pkt_free_decoder(d);
}

void count_outcomes(const struct stream *s, uint64_t *taken, uint64_t *not_taken)
{
	struct pt_packet_decoder *d;
	struct pt_config cfg;
	struct pt_packet p;
	int ones;

	pt_config_init(&cfg);
	cfg.begin = s->data;
	cfg.end = s->data + s->size;
	d = pt_pkt_alloc_decoder(&cfg);
	*taken = *not_taken = 0;
	if (d && pt_pkt_sync_forward(d) >= 0)
		while (pt_pkt_next(d, &p, sizeof(p)) >= 0) {
			if (p.type != ppt_tnt_8 && p.type != ppt_tnt_64)
				continue;
			ones = __builtin_popcountll(p.payload.tnt.payload);
			*taken += (unsigned int)ones;
			*not_taken += p.payload.tnt.bit_size - (unsigned int)ones;
		}
	pt_pkt_free_decoder(d);
}

static uint64_t generation_at(const struct stream *s, uint64_t position)
{
	uint64_t g = 0;
	size_t i;

	for (i = 0; i < s->nmarks && s->marks[i].position <= position; i++)
		g = s->marks[i].generation;
	return g;
}

static void error(struct decoded *d, struct pt_insn_decoder *dec, int err, uint64_t ip)
{
	uint64_t off = 0;

	pt_insn_get_offset(dec, &off);
	if (!d->errors++)
		snprintf(d->first_error, sizeof(d->first_error),
			 "%s at offset %#llx, ip %#llx", pt_errstr(pt_errcode(err)), (unsigned long long)off,
			 (unsigned long long)ip);
}

struct walk {
	const struct stream *s;
	struct code code;
	struct addresses enables;
	size_t nenabled;
	struct decoded *d;
};

static int events(struct walk *w, struct pt_insn_decoder *dec, int status)
{
	struct pt_event ev;

	while (status >= 0 && status & pts_event_pending) {
		status = pt_insn_event(dec, &ev, sizeof(ev));
		if (status < 0)
			break;
		if (ev.type == ptev_overflow)
			w->d->gaps++;
		if (ev.type == ptev_enabled && w->nenabled < w->enables.n)
			advance(&w->code,
				generation_at(w->s, w->enables.v[w->nenabled++]));
	}
	return status;
}

static void walk(struct walk *w, struct pt_insn_decoder *dec)
{
	struct pt_insn insn = {0};
	int status = pt_insn_sync_forward(dec);

	while (status >= 0) {
		status = events(w, dec, status);
		if (status >= 0 && status & pts_eos)
			return;
		if (status >= 0) {
			insn.iclass = ptic_error;
			status = pt_insn_next(dec, &insn, sizeof(insn));
			if (insn.iclass != ptic_error)
				addresses_add(&w->d->a, insn.ip);
		}
		if (status == -pte_eos)
			return;
		if (status < 0) {
			error(w->d, dec, status, insn.ip);
			status = pt_insn_sync_forward(dec);
		}
	}
}

int decode_stream(const struct stream *s, struct decoded *d)
{
	struct walk w = {.s = s, .d = d, .code = {.process = s->process}};
	struct pt_insn_decoder *dec;
	struct pt_config cfg;

	if (!s->size)
		return 0;
	pt_config_init(&cfg);
	cfg.begin = s->data;
	cfg.end = s->data + s->size;
	inherit(&w.code, s->process);
	find_enables(&cfg, &w.enables);
	dec = pt_insn_alloc_decoder(&cfg);
	if (!dec)
		return -ENOMEM;
	pt_image_set_callback(pt_insn_get_image(dec), read_code, &w.code);
	walk(&w, dec);
	pt_insn_free_decoder(dec);
	code_free(&w.code);
	free(w.code.order);
	free(w.enables.v);
	return 0;
}

int read_log(const char *dir, const char *name, int pid, int tid, struct addresses *a)
{
	struct execlog_header h;
	char path[4200];
	uint64_t *v;
	FILE *f;
	int err = -EIO;

	snprintf(path, sizeof(path), "%s/%s.%d.%d", dir, name, pid, tid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (fread(&h, sizeof(h), 1, f) != 1 || h.magic != EXECLOG_MAGIC ||
	    fseek(f, EXECLOG_DATA, SEEK_SET))
		goto close;
	v = malloc(h.count * 8 + 8);
	if (!v)
		goto close;
	a->n = a->room = fread(v, 8, h.count, f);
	a->v = v;
	err = a->n == h.count ? 0 : -EIO;
close:
	fclose(f);
	return err;
}
