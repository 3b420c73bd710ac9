/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Intel Processor Trace: registers, capabilities and packet encodings.
 * Section numbers: Intel SDM volume 3C, chapter 33 (June 2023 edition).
 * BIT() for flags; _MASK and _SHIFT for fields.
 */
#ifndef HW_PT_H
#define HW_PT_H

/* MSRs (33.2.8, table 33-5 and on) */
#define MSR_RTIT_OUTPUT_BASE		0x560
#define MSR_RTIT_OUTPUT_MASK_PTRS	0x561
#define MSR_RTIT_CTL			0x570
#define MSR_RTIT_STATUS			0x571
#define MSR_RTIT_CR3_MATCH		0x572
#define MSR_RTIT_ADDR0_A		0x580
#define MSR_RTIT_ADDR0_B		0x581
#define MSR_RTIT_ADDRN_A(n)		(0x580 + 2 * (n))
#define MSR_RTIT_ADDRN_B(n)		(0x581 + 2 * (n))
#define MSR_RTIT_FIRST			0x560
#define MSR_RTIT_LAST			0x587
#define PT_MAX_RANGES			4

/* IA32_RTIT_CTL (33.2.8.2) */
#define RTIT_CTL_TRACEEN	(1ull << 0)
#define RTIT_CTL_CYCEN		(1ull << 1)
#define RTIT_CTL_OS		(1ull << 2)
#define RTIT_CTL_USER		(1ull << 3)
#define RTIT_CTL_PWREVTEN	(1ull << 4)
#define RTIT_CTL_FUPONPTW	(1ull << 5)
#define RTIT_CTL_FABRICEN	(1ull << 6)
#define RTIT_CTL_CR3FILTER	(1ull << 7)
#define RTIT_CTL_TOPA		(1ull << 8)
#define RTIT_CTL_MTCEN		(1ull << 9)
#define RTIT_CTL_TSCEN		(1ull << 10)
#define RTIT_CTL_DISRETC	(1ull << 11)
#define RTIT_CTL_PTWEN		(1ull << 12)
#define RTIT_CTL_BRANCHEN	(1ull << 13)
#define RTIT_CTL_MTCFREQ_SHIFT	14
#define RTIT_CTL_MTCFREQ_MASK	(0xfull << RTIT_CTL_MTCFREQ_SHIFT)
#define RTIT_CTL_CYCTHRESH_SHIFT 19
#define RTIT_CTL_CYCTHRESH_MASK	(0xfull << RTIT_CTL_CYCTHRESH_SHIFT)
#define RTIT_CTL_PSBFREQ_SHIFT	24
#define RTIT_CTL_PSBFREQ_MASK	(0xfull << RTIT_CTL_PSBFREQ_SHIFT)
#define RTIT_CTL_ADDR_CFG_SHIFT(n) (32 + 4 * (n))
#define RTIT_CTL_ADDR_CFG_MASK(n) (0xfull << RTIT_CTL_ADDR_CFG_SHIFT(n))
#define RTIT_ADDR_CFG_OFF	0ull
#define RTIT_ADDR_CFG_FILTER	1ull
#define RTIT_ADDR_CFG_STOP	2ull

/* IA32_RTIT_STATUS (33.2.8.4) */
#define RTIT_STATUS_FILTEREN	(1ull << 0)
#define RTIT_STATUS_CONTEXTEN	(1ull << 1)
#define RTIT_STATUS_TRIGGEREN	(1ull << 2)
#define RTIT_STATUS_ERROR	(1ull << 4)
#define RTIT_STATUS_STOPPED	(1ull << 5)
#define RTIT_STATUS_PKTBYTECNT_SHIFT 32
#define RTIT_STATUS_PKTBYTECNT_MASK (0x1ffffull << RTIT_STATUS_PKTBYTECNT_SHIFT)

/* IA32_RTIT_OUTPUT_MASK_PTRS (33.2.8.7): ToPA form */
#define RTIT_MASK_LOWER		0x7full			/* always 1s with ToPA */
#define RTIT_MASK_TABLE_SHIFT	7
#define RTIT_MASK_TABLE_MASK	(0x1ffffffull << RTIT_MASK_TABLE_SHIFT)
#define RTIT_MASK_OFFSET_SHIFT	32

