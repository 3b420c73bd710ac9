/* SPDX-License-Identifier: BSD-2-Clause */
/* What perf.data says of an Intel PT trace. */
#include <string.h>
#include "writer.h"

static void put_attr(const struct perfdata_writer *w, struct perf_event_attr *attr)
{
	attr->exclude_kernel = !(w->rtit_ctl & PT_CTL_OS);
	attr->exclude_user = !(w->rtit_ctl & PT_CTL_USER) && !attr->exclude_kernel;
	attr->config = (w->rtit_ctl & PT_CONFIG_ALL) | PT_CONFIG_PT;
}

/*
 * The ratio of nominal clock and bus clock (100 MHz).  Where no CYC packets tell the
 * time, perf estimates it from the last TSC on: 2 * instructions * this / CBR ticks,
 * and applies maps by that.  The embedded host's unit counts one tick an
 * instruction (and its CBR is the nominal ratio): with the half of it the estimate is
 * exact, and never ahead of the map's record.
 */
static uint64_t max_nonturbo(const struct perfdata_writer *w)
{
	uint64_t ratio = w->time_hz / 100000000;

	if (!strcmp(w->host, "embedded") && !(w->rtit_ctl & PT_CONFIG_CYC))
		ratio /= 2;
	return ratio ? ratio : 1;
}

/* PERF_RECORD_AUXTRACE_INFO, with room for a filter that is set later. */
static void put_info(struct perfdata_writer *w)
{
	uint64_t priv[PT_PRIV_COUNT] = {
		[PT_PRIV_PMU_TYPE] = PDW_PMU_TYPE,
		[PT_PRIV_TIME_SHIFT] = w->tc.shift,
		[PT_PRIV_TIME_MULT] = w->tc.mult,
		[PT_PRIV_TIME_ZERO] = w->tc.zero,
		[PT_PRIV_USER_TIME_ZERO] = 1,
		[PT_PRIV_TSC_BIT] = PT_CONFIG_TSC,
		[PT_PRIV_NORETCOMP_BIT] = PT_CONFIG_NORETCOMP,
		[PT_PRIV_PER_CPU] = w->per_cpu,
		[PT_PRIV_MTC_BIT] = PT_CONFIG_MTC,
		[PT_PRIV_MTC_FREQ_BITS] = PT_CONFIG_MTC_PERIOD,
		[PT_PRIV_CYC_BIT] = PT_CONFIG_CYC,
		[PT_PRIV_MAX_NONTURBO] = max_nonturbo(w),
	};
	const uint32_t type[2] = {PERF_AUXTRACE_INTEL_PT, 0};
	size_t start = pdw_begin(w, PERF_USER_AUXTRACE_INFO, 0);

	if (w->ncaps > PT_CAPS_RATIO_NUM) {
		priv[PT_PRIV_TSC_CTC_D] = w->caps[PT_CAPS_RATIO_DEN];
		priv[PT_PRIV_TSC_CTC_N] = w->caps[PT_CAPS_RATIO_NUM];
	}
	pdw_put(w, type, sizeof(type));
	pdw_put(w, priv, sizeof(priv));
	w->filter_offset = w->data_offset + w->used - sizeof(priv[0]);
	pdw_zeros(w, PERFDATA_FILTER_MAX + 8); /* and perf's cap_event_trace */
	pdw_end(w, start);
}

const struct pdw_tech pdw_pt = {
	.backend = "pt",
	.pmu = "intel_pt",
	.event = "intel_pt//",
	.arch = "x86_64",
	.cpu = "QEMU with a virtual Intel PT unit",
	.cpuid = "hwt-vtu-pt,0,0,0",
	.attr = put_attr,
	.info = put_info,
};
