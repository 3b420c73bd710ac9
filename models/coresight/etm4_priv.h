/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of the ETMv4 trace unit: for etm4_feed.h and the unit's own files.
 *
 *	etm4_regs.c	registers, enabling and disabling
 *	etm4_flow.c	runs and events to elements
 *	etm4_filter.c	ViewInst and branch broadcast
 *	etm4_emit.c	elements to packets, packets to the trace bus
 */
#ifndef MODELS_CORESIGHT_ETM4_PRIV_H
#define MODELS_CORESIGHT_ETM4_PRIV_H

#include "etm4_unit.h"

#define ETM_ATOMS	63		/* pending at most; from there on out of line */
#define ETM_STACK_DEPTH	15		/* 2.3.6: what decoders keep, at least */
#define ETM_BUFFER	1024
#define ETM_DRAIN	768		/* to the bus from here on */

struct etm_range {
	uint64_t a, b;			/* inclusive */
	uint8_t exlevels;		/* bit n: not at level n */
};

struct etm_unit {
	/* What the inline feed touches. */
	uint64_t atoms;			/* bit n: the n-th pending one is E */
	uint32_t natoms;
	uint32_t limit;			/* from so many atoms on out of line; 0: always */
	uint64_t insns;			/* instructions retired: the cycle counter */
	uint32_t depth;			/* valid entries below top */
	uint8_t top;			/* next free slot; wraps */

	bool enabled;
	bool traced;			/* a decoder knows the flow up to this block */
	bool active;			/* an instruction of this block is in ViewInst */
	bool empty;			/* none of this block was executed yet */
	bool filtering;			/* ViewInst differs from address to address */
	bool broken;			/* between etm_unit_break and etm_unit_resume */
	bool overflow;
	bool level_on;			/* this exception level is traced */
	uint64_t first;			/* the first active one */
	uint64_t ip;			/* next instruction; true while limit is 0 */

	/* Filter window: [win_lo, win_lo + win_len) has one status. */
	uint64_t win_lo, win_len;
	bool win_in, win_start, win_stop, win_bb;
	bool started;			/* start/stop logic */

	bool cci, ts, rs, cid_on, bb;
	uint32_t cc_threshold, cc_max;
	uint64_t cc_stamp;		/* insns at the last cycle count */
	uint64_t ts_base;		/* clock = ts_base + insns */
	uint64_t ts_last;
	bool ts_full;			/* none since the last Trace Info */
	uint64_t period, count;		/* bytes between syncs, since the last */
	bool draining;			/* buf is on its way; nothing may follow it yet, */
	bool ts_due;			/* but a timestamp then */
	bool bus_full;			/* overflow: the bus had no room */
	uint64_t asked;			/* insns at which it was last asked for */

	uint64_t history[3];		/* address registers (6.4.12) */
	unsigned int nhistory;		/* that a decoder has, too */
	bool ctx_known;
	unsigned int el, told_el;
	uint32_t cid, told_cid;
	bool cid_written; /* while the flow is traced: not told yet */

	struct etm_range range[ETM4_MAX_PAIRS];
	uint64_t ssp[ETM4_MAX_ACS];
	uint32_t include, exclude, start, stop, bb_ranges;
	bool bb_include, event_true;

	struct cs_regs *regs;
	struct etm_unit_host host;
	uint8_t *wp;
	uint8_t buf[ETM_BUFFER];
	/* Slots beside the valid ones may be scribbled on by the feed. */
	uint64_t stack[256];
};

/* etm4_emit.c */
void etm_flush_atoms(struct etm_unit *u);
void etm_atom(struct etm_unit *u, bool e);
void etm_byte(struct etm_unit *u, uint8_t byte);
void etm_address(struct etm_unit *u, uint64_t ip);	/* with context, if due */
void etm_exception_packet(struct etm_unit *u, unsigned int type);
void etm_cycle_count(struct etm_unit *u);
void etm_timestamp(struct etm_unit *u);
void etm_sync(struct etm_unit *u);			/* A-sync, Trace Info */
void etm_drain(struct etm_unit *u);
void etm_overflow_packet(struct etm_unit *u);

/* etm4_filter.c */
void etm_filter_setup(struct etm_unit *u);
void etm_filter_level(struct etm_unit *u);		/* after a change of level */
/* The instruction at ip is executed: is it in ViewInst? */
bool etm_filter_step(struct etm_unit *u, uint64_t ip);
/* Would it be? Changes nothing. */
bool etm_filter_view(struct etm_unit *u, uint64_t ip);
void etm_window_find(struct etm_unit *u, uint64_t ip);
bool etm_broadcasts(struct etm_unit *u, uint64_t ip);	/* branch broadcasting there? */

/* etm4_flow.c */
void etm_enable(struct etm_unit *u);
void etm_disable(struct etm_unit *u);
void etm_mode_update(struct etm_unit *u);

static inline bool etm_in_window(const struct etm_unit *u, uint64_t ip)
{
	return ip - u->win_lo < u->win_len;
}

#endif
