/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CoreSight Trace Memory Controller as ETB, ETF and ETR.
 * Sections: Arm DDI 0461B, the TMC's technical reference manual; MODE.SWF2 and
 * RURP: Arm 100806, CoreSight SoC-600.
 */
#ifndef HW_TMC_H
#define HW_TMC_H

#include "coresight.h"

#define TMC_RSZ			0x004	/* 3.3.1: RAM size, 32-bit words */
#define TMC_STS			0x00c	/* 3.3.2 */
#define TMC_STS_FULL		(1u << 0)	/* CB: wrapped; FIFO: at the watermark */
#define TMC_STS_TRIGGERED	(1u << 1)
#define TMC_STS_READY		(1u << 2)	/* nothing is on its way, capture is over */
#define TMC_STS_FTEMPTY		(1u << 3)
#define TMC_STS_EMPTY		(1u << 4)
#define TMC_STS_MEMERR		(1u << 5)
#define TMC_RRD			0x010	/* 3.3.3; all ones: nothing to read */
#define TMC_RRD_EMPTY		0xffffffffu
#define TMC_RRP			0x014	/* 3.3.4: bytes; ETR: an address */
#define TMC_RWP			0x018	/* 3.3.5 */
#define TMC_TRG			0x01c
#define TMC_CTL			0x020	/* 3.3.7 */
#define TMC_CTL_CAPTURE		(1u << 0)	/* TraceCaptEn */
#define TMC_RWD			0x024
#define TMC_MODE		0x028	/* 3.3.9 */
#define TMC_MODE_CB		0u
#define TMC_MODE_SWF1		1u		/* ETB, ETF: FIFO, read by RRD */
#define TMC_MODE_HWF		2u		/* ETF: FIFO into the next component */
#define TMC_MODE_SWF2		3u		/* ETR: FIFO in memory, freed by RURP */
#define TMC_MODE_STALL_ON_STOP	(1u << 4)
#define TMC_MODE_MASK		3u
#define TMC_LBUFLEVEL		0x02c	/* highest level since last read, words */
#define TMC_CBUFLEVEL		0x030	/* level, words */
#define TMC_BUFWM		0x034	/* 3.3.12: FIFO: Full when so many words are free */
#define TMC_RRPHI		0x038
#define TMC_RWPHI		0x03c
#define TMC_AXICTL		0x110
#define TMC_AXICTL_PROT_NS	(1u << 1)	/* non-secure */
#define TMC_AXICTL_SCATTER	(1u << 7)
#define TMC_AXICTL_CACHE	(0xfu << 2)	/* write-back, allocate */
#define TMC_AXICTL_BURST16	(0xfu << 8)
#define TMC_DBALO		0x118	/* 3.3.18: where the buffer begins */
#define TMC_DBAHI		0x11c
#define TMC_RURP		0x120	/* SWF2: bytes that were read, to 1 MiB */
#define TMC_RURP_MAX		0x100000u
#define TMC_FFSR		0x300	/* 3.3.20 */
#define TMC_FFSR_FLUSHING	(1u << 0)
#define TMC_FFSR_STOPPED	(1u << 1)
#define TMC_FFCR		0x304	/* 3.3.21 */
#define TMC_FFCR_ENFT		(1u << 0)	/* formatter */
#define TMC_FFCR_ENTI		(1u << 1)
#define TMC_FFCR_FONFLIN	(1u << 4)
#define TMC_FFCR_FONTRIGEVT	(1u << 5)
#define TMC_FFCR_FLUSHMAN	(1u << 6)	/* stays 1 until the flush is done */
#define TMC_FFCR_STOPONFL	(1u << 12)
#define TMC_FFCR_STOPONTRIGEVT	(1u << 13)
#define TMC_PSCR		0x308

/* DEVID (3.3.44) */
#define TMC_DEVID_CONFIG_SHIFT	6
#define TMC_DEVID_CONFIG_MASK	(3u << TMC_DEVID_CONFIG_SHIFT)
#define TMC_CONFIG_ETB		0u
#define TMC_CONFIG_ETR		1u
#define TMC_CONFIG_ETF		2u
#define TMC_DEVID_MEMWIDTH_SHIFT 8	/* 32 bits << field, from 2 on */

#endif
