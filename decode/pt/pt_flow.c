/* SPDX-License-Identifier: BSD-2-Clause */
/* What each packet means to the flow (SDM 33.4.2, 33.7; binding rules in both). */
#include <string.h>

#include "pt_priv.h"

/* CFE types after whose FUP the instruction there still runs (33.4.2.26). */
#define CFE_IRET	2
#define CFE_RSM		4
#define CFE_VMENTRY	7
#define CFE_UIRET	13

/* --- trouble ------------------------------------------------------------- */

/* Where flow stands, for an error: at a branch that waits for its TIP. */
static uint64_t where(const struct pt_decoder *d)
{
	if (d->state != PT_STATE_ON)
		return 0;
	return d->tnt_wait ? d->stuck_ip : d->cur_ip;
}

static void forget_flow(struct pt_decoder *d)
{
	d->tnt_n = 0;
	d->tnt_wait = false;
	d->async = d->async_sure = d->after_cr3 = false;
	d->walk.kind = PT_WALK_NONE;
	d->cur = NULL;
	pt_stack_clear(d);
}

void pt_flow_reset(struct pt_decoder *d)
{
	forget_flow(d);
	d->bound_n = d->bind = 0;
	d->mode_next = 0;
	d->state = PT_STATE_SYNC;
	d->in_psb = false;
	d->gap_error = TRACE_GAP_NONE;
	d->gap_at = d->offset;
	d->skip_nonzero = false;
	d->gap_calls = false;
	d->packets = (struct pt_packet_state){0};
	pt_time_lost(&d->time);
}

void pt_flow_close_gap(struct pt_decoder *d)
{
	struct trace_event *ev;

	if (d->state != PT_STATE_GAP || !d->gap_error)
		return;
	ev = pt_emit(d, TRACE_GAP);
	ev->error = d->gap_error;
	ev->ip = d->gap_ip;
	ev->value = d->at - d->gap_at;
	d->gap_error = TRACE_GAP_NONE;
}

static struct trace_event *emit_error(struct pt_decoder *d, enum trace_gap error,
				      uint64_t ip)
{
	struct trace_event *ev = pt_emit(d, TRACE_ERROR);

	ev->error = error;
	ev->ip = ip;
	return ev;
}

void pt_flow_error(struct pt_decoder *d, enum trace_gap error, uint64_t ip)
{
	pt_flow_close_gap(d);
	emit_error(d, error, ip);
	pt_flow_reset(d);
}

void pt_flow_end_skip(struct pt_decoder *d)
{
	struct trace_event *ev;

	if (d->offset > d->gap_at && d->skip_nonzero) {
		ev = pt_emit(d, TRACE_GAP);
		ev->error = TRACE_GAP_NO_SYNC;
		ev->value = d->offset - d->gap_at;
		ev->offset = d->gap_at;
	}
	d->gap_at = d->offset;
	d->skip_nonzero = false;
}

static void open_gap(struct pt_decoder *d, enum trace_gap error, uint64_t ip)
{
	forget_flow(d);
	d->state = PT_STATE_GAP;
	d->gap_error = error;
	d->gap_ip = ip;
	d->gap_at = d->at;
	d->gap_calls = true;
}

void pt_flow_stuck(struct pt_decoder *d, int error, uint64_t ip)
{
	if (error == -ENOMEM)
		d->fault = error;
	else if (error == TRACE_GAP_NO_CODE)
		open_gap(d, error, ip);
	else if (error == PT_STUCK_CALL)
		open_gap(d, TRACE_ERR_RETURN, ip);
	else
		pt_flow_error(d, error, ip);
}

/* A flow packet while tracing is off: the flow is lost to the next address. */
static void flow_while_off(struct pt_decoder *d)
{
	emit_error(d, TRACE_ERR_DISABLED, 0);
	open_gap(d, TRACE_GAP_NONE, 0);
}

/* --- state --------------------------------------------------------------- */

