// SPDX-License-Identifier: BSD-2-Clause
#include "pt_rules.h"

#include <string.h>

/* IA32_RTIT_STATUS: FilterEn, ContextEn and TriggerEn ignore writes (33.2.8.4). */
#define STATUS_MAY_WRITE \
	(RTIT_STATUS_FILTEREN | RTIT_STATUS_CONTEXTEN | RTIT_STATUS_TRIGGEREN | \
	 RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED | RTIT_STATUS_PKTBYTECNT_MASK)

void pt_rules_init(struct pt_rules *r, const uint32_t *caps)
{
	memset(r, 0, sizeof(*r));
	r->caps = caps;
	r->drained = r->settled = true;
}

static void demand(struct pt_rules *r, bool kept, uint32_t msr, const char *rule)
{
	if (kept || r->broken)
		return;
	r->broken = rule;
	r->broken_msr = msr;
}

static uint64_t *reg(struct pt_rules *r, uint32_t msr)
{
	return &r->regs[msr - MSR_RTIT_FIRST];
}

static bool tracing(struct pt_rules *r)
{
	return *reg(r, MSR_RTIT_CTL) & RTIT_CTL_TRACEEN;
}

static unsigned int nranges(const struct pt_rules *r)
{
	return r->caps[PT_CAP_0_EBX] & PT_CAP0B_IPFILTER ?
		       r->caps[PT_CAP_1_EAX] & PT_CAP1A_NRANGES_MASK : 0;
}

/* Is it an MSR that CPUID says there is (33.2.8, 33.3.1)? */
static bool exists(const struct pt_rules *r, uint32_t msr)
{
	switch (msr) {
	case MSR_RTIT_CTL:
	case MSR_RTIT_STATUS:
		return true;
	case MSR_RTIT_OUTPUT_BASE:
	case MSR_RTIT_OUTPUT_MASK_PTRS:
		return r->caps[PT_CAP_0_ECX] & (PT_CAP0C_TOPA | PT_CAP0C_SINGLE_RANGE);
	case MSR_RTIT_CR3_MATCH:
		return r->caps[PT_CAP_0_EBX] & PT_CAP0B_CR3FILTER;
	default:
		return msr >= MSR_RTIT_ADDR0_A && msr < MSR_RTIT_ADDRN_A(nranges(r));
	}
}

/* Values that a WRMSR of it refuses with #GP (33.2.8.4 to 33.2.8.7). */
static bool acceptable(uint32_t msr, uint64_t value)
{
	switch (msr) {
	case MSR_RTIT_STATUS:
		return !(value & ~STATUS_MAY_WRITE);
	case MSR_RTIT_OUTPUT_BASE:
		return !(value & 0x7f) && !(value >> 52);
	case MSR_RTIT_OUTPUT_MASK_PTRS:
		return true;
	case MSR_RTIT_CR3_MATCH:
		return !(value & 0x1f);
	default:
		return (int64_t)(value << 16) >> 16 == (int64_t)value;
	}
}

/* Bits of CTL and the capability word and bits that let them be set (33.3.1). */
static const struct {
	uint64_t ctl;
	uint32_t word, cap;
} features[] = {
	{RTIT_CTL_CYCEN | RTIT_CTL_CYCTHRESH_MASK | RTIT_CTL_PSBFREQ_MASK,
	 PT_CAP_0_EBX, PT_CAP0B_PSB_CYC},
	{RTIT_CTL_MTCEN | RTIT_CTL_MTCFREQ_MASK, PT_CAP_0_EBX, PT_CAP0B_MTC},
	{RTIT_CTL_CR3FILTER, PT_CAP_0_EBX, PT_CAP0B_CR3FILTER},
	{RTIT_CTL_PTWEN | RTIT_CTL_FUPONPTW, PT_CAP_0_EBX, PT_CAP0B_PTWRITE},
	{RTIT_CTL_PWREVTEN, PT_CAP_0_EBX, PT_CAP0B_PWREVT},
	{RTIT_CTL_TOPA, PT_CAP_0_ECX, PT_CAP0C_TOPA},
	{RTIT_CTL_FABRICEN, PT_CAP_0_ECX, PT_CAP0C_FABRIC},
};

static bool ctl_reserved(const struct pt_rules *r, uint64_t ctl)
{
	uint64_t known = RTIT_CTL_TRACEEN | RTIT_CTL_OS | RTIT_CTL_USER | RTIT_CTL_TSCEN |
			 RTIT_CTL_DISRETC | RTIT_CTL_BRANCHEN;
	unsigned int i;

	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (r->caps[features[i].word] & features[i].cap)
			known |= features[i].ctl;
	for (i = 0; i < nranges(r); i++)
		known |= RTIT_CTL_ADDR_CFG_MASK(i);
	return ctl & ~known;
}

static bool was_written(const struct pt_rules *r, uint32_t msr)
{
	return r->written >> (msr - MSR_RTIT_FIRST) & 1;
}

