/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of an ETM's stream that others got wrong, and damage. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "decode/etm/etm_frames.h"
#include "etm_stream.h"

/*
 * Exceptions one behind the other: the second comes before anything ran, so its
 * return address is what ERET led to.
 */
static void back_to_back_exceptions(void **state)
{
	static const char stream[] = "06 1d 95 00 95 08"	/* IRQ at 4000, to 4020 */
				     "f7 07 02 05"	/* ERET, a timestamp */
				     "06 5c 95 00 95 08"	/* IRQ at what it led to */
				     "f7 07 95 00 f7";

	size_t i;

	/* With a return stack, too: nothing is taken from it for such a target. */
	for (i = 0; i < 2; i++) {
		begin();
		s.source.configr |= TRCCONFIGR_TS | (i ? TRCCONFIGR_RS : 0);
		put(SYNC ON);
		put(stream);
		assert_int_equal(expect("[exc e 4000 to 4020] [on 4020] 4020 4024 "
					"[exc e 4000 to 4020] 4020 4024 4000 4004"), 5);
	}
	begin();
	s.source.configr |= TRCCONFIGR_RS;
	put(SYNC ON "f7 f6 f7");	/* bl, b.eq not, ret, and an IRQ where it led to */
	put("06 5c 9a 03 20 00 00 95 08 f7 07 95 03 f7");
	put("9a 06 20 00 00 f7 f7" ON "f7");	/* ret, to where bl was called from */
	expect("[on 4000] 4000 4004 4010 4014 4018 [exc e 400c to 4020] 4020 4024 400c "
	       "4018 4008 400c [off 4000] [on 4000] 4000 4004");
	/* ERET has a target, told somehow. */
	begin();
	s.source.configr |= TRCCONFIGR_RS;
	put(SYNC ON "95 08 f7 f7 90 f7" SYNC ON "f7");
	expect("[on 4020] 4020 4024 [error return] [gap no-sync 3] [on 4000] 4000 4004");
}

/* The number, the preferred return address and the vector, if it is traced. */
static void exception_told(void **state)
{
	begin();
	put(SYNC ON);
	put("f7 06 1d 95 05 95 08 f7");	/* IRQ at 4014 */
	expect("[on 4000] 4000 4004 4010 [exc e 4014 to 4020] 4020 4024");
	begin();
	put(SYNC ON);
	put("06 bf 1f 95 01" ON "f7");	/* number 0x3ff, then a stop */
	expect("[on 4000] 4000 [exc 3ff 4004 to 0] [off 0] [on 4000] 4000 4004");
	/* A system call is the end of its run, not an exception of its own. */
	begin();
	put(SYNC "04 85 02 20 00 00 00 00 00 00 30");
	put("06 05 95 03" ON "f7");
	expect("[on 4008] 4008 [off 0] [on 4000] 4000 4004");
	/* The return address is the target of the branch before, too. */
	begin();
	put(SYNC "04 85 07 20 00 00 00 00 00 00 30");
	put("f7 06 5c 95 00 95 08 f7");
	expect("[on 401c] 401c [exc e 4000 to 4020] 4020 4024");
}

/* Return addresses that the walk never meets: it ends, and decoding goes on. */
static void unreachable_return(void **state)
{
	begin();
	put(SYNC ON);
	put("f7 06 1d 95 00");		/* before where the flow stands */
	put(SYNC ON "f7");
	expect("[on 4000] 4000 4004 [error fup] [gap no-code 0] "
	       "[exc e 4000 to 0] [on 4000] 4000 4004");
	/* Inside an instruction on the way, in the form of T32's addresses. */
	begin();
	put(SYNC ON);
	put("06 1d 96 01 95 08 f7");
	put(SYNC ON "f7");
	expect("[on 4000] [error fup] [gap no-code 0] [exc e 4002 to 4020] "
	       "[on 4020] 4020 4024 [off 0] [on 4000] 4000 4004");
}

/* Where the flow stood before it nobody knows, OpenCSD 1.3.3 least of all. */
static void exception_before_any_address(void **state)
{
	begin();
	put(SYNC "06 1d 95 01");
	put(SYNC ON "f7");
	expect("[error unexpected] [gap no-sync 4] [on 4000] 4000 4004");
}

/* The code above as A32 holds no branch; and is no A32, but that is not asked for. */
#define A32_WALK "[on 4000] 4000 4004 4008 400c 4010 4014 4018 401c 4020 4024 4028 402c"