static void apply_mode(struct pt_decoder *d)
{
	if (!d->mode_next)
		return;
	if (d->mode_next != d->mode || !d->mode_told)
		pt_emit(d, TRACE_MODE)->value = d->mode_next;
	/* The same bytes are other instructions. */
	if (d->mode_next != d->mode)
		d->cur = NULL;
	d->mode = d->mode_next;
	d->mode_told = true;
	d->mode_next = 0;
}

static void go_on_at(struct pt_decoder *d, uint64_t ip)
{
	d->cur = NULL;
	d->cur_ip = ip;
	d->entry = true;
	d->async = d->async_sure = false;
}

static void enable(struct pt_decoder *d, uint64_t ip)
{
	pt_flow_close_gap(d);
	apply_mode(d);
	d->state = PT_STATE_ON;
	go_on_at(d, ip);
	pt_emit(d, TRACE_ENABLED)->ip = ip;
}

static void disable(struct pt_decoder *d, uint64_t ip, uint64_t to)
{
	struct trace_event *ev;

	pt_flow_close_gap(d);
	ev = pt_emit(d, TRACE_DISABLED);
	ev->ip = ip;
	ev->to = to;
	d->state = PT_STATE_OFF;
	d->async = d->async_sure = false;
	d->cur = NULL;
}

/* --- packets bound to a FUP ---------------------------------------------- */

static struct trace_event *bind_event(struct pt_decoder *d, enum trace_event_type type,
				      uint64_t value, uint8_t bind)
{
	struct trace_event *ev = &d->bound[d->bound_n < PT_BOUND ? d->bound_n : PT_BOUND - 1];

	memset(ev, 0, sizeof(*ev));
	ev->type = type;
	ev->value = value;
	ev->offset = d->at;
	if (d->bound_n < PT_BOUND)
		d->bound_n++;
	d->bind |= bind;
	return ev;
}

static void tell_bound(struct pt_decoder *d, uint64_t ip)
{
	struct trace_event *ev;
	unsigned int i;

	for (i = 0; i < d->bound_n; i++) {
		ev = pt_emit(d, d->bound[i].type);
		ev->value = d->bound[i].value;
		ev->offset = d->bound[i].offset;
		ev->ip = ip;
	}
	d->bound_n = d->bind = 0;
}

/* Any flow packet but a FUP: what waited for one waited in vain. */
static void no_fup(struct pt_decoder *d)
{
	tell_bound(d, 0);
}

/* Where a walk failed. */
static uint64_t stuck_at(const struct pt_decoder *d, int error)
{
	return error == TRACE_ERR_UNEXPECTED ? d->stuck_ip : d->cur_ip;
}

/* --- TNT, TIP, FUP, TIP.PGE, TIP.PGD -------------------------------------- */

/* Is flow known, so that the packet applies?  Says what is wrong if not. */
static bool flow_on(struct pt_decoder *d)
{
	switch (d->state) {
	case PT_STATE_ON:
		return true;
	case PT_STATE_OFF:
	case PT_STATE_OVF:
		flow_while_off(d);
	}
	return false;
}

static void on_tnt(struct pt_decoder *d, const struct pt_packet *pkt)
{
	no_fup(d);
	if (!flow_on(d))
		return;
	if (d->async_sure || d->tnt_n) {
		pt_flow_error(d, TRACE_ERR_UNEXPECTED, where(d));
		return;
	}
	d->async = false;
	d->tnt = pkt->payload;
	d->tnt_n = pkt->count;
}

void pt_flow_then_tip(struct pt_decoder *d, int error)
{
	if (error) {
		pt_flow_stuck(d, error, stuck_at(d, error));
		if (error == TRACE_GAP_NO_CODE)
			enable(d, d->tip);
		return;
	}
	d->tnt_wait = false;
	apply_mode(d);
}

static void async_branch(struct pt_decoder *d, uint64_t to)
{
	struct trace_event *ev = pt_emit(d, TRACE_ASYNC);

	ev->ip = d->cur_ip;
	ev->to = to;
	go_on_at(d, to);
	apply_mode(d);
}

