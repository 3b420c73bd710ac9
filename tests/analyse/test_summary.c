// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "analyse/summary.h"

static void nothing(void **st)
{
	struct summary s = {};

	assert_int_equal(summary_verdict(&s), SUMMARY_NOTHING);
	/* Losses do not make nothing into something. */
	s.lost = 5;
	assert_int_equal(summary_verdict(&s), SUMMARY_NOTHING);
}

/* A filter's function was never called: that is an answer, not a loss. */
static void idle(void **st)
{
	struct trace_event on[] = {{.type = TRACE_SYNC}, {.type = TRACE_CBR}};
	struct trace_event begun = {.type = TRACE_ENABLED, .ip = 5};
	struct trace_event gap = {.type = TRACE_GAP, .error = TRACE_GAP_LOST};
	struct summary s = {}, t;

	summary_feed(&s, on, 2);
	assert_int_equal(summary_verdict(&s), SUMMARY_IDLE);
	t = s;
	summary_feed(&t, &begun, 1);
	assert_int_equal(summary_verdict(&t), SUMMARY_NOTHING);
	t = s;
	summary_feed(&t, &gap, 1);
	assert_int_equal(summary_verdict(&t), SUMMARY_NOTHING);
	t = s;
	t.lost = 1;
	assert_int_equal(summary_verdict(&t), SUMMARY_NOTHING);
	t = s;
	t.cut = true;
	assert_int_equal(summary_verdict(&t), SUMMARY_NOTHING);
}

/* Of a recording that ends early nothing is complete, whatever else is known of it. */
static void cut(void **st)
{
	struct trace_event run = {.type = TRACE_RUN, .ninsn = 5};
	struct summary s = {.cut = true}, all = {};

	summary_feed(&s, &run, 1);
	assert_int_equal(summary_verdict(&s), SUMMARY_CUT);
	s.lost = 1;
	assert_int_equal(summary_verdict(&s), SUMMARY_CUT);
	summary_feed(&all, &run, 1);
	assert_int_equal(summary_verdict(&all), SUMMARY_COMPLETE);
	summary_add(&all, &s);
	assert_int_equal(summary_verdict(&all), SUMMARY_CUT);
	s.errors = 1;
	assert_int_equal(summary_verdict(&s), SUMMARY_ERRORS);
}

static void counts(void **st)
{
	struct trace_event ev[] = {
		{.type = TRACE_SYNC},
		{.type = TRACE_RUN,
		 .ninsn = 5,
		 .flags = TRACE_F_BRANCH | TRACE_F_TIME,
		 .time = 70},
		{.type = TRACE_RUN, .ninsn = 2},
		{.type = TRACE_GAP, .error = TRACE_GAP_LOST, .value = 100},
		{.type = TRACE_GAP, .error = TRACE_GAP_OVERFLOW, .value = 100},
		{.type = TRACE_RUN,
		 .ninsn = 1,
		 .flags = TRACE_F_BRANCH | TRACE_F_TIME | TRACE_F_CYCLES,
		 .time = 90,
		 .cycles = 33},
		{.type = 200, .error = 5000},
	};
	struct summary s = {}, all = {};

	summary_feed(&s, ev, 3);
	assert_int_equal(summary_verdict(&s), SUMMARY_COMPLETE);
	summary_feed(&s, ev + 3, 4);
	assert_int_equal(s.instructions, 8);
	assert_int_equal(s.branches, 2);
	assert_int_equal(s.gaps, 2);
	assert_int_equal(s.missing, 100);
	assert_int_equal(s.reasons[TRACE_GAP_LOST], 1);
	assert_int_equal(s.reasons[TRACE_GAP_OVERFLOW], 1);
	assert_int_equal(s.events[TRACE_RUN], 3);
	assert_int_equal(s.first_time, 70);
	assert_int_equal(s.last_time, 90);
	assert_int_equal(s.cycles, 33);
	assert_int_equal(summary_verdict(&s), SUMMARY_LOSSES);
	summary_add(&all, &s);
	summary_add(&all, &s);
	assert_int_equal(all.instructions, 16);
	assert_int_equal(all.reasons[TRACE_GAP_LOST], 2);
	assert_int_equal(all.first_time, 70);
}

static void errors(void **st)
{
	struct trace_event ev[] = {
		{.type = TRACE_RUN, .ninsn = 5},
		{.type = TRACE_ERROR,
		 .error = TRACE_ERR_RETURN,
		 .offset = 64,
		 .ip = 0x401000},
		{.type = TRACE_ERROR,
		 .error = TRACE_ERR_LOOP,
		 .offset = 99,
		 .ip = 0x402000},
	};
	struct summary s = {};

	summary_feed(&s, ev, 3);
	assert_int_equal(summary_verdict(&s), SUMMARY_ERRORS);
	assert_int_equal(s.errors, 2);
	assert_int_equal(s.first_error, TRACE_ERR_RETURN);
	assert_int_equal(s.first_offset, 64);
	assert_int_equal(s.first_ip, 0x401000);
	assert_string_equal(summary_verdict_text(SUMMARY_ERRORS), "decoded with errors");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(idle), cmocka_unit_test(cut),
		cmocka_unit_test(counts),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