/* Registers outlive who used the unit before: whatever counts has to be set. */
static void check_ranges(struct pt_rules *r, uint64_t ctl)
{
	unsigned int i, config;

	for (i = 0; i < nranges(r); i++) {
		config = ctl >> RTIT_CTL_ADDR_CFG_SHIFT(i) & 0xf;
		demand(r, config <= RTIT_ADDR_CFG_STOP, MSR_RTIT_CTL,
		       "33.2.8.2: reserved encoding of ADDRn_CFG");
		if (config == RTIT_ADDR_CFG_OFF)
			continue;
		demand(r, was_written(r, MSR_RTIT_ADDRN_A(i)) &&
		       was_written(r, MSR_RTIT_ADDRN_B(i)), MSR_RTIT_ADDRN_A(i),
		       "33.2.8.5: a range was left as somebody else had set it");
		demand(r, *reg(r, MSR_RTIT_ADDRN_A(i)) <= *reg(r, MSR_RTIT_ADDRN_B(i)),
		       MSR_RTIT_ADDRN_A(i), "33.2.4.3: a range that ends before it begins");
	}
}

static void check_enable(struct pt_rules *r, uint64_t ctl)
{
	static const uint32_t always[] = {
		MSR_RTIT_STATUS, MSR_RTIT_OUTPUT_BASE, MSR_RTIT_OUTPUT_MASK_PTRS,
	};
	unsigned int i;

	for (i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		demand(r, was_written(r, always[i]), always[i],
		       "33.2.8: a register was left as somebody else had set it");
	if (ctl & RTIT_CTL_CR3FILTER)
		demand(r, was_written(r, MSR_RTIT_CR3_MATCH), MSR_RTIT_CR3_MATCH,
		       "33.2.8.6: CR3_MATCH was left as somebody else had set it");
	check_ranges(r, ctl);
	demand(r, !(*reg(r, MSR_RTIT_STATUS) & RTIT_STATUS_ERROR), MSR_RTIT_STATUS,
	       "33.2.8.4: Error has to be cleared before TraceEn is set");
	demand(r, !(*reg(r, MSR_RTIT_STATUS) & RTIT_STATUS_STOPPED), MSR_RTIT_STATUS,
	       "33.2.8.4: Stopped keeps TriggerEn at 0");
	demand(r, ctl & (RTIT_CTL_OS | RTIT_CTL_USER), MSR_RTIT_CTL,
	       "33.2.5.1: no ring is traced");
	if (!(ctl & RTIT_CTL_TOPA))
		return;
	demand(r, !(*reg(r, MSR_RTIT_OUTPUT_BASE) & 0xfff), MSR_RTIT_OUTPUT_BASE,
	       "33.2.7.2: a ToPA table is 4 KiB aligned");
	demand(r, (*reg(r, MSR_RTIT_OUTPUT_MASK_PTRS) & RTIT_MASK_LOWER) == RTIT_MASK_LOWER,
	       MSR_RTIT_OUTPUT_MASK_PTRS, "33.2.8.8: the low seven bits are ones with ToPA");
}

static void write_ctl(struct pt_rules *r, uint64_t value)
{
	bool was = tracing(r), is = value & RTIT_CTL_TRACEEN;

	demand(r, !ctl_reserved(r, value), MSR_RTIT_CTL,
	       "33.2.8.2: a bit that CPUID does not list");
	demand(r, !(was && is) || value == *reg(r, MSR_RTIT_CTL), MSR_RTIT_CTL,
	       "33.2.8.2: changed without clearing TraceEn");
	if (!was && is)
		check_enable(r, value);
	if (was && !is) {
		r->written = 0;
		r->drained = false;
	}
	r->settled = !is;
	*reg(r, MSR_RTIT_CTL) = value;
}

void pt_rules_write(struct pt_rules *r, uint32_t msr, uint64_t value)
{
	demand(r, !r->base_due, msr, "33.2.7.2: OUTPUT_BASE may move between two reads");
	demand(r, exists(r, msr), msr, "33.3.1: no such MSR here");
	if (msr < MSR_RTIT_FIRST || msr > MSR_RTIT_LAST)
		return;
	if (msr == MSR_RTIT_CTL) {
		write_ctl(r, value);
		return;
	}
	demand(r, !tracing(r), msr, "33.2.8: written while TraceEn is set");
	demand(r, r->drained, msr, "33.2.7: written before the trace was drained");
	demand(r, acceptable(msr, value), msr, "33.2.8: a value that WRMSR refuses");
	r->written |= 1ull << (msr - MSR_RTIT_FIRST);
	*reg(r, msr) = value;
}

uint64_t pt_rules_read(struct pt_rules *r, uint32_t msr)
{
	demand(r, exists(r, msr), msr, "33.3.1: no such MSR here");
	if (msr < MSR_RTIT_FIRST || msr > MSR_RTIT_LAST)
		return 0;
	demand(r, !r->base_due || msr == MSR_RTIT_OUTPUT_BASE, msr,
	       "33.2.7.2: OUTPUT_BASE may move between two reads");
	demand(r, r->drained, msr, "33.2.7: read before the trace was drained");
	r->base_due = msr == MSR_RTIT_OUTPUT_MASK_PTRS && tracing(r);
	return *reg(r, msr);
}

void pt_rules_barrier(struct pt_rules *r, enum hwt_barrier kind)
{
	if (kind == HWT_BARRIER_DATA)
		r->drained = true;
	r->settled = true;
}

void pt_rules_table_write(struct pt_rules *r, uint64_t table)
{
	demand(r, !tracing(r) || *reg(r, MSR_RTIT_OUTPUT_BASE) != table, 0,
	       "33.2.7.2: a table that is in use was changed");
}

void pt_rules_end(struct pt_rules *r, bool want)
{
	demand(r, tracing(r) == want, MSR_RTIT_CTL, "the unit is not as the op leaves it");
	demand(r, r->settled && r->drained && !r->base_due, MSR_RTIT_CTL,
	       "33.2.8: the op ended in the middle of a sequence");
}
