/* SPDX-License-Identifier: BSD-2-Clause */
/* The register file (33.2.8), checked against the capabilities (33.3.1). */
#include <errno.h>
#include "pt_unit_priv.h"

/* TSC 1 GHz over ART 25 MHz; 100 MHz bus, so that nominal core:bus is 10. */
#define DEFAULT_CBR	10

const uint32_t pt_unit_default_caps[PT_CAP_COUNT] = {
	[PT_CAP_MAX_SUBLEAF] = 1,
	[PT_CAP_0_EBX] = PT_CAP0B_CR3FILTER | PT_CAP0B_PSB_CYC | PT_CAP0B_IPFILTER |
			 PT_CAP0B_MTC,
	[PT_CAP_0_ECX] = PT_CAP0C_TOPA | PT_CAP0C_TOPA_MULTI | PT_CAP0C_SINGLE_RANGE,
	[PT_CAP_1_EAX] = PT_MAX_RANGES | 0xffffu << PT_CAP1A_MTC_SHIFT,
	[PT_CAP_1_EBX] = 0xffffu | 0xffffu << PT_CAP1B_PSB_SHIFT,
	[PT_CAP_15_EAX] = 2,
	[PT_CAP_15_EBX] = 80,
};

/* Which capability each bit of CTL needs; a bit in no row is always there or reserved. */
static const struct {
	uint64_t bits;
	uint8_t word;
	uint32_t cap;
} ctl_needs[] = {
	{RTIT_CTL_CR3FILTER, PT_CAP_0_EBX, PT_CAP0B_CR3FILTER},
	{RTIT_CTL_CYCEN | RTIT_CTL_CYCTHRESH_MASK | RTIT_CTL_PSBFREQ_MASK,
	 PT_CAP_0_EBX, PT_CAP0B_PSB_CYC},
	{RTIT_CTL_MTCEN | RTIT_CTL_MTCFREQ_MASK, PT_CAP_0_EBX, PT_CAP0B_MTC},
	{RTIT_CTL_TOPA, PT_CAP_0_ECX, PT_CAP0C_TOPA},
};

#define CTL_ALWAYS                                                         \
	(RTIT_CTL_TRACEEN | RTIT_CTL_OS | RTIT_CTL_USER | RTIT_CTL_TSCEN | \
	 RTIT_CTL_DISRETC | RTIT_CTL_BRANCHEN)

/* Fields whose values CPUID enumerates by bitmap. */
static const struct {
	uint64_t mask, enable;
	uint8_t shift, word, cap_shift;
} ctl_fields[] = {
	{RTIT_CTL_MTCFREQ_MASK, RTIT_CTL_MTCEN, RTIT_CTL_MTCFREQ_SHIFT,
	 PT_CAP_1_EAX, PT_CAP1A_MTC_SHIFT},
	{RTIT_CTL_CYCTHRESH_MASK, RTIT_CTL_CYCEN, RTIT_CTL_CYCTHRESH_SHIFT,
	 PT_CAP_1_EBX, 0},
	{RTIT_CTL_PSBFREQ_MASK, 0, RTIT_CTL_PSBFREQ_SHIFT,
	 PT_CAP_1_EBX, PT_CAP1B_PSB_SHIFT},
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static uint64_t ctl_allowed(const struct pt_unit *u)
{
	uint64_t allowed = CTL_ALWAYS;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ctl_needs); i++)
		if (u->cap[ctl_needs[i].word] & ctl_needs[i].cap)
			allowed |= ctl_needs[i].bits;
	for (i = 0; i < u->nranges; i++)
		allowed |= RTIT_CTL_ADDR_CFG_MASK(i);
	return allowed;
}

static bool ctl_valid(const struct pt_unit *u, uint64_t ctl)
{
	unsigned int i, value;

	if (ctl & ~ctl_allowed(u))
		return false;
	for (i = 0; i < ARRAY_SIZE(ctl_fields); i++) {
		value = (ctl & ctl_fields[i].mask) >> ctl_fields[i].shift;
		/* Zero is what an unused field holds. */
		if (!value && !(ctl & ctl_fields[i].enable))
			continue;
		if (!(u->cap[ctl_fields[i].word] >> ctl_fields[i].cap_shift >> value & 1))
			return false;
	}
	for (i = 0; i < u->nranges; i++)
		if ((ctl >> RTIT_CTL_ADDR_CFG_SHIFT(i) & 0xf) > RTIT_ADDR_CFG_STOP)
			return false;
	return !(ctl & RTIT_CTL_TRACEEN) || (ctl & RTIT_CTL_TOPA) ||
	       (u->cap[PT_CAP_0_ECX] & PT_CAP0C_SINGLE_RANGE);
}

