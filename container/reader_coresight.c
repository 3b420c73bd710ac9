/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cs_etm's AUXTRACE_INFO: a block of metadata a CPU, of ETMv3 (skipped), ETMv4 or
 * ETE; version 0 has fixed numbers of parameters, version 1 says them.
 */
#include <stdlib.h>
#include "reader.h"

#define ETM3_PARAMS 4 /* version 0 */
#define ETM4_PARAMS 7

/* Words of the block at v, of n that are there; 0: it is none. */
static size_t block_size(const uint64_t *v, size_t n, uint64_t version, size_t *params)
{
	size_t head = version ? CS_CPU_CONFIGR : CS_CPU_CONFIGR - 1, count;

	if (n < head)
		return 0;
	if (version)
		count = v[CS_CPU_NPARAMS] < n ? (size_t)v[CS_CPU_NPARAMS] : n;
	else
		count = v[CS_CPU_MAGIC] == CS_MAGIC_ETM4 ? ETM4_PARAMS : ETM3_PARAMS;
	*params = head;
	return count <= n - head ? head + count : 0;
}

static void take(struct perfdata_etm *e, const uint64_t *v, const uint64_t *p, size_t n)
{
	/* From the parameters on, CS_CPU_* are offsets behind the head. */
	const int at = CS_CPU_CONFIGR;

	e->cpu = (uint32_t)v[CS_CPU_NUMBER];
	e->ete = v[CS_CPU_MAGIC] == CS_MAGIC_ETE;
	e->configr = (uint32_t)p[CS_CPU_CONFIGR - at];
	e->traceidr = (uint32_t)p[CS_CPU_TRACEIDR - at];
	e->idr0 = (uint32_t)p[CS_CPU_IDR0 - at];
	e->idr1 = (uint32_t)p[CS_CPU_IDR1 - at];
	e->idr2 = (uint32_t)p[CS_CPU_IDR2 - at];
	e->idr8 = (uint32_t)p[CS_CPU_IDR8 - at];
	e->devarch = e->ete && n > CS_CPU_DEVARCH - (size_t)at
			     ? (uint32_t)p[CS_CPU_DEVARCH - at]
			     : 0;
}

void reader_coresight(struct perfdata *p, const uint64_t *priv, size_t n)
{
	const struct reader_attr *a;
	uint64_t version, ncpus, i;
	size_t at = CS_PRIV_COUNT, size, head;

	if (n < CS_PRIV_COUNT)
		return;
	/* perf asks for samples' CPUs unless it traces by thread. */
	a = reader_attr_of_pmu(p, priv[CS_PRIV_PMU_CPUS] >> 32);
	p->info.per_cpu = a && a->sample_type & PERF_SAMPLE_CPU;
	version = priv[CS_PRIV_VERSION];
	ncpus = priv[CS_PRIV_PMU_CPUS] & UINT32_MAX;
	if (ncpus > (n - at) / CS_CPU_CONFIGR)
		ncpus = (n - at) / CS_CPU_CONFIGR;
	p->etm = calloc(ncpus ? ncpus : 1, sizeof(*p->etm));
	for (i = 0; p->etm && i < ncpus; i++, at += size) {
		size = block_size(priv + at, n - at, version, &head);
		if (!size)
			break;
		if (size - head >= ETM4_PARAMS &&
		    (priv[at] == CS_MAGIC_ETM4 || priv[at] == CS_MAGIC_ETE))
			take(&p->etm[p->info.netm++], priv + at, priv + at + head,
			     size - head);
	}
	p->info.etm = p->etm;
}
