/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Configuration and buffer service of the "pt" backend (Intel Processor
 * Trace), as FreeBSD's driver takes them.
 */
#ifndef HWT_PT_H
#define HWT_PT_H

#include <hwt/hwt.h>

#define PT_IP_FILTER_MAX_RANGES	2
#define PT_CONFIG_VERSION	1
/* Units may have four: struct pt_cpu_config2, this library's own. */
#define PT_IP_FILTER_MAX_RANGES2 4
#define PT_CONFIG_VERSION2	2

/* Bits of IA32_RTIT_CTL (SDM vol. 3C, 33.2.8.2) that a client may set. */
#define PT_CTL_CYCEN		(1ull << 1)
#define PT_CTL_OS		(1ull << 2)
#define PT_CTL_USER		(1ull << 3)
#define PT_CTL_MTCEN		(1ull << 9)
#define PT_CTL_TSCEN		(1ull << 10)
#define PT_CTL_DISRETC		(1ull << 11)
#define PT_CTL_BRANCHEN		(1ull << 13)
/* Where mtc_freq, cyc_thresh and psb_freq go. */
#define PT_CTL_MTCFREQ_SHIFT	14
#define PT_CTL_CYCTHRESH_SHIFT	19
#define PT_CTL_PSBFREQ_SHIFT	24

/*
 * HWT_IOC_SET_CONFIG's `config` for "pt".
 * rtit_ctl uses the bits of IA32_RTIT_CTL (SDM vol. 3C, 33.2.8.2).  TraceEn,
 * ToPA, FabricEn and the ADDRn_CFG fields belong to the driver and must be 0;
 * OS needs a kernel host and privilege.  A bit that the unit lacks is
 * EOPNOTSUPP, never cleared silently.
 */
struct pt_cpu_config {
	uint64_t	rtit_ctl;
	long		cr3_filter;	/* 0, or a CR3 to match (CPU mode) */
	int		nranges;	/* 0..PT_IP_FILTER_MAX_RANGES and the unit's */
	struct ipf_range {
		vm_offset_t	start;
		vm_offset_t	end;	/* last byte, inclusive (SDM 33.2.4.3) */
	} ip_ranges[PT_IP_FILTER_MAX_RANGES];
	uint32_t	mtc_freq;	/* MTCFreq field; used when MTCEn is set */
	uint32_t	cyc_thresh;	/* CycThresh field; used when CYCEn is set */
	uint32_t	psb_freq;	/* PSBFreq field: a sync point every 2K << n bytes */
};

/* As above; nranges up to PT_IP_FILTER_MAX_RANGES2, the third and fourth in `more`. */
struct pt_cpu_config2 {
	struct pt_cpu_config	first;
	struct ipf_range	more[PT_IP_FILTER_MAX_RANGES2 - PT_IP_FILTER_MAX_RANGES];
};

/*
 * HWT_IOC_SVC_BUF's `data` for "pt": everything before `tail` was read.
 * -EINVAL: unknown version, a tail that goes back or passes what was written;
 * -ENOENT: no such buffer; -EOPNOTSUPP: on the embedded host a buffer of one
 * page can only be a ring.
 */
struct pt_svc_buf {
	int		buf_id;		/* as in the BUFFER record */
	int		reserved;
	uint64_t	tail;		/* absolute position, bytes; never goes back */
};
#define PT_SVC_BUF_VERSION	1

#endif
