/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs and events to packets (33.2.5 enables, 33.2.4.3 filters, table 33-50).
 *
 * Addresses between two range borders share one filter status: a window.  Only
 * flow that crosses a window's border is looked at instruction by instruction.
 */
#include "pt_feed.h"

static bool in_window(const struct pt_unit *u, uint64_t ip)
{
	return ip - u->win_lo < u->win_len;
}

/* Finds the window around ip, and its status. */
static void window_find(struct pt_unit *u, uint64_t ip)
{
	uint64_t lo = 0, hi = ~0ull;
	bool any = false, filter = false, stop = false;
	unsigned int i;

	for (i = 0; i < u->nranges; i++) {
		const struct pt_range *r = &u->range[i];

		if (r->cfg == RTIT_ADDR_CFG_OFF)
			continue;
		any |= r->cfg == RTIT_ADDR_CFG_FILTER;
		if (r->b < r->a)
			continue;
		if (ip < r->a) {
			hi = r->a - 1 < hi ? r->a - 1 : hi;
		} else if (ip > r->b) {
			lo = r->b + 1 > lo ? r->b + 1 : lo;
		} else {
			lo = r->a > lo ? r->a : lo;
			hi = r->b < hi ? r->b : hi;
			filter |= r->cfg == RTIT_ADDR_CFG_FILTER;
			stop |= r->cfg == RTIT_ADDR_CFG_STOP;
		}
	}
	u->win_lo = lo;
	u->win_len = hi - lo == ~0ull ? ~0ull : hi - lo + 1;
	u->filter_en = filter || !any;
	u->in_stop = stop;
}

void pt_filters_changed(struct pt_unit *u)
{
	unsigned int i;

	for (i = 0; i < u->nranges; i++) {
		u->range[i].cfg = u->ctl >> RTIT_CTL_ADDR_CFG_SHIFT(i) & 0xf;
		u->range[i].a = *pt_msr(u, MSR_RTIT_ADDRN_A(i));
		u->range[i].b = *pt_msr(u, MSR_RTIT_ADDRN_B(i));
	}
	window_find(u, u->ip);
}

/* STATUS: what the unit keeps there, and how far the next PSB is. */
void pt_status_update(struct pt_unit *u)
{
	uint64_t *status = pt_msr(u, MSR_RTIT_STATUS);
	uint64_t count = u->count < 0x1ffff ? u->count : 0x1ffff;

	*status = (*status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED)) |
		  (u->trigger_en ? RTIT_STATUS_TRIGGEREN : 0) |
		  (u->trigger_en && u->context_en ? RTIT_STATUS_CONTEXTEN : 0) |
		  (u->trigger_en && u->filter_en ? RTIT_STATUS_FILTEREN : 0) |
		  count << RTIT_STATUS_PKTBYTECNT_SHIFT;
}

/* Which runs may stay in the inline feed. */
void pt_mode_update(struct pt_unit *u)
{
	bool whole = u->win_len == ~0ull && !u->in_stop;

	u->timed = u->ctl & (RTIT_CTL_CYCEN | RTIT_CTL_MTCEN);
	u->plain = u->packet_en && !u->overflow && !u->fifo && !u->defer;
	u->idle = !u->packet_en && !(u->timed && u->trigger_en) && !u->overflow &&
		  !u->fifo;
	u->tnt_limit = u->plain && !u->timed && whole ? PT_TNT_FULL : 0;
}

static void context_update(struct pt_unit *u)
{
	uint64_t match = *pt_msr(u, MSR_RTIT_CR3_MATCH);

	u->context_en = (u->ctl & (u->cpl ? RTIT_CTL_USER : RTIT_CTL_OS)) &&
			(!(u->ctl & RTIT_CTL_CR3FILTER) || !((u->cr3 ^ match) >> 5));
}

static bool packet_enable(const struct pt_unit *u)
{
	return u->trigger_en && u->context_en && u->filter_en && !u->in_stop &&
	       !u->broken && (u->ctl & RTIT_CTL_BRANCHEN);
}

/* TraceStop (33.2.4.3): no packets from here on until software clears Stopped. */
static void trace_stop(struct pt_unit *u)
{
	if (u->overflow)
		pt_unit_overflow_end(u, u->ip);
	pt_ext(u, PT_EXT_TRACESTOP);
	*pt_msr(u, MSR_RTIT_STATUS) |= RTIT_STATUS_STOPPED;
	u->trigger_en = false;
	u->packet_en = false;
	pt_output_block(u);
}

