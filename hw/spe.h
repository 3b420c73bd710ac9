/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arm Statistical Profiling Extension: registers and sample record packets.
 * Arm Architecture Reference Manual for A-profile (DDI 0487), issues F and G:
 * chapter D9 "The Statistical Profiling Extension" and chapter D10 "Statistical
 * Profiling Extension Sample Record Specification"; registers by their name in
 * chapter D13.  Later issues have the same text under other chapter numbers.
 * BIT() for flags; _MASK and _SHIFT for fields.
 */
#ifndef HW_SPE_H
#define HW_SPE_H

/*
 * A system register's name is its encoding in MSR and MRS (C5.1.2):
 * op0[20:19] op1[18:16] CRn[15:12] CRm[11:8] op2[7:5].
 */
#define SPE_SYSREG(op0, op1, crn, crm, op2) \
	((op0) << 19 | (op1) << 16 | (crn) << 12 | (crm) << 8 | (op2) << 5)
#define PMSCR_EL1		SPE_SYSREG(3, 0, 9, 9, 0)
#define PMSNEVFR_EL1		SPE_SYSREG(3, 0, 9, 9, 1)
#define PMSICR_EL1		SPE_SYSREG(3, 0, 9, 9, 2)
#define PMSIRR_EL1		SPE_SYSREG(3, 0, 9, 9, 3)
#define PMSFCR_EL1		SPE_SYSREG(3, 0, 9, 9, 4)
#define PMSEVFR_EL1		SPE_SYSREG(3, 0, 9, 9, 5)
#define PMSLATFR_EL1		SPE_SYSREG(3, 0, 9, 9, 6)
#define PMSIDR_EL1		SPE_SYSREG(3, 0, 9, 9, 7)
#define PMBLIMITR_EL1		SPE_SYSREG(3, 0, 9, 10, 0)
#define PMBPTR_EL1		SPE_SYSREG(3, 0, 9, 10, 1)
#define PMBSR_EL1		SPE_SYSREG(3, 0, 9, 10, 3)
#define PMBIDR_EL1		SPE_SYSREG(3, 0, 9, 10, 7)
/* All of them are op0 3, op1 0, CRn 9, CRm 9 or 10: index CRm[1] op2[2:0]. */
#define SPE_REG_BASE		SPE_SYSREG(3, 0, 9, 9, 0)
#define SPE_REG_COUNT		16
#define SPE_REG_INDEX(reg)	(((reg) - SPE_REG_BASE) >> 5)
#define SPE_REG_VALID(reg) \
	((reg) >= SPE_REG_BASE && !((reg) & 0x1f) && SPE_REG_INDEX(reg) < SPE_REG_COUNT)

/* PMSCR_EL1, Statistical Profiling Control Register */
#define PMSCR_E0SPE		(1ull << 0)
#define PMSCR_E1SPE		(1ull << 1)
#define PMSCR_CX		(1ull << 3)	/* Context packets */
#define PMSCR_PA		(1ull << 4)	/* physical data addresses */
#define PMSCR_TS		(1ull << 5)	/* Timestamp packets */
#define PMSCR_PCT_SHIFT		6		/* which counter; 0: virtual */
#define PMSCR_PCT_MASK		(3ull << PMSCR_PCT_SHIFT)

/* PMSICR_EL1, Sampling Interval Counter Register */
#define PMSICR_COUNT_MASK	0xffffffffull
#define PMSICR_ECOUNT_SHIFT	56
#define PMSICR_ECOUNT_MASK	(0xffull << PMSICR_ECOUNT_SHIFT)

/* PMSIRR_EL1, Sampling Interval Reload Register */
#define PMSIRR_RND		(1ull << 0)
#define PMSIRR_INTERVAL_SHIFT	8		/* bits 31:8 of the reload value */
#define PMSIRR_INTERVAL_MASK	(0xffffffull << PMSIRR_INTERVAL_SHIFT)

