/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Committed packets to OpenCSD, one a call, but those that it would die of.  Each of
 * these is damage, or behind missing code.
 */
#include "etm_priv.h"

/*
 * OpenCSD keeps what waits for a P0 element, and takes longer for each of them; a unit
 * that traces events alone may write many.
 */
#define WAITING_MAX	(1u << 14)
#define NOWHERE		(~3ull)		/* above all that OpenCSD may ask for */

static const struct {
	ocsd_err_t err;
	enum trace_gap gap;
} errors[] = {
	{OCSD_ERR_BAD_PACKET_SEQ, TRACE_ERR_PACKET},
	{OCSD_ERR_INVALID_PCKT_HDR, TRACE_ERR_PACKET},
	{OCSD_ERR_BAD_DECODE_PKT, TRACE_ERR_PACKET},
	{OCSD_ERR_UNSUPP_DECODE_PKT, TRACE_ERR_PACKET},
	{OCSD_ERR_RET_STACK_OVERFLOW, TRACE_ERR_RETURN},
	{OCSD_ERR_COMMIT_PKT_OVERRUN, TRACE_ERR_UNEXPECTED},
	{OCSD_ERR_UNSUPPORTED_ISA, TRACE_ERR_MODE},
	{OCSD_ERR_MEM, TRACE_ERR_OTHER},
};

static enum trace_gap last_error(void)
{
	ocsd_trc_index_t index;
	uint8_t channel;
	char text[512];
	ocsd_err_t err = ocsd_get_last_err(&index, &channel, text, sizeof(text));
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].err == err)
			return errors[i].gap;
	return TRACE_ERR_OTHER;
}

/* Gives up; the newest n bytes of the source, from `from` on, are skipped. */
static void give_up(struct etm_decoder *d, enum trace_gap why, uint64_t offset,
		    uint64_t from, uint64_t n)
{
	etm_give_up(d, why, offset);
	etm_scan_lost(&d->scan);
	d->scan.skipped = n;
	d->scan.skipped_at = from;
}

/* OpenCSD takes it; false: decoding was given up. */
static bool give(struct etm_decoder *d, const struct etm_piece *p)
{
	ocsd_datapath_resp_t resp;
	uint64_t behind;
	uint32_t used;

	resp = ocsd_dt_process_data(d->tree, OCSD_OP_DATA, p->offset, p->n, p->bytes, &used);
	if (d->nomem)
		return false;
	if (!OCSD_DATA_RESP_IS_FATAL(resp))
		return true;
	behind = d->taken - p->before;
	behind -= behind < p->n ? behind : p->n;
	give_up(d, last_error(), p->offset + p->n, p->offset + p->n, behind);
	return false;
}

/* Would OpenCSD take a target that is not known to be true? */
static bool pops_unsure(const struct etm_decoder *d)
{
	return etm_pops(d) && d->unsure && !d->sure;
}

/* An exception whose address is the last branch's target, too. */
static bool tells_target(const struct etm_piece *p)
{
	return p->kind == ETM_EXCEPTION && p->bytes[1] & ETM4_EXCEPTION_E1 &&
	       !(p->bytes[1] & ETM4_EXCEPTION_E0);
}

/* Behind an indirect branch without a target; behind ERET there always is one. */
static enum trace_gap pop_guard(const struct etm_decoder *d, const struct etm_piece *p)
{
	return etm_pops(d) && d->eret_pending && !tells_target(p) ? TRACE_ERR_RETURN :
								    TRACE_GAP_NONE;
}

/* Before the first address, OpenCSD would walk from one that it never set. */
static enum trace_gap guard(const struct etm_decoder *d, const struct etm_piece *p)
{
	if (d->waiting > WAITING_MAX)
		return TRACE_ERR_UNEXPECTED;
	switch (p->kind) {
	case ETM_EXCEPTION:
		return d->addressed ? pop_guard(d, p) : TRACE_ERR_UNEXPECTED;
	case ETM_Q:
		return d->addressed && !d->astray ? TRACE_GAP_NONE : TRACE_ERR_UNEXPECTED;
	case ETM_SOURCE:
		return d->addressed || d->contexted ? TRACE_GAP_NONE : TRACE_ERR_UNEXPECTED;
	case ETM_ATOMS:
		return pop_guard(d, p);
	default:
		return TRACE_GAP_NONE;
	}
}