static void on_tip(struct pt_decoder *d, const struct pt_packet *pkt)
{
	no_fup(d);
	if (!flow_on(d)) {
		if (d->state == PT_STATE_GAP && pkt->ip_bytes)
			enable(d, pkt->payload);
		return;
	}
	if (!pkt->ip_bytes) {
		pt_flow_error(d, TRACE_ERR_UNEXPECTED, where(d));
		return;
	}
	if (d->async) {
		async_branch(d, pkt->payload);
		return;
	}
	d->tip = pkt->payload;
	pt_walk_start(d, PT_WALK_TIP, 0, pt_flow_then_tip);
}

/* At the FUP's address: either what is bound to it, or its TIP follows. */
static void at_fup(struct pt_decoder *d, uint64_t ip)
{
	uint8_t bind = d->bind;

	tell_bound(d, ip);
	if (bind & PT_BIND_ALONE && !(bind & PT_BIND_ASYNC)) {
		apply_mode(d);
		return;
	}
	d->async = true;
	d->async_sure = !bind;
}

static void then_fup(struct pt_decoder *d, int error)
{
	uint64_t ip = d->walk.ip;
	struct trace_event *ev;

	if (error && error != TRACE_GAP_NO_CODE) {
		pt_flow_stuck(d, error, stuck_at(d, error));
		return;
	}
	if (error) {
		pt_flow_stuck(d, error, stuck_at(d, error));
		enable(d, ip);
	} else if (!d->bind && pt_walk_returns(d, ip)) {
		/* A FUP says where, not how often. */
		ev = pt_emit(d, TRACE_GAP);
		ev->error = TRACE_GAP_REPEATED;
		ev->ip = ip;
	}
	at_fup(d, ip);
}

static void on_fup_off(struct pt_decoder *d, uint64_t ip)
{
	if (d->bind) {
		tell_bound(d, ip);
		apply_mode(d);
		return;
	}
	flow_while_off(d);
	enable(d, ip);
	at_fup(d, ip);
}

static void on_fup(struct pt_decoder *d, const struct pt_packet *pkt)
{
	uint64_t ip = pkt->payload;

	if (!pkt->ip_bytes || d->async_sure || d->tnt_n) {
		pt_flow_error(d, TRACE_ERR_UNEXPECTED, where(d));
		return;
	}
	switch (d->state) {
	case PT_STATE_OVF:
		tell_bound(d, ip);
		enable(d, ip);
		break;
	case PT_STATE_OFF:
		on_fup_off(d, ip);
		break;
	case PT_STATE_GAP:
		enable(d, ip);
		at_fup(d, ip);
		break;
	case PT_STATE_ON:
		pt_walk_start(d, PT_WALK_IP, ip, then_fup);
	}
}

static void on_pge(struct pt_decoder *d, const struct pt_packet *pkt)
{
	no_fup(d);
	if (!pkt->ip_bytes) {
		pt_flow_error(d, TRACE_ERR_UNEXPECTED, 0);
		return;
	}
	if (d->state == PT_STATE_ON) {
		/* A TIP.PGD is missing; the address here is good all the same. */
		emit_error(d, TRACE_ERR_UNEXPECTED, where(d));
		open_gap(d, TRACE_GAP_NONE, 0);
	}
	enable(d, pkt->payload);
}

static void then_pgd(struct pt_decoder *d, int error)
{
	if (error) {
		pt_flow_stuck(d, error, stuck_at(d, error));
		if (error != TRACE_GAP_NO_CODE)
			return;
	}
	disable(d, d->pgd_ip, 0);
}

