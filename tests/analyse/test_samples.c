/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples grouped, and what a stream of them adds up to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyse/samples.h"

static bool symbol_of(void *ctx, uint64_t ip, struct image_symbol *out)
{
	*out = (struct image_symbol){.image = "/bin/x", .image_base = 0x800, .id = 1 + ip / 0x1000};
	if (ip < 0x1000)
		return false;
	out->name = ip < 0x2000 ? "one" : "two";
	out->start = ip & ~0xfffull;
	return true;
}

static struct spe_event load(uint64_t pc, uint64_t addr, uint16_t latency, uint16_t source)
{
	return (struct spe_event){
		.type = SPE_SAMPLE, .bytes = 64,
		.sample = {
			.has = SPE_HAS_ADDR(SPE_ADDR_PC) | SPE_HAS_ADDR(SPE_ADDR_DATA_VA) |
			       SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) | SPE_HAS_OPERATION |
			       SPE_HAS_EVENTS | SPE_HAS_SOURCE | SPE_HAS_TIME,
			.op_class = SPE_CLASS_LDST, .source = source,
			.addr = {[SPE_ADDR_PC] = pc, [SPE_ADDR_DATA_VA] = addr},
			.counter = {[SPE_COUNTER_TOTAL] = latency}, .time = pc,
			.events = source ? 1u << SPE_EV_L1D_REFILL : 0,
		},
	};
}

static struct spe_event branch(uint64_t pc)
{
	return (struct spe_event){
		.type = SPE_SAMPLE, .bytes = 64,
		.sample = {
			.has = SPE_HAS_ADDR(SPE_ADDR_PC) | SPE_HAS_OPERATION | SPE_HAS_EVENTS,
			.op_class = SPE_CLASS_BRANCH, .op = SPE_OP_COND,
			.addr = {[SPE_ADDR_PC] = pc},
			.events = 1u << SPE_EV_MISPREDICTED,
		},
	};
}

static void test_groups(void **state)
{
	struct spe_event ev[] = {
		load(0x1000, 0x8000, 6, 0), load(0x1004, 0x803f, 7, 8), load(0x2000, 0x8040, 200, 14),
		branch(0x1008), load(0x10, 0x8000, 0, 0),
		{.type = SPE_GAP, .error = TRACE_GAP_LOST, .bytes = 10},
	};
	struct samples *s = samples_new();
	const struct samples_row *const *r;
	struct samples_row all = {0};
	long n, i;

	assert_non_null(s);
	assert_int_equal(samples_feed(s, ev, 6, symbol_of, NULL), 0);
	assert_int_equal(samples_total(s), 5);
	n = samples_rows(s, SAMPLES_FUNCTION, &r);
	assert_int_equal(n, 3);
	assert_string_equal(r[0]->name, "one");
	/* As flow is reported: wherever it was mapped. */
	assert_int_equal(r[0]->address, 0x800);
	assert_int_equal(r[0]->samples, 3);
	assert_int_equal(r[0]->loads, 2);
	assert_int_equal(r[0]->branches, 1);
	assert_int_equal(r[0]->mispredicted, 1);
	assert_int_equal(r[0]->latency, 13);
	assert_int_equal(r[0]->timed, 2);
	for (i = 0; i < n; i++) {
		all.samples += r[i]->samples;
		assert_int_equal(!r[i]->address, !r[i]->name);
	}
	assert_int_equal(all.samples, samples_total(s));
	n = samples_rows(s, SAMPLES_OPERATION, &r);
	assert_int_equal(n, 2);
	assert_int_equal(r[1]->key, SPE_CLASS_BRANCH << 8 | SPE_OP_COND);
	n = samples_rows(s, SAMPLES_SOURCE, &r);
	assert_int_equal(n, 3);
	assert_int_equal(r[0]->key, 0);
	assert_int_equal(r[2]->l1_misses, 1);
	/* By cycles: 0, 4-7, 128-255. */
	n = samples_rows(s, SAMPLES_LATENCY, &r);
	assert_int_equal(n, 3);
	assert_int_equal(r[0]->key, 0);
	assert_int_equal(r[1]->key, 4);
	assert_int_equal(r[1]->samples, 2);
	assert_int_equal(r[2]->key, 128);
	n = samples_rows(s, SAMPLES_ADDRESS, &r);
	assert_int_equal(n, 2);
	assert_int_equal(r[0]->key, 0x8000);
	assert_int_equal(r[0]->samples, 3);
	samples_free(s);
}

static void test_many(void **state)
{
	struct samples *s = samples_new();
	const struct samples_row *const *r;
	struct spe_event ev;
	uint64_t i;

	for (i = 0; i < 100000; i++) {
		ev = load(0x1000 + 0x1000 * (i % 5000), i * 64, 1, 0);
		assert_int_equal(samples_feed(s, &ev, 1, symbol_of, NULL), 0);
	}
	assert_int_equal(samples_rows(s, SAMPLES_FUNCTION, &r), 5000);
	assert_int_equal(r[4999]->samples, 20);
	assert_int_equal(samples_rows(s, SAMPLES_ADDRESS, &r), 100000);
	samples_free(s);
}

static void test_summary(void **state)
{
	struct spe_event ev[] = {
		load(0x1000, 0x8000, 6, 0), branch(0x1008),
		{.type = SPE_ERROR, .error = TRACE_ERR_TRUNCATED, .offset = 128},
		{.type = SPE_GAP, .error = TRACE_ERR_TRUNCATED, .offset = 128, .bytes = 10},
	};
	struct summary sum = {0}, none = {.sampled = true};

	summary_feed_samples(&sum, ev, 2);
	assert_int_equal(sum.samples, 2);
	assert_int_equal(summary_verdict(&sum), SUMMARY_COMPLETE);
	summary_feed_samples(&sum, ev + 2, 2);
	assert_int_equal(sum.errors, 1);
	assert_int_equal(sum.gaps, 1);
	assert_int_equal(sum.missing, 10);
	assert_int_equal(sum.reasons[TRACE_ERR_TRUNCATED], 2);
	assert_int_equal(sum.first_offset, 128);
	assert_int_equal(summary_verdict(&sum), SUMMARY_ERRORS);
	/* Nothing was sampled: no failure, unless there was trace. */
	assert_int_equal(summary_verdict(&none), SUMMARY_UNSAMPLED);
	assert_string_equal(summary_verdict_text(SUMMARY_UNSAMPLED),
			    "complete, no operation was sampled or passed the filters");
	none.bytes = 64;
	assert_int_equal(summary_verdict(&none), SUMMARY_NOTHING);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