/* AArch64 or A32 by the context, which may come behind the address. */
static void instruction_set(void **state)
{
	begin();
	put(SYNC "04 9d 00 20 00 00 00 00 00 00 81 30 f7");
	expect("[on 4000] 4000 4004");
	/* A32, in one packet or two, is the same. */
	begin();
	put(SYNC "04 82 00 20 00 00 20 f7" SYNC "04 9a 00 20 00 00 81 20 f7");
	expect(A32_WALK " [gap no-code 16] " A32_WALK " [gap no-code 1]");
	begin();
	put(SYNC "04 86 00 40 00 00 00 00 00 00 20 f7");	/* T32 */
	put(SYNC ON "f7");
	expect("[error mode] [on 4000] 4000 4004");
}

/* No code: the stretch is a gap; addresses in it are none of its business. */
static void no_code(void **state)
{
	begin();
	put(SYNC "04 85 07 20 00 00 00 00 00 00 30");
	put("f7 9a 00 00 80 00");	/* br x16 to 800000 */
	put("f7 f7 95 00 f7");		/* somewhere, and back to 4000... no */
	put("9a 00 20 00 00 f7");
	expect("[on 401c] 401c [gap no-code 10] [on 4000] 4000 4004");
}

/*
 * A return that missing code called: the stack has another's address, which must not
 * be taken.  What known code called since does not suffer.
 */
static void return_to_no_code(void **state)
{
	begin();
	s.source.configr |= TRCCONFIGR_RS;
	put(SYNC ON "f7 f7 f7 9a 00 00 80 00 f7");	/* bl, b.eq, br x16 to 800000 */
	put("9a 06 20 00 00 f7 f7 f7");		/* ret to where it came from */
	put(SYNC ON "f7");
	expect("[on 4000] 4000 4004 4010 4014 401c [gap no-code 6] [on 4018] 4018 "
	       "[gap no-code 17] [on 4000] 4000 4004");
	begin();
	s.source.configr |= TRCCONFIGR_RS;
	put(SYNC ON "f7 f7 f7 9a 00 00 80 00 f7");
	put("9a 00 20 00 00 f7 f6 f7 f7" ON "f7");	/* bl, b.eq not, ret, b */
	expect("[on 4000] 4000 4004 4010 4014 401c [gap no-code 6] "
	       "[on 4000] 4000 4004 4010 4014 4018 4008 400c [off 4000] "
	       "[on 4000] 4000 4004");
}

/*
 * Where that return led to is not known, up to the next address, however that is told:
 * by those before it, of which none is OpenCSD's own.
 */
static void goes_on_at_next_address(void **state)
{
	/* bl, b.eq, br x16 to 800000, from there to ret, and that to where it came from. */
	static const char lost[] = SYNC ON "f7 f7 f7 9a 00 00 80 00 f7 9a 06 20 00 00 f7 f7";
	static const struct {
		const char *hex, *want;
	} rows[] = {
		{"9d 00 20 00 00 00 00 00 00 f7", "[gap no-code 10] [on 4000] 4000 4004"},
		{"95 00 f7", "[gap no-code 3] [on 4000] 4000 4004"},
		{"90 f6", "[gap no-code 2] [on 4018] 4018"},
		{"92 f7 f7", "[gap no-code 2] [on 4000] 4000 4004 4010 4014"},
		{"85 05 20 00 00 00 00 00 00 30 f6", "[gap no-code 11] [on 4014] 4014"},
		{"f7 f7 95 04 f6", "[gap no-code 5] [on 4010] 4010 4014"},
		/* An interrupt of that code, and one of code that is there. */
		{"06 1d 9a 20 00 80 00 9a 08 20 00 00 f7",
		 "[gap no-code 1] [exc e 800080 to 4020] [on 4020] 4020 4024"},
		{"06 1d 95 01 9a 08 20 00 00 f7 07 95 01 f7",
		 "[gap no-code 1] [exc e 4004 to 4020] [on 4020] 4020 4024 4004"},
		{ON "f7", "[gap no-code 1] [on 4000] 4000 4004"},
		{SYNC "9a 00 20 00 00 f7", "[gap no-code 21] [on 4000] 4000 4004"},
	};
	char want[512];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		s.source.configr |= TRCCONFIGR_RS;
		put(lost);
		put(rows[i].hex);
		snprintf(want, sizeof(want),
			 "[on 4000] 4000 4004 4010 4014 401c [gap no-code 6] [on 4018] 4018 %s",
			 rows[i].want);
		expect(want);
	}
}