/* PMSFCR_EL1, Sampling Filter Control Register */
#define PMSFCR_FE		(1ull << 0)	/* by event */
#define PMSFCR_FT		(1ull << 1)	/* by operation type */
#define PMSFCR_FL		(1ull << 2)	/* by latency */
#define PMSFCR_FNE		(1ull << 3)	/* by event, inverted */
#define PMSFCR_B		(1ull << 16)
#define PMSFCR_LD		(1ull << 17)
#define PMSFCR_ST		(1ull << 18)

/* PMSLATFR_EL1, Sampling Latency Filter Register */
#define PMSLATFR_MINLAT_MASK	0xffffull

/* PMSIDR_EL1, Sampling Profiling ID Register */
#define PMSIDR_FE		(1ull << 0)
#define PMSIDR_FT		(1ull << 1)
#define PMSIDR_FL		(1ull << 2)
#define PMSIDR_ARCHINST		(1ull << 3)	/* counts instructions, not micro-operations */
#define PMSIDR_LDS		(1ull << 4)	/* data source of loads */
#define PMSIDR_ERND		(1ull << 5)
#define PMSIDR_FNE		(1ull << 6)
#define PMSIDR_INTERVAL_SHIFT	8
#define PMSIDR_INTERVAL_MASK	(0xfull << PMSIDR_INTERVAL_SHIFT)
#define PMSIDR_MAXSIZE_SHIFT	12		/* log2 of a record's largest size */
#define PMSIDR_MAXSIZE_MASK	(0xfull << PMSIDR_MAXSIZE_SHIFT)
#define PMSIDR_COUNTSIZE_SHIFT	16
#define PMSIDR_COUNTSIZE_MASK	(0xfull << PMSIDR_COUNTSIZE_SHIFT)
#define PMSIDR_COUNTSIZE_12	2ull		/* saturating */
#define PMSIDR_COUNTSIZE_16	3ull
#define PMSIDR_FORMAT_SHIFT	20
/* PMSIDR_EL1.Interval: minimum interval, 0: not a value that the table has. */
#define SPE_MIN_INTERVALS	{ 256, 0, 512, 768, 1024, 1536, 2048, 3072, 4096 }
#define SPE_MIN_INTERVALS_COUNT	9

/* PMBLIMITR_EL1, Profiling Buffer Limit Address Register */
#define PMBLIMITR_E		(1ull << 0)
#define PMBLIMITR_FM_MASK	(3ull << 1)
#define PMBLIMITR_FM_FILL	(0ull << 1)	/* stop and interrupt when it is full */
#define PMBLIMITR_FM_DISCARD	(2ull << 1)
#define PMBLIMITR_NVM		(1ull << 7)	/* FEAT_SPE_nVM: addresses are physical */
#define PMBLIMITR_LIMIT_MASK	(~0xfffull)	/* first byte behind the buffer */

/* PMBSR_EL1, Profiling Buffer Status/syndrome Register */
#define PMBSR_MSS_MASK		0xffffull
#define PMBSR_BSC_MASK		0x3full		/* EC is 0 */
#define PMBSR_BSC_FULL		1ull
#define PMBSR_FSC_MASK		0x3full		/* EC is a Data Abort */
#define PMBSR_FSC_TRANSLATION	0x05ull		/* translation fault, level 1 */
#define PMBSR_COLL		(1ull << 16)	/* a sample was lost to one in flight */
#define PMBSR_S			(1ull << 17)	/* service: stopped, interrupt */
#define PMBSR_EA		(1ull << 18)	/* external abort */
#define PMBSR_DL		(1ull << 19)	/* the last record is not whole */
#define PMBSR_EC_SHIFT		26
#define PMBSR_EC_MASK		(0x3full << PMBSR_EC_SHIFT)
#define PMBSR_EC_OTHER		0ull		/* buffer management event: BSC */
#define PMBSR_EC_ABORT_S1	0x24ull
#define PMBSR_EC_ABORT_S2	0x25ull

