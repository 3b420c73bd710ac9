// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A client's configuration, held against the trace unit's ID registers. */
#include "cs_backend.h"

#define CONFIGR \
	(CORESIGHT_BB | CORESIGHT_CCI | CORESIGHT_CID | CORESIGHT_TS | CORESIGHT_RS)
#define DEFAULT_SYNC 12u

static uint32_t idr(struct hwt_backend *be, uint32_t n)
{
	return be->bus->ops->cap(be->bus, n);
}

uint32_t cs_config_ranges(struct hwt_backend *be)
{
	return idr(be, 4) & TRCIDR4_NUMACPAIRS_MASK;
}

/* TRCIDR0, TRCIDR2: what the unit can put into its trace. */
static uint32_t supported(struct hwt_backend *be)
{
	uint32_t id0 = idr(be, 0), bits = 0;

	bits |= id0 & TRCIDR0_TRCBB ? CORESIGHT_BB : 0;
	bits |= id0 & TRCIDR0_TRCCCI ? CORESIGHT_CCI : 0;
	bits |= id0 & TRCIDR0_RETSTACK ? CORESIGHT_RS : 0;
	bits |= id0 & TRCIDR0_TSSIZE_MASK ? CORESIGHT_TS : 0;
	bits |= idr(be, 2) & TRCIDR2_CIDSIZE_MASK ? CORESIGHT_CID : 0;
	return bits;
}

/* ViewInst: always, but at exception levels that are not asked for (7.3.80). */
static uint32_t view(struct hwt_backend *be, uint32_t flags)
{
	uint32_t levels = idr(be, 3) & TRCVICTLR_EXLEVEL_MASK;

	if (flags & CORESIGHT_USER)
		levels &= ~(1u << TRCVICTLR_EXLEVEL_NS_SHIFT);
	if (flags & CORESIGHT_KERNEL) /* EL1, and EL2 of a host with VHE */
		levels &= ~(6u << TRCVICTLR_EXLEVEL_NS_SHIFT);
	return TRCVICTLR_EVENT_TRUE | TRCVICTLR_SSSTATUS | levels;
}

static int check_flags(int mode, const struct hwt_cred *cred, uint32_t flags)
{
	if (!flags || flags & ~(CORESIGHT_USER | CORESIGHT_KERNEL))
		return -EINVAL;
	if (mode == HWT_MODE_THREAD)
		return flags & CORESIGHT_KERNEL ? -EOPNOTSUPP : 0;
	return cred->perfmon ? 0 : -EPERM;
}

static int check_numbers(struct hwt_backend *be, const struct coresight_config *c)
{
	if (c->configr & ~CONFIGR || c->reserved)
		return -EINVAL;
	if (c->configr & ~supported(be))
		return -EOPNOTSUPP;
	if (c->sync && (c->sync < TRCSYNCPR_MIN || c->sync > TRCSYNCPR_MAX))
		return -EINVAL;
	if (c->sync && idr(be, 3) & TRCIDR3_SYNCPR)
		return -EOPNOTSUPP;
	if (c->configr & CORESIGHT_CCI && c->cc_threshold > TRCCCCTLR_THRESHOLD_MASK)
		return -EINVAL;
	return 0;
}

/* Cycles between two counts; fewer than the unit can are as few as it can. */
static uint32_t threshold(struct hwt_backend *be, const struct coresight_config *c)
{
	uint32_t least = idr(be, 3) & TRCIDR3_CCITMIN_MASK;

	if (!(c->configr & CORESIGHT_CCI))
		return 0;
	return c->cc_threshold > least ? c->cc_threshold : least;
}

static int check_ranges(struct hwt_backend *be, const struct coresight_config *c)
{
	uint32_t i;

	if (c->nranges > CORESIGHT_MAX_RANGES)
		return -EINVAL;
	if (c->nranges > cs_config_ranges(be))
		return -EOPNOTSUPP;
	for (i = 0; i < c->nranges; i++)
		if (c->ranges[i].start > c->ranges[i].end)
			return -EINVAL;
	return 0;
}

int cs_config_check(struct hwt_backend *be, int mode, const struct hwt_cred *cred,
		    const void *config, size_t size, int version, void **out)
{
	struct coresight_config in;
	struct cs_config *c;
	uint32_t i;
	int err;

	if (version != CORESIGHT_CONFIG_VERSION || size < sizeof(in))
		return -EINVAL;
	hwt_memcpy(&in, config, sizeof(in));
	err = check_flags(mode, cred, in.flags);
	if (!err)
		err = check_numbers(be, &in);
	if (!err)
		err = check_ranges(be, &in);
	if (err)
		return err;
	c = hwt_alloc(sizeof(*c), HWT_MAY_SLEEP);
	if (!c)
		return -ENOMEM;
	hwt_memset(c, 0, sizeof(*c));
	c->configr = TRCCONFIGR_RES1 | in.configr;
	c->syncpr = in.sync;
	c->ccctlr = threshold(be, &in);
	c->victlr = view(be, in.flags);
	c->nranges = in.nranges;
	for (i = 0; i < in.nranges; i++) {
		c->range[2 * i] = in.ranges[i].start;
		c->range[2 * i + 1] = in.ranges[i].end;
	}
	*out = c;
	return 0;
}

void cs_config_default(struct hwt_backend *be, int mode, struct cs_config *out)
{
	uint32_t flags = CORESIGHT_USER;

	if (mode == HWT_MODE_CPU)
		flags |= CORESIGHT_KERNEL;
	hwt_memset(out, 0, sizeof(*out));
	out->configr = TRCCONFIGR_RES1 |
		       ((CORESIGHT_TS | CORESIGHT_RS | CORESIGHT_CID) & supported(be));
	out->syncpr = idr(be, 3) & TRCIDR3_SYNCPR ? 0 : DEFAULT_SYNC;
	out->victlr = view(be, flags);
}
