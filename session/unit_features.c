/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit_features.h"

#include <string.h>

#include "hw/etm4.h"
#include "hw/pt.h"
#include "hw/spe.h"

/* Capability words as struct hwt_query has them: CPUID.14H, TRCIDRn, PMSIDR_EL1. */
static const struct {
	const char *backend;
	uint32_t word, mask;
	const char *name;
} table[] = {
	{ "pt", PT_CAP_0_EBX, PT_CAP0B_PSB_CYC, "cycle counts" },
	{ "pt", PT_CAP_0_EBX, PT_CAP0B_MTC, "mini time counters" },
	{ "pt", PT_CAP_0_EBX, PT_CAP0B_IPFILTER, "address filters" },
	{ "pt", PT_CAP_0_EBX, PT_CAP0B_CR3FILTER, "address space filter" },
	{ "pt", PT_CAP_0_EBX, PT_CAP0B_PTWRITE, "ptwrite" },
	{ "pt", PT_CAP_0_EBX, PT_CAP0B_PWREVT, "power events" },
	{ "coresight", 0, TRCIDR0_TSSIZE_MASK, "timestamps" },
	{ "coresight", 0, TRCIDR0_TRCCCI, "cycle counts" },
	{ "coresight", 0, TRCIDR0_TRCBB, "branch broadcast" },
	{ "coresight", 0, TRCIDR0_RETSTACK, "return stack" },
	{ "coresight", 2, TRCIDR2_CIDSIZE_MASK, "context IDs" },
	{ "coresight", 2, TRCIDR2_VMIDSIZE_MASK, "virtual machine IDs" },
	{ "coresight", 4, TRCIDR4_NUMACPAIRS_MASK, "address filters" },
	{ "spe", SPE_CAP_PMSIDR, PMSIDR_FE, "event filter" },
	{ "spe", SPE_CAP_PMSIDR, PMSIDR_FNE, "inverse event filter" },
	{ "spe", SPE_CAP_PMSIDR, PMSIDR_FT, "type filter" },
	{ "spe", SPE_CAP_PMSIDR, PMSIDR_FL, "latency filter" },
	{ "spe", SPE_CAP_PMSIDR, PMSIDR_LDS, "data sources" },
	{ "spe", SPE_CAP_PMSIDR, PMSIDR_ERND, "random intervals" },
};
#define NTABLE	((int)(sizeof(table) / sizeof(table[0])))

const char *hwt_feature(const struct hwt_query *unit, int *at)
{
	int i;

	for (i = *at; i < NTABLE; i++) {
		if (strncmp(table[i].backend, unit->name, sizeof(unit->name)) ||
		    !(unit->caps[table[i].word] & table[i].mask))
			continue;
		*at = i + 1;
		return table[i].name;
	}
	return NULL;
}

uint64_t hwt_filter_events(const struct hwt_query *unit)
{
	if (!unit->ncaps)
		return ~0ull;
	return unit->caps[SPE_CAP_EVENTS] | (uint64_t)unit->caps[SPE_CAP_EVENTS_HI] << 32;
}
