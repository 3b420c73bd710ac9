/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every form of every SPE packet: bytes in, packet and words out.  Each row is also
 * cut at every byte: a prefix of a packet asks for more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "decode/spe/spe_packet.h"

struct row {
	uint8_t bytes[12];
	uint8_t n;
	uint8_t type, index;
	uint64_t payload;
	const char *text;
};

/* Words as perf 6.1 prints them for the same bytes. */
static const struct row rows[] = {
	{{0x00}, 1, SPE_PADDING, 0, 0, "PAD"},
	{{0x01}, 1, SPE_END, 0, 0, "END"},
	{{0x71, 1, 2, 3, 4, 5, 6, 7, 8}, 9, SPE_TIMESTAMP, 0, 0x0807060504030201,
	 "TS 578437695752307201"},
	{{0xb0, 0x78, 0x56, 0x34, 0x12, 0xff, 0xff, 0x00, 0x80}, 9, SPE_ADDRESS, 0,
	 0x8000ffff12345678, "PC 0xffff12345678 el0 ns=1"},
	{{0xb0, 0x10, 0, 0, 0x10, 0, 0, 0xff, 0x40}, 9, SPE_ADDRESS, 0, 0x40ff000010000010,
	 "PC 0xff000010000010 el2 ns=0"},
	{{0xb1, 4, 0, 0, 0, 0, 0, 0, 0xa0}, 9, SPE_ADDRESS, 1, 0xa000000000000004,
	 "TGT 0x4 el1 ns=1"},
	{{0xb2, 4, 0, 0, 0, 0, 0, 0, 0x5a}, 9, SPE_ADDRESS, 2, 0x5a00000000000004,
	 "VA 0x5a00000000000004"},
	{{0xb3, 4, 0, 0, 0, 0, 0, 0, 0xc3}, 9, SPE_ADDRESS, 3, 0xc300000000000004,
	 "PA 0x4 ns=1 ch=1 pat=3"},
	{{0xb4, 4, 0, 0, 0, 0, 0, 0, 0x80}, 9, SPE_ADDRESS, 4, 0x8000000000000004,
	 "PBT 0x4 el0 ns=1"},
	{{0xb5, 4, 0, 0, 0, 0, 0, 0, 0x80}, 9, SPE_ADDRESS, 5, 0x8000000000000004,
	 "ADDR 0x8000000000000004 (5)"},
	{{0x21, 0xb2, 1, 0, 0, 0, 0, 0, 0, 0}, 10, SPE_ADDRESS, 10, 1, "ADDR 0x1 (10)"},
	{{0x98, 0x34, 0x12}, 3, SPE_COUNTER, 0, 0x1234, "LAT 4660 TOT"},
	{{0x99, 5, 0}, 3, SPE_COUNTER, 1, 5, "LAT 5 ISSUE"},
	{{0x9a, 0xff, 0xff}, 3, SPE_COUNTER, 2, 0xffff, "LAT 65535 XLAT"},
	{{0x20, 0x9b, 1, 0}, 4, SPE_COUNTER, 3, 1, "LAT 1 "},
	{{0x64, 0xd2, 0x04, 0, 0}, 5, SPE_CONTEXT, 0, 1234, "CONTEXT 0x4d2 el1"},
	{{0x65, 0xff, 0xff, 0xff, 0xff}, 5, SPE_CONTEXT, 1, 0xffffffff,
	 "CONTEXT 0xffffffff el2"},
	{{0x48, 0x00}, 2, SPE_OPERATION, 0, 0, "OTHER INSN-OTHER"},
	{{0x48, 0x01}, 2, SPE_OPERATION, 0, 1, "OTHER COND-SELECT"},
	{{0x48, 0x3e}, 2, SPE_OPERATION, 0, 0x3e, "SVE-OTHER EVLEN 256 FP PRED"},
	{{0x49, 0x00}, 2, SPE_OPERATION, 1, 0, "LD GP-REG"},
	{{0x49, 0x01}, 2, SPE_OPERATION, 1, 1, "ST GP-REG"},
	{{0x49, 0x04}, 2, SPE_OPERATION, 1, 4, "LD SIMD-FP"},
	{{0x49, 0x1f}, 2, SPE_OPERATION, 1, 0x1f, "ST AT EXCL AR"},
	{{0x49, 0x0a}, 2, SPE_OPERATION, 1, 0x0a, "LD EXCL"},
	{{0x49, 0x10}, 2, SPE_OPERATION, 1, 0x10, "LD UNSPEC-REG"},
	{{0x49, 0x14}, 2, SPE_OPERATION, 1, 0x14, "LD MTE-TAG"},
	{{0x49, 0x30}, 2, SPE_OPERATION, 1, 0x30, "LD NV-SYSREG"},
	{{0x49, 0x20}, 2, SPE_OPERATION, 1, 0x20, "LD MEMCPY"},
	{{0x49, 0x25}, 2, SPE_OPERATION, 1, 0x25, "ST MEMSET"},
	{{0x49, 0x9d}, 2, SPE_OPERATION, 1, 0x9d, "ST EVLEN 64 PRED SG"},
	{{0x4a, 0x00}, 2, SPE_OPERATION, 2, 0, "B"},
	{{0x4a, 0x01}, 2, SPE_OPERATION, 2, 1, "B COND"},
	{{0x4a, 0x02}, 2, SPE_OPERATION, 2, 2, "B IND"},
	{{0x4b, 0x02}, 2, SPE_OPERATION, 3, 2, "OP-TYPE 0x2 (3)"},
	{{0x42, 0x02}, 2, SPE_EVENTS, 0, 2, "EV RETIRED"},
	{{0x52, 0x16, 0x00}, 3, SPE_EVENTS, 0, 0x16, "EV RETIRED L1D-ACCESS TLB-ACCESS"},
	{{0x62, 0xff, 0x0f, 0x06, 0x00}, 5, SPE_EVENTS, 0, 0x60fff,
	 "EV EXCEPTION-GEN RETIRED L1D-ACCESS L1D-REFILL TLB-ACCESS TLB-REFILL NOT-TAKEN "
	 "MISPRED LLC-ACCESS LLC-REFILL REMOTE-ACCESS ALIGNMENT SVE-PARTIAL-PRED "
	 "SVE-EMPTY-PRED"},
	{{0x43, 0x0e}, 2, SPE_SOURCE, 0, 14, "DATA-SOURCE 14"},
	{{0x53, 0x08, 0x01}, 3, SPE_SOURCE, 0, 0x108, "DATA-SOURCE 264"},
};

