/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of the Intel PT trace unit: for pt_feed.h and the unit's own files.
 *
 *	pt_regs.c	MSRs, capabilities, enabling and disabling
 *	pt_flow.c	runs and events to packets; filters
 *	pt_emit.c	packets to bytes
 *	pt_time.c	clock, TSC, TMA, MTC, CYC, CBR
 *	pt_output.c	bytes to memory: ToPA, single range
 */
#ifndef MODELS_PT_UNIT_PRIV_H
#define MODELS_PT_UNIT_PRIV_H

#include "pt_unit.h"

#define PT_TNT_EMPTY	1ull		/* the leading one alone */
#define PT_TNT_FULL	(1ull << 47)	/* 47 bits below the leading one (33.4.2.1) */
#define PT_CALL_DEPTH	64		/* returns that are remembered (33.4.2.2) */
#define PT_MAX_DEFER	16		/* TIPs behind one TNT: the unit's choice */
#define PT_FIFO_DRAIN	8		/* instructions a packet, out of the test FIFO */

struct pt_range {
	uint64_t a, b;			/* inclusive */
	uint8_t cfg;			/* RTIT_ADDR_CFG_* */
};

struct pt_unit {
	/* What the inline feed touches. */
	uint64_t tnt;			/* pending bits below a leading one */
	uint64_t tnt_limit;		/* from here on out of line; 0: every run */
	uint64_t insns;			/* instructions retired: the cycle counter */
	uint32_t depth;			/* valid entries below top, <= PT_CALL_DEPTH */
	uint8_t top;			/* next free slot; wraps */

	/* Output: next byte and end of the current region; equal when blocked. */
	uint8_t *wp, *wend;
	uint64_t off;			/* OutputOffset */
	uint64_t count;			/* bytes since the last PSB */
	uint64_t psb_period;
	uint64_t last_ip;

	/* Filter window: [win_lo, win_lo + win_len) has one filter status. */
	uint64_t win_lo, win_len;
	uint64_t ip;			/* next instruction; true while tnt_limit is 0 */

	bool plain;			/* tracing, without the test modes */
	bool idle;			/* outside of all tracing: only time passes */
	bool timed;			/* CYCEn or MTCEn */
	bool trigger_en, context_en, filter_en, packet_en;
	bool in_stop;			/* the window is a TraceStop range */
	bool broken;			/* between pt_unit_break and pt_unit_resume */
	bool retc;			/* return compression */
	bool full_ip;			/* last_ip is not to be relied on */
	bool mode_sent;			/* MODE.Exec since the last PSB */
	bool mode_known;		/* it was, when the overflow began */
	bool pmi;			/* interrupt to be raised */
	bool in_irq;			/* inside host.interrupt: ip is true */
	bool overflow, fifo_overflow;
	bool defer;

	uint8_t region_flags;		/* TOPA_INT, TOPA_STOP of the current entry */
	uint8_t *region;		/* host address of the region */
	uint64_t region_size;

	uint64_t ctl;			/* IA32_RTIT_CTL as written */
	struct pt_range range[PT_MAX_RANGES];
	unsigned int nranges;		/* of this unit */

	unsigned int cpl;
	uint64_t cr3, pip_cr3;		/* pip_cr3: as last told, ~0 not yet */

	uint64_t tsc_base;		/* TSC = tsc_base + insns */
	uint64_t next_mtc;		/* TSC of the next MTC */
	uint64_t tnt_stamp;		/* insns at the first pending bit */
	uint64_t cyc_stamp;		/* insns at the last CYC */
	uint64_t cyc_threshold;
	uint8_t cbr;

	uint32_t fifo, fifo_fill, fifo_drain;
	uint32_t ndefer;
	uint64_t deferred[PT_MAX_DEFER];

	struct pt_regs_file *regs;
	struct pt_unit_host host;
	uint32_t cap[PT_CAP_COUNT];

	/* Slots beside the valid ones may be scribbled on by the feed. */
	uint64_t stack[256];
};

static inline uint64_t *pt_msr(struct pt_unit *u, uint32_t msr)
{
	return &u->regs->msr[msr - MSR_RTIT_FIRST];
}

/* pt_output.c */
void pt_out(struct pt_unit *u, const uint8_t *p, size_t n);
void pt_out_short(struct pt_unit *u, uint64_t bytes, unsigned int n);	/* n <= 8 */
bool pt_output_open(struct pt_unit *u);		/* false: operational error */
void pt_output_block(struct pt_unit *u);
void pt_output_unblock(struct pt_unit *u);
void pt_operational_error(struct pt_unit *u);
void pt_fifo_overflow(struct pt_unit *u);

/* pt_emit.c */
void pt_flush_tnt(struct pt_unit *u);
void pt_tnt(struct pt_unit *u, bool taken);
void pt_ip_packet(struct pt_unit *u, uint8_t opcode, uint64_t ip);
void pt_tip(struct pt_unit *u, uint64_t ip, bool may_defer);
void pt_fup(struct pt_unit *u, uint64_t ip);
void pt_pge(struct pt_unit *u, uint64_t ip);
void pt_pgd(struct pt_unit *u, uint64_t ip, bool with_ip);
void pt_pip(struct pt_unit *u);
void pt_ext(struct pt_unit *u, uint8_t ext);
void pt_psb(struct pt_unit *u);

/* pt_time.c */
uint64_t pt_now(struct pt_unit *u);
void pt_tick(struct pt_unit *u);
void pt_cyc(struct pt_unit *u, uint64_t stamp);
void pt_time_sync(struct pt_unit *u);		/* TSC, TMA */
void pt_cbr(struct pt_unit *u);

/* pt_flow.c */
void pt_mode_update(struct pt_unit *u);
void pt_filters_changed(struct pt_unit *u);
void pt_enable(struct pt_unit *u);
void pt_disable(struct pt_unit *u);
void pt_status_update(struct pt_unit *u);

static inline void pt_push(struct pt_unit *u, uint64_t ret)
{
	u->stack[u->top++] = ret;
	u->depth += u->depth < PT_CALL_DEPTH;
}

#endif