/* ToPA entry (33.2.7.2, table 33-3) */
#define TOPA_END		(1ull << 0)
#define TOPA_INT		(1ull << 2)
#define TOPA_STOP		(1ull << 4)
#define TOPA_SIZE_SHIFT		6		/* 4 KiB << field */
#define TOPA_SIZE_MASK		(0xfull << TOPA_SIZE_SHIFT)
#define TOPA_BASE_MASK		(~0xfffull)
#define TOPA_TABLE_ENTRIES	512		/* in one 4 KiB page */

/* CPUID leaf 14H as capability words (hwt_bus_ops.cap): subleaf*4 + eax..edx */
#define PT_CAP_MAX_SUBLEAF	0		/* 14H.0.EAX */
#define PT_CAP_0_EBX		1
#define PT_CAP0B_CR3FILTER	(1u << 0)
#define PT_CAP0B_PSB_CYC	(1u << 1)	/* configurable PSB, CYC-accurate mode */
#define PT_CAP0B_IPFILTER	(1u << 2)
#define PT_CAP0B_MTC		(1u << 3)
#define PT_CAP0B_PTWRITE	(1u << 4)
#define PT_CAP0B_PWREVT		(1u << 5)
#define PT_CAP_0_ECX		2
#define PT_CAP0C_TOPA		(1u << 0)
#define PT_CAP0C_TOPA_MULTI	(1u << 1)
#define PT_CAP0C_SINGLE_RANGE	(1u << 2)
#define PT_CAP0C_FABRIC		(1u << 3)
#define PT_CAP0C_LIP		(1u << 31)
#define PT_CAP_1_EAX		4
#define PT_CAP1A_NRANGES_MASK	0x7u
#define PT_CAP1A_MTC_SHIFT	16		/* bitmap of MTCFreq values */
#define PT_CAP_1_EBX		5
#define PT_CAP1B_CYC_MASK	0xffffu		/* bitmap of CycThresh values */
#define PT_CAP1B_PSB_SHIFT	16		/* bitmap of PSBFreq values */
/* CPUID leaf 15H travels behind it: TSC/ART ratio (denominator, numerator). */
#define PT_CAP_15_EAX		8
#define PT_CAP_15_EBX		9
#define PT_CAP_COUNT		10

/* Packets (33.4.1, table 33-19 and on) */
#define PT_PKT_PAD		0x00
#define PT_PKT_EXT		0x02		/* first byte of the extended opcodes */
#define PT_EXT_PSB		0x82		/* 02 82, eight times */
#define PT_EXT_PSBEND		0x23
#define PT_EXT_LONG_TNT		0xa3
#define PT_EXT_PIP		0x43
#define PT_EXT_VMCS		0xc8
#define PT_EXT_CBR		0x03
#define PT_EXT_TMA		0x73
#define PT_EXT_OVF		0xf3
#define PT_EXT_TRACESTOP	0x83
#define PT_EXT_MNT		0xc3		/* 02 C3 88 + 8 bytes */
#define PT_EXT_PTW_MASK		0x1f		/* & mask == PTW */
#define PT_EXT_PTW		0x12
#define PT_EXT_EXSTOP		0x62		/* bit 7: IP */
#define PT_EXT_MWAIT		0xc2
#define PT_EXT_PWRE		0x22
#define PT_EXT_PWRX		0xa2
#define PT_EXT_BBP		0x63
#define PT_EXT_BEP		0x33		/* bit 7: IP */
#define PT_EXT_CFE		0x13
#define PT_EXT_EVD		0x53
#define PT_PKT_MODE		0x99
#define PT_PKT_TSC		0x19
#define PT_PKT_MTC		0x59
#define PT_PKT_TIP		0x0d		/* low five bits; IPBytes above */
#define PT_PKT_TIP_PGE		0x11
#define PT_PKT_TIP_PGD		0x01
#define PT_PKT_FUP		0x1d
#define PT_PKT_IP_MASK		0x1f
#define PT_PKT_CYC		0x03		/* low two bits */
#define PT_PKT_TRIG		0xd9		/* trigger tracing (33.4.2.30) */
#define PT_TRIG_IP		0x80
#define PT_TRIG_ICNTV		0x40		/* a two-byte instruction count follows */
#define PT_PSB_LENGTH		16

#endif
