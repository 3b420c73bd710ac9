/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets to bytes (33.4.2). */
#include "pt_unit_priv.h"

void pt_ext(struct pt_unit *u, uint8_t ext)
{
	pt_out_short(u, PT_PKT_EXT | ext << 8, 2);
}

/*
 * n bits as len short TNTs of six, and one of what is left, the first lowest.
 * No loop: how many there are is as hard to predict as the branches are.
 */
static uint64_t short_tnts(uint64_t bits, unsigned int n, unsigned int len)
{
	unsigned int last = 8 * (len - 1), rest = n - 6 * (len - 1);
	uint64_t x = bits << (48 - n);

	/* 48 bits to eight bytes of six: first to words, to halves, to bytes. */
	x = (x & 0xffffff) | (x & 0xffffff000000) << 8;
	x = (x & 0x00000fff00000fff) | (x & 0x00fff00000fff000) << 4;
	x = (x & 0x003f003f003f003f) | (x & 0x0fc00fc00fc00fc0) << 2;
	x = __builtin_bswap64(x << 1);
	bits = (x >> last & 0x7f) >> (6 - rest) | 2ull << rest;
	x |= 0x8080808080808080;
	return (x & ((1ull << last) - 1)) | bits << last;
}

/*
 * Pending bits, oldest first.  Short TNTs of six bits are never longer than a
 * long one until 47 are pending; but deferred TIPs stand behind one packet.
 */
static void emit_tnt(struct pt_unit *u)
{
	unsigned int n = 63 - __builtin_clzll(u->tnt), len;
	uint64_t tnt = u->tnt;

	u->tnt = PT_TNT_EMPTY;
	if (u->ctl & RTIT_CTL_CYCEN)
		pt_cyc(u, u->tnt_stamp);
	if (n == 47 || (n > 6 && u->ndefer)) {
		pt_out_short(u, PT_PKT_EXT | PT_EXT_LONG_TNT << 8 | tnt << 16, 8);
		return;
	}
	len = (n + 5) / 6;
	pt_out_short(u, short_tnts(tnt ^ 1ull << n, n, len), len);
}

/* Everything that waits: TNT bits, then the TIPs deferred behind them (33.4.2.3). */
void pt_flush_tnt(struct pt_unit *u)
{
	uint32_t i, n;

	/* CYC, TNT, TIPs: bits are of no use without the TIPs among them. */
	if (u->fifo && u->ndefer && u->fifo_fill + 2 + u->ndefer > u->fifo)
		pt_fifo_overflow(u);
	n = u->ndefer;
	if (u->tnt != PT_TNT_EMPTY)
		emit_tnt(u);
	u->ndefer = 0;
	for (i = 0; i < n; i++)
		pt_ip_packet(u, PT_PKT_TIP, u->deferred[i]);
}

void pt_tnt(struct pt_unit *u, bool taken)
{
	if (u->overflow)
		return;
	if (u->tnt == PT_TNT_EMPTY)
		u->tnt_stamp = u->insns;
	u->tnt = u->tnt << 1 | taken;
	if (u->tnt >= PT_TNT_FULL)
		pt_flush_tnt(u);
}

/*
 * The shortest form that says ip (IP compression, 33.4.2.2): two or four bytes
 * against the last IP, six sign-extended, six against it, or all eight.
 */
void pt_ip_packet(struct pt_unit *u, uint8_t opcode, uint64_t ip)
{
	uint64_t diff = u->full_ip ? ~0ull : ip ^ u->last_ip;
	uint8_t buf[9];

	u->last_ip = ip;
	u->full_ip = false;
	if (!(diff >> 16)) {
		pt_out_short(u, opcode | 1 << 5 | (ip & 0xffff) << 8, 3);
	} else if (!(diff >> 32)) {
		pt_out_short(u, opcode | 2 << 5 | (ip & 0xffffffff) << 8, 5);
	} else if (ip == (uint64_t)((int64_t)(ip << 16) >> 16)) {
		pt_out_short(u, opcode | 3 << 5 | ip << 16 >> 8, 7);
	} else if (!(diff >> 48)) {
		pt_out_short(u, opcode | 4 << 5 | ip << 16 >> 8, 7);
	} else {
		buf[0] = opcode | 6 << 5;
		memcpy(buf + 1, &ip, 8);
		pt_out(u, buf, 9);
	}
}

