/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet layer of the Intel PT decoder: bytes to packets (SDM 33.4).
 *
 * What the fields of struct pt_packet hold, by type (unnamed ones are 0):
 *
 *	TNT		count bits in payload, the oldest highest
 *	TIP* FUP	ip_bytes; payload: the whole address, 0 if suppressed
 *	MODE.Exec	count 16, 32 or 64 (0: reserved); payload: CS.L, CS.D, IF
 *	MODE.TSX	payload: InTX, TXAbort;  other MODE: count leaf, payload bits
 *	PIP		payload CR3, payload2 NR;	VMCS	payload base
 *	CBR TSC MTC CYC MNT  payload
 *	TMA		payload CTC, payload2 fast counter
 *	PTW		payload, payload2 its bytes, count: a FUP follows
 *	EXSTOP BEP	count: a FUP follows
 *	MWAIT		payload hints, payload2 extensions
 *	PWRE		payload C-state, payload2 sub-state, count: by hardware
 *	PWRX		payload last C-state, payload2 deepest, count: wake reason
 *	BBP		payload type, count: items of four bytes
 *	BIP		payload identifier, payload2 value
 *	CFE		payload type, payload2 vector, count: a FUP follows
 *	EVD		payload value, payload2 type
 *	TRIG		payload triggers, payload2 instructions, count: first byte
 */
#ifndef DECODE_PT_PACKET_H
#define DECODE_PT_PACKET_H

#include <stddef.h>
#include <stdint.h>
#include "../../hw/pt.h"

enum pt_packet_type {
	PT_BAD, PT_PAD, PT_PSB, PT_PSBEND, PT_TNT, PT_TIP, PT_TIP_PGE,
	PT_TIP_PGD, PT_FUP, PT_MODE_EXEC, PT_MODE_TSX, PT_MODE_OTHER, PT_PIP,
	PT_VMCS, PT_CBR, PT_TSC, PT_TMA, PT_MTC, PT_CYC, PT_OVF, PT_TRACESTOP,
	PT_MNT, PT_PTW, PT_EXSTOP, PT_MWAIT, PT_PWRE, PT_PWRX, PT_BBP, PT_BIP,
	PT_BEP, PT_CFE, PT_EVD, PT_TRIG, PT_PACKET_MAX
};

/* State that the meaning of a packet depends on; zero to begin with. */
struct pt_packet_state {
	uint64_t	last_ip;	/* for IP compression (33.4.2.2) */
	uint8_t		in_block;	/* after BBP: 1 four-byte, 2 eight-byte items */
};

struct pt_packet {
	uint8_t		type;		/* enum pt_packet_type */
	uint8_t		length;		/* bytes */
	uint8_t		ip_bytes;	/* IPBytes field of IP packets; 0: no IP */
	uint8_t		count;		/* TNT: number of bits; others: small field */
	uint64_t	payload;	/* IP: full address; TNT: bits, oldest highest */
	uint64_t	payload2;	/* second field */
};

/*
 * Decodes the packet at p (n bytes are there).  > 0: its length, *pkt filled,
 * state updated.  0: needs more bytes (nothing changed).  -EINVAL: unknown
 * (pkt->type PT_BAD, length 1).
 */
int pt_packet_decode(const uint8_t *p, size_t n, struct pt_packet_state *state,
		     struct pt_packet *pkt);
/*
 * How many of n bytes, which begin at a packet outside of all of these, are whole
 * packets, PSB+, blocks, and compounds: no FUP or MODE without what it is bound to.  An
 * unknown packet ends them.  More than that many may be whole: what a FUP is bound to
 * can stand before it.
 */
size_t pt_packet_whole(const uint8_t *p, size_t n);
/* Offset of the first whole PSB in n bytes, or n if there is none. */
size_t pt_packet_find_psb(const uint8_t *p, size_t n);
/* "TIP.PGE" etc., as the SDM and perf name them. */
const char *pt_packet_name(enum pt_packet_type type);
/* One line, as `hwt dump` shows it, without newline: bytes written, as snprintf. */
int pt_packet_format(const struct pt_packet *pkt, char *buf, size_t n);

#endif