static void on_pgd(struct pt_decoder *d, const struct pt_packet *pkt)
{
	no_fup(d);
	d->pgd_ip = pkt->payload;
	switch (d->state) {
	case PT_STATE_OFF:
		emit_error(d, TRACE_ERR_DISABLED, 0);
		return;
	case PT_STATE_OVF:
	case PT_STATE_GAP:
		disable(d, d->pgd_ip, 0);
		return;
	}
	if (d->tnt_n) {
		pt_flow_error(d, TRACE_ERR_UNEXPECTED, where(d));
	} else if (d->async) {
		struct trace_event *ev = pt_emit(d, TRACE_ASYNC);

		ev->ip = d->cur_ip;
		disable(d, d->cur_ip, d->pgd_ip);
	} else if (d->after_cr3 && !pkt->ip_bytes) {
		disable(d, 0, 0);
	} else {
		pt_walk_start(d, pkt->ip_bytes ? PT_WALK_PGD_IP : PT_WALK_PGD,
			      d->pgd_ip, then_pgd);
	}
}

/* --- OVF, PSB+ ------------------------------------------------------------ */

static void on_ovf(struct pt_decoder *d, const struct pt_packet *pkt)
{
	struct trace_event *ev;
	uint64_t ip = where(d);

	no_fup(d);
	pt_flow_close_gap(d);
	forget_flow(d);
	d->mode_next = 0;
	pt_time_lost(&d->time);
	ev = pt_emit(d, TRACE_GAP);
	ev->error = TRACE_GAP_OVERFLOW;
	ev->ip = ip;
	d->in_psb = false;
	d->gap_calls = false;
	d->state = PT_STATE_OVF;
}

/* PSB+ ends without PSBEND: the fault is the PSB's, wherever it shows. */
static void psb_not_closed(struct pt_decoder *d)
{
	struct trace_event *ev = emit_error(d, TRACE_ERR_PSB, 0);

	ev->offset = d->psb_at;
	ev->value = d->at;
	pt_flow_reset(d);
}

static void on_psb(struct pt_decoder *d, const struct pt_packet *pkt)
{
	no_fup(d);
	if (d->in_psb)
		psb_not_closed(d);
	if (d->async_sure || d->tnt_n) {
		emit_error(d, TRACE_ERR_UNEXPECTED, where(d));
		open_gap(d, TRACE_GAP_NONE, 0);
	}
	pt_emit(d, TRACE_SYNC);
	d->in_psb = true;
	d->psb_has_ip = false;
	d->psb_at = d->at;
	d->mode_next = 0;
}

static void on_psb_fup(struct pt_decoder *d, const struct pt_packet *pkt)
{
	if (!pkt->ip_bytes || d->psb_has_ip) {
		psb_not_closed(d);
		return;
	}
	d->psb_has_ip = true;
	d->psb_ip = pkt->payload;
}

/* Returns are never compressed across a PSB (33.4.2.2). */
static void then_psb(struct pt_decoder *d, int error)
{
	uint8_t mode = d->mode_next;

	if (error == -ENOMEM) {
		d->fault = error;
		return;
	}
	if (error == TRACE_GAP_NO_CODE) {
		open_gap(d, error, d->cur_ip);
	} else if (error) {
		emit_error(d, error, d->cur_ip);
		open_gap(d, TRACE_GAP_NONE, 0);
	}
	if (!error && mode && mode != d->mode && d->mode_told) {
		/* Modes change at branches: one is missing. */
		error = TRACE_ERR_UNEXPECTED;
		emit_error(d, error, d->cur_ip);
		open_gap(d, TRACE_GAP_NONE, 0);
	}
	if (error)
		enable(d, d->psb_ip);
	if (mode) {
		apply_mode(d);
		d->cur = NULL;
	}
	pt_stack_clear(d);
	d->gap_calls = false;
}

/* PSB+ without a FUP: tracing is off here. */
static void psb_off(struct pt_decoder *d)
{
	apply_mode(d);
	if (d->state == PT_STATE_OVF)
		return;
	if (d->state == PT_STATE_ON) {
		emit_error(d, TRACE_ERR_UNEXPECTED, where(d));
		open_gap(d, TRACE_GAP_NONE, 0);
	}
	if (d->state == PT_STATE_GAP)
		disable(d, 0, 0);
	d->state = PT_STATE_OFF;
}