/* What the packet does to OpenCSD's state, ahead of its elements. */
static void follow(struct etm_decoder *d, const struct etm_piece *p)
{
	d->waiting += p->kind > ETM_TRACE_INFO;
	switch (p->kind) {
	case ETM_DISCARD:
		d->addressed = d->contexted = false;
		d->waiting = 0;
		break;
	case ETM_TRACE_INFO:
		d->astray = false;
		etm_stack_empty(d);
		break;
	case ETM_TRACE_ON:
		etm_stack_empty(d);
		break;
	case ETM_EXCEPTION:
		d->waiting = 0;
		if (etm_pops(d))
			etm_pop(d);
		break;
	case ETM_ADDRESS_CONTEXT:
	case ETM_ADDRESS:
		d->pop_pending = d->lost = false;
		d->addressed = true;
		break;
	case ETM_CONTEXT:
		d->contexted |= p->bytes[0] != ETM4_CONTEXT_SAME;
		break;
	case ETM_SOURCE:
	case ETM_Q:
		d->lost = false;
		d->waiting = 0;
		break;
	case ETM_ATOMS:
		d->waiting = 0;
		break;
	}
}

bool etm_refuse(struct etm_decoder *d, enum trace_gap why, const struct etm_piece *p)
{
	struct etm_piece from = *p;

	etm_now(d, p);
	etm_spec_oldest(&d->spec, &from);
	give_up(d, why, p->offset, from.offset, d->taken - from.before);
	return false;
}

/*
 * OpenCSD goes where no code is, and takes nothing from its stack: it skips what follows
 * as it does behind missing code, up to the next address.
 */
static bool go_nowhere(struct etm_decoder *d, const struct etm_piece *p)
{
	static const struct etm_addresses nowhere = {.address = {NOWHERE}};
	uint8_t b[ETM_ADDRESS_SIZE];
	const struct etm_piece address = {.offset = p->offset, .bytes = b, .n = sizeof(b),
					  .kind = ETM_ADDRESS, .before = p->before};

	etm_address_put(&nowhere, ETM4_ADDR_64_IS0, b);
	follow(d, &address);
	d->astray = true;
	return give(d, &address);
}

/* The branch before it has a target that OpenCSD would not take from where it is. */
static bool prepare(struct etm_decoder *d, const struct etm_piece *p)
{
	if (!etm_pops(d) ||
	    (p->kind != ETM_ATOMS && p->kind != ETM_EXCEPTION && p->kind != ETM_SOURCE))
		return true;
	if (tells_target(p))
		return go_nowhere(d, p);
	if (!pops_unsure(d))
		return true;
	etm_no_code(d, 0, p->offset);
	return go_nowhere(d, p);
}

/*
 * For a source address OpenCSD takes nothing from its stack, but later.  It says of the
 * first branch behind the return's target that it was taken, as an atom does.
 */
static bool feed_source(struct etm_decoder *d, const struct etm_piece *p)
{
	static const uint8_t taken = ETM4_ATOM_F1 | 1;
	const struct etm_piece atom = {.offset = p->offset, .bytes = &taken, .n = 1,
				       .kind = ETM_ATOMS, .before = p->before};

	return etm_feed(d, &atom);
}

bool etm_feed(struct etm_decoder *d, const struct etm_piece *p)
{
	enum trace_gap why = guard(d, p);

	etm_now(d, p);
	if (why != TRACE_GAP_NONE)
		return etm_refuse(d, why, p);
	if (p->kind == ETM_SOURCE && etm_pops(d) && !pops_unsure(d))
		return feed_source(d, p);
	if (!prepare(d, p))
		return false;
	follow(d, p);
	d->feeding = p->kind;
	return give(d, p);
}

bool etm_feed_atoms(struct etm_decoder *d, const struct etm_piece *whole,
		    struct etm_atoms a)
{
	static const uint8_t header[] = {0, ETM4_ATOM_F1, ETM4_ATOM_F2, ETM4_ATOM_F3};
	uint8_t byte;
	const struct etm_piece p = {.offset = whole->offset, .bytes = &byte, .n = 1,
				    .kind = ETM_ATOMS, .before = whole->before};
	uint32_t k;

	for (; a.n; a.n -= k, a.taken >>= k) {
		k = etm_atoms_room(d) < 3 ? etm_atoms_room(d) : 3;
		k = k < a.n ? k : a.n;
		k += !k;		/* which is refused */
		byte = header[k] | (a.taken & ((1u << k) - 1));
		if (!etm_feed(d, &p))
			return false;
	}
	return true;
}

/*
 * Each atom may be an indirect branch, and the next one then takes an entry of the
 * return stack: no more at once than there are entries to be trusted.
 */
uint32_t etm_atoms_room(const struct etm_decoder *d)
{
	if (!d->unsure || d->lost || !(d->config.source.configr & TRCCONFIGR_RS))
		return UINT32_MAX;
	return d->sure + !d->pop_pending;
}