static void check_row(const struct row *r)
{
	char text[SPE_PACKET_TEXT_MAX];
	struct spe_packet pkt;
	size_t n;

	for (n = 0; n < r->n; n++)
		assert_int_equal(spe_packet_decode(r->bytes, n, 0, &pkt), 0);
	assert_int_equal(spe_packet_decode(r->bytes, sizeof(r->bytes), 0, &pkt), r->n);
	assert_int_equal(pkt.type, r->type);
	assert_int_equal(pkt.length, r->n);
	assert_int_equal(pkt.index, r->index);
	assert_true(pkt.payload == r->payload);
	assert_true(spe_packet_format(&pkt, text, sizeof(text)) == (int)strlen(text));
	assert_string_equal(text, r->text);
}

static void test_rows(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
}

static void test_unknown(void **state)
{
	static const uint8_t unknown[][2] = {{0x02}, {0x41}, {0xff}, {0x70}, {0x61}, {0x20, 0x01},
					     {0x20, 0x42}, {0xc0}, {0x30}};
	struct spe_packet pkt;
	size_t i;

	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		assert_int_equal(spe_packet_decode(unknown[i], 2, 0, &pkt), -EINVAL);
		assert_int_equal(pkt.type, SPE_BAD);
		assert_int_equal(pkt.length, 1);
	}
}

static void test_alignment(void **state)
{
	static const struct {
		uint8_t hdr;
		uint64_t position;
		int length;
	} cases[] = {{0x20, 0, 2}, {0x20, 1, 3}, {0x21, 0, 4}, {0x21, 1, 3}, {0x22, 5, 3},
		     {0x23, 0, 16}, {0x23, 14, 2}, {0x23, 15, 17}, {0x23, 100, 12}};
	struct spe_packet pkt;
	uint8_t bytes[2] = {0};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bytes[0] = cases[i].hdr;
		assert_int_equal(spe_packet_decode(bytes, 1, cases[i].position, &pkt), 0);
		assert_int_equal(spe_packet_decode(bytes, 2, cases[i].position, &pkt),
				 cases[i].length);
		assert_int_equal(pkt.type, SPE_ALIGNMENT);
	}
}

/* All 64 bits have a name, and the longest line fits. */
static void test_all_events(void **state)
{
	static const uint8_t all[9] = {0x72, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	char text[SPE_PACKET_TEXT_MAX], small[16];
	struct spe_packet pkt;
	const char *at;
	int i, words = 0;

	assert_int_equal(spe_packet_decode(all, sizeof(all), 0, &pkt), 9);
	assert_in_range(spe_packet_format(&pkt, text, sizeof(text)), 1, sizeof(text) - 1);
	for (at = text; (at = strchr(at, ' ')); at++)
		words++;
	assert_int_equal(words, 64);
	for (i = 0; i < 64; i++)
		assert_non_null(strstr(text, spe_event_name((unsigned int)i)));
	/* As snprintf: what it would have been, and a string in any case. */
	assert_int_equal(spe_packet_format(&pkt, small, sizeof(small)), strlen(text));
	assert_int_equal(strlen(small), sizeof(small) - 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_all_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
