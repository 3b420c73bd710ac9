/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time and cycles.  The program is a conditional jump to itself: each TNT bit
 * is a run, and shows what time it is: TIME, "?" if unknown, then /CYCLES and
 * "!" where those are exact.
 */
#include "stream.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct stream *clock_stream(void)
{
	struct stream *s = stream_new(0x1000);

	stream_code(s, 0x1000, "74 fe 90 90");
	s->config.tsc_ratio_den = 1;
	s->config.tsc_ratio_num = 10;
	s->config.mtc_freq = 3;		/* an MTC each 8 ticks of CTC, 80 of TSC */
	put_sync(s, 0x1000);
	return s;
}

static void tick(struct stream *s)
{
	put_tnt(s, "T");
}

static void expect_times(struct stream *s, const char *want)
{
	static struct trace_event ev[4096];
	static char text[1 << 16];
	size_t n = 0;
	uint64_t last = 0, cycles = 0;
	int i, got = stream_events(s, ev, 4096);

	text[0] = 0;
	for (i = 0; i < got; i++) {
		assert_true(ev[i].time >= last && ev[i].cycles >= cycles);
		assert_int_not_equal(ev[i].type, TRACE_ERROR);
		last = ev[i].time;
		cycles = ev[i].cycles;
		if (ev[i].type != TRACE_RUN)
			continue;
		n += snprintf(text + n, sizeof(text) - n, "%s%" PRIu64 "%s", n ? " " : "",
			      ev[i].time, ev[i].flags & TRACE_F_TIME ? "" : "?");
		if (ev[i].cycles)
			n += snprintf(text + n, sizeof(text) - n, "/%" PRIu64 "%s",
				      ev[i].cycles, ev[i].flags & TRACE_F_CYCLES ? "!" : "");
	}
	assert_string_equal(text, want);
	/* And the same in pieces. */
	stream_text(s);
	free(s);
}

static void a20_tsc_alone(void **state)
{
	struct stream *s = clock_stream();

	tick(s);
	put_tsc(s, 1000);
	tick(s);
	put_tsc(s, 1000);
	tick(s);
	put_tsc(s, 1500);
	tick(s);
	put_tsc(s, 900);	/* a clock that goes back */
	tick(s);
	put_tsc(s, 2000);
	tick(s);
	expect_times(s, "0? 1000 1000 1500 1500? 2000");
}

static void a20_cyc_before_reference(void **state)
{
	struct stream *s = clock_stream();

	put_cyc(s, 7);
	tick(s);
	put_cbr(s, 10);
	put_cyc(s, 7);
	tick(s);
	put_tsc(s, 1000);
	tick(s);
	put_cyc(s, 7);		/* no ratio is known */
	tick(s);
	put_mtc(s, 5);		/* nor a TMA */
	tick(s);
	put_tsc(s, 2000);
	tick(s);
	expect_times(s, "0?/7! 0?/14! 1000/14 1000?/21! 1000?/21 2000/21");
}

static void a20_mtc(void **state)
{
	struct stream *s = clock_stream();

	put_tsc(s, 1000);
	put_tma(s, 0x13, 5);	/* 3 ticks into period 2, and 5 of TSC: it began at 965 */
	tick(s);
	put_mtc(s, 3);
	tick(s);
	put_mtc(s, 4);
	tick(s);
	put_mtc(s, 7);		/* two MTCs are lost */
	tick(s);
	put_tsc(s, 1400);
	put_tma(s, 0x40, 0);
	put_mtc(s, 9);
	tick(s);
	expect_times(s, "1000 1045 1125 1365 1480");
}

static void a20_mtc_wraps(void **state)
{
	struct stream *s = clock_stream();
	int i;

	put_tsc(s, 1000);
	put_tma(s, 253 << 3, 0);
	for (i = 254; i < 258; i++) {
		put_mtc(s, i);
		tick(s);
	}
	expect_times(s, "1080 1160 1240 1320");
	s = clock_stream();
	put_tsc(s, 1000);
	put_tma(s, 0, 0);
	for (i = 1; i <= 1024; i++)
		put_mtc(s, i);
	tick(s);
	expect_times(s, "82920");
	/* TMA has less than eight bits of a rare MTC. */
	s = clock_stream();
	s->config.mtc_freq = 12;
	put_tsc(s, 1000);
	put_tma(s, 0xf000, 0);	/* MTC would be ?f */
	put_mtc(s, 0x30);
	tick(s);
	put_mtc(s, 0x31);
	tick(s);
	expect_times(s, "41960 82920");
}

