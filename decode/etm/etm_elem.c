/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenCSD's elements to events. */
#include <stdlib.h>
#include <string.h>
#include "etm_priv.h"

#define RETURN_STACK	16		/* entries that OpenCSD keeps */

void etm_push(struct etm_decoder *d, const struct trace_event *ev)
{
	struct trace_event *queue;
	uint32_t room;

	if (d->n == d->room) {
		room = d->room ? 2 * d->room : 256;
		queue = realloc(d->queue, room * sizeof(*queue));
		if (!queue) {
			d->nomem = true;
			return;
		}
		d->queue = queue;
		d->room = room;
	}
	d->queue[d->n++] = *ev;
}

/* The time as it is known now; what waits keeps that of when it came. */
static struct trace_event stamped(const struct etm_decoder *d, struct trace_event ev)
{
	ev.time = d->time;
	ev.cycles = d->cycles;
	if (d->time_known)
		ev.flags |= TRACE_F_TIME;
	if (d->cycles_known)
		ev.flags |= TRACE_F_CYCLES;
	return ev;
}

static void push(struct etm_decoder *d, uint8_t type, uint64_t ip, uint64_t value,
		 uint64_t offset)
{
	const struct trace_event ev = stamped(d, (struct trace_event){
		.type = type, .ip = ip, .value = value, .offset = offset});

	etm_push(d, &ev);
}

static void gap(struct etm_decoder *d, enum trace_gap what, uint64_t value, uint64_t offset)
{
	const struct trace_event ev = stamped(d, (struct trace_event){
		.type = TRACE_GAP, .error = what, .value = value, .offset = offset});

	etm_push(d, &ev);
}

/* ---- what waits for what follows ---- */

/* The run that waits leads to `to` (0: unknown). */
static void run_out(struct etm_decoder *d, uint64_t to)
{
	if (!d->held_run)
		return;
	d->held_run = false;
	if (!d->run.to)
		d->run.to = to;
	etm_push(d, &d->run);
}

/* The exception that waits leads to `to` (0: unknown). */
static void exception_out(struct etm_decoder *d, uint64_t to)
{
	if (!d->held_exception)
		return;
	d->held_exception = false;
	d->exception.to = to;
	etm_push(d, &d->exception);
}

/*
 * How many bytes of the source are before `offset`.  Of packets before the one that is
 * fed this is not known, and where others' bytes are between it is less.
 */
static uint64_t bytes_before(const struct etm_decoder *d, uint64_t offset)
{
	uint64_t back = d->fed_offset - offset;

	if (offset >= d->fed_offset)
		return d->fed_before + (offset - d->fed_offset);
	return back < d->fed_before ? d->fed_before - back : 0;
}

static void gap_end(struct etm_decoder *d, uint64_t before)
{
	if (!d->held_gap)
		return;
	d->held_gap = false;
	d->gap.value = before > d->gap_before ? before - d->gap_before : 0;
	etm_push(d, &d->gap);
}

static void gap_out(struct etm_decoder *d, uint64_t offset)
{
	gap_end(d, bytes_before(d, offset));
}

void etm_last_gap_out(struct etm_decoder *d)
{
	gap_end(d, d->taken);
}

void etm_skipped_out(struct etm_decoder *d)
{
	if (d->scan.skipped)
		gap(d, TRACE_GAP_NO_SYNC, d->scan.skipped, d->scan.skipped_at);
	d->scan.skipped = 0;
}

void etm_synced(struct etm_decoder *d, uint64_t offset)
{
	etm_skipped_out(d);
	push(d, TRACE_SYNC, 0, 0, offset);
}

void etm_flow_end(struct etm_decoder *d)
{
	run_out(d, 0);
	exception_out(d, 0);
	d->flow = false;
}

void etm_error(struct etm_decoder *d, enum trace_gap error, uint64_t offset)
{
	struct trace_event ev = stamped(d, (struct trace_event){
		.type = TRACE_ERROR, .error = error, .offset = offset});

	ev.ip = d->held_run ? d->run.to : 0;
	etm_flow_end(d);
	gap_out(d, offset);
	etm_push(d, &ev);
}

static void overflow(struct etm_decoder *d, uint64_t offset)
{
	etm_flow_end(d);
	gap_out(d, offset);
	gap(d, TRACE_GAP_OVERFLOW, 0, offset);
}

/* ---- elements ---- */

static uint8_t kind_of(const ocsd_generic_trace_elem *e)
{
	bool link = e->last_i_subtype == OCSD_S_INSTR_BR_LINK;

	switch (e->last_i_type) {
	case OCSD_INSTR_BR:
		if (e->last_instr_cond)
			return BLOCK_JCC;
		return link ? BLOCK_CALL : BLOCK_JMP;
	case OCSD_INSTR_BR_INDIRECT:
		if (e->last_i_subtype == OCSD_S_INSTR_V8_RET ||
		    e->last_i_subtype == OCSD_S_INSTR_V7_IMPLIED_RET)
			return BLOCK_RET;
		if (e->last_i_subtype == OCSD_S_INSTR_V8_ERET)
			return BLOCK_FAR;
		return link ? BLOCK_CALL_IND : BLOCK_JMP_IND;
	default:
		return BLOCK_SEQ;
	}
}

