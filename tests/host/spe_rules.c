// SPDX-License-Identifier: BSD-2-Clause
#include "spe_rules.h"

#include <string.h>

#define SAMPLING	(PMSCR_E0SPE | PMSCR_E1SPE)
#define TYPES		(PMSFCR_B | PMSFCR_LD | PMSFCR_ST)
#define WAS_WRITTEN(r, reg)	((r)->written >> SPE_REG_INDEX(reg) & 1)

void spe_rules_init(struct spe_rules *r, uint64_t idr, uint64_t bidr)
{
	memset(r, 0, sizeof(*r));
	r->idr = idr;
	r->bidr = bidr;
	r->settled = r->drained = true;
}

static void demand(struct spe_rules *r, bool kept, uint32_t reg, const char *rule)
{
	if (kept || r->broken)
		return;
	r->broken = rule;
	r->broken_reg = reg;
}

static uint64_t value_of(struct spe_rules *r, uint32_t reg)
{
	return *spe_rules_reg(r, reg);
}

static bool sampling(struct spe_rules *r)
{
	return value_of(r, PMSCR_EL1) & SAMPLING;
}

static bool enabled(struct spe_rules *r)
{
	return value_of(r, PMBLIMITR_EL1) & PMBLIMITR_E;
}

/* Bits that are not RES0 in this unit (D13.6). */
static uint64_t writable(const struct spe_rules *r, uint32_t reg)
{
	uint64_t fcr = TYPES;

	switch (reg) {
	case PMSCR_EL1:
		return SAMPLING | PMSCR_CX | PMSCR_PA | PMSCR_TS | PMSCR_PCT_MASK;
	case PMSICR_EL1:
		return PMSICR_COUNT_MASK;	/* ECOUNT needs ERnd */
	case PMSIRR_EL1:
		return PMSIRR_INTERVAL_MASK | PMSIRR_RND;
	case PMSFCR_EL1:
		fcr |= r->idr & PMSIDR_FE ? PMSFCR_FE : 0;
		fcr |= r->idr & PMSIDR_FT ? PMSFCR_FT : 0;
		fcr |= r->idr & PMSIDR_FL ? PMSFCR_FL : 0;
		fcr |= r->idr & PMSIDR_FNE ? PMSFCR_FNE : 0;
		return fcr;
	case PMSLATFR_EL1:
		return PMSLATFR_MINLAT_MASK;
	case PMBLIMITR_EL1:
		return PMBLIMITR_LIMIT_MASK | PMBLIMITR_FM_MASK | PMBLIMITR_E |
		       (r->bidr & PMBIDR_ADDRMODE_MASK ? PMBLIMITR_NVM : 0);
	case PMBSR_EL1:
		return PMBSR_MSS_MASK | PMBSR_COLL | PMBSR_S | PMBSR_EA | PMBSR_DL |
		       PMBSR_EC_MASK;
	}
	return ~0ull;
}

static bool exists(const struct spe_rules *r, uint32_t reg, bool write)
{
	switch (reg) {
	case PMSIDR_EL1:
	case PMBIDR_EL1:
		return !write;
	case PMSNEVFR_EL1:
		return r->idr & PMSIDR_FNE;
	case PMSCR_EL1: case PMSICR_EL1: case PMSIRR_EL1: case PMSFCR_EL1: case PMSEVFR_EL1:
	case PMSLATFR_EL1: case PMBLIMITR_EL1: case PMBPTR_EL1: case PMBSR_EL1:
		return true;
	}
	return false;
}

/* D9.7: the buffer is [PMBPTR, PMBLIMITR.LIMIT). */
static void check_buffer(struct spe_rules *r, uint64_t limitr)
{
	static const uint32_t needed[] = {PMBPTR_EL1, PMBSR_EL1};
	uint64_t mode = (r->bidr & PMBIDR_ADDRMODE_MASK) >> PMBIDR_ADDRMODE_SHIFT;
	uint64_t fill = limitr & PMBLIMITR_FM_MASK;
	size_t i;

	for (i = 0; i < 2; i++)
		demand(r, WAS_WRITTEN(r, needed[i]), needed[i],
		       "D9.7: a buffer register was left as somebody else had set it");
	demand(r, value_of(r, PMBPTR_EL1) < (limitr & PMBLIMITR_LIMIT_MASK), PMBPTR_EL1,
	       "D9.7.1: the write pointer is not below the limit");
	demand(r, !(value_of(r, PMBSR_EL1) & PMBSR_S), PMBSR_EL1,
	       "D9.7.3: PMBSR_EL1.S keeps the buffer stopped");
	demand(r, fill == PMBLIMITR_FM_FILL || fill == PMBLIMITR_FM_DISCARD, PMBLIMITR_EL1,
	       "D13.6.1: a reserved fill mode");
	demand(r, mode != PMBIDR_ADDRMODE_PA || limitr & PMBLIMITR_NVM, PMBLIMITR_EL1,
	       "D13.6.1: this unit takes physical addresses only");
}

