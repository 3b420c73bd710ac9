/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every form of every packet and its boundaries: bytes and state in, packet
 * and state out.  Each row is also cut at every byte: a prefix of a good
 * packet asks for more and changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "decode/pt/pt_packet.h"

struct row {
	uint8_t bytes[20];
	uint8_t n;
	struct pt_packet_state in;
	struct pt_packet pkt;		/* length 0: all n bytes */
	struct pt_packet_state out;
	bool same;			/* out is in */
};

/* The last argument of B() is the number of bytes. */
#define B(count, ...) .bytes = {__VA_ARGS__}, .n = (count)
#define P(...) .pkt = {__VA_ARGS__}
#define SAME .same = true
#define BADROW P(.type = PT_BAD, .length = 1), SAME
#define PSB8 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82
#define LAST(ip) .in = {.last_ip = (ip)}
#define NEWIP(ip) .out = {.last_ip = (ip)}
#define BLK(b) .in = {.in_block = (b)}
#define ADDR 0x123456789abcdef0ull

#define IP_ROWS(op, what) \
	{B(1, op), LAST(ADDR), P(.type = what), SAME}, \
	{B(3, 0x20 | op, 0x01, 0x02), LAST(ADDR), \
	 P(.type = what, .ip_bytes = 1, .payload = 0x123456789abc0201), \
	 NEWIP(0x123456789abc0201)}, \
	{B(5, 0x40 | op, 1, 2, 3, 4), LAST(ADDR), \
	 P(.type = what, .ip_bytes = 2, .payload = 0x1234567804030201), \
	 NEWIP(0x1234567804030201)}, \
	{B(7, 0x60 | op, 1, 2, 3, 4, 5, 6), LAST(ADDR), \
	 P(.type = what, .ip_bytes = 3, .payload = 0x060504030201), \
	 NEWIP(0x060504030201)}, \
	{B(7, 0x60 | op, 1, 2, 3, 4, 5, 0x86), LAST(ADDR), \
	 P(.type = what, .ip_bytes = 3, .payload = 0xffff860504030201), \
	 NEWIP(0xffff860504030201)}, \
	{B(7, 0x80 | op, 1, 2, 3, 4, 5, 0x86), LAST(ADDR), \
	 P(.type = what, .ip_bytes = 4, .payload = 0x1234860504030201), \
	 NEWIP(0x1234860504030201)}, \
	{B(9, 0xc0 | op, 1, 2, 3, 4, 5, 6, 7, 8), LAST(ADDR), \
	 P(.type = what, .ip_bytes = 6, .payload = 0x0807060504030201), \
	 NEWIP(0x0807060504030201)}, \
	/* first after a PSB: compressed against zero */ \
	{B(3, 0x20 | op, 0xff, 0xff), LAST(0), \
	 P(.type = what, .ip_bytes = 1, .payload = 0xffff), NEWIP(0xffff)}, \
	{B(5, 0x40 | op, 0, 0, 0, 0x80), LAST(0), \
	 P(.type = what, .ip_bytes = 2, .payload = 0x80000000), NEWIP(0x80000000)}, \
	{B(1, 0xa0 | op), LAST(ADDR), BADROW}, \
	{B(1, 0xe0 | op), LAST(ADDR), BADROW}