/*
 * Flow has come to ip: by walking there, by a branch, or by an event whose FUP
 * is out.  Gives the packets of a change of PacketEn; true when tracing went on,
 * so that the branch's own packet is due.
 */
enum arrival { BY_WALK, BY_BRANCH };

static bool arrive(struct pt_unit *u, uint64_t ip, enum arrival how)
{
	bool was = u->packet_en, now, stop;

	u->ip = ip;
	if (!in_window(u, ip))
		window_find(u, ip);
	now = packet_enable(u);
	stop = u->in_stop && u->trigger_en && u->context_en;
	if (was == now && !stop)
		return now;
	if (was) {
		if (how == BY_WALK)
			pt_fup(u, ip);
		pt_pgd(u, ip, u->trigger_en && u->context_en && !u->broken);
	} else if (now) {
		pt_pge(u, ip);
	}
	if (stop)
		trace_stop(u);
	pt_status_update(u);
	pt_mode_update(u);
	return false;
}

static void take_interrupts(struct pt_unit *u)
{
	while (u->pmi && !u->in_irq) {
		u->pmi = false;
		pt_status_update(u);
		u->in_irq = true;
		if (u->host.interrupt)
			u->host.interrupt(u->host.ctx);
		u->in_irq = false;
	}
}

/* The end of each event: a due PSB, then the interrupt; the CPU stands at u->ip. */
static void event_end(struct pt_unit *u)
{
	if (u->fifo_overflow && !u->fifo_fill)
		pt_unit_overflow_end(u, u->ip);
	if (u->count >= u->psb_period && u->trigger_en && !u->overflow) {
		pt_psb(u);
		pt_mode_update(u);
	}
	take_interrupts(u);
}

/*
 * The end of a run.  One that ends in no branch may have loaded CR3, which is told next:
 * no PSB+ comes in between, for the PIP behind it were the next load's (33.4.2.7).
 */
static void run_end(struct pt_unit *u, const struct run *r)
{
	if (r->kind == RUN_SEQ)
		take_interrupts(u);
	else
		event_end(u);
}

static void time_pass(struct pt_unit *u, uint32_t insns)
{
	uint32_t drained;

	u->insns += insns;
	if (u->timed)
		pt_tick(u);
	if (!u->fifo)
		return;
	u->fifo_drain += insns;
	drained = u->fifo_drain / PT_FIFO_DRAIN;
	u->fifo_drain %= PT_FIFO_DRAIN;
	u->fifo_fill -= drained < u->fifo_fill ? drained : u->fifo_fill;
}

/* ninsn instructions of r; flow stands at the last one of them, not after it. */
static void walk(struct pt_unit *u, const struct run *r, uint32_t ninsn)
{
	uint64_t ip = r->start;
	uint32_t i;

	arrive(u, ip, BY_WALK);
	if (in_window(u, r->last)) {
		time_pass(u, ninsn);
		return;
	}
	for (i = 0; i < ninsn; i++) {
		if (i && !in_window(u, ip))
			arrive(u, ip, BY_WALK);
		time_pass(u, 1);
		ip += r->len[i];
	}
}

static bool return_compressed(struct pt_unit *u, uint64_t next)
{
	if (u->retc && u->depth && u->stack[(uint8_t)(u->top - 1)] == next) {
		u->top--;
		u->depth--;
		return true;
	}
	/* Decoders differ in what an uncompressed RET pops: rely on nothing. */
	u->depth = 0;
	return false;
}

/* As pt_tnt; plain: with nothing but the bits to think of. */
static inline void tnt_bit(struct pt_unit *u, bool taken, bool plain)
{
	if (!plain) {
		pt_tnt(u, taken);
		return;
	}
	u->tnt = u->tnt << 1 | taken;
	if (u->tnt >= PT_TNT_FULL)
		pt_flush_tnt(u);
}

/* The packet of the branch at r's end, if it has one. */
static inline void branch_packet(struct pt_unit *u, const struct run *r, uint64_t next,
				 bool plain)
{
	switch (r->kind) {
	case RUN_JCC:
		tnt_bit(u, next == r->taken, plain);
		break;
	case RUN_RET:
		if (return_compressed(u, next))
			tnt_bit(u, true, plain);
		else
			pt_tip(u, next, false);
		break;
	case RUN_CALL:
		if (r->push)
			pt_push(u, r->end);
		break;
	case RUN_CALL_IND:
		pt_push(u, r->end);
		/* fallthrough */
	case RUN_JMP_IND:
		pt_tip(u, next, !plain);
		break;
	}
}