static int write_ctl(struct pt_unit *u, uint64_t value)
{
	uint64_t old = u->ctl;

	if (!ctl_valid(u, value))
		return -EIO;
	if (value == old)
		return 0;
	/* While it traces, only a write that also stops it may change anything. */
	if ((old & RTIT_CTL_TRACEEN) && (value & RTIT_CTL_TRACEEN))
		return -EIO;
	if (old & RTIT_CTL_TRACEEN)
		pt_disable(u);
	u->ctl = value;
	*pt_msr(u, MSR_RTIT_CTL) = value;
	if (value & RTIT_CTL_TRACEEN)
		pt_enable(u);
	return 0;
}

#define STATUS_WRITABLE \
	(RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED | RTIT_STATUS_PKTBYTECNT_MASK)
#define STATUS_IGNORED \
	(RTIT_STATUS_FILTEREN | RTIT_STATUS_CONTEXTEN | RTIT_STATUS_TRIGGEREN)

static int write_status(struct pt_unit *u, uint64_t value)
{
	uint64_t count =
		(value & RTIT_STATUS_PKTBYTECNT_MASK) >> RTIT_STATUS_PKTBYTECNT_SHIFT;

	if (value & ~(STATUS_WRITABLE | STATUS_IGNORED))
		return -EIO;
	/*
	 * The field saturates below the larger PSB frequencies: restoring what
	 * it says now keeps the whole count.
	 */
	if (count != (u->count < 0x1ffff ? u->count : 0x1ffff))
		u->count = count;
	*pt_msr(u, MSR_RTIT_STATUS) = value & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED);
	pt_status_update(u);
	return 0;
}

static bool canonical(uint64_t ip)
{
	return ip == (uint64_t)((int64_t)(ip << 16) >> 16);
}

int pt_unit_wrmsr(struct pt_unit *u, uint32_t msr, uint64_t value)
{
	if (msr == MSR_RTIT_CTL)
		return write_ctl(u, value);
	if (u->ctl & RTIT_CTL_TRACEEN)
		return -EIO;
	switch (msr) {
	case MSR_RTIT_STATUS:
		return write_status(u, value);
	case MSR_RTIT_OUTPUT_BASE:
		if (value & (0x7full | ~0ull << 52))
			return -EIO;
		break;
	case MSR_RTIT_OUTPUT_MASK_PTRS:
		value |= RTIT_MASK_LOWER;
		break;
	case MSR_RTIT_CR3_MATCH:
		if (!(u->cap[PT_CAP_0_EBX] & PT_CAP0B_CR3FILTER) || (value & 0x1f))
			return -EIO;
		break;
	default:
		if (msr < MSR_RTIT_ADDR0_A || msr >= MSR_RTIT_ADDRN_A(u->nranges) ||
		    !canonical(value))
			return -EIO;
	}
	*pt_msr(u, msr) = value;
	return 0;
}

uint64_t pt_unit_rdmsr(struct pt_unit *u, uint32_t msr)
{
	if (msr < MSR_RTIT_FIRST || msr > MSR_RTIT_LAST)
		return 0;
	if (msr == MSR_RTIT_STATUS)
		pt_status_update(u);
	return *pt_msr(u, msr);
}

size_t pt_unit_size(void)
{
	return sizeof(struct pt_unit);
}

void pt_unit_init(struct pt_unit *u, struct pt_regs_file *regs, const uint32_t *caps,
		  const struct pt_unit_host *host)
{
	memset(u, 0, sizeof(*u));
	memset(regs, 0, sizeof(*regs));
	u->regs = regs;
	u->host = *host;
	memcpy(u->cap, caps ? caps : pt_unit_default_caps, sizeof(u->cap));
	if (!u->cap[PT_CAP_15_EAX] || !u->cap[PT_CAP_15_EBX])
		u->cap[PT_CAP_15_EAX] = u->cap[PT_CAP_15_EBX] = 1;
	if (u->cap[PT_CAP_0_EBX] & PT_CAP0B_IPFILTER)
		u->nranges = u->cap[PT_CAP_1_EAX] & PT_CAP1A_NRANGES_MASK;
	if (u->nranges > PT_MAX_RANGES)
		u->nranges = PT_MAX_RANGES;
	u->tnt = PT_TNT_EMPTY;
	u->win_len = ~0ull;
	u->filter_en = true;
	u->pip_cr3 = ~0ull;
	u->cbr = DEFAULT_CBR;
	u->cpl = 3;
	*pt_msr(u, MSR_RTIT_OUTPUT_MASK_PTRS) = RTIT_MASK_LOWER;
}
