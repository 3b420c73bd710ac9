/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path: one retired run into the unit, inline.
 *
 * Sequential code, direct jumps, calls and conditional branches take the same
 * instructions, whatever their kind: two compares with the run's successors,
 * and one with tnt_limit, which is 0 whenever something else than pending bits
 * and the call stack could change (timing packets, filters, tracing off).
 */
#ifndef MODELS_PT_FEED_H
#define MODELS_PT_FEED_H

#include "pt_unit_priv.h"

/* All of `r` retired and the next instruction is at `next`; not for RUN_FAR. */
static inline void pt_unit_feed(struct pt_unit *u, const struct run *r, uint64_t next)
{
	bool taken = next == r->taken;
	uint64_t tnt = u->tnt << r->outcome | taken;
	uint32_t depth = u->depth + r->push;
	uint8_t top = u->top;

	if (__builtin_expect(!(taken | (next == r->fall)) | (tnt >= u->tnt_limit), 0)) {
		pt_unit_run(u, r, r->ninsn, next);
		return;
	}
	u->tnt = tnt;
	u->insns += r->ninsn;
	u->stack[top] = r->end;		/* above the top unless push */
	u->top = top + r->push;
	u->depth = depth < PT_CALL_DEPTH ? depth : PT_CALL_DEPTH;
}

/*
 * The same for feeders that look at every run themselves: does nothing and says
 * false where pt_unit_feed would go out of line.  r ends in no call that is to be
 * remembered (push); such runs hide it by a fall of RUN_NOWHERE.
 */
static inline bool pt_unit_try(struct pt_unit *u, const struct run *r, uint64_t next)
{
	uint64_t taken = next == r->taken, tnt;

	if (__builtin_expect(next != r->succ[taken], 0))
		return false;
	tnt = (u->tnt << r->outcome) + taken;
	if (__builtin_expect(tnt >= u->tnt_limit, 0))
		return false;
	u->tnt = tnt;
	u->insns += r->ninsn;
	return true;
}

/*
 * What is tried next: may pt_unit_branch be told of r?  Neither asks for what the
 * run may hide, fall and start.  False where tnt_limit is 0, the run ends in no
 * near branch, or next is none of its successors.
 */
static inline bool pt_unit_may_branch(const struct pt_unit *u, const struct run *r,
				      uint64_t next)
{
	uint8_t kind = r->kind;

	/* One jump for all of it: each alone would be hard to predict. */
	return (u->tnt_limit != 0) & (kind != RUN_SEQ) & (kind != RUN_FAR) &
	       ((kind >= RUN_JMP_IND) | (next == r->target) |
		((kind == RUN_JCC) & (next == r->end)));
}

/* pt_unit_run of a whole run for which pt_unit_may_branch is true. */
void pt_unit_branch(struct pt_unit *u, const struct run *r, uint64_t next);

#endif
