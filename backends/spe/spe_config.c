// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A client's configuration, held against PMSIDR_EL1. */
#include "spe_backend.h"

#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))
#define INTERVAL_MAX	0xffffff00u
#define INTERVAL_UNIT	256u
#define FILTER_TYPES	(PMSFCR_B | PMSFCR_LD | PMSFCR_ST)

static uint64_t id_word(struct hwt_backend *be, uint32_t low)
{
	const struct hwt_bus_ops *ops = be->bus->ops;

	return ops->cap(be->bus, low) | (uint64_t)ops->cap(be->bus, low + 1) << 32;
}

uint64_t spe_pmsidr(struct hwt_backend *be)
{
	return id_word(be, SPE_CAP_PMSIDR);
}

uint64_t spe_pmbidr(struct hwt_backend *be)
{
	return id_word(be, SPE_CAP_PMBIDR);
}

/* Of either event filter: what their registers keep is the same. */
static uint64_t events(struct hwt_backend *be)
{
	return id_word(be, SPE_CAP_EVENTS);
}

/* What the unit recommends; values that the manual has not yet: the largest. */
static uint32_t min_interval(struct hwt_backend *be)
{
	static const uint16_t table[SPE_MIN_INTERVALS_COUNT] = SPE_MIN_INTERVALS;
	uint64_t i = (spe_pmsidr(be) & PMSIDR_INTERVAL_MASK) >> PMSIDR_INTERVAL_SHIFT;

	return i < SPE_MIN_INTERVALS_COUNT && table[i] ? table[i] : 4096;
}

/* Each filter: its bit, what the unit needs for it, and whether it says anything. */
static int check_filters(struct hwt_backend *be, const struct arm_spe_config2 *c)
{
	const struct {
		uint64_t bit, id, condition;
	} filters[] = {
		{PMSFCR_FE, PMSIDR_FE, c->pmsevfr},
		{PMSFCR_FNE, PMSIDR_FNE, c->pmsnevfr},
		{PMSFCR_FT, PMSIDR_FT, c->pmsfcr & FILTER_TYPES},
		{PMSFCR_FL, PMSIDR_FL, c->pmslatfr},
	};
	uint64_t idr = spe_pmsidr(be), known = FILTER_TYPES;
	uint64_t max = PMSLATFR_MINLAT_MASK;
	size_t i;

	for (i = 0; i < ARRAY_LEN(filters); i++) {
		known |= filters[i].bit;
		if (!(c->pmsfcr & filters[i].bit))
			continue;
		if (!(idr & filters[i].id))
			return -EOPNOTSUPP;
		/* Without one, what comes through is UNPREDICTABLE. */
		if (!filters[i].condition)
			return -EINVAL;
	}
	/* Such bits the unit would ignore: other samples than were asked for. */
	if ((c->pmsevfr | c->pmsnevfr) & ~events(be))
		return -EOPNOTSUPP;
	if ((idr & PMSIDR_COUNTSIZE_MASK) >> PMSIDR_COUNTSIZE_SHIFT == PMSIDR_COUNTSIZE_12)
		max = 0xfff;
	return c->pmsfcr & ~known || c->pmslatfr > max ? -EINVAL : 0;
}

static int check_interval(struct hwt_backend *be, uint32_t interval, uint64_t *irr)
{
	uint32_t min = min_interval(be);

	if (!interval)
		interval = min;
	if (interval % INTERVAL_UNIT || interval < min || interval > INTERVAL_MAX)
		return -EINVAL;
	*irr |= interval & PMSIRR_INTERVAL_MASK;
	return 0;
}

/* Exception levels: kernel code and other CPUs' programs need privilege. */
static int check_level(int mode, const struct hwt_cred *cred, int level, uint64_t *scr)
{
	switch (level) {
	case ARM_SPE_USER_ONLY:
		*scr |= PMSCR_E0SPE;
		break;
	case ARM_SPE_KERNEL_ONLY:
		*scr |= PMSCR_E1SPE;
		break;
	case ARM_SPE_KERNEL_AND_USER:
		*scr |= PMSCR_E0SPE | PMSCR_E1SPE;
		break;
	default:
		return -EINVAL;
	}
	if (mode == HWT_MODE_THREAD)
		return level == ARM_SPE_USER_ONLY ? 0 : -EOPNOTSUPP;
	return cred->perfmon ? 0 : -EPERM;
}

static int check_packets(const struct hwt_cred *cred, const struct arm_spe_config2 *c,
			 uint64_t *scr)
{
	switch ((int)c->first.ctx_field) {
	case ARM_SPE_CTX_NONE:
		break;
	case ARM_SPE_CTX_PID:
		*scr |= PMSCR_CX;
		break;
	case ARM_SPE_CTX_CPU_ID:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
	if (c->flags & ~ARM_SPE_FLAGS)
		return -EINVAL;
	if (c->flags & ARM_SPE_PHYS) {
		if (!cred->perfmon)
			return -EPERM;
		*scr |= PMSCR_PA;
	}
	if (!(c->flags & ARM_SPE_NO_TIME))
		*scr |= PMSCR_TS;
	return 0;
}

/* Copies what there is of either version. */
static int take(const void *config, size_t size, int version, struct arm_spe_config2 *out)
{
	size_t need = version == ARM_SPE_CONFIG_VERSION ? sizeof(out->first) : sizeof(*out);

	if ((version != ARM_SPE_CONFIG_VERSION && version != ARM_SPE_CONFIG_VERSION2) ||
	    size < need)
		return -EINVAL;
	hwt_memset(out, 0, sizeof(*out));
	hwt_memcpy(out, config, need);
	return 0;
}

int spe_config_check(struct hwt_backend *be, int mode, const struct hwt_cred *cred,
		     const void *config, size_t size, int version, void **out)
{
	struct spe_config c = {0}, *copy;
	struct arm_spe_config2 in;
	int err;

	err = take(config, size, version, &in);
	if (!err)
		err = check_interval(be, in.first.interval, &c.irr);
	if (!err)
		err = check_level(mode, cred, (int)in.first.level, &c.scr);
	if (!err)
		err = check_packets(cred, &in, &c.scr);
	if (!err)
		err = check_filters(be, &in);
	if (err)
		return err;
	if (!(in.flags & ARM_SPE_NO_JITTER))
		c.irr |= PMSIRR_RND;
	c.fcr = in.pmsfcr;
	c.evfr = in.pmsevfr;
	c.nevfr = in.pmsnevfr;
	c.latfr = in.pmslatfr;
	copy = hwt_alloc(sizeof(*copy), HWT_MAY_SLEEP);
	if (!copy)
		return -ENOMEM;
	*copy = c;
	*out = copy;
	return 0;
}

void spe_config_default(struct hwt_backend *be, int mode, struct spe_config *out)
{
	hwt_memset(out, 0, sizeof(*out));
	out->scr = PMSCR_E0SPE | PMSCR_CX | PMSCR_TS;
	if (mode == HWT_MODE_CPU)
		out->scr |= PMSCR_E1SPE;
	out->irr = min_interval(be) | PMSIRR_RND;
}
