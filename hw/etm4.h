/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Embedded Trace Macrocell, architecture version 4: registers and packets.
 * Sections: Arm IHI 0064F (ETMv4.0 to 4.5), chapter 7 for registers, 6 for the
 * instruction trace protocol.  BIT flags; _MASK and _SHIFT for fields.
 */
#ifndef HW_ETM4_H
#define HW_ETM4_H

#include "coresight.h"

/* Control and filtering (7.3) */
#define TRCPRGCTLR		0x004
#define TRCPRGCTLR_EN		(1u << 0)
#define TRCPROCSELR		0x008
#define TRCSTATR		0x00c
#define TRCSTATR_IDLE		(1u << 0)
#define TRCSTATR_PMSTABLE	(1u << 1)
#define TRCCONFIGR		0x010
#define TRCCONFIGR_RES1		(1u << 0)
#define TRCCONFIGR_INSTP0_MASK	(3u << 1)
#define TRCCONFIGR_BB		(1u << 3)
#define TRCCONFIGR_CCI		(1u << 4)
#define TRCCONFIGR_CID		(1u << 6)
#define TRCCONFIGR_VMID		(1u << 7)
#define TRCCONFIGR_COND_MASK	(7u << 8)
#define TRCCONFIGR_TS		(1u << 11)
#define TRCCONFIGR_RS		(1u << 12)
#define TRCCONFIGR_QE_MASK	(3u << 13)
#define TRCCONFIGR_VMIDOPT	(1u << 15)
#define TRCCONFIGR_DA		(1u << 16)
#define TRCCONFIGR_DV		(1u << 17)
#define TRCAUXCTLR		0x018
#define TRCEVENTCTL0R		0x020
#define TRCEVENTCTL1R		0x024
#define TRCSTALLCTLR		0x02c
#define TRCSTALLCTLR_LEVEL_MASK	0xfu
#define TRCSTALLCTLR_ISTALL	(1u << 8)
#define TRCSTALLCTLR_NOOVERFLOW	(1u << 13)
#define TRCTSCTLR		0x030
#define TRCSYNCPR		0x034
#define TRCSYNCPR_PERIOD_MASK	0x1fu	/* 2^n bytes, 8..20; 0: none but the first */
#define TRCSYNCPR_MIN		8
#define TRCSYNCPR_MAX		20
#define TRCCCCTLR		0x038
#define TRCCCCTLR_THRESHOLD_MASK 0xfffu
#define TRCBBCTLR		0x03c
#define TRCBBCTLR_RANGE_MASK	0xffu
#define TRCBBCTLR_INCLUDE	(1u << 8)
#define TRCTRACEIDR		0x040
#define TRCTRACEIDR_MASK	0x7fu
#define TRCQCTLR		0x044
#define TRCVICTLR		0x080
#define TRCVICTLR_EVENT_MASK	0xffu	/* resource selector that ViewInst needs */
#define TRCVICTLR_EVENT_TRUE	0x01u	/* resource 1: always */
#define TRCVICTLR_SSSTATUS	(1u << 9)
#define TRCVICTLR_TRCRESET	(1u << 10)
#define TRCVICTLR_TRCERR	(1u << 11)
#define TRCVICTLR_EXLEVEL_S_SHIFT 16	/* a bit a level: 1 is not traced */
#define TRCVICTLR_EXLEVEL_NS_SHIFT 20
#define TRCVICTLR_EXLEVEL_MASK	(0xffu << 16)
#define TRCVIIECTLR		0x084	/* address range comparators */
#define TRCVIIECTLR_INCLUDE(n)	(1u << (n))
#define TRCVIIECTLR_EXCLUDE(n)	(1u << (16 + (n)))
#define TRCVISSCTLR		0x088	/* single address comparators */
#define TRCVISSCTLR_START(n)	(1u << (n))
#define TRCVISSCTLR_STOP(n)	(1u << (16 + (n)))
#define TRCVIPCSSCTLR		0x08c
#define TRCVDCTLR		0x0a0
#define TRCCNTRLDVR(n)		(0x140u + 4 * (n))
#define TRCIDR8			0x180	/* MAXSPEC */
#define TRCIDR9			0x184
#define TRCIDR10		0x188
#define TRCIDR11		0x18c
#define TRCIDR12		0x190
#define TRCIDR13		0x194
#define TRCIMSPEC0		0x1c0
#define TRCIDR0			0x1e0
#define TRCIDR(n)		((n) < 8 ? 0x1e0u + 4 * (n) : 0x180u + 4 * ((n) - 8))
#define TRCRSCTLR(n)		(0x200u + 4 * (n))
#define TRCOSLAR		0x300
#define TRCOSLSR		0x304
#define TRCPDCR			0x310
#define TRCPDCR_PU		(1u << 3)	/* power up request */
#define TRCPDSR			0x314
#define TRCPDSR_POWER		(1u << 0)
#define TRCACVR(n)		(0x400u + 8 * (n))	/* 64 bits */
#define TRCACATR(n)		(0x480u + 8 * (n))	/* 64 bits */
#define TRCACATR_TYPE_MASK	3u			/* 0: instruction address */
#define TRCACATR_CONTEXT_MASK	(0x1fu << 2)
#define TRCACATR_EXLEVEL_S_SHIFT 8
#define TRCACATR_EXLEVEL_NS_SHIFT 12
#define TRCACATR_EXLEVEL_MASK	(0xffu << 8)
#define TRCCIDCVR(n)		(0x600u + 8 * (n))
#define TRCVMIDCVR(n)		(0x640u + 8 * (n))
#define TRCCIDCCTLR0		0x680
#define TRCDEVARCH_ETM4		0x4a13u			/* ARCHID, version in [19:16] */
#define ETM4_MAX_PAIRS		8
#define ETM4_MAX_ACS		16

