/* SPDX-License-Identifier: BSD-2-Clause */
/* The register file (D13.6: Statistical Profiling Extension registers). */
#include <errno.h>
#include <string.h>
#include "spe_unit_priv.h"

#define ID_PMSIDR                                                               \
	(PMSIDR_FE | PMSIDR_FT | PMSIDR_FL | PMSIDR_ARCHINST | PMSIDR_LDS |     \
	 PMSIDR_FNE | (uint64_t)SPE_ALIGN_SHIFT << PMSIDR_MAXSIZE_SHIFT |       \
	 PMSIDR_COUNTSIZE_12 << PMSIDR_COUNTSIZE_SHIFT)
/* No address translation of a unit's own: FEAT_SPE_nVM is all there is. */
#define ID_PMBIDR \
	((uint64_t)SPE_ALIGN_SHIFT | PMBIDR_ADDRMODE_PA << PMBIDR_ADDRMODE_SHIFT)

#define ANY_TIME 1u	/* may be written while sampling is on */

/* What a register takes; a register in no row is unknown or read-only. */
static const struct rule {
	uint32_t reg;
	uint32_t flags;
	uint64_t writable;
} rules[] = {
	{PMSCR_EL1, ANY_TIME, PMSCR_E0SPE | PMSCR_E1SPE | PMSCR_CX | PMSCR_PA | PMSCR_TS |
				      PMSCR_PCT_MASK},
	{PMSNEVFR_EL1, 0, SPE_EVENTS},
	{PMSICR_EL1, 0, PMSICR_COUNT_MASK},
	{PMSIRR_EL1, 0, PMSIRR_INTERVAL_MASK | PMSIRR_RND},
	{PMSFCR_EL1, 0, PMSFCR_FE | PMSFCR_FT | PMSFCR_FL | PMSFCR_FNE | PMSFCR_B |
				PMSFCR_LD | PMSFCR_ST},
	{PMSEVFR_EL1, 0, SPE_EVENTS},
	{PMSLATFR_EL1, 0, SPE_COUNTER_MAX},
	{PMBLIMITR_EL1, ANY_TIME, PMBLIMITR_LIMIT_MASK | PMBLIMITR_NVM | PMBLIMITR_FM_MASK |
					  PMBLIMITR_E},
	{PMBPTR_EL1, 0, ~0ull << SPE_ALIGN_SHIFT},
	{PMBSR_EL1, ANY_TIME, PMBSR_MSS_MASK | PMBSR_COLL | PMBSR_S | PMBSR_EA | PMBSR_DL |
				      PMBSR_EC_MASK},
};

static const struct rule *rule_of(uint32_t reg)
{
	size_t i;

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].reg == reg)
			return &rules[i];
	return NULL;
}

static bool value_valid(const struct rule *r, uint64_t value)
{
	uint64_t fill = value & PMBLIMITR_FM_MASK;

	if (value & ~r->writable)
		return false;
	return r->reg != PMBLIMITR_EL1 || fill == PMBLIMITR_FM_FILL ||
	       fill == PMBLIMITR_FM_DISCARD;
}

int spe_unit_write(struct spe_unit *u, uint32_t reg, uint64_t value)
{
	const struct rule *r = rule_of(reg);

	if (!r || !value_valid(r, value) || (spe_enabled(u) && !(r->flags & ANY_TIME)))
		return -EIO;
	spe_unit_flush(u);
	spe_publish(u, reg, value);
	spe_update(u);
	return 0;
}

uint64_t spe_unit_read(struct spe_unit *u, uint32_t reg)
{
	if (!SPE_REG_VALID(reg))
		return 0;
	spe_unit_flush(u);
	return *spe_reg(u, reg);
}

size_t spe_unit_size(void)
{
	return sizeof(struct spe_unit);
}

void spe_unit_caps(uint32_t *caps)
{
	caps[SPE_CAP_PMSIDR] = (uint32_t)ID_PMSIDR;
	caps[SPE_CAP_PMSIDR_HI] = (uint32_t)(ID_PMSIDR >> 32);
	caps[SPE_CAP_PMBIDR] = (uint32_t)ID_PMBIDR;
	caps[SPE_CAP_PMBIDR_HI] = (uint32_t)(ID_PMBIDR >> 32);
	caps[SPE_CAP_EVENTS] = (uint32_t)SPE_EVENTS;
	caps[SPE_CAP_EVENTS_HI] = (uint32_t)(SPE_EVENTS >> 32);
}

int spe_unit_init(struct spe_unit *u, struct spe_regs_file *regs, uint64_t seed,
		  const struct spe_unit_host *host)
{
	memset(u, 0, sizeof(*u));
	memset(regs, 0, sizeof(*regs));
	u->regs = regs;
	u->host = *host;
	u->until = SPE_NEVER;
	/* A state of 0 would stay 0. */
	u->random = seed ^ 0x9e3779b97f4a7c15ull;
	if (!u->random)
		u->random = 1;
	*spe_reg(u, PMSIDR_EL1) = ID_PMSIDR;
	*spe_reg(u, PMBIDR_EL1) = ID_PMBIDR;
	return spe_timing_init(&u->timing);
}

void spe_unit_fini(struct spe_unit *u)
{
	spe_timing_fini(&u->timing);
}

void spe_unit_set_context(struct spe_unit *u, unsigned int el, uint32_t contextidr)
{
	u->contextidr = contextidr;
	if (u->el == el)
		return;
	spe_unit_flush(u);
	u->el = el;
	spe_update(u);
}

void spe_unit_set_time(struct spe_unit *u, uint64_t time)
{
	if (time > spe_unit_time(u))
		u->time_base = time - u->ops;
}

uint64_t spe_unit_time(const struct spe_unit *u)
{
	uint64_t own = u->time_base + u->ops, host;

	if (!u->host.clock)
		return own;
	host = u->host.clock(u->host.ctx);
	return host > own ? host : own;
}

const struct spe_unit_counts *spe_unit_counts(const struct spe_unit *u)
{
	return &u->counts;
}