/* Cut anywhere: the same from the first whole A-sync on, and so much was left out. */
static void cut_front(void **state)
{
	char want[256];
	unsigned int cut;
	size_t n;

	for (cut = 1; cut <= 27; cut++) {
		begin();
		put(SYNC ON "f7 f7");
		n = s.n - cut;
		memmove(s.b, s.b + cut, n);
		s.n = n;
		put(SYNC ON "f7");
		snprintf(want, sizeof(want), "[gap no-sync %zu] [on 4000] 4000 4004", n);
		expect(want);
	}
}

static void put_many(size_t n, const char *hex)
{
	while (n--)
		put(hex);
}

/* A count of instructions, and where it goes on; OpenCSD needs the address with it. */
static void q_elements(void **state)
{
	static const struct {
		unsigned int depth;
		const char *hex, *want;
	} rows[] = {
		{0, "aa 02 20 00 00 02 f6", "[on 4000] 4000 4004 4008 400c"},
		{0, "aa 02 20 00 00 02 95 01 f6", "[on 4000] 4000 4004 4004"},
		{0, "a5 02 02 91 f6", "[on 4000] 4000 4004 4000 4004"},
		{0, "ac 02 95 02 f6", "[error packet] [gap no-sync 5]"},
		{0, "af 95 02 f6", "[error packet] [gap no-sync 4]"},
		{8, "a5 02 02 f6", "[error packet] [gap no-sync 4]"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		s.source.idr[0] |= TRCIDR0_QSUPP_MASK;
		s.source.idr[8] = rows[i].depth;
		put(SYNC ON);
		put(rows[i].hex);
		expect(rows[i].want);
	}
}

/* What was skipped before comes before, and what may have become an A-sync is none. */
static void lost(void **state)
{
	begin();
	put(SYNC ON "f7 08 f7 00 00");
	s.lost_at = s.n;
	put("000000000000000000 80" SYNC ON "f7 9d 08");
	expect("[on 4000] 4000 4004 [error packet] [gap no-sync 3] [gap lost 7] "
	       "[gap no-sync 10] [on 4000] 4000 4004");
	/* Part of a packet, and what was not committed. */
	begin();
	s.source.idr[8] = 8;
	put(SYNC ON "f7 f7 2d 01 9d 08");
	s.lost_at = s.n;
	put("20 00 00 00 00 00 00 f7 2d 01" SYNC ON "f7 2d 01");
	expect("[on 4000] 4000 4004 [gap lost 7] [gap no-sync 10] [on 4000] 4000 4004");
}

/* OpenCSD's cache of code counts beyond the last address. */
static void address_at_the_top(void **state)
{
	begin();
	put(SYNC ON "f7 9d 7f 7f ff ff ff ff ff ff f7");
	expect("[on 4000] 4000 4004 [gap no-code 1]");
}

/* What waits is bounded: for a P0 element, and to be committed. */
static void bounds(void **state)
{
	unsigned int i;

	begin();
	put(SYNC ON);
	put_many(17000, "90");
	put(SYNC ON "f7");
	expect("[error unexpected] [gap no-sync 617] [on 4000] 4000 4004");
	/* It does not wait for ever. */
	begin();
	for (i = 0; i < 20; i++) {
		put(SYNC);
		put_many(1000, "90");
		put("00 05");
	}
	put(SYNC ON "f7");
	assert_null(strstr(text_of(), "error"));
	begin();
	s.source.idr[8] = UINT32_MAX;
	put(SYNC ON);
	put_many(5000, "f7");
	put(SYNC ON "f7 2d 01");
	expect("[error unexpected] [gap no-sync 5000] [on 4000] 4000 4004");
	/* Nor for as many atoms. */
	begin();
	s.source.idr[8] = UINT32_MAX;
	put(SYNC ON);
	put_many(5000, "d4");
	put(SYNC ON "f7 2d 01");
	expect("[error unexpected] [gap no-sync 5000] [on 4000] 4000 4004");
}

/* A number that does not end, and too many zeros for an A-sync. */
static void malformed(void **state)
{
	begin();
	put(SYNC ON "f7 2d 80 80 80 80 80 80");
	put(SYNC ON "f7");
	expect("[on 4000] 4000 4004 [error packet] [gap no-sync 1] [on 4000] 4000 4004");
	begin();
	put(SYNC ON "f7 000000000000");
	put(SYNC ON "f7");
	expect("[on 4000] 4000 4004 [error packet] [gap no-sync 5] [on 4000] 4000 4004");
	begin();
	put(SYNC ON "f7 81 40");	/* a VMID, of which TRCIDR2 has none */
	put(SYNC ON "f7");
	expect("[on 4000] 4000 4004 [error packet] [on 4000] 4000 4004");
}

/* More returns in one packet than the return stack has. */
static void empty_return_stack(void **state)
{
	begin();
	s.source.configr |= TRCCONFIGR_RS;
	put(SYNC ON "9a 06 20 00 00 ff");
	put(SYNC ON "f7");
	expect("[error return] [on 4000] 4000 4004");
	begin();
	s.source.configr |= TRCCONFIGR_RS;
	put(SYNC ON "9a 06 20 00 00 f7 06 1d 95 04 95 08");
	put(SYNC ON "f7");
	expect("[on 4018] 4018 [error return] [gap no-sync 2] [on 4000] 4000 4004");
}

static void damage(void **state)
{
	/* Trace info, a long address, a context, an exception: each swallows what follows. */
	static const char *const lookalikes[] = {
		"01", "01 f7", "01 ff", "85 01", "9d", "81 30", "06 1d", "0e 80", "02", "2d 80",
		"f7 01", "08 08", "00 00 80",
	};
	char want[256];
	size_t i, n;

	begin();
	put(SYNC ON "f7 08");		/* reserved header */
	put("f7 f7");
	put(SYNC ON "f7");
	expect("[on 4000] 4000 4004 [error packet] [gap no-sync 2] [on 4000] 4000 4004");
	/* What comes before the A-sync is taken for nothing, though it looks like much. */
	for (i = 0; i < sizeof(lookalikes) / sizeof(lookalikes[0]); i++) {
		begin();
		put(SYNC ON "f7 08");
		put(lookalikes[i]);
		n = s.n - 28;
		put(SYNC ON "f7");
		snprintf(want, sizeof(want),
			 "[on 4000] 4000 4004 [error packet] [gap no-sync %zu] [on 4000] 4000 4004", n);
		expect(want);
	}
	begin();
	put(SYNC ON "f7 00 05");	/* overflow */
	put(SYNC ON "f7");
	expect("[on 4000] 4000 4004 [gap overflow 0] [on 4000] 4000 4004");
	begin();
	put(SYNC ON "f7 06 1d 00 05");	/* overflow, ahead of an exception's address */
	put(SYNC "06 1d 95 08" SYNC ON "f7");
	expect("[on 4000] 4000 4004 [gap overflow 0] [error unexpected] [gap no-sync 4] "
	       "[on 4000] 4000 4004");
	begin();
	put(SYNC ON "f7 00 03");	/* discard */
	put(SYNC ON "f7");
	expect("[on 4000] 4000 4004 [gap overflow 0] [on 4000] 4000 4004");
	begin();
	put("f7 f7 f7");
	expect("[gap no-sync 3]");
	begin();
	expect("");
}

/* Timestamps to their last bit. */
static void timestamps(void **state)
{
	static const struct {
		const char *hex;
		uint64_t ts;
	} rows[] = {
		{"02 ff ff ff ff ff ff ff ff 7f", 0x7fffffffffffffff},
		{"02 80 80 80 80 80 80 80 80 80", 0x8000000000000000},
		{"02 ff ff ff ff ff ff ff ff ff", 0xffffffffffffffff},
		{"02 01", 1},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		s.source.configr |= TRCCONFIGR_TS;
		put(SYNC);
		put(rows[i].hex);
		put(ON "f7");
		assert_true(expect("[on 4000] 4000 4004") == rows[i].ts);
	}
}

/* One source, told at the beginning of each frame. */
static void put_frames(const uint8_t *bytes, size_t n, uint8_t id)
{
	uint8_t *f = s.b;
	size_t i, at = 0;

	for (; at < n; f += CS_FRAME) {
		memset(f, 0, CS_FRAME);
		f[0] = id << 1 | CS_FRAME_ID;
		for (i = 1; i < CS_FRAME_AUX && at < n; i++, at++) {
			f[i] = i & 1 ? bytes[at] : bytes[at] & ~1u;
			if (!(i & 1))
				f[CS_FRAME_AUX] |= (bytes[at] & 1u) << i / 2;
		}
		/* Padding: the ID in the last place is for what follows. */
		for (; i < CS_FRAME_AUX; i++)
			f[i] = i & 1 ? 0 : CS_FRAME_ID;
	}
	s.n = f - s.b;
}

/* Two sources in one buffer, without times: each is a stream of its own. */
static void two_sources(void **state)
{
	uint8_t raw[2][64], framed[2][256];
	size_t n, size[2], i, at;

	for (i = 0; i < 2; i++) {
		begin();
		put(i ? SYNC ON "f6" : SYNC ON "f7 f6");
		n = s.n;
		memcpy(raw[i], s.b, n);
		memset(s.b, 0, sizeof(s.b));
		put_frames(raw[i], n, 0x10 + i);
		size[i] = s.n;
		memcpy(framed[i], s.b, s.n);
	}
	assert_int_equal(size[0], size[1]);
	begin();
	s.formatted = true;
	for (at = 0; at < size[0]; at += CS_FRAME)
		for (i = 0; i < 2; i++, s.n += CS_FRAME)
			memcpy(s.b + s.n, framed[i] + at, CS_FRAME);
	expect("[on 4000] 4000 4004 4010 4014");
	s.source.traceidr = 0x11;
	expect("[on 4000] 4000 4004");
}

/* Bytes without flow are a source's own, whatever others wrote between them. */
static void gap_among_others(void **state)
{
	static const uint8_t other[CS_FRAME] = {0x11 << 1 | CS_FRAME_ID};
	uint8_t raw[64], framed[8 * CS_FRAME];
	size_t n, at;

	begin();
	put(SYNC "04 85 07 20 00 00 00 00 00 00 30");
	put("f7 9a 00 00 80 00 f7");	/* br x16 to 800000 */
	put("f7 95 00 f7 9a 00 20 00 00 f7");
	n = s.n;
	memcpy(raw, s.b, n);
	put_frames(raw, n, 0x10);
	n = s.n;
	assert_in_range(n, 3 * CS_FRAME, sizeof(framed));
	memcpy(framed, s.b, n);
	begin();
	s.formatted = true;
	for (at = 0; at < n; at += CS_FRAME, s.n += 2 * CS_FRAME) {
		memcpy(s.b + s.n, framed + at, CS_FRAME);
		memcpy(s.b + s.n + CS_FRAME, other, CS_FRAME);
	}
	expect("[on 401c] 401c [gap no-code 10] [on 4000] 4000 4004");
	/* And up to the end. */
	s.n -= 2 * CS_FRAME;
	expect("[on 401c] 401c [gap no-code 10]");
}

static void frames(void **state)
{
	/* The auxiliary bit of the second ID: 'bb' still is the first one's. */
	static const uint8_t late[CS_FRAME] = {0x21, 0xaa, 0x23, 0xbb, 0xcc, 0xdd, 0x21,
					       0xee, 0, 0, 0, 0, 0, 0, 0, 0x02};
	struct etm_segment seg[ETM_FRAME_SEGMENTS];
	uint8_t ff[64], raw[64];
	struct etm_frames f;
	size_t n, got, i, len;

	begin();
	put(SYNC ON "f7 f6");
	n = s.n;
	memcpy(raw, s.b, n);
	put_frames(raw, n, 0x10);
	s.formatted = true;
	expect("[on 4000] 4000 4004 4010 4014");
	etm_frames_init(&f, 0x100);
	n = CS_FRAME;
	assert_int_equal(etm_frames_take(&f, 0x10, late, &n, seg), 2);
	assert_int_equal(seg[0].n, 2);
	assert_int_equal(seg[0].bytes[1], 0xbb);
	assert_int_equal(seg[1].offset, 0x106);
	/* Full syncs of a port are no frames; nor is this worse than that. */
	for (i = 0; i < sizeof(ff); i++)
		ff[i] = i % 8 == 7 ? 0x7f : 0xff;
	for (len = 1; len <= 63; len++) {
		etm_frames_init(&f, 0);
		for (i = 0; i < len; i += n) {
			n = len - i;
			got = etm_frames_take(&f, 0x7f, ff + i, &n, seg);
			assert_in_range(got, 0, ETM_FRAME_SEGMENTS);
		}
		assert_int_equal(f.fill, len % CS_FRAME);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(back_to_back_exceptions),
		cmocka_unit_test(exception_told),
		cmocka_unit_test(unreachable_return),
		cmocka_unit_test(exception_before_any_address),
		cmocka_unit_test(instruction_set),
		cmocka_unit_test(no_code),
		cmocka_unit_test(return_to_no_code),
		cmocka_unit_test(goes_on_at_next_address),
		cmocka_unit_test(cut_front),
		cmocka_unit_test(q_elements),
		cmocka_unit_test(lost),
		cmocka_unit_test(address_at_the_top),
		cmocka_unit_test(bounds),
		cmocka_unit_test(malformed),
		cmocka_unit_test(empty_return_stack),
		cmocka_unit_test(damage),
		cmocka_unit_test(timestamps),
		cmocka_unit_test(two_sources),
		cmocka_unit_test(gap_among_others),
		cmocka_unit_test(frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
