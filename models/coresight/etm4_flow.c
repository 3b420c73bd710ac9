/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs and events to elements (5.1).
 *
 * A block is what lies between two P0 elements.  `traced`: a decoder knows where
 * this block begins; `active`: one of its instructions is in ViewInst.
 */
#include "etm4_priv.h"

#define ROOM_RETRY	1024		/* instructions, after the bus had no room */

static bool p0_kind(uint8_t kind)
{
	return kind != RUN_SEQ && kind != RUN_FAR;
}

/* Only atoms and the return stack can change. */
void etm_mode_update(struct etm_unit *u)
{
	bool plain = u->enabled && !u->filtering && !u->cci && !u->bb && u->level_on &&
		     u->traced && u->active && !u->overflow && !u->cid_written;

	u->limit = plain ? ETM_ATOMS : 0;
}

/* Trace begins, with the block's first instruction that is traced. */
static void trace_on(struct etm_unit *u)
{
	etm_flush_atoms(u);
	etm_byte(u, ETM4_TRACE_ON);
	etm_timestamp(u);
	u->depth = 0;
	u->ctx_known = false;
	u->cc_stamp = u->insns;
	etm_address(u, u->first);
	u->traced = !u->overflow;
}

/* The block ends with a P0 element: is it traced? */
static bool block_traced(struct etm_unit *u)
{
	if (u->overflow || !u->active)
		return false;
	if (!u->traced)
		trace_on(u);
	return u->traced;
}

/* The next block begins at ip; a decoder knows of it if the last one was traced. */
static void block_begin(struct etm_unit *u, uint64_t ip, bool known)
{
	u->traced = known && !u->overflow;
	u->ip = ip;
	u->empty = true;
	u->active = !u->filtering && u->level_on;
	u->first = ip;
	etm_mode_update(u);
}

/* A due sync point; at the beginning of a block. */
static void sync_due(struct etm_unit *u)
{
	if (u->overflow || !u->period || u->count < u->period)
		return;
	etm_sync(u);
	if (u->traced)
		etm_address(u, u->ip);
	u->traced &= !u->overflow;
	etm_mode_update(u);
}

static void time_pass(struct etm_unit *u, uint32_t insns)
{
	u->insns += insns;
	if (!u->bus_full || u->insns - u->asked < ROOM_RETRY)
		return;
	u->asked = u->insns;
	if (u->host.output(u->host.ctx, 0, NULL, 0))
		etm_unit_overflow_end(u);
}

static void step(struct etm_unit *u, uint64_t ip)
{
	if (etm_filter_step(u, ip) && !u->active) {
		u->active = true;
		u->first = ip;
	}
	u->empty = false;
}

/* ninsn instructions of r. */
static void walk(struct etm_unit *u, const struct run *r, uint32_t ninsn)
{
	uint64_t ip = r->start;
	uint32_t i;

	time_pass(u, ninsn);
	if (!ninsn)
		return;
	u->empty = false;
	if (!u->filtering)
		return;
	for (i = 0; i < ninsn; i++) {
		step(u, ip);
		/* The rest of the run is as this one: in the same window, no points. */
		if (etm_in_window(u, r->last) && !u->win_start && !u->win_stop)
			break;
		ip += r->len[i];
	}
}

static void push(struct etm_unit *u, uint64_t ret)
{
	u->stack[u->top++] = ret;
	u->depth += u->depth < ETM_STACK_DEPTH;
}

/* The return stack (2.3.6): any indirect branch to what is on top needs no address. */
static bool predicted(struct etm_unit *u, const struct run *r, uint64_t next)
{
	if (!u->rs || !u->depth || r->kind == RUN_CALL_IND ||
	    u->stack[(uint8_t)(u->top - 1)] != next)
		return false;
	u->top--;
	u->depth--;
	return true;
}

/* The P0 element of r's end is traced: what goes with its atom. */
static void p0_element(struct etm_unit *u, const struct run *r, uint64_t next)
{
	bool taken = r->kind != RUN_JCC || next == r->taken;
	bool broadcast = u->bb && taken && r->kind != RUN_ISB && r->kind != RUN_WFX &&
			 etm_broadcasts(u, r->last);

	etm_atom(u, taken);
	if (r->kind == RUN_CALL || r->kind == RUN_CALL_IND)
		push(u, r->end);
	etm_cycle_count(u);
	if (r->kind == RUN_ERET)
		return;
	if (broadcast || (run_is_indirect(r->kind) && !predicted(u, r, next)))
		etm_address(u, next);
}

/* The run's branch was executed, or the run was cut behind its last instruction. */
static void branch(struct etm_unit *u, const struct run *r, uint64_t next)
{
	bool traced;

	if (!p0_kind(r->kind)) {
		u->ip = next;
		return;
	}
	traced = block_traced(u);
	if (traced)
		p0_element(u, r, next);
	if (u->cid_written && traced)
		etm_address(u, next);
	u->cid_written = false;
	block_begin(u, next, traced);
	sync_due(u);
}

/* Does next follow from the run?  If not, something unseen moved the CPU. */
static bool follows(const struct run *r, uint64_t next)
{
	return next == r->fall || next == r->taken || run_is_indirect(r->kind);
}

