/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CoreSight: what all components have in common, the ATB funnel and replicator,
 * and the formatter's frames.
 * Sections: Arm IHI 0029F (CoreSight architecture); SoC: DDI 0480, the CoreSight
 * SoC-400 technical reference manual.
 *
 * Offsets are bytes in the component's 4 KiB of registers; registers are 32 bits.
 */
#ifndef HW_CORESIGHT_H
#define HW_CORESIGHT_H

#define CS_COMPONENT_SIZE	0x1000u

/* Management registers (IHI 0029 B2.3) */
#define CS_ITCTRL		0xf00
#define CS_CLAIMSET		0xfa0	/* reads: which tags there are */
#define CS_CLAIMCLR		0xfa4	/* reads: which tags are set */
#define CS_DEVAFF0		0xfa8
#define CS_DEVAFF1		0xfac
#define CS_LAR			0xfb0
#define CS_LAR_KEY		0xc5acce55u
#define CS_LSR			0xfb4
#define CS_LSR_SLI		(1u << 0)	/* there is a lock */
#define CS_LSR_SLK		(1u << 1)	/* it is locked */
#define CS_AUTHSTATUS		0xfb8
#define CS_AUTH_NSNID		(3u << 2)	/* non-secure non-invasive: there, enabled */
#define CS_DEVARCH		0xfbc
#define CS_DEVARCH_ARM		(0x23bu << 21)	/* ARCHITECT: Arm Limited */
#define CS_DEVARCH_PRESENT	(1u << 20)
#define CS_DEVID2		0xfc0
#define CS_DEVID1		0xfc4
#define CS_DEVID		0xfc8
#define CS_DEVTYPE		0xfcc
#define CS_PIDR4		0xfd0
#define CS_PIDR0		0xfe0
#define CS_PIDR1		0xfe4
#define CS_PIDR2		0xfe8
#define CS_PIDR2_JEDEC		(1u << 3)
#define CS_PIDR3		0xfec
#define CS_CIDR0		0xff0	/* 0d 90 05 b1: class 9, a CoreSight component */
#define CS_CIDR(n)		(0xff0u + 4 * (n))

/* Who sets which claim tag (IHI 0029 B2.3.2 leaves it to software; as perf has it) */
#define CS_CLAIM_EXTERNAL	(1u << 0)
#define CS_CLAIM_SELF_HOSTED	(1u << 1)

/* DEVTYPE (IHI 0029 table B2-12): sub type << 4 | major type */
#define CS_DEVTYPE_SINK_BUFFER	0x21u
#define CS_DEVTYPE_LINK_SPLIT	0x22u		/* replicator */
#define CS_DEVTYPE_LINK_MERGE	0x12u		/* funnel */
#define CS_DEVTYPE_LINK_FIFO	0x32u		/* ETF */
#define CS_DEVTYPE_SOURCE_PE	0x13u		/* trace unit of a processor */

/* ATB funnel (SoC-400 3.7) */
#define CSTF_CTRL		0x000
#define CSTF_CTRL_ENS(port)	(1u << (port))
#define CSTF_CTRL_ENS_MASK	0xffu
#define CSTF_CTRL_HT_SHIFT	8		/* minimum hold time - 1 */
#define CSTF_CTRL_HT_MASK	(0xfu << CSTF_CTRL_HT_SHIFT)
#define CSTF_PRIORITY		0x004		/* three bits a port */
#define CSTF_PRIORITY_MASK	0xffffffu
#define CSTF_PORTS		8
#define CSTF_DEVID_PORTS_MASK	0xfu

/* ATB replicator (SoC-400 3.8): a filter bit for each 16 trace IDs */
#define CSTR_IDFILTER(out)	(0x000u + 4 * (out))
#define CSTR_IDFILTER_DROP(id)	(1u << ((id) >> 4))
#define CSTR_IDFILTER_ALL	0xffu
#define CSTR_OUTPUTS		2

/* Trace IDs (IHI 0029 D4.2.1) */
#define CS_ID_NULL		0x00		/* padding */
#define CS_ID_FIRST		0x01
#define CS_ID_LAST		0x6f		/* 0x70..0x7f are reserved or the formatter's */

/* Formatted frames (IHI 0029 D4.2) */
#define CS_FRAME		16u		/* bytes */
#define CS_FRAME_AUX		15		/* byte of auxiliary bits, bit n for byte 2n */
#define CS_FRAME_ID		0x01		/* in an even byte: it is an ID << 1 */

#endif