static void on_psbend(struct pt_decoder *d, const struct pt_packet *pkt)
{
	if (!d->in_psb) {
		pt_flow_error(d, TRACE_ERR_PSB, where(d));
		return;
	}
	d->in_psb = false;
	if (!d->psb_has_ip) {
		psb_off(d);
	} else if (d->state == PT_STATE_ON) {
		pt_walk_start(d, PT_WALK_IP, d->psb_ip, then_psb);
	} else {
		if (d->state == PT_STATE_OFF)
			emit_error(d, TRACE_ERR_DISABLED, 0);
		enable(d, d->psb_ip);
		then_psb(d, 0);
	}
}

/* --- mode, context, power, events ------------------------------------------ */

static void on_mode_exec(struct pt_decoder *d, const struct pt_packet *pkt)
{
	if (!pkt->count) {
		pt_flow_error(d, TRACE_ERR_MODE, where(d));
		return;
	}
	/* Before a TIP it belongs to it; a FUP after it is alone (33.4.2.8, IF). */
	if (!d->in_psb && !d->async && d->state != PT_STATE_OVF)
		d->bind |= PT_BIND_ALONE;
	d->mode_next = pkt->count;
}

static void on_mode_tsx(struct pt_decoder *d, const struct pt_packet *pkt)
{
	if (d->in_psb || d->state == PT_STATE_OFF)
		pt_emit(d, TRACE_OTHER)->value = PT_MODE_TSX;
	else
		bind_event(d, TRACE_OTHER, PT_MODE_TSX,
			   pkt->payload & 2 ? PT_BIND_ASYNC : PT_BIND_ALONE);
}

static void then_special(struct pt_decoder *d, int error)
{
	if (error == -ENOMEM) {
		d->fault = error;
		return;
	}
	d->after_cr3 = !error && d->walk.special == PT_SPECIAL_CR3;
	tell_bound(d, error ? 0 : d->last_insn);
}

/* The packet binds to the next instruction of its kind, if flow gets there. */
static void bind_to_special(struct pt_decoder *d, enum trace_event_type type,
			    uint64_t value, enum pt_special special)
{
	if (d->in_psb || d->state != PT_STATE_ON || d->async || d->tnt_n) {
		pt_emit(d, type)->value = value;
		return;
	}
	tell_bound(d, 0);
	bind_event(d, type, value, 0);
	d->walk.special = special;
	pt_walk_start(d, PT_WALK_SPECIAL, 0, then_special);
}

static void on_pip(struct pt_decoder *d, const struct pt_packet *pkt)
{
	bind_to_special(d, TRACE_PIP, pkt->payload, PT_SPECIAL_CR3);
}

static void on_ptw(struct pt_decoder *d, const struct pt_packet *pkt)
{
	if (pkt->count)
		bind_event(d, TRACE_PTWRITE, pkt->payload, PT_BIND_ALONE);
	else
		bind_to_special(d, TRACE_PTWRITE, pkt->payload, PT_SPECIAL_PTWRITE);
}

static void on_cbr(struct pt_decoder *d, const struct pt_packet *pkt)
{
	pt_time_cbr(&d->time, pkt->payload);
	pt_emit(d, TRACE_CBR)->value = pkt->payload;
}

static void on_tracestop(struct pt_decoder *d, const struct pt_packet *pkt)
{
	no_fup(d);
	if (d->state == PT_STATE_ON || d->state == PT_STATE_GAP)
		disable(d, 0, 0);
	forget_flow(d);
	pt_emit(d, TRACE_STOPPED);
}

static void on_other(struct pt_decoder *d, const struct pt_packet *pkt)
{
	pt_emit(d, TRACE_OTHER)->value = pkt->type;
}

/* Packets whose count says that a FUP follows. */
static void on_maybe_fup(struct pt_decoder *d, const struct pt_packet *pkt)
{
	uint8_t bind = PT_BIND_ALONE;

	if (!(pkt->type == PT_TRIG ? pkt->count & PT_TRIG_IP : pkt->count)) {
		on_other(d, pkt);
		return;
	}
	if (pkt->type == PT_CFE && pkt->payload != CFE_IRET && pkt->payload != CFE_UIRET &&
	    pkt->payload != CFE_RSM && pkt->payload != CFE_VMENTRY)
		bind = PT_BIND_ASYNC;
	bind_event(d, TRACE_OTHER, pkt->type, bind);
}