/* D9.4 and D9.5: what is sampled, and how often. */
static void check_sampling(struct spe_rules *r)
{
	static const uint32_t needed[] = {
		PMSIRR_EL1, PMSICR_EL1, PMSFCR_EL1, PMSEVFR_EL1, PMSLATFR_EL1, PMSNEVFR_EL1,
	};
	uint64_t fcr = value_of(r, PMSFCR_EL1);
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		demand(r, WAS_WRITTEN(r, needed[i]) || !exists(r, needed[i], true), needed[i],
		       "D9.4: a sampling register was left as somebody else had set it");
	demand(r, enabled(r) && r->settled, PMSCR_EL1,
	       "D9.7: sampling without a buffer, or before its registers are in effect");
	demand(r, value_of(r, PMSIRR_EL1) & PMSIRR_INTERVAL_MASK, PMSIRR_EL1,
	       "D13.6.9: an interval of 0 is unpredictable");
	demand(r, !(fcr & PMSFCR_FE) || value_of(r, PMSEVFR_EL1), PMSEVFR_EL1,
	       "D13.6.7: filtering by no event is unpredictable");
	demand(r, !(fcr & PMSFCR_FNE) || value_of(r, PMSNEVFR_EL1), PMSNEVFR_EL1,
	       "D13.6.7: filtering by no event is unpredictable");
	demand(r, !(fcr & PMSFCR_FT) || fcr & TYPES, PMSFCR_EL1,
	       "D13.6.7: filtering by no type is unpredictable");
	demand(r, !(fcr & PMSFCR_FL) || value_of(r, PMSLATFR_EL1), PMSLATFR_EL1,
	       "D13.6.7: filtering by no latency is unpredictable");
}

static void write_pmscr(struct spe_rules *r, uint64_t value)
{
	bool was = sampling(r), is = value & SAMPLING;

	demand(r, !(was && is) || value == value_of(r, PMSCR_EL1), PMSCR_EL1,
	       "D9.4: changed while sampling");
	if (!was && is)
		check_sampling(r);
	if (is != was)
		r->drained = false;
	r->settled = false;
}

static void write_pmblimitr(struct spe_rules *r, uint64_t value)
{
	demand(r, !sampling(r) && r->settled && r->drained, PMBLIMITR_EL1,
	       "D9.7: the buffer was changed before PSB CSYNC, or with sampling on");
	if (value & PMBLIMITR_E)
		check_buffer(r, value);
	else if (enabled(r))
		r->written = 0;
	r->settled = false;
}

/* Of the buffer and the samples: not before both are off and what was left is out. */
static void write_other(struct spe_rules *r, uint32_t reg, uint64_t value)
{
	uint64_t align = 1ull << (r->bidr & PMBIDR_ALIGN_MASK);

	demand(r, !sampling(r), reg, "D9.4: written while sampling");
	demand(r, !enabled(r), reg, "D9.7: written while the buffer is enabled");
	demand(r, r->settled && r->drained, reg, "D9.7: written before the buffer was off");
	demand(r, reg != PMBPTR_EL1 || value % align == 0, reg,
	       "D13.6.2: not a multiple of PMBIDR_EL1.Align");
}

void spe_rules_write(struct spe_rules *r, uint32_t reg, uint64_t value)
{
	demand(r, exists(r, reg, true), reg, "D13.6: no such register to write");
	if (!SPE_REG_VALID(reg))
		return;
	demand(r, !(value & ~writable(r, reg)), reg, "D13.6: a bit that is RES0 here");
	if (reg == PMSCR_EL1)
		write_pmscr(r, value);
	else if (reg == PMBLIMITR_EL1)
		write_pmblimitr(r, value);
	else
		write_other(r, reg, value);
	r->written |= 1u << SPE_REG_INDEX(reg);
	*spe_rules_reg(r, reg) = value;
}

uint64_t spe_rules_read(struct spe_rules *r, uint32_t reg)
{
	demand(r, exists(r, reg, false), reg, "D13.6: no such register");
	if (!SPE_REG_VALID(reg))
		return 0;
	if (sampling(r))
		r->told |= reg == PMBPTR_EL1;
	else
		demand(r, r->settled && r->drained, reg,
		       "D9.7: read before the records that are under way were out");
	return value_of(r, reg);
}

void spe_rules_barrier(struct spe_rules *r, enum hwt_barrier kind)
{
	if (kind == HWT_BARRIER_CONTEXT) {
		r->settled = true;
		return;
	}
	r->told = false;
	/* PSB CSYNC orders what is before a context synchronization (B2.3.10). */
	if (r->settled)
		r->drained = true;
}

void spe_rules_end(struct spe_rules *r, bool on)
{
	demand(r, sampling(r) == on && enabled(r) == on, PMSCR_EL1,
	       "the unit is not as the op leaves it");
	demand(r, r->settled, PMSCR_EL1, "D9.7: the op ended before its writes are in effect");
	demand(r, on || r->drained, PMSCR_EL1, "D9.7: the op ended with records under way");
	demand(r, !r->told, PMBPTR_EL1,
	       "D9.7: a position was told of bytes that may not be in memory yet");
}
