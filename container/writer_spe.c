/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What perf.data says of an Arm SPE trace: the arm_spe PMU's event
 * (/sys/bus/event_source/devices/arm_spe_0/format) and its AUXTRACE_INFO.
 */
#include "writer.h"

#define SPE_DEFAULT_INTERVAL 256

static void put_attr(const struct perfdata_writer *w, struct perf_event_attr *attr)
{
	static const struct {
		uint64_t fcr, config;
	} filters[] = {{ARM_SPE_FCR_B, SPE_CONFIG_BRANCH},
		       {ARM_SPE_FCR_LD, SPE_CONFIG_LOAD},
		       {ARM_SPE_FCR_ST, SPE_CONFIG_STORE}};
	const struct arm_spe_config2 *c = &w->spe;
	size_t i;

	attr->exclude_kernel = c->first.level == ARM_SPE_USER_ONLY;
	attr->exclude_user = c->first.level == ARM_SPE_KERNEL_ONLY;
	attr->sample_period = c->first.interval ? c->first.interval : SPE_DEFAULT_INTERVAL;
	attr->config |= c->flags & ARM_SPE_NO_TIME ? 0 : SPE_CONFIG_TS;
	attr->config |= c->flags & ARM_SPE_PHYS ? SPE_CONFIG_PA : 0;
	attr->config |= c->flags & ARM_SPE_NO_JITTER ? 0 : SPE_CONFIG_JITTER;
	for (i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (c->pmsfcr & filters[i].fcr)
			attr->config |= filters[i].config;
	attr->config1 = c->pmsevfr;
	attr->config2 = c->pmslatfr & SPE_CONFIG2_LATENCY;
}

static void put_info(struct perfdata_writer *w)
{
	const uint32_t type[2] = {PERF_AUXTRACE_ARM_SPE, 0};
	uint64_t priv[SPE_PRIV_COUNT] = {
		[SPE_PRIV_PMU_TYPE] = PDW_PMU_TYPE,
		[SPE_PRIV_PER_CPU] = w->per_cpu,
	};
	size_t start = pdw_begin(w, PERF_USER_AUXTRACE_INFO, 0);

	pdw_put(w, type, sizeof(type));
	pdw_put(w, priv, sizeof(priv));
	pdw_end(w, start);
}

const struct pdw_tech pdw_spe = {
	.backend = "spe",
	.pmu = "arm_spe_0",
	.event = "arm_spe_0//",
	.arch = "aarch64",
	.cpu = "QEMU with a virtual Arm SPE unit (latencies and cache levels: a model's)",
	/* perf reads MIDR_EL1 from it: none that it has rules for. */
	.cpuid = "0x00000000000f0000",
	/* Records begin at multiples of it (PMBIDR_EL1.Align). */
	.align = 64,
	.cpu_of_queue = true,
	.attr = put_attr,
	.info = put_info,
};
