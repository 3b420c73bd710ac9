// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A client's configuration, held against CPUID leaf 14H (SDM 33.3.1). */
#include "pt_backend.h"

/* What a bit of IA32_RTIT_CTL needs: all bits of one capability word. */
static const struct {
	uint64_t ctl;
	uint32_t cap;		/* index of the word, 0: every unit has it */
	uint32_t bits;
} ctl_needs[] = {
	{RTIT_CTL_CYCEN, PT_CAP_0_EBX, PT_CAP0B_PSB_CYC},
	{RTIT_CTL_CYCTHRESH_MASK, PT_CAP_0_EBX, PT_CAP0B_PSB_CYC},
	{RTIT_CTL_PSBFREQ_MASK, PT_CAP_0_EBX, PT_CAP0B_PSB_CYC},
	{RTIT_CTL_PWREVTEN, PT_CAP_0_EBX, PT_CAP0B_PWREVT},
	{RTIT_CTL_FUPONPTW, PT_CAP_0_EBX, PT_CAP0B_PTWRITE},
	{RTIT_CTL_PTWEN, PT_CAP_0_EBX, PT_CAP0B_PTWRITE},
	{RTIT_CTL_MTCEN, PT_CAP_0_EBX, PT_CAP0B_MTC},
	{RTIT_CTL_MTCFREQ_MASK, PT_CAP_0_EBX, PT_CAP0B_MTC},
	{RTIT_CTL_CR3FILTER, PT_CAP_0_EBX, PT_CAP0B_CR3FILTER},
	{RTIT_CTL_OS, 0, 0},
	{RTIT_CTL_USER, 0, 0},
	{RTIT_CTL_TSCEN, 0, 0},
	{RTIT_CTL_DISRETC, 0, 0},
	{RTIT_CTL_BRANCHEN, 0, 0},
};

/* Fields whose values the unit lists in a bitmap. */
static const struct {
	uint64_t mask, enable;	/* checked when `enable` is set, or is 0 */
	uint32_t shift;
	uint32_t cap, cap_shift;
} ctl_fields[] = {
	{RTIT_CTL_MTCFREQ_MASK, RTIT_CTL_MTCEN, RTIT_CTL_MTCFREQ_SHIFT,
	 PT_CAP_1_EAX, PT_CAP1A_MTC_SHIFT},
	{RTIT_CTL_CYCTHRESH_MASK, RTIT_CTL_CYCEN, RTIT_CTL_CYCTHRESH_SHIFT,
	 PT_CAP_1_EBX, 0},
	{RTIT_CTL_PSBFREQ_MASK, 0, RTIT_CTL_PSBFREQ_SHIFT, PT_CAP_1_EBX,
	 PT_CAP1B_PSB_SHIFT},
};

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static uint32_t cap(struct hwt_backend *be, uint32_t index)
{
	return be->bus->ops->cap(be->bus, index);
}

static int check_bits(struct hwt_backend *be, uint64_t ctl)
{
	uint64_t known = 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(ctl_needs); i++) {
		known |= ctl_needs[i].ctl;
		if ((ctl & ctl_needs[i].ctl) &&
		    (cap(be, ctl_needs[i].cap) & ctl_needs[i].bits) != ctl_needs[i].bits)
			return -EOPNOTSUPP;
	}
	/* TraceEn, ToPA and ADDRn_CFG are the driver's, the rest is reserved. */
	return ctl & ~known ? -EINVAL : 0;
}

static int check_fields(struct hwt_backend *be, uint64_t ctl)
{
	uint32_t value;
	size_t i;

	for (i = 0; i < ARRAY_LEN(ctl_fields); i++) {
		if (ctl_fields[i].enable && !(ctl & ctl_fields[i].enable))
			continue;
		value = (uint32_t)((ctl & ctl_fields[i].mask) >> ctl_fields[i].shift);
		if (!value && !ctl_fields[i].enable)
			continue;	/* PSBFreq 0 needs no support */
		if (!(cap(be, ctl_fields[i].cap) >> ctl_fields[i].cap_shift & 1u << value))
			return -EOPNOTSUPP;
	}
	return 0;
}

/* A field may come in rtit_ctl itself or in FreeBSD's field of its own. */
static int merge_field(uint64_t *ctl, uint64_t mask, uint32_t shift, uint32_t value)
{
	if (value > mask >> shift)
		return -EINVAL;
	if (value)
		*ctl = (*ctl & ~mask) | (uint64_t)value << shift;
	return 0;
}

uint32_t pt_config_ranges(struct hwt_backend *be)
{
	return cap(be, PT_CAP_0_EBX) & PT_CAP0B_IPFILTER ?
		       cap(be, PT_CAP_1_EAX) & PT_CAP1A_NRANGES_MASK : 0;
}

