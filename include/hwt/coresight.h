/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Configuration and buffer service of the "coresight" backend (Arm CoreSight: an
 * ETMv4 that traces into the memory of an ETR).  This library's own.
 */
#ifndef HWT_CORESIGHT_H
#define HWT_CORESIGHT_H

#include <hwt/hwt.h>

#define CORESIGHT_CONFIG_VERSION	1
#define CORESIGHT_MAX_RANGES		8

/*
 * The trace ID of a buffer's one source, in the formatter's frames.  Where threads or
 * CPUs share a buffer (HWT_SCOPE_CONTEXT) a SOURCE record tells each one's, 1 to the last.
 */
#define CORESIGHT_TRACE_ID		0x10
#define CORESIGHT_TRACE_ID_LAST		0x6f

/* Bits of TRCCONFIGR (Arm IHI 0064, 7.3.5) that a client may set. */
#define CORESIGHT_BB	(1u << 3)	/* branch broadcasting: every branch's target */
#define CORESIGHT_CCI	(1u << 4)	/* cycle counts */
#define CORESIGHT_CID	(1u << 6)	/* context IDs */
#define CORESIGHT_TS	(1u << 11)	/* timestamps */
#define CORESIGHT_RS	(1u << 12)	/* return stack: fewer addresses */

/* struct coresight_config.flags: which exception levels are traced. */
#define CORESIGHT_USER		0x1u
#define CORESIGHT_KERNEL	0x2u	/* EPERM without privilege, EOPNOTSUPP by thread */

/*
 * HWT_IOC_SET_CONFIG's `config` for "coresight".  A bit of configr that the unit
 * lacks (TRCIDR0, TRCIDR2) and more ranges than it has are EOPNOTSUPP; other bits,
 * and a flag that is not above, are EINVAL.
 */
struct coresight_config {
	uint32_t	configr;
	uint32_t	flags;
	uint32_t	sync;		/* a sync point every 2^sync bytes, 8..20; 0: only one */
	uint32_t	cc_threshold;	/* CCI: cycles; below TRCIDR3.CCITMIN: that */
	uint32_t	nranges;	/* 0: everything */
	uint32_t	reserved;	/* 0 */
	struct {
		uint64_t start, end;	/* last byte, inclusive */
	} ranges[CORESIGHT_MAX_RANGES];
};

/*
 * HWT_IOC_SVC_BUF's `data` for "coresight": everything before `tail` was read.
 * -EINVAL: unknown version, a tail that goes back or passes what was written;
 * -ENOENT: no such buffer.
 */
struct coresight_svc_buf {
	int		buf_id;		/* as in the BUFFER record */
	int		reserved;
	uint64_t	tail;		/* absolute position, bytes */
};
#define CORESIGHT_SVC_BUF_VERSION	1

#endif