/* ID registers (7.3.28 and on) */
#define TRCIDR0_RES1		(1u << 0)
#define TRCIDR0_TRCBB		(1u << 5)
#define TRCIDR0_TRCCCI		(1u << 7)
#define TRCIDR0_RETSTACK	(1u << 9)
#define TRCIDR0_QSUPP_MASK	(3u << 15)
#define TRCIDR0_TSSIZE_SHIFT	24
#define TRCIDR0_TSSIZE_MASK	(0x1fu << 24)
#define TRCIDR0_TSSIZE_64	(8u << 24)
#define TRCIDR0_COMMOPT		(1u << 29)	/* cycle counts carry no commits */
#define TRCIDR0_COMMTRANS	(1u << 30)	/* a transaction's start is no P0 element */
#define TRCIDR1_RES1		(0xfu << 12)
#define TRCIDR1_DESIGNER_SHIFT	24
#define TRCIDR1_MAJOR_SHIFT	8
#define TRCIDR1_MINOR_SHIFT	4
#define TRCIDR1_VERSION_MASK	(0xffu << 4)
#define ETE_VERSION		0x50u	/* major in [7:4]; ETMv4 is below */
#define TRCDEVARCH_VERSION_SHIFT 12		/* ETE: major in [15:12], minor in [19:16] */
#define TRCDEVARCH_REVISION_SHIFT 16
#define TRCIDR2_IASIZE_64	8u
#define TRCIDR2_CIDSIZE_SHIFT	5
#define TRCIDR2_CIDSIZE_MASK	(0x1fu << 5)	/* bytes */
#define TRCIDR2_VMIDSIZE_SHIFT	10
#define TRCIDR2_VMIDSIZE_MASK	(0x1fu << 10)
#define TRCIDR2_CCSIZE_SHIFT	25		/* 12 bits + field */
#define TRCIDR2_CCSIZE_MASK	(0xfu << 25)
#define TRCIDR2_WFXMODE		(1u << 31)	/* WFI and WFE are P0 */
#define TRCIDR3_CCITMIN_MASK	0xfffu
#define TRCIDR3_EXLEVEL_S_SHIFT	16
#define TRCIDR3_EXLEVEL_NS_SHIFT 20
#define TRCIDR3_TRCERR		(1u << 24)
#define TRCIDR3_SYNCPR		(1u << 25)	/* TRCSYNCPR is read only */
#define TRCIDR3_STALLCTL	(1u << 26)	/* there is a TRCSTALLCTLR */
#define TRCIDR3_SYSSTALL	(1u << 27)	/* and the PE can be stalled */
#define TRCIDR3_NOOVERFLOW	(1u << 31)
#define TRCIDR4_NUMACPAIRS_MASK	0xfu
#define TRCIDR4_NUMCIDC_SHIFT	24
#define TRCIDR5_TRACEIDSIZE_SHIFT 16
#define TRCIDR5_TRACEIDSIZE_MASK (0x3fu << 16)
#define TRCIDR5_TRACEIDSIZE_7	(7u << 16)
#define ETM4_NUM_IDR		14