void etm_unit_run(struct etm_unit *u, const struct run *r, uint32_t ninsn, uint64_t next)
{
	uint64_t natural = r->kind == RUN_JCC ? r->end : r->fall;

	walk(u, r, ninsn);
	if (ninsn < r->ninsn) {
		u->ip = next;
	} else if (follows(r, next)) {
		branch(u, r, next);
	} else {
		/* Told as an interrupt, so that the flow decodes. */
		branch(u, r, natural);
		etm_unit_exception(u, ETM4_EXC_IRQ, natural, u->el, u->cid, next);
	}
}

static void context_set(struct etm_unit *u, unsigned int el, uint32_t cid)
{
	u->el = el & 3;
	u->cid = cid;
	u->cid_written = false;
	etm_filter_level(u);
}

/* The flow goes on at `to`, in a context of its own: told where that is traced. */
static void arrive(struct etm_unit *u, bool known, unsigned int el, uint32_t cid,
		   uint64_t to)
{
	context_set(u, el, cid);
	known = known && etm_filter_view(u, to);
	if (known)
		etm_address(u, to);
	block_begin(u, to, known);
	sync_due(u);
}

/* The exception element, where the flow up to it is traced; true: it was. */
static bool exception(struct etm_unit *u, unsigned int type, uint64_t ret)
{
	bool traced = u->traced && u->empty && u->level_on;

	if (u->overflow || !(traced || block_traced(u)))
		return false;
	etm_exception_packet(u, type);
	etm_address(u, ret);
	etm_cycle_count(u);
	u->depth = 0;
	return !u->overflow;
}

void etm_unit_exception(struct etm_unit *u, unsigned int type, uint64_t from,
			unsigned int el, uint32_t cid, uint64_t to)
{
	arrive(u, exception(u, type, from), el, cid, to);
}

void etm_unit_far(struct etm_unit *u, const struct run *r, unsigned int el, uint32_t cid,
		  uint64_t next)
{
	bool traced;

	walk(u, r, r->ninsn);
	if (r->kind == RUN_ERET) {
		traced = block_traced(u);
		if (traced) {
			p0_element(u, r, next);
			etm_flush_atoms(u);
			etm_byte(u, ETM4_EXCEPTION_RETURN);
			u->depth = 0;
		}
	} else {
		traced = exception(u, ETM4_EXC_CALL, r->end);
	}
	arrive(u, traced, el, cid, next);
}

void etm_unit_set_context(struct etm_unit *u, unsigned int el, uint32_t cid, uint64_t ip)
{
	context_set(u, el, cid);
	block_begin(u, ip, false);
}

void etm_unit_set_cid(struct etm_unit *u, uint32_t cid)
{
	if (u->cid == cid)
		return;
	u->cid = cid;
	u->cid_written = u->cid_on;
	etm_mode_update(u);
}

void etm_unit_break(struct etm_unit *u, uint64_t ip)
{
	exception(u, ETM4_EXC_DEBUG_HALT, ip);
	u->broken = true;
	context_set(u, u->el, u->cid);
	block_begin(u, ip, false);
	etm_unit_flush(u);
}

void etm_unit_resume(struct etm_unit *u, uint64_t ip)
{
	u->broken = false;
	etm_unit_set_context(u, u->el, u->cid, ip);
}

void etm_unit_overflow_end(struct etm_unit *u)
{
	if (!u->overflow)
		return;
	u->overflow = false;
	u->bus_full = false;
	etm_overflow_packet(u);
	etm_sync(u);
	/* Where the block began is known; what it was part of is not. */
	u->traced = false;
	etm_mode_update(u);
}

void etm_unit_set_clock(struct etm_unit *u, uint64_t ts)
{
	if (ts <= etm_unit_clock(u))
		return;
	u->ts_base = ts - u->insns;
	/* Where nothing is traced now, trace on will tell it, if there is any. */
	if (u->draining)
		u->ts_due = true;
	else if (u->enabled && u->level_on)
		etm_timestamp(u);
}

uint64_t etm_unit_clock(const struct etm_unit *u)
{
	return u->ts_base + u->insns;
}

/* TRCPRGCTLR.EN was set. */
void etm_enable(struct etm_unit *u)
{
	uint32_t config = *cs_reg(u->regs, TRCCONFIGR);
	unsigned int period = *cs_reg(u->regs, TRCSYNCPR) & TRCSYNCPR_PERIOD_MASK;

	u->cci = config & TRCCONFIGR_CCI;
	u->ts = config & TRCCONFIGR_TS;
	u->rs = config & TRCCONFIGR_RS;
	u->cid_on = config & TRCCONFIGR_CID;
	u->bb = config & TRCCONFIGR_BB;
	u->cc_threshold = *cs_reg(u->regs, TRCCCCTLR) & TRCCCCTLR_THRESHOLD_MASK;
	u->cc_stamp = u->insns;
	u->period = period ? 1ull << period : 0;
	u->enabled = true;
	u->overflow = false;
	u->bus_full = false;
	u->natoms = 0;
	u->atoms = 0;
	u->wp = u->buf;
	etm_filter_setup(u);
	etm_sync(u);
	block_begin(u, u->ip, false);
}

/* It was cleared: all packets out. */
void etm_disable(struct etm_unit *u)
{
	if (u->overflow) {
		u->overflow = false;
		etm_overflow_packet(u);
	}
	etm_unit_flush(u);
	u->enabled = false;
	u->overflow = false;
	u->bus_full = false;
	block_begin(u, u->ip, false);
}
