/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What perf.data says of a CoreSight trace: the cs_etm PMU's event
 * (/sys/bus/event_source/devices/cs_etm/format) and its AUXTRACE_INFO, version 1.
 * Each stream is an ETR's frames: with one source, always of the same trace ID, or of
 * whatever threads or CPUs there are, each with an ID of its own.  Their units are all
 * alike.
 */
#include "writer.h"

#define CONFIGR_RES1	1u   /* TRCCONFIGR[0] reads as one */
#define NONSECURE_TRACE 0xcu /* TRCAUTHSTATUS.NSNID: there, enabled */
#define FRAME		16   /* bytes of the formatter's frame */
#define UNIT_SIZE	(CS_CPU_COUNT * sizeof(uint64_t))
/* Of a trace ID that is no CPU's, or not yet. */
#define NO_CPU		UINT32_MAX
/*
 * perf's decoder begins anew with each AUXTRACE, at the first sync point there: few
 * and large ones, so that little of a long trace is missing in perf, and of a short
 * one nothing.
 */
#define PIECE		(1u << 20)
#define SHARED_PIECE	(8u << 20)

/* A frame of ID 0 (IHI 0029 D4.2.4): perf leaves out one that nothing follows. */
static const uint8_t no_trace[FRAME] = {1};

static uint32_t idr(const struct perfdata_writer *w, uint32_t n)
{
	return n < w->ncaps ? w->caps[n] : 0;
}

static void put_attr(const struct perfdata_writer *w, struct perf_event_attr *attr)
{
	static const struct {
		uint32_t configr;
		uint64_t config;
	} bits[] = {{CORESIGHT_BB, CS_CONFIG_BRANCH_BROADCAST},
		    {CORESIGHT_CCI, CS_CONFIG_CYCACC},
		    {CORESIGHT_CID, CS_CONFIG_CTXTID},
		    {CORESIGHT_TS, CS_CONFIG_TS},
		    {CORESIGHT_RS, CS_CONFIG_RETSTACK}};
	size_t i;

	attr->exclude_kernel = !(w->coresight.flags & CORESIGHT_KERNEL);
	attr->exclude_user = !(w->coresight.flags & CORESIGHT_USER);
	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (w->coresight.configr & bits[i].configr)
			attr->config |= bits[i].config;
}

/* A trace unit; a thread's is one that perf takes for a CPU's. */
static void put_unit(struct perfdata_writer *w, uint32_t number, uint32_t trace_id)
{
	const uint64_t cpu[CS_CPU_COUNT] = {
		[CS_CPU_MAGIC] = CS_MAGIC_ETM4,
		[CS_CPU_NUMBER] = number,
		[CS_CPU_NPARAMS] = CS_CPU_COUNT - CS_CPU_CONFIGR,
		[CS_CPU_CONFIGR] = CONFIGR_RES1 | w->coresight.configr,
		[CS_CPU_TRACEIDR] = trace_id,
		[CS_CPU_IDR0] = idr(w, 0),
		[CS_CPU_IDR1] = idr(w, 1),
		[CS_CPU_IDR2] = idr(w, 2),
		[CS_CPU_IDR8] = idr(w, 8),
		[CS_CPU_AUTHSTATUS] = NONSECURE_TRACE,
	};

	pdw_put(w, cpu, sizeof(cpu));
}

static void put_info(struct perfdata_writer *w)
{
	const uint32_t type[2] = {PERF_AUXTRACE_CS_ETM, 0};
	uint32_t n = w->shared ? CORESIGHT_TRACE_ID_LAST : 1, i;
	const uint64_t priv[CS_PRIV_COUNT] = {
		[CS_PRIV_VERSION] = 1,
		[CS_PRIV_PMU_CPUS] = (uint64_t)PDW_PMU_TYPE << 32 | n,
	};
	size_t start = pdw_begin(w, PERF_USER_AUXTRACE_INFO, 0);

	pdw_put(w, type, sizeof(type));
	pdw_put(w, priv, sizeof(priv));
	w->units_offset = w->data_offset + w->used;
	for (i = 0; i < n; i++)
		put_unit(w, w->shared && w->per_cpu ? NO_CPU : i,
			 w->shared ? i + 1 : CORESIGHT_TRACE_ID);
	pdw_end(w, start);
}

/* Its unit is in the file already. */
static int set_source(struct perfdata_writer *w, uint32_t cpu, uint32_t source)
{
	const uint64_t number = cpu;

	if (!w->shared || !source || source > CORESIGHT_TRACE_ID_LAST)
		return 0;
	return pdw_pwrite(w->fd, &number, sizeof(number),
			  w->units_offset + (source - 1) * UNIT_SIZE +
				  CS_CPU_NUMBER * sizeof(number));
}

const struct pdw_tech pdw_coresight = {
	.backend = "coresight",
	.pmu = "cs_etm",
	.event = "cs_etm//",
	.arch = "aarch64",
	.cpu = "QEMU with a virtual CoreSight ETMv4",
	/* perf reads MIDR_EL1 from it: none that it has rules for. */
	.cpuid = "0x00000000000f0000",
	.align = FRAME,
	.piece = PIECE,
	.shared_piece = SHARED_PIECE,
	.tail = no_trace,
	.ntail = sizeof(no_trace),
	.attr = put_attr,
	.info = put_info,
	.source = set_source,
};