/* The branch at r's end was executed. */
static void branch(struct pt_unit *u, const struct run *r, uint64_t next)
{
	bool untaken = r->kind == RUN_JCC && next != r->taken;
	bool straight = r->kind == RUN_SEQ || untaken;

	/* Where flow goes on behind it, the bit comes before what happens there. */
	if (untaken && u->packet_en)
		pt_tnt(u, false);
	if (arrive(u, next, straight ? BY_WALK : BY_BRANCH) && !untaken)
		branch_packet(u, r, next, false);
}

/* Does next follow from the run?  If not, something unseen moved the CPU. */
static bool follows(const struct run *r, uint64_t next)
{
	return next == r->fall || next == r->taken || r->kind >= RUN_JMP_IND;
}

static __attribute__((noinline)) void run_slow(struct pt_unit *u, const struct run *r,
					       uint32_t ninsn, uint64_t next)
{
	if (ninsn)
		walk(u, r, ninsn);
	if (ninsn < r->ninsn) {
		arrive(u, next, BY_WALK);
	} else if (follows(r, next)) {
		branch(u, r, next);
	} else {
		/* Told as an asynchronous transfer, so that the flow decodes. */
		branch(u, r, r->kind == RUN_JCC ? r->end : r->fall);
		pt_unit_async(u, u->ip, u->cpl, u->cr3, next);
		return;
	}
	run_end(u, r);
}

void pt_unit_run(struct pt_unit *u, const struct run *r, uint32_t ninsn, uint64_t next)
{
	if (!(u->plain | u->idle) || ninsn != r->ninsn || !in_window(u, r->start) ||
	    !in_window(u, r->last) || !in_window(u, next) || !follows(r, next)) {
		run_slow(u, r, ninsn, next);
		return;
	}
	u->insns += ninsn;
	u->ip = next;
	if (u->timed && u->packet_en) {
		pt_tick(u);
		if (u->tnt == PT_TNT_EMPTY)
			u->tnt_stamp = u->insns;
	}
	if (u->packet_en)	/* still: the buffer may have come to its end */
		branch_packet(u, r, next, true);
	/* Also where no packet was due: a tick may have filled the region. */
	if (u->pmi || (u->count >= u->psb_period && u->packet_en))
		run_end(u, r);
}

void pt_unit_branch(struct pt_unit *u, const struct run *r, uint64_t next)
{
	u->insns += r->ninsn;
	u->ip = next;
	branch_packet(u, r, next, true);
	if (u->pmi || (u->count >= u->psb_period && u->packet_en))
		event_end(u);
}

static void context_set(struct pt_unit *u, unsigned int cpl, uint64_t cr3)
{
	u->cpl = cpl;
	u->cr3 = cr3;
	context_update(u);
}

void pt_unit_far(struct pt_unit *u, const struct run *r, unsigned int cpl, uint64_t cr3,
		 uint64_t next)
{
	walk(u, r, r->ninsn);
	context_set(u, cpl, cr3);
	if (u->packet_en)
		pt_pip(u);
	if (arrive(u, next, BY_BRANCH))
		pt_tip(u, next, false);
	event_end(u);
}

void pt_unit_async(struct pt_unit *u, uint64_t from, unsigned int cpl, uint64_t cr3,
		   uint64_t to)
{
	if (u->packet_en)
		pt_fup(u, from);
	context_set(u, cpl, cr3);
	if (u->packet_en)
		pt_pip(u);
	if (arrive(u, to, BY_BRANCH))
		pt_tip(u, to, false);
	event_end(u);
}

void pt_unit_set_context(struct pt_unit *u, unsigned int cpl, uint64_t cr3, uint64_t ip)
{
	context_set(u, cpl, cr3);
	if (u->packet_en)
		pt_pip(u);
	arrive(u, ip, BY_WALK);
	pt_status_update(u);
	event_end(u);
}

void pt_unit_enter(struct pt_unit *u, unsigned int cpl, uint64_t cr3, uint64_t ip)
{
	pt_unit_set_context(u, cpl, cr3, ip);
}