/* PMBIDR_EL1, Profiling Buffer ID Register */
#define PMBIDR_ALIGN_MASK	0xfull		/* log2 of PMBPTR's alignment, at most 11 */
#define PMBIDR_P		(1ull << 4)	/* programming not allowed */
#define PMBIDR_F		(1ull << 5)
#define PMBIDR_ADDRMODE_SHIFT	6		/* FEAT_SPE_nVM */
#define PMBIDR_ADDRMODE_MASK	(3ull << PMBIDR_ADDRMODE_SHIFT)
#define PMBIDR_ADDRMODE_VA	0ull
#define PMBIDR_ADDRMODE_BOTH	1ull
#define PMBIDR_ADDRMODE_PA	3ull		/* virtual units only */

/*
 * PMSEVFR_EL1 and PMSNEVFR_EL1: no version of the architecture has these events, or lets
 * them be filtered by.  Of the others no ID register tells; a unit's registers keep the
 * bits of those that it has.
 */
#define PMSEVFR_RES0		(0xffffull << 32 | 1ull << SPE_EV_EXCEPTION)

/* Capability words (hwt_bus_ops.cap): the ID registers, low half first. */
#define SPE_CAP_PMSIDR		0
#define SPE_CAP_PMSIDR_HI	1
#define SPE_CAP_PMBIDR		2
#define SPE_CAP_PMBIDR_HI	3
#define SPE_CAP_EVENTS		4	/* bits that PMSEVFR_EL1 has; 0 without filter */
#define SPE_CAP_EVENTS_HI	5
#define SPE_CAP_COUNT		6

/*
 * Packets (D10.2).  The header is a byte; bits 5:4 are log2 of the payload's
 * bytes where there is one.  An extended header is two bytes.
 */
#define SPE_HDR_PADDING		0x00		/* D10.2.8; no payload */
#define SPE_HDR_END		0x01		/* D10.2.5; no payload */
#define SPE_HDR_TIMESTAMP	0x71		/* D10.2.9 */
#define SPE_HDR_SIZED_MASK	0xcf
#define SPE_HDR_EVENTS		0x42		/* D10.2.6; & SIZED_MASK */
#define SPE_HDR_SOURCE		0x43		/* D10.2.4; & SIZED_MASK */
#define SPE_HDR_CLASS_MASK	0xfc
#define SPE_HDR_CONTEXT		0x64		/* D10.2.2; & CLASS_MASK: index 1:0 */
#define SPE_HDR_OPERATION	0x48		/* D10.2.7; & CLASS_MASK: class 1:0 */
#define SPE_HDR_EXTENDED	0x20		/* & CLASS_MASK: index 4:3 in bits 1:0 */
#define SPE_HDR_INDEX_MASK	0xf8
#define SPE_HDR_ADDRESS		0xb0		/* D10.2.1; & INDEX_MASK: index 2:0 */
#define SPE_HDR_COUNTER		0x98		/* D10.2.3; & INDEX_MASK: index 2:0 */
#define SPE_HDR1_ALIGNMENT	0x00		/* second byte: to a multiple of 2 << n */
#define SPE_HDR_SIZE(hdr)	(1u << ((hdr) >> 4 & 3))
#define SPE_RECORD_MAX		2048		/* PMSIDR_EL1.MaxSize is at most 11 */

/* Address packet (D10.2.1): index, and what is above the 56 bits of address. */
#define SPE_ADDR_PC		0
#define SPE_ADDR_TARGET		1
#define SPE_ADDR_DATA_VA	2
#define SPE_ADDR_DATA_PA	3
#define SPE_ADDR_PREV_TARGET	4
#define SPE_ADDR_COUNT		5
#define SPE_ADDR_MASK		0x00ffffffffffffffull
#define SPE_ADDR_NS		(1ull << 63)
#define SPE_ADDR_EL_SHIFT	61		/* of instruction addresses */
#define SPE_ADDR_EL_MASK	(3ull << SPE_ADDR_EL_SHIFT)
#define SPE_ADDR_CH		(1ull << 62)	/* physical: checked access */
#define SPE_ADDR_PAT_SHIFT	56
#define SPE_ADDR_PAT_MASK	(0xfull << SPE_ADDR_PAT_SHIFT)