/* Where the run leads, as far as it says so itself. */
static uint64_t leads_to(const struct trace_event *run, const struct trace_block *b)
{
	switch (b->kind) {
	case BLOCK_SEQ:
		return b->end;
	case BLOCK_JCC:
		return run->flags & TRACE_F_TAKEN ? b->target : b->end;
	case BLOCK_JMP:
	case BLOCK_CALL:
		return b->target;
	default:
		return 0;
	}
}

static void run_begin(struct etm_decoder *d, const struct etm_range *r, uint8_t flags,
		      uint64_t offset)
{
	const struct trace_block *b = etm_block_get(d, r);

	if (!b) {
		d->nomem = true;
		return;
	}
	if (etm_block_overrun(b)) {
		etm_error(d, TRACE_ERR_FUP, offset);
		return;
	}
	run_out(d, r->start);
	d->run = stamped(d, (struct trace_event){
		.type = TRACE_RUN,
		.flags = flags,
		.ninsn = r->ninsn,
		.ip = r->start,
		.block = b,
		.offset = offset,
	});
	d->run.to = leads_to(&d->run, b);
	d->held_run = true;
}

static void range(struct etm_decoder *d, const ocsd_generic_trace_elem *e, uint64_t offset)
{
	struct etm_range r = {.start = e->st_addr, .a64 = e->isa == ocsd_isa_aarch64};
	uint8_t entry = 0, flags = 0;
	uint64_t n = e->num_instr_range;

	if (e->isa != ocsd_isa_aarch64 && e->isa != ocsd_isa_arm) {
		etm_error(d, TRACE_ERR_MODE, offset);
		return;
	}
	if (!n || e->en_addr - e->st_addr != 4 * n) {
		etm_error(d, TRACE_ERR_OTHER, offset);
		return;
	}
	/* Up to a source address OpenCSD does not walk. */
	if (d->feeding == ETM_SOURCE && 4 * n > d->config.max_walk) {
		etm_error(d, TRACE_ERR_FUP, offset);
		return;
	}
	gap_out(d, offset);
	if (d->held_exception) {
		run_out(d, d->exception.ip);
		exception_out(d, e->st_addr);
		entry = TRACE_F_ENTRY;
	}
	if (!d->flow) {
		push(d, TRACE_ENABLED, e->st_addr, 0, offset);
		d->flow = true;
		entry = TRACE_F_ENTRY;
	}
	for (; n > ETM_MAX_RUN; n -= ETM_MAX_RUN) {
		r.ninsn = ETM_MAX_RUN;
		r.end = r.start + 4 * ETM_MAX_RUN;
		r.kind = BLOCK_SEQ;
		run_begin(d, &r, entry, offset);
		r.start = r.end;
		entry = 0;
	}
	r.ninsn = n;
	r.end = e->en_addr;
	r.kind = kind_of(e);
	if (r.kind != BLOCK_SEQ)
		flags = TRACE_F_BRANCH;
	if (r.kind == BLOCK_JCC && e->last_instr_exec)
		flags |= TRACE_F_TAKEN;
	run_begin(d, &r, entry | flags, offset);
}

/* The run that waits ended in SVC: it is a branch after all. */
static void run_is_call(struct etm_decoder *d)
{
	const struct trace_block *b = d->run.block;
	struct etm_range r = {.start = b->ip, .end = b->end, .ninsn = b->ninsn,
			      .kind = BLOCK_SYSCALL, .a64 = true};

	b = etm_block_get(d, &r);
	if (!b) {
		d->nomem = true;
		return;
	}
	d->run.block = b;
	d->run.flags |= TRACE_F_BRANCH;
	d->run.to = 0;
}

static void exception(struct etm_decoder *d, const ocsd_generic_trace_elem *e,
		      uint64_t offset)
{
	uint64_t ret = e->en_addr;
	bool here = d->held_run && d->run.block->kind == BLOCK_SEQ &&
		    d->run.block->end == ret;

	gap_out(d, offset);
	if (d->held_exception) {
		run_out(d, d->exception.ip);
		exception_out(d, ret);
	}
	if (e->exception_number == ETM4_EXC_CALL && here &&
	    etm_is_call(d, d->run.block->last)) {
		run_is_call(d);
		return;
	}
	run_out(d, ret);
	if (e->exception_number == ETM4_EXC_DEBUG_HALT) {
		if (d->flow)
			push(d, TRACE_DISABLED, ret, 0, offset);
		d->flow = false;
		return;
	}
	d->exception = stamped(d, (struct trace_event){
		.type = TRACE_ASYNC,
		.flags = TRACE_F_NUMBER,
		.ip = ret,
		.value = e->exception_number,
		.offset = offset,
	});
	d->held_exception = true;
}

