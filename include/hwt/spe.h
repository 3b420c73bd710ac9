/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Configuration and buffer service of the "spe" backend (Arm Statistical
 * Profiling Extension).  Version 1 is as FreeBSD's <arm64/spe/arm_spe.h> has it;
 * version 2 is this library's own.
 */
#ifndef HWT_SPE_H
#define HWT_SPE_H

#include <hwt/hwt.h>

#define ARM_SPE_CONFIG_VERSION	1
#define ARM_SPE_CONFIG_VERSION2	2

enum arm_spe_ctx_field {
	ARM_SPE_CTX_NONE,	/* no Context packets */
	ARM_SPE_CTX_PID,	/* CONTEXTIDR_EL1, where the system keeps the thread's id */
	ARM_SPE_CTX_CPU_ID	/* EOPNOTSUPP: a buffer already belongs to one CPU */
};

enum arm_spe_profiling_level {
	ARM_SPE_KERNEL_AND_USER,
	ARM_SPE_KERNEL_ONLY,
	ARM_SPE_USER_ONLY	/* the only one in thread mode (else EOPNOTSUPP) */
};

/* HWT_IOC_SET_CONFIG's `config` for "spe", version 1. */
struct arm_spe_config {
	/*
	 * Operations between samples: a multiple of 256 up to 0xffffff00, at least
	 * what the unit recommends (hwt list); 0: that.  EINVAL else.  (FreeBSD's
	 * driver writes the number into PMSIRR_EL1.INTERVAL: 256 times as many.)
	 */
	uint32_t	interval;
	enum arm_spe_profiling_level level;
	enum arm_spe_ctx_field ctx_field;
};

/* struct arm_spe_config2.pmsfcr: bits of PMSFCR_EL1. */
#define ARM_SPE_FCR_FE		(1ull << 0)	/* by event: pmsevfr */
#define ARM_SPE_FCR_FT		(1ull << 1)	/* by type: any of the last three */
#define ARM_SPE_FCR_FL		(1ull << 2)	/* by latency: pmslatfr */
#define ARM_SPE_FCR_FNE		(1ull << 3)	/* by event, inverted: pmsnevfr */
#define ARM_SPE_FCR_B		(1ull << 16)	/* branches */
#define ARM_SPE_FCR_LD		(1ull << 17)	/* loads */
#define ARM_SPE_FCR_ST		(1ull << 18)	/* stores */

/* struct arm_spe_config2.flags */
#define ARM_SPE_NO_JITTER	0x1u	/* every interval is the same (PMSIRR_EL1.RND) */
#define ARM_SPE_NO_TIME		0x2u	/* no Timestamp packets (PMSCR_EL1.TS) */
#define ARM_SPE_PHYS		0x4u	/* physical addresses (PMSCR_EL1.PA): privileged */
#define ARM_SPE_FLAGS		0x7u

/*
 * Version 2: `first`, and the filters by their registers.  A filter that the
 * unit lacks (PMSIDR_EL1), and an event that it cannot filter by, are EOPNOTSUPP;
 * reserved bits, and a filter that is on without a condition, are EINVAL.
 */
struct arm_spe_config2 {
	struct arm_spe_config	first;
	uint32_t	flags;		/* ARM_SPE_* */
	uint64_t	pmsfcr;		/* which filters: PMSFCR_EL1 */
	uint64_t	pmsevfr;	/* events that a sample must have, if FE */
	uint64_t	pmsnevfr;	/* events that it must not have, if FnE */
	uint64_t	pmslatfr;	/* least total latency in cycles, if FL */
};

/*
 * The buffer is two halves (so bufsize is a multiple of two pages, EINVAL else):
 * the unit fills one while the other is read.  A half that holds unread data is
 * never written: with both full the unit stops.
 *
 * HWT_IOC_BUFPTR_GET tells the oldest half of the context that is full and was
 * not told yet: *ident, the buffer (CPU or thread id), *offset, how many bytes
 * of the half are valid, and in *data the bits below.  ENOENT: there is none.
 * When the context is stopped, and when its thread has ended, the half that was
 * being filled is told, too (ARM_SPE_FINAL_BUF).  The eventfd is signalled with
 * each full half.  Absolute positions: HWT_IOC_POSITION_GET.
 */
#define ARM_SPE_BUF_POS		0x1u	/* which half */
#define ARM_SPE_PARTREC		0x2u	/* its last record is not whole */
#define ARM_SPE_FINAL_BUF	0x4u	/* it was not full: no more comes for now */

/*
 * HWT_IOC_SVC_BUF's `data`, version 1: that half was read.
 * -ENOENT: no such buffer; -EINVAL: that half is not full.
 */
struct arm_spe_svc_buf {
	uint32_t	ident;
	uint8_t		buf_idx : 1;
};
#define ARM_SPE_SVC_BUF_VERSION	1
/*
 * Version 2: everything before `tail` was read.  -EINVAL: it goes back or passes
 * what was written.
 */
struct arm_spe_svc_buf2 {
	int		buf_id;
	int		reserved;
	uint64_t	tail;		/* absolute position, bytes */
};
#define ARM_SPE_SVC_BUF_VERSION2 2

#endif
