/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of Intel PT from bytes (SDM 33.4.2). */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "pt_packet.h"

#define TNT_LONG_BYTES	6
#define CYC_MAX_BYTES	10	/* 5 + 9 * 7 bits reach past 64 */

/* Little-endian number of n <= 8 bytes. */
static uint64_t get_le(const uint8_t *p, unsigned int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* The stop bit is the highest one set; the bits below it count. */
static int set_tnt(struct pt_packet *pkt, uint64_t bits)
{
	int stop;

	if (bits < 2)
		return -EINVAL;
	stop = 63 - __builtin_clzll(bits);
	pkt->type = PT_TNT;
	pkt->count = stop;
	pkt->payload = bits ^ 1ull << stop;
	return 0;
}

/* 33.4.2.2, IP compression: payload bytes by IPBytes; -1 is reserved. */
static const int8_t ip_size[8] = {0, 2, 4, 6, 6, -1, 8, -1};

static int get_ip(const uint8_t *p, size_t n, struct pt_packet_state *state,
		  struct pt_packet *pkt, enum pt_packet_type type)
{
	unsigned int form = p[0] >> 5;
	int size = ip_size[form];
	uint64_t v, keep;

	if (size < 0)
		return -EINVAL;
	if (n < 1u + size)
		return 0;
	pkt->type = type;
	pkt->ip_bytes = form;
	state->in_block = type == PT_FUP ? state->in_block : 0;
	if (!size)
		return 1;
	v = get_le(p + 1, size);
	if (form == 3) {
		v = (uint64_t)((int64_t)(v << 16) >> 16);
	} else if (form != 6) {
		keep = ~0ull << size * 8;
		v |= state->last_ip & keep;
	}
	pkt->payload = state->last_ip = v;
	return 1 + size;
}

static int get_cyc(const uint8_t *p, size_t n, struct pt_packet *pkt)
{
	uint64_t v = p[0] >> 3;
	unsigned int shift = 5, i = 1;
	int more = p[0] & 4;

	for (; more; i++, shift += 7) {
		if (i == CYC_MAX_BYTES)
			return -EINVAL;
		if (i == n)
			return 0;
		more = p[i] & 1;
		if (shift > 57 && (uint64_t)(p[i] >> 1) >> (64 - shift))
			return -EINVAL;
		v |= (uint64_t)(p[i] >> 1) << shift;
	}
	pkt->type = PT_CYC;
	pkt->payload = v;
	return i;
}

static int get_mode(const uint8_t *p, size_t n, struct pt_packet *pkt,
		    struct pt_packet_state *state)
{
	static const uint8_t exec_bits[4] = {16, 64, 32, 0};

	if (n < 2)
		return 0;
	state->in_block = 0;
	pkt->payload = p[1] & 0x1f;
	switch (p[1] >> 5) {
	case 0:
		pkt->type = PT_MODE_EXEC;
		pkt->count = exec_bits[p[1] & 3];
		pkt->payload &= 7;
		break;
	case 1:
		pkt->type = PT_MODE_TSX;
		pkt->payload &= 3;
		break;
	default:
		pkt->type = PT_MODE_OTHER;
		pkt->count = p[1] >> 5;
	}
	return 2;
}

static int get_trig(const uint8_t *p, size_t n, struct pt_packet *pkt,
		    struct pt_packet_state *state)
{
	unsigned int size;

	if (n < 2)
		return 0;
	size = p[1] & PT_TRIG_ICNTV ? 5 : 3;
	if (n < size)
		return 0;
	state->in_block = 0;
	pkt->type = PT_TRIG;
	pkt->count = p[1];
	pkt->payload = p[2];
	pkt->payload2 = size == 5 ? get_le(p + 3, 2) : 0;
	return size;
}

/* Packets that begin with 02: whole length and type by the second byte. */
struct ext_form {
	uint8_t length;
	uint8_t type;
	uint8_t keeps_block;	/* an open block of BIPs stays open */
};

static const struct ext_form ext_forms[256] = {
	[PT_EXT_PSB] = {PT_PSB_LENGTH, PT_PSB, 0},
	[PT_EXT_PSBEND] = {2, PT_PSBEND, 0},
	[PT_EXT_LONG_TNT] = {8, PT_TNT, 0},
	[PT_EXT_PIP] = {8, PT_PIP, 0},
	[PT_EXT_VMCS] = {7, PT_VMCS, 0},
	[PT_EXT_CBR] = {4, PT_CBR, 1},
	[PT_EXT_TMA] = {7, PT_TMA, 1},
	[PT_EXT_OVF] = {2, PT_OVF, 0},
	[PT_EXT_TRACESTOP] = {2, PT_TRACESTOP, 0},
	[PT_EXT_MNT] = {11, PT_MNT, 1},
	[PT_EXT_PTW] = {6, PT_PTW, 0},
	[PT_EXT_PTW | 0x20] = {10, PT_PTW, 0},
	[PT_EXT_PTW | 0x80] = {6, PT_PTW, 0},
	[PT_EXT_PTW | 0xa0] = {10, PT_PTW, 0},
	[PT_EXT_EXSTOP] = {2, PT_EXSTOP, 1},
	[PT_EXT_EXSTOP | 0x80] = {2, PT_EXSTOP, 1},
	[PT_EXT_MWAIT] = {10, PT_MWAIT, 0},
	[PT_EXT_PWRE] = {4, PT_PWRE, 1},
	[PT_EXT_PWRX] = {7, PT_PWRX, 1},
	[PT_EXT_BBP] = {3, PT_BBP, 0},
	[PT_EXT_BEP] = {2, PT_BEP, 0},
	[PT_EXT_BEP | 0x80] = {2, PT_BEP, 0},
	[PT_EXT_CFE] = {4, PT_CFE, 0},
	[PT_EXT_EVD] = {11, PT_EVD, 0},
};

/* PSB is 02 82 eight times: nothing else may begin so. */
static int get_psb(const uint8_t *p, size_t n, struct pt_packet_state *state)
{
	size_t i;

	for (i = 0; i < n && i < PT_PSB_LENGTH; i++)
		if (p[i] != (i & 1 ? PT_EXT_PSB : PT_PKT_EXT))
			return -EINVAL;
	if (i < PT_PSB_LENGTH)
		return 0;
	/* Last IP is zero after a PSB (33.4.2.2). */
	state->last_ip = 0;
	return PT_PSB_LENGTH;
}

/* The fields of an extended packet that is all there; p is its first byte. */
/* Of packets that tell of power, events and blocks of items. */
static void get_event_fields(const uint8_t *p, struct pt_packet *pkt)
{
	switch (pkt->type) {
	case PT_EXSTOP:
	case PT_BEP:
		pkt->count = p[1] >> 7;
		break;
	case PT_MWAIT:
		pkt->payload = get_le(p + 2, 4);
		pkt->payload2 = get_le(p + 6, 4);
		break;
	case PT_PWRE:
		pkt->count = p[2] >> 7;
		pkt->payload = p[3] >> 4;
		pkt->payload2 = p[3] & 0xf;
		break;
	case PT_PWRX:
		pkt->count = p[3] & 0xf;
		pkt->payload = p[2] >> 4;
		pkt->payload2 = p[2] & 0xf;
		break;
	case PT_BBP:
		pkt->count = p[2] >> 7;
		pkt->payload = p[2] & 0x1f;
		break;
	case PT_CFE:
		pkt->count = p[2] >> 7;
		pkt->payload = p[2] & 0x1f;
		pkt->payload2 = p[3];
		break;
	case PT_EVD:
		pkt->payload2 = p[2] & 0x3f;
		pkt->payload = get_le(p + 3, 8);
		break;
	}
}

static int get_ext_fields(const uint8_t *p, struct pt_packet *pkt)
{
	switch (pkt->type) {
	case PT_TNT:
		return set_tnt(pkt, get_le(p + 2, TNT_LONG_BYTES));
	case PT_PIP:
		pkt->payload = get_le(p + 2, 6) >> 1 << 5;
		pkt->payload2 = p[2] & 1;
		break;
	case PT_VMCS:
		pkt->payload = get_le(p + 2, 5) << 12;
		break;
	case PT_CBR:
		pkt->payload = p[2];
		break;
	case PT_TMA:
		pkt->payload = get_le(p + 2, 2);
		pkt->payload2 = get_le(p + 5, 2) & 0x1ff;
		break;
	case PT_MNT:
		if (p[2] != 0x88)
			return -EINVAL;
		pkt->payload = get_le(p + 3, 8);
		break;
	case PT_PTW:
		pkt->payload2 = pkt->length - 2;
		pkt->payload = get_le(p + 2, pkt->payload2);
		pkt->count = p[1] >> 7;
		break;
	default:
		get_event_fields(p, pkt);
	}
	return 0;
}

static int get_ext(const uint8_t *p, size_t n, struct pt_packet_state *state,
		   struct pt_packet *pkt)
{
	const struct ext_form *form;
	int rc;

	if (n < 2)
		return 0;
	form = &ext_forms[p[1]];
	if (!form->length)
		return -EINVAL;
	if (form->type == PT_PSB) {
		rc = get_psb(p, n, state);
		if (rc <= 0)
			return rc;
	}
	/* The third byte of MNT is part of its opcode: no need to wait. */
	if (form->type == PT_MNT && n > 2 && p[2] != 0x88)
		return -EINVAL;
	if (n < form->length)
		return 0;
	pkt->type = form->type;
	pkt->length = form->length;
	rc = get_ext_fields(p, pkt);
	if (rc)
		return rc;
	if (form->type == PT_BBP)
		state->in_block = pkt->count ? 1 : 2;
	else if (!form->keeps_block)
		state->in_block = 0;
	return form->length;
}

/* 33.4.2.23: between BBP and BEP a byte that ends in 100 is an item. */
static int get_bip(const uint8_t *p, size_t n, const struct pt_packet_state *state,
		   struct pt_packet *pkt)
{
	unsigned int size = state->in_block == 1 ? 4 : 8;

	if (n < 1 + size)
		return 0;
	pkt->type = PT_BIP;
	pkt->payload = p[0] >> 3;
	pkt->payload2 = get_le(p + 1, size);
	return 1 + size;
}

static int get_short_tnt(const uint8_t *p, size_t n, struct pt_packet_state *state,
			 struct pt_packet *pkt)
{
	if (!p[0]) {
		pkt->type = PT_PAD;
		return 1;
	}
	if (state->in_block && (p[0] & 7) == 4)
		return get_bip(p, n, state, pkt);
	state->in_block = 0;
	/* Never 02: what is left has a bit above the stop bit's lowest place. */
	return set_tnt(pkt, p[0] >> 1) ? -EINVAL : 1;
}

static int get_simple(const uint8_t *p, size_t n, struct pt_packet *pkt,
		      enum pt_packet_type type, unsigned int size)
{
	if (n < 1 + size)
		return 0;
	pkt->type = type;
	pkt->payload = get_le(p + 1, size);
	return 1 + size;
}

static int get_packet(const uint8_t *p, size_t n, struct pt_packet_state *state,
		      struct pt_packet *pkt)
{
	if (p[0] == PT_PKT_EXT)
		return get_ext(p, n, state, pkt);
	if (!(p[0] & 1))
		return get_short_tnt(p, n, state, pkt);
	if ((p[0] & 3) == PT_PKT_CYC)
		return get_cyc(p, n, pkt);
	switch (p[0] & PT_PKT_IP_MASK) {
	case PT_PKT_TIP:
		return get_ip(p, n, state, pkt, PT_TIP);
	case PT_PKT_TIP_PGE:
		return get_ip(p, n, state, pkt, PT_TIP_PGE);
	case PT_PKT_TIP_PGD:
		return get_ip(p, n, state, pkt, PT_TIP_PGD);
	case PT_PKT_FUP:
		return get_ip(p, n, state, pkt, PT_FUP);
	}
	switch (p[0]) {
	case PT_PKT_MODE:
		return get_mode(p, n, pkt, state);
	case PT_PKT_TSC:
		return get_simple(p, n, pkt, PT_TSC, 7);
	case PT_PKT_MTC:
		return get_simple(p, n, pkt, PT_MTC, 1);
	case PT_PKT_TRIG:
		return get_trig(p, n, pkt, state);
	}
	return -EINVAL;
}

int pt_packet_decode(const uint8_t *p, size_t n, struct pt_packet_state *state,
		     struct pt_packet *pkt)
{
	int rc;

	if (!n)
		return 0;
	memset(pkt, 0, sizeof(*pkt));
	rc = get_packet(p, n, state, pkt);
	if (rc < 0) {
		memset(pkt, 0, sizeof(*pkt));
		pkt->type = PT_BAD;
		pkt->length = 1;
		return -EINVAL;
	}
	pkt->length = rc;
	return rc;
}

/* What begins something that later packets complete (33.3.7, table 33-50). */
static bool opens(const struct pt_packet *pkt)
{
	switch (pkt->type) {
	case PT_FUP:
	case PT_MODE_EXEC:
	case PT_MODE_TSX:
	case PT_MODE_OTHER:
		return true;
	case PT_PTW:
	case PT_EXSTOP:
	case PT_BEP:
	case PT_CFE:
		return pkt->count;	/* a FUP follows */
	default:
		return false;
	}
}

static bool closes(const struct pt_packet *pkt)
{
	return pkt->type == PT_TNT || pkt->type == PT_TIP || pkt->type == PT_TIP_PGE ||
	       pkt->type == PT_TIP_PGD || pkt->type == PT_OVF;
}

size_t pt_packet_whole(const uint8_t *p, size_t n)
{
	bool open = false, in_psb = false;
	struct pt_packet_state state = {0};
	struct pt_packet pkt;
	size_t at = 0, whole = 0;
	int len;

	while (at < n && (len = pt_packet_decode(p + at, n - at, &state, &pkt)) > 0) {
		at += (size_t)len;
		in_psb = pkt.type == PT_PSB || (in_psb && pkt.type != PT_PSBEND);
		open = opens(&pkt) || (open && !closes(&pkt) && pkt.type != PT_PSBEND);
		if (!in_psb && !open && !state.in_block)
			whole = at;
	}
	return whole;
}

size_t pt_packet_find_psb(const uint8_t *p, size_t n)
{
	const uint8_t *at = p, *end = p + n;
	size_t i;

	while ((size_t)(end - at) >= PT_PSB_LENGTH) {
		at = memchr(at, PT_PKT_EXT, end - at - (PT_PSB_LENGTH - 1));
		if (!at)
			break;
		for (i = 1; i < PT_PSB_LENGTH; i++)
			if (at[i] != (i & 1 ? PT_EXT_PSB : PT_PKT_EXT))
				break;
		if (i == PT_PSB_LENGTH)
			return at - p;
		at++;
	}
	return n;
}
