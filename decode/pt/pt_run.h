/* SPDX-License-Identifier: BSD-2-Clause */
/* How runs are written, and the return stack: shared by pt_walk.c and pt_fast.c. */
#ifndef DECODE_PT_RUN_H
#define DECODE_PT_RUN_H

#include "pt_priv.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/* What is the same in all runs that one packet settles. */
struct run_common {
	uint64_t first, flags;		/* to be ored into heads: first run, others */
	uint64_t offset, time, cycles;
};

static inline uint64_t flag_word(const struct pt_decoder *d, uint8_t flags)
{
	return d->flag_words[flags / TRACE_F_ENTRY];
}

static inline struct run_common common(const struct pt_decoder *d)
{
	uint8_t flags = d->time.known ? TRACE_F_TIME : 0;
	uint8_t first = flags;
	struct run_common c;

	if (d->entry)
		first |= TRACE_F_ENTRY;
	if (d->fresh_cyc)
		first |= TRACE_F_CYCLES;
	c.flags = flag_word(d, flags);
	c.first = flag_word(d, first);
	c.offset = d->at;
	c.time = d->time.time;
	c.cycles = d->time.cycles;
	return c;
}

static inline void put(struct trace_event *ev, const struct run_common *c,
		       const struct pt_block *b, uint64_t head, uint64_t to)
{
	memcpy(ev, &head, sizeof(head));
	ev->ip = b->ip;
	ev->block = &b->b;
	ev->to = to;
	ev->offset = c->offset;
	ev->time = c->time;
	ev->cycles = c->cycles;
}

static inline void push(struct pt_decoder *d, struct pt_block *call)
{
	d->stack[d->stack_top++ % PT_RET_STACK] = call;
	if (d->stack_n < PT_RET_STACK)
		d->stack_n++;
}

static inline struct pt_block *pop(struct pt_decoder *d)
{
	d->stack_n--;
	return d->stack[--d->stack_top % PT_RET_STACK];
}

/* b ended in a branch that went to ip: the block there, or NULL: not looked up. */
static inline struct pt_block *tip_target(struct pt_decoder *d, struct pt_block *b,
					  uint64_t ip)
{
	if (b->b.kind == BLOCK_CALL_IND)
		push(d, b);
	if (unlikely(b->ind_ip != ip || b->ind->op <= PT_OP_DEAD)) {
		b->ind_ip = ip;
		b->ind = pt_blocks_find(d->blocks, ip, d->mode);
		if (!b->ind)
			b->ind = &pt_block_none;
	}
	return b->ind->op > PT_OP_DEAD && b->ind->mode == d->mode ? b->ind : NULL;
}

/* The block that follows b (way 0: in memory, 1: its target), or NULL. */
struct pt_block *pt_walk_follow(struct pt_decoder *d, struct pt_block *b, int way, int *error);
/* A walk pauses or is over: ev is the next free event, ip where flow stands. */
void pt_walk_leave(struct pt_decoder *d, struct trace_event *ev, struct pt_block *b,
		   uint64_t ip);

#endif