static void a20_mtc_repeated(void **state)
{
	struct stream *s = clock_stream();

	put_tsc(s, 1000);
	put_tma(s, 0, 0);
	put_mtc(s, 1);
	tick(s);
	put_mtc(s, 1);		/* none went by, or 256 */
	tick(s);
	put_mtc(s, 2);
	tick(s);
	put_tsc(s, 9000);
	tick(s);
	expect_times(s, "1080 1080? 1080? 9000");
}

static void a20_cyc_and_cbr(void **state)
{
	struct stream *s = clock_stream();

	s->config.nominal_ratio = 20;
	put_cbr(s, 8);
	put_tsc(s, 1000);
	put_cyc(s, 40);
	tick(s);
	put_cbr(s, 40);
	put_cyc(s, 40);
	tick(s);
	put_cyc(s, 40);
	tick(s);
	expect_times(s, "1100/40! 1120/80! 1140/120!");
}

static void a20_cyc_calibrated(void **state)
{
	struct stream *s = clock_stream();

	put_tsc(s, 1000);
	put_tma(s, 0, 0);
	put_mtc(s, 1);
	put_cyc(s, 40);
	tick(s);
	put_mtc(s, 2);
	put_cyc(s, 10);		/* now 40 cycles are 80 ticks */
	tick(s);
	put_cyc(s, 60);		/* slower than thought: time waits for the MTC */
	tick(s);
	put_mtc(s, 3);
	tick(s);
	put_mtc(s, 4);
	tick(s);
	expect_times(s, "1080?/40! 1180/50! 1300/110! 1300/110 1320/110");
}

static void a20_overflow(void **state)
{
	struct stream *s = clock_stream();

	put_tsc(s, 1000);
	put_tma(s, 0, 0);
	put_ovf(s);
	put_fup(s, 0x1000);
	tick(s);
	put_mtc(s, 9);
	tick(s);
	put_tsc(s, 3000);
	tick(s);
	expect_times(s, "1000? 1000? 3000");
}

static void a22_cycles_while_off(void **state)
{
	struct stream *s = clock_stream();

	put_cyc(s, 5);
	put_tnt(s, "TT");	/* exact for the first branch only */
	put_cyc(s, 7);
	put_fup(s, 0x1000);
	put_pgd_noip(s);
	put_cyc(s, 1000);
	put_pge(s, 0x1000);
	tick(s);
	put_cyc(s, 3);
	tick(s);
	expect_times(s, "0?/5! 0?/5 0?/12 0?/15!");
}

static void nonsense(void **state)
{
	struct stream *s = clock_stream();
	int i;

	s->config.nominal_ratio = 255;
	put_cbr(s, 1);
	put_tsc(s, 0xffffffffffffff);
	put_tma(s, 0xffff, 0x1ff);
	for (i = 0; i < 40; i++)
		put_hex(s, "ff ff ff ff ff ff ff ff ff 0e  59 07  02 03 00 00");
	tick(s);
	stream_text(s);
	free(s);
	s = clock_stream();
	s->config.mtc_freq = 99;
	s->config.tsc_ratio_den = 0;
	put_tsc(s, 5);
	put_tma(s, 1, 1);
	put_mtc(s, 1);
	tick(s);
	expect_times(s, "5?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a20_tsc_alone),
		cmocka_unit_test(a20_cyc_before_reference),
		cmocka_unit_test(a20_mtc),
		cmocka_unit_test(a20_mtc_wraps),
		cmocka_unit_test(a20_mtc_repeated),
		cmocka_unit_test(a20_cyc_and_cbr),
		cmocka_unit_test(a20_cyc_calibrated),
		cmocka_unit_test(a20_overflow),
		cmocka_unit_test(a22_cycles_while_off),
		cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