/* Packets that CYC goes before (33.3.6). */
static void cyc_now(struct pt_unit *u)
{
	if (u->ctl & RTIT_CTL_CYCEN)
		pt_cyc(u, u->insns);
}

static void mode_exec(struct pt_unit *u)
{
	if (u->mode_sent)
		return;
	u->mode_sent = true;
	cyc_now(u);
	pt_out_short(u, PT_PKT_MODE | 0x01 << 8, 2);	/* CS.L: 64-bit code */
}

void pt_tip(struct pt_unit *u, uint64_t ip, bool may_defer)
{
	bool defer = u->defer && may_defer;

	if (!defer || u->ndefer == PT_MAX_DEFER)
		pt_flush_tnt(u);
	if (u->overflow)
		return;
	if (defer) {
		u->deferred[u->ndefer++] = ip;
		return;
	}
	cyc_now(u);
	pt_ip_packet(u, PT_PKT_TIP, ip);
}

void pt_fup(struct pt_unit *u, uint64_t ip)
{
	pt_flush_tnt(u);
	pt_ip_packet(u, PT_PKT_FUP, ip);
}

void pt_pge(struct pt_unit *u, uint64_t ip)
{
	u->packet_en = true;
	u->depth = 0;
	pt_pip(u);
	mode_exec(u);
	cyc_now(u);
	pt_ip_packet(u, PT_PKT_TIP_PGE, ip);
}

void pt_pgd(struct pt_unit *u, uint64_t ip, bool with_ip)
{
	pt_flush_tnt(u);
	u->packet_en = false;
	u->depth = 0;
	cyc_now(u);
	if (with_ip)
		pt_ip_packet(u, PT_PKT_TIP_PGD, ip);
	else
		pt_out_short(u, PT_PKT_TIP_PGD, 1);
}

/* PIP where CR3 differs from what was last told (33.4.2.7); not in VMX non-root. */
void pt_pip(struct pt_unit *u)
{
	if (!(u->ctl & RTIT_CTL_OS) || !u->context_en || u->cr3 == u->pip_cr3)
		return;
	pt_flush_tnt(u);
	u->pip_cr3 = u->cr3;
	cyc_now(u);
	pt_out_short(u,
		     PT_PKT_EXT | PT_EXT_PIP << 8 | (u->cr3 >> 5 & 0x7fffffffffff) << 17,
		     8);
}

/* PSB+ (33.3.7): where the CPU stands, so that decoding can begin here. */
void pt_psb(struct pt_unit *u)
{
	static const uint8_t psb[PT_PSB_LENGTH] = {
		2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
	};

	pt_flush_tnt(u);
	u->count = 0;
	pt_out(u, psb, sizeof(psb));
	u->last_ip = 0;
	u->full_ip = false;
	u->depth = 0;
	u->mode_sent = false;
	u->pip_cr3 = ~0ull;
	pt_time_sync(u);
	pt_pip(u);
	pt_cbr(u);
	if (u->packet_en) {
		mode_exec(u);
		/*
		 * In a form that stands alone, as silicon has it: perf reads it
		 * ahead, against the last IP before the PSB.
		 */
		u->full_ip = true;
		pt_fup(u, u->ip);
	}
	pt_ext(u, PT_EXT_PSBEND);
}

void pt_unit_pad(struct pt_unit *u, unsigned int n)
{
	pt_flush_tnt(u);
	while (n--)
		pt_out_short(u, PT_PKT_PAD, 1);
}
