/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records (D10) and the Profiling Buffer (D9.6, D9.7): packets in the order in
 * which Arm's own cores write them, then padding up to the alignment.
 */
#include <string.h>
#include "spe_unit_priv.h"

struct out {
	uint8_t *p;
};

static void put(struct out *o, uint8_t hdr, uint64_t payload, unsigned int bytes)
{
	*o->p++ = hdr;
	/* Little endian, like the payload (D10.1). */
	memcpy(o->p, &payload, bytes);
	o->p += bytes;
}

static void put_address(struct out *o, unsigned int index, uint64_t payload)
{
	put(o, (uint8_t)(SPE_HDR_ADDRESS | index), payload, 8);
}

static void put_counter(struct out *o, unsigned int index, uint32_t cycles)
{
	put(o, (uint8_t)(SPE_HDR_COUNTER | index), cycles, 2);
}

/* An instruction's address, with its exception level; Non-secure. */
static uint64_t code_address(const struct spe_unit *u, uint64_t addr)
{
	return (addr & SPE_ADDR_MASK) | SPE_ADDR_NS | (uint64_t)u->el << SPE_ADDR_EL_SHIFT;
}

static void put_operation(struct out *o, const struct spe_op *op)
{
	unsigned int class = SPE_CLASS_OTHER, bits = 0;

	switch (op->kind) {
	case SPE_OP_KIND_BRANCH:
		class = SPE_CLASS_BRANCH;
		bits |= op->flags & SPE_OPF_COND ? SPE_OP_COND : 0;
		bits |= op->flags & SPE_OPF_INDIRECT ? SPE_OP_INDIRECT : 0;
		break;
	case SPE_OP_KIND_LOAD:
	case SPE_OP_KIND_STORE:
		class = SPE_CLASS_LDST;
		bits |= op->kind == SPE_OP_KIND_STORE ? SPE_OP_STORE : 0;
		if (op->flags & (SPE_OPF_ATOMIC | SPE_OPF_EXCL | SPE_OPF_ACQREL)) {
			bits |= SPE_OP_EXTENDED;
			bits |= op->flags & SPE_OPF_ATOMIC ? SPE_OP_ATOMIC : 0;
			bits |= op->flags & SPE_OPF_EXCL ? SPE_OP_EXCLUSIVE : 0;
			bits |= op->flags & SPE_OPF_ACQREL ? SPE_OP_ACQREL : 0;
		} else if (op->flags & SPE_OPF_SIMD) {
			bits |= SPE_OP_SIMD_FP;
		}
		break;
	default:
		bits |= op->flags & SPE_OPF_COND ? SPE_OP_COND : 0;
	}
	put(o, (uint8_t)(SPE_HDR_OPERATION | class), bits, 1);
}

static void put_access(struct out *o, const struct spe_op *op)
{
	const struct spe_access *a = &op->access;

	put_address(o, SPE_ADDR_DATA_VA, a->addr);
	put_counter(o, SPE_COUNTER_XLAT, a->xlat);
	/* Of loads only (PMSIDR_EL1.LDS). */
	if (op->kind == SPE_OP_KIND_LOAD)
		put(o, SPE_HDR_SOURCE, a->source, 1);
}

static void build(struct spe_unit *u, const struct spe_op *op, const struct spe_figures *f,
		  uint8_t *record)
{
	uint64_t scr = *spe_reg(u, PMSCR_EL1);
	struct out o = {record};

	put_address(&o, SPE_ADDR_PC, code_address(u, op->pc));
	if (scr & PMSCR_CX)
		put(&o, SPE_HDR_CONTEXT | SPE_CONTEXT_EL1, u->contextidr, 4);
	put_operation(&o, op);
	put(&o, SPE_HDR_EVENTS | 0x10, f->events, 2);
	put_counter(&o, SPE_COUNTER_ISSUE, f->issue);
	put_counter(&o, SPE_COUNTER_TOTAL, f->total);
	if (op->kind == SPE_OP_KIND_BRANCH && op->flags & SPE_OPF_TAKEN)
		put_address(&o, SPE_ADDR_TARGET, code_address(u, op->target));
	if (op->access.size)
		put_access(&o, op);
	if (scr & PMSCR_TS)
		put(&o, SPE_HDR_TIMESTAMP, spe_unit_time(u), 8);
	else
		*o.p++ = SPE_HDR_END;
}

/* PMBSR_EL1 takes the first event only; sampling is off while S is set. */
static void management_event(struct spe_unit *u, uint64_t syndrome)
{
	uint64_t sr = *spe_reg(u, PMBSR_EL1);

	if (sr & PMBSR_S)
		return;
	spe_unit_flush(u);
	spe_publish(u, PMBSR_EL1, (sr & PMBSR_COLL) | PMBSR_S | syndrome);
	u->on = false;
	u->until = SPE_NEVER;
	if (u->host.interrupt)
		u->host.interrupt(u->host.ctx);
}

void spe_check_full(struct spe_unit *u)
{
	uint64_t lim = *spe_reg(u, PMBLIMITR_EL1), ptr = *spe_reg(u, PMBPTR_EL1);
	uint64_t limit = lim & PMBLIMITR_LIMIT_MASK;

	if ((lim & PMBLIMITR_FM_MASK) == PMBLIMITR_FM_DISCARD)
		return;
	if (limit < SPE_RECORD_SIZE || ptr > limit - SPE_RECORD_SIZE)
		management_event(u, PMBSR_EC_OTHER << PMBSR_EC_SHIFT | PMBSR_BSC_FULL);
}

void spe_record(struct spe_unit *u, const struct spe_op *op, const struct spe_figures *f)
{
	uint64_t lim = *spe_reg(u, PMBLIMITR_EL1), ptr = *spe_reg(u, PMBPTR_EL1);
	uint8_t record[SPE_RECORD_SIZE] = {0};
	void *to;

	if ((lim & PMBLIMITR_FM_MASK) == PMBLIMITR_FM_DISCARD)
		return;
	if (!(lim & PMBLIMITR_NVM)) {
		management_event(u, PMBSR_EC_ABORT_S1 << PMBSR_EC_SHIFT |
					    PMBSR_FSC_TRANSLATION);
		return;
	}
	to = u->host.memory(u->host.ctx, ptr, SPE_RECORD_SIZE);
	if (!to) {
		management_event(u, PMBSR_EC_OTHER << PMBSR_EC_SHIFT | PMBSR_EA | PMBSR_DL);
		return;
	}
	build(u, op, f, record);
	memcpy(to, record, SPE_RECORD_SIZE);
	u->counts.records++;
	spe_publish(u, PMBPTR_EL1, ptr + SPE_RECORD_SIZE);
	spe_check_full(u);
}