static const struct row rows[] = {
	{B(1, 0x00), LAST(ADDR), P(.type = PT_PAD), SAME},
	/* TNT, short: 33.4.2.1 */
	{B(1, 0x04), P(.type = PT_TNT, .count = 1, .payload = 0), SAME},
	{B(1, 0x06), P(.type = PT_TNT, .count = 1, .payload = 1), SAME},
	{B(1, 0x08), P(.type = PT_TNT, .count = 2, .payload = 0), SAME},
	{B(1, 0x0a), P(.type = PT_TNT, .count = 2, .payload = 1), SAME},
	{B(1, 0x0e), P(.type = PT_TNT, .count = 2, .payload = 3), SAME},
	{B(1, 0x1a), P(.type = PT_TNT, .count = 3, .payload = 5), SAME},
	{B(1, 0x3e), P(.type = PT_TNT, .count = 4, .payload = 15), SAME},
	{B(1, 0x40), P(.type = PT_TNT, .count = 5, .payload = 0), SAME},
	{B(1, 0x80), P(.type = PT_TNT, .count = 6, .payload = 0), SAME},
	{B(1, 0xaa), P(.type = PT_TNT, .count = 6, .payload = 0x15), SAME},
	{B(1, 0xfe), P(.type = PT_TNT, .count = 6, .payload = 0x3f), SAME},
	/* TNT, long */
	{B(8, 2, 0xa3, 2, 0, 0, 0, 0, 0), P(.type = PT_TNT, .count = 1), SAME},
	{B(8, 2, 0xa3, 3, 0, 0, 0, 0, 0),
	 P(.type = PT_TNT, .count = 1, .payload = 1), SAME},
	{B(8, 2, 0xa3, 0x80, 0, 0, 0, 0, 0), P(.type = PT_TNT, .count = 7), SAME},
	{B(8, 2, 0xa3, 0, 1, 0, 0, 0, 0), P(.type = PT_TNT, .count = 8), SAME},
	{B(8, 2, 0xa3, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
	 P(.type = PT_TNT, .count = 46, .payload = 0x3fffffffffff), SAME},
	{B(8, 2, 0xa3, 0, 0, 0, 0, 0, 0x80), P(.type = PT_TNT, .count = 47), SAME},
	{B(8, 2, 0xa3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	 P(.type = PT_TNT, .count = 47, .payload = 0x7fffffffffff), SAME},
	{B(8, 2, 0xa3, 0, 0, 0, 0, 0, 0), BADROW},
	{B(8, 2, 0xa3, 1, 0, 0, 0, 0, 0), BADROW},
	IP_ROWS(PT_PKT_TIP, PT_TIP),
	IP_ROWS(PT_PKT_TIP_PGE, PT_TIP_PGE),
	IP_ROWS(PT_PKT_TIP_PGD, PT_TIP_PGD),
	IP_ROWS(PT_PKT_FUP, PT_FUP),
	/* MODE */
	{B(2, 0x99, 0x00), P(.type = PT_MODE_EXEC, .count = 16), SAME},
	{B(2, 0x99, 0x01), P(.type = PT_MODE_EXEC, .count = 64, .payload = 1), SAME},
	{B(2, 0x99, 0x02), P(.type = PT_MODE_EXEC, .count = 32, .payload = 2), SAME},
	{B(2, 0x99, 0x03), P(.type = PT_MODE_EXEC, .count = 0, .payload = 3), SAME},
	{B(2, 0x99, 0x05), P(.type = PT_MODE_EXEC, .count = 64, .payload = 5), SAME},
	{B(2, 0x99, 0x20), P(.type = PT_MODE_TSX, .payload = 0), SAME},
	{B(2, 0x99, 0x21), P(.type = PT_MODE_TSX, .payload = 1), SAME},
	{B(2, 0x99, 0x22), P(.type = PT_MODE_TSX, .payload = 2), SAME},
	{B(2, 0x99, 0x45), P(.type = PT_MODE_OTHER, .count = 2, .payload = 5), SAME},
	{B(2, 0x99, 0xff), P(.type = PT_MODE_OTHER, .count = 7, .payload = 31), SAME},
	/* PIP, VMCS */
	{B(8, 2, 0x43, 2, 4, 6, 8, 10, 12),
	 P(.type = PT_PIP, .payload = 0xc0a08060402ull >> 1 << 5), SAME},
	{B(8, 2, 0x43, 3, 4, 6, 8, 10, 12),
	 P(.type = PT_PIP, .payload = 0xc0a08060402ull >> 1 << 5, .payload2 = 1), SAME},
	{B(8, 2, 0x43, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	 P(.type = PT_PIP, .payload = 0xfffffffffffe0, .payload2 = 1), SAME},
	{B(7, 2, 0xc8, 1, 2, 3, 4, 5), P(.type = PT_VMCS, .payload = 0x504030201000), SAME},
	/* timing */
	{B(4, 2, 3, 0x12, 0), P(.type = PT_CBR, .payload = 0x12), SAME},
	{B(4, 2, 3, 0xff, 0xff), P(.type = PT_CBR, .payload = 0xff), SAME},
	{B(8, 0x19, 1, 2, 3, 4, 5, 6, 7),
	 P(.type = PT_TSC, .payload = 0x7060504030201), SAME},
	{B(8, 0x19, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	 P(.type = PT_TSC, .payload = 0xffffffffffffff), SAME},
	{B(7, 2, 0x73, 1, 2, 0, 3, 0), P(.type = PT_TMA, .payload = 0x201, .payload2 = 3), SAME},
	{B(7, 2, 0x73, 0xff, 0xff, 0xff, 0xff, 0xff),
	 P(.type = PT_TMA, .payload = 0xffff, .payload2 = 0x1ff), SAME},
	{B(2, 0x59, 0x00), P(.type = PT_MTC, .payload = 0), SAME},
	{B(2, 0x59, 0xff), P(.type = PT_MTC, .payload = 0xff), SAME},
	{B(1, 0x03), P(.type = PT_CYC, .payload = 0), SAME},
	{B(1, 0x0b), P(.type = PT_CYC, .payload = 1), SAME},
	{B(1, 0xfb), P(.type = PT_CYC, .payload = 0x1f), SAME},
	{B(2, 0x07, 0x02), P(.type = PT_CYC, .payload = 0x20), SAME},
	{B(2, 0xff, 0xfe), P(.type = PT_CYC, .payload = 0xfff), SAME},
	{B(3, 0x07, 0x01, 0x02), P(.type = PT_CYC, .payload = 0x1000), SAME},
	{B(3, 0xff, 0xff, 0xfe), P(.type = PT_CYC, .payload = 0x7ffff), SAME},
	{B(4, 0x07, 0x01, 0x01, 0x02), P(.type = PT_CYC, .payload = 0x80000), SAME},
	{B(8, 0x07, 1, 1, 1, 1, 1, 1, 2),
	 P(.type = PT_CYC, .payload = 1ull << 47), SAME},
	{B(9, 0x07, 1, 1, 1, 1, 1, 1, 1, 2),
	 P(.type = PT_CYC, .payload = 1ull << 54), SAME},
	{B(10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0e),
	 P(.type = PT_CYC, .payload = ~0ull), SAME},
	{B(10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1e), BADROW},
	{B(11, 0x07, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0), BADROW},
	/* sync, loss, stop, padding */
	{B(16, PSB8), LAST(ADDR), P(.type = PT_PSB), NEWIP(0)},
	{B(16, PSB8), BLK(1), P(.type = PT_PSB), .out = {0}},
	{B(2, 2, 0x23), LAST(ADDR), P(.type = PT_PSBEND), SAME},
	{B(2, 2, 0xf3), LAST(ADDR), P(.type = PT_OVF), SAME},
	{B(2, 2, 0xf3), BLK(2), P(.type = PT_OVF), .out = {0}},
	{B(2, 2, 0x83), P(.type = PT_TRACESTOP), SAME},
	{B(11, 2, 0xc3, 0x88, 1, 2, 3, 4, 5, 6, 7, 8),
	 P(.type = PT_MNT, .payload = 0x0807060504030201), SAME},
	{B(3, 2, 0xc3, 0x89), BADROW},
	/* PTWRITE */
	{B(6, 2, 0x12, 1, 2, 3, 4),
	 P(.type = PT_PTW, .payload = 0x4030201, .payload2 = 4), SAME},
	{B(10, 2, 0x32, 1, 2, 3, 4, 5, 6, 7, 8),
	 P(.type = PT_PTW, .payload = 0x0807060504030201, .payload2 = 8), SAME},
	{B(6, 2, 0x92, 1, 2, 3, 4),
	 P(.type = PT_PTW, .payload = 0x4030201, .payload2 = 4, .count = 1), SAME},
	{B(10, 2, 0xb2, 1, 2, 3, 4, 5, 6, 7, 8),
	 P(.type = PT_PTW, .payload = 0x0807060504030201, .payload2 = 8, .count = 1), SAME},
	{B(2, 2, 0x52), BADROW},
	{B(2, 2, 0x72), BADROW},
	{B(2, 2, 0xd2), BADROW},
	{B(2, 2, 0xf2), BADROW},
	/* power */
	{B(2, 2, 0x62), P(.type = PT_EXSTOP), SAME},
	{B(2, 2, 0xe2), P(.type = PT_EXSTOP, .count = 1), SAME},
	{B(10, 2, 0xc2, 1, 0, 0, 0, 2, 0, 0, 0),
	 P(.type = PT_MWAIT, .payload = 1, .payload2 = 2), SAME},
	{B(4, 2, 0x22, 0x80, 0x34),
	 P(.type = PT_PWRE, .payload = 3, .payload2 = 4, .count = 1), SAME},
	{B(4, 2, 0x22, 0x00, 0x56), P(.type = PT_PWRE, .payload = 5, .payload2 = 6), SAME},
	{B(7, 2, 0xa2, 0x5f, 0x04, 0, 0, 0),
	 P(.type = PT_PWRX, .payload = 5, .payload2 = 0xf, .count = 4), SAME},
	/* blocks of items: 33.4.2.22 to 24 */
	{B(3, 2, 0x63, 0x00), P(.type = PT_BBP), .out = {.in_block = 2}},
	{B(3, 2, 0x63, 0x80), P(.type = PT_BBP, .count = 1), .out = {.in_block = 1}},
	{B(3, 2, 0x63, 0x9f), P(.type = PT_BBP, .count = 1, .payload = 0x1f),
	 .out = {.in_block = 1}},
	{B(5, 0x04, 1, 2, 3, 4), BLK(1),
	 P(.type = PT_BIP, .payload = 0, .payload2 = 0x4030201), SAME},
	{B(5, 0xfc, 1, 2, 3, 4), BLK(1),
	 P(.type = PT_BIP, .payload = 0x1f, .payload2 = 0x4030201), SAME},
	{B(9, 0x0c, 1, 2, 3, 4, 5, 6, 7, 8), BLK(2),
	 P(.type = PT_BIP, .payload = 1, .payload2 = 0x0807060504030201), SAME},
	{B(1, 0x06), BLK(1), P(.type = PT_TNT, .count = 1, .payload = 1), .out = {0}},
	{B(1, 0x00), BLK(1), P(.type = PT_PAD), SAME},
	{B(2, 0x59, 1), BLK(1), P(.type = PT_MTC, .payload = 1), SAME},
	{B(1, 0x0b), BLK(2), P(.type = PT_CYC, .payload = 1), SAME},
	{B(4, 2, 3, 8, 0), BLK(2), P(.type = PT_CBR, .payload = 8), SAME},
	{B(1, 0x1d), BLK(1), P(.type = PT_FUP), SAME},
	{B(1, 0x0d), BLK(1), P(.type = PT_TIP), .out = {0}},
	{B(2, 0x99, 0x01), BLK(1), P(.type = PT_MODE_EXEC, .count = 64, .payload = 1),
	 .out = {0}},
	{B(2, 2, 0x33), BLK(1), P(.type = PT_BEP), .out = {0}},
	{B(2, 2, 0xb3), BLK(2), P(.type = PT_BEP, .count = 1), .out = {0}},
	/* events */
	{B(4, 2, 0x13, 0x01, 0x0e), P(.type = PT_CFE, .payload = 1, .payload2 = 14), SAME},
	{B(4, 2, 0x13, 0x82, 0xff),
	 P(.type = PT_CFE, .payload = 2, .payload2 = 255, .count = 1), SAME},
	{B(11, 2, 0x53, 0x00, 1, 2, 3, 4, 5, 6, 7, 8),
	 P(.type = PT_EVD, .payload = 0x0807060504030201), SAME},
	{B(11, 2, 0x53, 0x3f, 1, 2, 3, 4, 5, 6, 7, 8),
	 P(.type = PT_EVD, .payload = 0x0807060504030201, .payload2 = 0x3f), SAME},
	{B(3, 0xd9, 0x00, 0x05), P(.type = PT_TRIG, .payload = 5), SAME},
	{B(5, 0xd9, 0xc0, 0x01, 2, 1),
	 P(.type = PT_TRIG, .count = 0xc0, .payload = 1, .payload2 = 0x102), SAME},
	/* what no manual names */
	{B(2, 2, 0xff), LAST(ADDR), BADROW},
	{B(2, 2, 0x00), BADROW},
	{B(2, 2, 0x02), BADROW},
	{B(3, 2, 0x82, 0x03), LAST(ADDR), BADROW},
	{B(16, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x83),
	 LAST(ADDR), BADROW},
	{B(1, 0xc9), BADROW},
	{B(1, 0x05), BADROW},
	{B(1, 0x09), BADROW},
	{B(1, 0x15), BADROW},
	{B(1, 0x39), BADROW},
	{B(1, 0x79), BADROW},
	{B(1, 0xb9), BADROW},
	{B(1, 0xf9), BADROW},
};

static void check_row(size_t i)
{
	const struct row *row = &rows[i];
	struct pt_packet_state state = row->in, out = row->same ? row->in : row->out;
	struct pt_packet pkt, want = row->pkt;
	uint8_t exact[20];
	int rc;

	if (!want.length)
		want.length = row->n;
	memset(&pkt, 0xa5, sizeof(pkt));
	memcpy(exact, row->bytes, row->n);
	rc = pt_packet_decode(exact, row->n, &state, &pkt);
	if (rc != (want.type == PT_BAD ? -EINVAL : row->n) || pkt.type != want.type ||
	    pkt.length != want.length || pkt.ip_bytes != want.ip_bytes ||
	    pkt.count != want.count || pkt.payload != want.payload ||
	    pkt.payload2 != want.payload2 || state.last_ip != out.last_ip ||
	    state.in_block != out.in_block)
		fail_msg("row %zu (%s): rc %d type %s length %u form %u count %u payload "
			 "%#llx %#llx, last_ip %#llx block %u", i,
			 pt_packet_name(want.type), rc, pt_packet_name(pkt.type),
			 pkt.length, pkt.ip_bytes, pkt.count,
			 (unsigned long long)pkt.payload, (unsigned long long)pkt.payload2,
			 (unsigned long long)state.last_ip, state.in_block);
}

static void table(void **s)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(i);
	print_message("%zu rows\n", i);
}

static void cut_anywhere(void **s)
{
	struct pt_packet pkt;
	size_t i, n;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].pkt.type == PT_BAD)
			continue;
		for (n = 0; n < rows[i].n; n++) {
			struct pt_packet_state state = rows[i].in;

			assert_int_equal(
				pt_packet_decode(rows[i].bytes, n, &state, &pkt), 0);
			assert_int_equal(state.last_ip, rows[i].in.last_ip);
			assert_int_equal(state.in_block, rows[i].in.in_block);
		}
	}
}