/* What WRMSR takes without #GP (33.2.8.5); 48 bits is what every unit has. */
static bool canonical(uint64_t ip)
{
	return (uint64_t)((int64_t)(ip << 16) >> 16) == ip;
}

static int check_ranges(struct hwt_backend *be, const struct pt_cpu_config2 *in,
			int max, struct pt_config *out)
{
	const struct ipf_range *range;
	int i, n = in->first.nranges;

	if (n < 0 || n > max)
		return -EINVAL;
	if ((uint32_t)n > pt_config_ranges(be))
		return -EOPNOTSUPP;
	for (i = 0; i < n; i++) {
		range = i < PT_IP_FILTER_MAX_RANGES ? &in->first.ip_ranges[i] :
			&in->more[i - PT_IP_FILTER_MAX_RANGES];
		if (range->start > range->end || !canonical(range->start) ||
		    !canonical(range->end))
			return -EINVAL;
		out->addr[2 * i] = range->start;
		out->addr[2 * i + 1] = range->end;
		out->ctl |= RTIT_ADDR_CFG_FILTER << RTIT_CTL_ADDR_CFG_SHIFT(i);
	}
	out->nranges = n;
	return 0;
}

/* Which rings a mode traces, and who may ask for it. */
static int check_mode(int mode, const struct hwt_cred *cred, uint64_t *ctl)
{
	if (mode == HWT_MODE_THREAD) {
		if (*ctl & RTIT_CTL_OS)
			return -EOPNOTSUPP;
		*ctl |= RTIT_CTL_USER;
		return 0;
	}
	if (*ctl & RTIT_CTL_USER)
		return -EOPNOTSUPP;
	if (!cred->perfmon)
		return -EPERM;
	*ctl |= RTIT_CTL_OS;
	return 0;
}

/* How many ranges a configuration of that version and size can hold; -EINVAL. */
static int config_ranges(int version, size_t size)
{
	if (version == PT_CONFIG_VERSION && size >= sizeof(struct pt_cpu_config))
		return PT_IP_FILTER_MAX_RANGES;
	if (version == PT_CONFIG_VERSION2 && size >= sizeof(struct pt_cpu_config2))
		return PT_IP_FILTER_MAX_RANGES2;
	return -EINVAL;
}

int pt_config_check(struct hwt_backend *be, int mode, const struct hwt_cred *cred,
		    const void *config, size_t size, int version, void **out)
{
	int err, max = config_ranges(version, size);
	struct pt_cpu_config2 in2;
	struct pt_cpu_config in;
	struct pt_config *c;
	uint64_t ctl;

	if (max < 0)
		return max;
	hwt_memcpy(&in2, config, version == PT_CONFIG_VERSION ? sizeof(in) : sizeof(in2));
	in = in2.first;
	ctl = in.rtit_ctl;
	if (merge_field(&ctl, RTIT_CTL_MTCFREQ_MASK, RTIT_CTL_MTCFREQ_SHIFT, in.mtc_freq) ||
	    merge_field(&ctl, RTIT_CTL_CYCTHRESH_MASK, RTIT_CTL_CYCTHRESH_SHIFT,
			in.cyc_thresh) ||
	    merge_field(&ctl, RTIT_CTL_PSBFREQ_MASK, RTIT_CTL_PSBFREQ_SHIFT, in.psb_freq))
		return -EINVAL;
	/* CR3_MATCH holds bits 63:5 (33.2.8.6). */
	if (in.cr3_filter & 0x1f)
		return -EINVAL;
	if (in.cr3_filter)
		ctl |= RTIT_CTL_CR3FILTER;
	err = check_bits(be, ctl);
	if (!err)
		err = check_fields(be, ctl);
	if (!err)
		err = check_mode(mode, cred, &ctl);
	if (err)
		return err;
	c = hwt_alloc(sizeof(*c), HWT_MAY_SLEEP);
	if (!c)
		return -ENOMEM;
	c->ctl = ctl;
	c->cr3_match = (uint64_t)in.cr3_filter;
	err = check_ranges(be, &in2, max, c);
	if (err) {
		hwt_free(c);
		return err;
	}
	*out = c;
	return 0;
}

void pt_config_default(int mode, struct pt_config *out)
{
	hwt_memset(out, 0, sizeof(*out));
	out->ctl = RTIT_CTL_BRANCHEN | RTIT_CTL_TSCEN |
		   (mode == HWT_MODE_THREAD ? RTIT_CTL_USER : RTIT_CTL_OS);
}