/* Context packet (D10.2.2): index 0 is EL1, 1 is EL2. */
#define SPE_CONTEXT_EL1		0
#define SPE_CONTEXT_EL2		1

/* Counter packet (D10.2.3): index */
#define SPE_COUNTER_TOTAL	0
#define SPE_COUNTER_ISSUE	1
#define SPE_COUNTER_XLAT	2
#define SPE_COUNTER_ALT_ISSUE	4
#define SPE_COUNTER_COUNT	5

/* Events packet (D10.2.6): bits */
#define SPE_EV_EXCEPTION	0
#define SPE_EV_RETIRED		1
#define SPE_EV_L1D_ACCESS	2
#define SPE_EV_L1D_REFILL	3
#define SPE_EV_TLB_ACCESS	4
#define SPE_EV_TLB_WALK		5
#define SPE_EV_NOT_TAKEN	6
#define SPE_EV_MISPREDICTED	7
#define SPE_EV_LLC_ACCESS	8
#define SPE_EV_LLC_MISS		9
#define SPE_EV_REMOTE		10
#define SPE_EV_MISALIGNED	11
#define SPE_EV_TRANSACTIONAL	16
#define SPE_EV_PARTIAL_PRED	17
#define SPE_EV_EMPTY_PRED	18
#define SPE_EV_L2D_ACCESS	19
#define SPE_EV_L2D_MISS		20
#define SPE_EV_DATA_MODIFIED	21
#define SPE_EV_RECENT_FETCH	22
#define SPE_EV_DATA_SNOOPED	23
#define SPE_EV_STREAMING	24
#define SPE_EV_SMCU		25

/* Operation Type packet (D10.2.7): classes, and their payloads' bits. */
#define SPE_CLASS_OTHER		0
#define SPE_CLASS_LDST		1
#define SPE_CLASS_BRANCH	2
#define SPE_OP_COND		0x01		/* other, branch */
#define SPE_OP_FP		0x02		/* other */
#define SPE_OP_SIMD		0x04		/* other */
#define SPE_OP_OTHER_SVE_MASK	0x89
#define SPE_OP_OTHER_SVE	0x08
#define SPE_OP_SVE_PRED		0x04
#define SPE_OP_SVE_EVL_SHIFT	4		/* vector length 32 << n bits */
#define SPE_OP_SVE_EVL_MASK	0x70
#define SPE_OP_SVE_SG		0x80		/* loads and stores: gather, scatter */
#define SPE_OP_STORE		0x01		/* loads and stores */
#define SPE_OP_SUBCLASS_MASK	0xfe
#define SPE_OP_GENERAL		0x00
#define SPE_OP_SIMD_FP		0x04
#define SPE_OP_UNSPECIFIED	0x10
#define SPE_OP_TAGS		0x14
#define SPE_OP_MEMCPY		0x20
#define SPE_OP_MEMSET		0x25		/* whole payload */
#define SPE_OP_NV_SYSREG	0x30
#define SPE_OP_EXTENDED_MASK	0xe2
#define SPE_OP_EXTENDED		0x02
#define SPE_OP_ATOMIC		0x04
#define SPE_OP_EXCLUSIVE	0x08
#define SPE_OP_ACQREL		0x10
#define SPE_OP_LDST_SVE_MASK	0x0a
#define SPE_OP_LDST_SVE		0x08
#define SPE_OP_INDIRECT		0x02		/* branch */

/*
 * Data Source packet (D10.2.4) is IMPLEMENTATION DEFINED; these are the values
 * of Arm's Neoverse cores (Neoverse N1 TRM, "Statistical Profiling Extension").
 */
#define SPE_SOURCE_L1D		0x0
#define SPE_SOURCE_L2		0x8
#define SPE_SOURCE_PEER_CORE	0x9
#define SPE_SOURCE_CLUSTER	0xa
#define SPE_SOURCE_SYS_CACHE	0xb
#define SPE_SOURCE_PEER_CLUSTER	0xc
#define SPE_SOURCE_REMOTE	0xd
#define SPE_SOURCE_DRAM		0xe

#endif
