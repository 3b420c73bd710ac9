// SPDX-License-Identifier: BSD-2-Clause
#include "code.h"

#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "maps.h"
#include "window.h"

#define PAGE		4096u
#define TABLE_BITS	12

/* What is known of a page of captured code. */
struct shadow {
	struct shadow *next;
	uint64_t page;			/* address */
	struct block_info *blocks;	/* that begin here, by next_by_page */
	uint64_t valid[PAGE / 64];	/* a bit a byte */
	uint8_t bytes[PAGE];
};

/* vtu.lock guards all of this. */
static struct shadow *table[1u << TABLE_BITS];

struct piece {			/* in the queue, bytes behind it */
	uint64_t generation, addr;
	uint32_t len, span;
};
static uint8_t *queue;
static size_t queue_head, queue_tail, queue_room;

static struct shadow **bucket(uint64_t page)
{
	return &table[page * 0x9e3779b97f4a7c15ull >> (64 - TABLE_BITS)];
}

static struct shadow *find(uint64_t addr)
{
	uint64_t page = addr & ~(uint64_t)(PAGE - 1);
	struct shadow *s;

	for (s = *bucket(page); s && s->page != page; s = s->next)
		;
	return s;
}

static struct shadow *get(uint64_t addr)
{
	struct shadow *s = find(addr), **head;

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->page = addr & ~(uint64_t)(PAGE - 1);
	head = bucket(s->page);
	s->next = *head;
	*head = s;
	return s;
}

static bool is_valid(const struct shadow *s, uint32_t off)
{
	return s->valid[off / 64] >> off % 64 & 1;
}

enum { SAME, MORE, DIFFERENT };

/* How the bytes compare with what is known: all known, some new, or rewritten. */
static int compare(uint64_t addr, const uint8_t *bytes, size_t n)
{
	const struct shadow *s = NULL;
	int result = SAME;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t off = (addr + i) & (PAGE - 1);

		if (!i || !off)
			s = find(addr + i);
		if (!s || !is_valid(s, off))
			result = MORE;
		else if (s->bytes[off] != bytes[i])
			return DIFFERENT;
	}
	return result;
}

static bool store(uint64_t addr, const uint8_t *bytes, size_t n)
{
	struct shadow *s = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t off = (addr + i) & (PAGE - 1);

		if (!i || !off)
			s = get(addr + i);
		if (!s)
			return false;
		s->bytes[off] = bytes[i];
		s->valid[off / 64] |= 1ull << off % 64;
	}
	return true;
}

static void enqueue(uint64_t addr, const uint8_t *bytes, uint32_t n)
{
	struct piece p = {vtu.generation, addr, n, 0};
	uint8_t *more;

	p.span = (uint32_t)sizeof(p) + ((n + 7) & ~7u);
	if (queue_tail + p.span > queue_room) {
		more = realloc(queue, queue_room * 2 + p.span + 4096);
		if (!more) {
			plugin_warn("no memory to capture code at %llx",
				    (unsigned long long)addr);
			return;
		}
		queue = more;
		queue_room = queue_room * 2 + p.span + 4096;
	}
	memcpy(queue + queue_tail, &p, sizeof(p));
	memcpy(queue + queue_tail + sizeof(p), bytes, n);
	queue_tail += p.span;
}

/* Blocks of the page that have bytes in [addr, end) are of the past. */
static void mark_stale(struct shadow *s, uint64_t addr, uint64_t end)
{
	struct block_info **link, *b;

	if (!s)
		return;
	for (link = &s->blocks; (b = *link);) {
		if (b->real->end <= addr || b->real->start >= end) {
			link = &b->next_by_page;
			continue;
		}
		b->flags |= R_STALE;
		*link = b->next_by_page;
	}
}

static void attention_locked(void)
{
	uint32_t i;

	for (i = 0; i < vtu.nvcpus; i++)
		if (vtu.vcpus[i] && vtu.vcpus[i]->block != &window_no_block)
			vcpu_attention(vtu.vcpus[i], VTU_ATTN_CODE);
}