/* --- time ------------------------------------------------------------------ */

static void on_tsc(struct pt_decoder *d, const struct pt_packet *pkt)
{
	pt_time_tsc(&d->time, pkt->payload);
}

static void on_tma(struct pt_decoder *d, const struct pt_packet *pkt)
{
	pt_time_tma(&d->time, pkt->payload, pkt->payload2);
}

static void on_mtc(struct pt_decoder *d, const struct pt_packet *pkt)
{
	pt_time_mtc(&d->time, pkt->payload);
}

static void on_cyc(struct pt_decoder *d, const struct pt_packet *pkt)
{
	pt_time_cyc(&d->time, pkt->payload, d->state == PT_STATE_ON);
	d->cyc = true;
}

static void on_nothing(struct pt_decoder *d, const struct pt_packet *pkt)
{
}

/* --- dispatch --------------------------------------------------------------- */

static const struct handler {
	void	(*handle)(struct pt_decoder *d, const struct pt_packet *pkt);
	/* In PSB+; NULL: it does not belong there. */
	void	(*in_psb)(struct pt_decoder *d, const struct pt_packet *pkt);
	bool	flow;
} handlers[PT_PACKET_MAX] = {
	[PT_PAD] = {on_nothing, on_nothing, false},
	[PT_PSB] = {on_psb, on_psb, true},
	[PT_PSBEND] = {on_psbend, on_psbend, false},
	[PT_TNT] = {on_tnt, NULL, true},
	[PT_TIP] = {on_tip, NULL, true},
	[PT_TIP_PGE] = {on_pge, NULL, true},
	[PT_TIP_PGD] = {on_pgd, NULL, true},
	[PT_FUP] = {on_fup, on_psb_fup, true},
	[PT_MODE_EXEC] = {on_mode_exec, on_mode_exec, false},
	[PT_MODE_TSX] = {on_mode_tsx, on_mode_tsx, false},
	[PT_MODE_OTHER] = {on_other, on_other, false},
	[PT_PIP] = {on_pip, on_pip, false},
	[PT_VMCS] = {on_other, on_other, false},
	[PT_CBR] = {on_cbr, on_cbr, false},
	[PT_TSC] = {on_tsc, on_tsc, false},
	[PT_TMA] = {on_tma, on_tma, false},
	[PT_MTC] = {on_mtc, on_mtc, false},
	[PT_CYC] = {on_cyc, on_cyc, false},
	[PT_OVF] = {on_ovf, on_ovf, true},
	[PT_TRACESTOP] = {on_tracestop, NULL, true},
	[PT_MNT] = {on_other, on_other, false},
	[PT_PTW] = {on_ptw, NULL, false},
	[PT_EXSTOP] = {on_maybe_fup, NULL, false},
	[PT_MWAIT] = {on_other, NULL, false},
	[PT_PWRE] = {on_other, NULL, false},
	[PT_PWRX] = {on_other, NULL, false},
	[PT_BBP] = {on_other, NULL, false},
	[PT_BIP] = {on_other, NULL, false},
	[PT_BEP] = {on_maybe_fup, NULL, false},
	[PT_CFE] = {on_maybe_fup, NULL, false},
	[PT_EVD] = {on_other, NULL, false},
	[PT_TRIG] = {on_maybe_fup, NULL, false},
};

void pt_flow_packet(struct pt_decoder *d, const struct pt_packet *pkt)
{
	const struct handler *h = &handlers[pkt->type];

	if (h->flow) {
		d->fresh_cyc = d->cyc;
		d->cyc = false;
		if (pkt->type != PT_TIP_PGD)
			d->after_cr3 = false;
	}
	if (!d->in_psb)
		h->handle(d, pkt);
	else if (h->in_psb)
		h->in_psb(d, pkt);
	else
		psb_not_closed(d);
}