/* Every one- and two-byte beginning does something that makes sense. */
static void every_beginning(void **s)
{
	struct pt_packet pkt;
	unsigned int v, block;
	char text[128];
	int rc;

	for (block = 0; block < 3; block++) {
		for (v = 0; v < 0x10000; v++) {
			struct pt_packet_state state = {.in_block = block};
			uint8_t b[20] = {v & 0xff, v >> 8};

			rc = pt_packet_decode(b, sizeof(b), &state, &pkt);
			assert_true(rc == -EINVAL ? pkt.type == PT_BAD && pkt.length == 1
						  : rc > 0 && rc == pkt.length);
			rc = pt_packet_format(&pkt, text, sizeof(text));
			assert_true(rc > 0 && (size_t)rc < sizeof(text));
			assert_string_not_equal(pt_packet_name(pkt.type), "");
		}
	}
}

static void text(void **s)
{
	static const struct {
		struct pt_packet pkt;
		const char *want;
	} t[] = {
		{{.type = PT_TNT, .count = 3, .payload = 5}, "TNT TNT (3)"},
		{{.type = PT_TIP, .ip_bytes = 3, .payload = 0x401000}, "TIP 0x401000"},
		{{.type = PT_TIP_PGD}, "TIP.PGD no ip"},
		{{.type = PT_MODE_EXEC, .count = 64, .payload = 5}, "MODE.Exec 64 IF"},
		{{.type = PT_TMA, .payload = 0x12, .payload2 = 3}, "TMA ctc 0x12 fc 0x3"},
		{{.type = PT_PSB}, "PSB"},
		{{.type = PT_EXSTOP, .count = 1}, "EXSTOP ip 1"},
		{{.type = 200}, "BAD"},
	};
	char buf[64];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(pt_packet_format(&t[i].pkt, buf, sizeof(buf)),
				 strlen(t[i].want));
		assert_string_equal(buf, t[i].want);
	}
	assert_string_equal(pt_packet_name(PT_PACKET_MAX), "BAD");
	/* snprintf's way: cut, and the whole length told */
	assert_int_equal(pt_packet_format(&t[1].pkt, buf, 4), 12);
	assert_string_equal(buf, "TIP");
}

