/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path: one retired run into the trace unit, inline.
 *
 * Sequential code, direct branches and calls take the same instructions: two
 * compares with the run's successors, and one with `limit`, which is 0 whenever
 * more than pending atoms and the return stack could change (filters, cycle
 * counts, branch broadcasting, tracing off).
 */
#ifndef MODELS_CORESIGHT_ETM4_FEED_H
#define MODELS_CORESIGHT_ETM4_FEED_H

#include "etm4_priv.h"

/* All of `r` retired and the next instruction is at `next`; not for FAR, ERET. */
static inline void etm_unit_feed(struct etm_unit *u, const struct run *r, uint64_t next)
{
	bool taken = next == r->taken;
	uint32_t n = u->natoms, p0 = r->kind != RUN_SEQ, link = r->kind == RUN_CALL;
	uint32_t depth = u->depth + link;
	uint8_t top = u->top;

	if (__builtin_expect(!(taken | (next == r->fall)) | (n >= u->limit), 0)) {
		etm_unit_run(u, r, r->ninsn, next);
		return;
	}
	u->atoms |= (uint64_t)(p0 & (taken | !r->outcome)) << n;
	u->natoms = n + p0;
	u->insns += r->ninsn;
	u->stack[top] = r->end;		/* above the top unless it links */
	u->top = top + link;
	u->depth = depth < ETM_STACK_DEPTH ? depth : ETM_STACK_DEPTH;
}

#endif