static void trace_on(struct etm_decoder *d, const ocsd_generic_trace_elem *e,
		     uint64_t offset)
{
	uint64_t at = d->held_run && !d->held_exception ? d->run.to : 0;

	gap_out(d, offset);
	if (e->trace_on_reason == TRACE_ON_OVERFLOW) {
		if (!d->overflow_told)
			overflow(d, offset);
		d->overflow_told = false;
		return;
	}
	run_out(d, 0);
	exception_out(d, 0);
	if (d->flow)
		push(d, TRACE_DISABLED, at, 0, offset);
	d->flow = false;
}

void etm_no_code(struct etm_decoder *d, uint64_t ip, uint64_t offset)
{
	d->unsure = d->lost = true;
	d->sure = 0;
	if (d->held_gap)	/* still in it */
		return;
	if (d->held_exception) {
		run_out(d, d->exception.ip);
		exception_out(d, ip);
	}
	run_out(d, ip);
	d->flow = false;
	d->gap = stamped(d, (struct trace_event){
		.type = TRACE_GAP,
		.error = TRACE_GAP_NO_CODE,
		.ip = ip,
		.offset = offset,
	});
	d->gap_before = bytes_before(d, offset);
	d->held_gap = true;
}

static void no_sync(struct etm_decoder *d, const ocsd_generic_trace_elem *e,
		    uint64_t offset)
{
	if (e->unsync_eot_info == UNSYNC_OVERFLOW || e->unsync_eot_info == UNSYNC_DISCARD) {
		overflow(d, offset);
		d->overflow_told = e->unsync_eot_info == UNSYNC_OVERFLOW;
	}
	d->cid_known = false;
}

static void context(struct etm_decoder *d, const ocsd_generic_trace_elem *e,
		    uint64_t offset)
{
	if (!e->context.ctxt_id_valid ||
	    (d->cid_known && d->cid == e->context.context_id))
		return;
	d->cid = e->context.context_id;
	d->cid_known = true;
	run_out(d, 0);
	push(d, TRACE_CONTEXT, 0, d->cid, offset);
}

void etm_pop(struct etm_decoder *d)
{
	d->sure -= d->sure > 0;
	d->pop_pending = false;
}

/* What OpenCSD's return stack went through for an atom or a source address. */
static void stack_follow(struct etm_decoder *d, const ocsd_generic_trace_elem *e)
{
	if (d->feeding == ETM_ATOMS && d->pop_pending)
		etm_pop(d);
	if ((d->feeding != ETM_ATOMS && d->feeding != ETM_SOURCE) || !e->last_instr_exec ||
	    e->elem_type != OCSD_GEN_TRC_ELEM_INSTR_RANGE)
		return;
	if (e->last_i_subtype == OCSD_S_INSTR_BR_LINK) {
		d->sure += d->sure < RETURN_STACK;
		d->pop_pending = false;
	}
	if (e->last_i_type == OCSD_INSTR_BR_INDIRECT) {
		d->pop_pending = true;
		d->eret_pending = e->last_i_subtype == OCSD_S_INSTR_V8_ERET;
	}
}

ocsd_datapath_resp_t etm_element(const void *ctx, const ocsd_trc_index_t offset,
				 const uint8_t id, const ocsd_generic_trace_elem *e)
{
	struct etm_decoder *d = (struct etm_decoder *)ctx;

	d->walked = 0;
	switch (e->elem_type) {
	case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
		stack_follow(d, e);
		range(d, e, offset);
		break;
	case OCSD_GEN_TRC_ELEM_TRACE_ON:
		trace_on(d, e, offset);
		break;
	case OCSD_GEN_TRC_ELEM_EXCEPTION:
		exception(d, e, offset);
		break;
	case OCSD_GEN_TRC_ELEM_ADDR_NACC:
		stack_follow(d, e);
		etm_no_code(d, e->st_addr, offset);
		break;
	case OCSD_GEN_TRC_ELEM_NO_SYNC:
		no_sync(d, e, offset);
		break;
	case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
		context(d, e, offset);
		break;
	case OCSD_GEN_TRC_ELEM_TIMESTAMP:
		d->time = e->timestamp;
		d->time_known = true;
		break;
	case OCSD_GEN_TRC_ELEM_CYCLE_COUNT:
		d->cycles += e->cycle_count;
		d->cycles_known = true;
		break;
	case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH:
		etm_error(d, TRACE_ERR_OTHER, offset);
		break;
	case OCSD_GEN_TRC_ELEM_EO_TRACE:
	case OCSD_GEN_TRC_ELEM_EXCEPTION_RET:	/* its ERET said so */
		break;
	default:
		push(d, TRACE_OTHER, 0, e->elem_type, offset);
	}
	return d->nomem ? OCSD_RESP_FATAL_SYS_ERR : OCSD_RESP_CONT;
}