static void find_psb(void **s)
{
	uint8_t b[64];
	size_t at, n;

	for (n = 0; n < sizeof(b); n++)
		for (at = 0; at <= n; at++) {
			static const uint8_t psb[] = {PSB8};
			bool fits = at + sizeof(psb) <= n;

			memset(b, 2, sizeof(b));
			memcpy(b + at, psb, fits ? sizeof(psb) : n - at);
			assert_int_equal(pt_packet_find_psb(b, n), fits ? at : n);
		}
}

static void whole(void **s)
{
	static const struct {
		const char *what;
		uint8_t bytes[64], n;
		uint8_t ends[8];	/* where packets are whole, beside 0 */
	} t[] = {
		{"PAD, TNT, TIP", {0, 6, 0x4d, 1, 2, 3, 4}, 7, {1, 2, 7}},
		{"a byte that is no packet", {6, 0x05, 0, 6, 6}, 5, {1}},
		{"PSB+ with CBR and FUP", {6, PSB8, 2, 3, 9, 0, 0x3d, 1, 2, 2, 0x23, 6}, 27,
		 {1, 26, 27}},
		{"FUP, TIP.PGD", {6, 0x3d, 1, 2, 1, 6}, 6, {1, 5, 6}},
		{"FUP, MTC, TIP", {0x3d, 1, 2, 0x59, 7, 0x2d, 1, 2}, 8, {8}},
		{"OVF, FUP, TNT", {2, 0xf3, 0x3d, 1, 2, 6}, 6, {2, 6}},
		{"MODE.Exec, TIP.PGE", {0x99, 1, 0x31, 1, 2}, 5, {5}},
		{"MODE.TSX, FUP, TIP", {0x99, 0x20, 0x3d, 1, 2, 0x2d, 1, 2}, 8, {8}},
		{"PTW without FUP, with one, TNT",
		 {2, 0x12, 1, 2, 3, 4, 2, 0x92, 1, 2, 3, 4, 0x3d, 1, 2, 6}, 16, {6, 16}},
		{"BBP, BIP, BEP", {6, 2, 0x63, 1, 0x0c, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0x33, 6}, 16,
		 {1, 15, 16}},
	};
	size_t i, n, end, at;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (n = end = at = 0; n <= t[i].n; n++) {
			if (t[i].ends[at] && n >= t[i].ends[at])
				end = t[i].ends[at++];
			if (pt_packet_whole(t[i].bytes, n) != end)
				fail_msg("%s: %zu of %zu bytes, not %zu", t[i].what,
					 pt_packet_whole(t[i].bytes, n), n, end);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table), cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(every_beginning), cmocka_unit_test(text),
		cmocka_unit_test(find_psb), cmocka_unit_test(whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