void code_capture(struct block_info *b, const uint8_t *bytes)
{
	const struct run *r = b->real;
	uint32_t n = (uint32_t)(r->end - r->start);
	int what = compare(r->start, bytes, n);
	struct shadow *s;

	if (what == DIFFERENT) {
		mark_stale(find(r->start), r->start, r->end);
		mark_stale(find(r->end - 1), r->start, r->end);
		mark_stale(find(r->start - PAGE), r->start, r->end);
		__atomic_add_fetch(&vtu.generation, 1, __ATOMIC_SEQ_CST);
	}
	if (what != SAME) {
		if (!store(r->start, bytes, n))
			plugin_warn("no memory to capture code at %llx",
				    (unsigned long long)r->start);
		enqueue(r->start, bytes, n);
	}
	s = find(r->start);
	if (s) {
		b->next_by_page = s->blocks;
		s->blocks = b;
	}
	if (what == DIFFERENT)
		attention_locked();
	else if (what == MORE && vcpu_self)
		vcpu_attention(vcpu_self, VTU_ATTN_CODE);
}

void code_forget_blocks(void)
{
	struct shadow *s;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		for (s = table[i]; s; s = s->next)
			s->blocks = NULL;
}

void code_forget(uint64_t addr, uint64_t len)
{
	struct shadow **link, *s;
	size_t i;

	pthread_mutex_lock(&vtu.lock);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		for (link = &table[i]; (s = *link);) {
			if (s->page - addr >= len) {
				link = &s->next;
				continue;
			}
			*link = s->next;
			free(s);
		}
	}
	pthread_mutex_unlock(&vtu.lock);
}

void code_snapshot(uint64_t addr, uint64_t len)
{
	uint8_t bytes[PAGE];
	uint64_t a;

	pthread_mutex_lock(&vtu.lock);
	for (a = addr; a < addr + len; a += PAGE)
		if (maps_flags(a, PAGE) & MAP_CLEAN && guest_read(a, bytes, PAGE))
			store(a, bytes, PAGE);
	pthread_mutex_unlock(&vtu.lock);
}

void code_bump(struct vcpu *v)
{
	v->generation = __atomic_add_fetch(&vtu.generation, 1, __ATOMIC_SEQ_CST);
	vcpus_attention(v, VTU_ATTN_CODE);
}

/* Fills the payload with pieces of one generation; how many. */
static uint32_t take(struct vcpu *v, size_t *used, uint64_t *generation)
{
	uint8_t *out = v->block->payload;
	struct vtu_hook_code *hc;
	uint32_t count = 0;
	struct piece p;
	size_t at = 0;

	pthread_mutex_lock(&vtu.lock);
	while (queue_head < queue_tail) {
		memcpy(&p, queue + queue_head, sizeof(p));
		if (count && (p.generation != *generation ||
			      at + VTU_CODE_SPAN(p.len) > VTU_PAYLOAD))
			break;
		*generation = p.generation;
		hc = (struct vtu_hook_code *)(out + at);
		hc->addr = p.addr;
		hc->len = p.len;
		hc->reserved = 0;
		memcpy(hc->bytes, queue + queue_head + sizeof(p), p.len);
		at += VTU_CODE_SPAN(p.len);
		queue_head += p.span;
		count++;
	}
	if (queue_head == queue_tail)
		queue_head = queue_tail = 0;
	pthread_mutex_unlock(&vtu.lock);
	*used = at;
	return count;
}

void code_drain(struct vcpu *v)
{
	uint64_t generation = 0;
	uint32_t count;
	size_t used;

	while (__atomic_load_n(&queue_tail, __ATOMIC_RELAXED)) {
		count = take(v, &used, &generation);
		if (!count || !window_hook(v, VTU_HOOK_CODE, count, used, generation))
			return;
	}
}

void code_attend(struct vcpu *v, const struct run *c)
{
	uint64_t generation;

	/* Old code, about to run once more: afterwards. */
	if (run_info(c)->flags & R_STALE)
		return;
	__atomic_and_fetch(&v->block->attention, ~VTU_ATTN_CODE, __ATOMIC_SEQ_CST);
	generation = __atomic_load_n(&vtu.generation, __ATOMIC_SEQ_CST);
	if (v->generation == generation &&
	    !__atomic_load_n(&queue_tail, __ATOMIC_RELAXED))
		return;
	vcpu_leave(v, c->start, UNIT_INTERRUPT);
	code_drain(v);
	if (v->mode != VCPU_LIVE || v->generation == generation)
		return;
	v->generation = generation;
	window_hook(v, VTU_HOOK_GENERATION, generation, 0, 0);
}
