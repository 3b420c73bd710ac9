/* SPDX-License-Identifier: BSD-2-Clause */
/* What the unit in software never writes: speculation, and ETE. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "etm_stream.h"

/* Speculation (TRCIDR8): what is committed by and by, or cancelled. */
static void speculation(void **state)
{
	begin();
	s.source.idr[8] = 8;
	put(SYNC ON);
	put("f7 f7");			/* two blocks: 4000 4004, 4010 4014 taken */
	put("2d 01");			/* the first is committed */
	put("2e 01");			/* the second did not happen */
	put("f6");			/* it went the other way */
	put("2d 01");
	expect("[on 4000] 4000 4004 4010 4014");
	begin();
	s.source.idr[8] = 8;
	put(SYNC ON "f7 f7 30 2d 02");	/* mispredicted: the second was N */
	expect("[on 4000] 4000 4004 4010 4014");
	/* More committed than there is. */
	begin();
	s.source.idr[8] = 8;
	put(SYNC ON "f7 2d 05");
	expect("[error packet] [gap no-sync 3]");
}

#define SYNC_3	"0000000000000000000000 80 01 04 03"	/* three are not committed yet */

static void speculation_rows(void **state)
{
	static const struct {
		unsigned int depth;	/* TRCIDR8: how far it goes */
		const char *hex, *want;
	} rows[] = {
		/* What is left at the end did not happen, as far as is known. */
		{8, SYNC ON "f7 f7 2d 01", "[on 4000] 4000 4004"},
		{8, SYNC ON "f7 f7", ""},
		/* Cancelled: it goes on where the last that is left had led to. */
		{8, SYNC ON "f7 f7 f7 2e 02 2d 01", "[on 4000] 4000 4004"},
		{8, SYNC ON "f7 f7 2e 02 f7 2d 01", "[on 4000] 4000 4004"},
		{8, SYNC ON "f7 f7 34 2d 01", "[on 4000] 4000 4004"},
		/* An exception is one of them, cancelled or committed with its flow. */
		{8, SYNC ON "f7 06 1d 95 04 95 08 2e 01 2d 01", "[on 4000] 4000 4004"},
		{8, SYNC ON "f7 06 1d 95 04 95 08 2d 02 f7 2d 01",
		 "[on 4000] 4000 4004 [exc e 4010 to 4020] 4020 4024"},
		{8, SYNC ON "f7 f7 2e 01 06 1d 95 04 95 08 2d 02 f7 2d 01",
		 "[on 4000] 4000 4004 [exc e 4010 to 4020] 4020 4024"},
		/* Refused once it is committed: what waits behind it is skipped as well. */
		{8, SYNC "06 1d 95 04 f7 f7 f7 f7 f7 f7 f7 f7 f7",
		 "[error unexpected] [gap no-sync 13]"},
		/* Deeper than the unit goes: the oldest is committed. */
		{2, SYNC ON "f7 f7 f7", "[on 4000] 4000 4004"},
		/* A sync point on the way says how many there are. */
		{8, SYNC ON "f7 f7 f7" SYNC_3 "85 00 20 00 00 00 00 00 00 30 2d 03 f7 2d 01",
		 "[on 4000] 4000 4004 4010 4014 401c 4000 4004"},
		{8, SYNC ON "f7 f7 f7" SYNC_3 "2d 03", "[on 4000] 4000 4004 4010 4014 401c"},
		/* Mispredicted: what it led to is not so, whatever came between. */
		{8, SYNC ON "f7 f7 02 05 95 08 30 f6 2d 03",
		 "[on 4000] 4000 4004 4010 4014 4018"},
		{8, SYNC ON "f7 82 08 20 00 00 30 30 f6 2d 02", "[on 4000] 4000 4004 4008 400c"},
		{8, SYNC ON "f7 f7 02 05 95 08 2f 01 f6 2d 02", "[on 4000] 4000 4004 4008 400c"},
		/* The atoms of such a packet come before it. */
		{8, SYNC ON "f7 33 f7 2d 03", "[on 4000] 4000 4004 4010 4014 401c"},
		{8, SYNC ON "36 2d 01", "[on 4000] 4000 4004"},
		{8, SYNC ON "f7 39 f6 2d 01", "[error packet] [gap no-sync 4]"},
		{8, SYNC ON "f7 f7 39 f6 2d 02", "[on 4000] 4000 4004 4008 400c"},
		/* No atom is left, or none was there. */
		{8, SYNC ON "95 08 30", "[error packet] [gap no-sync 1]"},
		{8, SYNC ON "f7 95 08 2f 01", "[error packet] [gap no-sync 2]"},
		{0, SYNC ON "f7 95 08 30", "[on 4000] 4000 4004 [error packet] [gap no-sync 1]"},
		/* An address that was cancelled is one that others are told by. */
		{8, SYNC ON "f7 f7 f7 9a 08 60 00 00 2e 01 f7 95 04 f7 2d 04",
		 "[on 4000] 4000 4004 4010 4014 401c [gap no-code 3]"},
		{8, SYNC ON "f7 f7 f7 95 08 f7 2e 02 f7 91 f7 2d 04",
		 "[on 4000] 4000 4004 4010 4014 401c 4000 4004"},
		/* Nothing is left out before an exception's address. */
		{8, SYNC ON "f7 06 1d 30", "[error packet] [gap no-sync 4]"},
		{8, SYNC ON "f7 06 1d 2d 02 95 04", "[error packet] [gap no-sync 7]"},
		{0, SYNC ON "f7 06 1d f7", "[on 4000] 4000 4004 [error packet] [gap no-sync 1]"},
		/* Decoding that begins at a sync point: what was before is not its business. */
		{8, SYNC_3 ON "f7 2d 03 f7 2d 02 2e 01",
		 "[on 4000] 4000 4004 4010 4014 [error packet] [gap no-sync 2]"},
		/* But counts: the last one commits three of those and the first here. */
		{8, SYNC_3 ON "f7 f7 f7 f7 f7 f7 f7 f7 f7", "[on 4000] 4000 4004"},
		{8, SYNC_3 ON "f7 2e 02" ON "f7 2d 03", "[on 4000] 4000 4004"},
		{8, SYNC_3 ON "30 2d 03 f7 2d 01", ""},
		{8, SYNC_3 "2d 04", "[error packet] [gap no-sync 2]"},
		{8, SYNC_3 "2e 04", "[error packet] [gap no-sync 2]"},
		/* Lost with the rest. */
		{8, SYNC ON "f7 f7 00 05" SYNC ON "f7 2d 01",
		 "[gap overflow 0] [on 4000] 4000 4004"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		s.source.idr[8] = rows[i].depth;
		put(rows[i].hex);
		expect(rows[i].want);
	}
}

/* A cycle count may carry a commit (TRCIDR0.COMMOPT = 0). */
static void commit_by_cycle_count(void **state)
{
	static const struct {
		const char *hex, *want;
	} rows[] = {
		{"f7 f7 0e 02 10 2e 01",
		 "[on 4000] 4000 4004 4010 4014 [error packet] [gap no-sync 2]"},
		{"f7 f7 0f 01 2e 01", "[on 4000] 4000 4004"},
		{"f7 f7 0c 00 2e 01", "[on 4000] 4000 4004"},
		{"f7 f7 0d 80 2e 01", "[on 4000] 4000 4004"},	/* 8 - 15 + 8 */
		{"f7 f7 11 2e 01", "[on 4000] 4000 4004"},
		{"f7 f7 15 2d 01",
		 "[on 4000] 4000 4004 4010 4014 [error packet] [gap no-sync 2]"},
		{"f7 0e 02 10", "[error packet] [gap no-sync 4]"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		s.source.idr[0] &= ~TRCIDR0_COMMOPT;
		s.source.idr[8] = 8;
		s.source.configr |= TRCCONFIGR_CCI;
		put("0000000000000000000000 80 01 0d 01 00 04" ON);
		put(rows[i].hex);
		expect(rows[i].want);
	}
}

static void ete(void **state)
{
	static const struct {
		const char *hex, *want;
	} rows[] = {
		{"f7 88 f6", "4010 4014"},		/* a timestamp marker between atoms */
		/* Source addresses: up to that instruction; same, short, 32 and 64 bits. */
		{"b0 f7", ""},
		{"b4 01 b4 05", "4010 4014"},
		{"b6 01 20 00 00 b6 05 20 00 00", "4010 4014"},
		{"b8 01 20 00 00 00 00 00 00 f6", "4010 4014"},
		/* Where flow came from to there is not known. */
		{"f7 f7 9a 00 10 00 00 f7 b6 05 20 00 00 f7",
		 "4010 4014 [gap no-code 1] [on 4014] 4014 401c"},
		{"b4 01 06 1d 95 04 95 08 f7", "[exc e 4010 to 4020] 4020 4024"},
		/* A transaction begins and is committed. */
		{"0a f7 0b f6", "4010 4014"},
		{"f7 2d 01 f7 2e 01 f6 2d 01", "4010 4014"},
	};
	char want[256];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		s.source.ete = true;
		s.source.idr[0] = 0x280002a1;
		s.source.idr[1] = 0x4100fff3;
		s.source.idr[8] = strstr(rows[i].hex, "2d") ? 8 : 0;
		put(SYNC ON);
		put(rows[i].hex);
		snprintf(want, sizeof(want), "[on 4000] 4000 4004%s%s", *rows[i].want ? " " : "",
			 rows[i].want);
		expect(want);
	}
}

/* A source address behind a return: of what the return led to, or nobody knows what. */
static void ete_return_stack(void **state)
{
	static const struct {
		const char *hex, *want;
	} rows[] = {
		{"f7 f6 f7 b4 03 f7 f6 f7 f7",
		 "4010 4014 4018 4008 400c 4000 4004 4010 4014 4018 4008 400c"},
		{"f7 f7 9a 00 10 00 00 f7 9a 06 20 00 00 f7 b4 03 f7 91 f6",
		 "4010 4014 [gap no-code 6] [on 4018] 4018 [gap no-code 0] [on 400c] 400c "
		 "4000 4004 4018"},
	};
	char want[256];
	size_t i;

	for (i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		s.source.ete = true;
		s.source.idr[1] = 0x4100fff3;
		s.source.configr |= TRCCONFIGR_RS;
		s.source.idr[8] = i & 1 ? 4 : 0;
		put(SYNC ON);
		put(rows[i / 2].hex);
		put(i & 1 ? "2d 04" : "");
		snprintf(want, sizeof(want), "[on 4000] 4000 4004 %s", rows[i / 2].want);
		expect(want);
	}
}

/* What OpenCSD 1.3 has no packet monitor for, and does not know. */
static void ete_damage(void **state)
{
	static const struct {
		const char *hex, *want;
	} rows[] = {
		{"f7 08 f7 f7", "[on 4000] 4000 4004 [error packet] [gap no-sync 2]"},
		{"f7 07 f7", "[on 4000] 4000 4004 [error packet] [gap no-sync 1]"},
		{"f7 06 81 00 f7", "[on 4000] 4000 4004 [error packet] [gap no-sync 1]"},
		/* A source address so far away that nothing ran up to it. */
		{"b6 01 20 00 80", "[error fup]"},
	};
	char want[256];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		s.source.ete = true;
		s.source.idr[1] = 0x4100fff3;
		nops = !strncmp(rows[i].hex, "b6", 2);
		put(SYNC ON);
		put(rows[i].hex);
		if (!nops)
			put(SYNC ON "f7");
		snprintf(want, sizeof(want), "%s%s", rows[i].want,
			 nops ? "" : " [on 4000] 4000 4004");
		expect(want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speculation),
		cmocka_unit_test(speculation_rows),
		cmocka_unit_test(commit_by_cycle_count),
		cmocka_unit_test(ete),
		cmocka_unit_test(ete_return_stack),
		cmocka_unit_test(ete_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