void pt_unit_break(struct pt_unit *u, uint64_t ip)
{
	u->broken = true;
	arrive(u, ip, BY_WALK);
	pt_status_update(u);
	event_end(u);
}

void pt_unit_resume(struct pt_unit *u, uint64_t ip)
{
	u->broken = false;
	arrive(u, ip, BY_WALK);
	event_end(u);
}

void pt_unit_pass(struct pt_unit *u, uint32_t insns)
{
	time_pass(u, insns);
	event_end(u);
}

void pt_unit_flush(struct pt_unit *u)
{
	pt_flush_tnt(u);
	pt_status_update(u);
}

/* TraceEn was set (33.2.8.3). */
void pt_enable(struct pt_unit *u)
{
	uint64_t status = *pt_msr(u, MSR_RTIT_STATUS);
	unsigned int freq = (u->ctl & RTIT_CTL_PSBFREQ_MASK) >> RTIT_CTL_PSBFREQ_SHIFT;

	u->psb_period = 2048ull << freq;
	u->retc = !(u->ctl & RTIT_CTL_DISRETC);
	u->cyc_threshold = (u->ctl & RTIT_CTL_CYCTHRESH_MASK) >> RTIT_CTL_CYCTHRESH_SHIFT;
	if (u->cyc_threshold)
		u->cyc_threshold = 1ull << (u->cyc_threshold - 1);
	u->cyc_stamp = u->insns;
	u->full_ip = true;
	/* Somebody else's trace may have had the last one (33.4.2.8). */
	u->mode_sent = false;
	u->tnt = PT_TNT_EMPTY;
	context_update(u);
	pt_filters_changed(u);
	u->trigger_en = !(status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED));
	if (u->trigger_en && pt_output_open(u)) {
		if (!u->count) {
			pt_psb(u);
		} else {
			pt_time_sync(u);
			pt_cbr(u);
		}
		arrive(u, u->ip, BY_BRANCH);
	}
	pt_status_update(u);
	pt_mode_update(u);
}

/* TraceEn was cleared: all packets to memory. */
void pt_disable(struct pt_unit *u)
{
	if (u->overflow) {
		/* OVF alone: there is nothing to go on from. */
		u->packet_en = false;
		pt_unit_overflow_end(u, u->ip);
	}
	if (u->packet_en) {
		if (u->in_irq)
			pt_fup(u, u->ip);
		pt_pgd(u, 0, false);
	}
	pt_flush_tnt(u);
	u->trigger_en = false;
	u->packet_en = false;
	pt_output_block(u);
	pt_status_update(u);
	pt_mode_update(u);
}

/* Internal buffer overflow (33.3.8). */
void pt_unit_overflow_begin(struct pt_unit *u)
{
	if (u->overflow || !u->trigger_en)
		return;
	u->tnt = PT_TNT_EMPTY;
	u->ndefer = 0;
	u->depth = 0;
	u->overflow = true;
	u->mode_known = u->mode_sent;
	pt_output_block(u);
	pt_mode_update(u);
}

void pt_unit_overflow_end(struct pt_unit *u, uint64_t ip)
{
	if (!u->overflow)
		return;
	u->overflow = false;
	u->fifo_overflow = false;
	u->fifo_fill = 0;
	u->ip = ip;
	/* Nothing may lean on packets that were lost. */
	u->full_ip = true;
	u->depth = 0;
	u->mode_sent = false;
	u->pip_cr3 = ~0ull;
	pt_output_unblock(u);
	if (u->ctl & RTIT_CTL_CYCEN)
		pt_cyc(u, u->insns);
	pt_ext(u, PT_EXT_OVF);
	/* A lost MODE.Exec has no place before a FUP, but before TIP.PGE. */
	if (u->packet_en && !u->mode_known)
		pt_pge(u, ip);
	else if (u->packet_en)
		pt_fup(u, ip);
	pt_mode_update(u);
}

void pt_unit_set_fifo(struct pt_unit *u, uint32_t packets)
{
	u->fifo = packets;
	u->fifo_fill = 0;
	if (u->trigger_en && !u->overflow)
		pt_output_unblock(u);
	pt_mode_update(u);
}

void pt_unit_set_defer_tips(struct pt_unit *u, bool on)
{
	pt_flush_tnt(u);
	u->defer = on;
	pt_mode_update(u);
}