/* Packet headers (6.4) */
#define ETM4_EXTENSION		0x00
#define ETM4_EXT_DISCARD	0x03
#define ETM4_EXT_OVERFLOW	0x05
#define ETM4_EXT_ASYNC		0x80	/* after eleven 00 */
#define ETM4_ASYNC_LENGTH	12
#define ETM4_TRACE_INFO		0x01
#define ETM4_INFO_INFO		(1u << 0)	/* PLCTL: which sections follow */
#define ETM4_INFO_KEY		(1u << 1)
#define ETM4_INFO_SPEC		(1u << 2)
#define ETM4_INFO_CYCT		(1u << 3)
#define ETM4_INFO_WNDW		(1u << 4)
#define ETM4_INFO_CC_ENABLED	(1u << 0)	/* in section INFO */
#define ETM4_TIMESTAMP		0x02
#define ETM4_TIMESTAMP_CC	0x03		/* with a cycle count */
#define ETM4_TRACE_ON		0x04
#define ETM4_EXCEPTION		0x06
#define ETM4_EXCEPTION_E0	(1u << 0)	/* 01: the address that follows is not... */
#define ETM4_EXCEPTION_E1	(1u << 6)	/* 10: ...is also the last branch's target */
#define ETM4_EXCEPTION_C	(1u << 7)	/* a second byte follows */
#define ETM4_EXCEPTION_RETURN	0x07
#define ETE_TRANSACTION_START	0x0a
#define ETE_TRANSACTION_COMMIT	0x0b
#define ETM4_CC_F2		0x0c
#define ETM4_CC_F1		0x0e
#define ETM4_CC_F1_UNKNOWN	0x0f
#define ETM4_CC_F3		0x10		/* to 1f */
#define ETM4_COMMIT		0x2d
#define ETM4_CANCEL_F1		0x2e		/* | 1: then a misprediction */
#define ETM4_MISPREDICT		0x30		/* | atoms before it: 1 E, 2 EE, 3 N */
#define ETM4_CANCEL_F2		0x34		/* the same, one element cancelled */
#define ETM4_CANCEL_F3		0x38		/* | 1: E before it, | (elements - 2) << 1 */
#define ETM4_IGNORE		0x70
#define ETM4_EVENT		0x71		/* to 7f */
#define ETM4_CONTEXT_SAME	0x80
#define ETM4_CONTEXT		0x81
#define ETM4_ADDR_CTX_32_IS0	0x82
#define ETM4_ADDR_CTX_64_IS0	0x85
#define ETM4_TS_MARKER		0x88
#define ETM4_ADDR_MATCH		0x90		/* + index of the address history */
#define ETM4_ADDR_SHORT_IS0	0x95
#define ETM4_ADDR_32_IS0	0x9a
#define ETM4_ADDR_64_IS0	0x9d		/* all of them: + 1 for IS1 */
#define ETM4_Q			0xa0		/* | type */
#define ETM4_Q_SHORT_IS0	0xa5
#define ETM4_Q_32_IS0		0xaa
#define ETM4_Q_NO_ADDRESS	0xac		/* that follows */
#define ETM4_Q_UNKNOWN		0xaf		/* nor a count */
#define ETE_SOURCE_MATCH	0xb0
#define ETE_SOURCE_SHORT_IS0	0xb4
#define ETE_SOURCE_32_IS0	0xb6
#define ETE_SOURCE_64_IS0	0xb8
#define ETM4_CTX_EL_MASK	0x03
#define ETM4_CTX_SF		(1u << 4)	/* 64-bit state */
#define ETM4_CTX_NS		(1u << 5)
#define ETM4_CTX_V		(1u << 6)	/* a VMID follows */
#define ETM4_CTX_C		(1u << 7)	/* a context ID follows */
#define ETM4_ATOMS		0xc0		/* from here on all are, of one byte */
#define ETM4_ATOM_F1		0xf6		/* | atom */
#define ETM4_ATOM_F2		0xd8		/* | two atoms, the oldest lowest */
#define ETM4_ATOM_F3		0xf8		/* | three */
#define ETM4_ATOM_F4		0xdc		/* | NEEE, NNNN, NENE, ENEN */
#define ETM4_ATOM_F5_NEEEE	0xf5
#define ETM4_ATOM_F5_NNNNN	0xd5
#define ETM4_ATOM_F5_NENEN	0xd6
#define ETM4_ATOM_F5_ENENE	0xd7
#define ETM4_ATOM_F6		0xc0		/* | number of E atoms - 3, then E... */
#define ETM4_ATOM_F6_N		0x20		/* ...or N */
#define ETM4_ATOM_F6_MIN	3
#define ETM4_ATOM_F6_MAX	23

/* Exception types of A-profile (6.4.5, table 6-15) */
#define ETM4_EXC_RESET		0
#define ETM4_EXC_DEBUG_HALT	1
#define ETM4_EXC_CALL		2	/* SVC, HVC, SMC */
#define ETM4_EXC_TRAP		3
#define ETM4_EXC_SYSTEM_ERROR	4
#define ETM4_EXC_INST_DEBUG	6
#define ETM4_EXC_DATA_DEBUG	7
#define ETM4_EXC_ALIGNMENT	10
#define ETM4_EXC_INST_FAULT	11
#define ETM4_EXC_DATA_FAULT	12
#define ETM4_EXC_IRQ		14
#define ETM4_EXC_FIQ		15
#define ETE_EXC_FAILED		24	/* a transaction */
#define ETM4_EXC_MAX		0x3ff

#endif
