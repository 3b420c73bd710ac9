/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder against a scripted host: what comes into the file, byte by byte. */
#include "record_fixture.h"
#include "hw/pt.h"
#include "record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void one_thread_wraps_many_times(void **state)
{
	static const struct fake_step script[] = {
		{ FAKE_TRACE, .n = 5 }, { FAKE_TRACE, .n = 1000 * KIB + 3 },
		{ .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	struct recorder_run t = { .opt = recorder_defaults() };

	run_recorder(&t, &(struct fake_options){ .script = script, .status = 0x700 });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.result.status, 0x700);
	assert_int_equal(t.result.bytes, 1000 * KIB + 8);
	assert_int_equal(t.result.lost, 0);
	assert_int_equal(t.result.threads, 1);
	assert_true(t.facts.started_at_run);
	assert_int_equal(t.facts.untraced, 0);
	assert_true(fake_file.closed);
	expect_stream(PID, 1000 * KIB + 8, 0);
}

static void no_trace_still_ends_the_stream(void **state)
{
	static const struct fake_step script[] = { { .op = FAKE_EXIT }, { .op = FAKE_END } };
	struct recorder_run t = { .opt = recorder_defaults() };

	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.err, 0);
	expect_stream(PID, 0, 0);
}

static void many_threads_one_after_another(void **state)
{
	struct fake_step script[40 * 3 + 2] = { 0 };
	struct recorder_run t = { .opt = recorder_defaults() };
	uint32_t i, n = 0;

	for (i = 1; i <= 40; i++) {
		script[n++] = (struct fake_step){ FAKE_THREAD, .tid = T(i) };
		script[n++] = (struct fake_step){ FAKE_TRACE, .tid = T(i), .n = 20 * KIB + i };
		script[n++] = (struct fake_step){ FAKE_THREAD_EXIT, .tid = T(i) };
	}
	script[n++] = (struct fake_step){ .op = FAKE_EXIT };
	script[n] = (struct fake_step){ .op = FAKE_END };
	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.result.threads, 41);
	for (i = 1; i <= 40; i++)
		expect_stream(T(i), 20 * KIB + i, 0);
}

/* pthread_exit in main, then exec in another thread: one stream, in one piece. */
static void first_thread_comes_back(void **state)
{
	static const struct fake_step script[] = {
		{ FAKE_THREAD, .tid = T(1) }, { FAKE_TRACE, .n = 100 },
		{ .op = FAKE_THREAD_EXIT }, { FAKE_TRACE, .tid = T(1), .n = 30 },
		{ FAKE_THREAD_EXIT, .tid = T(1) }, { FAKE_EXEC, .path = "/bin/prog" },
		{ FAKE_TRACE, .n = 50 * KIB }, { .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	struct recorder_run t = { .opt = recorder_defaults() };

	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.err, 0);
	expect_stream(PID, 50 * KIB + 100, 0);
	expect_stream(T(1), 30, 0);
}

static void exit_position_stands_where_the_node_is_dead(void **state)
{
	static const struct fake_step script[] = {
		{ FAKE_THREAD, .tid = T(1) }, { FAKE_TRACE, .tid = T(1), .n = 100 },
		{ FAKE_DIE, .tid = T(1) }, { FAKE_THREAD_EXIT, .tid = T(1) },
		{ .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	struct recorder_run t = { .opt = recorder_defaults() };

	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.err, 0);
	expect_stream(T(1), 100, 0);
}

static void ring_keeps_the_end_and_counts_the_rest(void **state)
{
	static const struct fake_step script[] = {
		{ FAKE_THREAD, .tid = T(1) }, { FAKE_TRACE, .tid = T(1), .n = 100 },
		{ FAKE_TRACE, .n = 50000 }, { .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.ring = 10000;
	run_recorder(&t, &(struct fake_options){ .script = script, .free_threads = true });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.result.lost, 40000);
	expect_stream(PID, 10000, 1);
	assert_int_equal(fake_stream(PID)->first, 40000);
	expect_stream(T(1), 100, 0);
}

static void ring_larger_than_the_buffer_makes_it_larger(void **state)
{
	static const struct fake_step script[] = {
		{ FAKE_TRACE, .n = 100 * KIB }, { .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.ring = 50 * KIB + 1;
	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.err, 0);
	expect_stream(PID, 50 * KIB + 1, 1);
}

static void gaps_and_lost_records_are_counted(void **state)
{
	static const struct fake_step script[] = {
		{ FAKE_TRACE, .n = 64 }, { FAKE_GAP, .n = 2 }, { FAKE_TRACE, .n = 64 },
		{ FAKE_GAP, .n = 3 }, { FAKE_LOST, .n = 7 }, { .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	struct recorder_run t = { .opt = recorder_defaults() };

	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.result.gaps, 3);
	assert_int_equal(t.result.lost_records, 7);
}

static const struct fake_step two_images[] = {
	{ FAKE_MMAP, .addr = 0x401000, .len = 0x1000, .n = 0x1000, .path = "/bin/prog" },
	{ FAKE_TRACE, .n = 10 },
	{ FAKE_MMAP, .addr = 0x7f0000001000, .len = 0x2000, .n = 0x1000, .path = "/lib/a.so" },
	{ FAKE_TRACE, .n = 100 }, { .op = FAKE_EXIT }, { .op = FAKE_END }
};

static void filter_starts_with_its_image(void **state)
{
	static const struct record_filter filter = { "a.so", "f" };
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.filters = &filter;
	t.opt.nfilters = 1;
	run_recorder(&t, &(struct fake_options){ .script = two_images });
	assert_int_equal(t.err, 0);
	assert_false(t.facts.started_at_run);
	assert_int_equal(t.facts.untraced, 10);
	assert_int_equal(t.facts.last_config.nranges, 1);
	assert_int_equal(t.facts.last_config.ip_ranges[0].start, 0x7f0000001100);
	assert_int_equal(t.facts.last_config.ip_ranges[0].end, 0x7f00000011ff);
	assert_int_equal(t.facts.last_pause, HWT_PAUSE_EXEC | HWT_PAUSE_MMAP);
	assert_false(t.result.filters_missed);
	assert_string_equal(fake_file.filter, "filter 0x1100/0x100@/lib/a.so");
	expect_stream(PID, 100, 0);
}

static void two_filters_in_two_images(void **state)
{
	static const struct record_filter filters[] = { { NULL, "main" }, { "/lib/a.so", "g" } };
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.filters = filters;
	t.opt.nfilters = 2;
	run_recorder(&t, &(struct fake_options){ .script = two_images });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.facts.last_config.nranges, 2);
	assert_int_equal(t.facts.last_config.ip_ranges[0].start, 0x401000);
	assert_int_equal(t.facts.last_config.ip_ranges[0].end, 0x40101f);
	assert_int_equal(t.facts.last_config.ip_ranges[1].start, 0x7f0000001200);
	assert_int_equal(t.facts.starts, 1);
	expect_stream(PID, 110, 0);
}

static void whole_image(void **state)
{
	static const struct record_filter filter = { "a.so", NULL };
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.filters = &filter;
	t.opt.nfilters = 1;
	run_recorder(&t, &(struct fake_options){ .script = two_images });
	assert_int_equal(t.facts.last_config.ip_ranges[0].start, 0x7f0000001000);
	assert_int_equal(t.facts.last_config.ip_ranges[0].end, 0x7f0000002fff);
}

static void filters_that_never_come(void **state)
{
	static const struct record_filter row[] = {
		{ "b.so", "f" }, { "a.so", "nosuch" }, { "a.so", "elsewhere" },
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct recorder_run t = { .opt = recorder_defaults() };

		fresh_file(NULL);
		t.opt.filters = &row[i];
		t.opt.nfilters = 1;
		run_recorder(&t, &(struct fake_options){ .script = two_images });
		assert_int_equal(t.err, 0);
		assert_int_equal(t.result.filters_missed, 1);
		assert_int_equal(t.result.images_missed, i == 0);
		assert_int_equal(t.facts.untraced, 110);
		assert_int_equal(t.facts.starts, 0);
	}
}

/* The unit has two: the nearest of three become one, and the file says what was meant. */
static void more_ranges_than_the_unit_has(void **state)
{
	static const struct record_filter filter = { "a.so", "many" };
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.filters = &filter;
	t.opt.nfilters = 1;
	run_recorder(&t, &(struct fake_options){ .script = two_images, .status = 5 });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.facts.last_config.nranges, 2);
	assert_int_equal(t.facts.last_config.ip_ranges[0].start, 0x7f0000001300);
	assert_int_equal(t.facts.last_config.ip_ranges[0].end, 0x7f000000130f);
	assert_int_equal(t.facts.last_config.ip_ranges[1].start, 0x7f0000001330);
	assert_int_equal(t.facts.last_config.ip_ranges[1].end, 0x7f000000135f);
	assert_string_equal(fake_file.filter,
			    "filter 0x1300/0x10@/lib/a.so,filter 0x1330/0x30@/lib/a.so");
	assert_string_equal(fake_file.shown,
			    "filter 0x1300/0x10@/lib/a.so,filter 0x1330/0x10@/lib/a.so,filter 0x1350/0x10@/lib/a.so");
}

/* Ranges of two images become one that lies in neither. */
static void a_range_over_two_images(void **state)
{
	static const struct record_filter filters[] = {
		{ "a.so", "f" }, { "a.so", "elsewhere" }, { NULL, "main" }
	};
	static const struct fake_step script[] = {
		{ FAKE_MMAP, .addr = 0x401000, .len = 0x1000, .n = 0x1000, .path = "/bin/prog" },
		{ FAKE_MMAP, .addr = 0x403000, .len = 0x1000, .n = 0x1000, .path = "/lib/a.so" },
		{ FAKE_MMAP, .addr = 0x7f0000009000, .len = 0x1000, .n = 0x9000,
		  .path = "/lib/a.so" },
		{ FAKE_TRACE, .n = 100 }, { .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.filters = filters;
	t.opt.nfilters = 3;
	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.err, 0);
	assert_false(t.result.filters_missed);
	assert_int_equal(t.facts.last_config.nranges, 2);
	assert_int_equal(t.facts.last_config.ip_ranges[0].start, 0x401000);
	assert_int_equal(t.facts.last_config.ip_ranges[0].end, 0x4031ff);
	/* Other decoders are told nothing rather than half of it. */
	assert_string_equal(fake_file.filter, "");
	assert_non_null(strstr(fake_file.shown, "filter 0x1000/0x20@/bin/prog"));
	assert_non_null(strstr(fake_file.shown, "filter 0x9000/0x100@/lib/a.so"));
}

/* Ranges that touch are one, and then nothing needs to be cut. */
static void ranges_are_fitted(void **state)
{
	static const struct {
		struct ipf_range in[5], out[5];
		int n, max, left;
		bool covering;
	} row[] = {
		{ { { 1, 2 } }, { { 1, 2 } }, 1, 4, 1, false },
		{ { { 5, 6 }, { 1, 2 } }, { { 1, 2 }, { 5, 6 } }, 2, 2, 2, false },
		{ { { 3, 4 }, { 1, 2 } }, { { 1, 4 } }, 2, 1, 1, false },
		{ { { 1, 9 }, { 2, 3 }, { 4, 12 } }, { { 1, 12 } }, 3, 1, 1, false },
		{ { { 1, 9 }, { 2, 3 }, { 20, 21 } }, { { 1, 9 }, { 20, 21 } }, 3, 2, 2, false },
		{ { { 1, 2 }, { 40, 41 }, { 10, 20 }, { 44, 45 } },
		  { { 1, 2 }, { 10, 20 }, { 40, 45 } }, 4, 3, 3, true },
		{ { { 1, 2 }, { 40, 41 }, { 10, 20 }, { 44, 45 } },
		  { { 1, 20 }, { 40, 45 } }, 4, 2, 2, true },
		{ { { 0, 2 }, { ~0ul - 1, ~0ul }, { 10, 20 } }, { { 0, ~0ul } }, 3, 1, 1, true },
	};
	struct ipf_range range[5];
	bool covering;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		memcpy(range, row[i].in, sizeof(range));
		assert_int_equal(ranges_fit(range, row[i].n, row[i].max, &covering),
				 row[i].left);
		assert_int_equal(covering, row[i].covering);
		assert_memory_equal(range, row[i].out, (size_t)row[i].left * sizeof(*range));
	}
}

static void unmapped_image_traces_nothing(void **state)
{
	static const struct record_filter filter = { "a.so", "f" };
	static const struct fake_step script[] = {
		{ FAKE_MMAP, .addr = 0x10001000, .len = 0x1000, .n = 0x1000, .path = "/lib/a.so" },
		{ FAKE_TRACE, .n = 100 },
		{ FAKE_MUNMAP, .addr = 0x10000000, .len = 0x2000 },
		/* A pause, so that the munmap was seen. */
		{ FAKE_MMAP, .addr = 0x20001000, .len = 0x1000, .n = 0x1000, .path = "/lib/b.so" },
		{ FAKE_TRACE, .n = 1000 },
		{ FAKE_MMAP, .addr = 0x30001000, .len = 0x1000, .n = 0x1000, .path = "/lib/a.so" },
		{ FAKE_TRACE, .n = 100 }, { .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.filters = &filter;
	t.opt.nfilters = 1;
	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.facts.starts, 2);
	assert_int_equal(t.facts.stops, 1);
	assert_int_equal(t.facts.last_config.nranges, 1);
	assert_int_equal(t.facts.last_config.ip_ranges[0].start, 0x30001100);
	expect_stream(PID, 200, 0);
}

static const struct fake_step forks[] = {
	{ FAKE_TRACE, .n = 10 }, { FAKE_FORK, .n = T(50) },
	{ FAKE_TRACE, .pid = T(50), .n = 30 * KIB }, { .op = FAKE_EXIT },
	{ FAKE_TRACE, .pid = T(50), .n = 7 }, { FAKE_EXIT, .pid = T(50) }, { .op = FAKE_END }
};

static void children_are_followed(void **state)
{
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.follow = true;
	run_recorder(&t, &(struct fake_options){ .script = forks });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.result.processes, 2);
	assert_int_equal(t.facts.last_pause, HWT_PAUSE_FORK);
	expect_stream(PID, 10, 0);
	expect_stream(T(50), 30 * KIB + 7, 0);
}

static void a_child_has_its_parents_filter(void **state)
{
	static const struct record_filter filter = { "a.so", "f" };
	static const struct fake_step script[] = {
		{ FAKE_MMAP, .addr = 0x7f0000001000, .len = 0x2000, .n = 0x1000,
		  .path = "/lib/a.so" },
		{ FAKE_TRACE, .n = 10 }, { FAKE_FORK, .n = T(50) },
		{ FAKE_TRACE, .pid = T(50), .n = 30 }, { .op = FAKE_EXIT },
		{ FAKE_EXIT, .pid = T(50) }, { .op = FAKE_END }
	};
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.follow = true;
	t.opt.filters = &filter;
	t.opt.nfilters = 1;
	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.facts.starts, 2);
	expect_stream(PID, 10, 0);
	expect_stream(T(50), 30, 0);
}

static void children_without_follow(void **state)
{
	struct recorder_run t = { .opt = recorder_defaults() };

	run_recorder(&t, &(struct fake_options){ .script = forks });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.result.processes, 1);
	assert_int_equal(t.facts.untraced, 30 * KIB + 7);
}

static void child_that_cannot_be_traced(void **state)
{
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.follow = true;
	run_recorder(&t, &(struct fake_options){ .script = forks, .alloc_fails_for = T(50) });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.result.untraced, 1);
	expect_stream(PID, 10, 0);
}

/* Writing fails from the n-th call on: kept so far, and the target ran to its end. */
static void disk_full(void **state)
{
	static const struct fake_step script[] = {
		{ FAKE_MMAP, .addr = 0x1000, .len = 0x1000, .path = "/bin/prog" },
		{ FAKE_TRACE, .n = 300 * KIB }, { .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	int calls;

	for (calls = 0; calls < 30; calls++) {
		struct recorder_run t = { .opt = recorder_defaults() };

		fresh_file(NULL);
		fake_file.write_error = -ENOSPC;
		fake_file.write_calls_left = calls;
		run_recorder(&t, &(struct fake_options){ .script = script, .status = 0x300 });
		if (t.err == 0) {	/* there are not that many calls */
			assert_true(calls > 10);
			continue;
		}
		assert_int_equal(t.err, -ENOSPC);
		assert_int_equal(t.result.status, 0x300);
		assert_true(fake_file.closed);
		assert_non_null(strstr(t.error, "No space left on device"));
	}
}

static void failures_before_the_target_runs(void **state)
{
	static const struct { struct fake_options fake; int create_error, want; } row[] = {
		{ { .spawn_error = -ENOENT }, 0, -ENOENT },
		{ { .script = NULL }, -EACCES, -EACCES },
		{ { .fail_ioctl = HWT_IOC_ALLOC, .fail_with = -ENOMEM }, 0, -ENOMEM },
		{ { .fail_ioctl = HWT_IOC_SET_CONFIG2, .fail_with = -EOPNOTSUPP }, 0,
		  -EOPNOTSUPP },
		{ { .fail_ioctl = HWT_IOC_START, .fail_with = -EBUSY }, 0, -EBUSY },
		{ { .fail_ioctl = HWT_IOC_SVC_BUF, .fail_with = -EINVAL }, 0, -EINVAL },
		{ { .fail_ioctl = HWT_IOC_QUERY, .fail_with = -ENOENT }, 0, -ENXIO },
	};
	static const struct fake_step script[] = { { .op = FAKE_END } };
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct recorder_run t = { .opt = recorder_defaults() };
		struct fake_options fake = row[i].fake;

		fresh_file(NULL);
		fake_file.create_error = row[i].create_error;
		fake.script = script;
		run_recorder(&t, &fake);
		assert_int_equal(t.err, row[i].want);
		assert_int_equal(t.result.status, -1);
	}
}

static void other_backend(void **state)
{
	static const struct fake_step script[] = { { .op = FAKE_END } };
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.backend = "none";
	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.err, -ENXIO);
	assert_string_equal(t.error, "backend 'none' has no trace unit here");
}

static const char *only_pt(const void *ctx, const struct hwt_query *unit)
{
	return strcmp(unit->name, "pt") ? "--mtc" : NULL;
}

/* Which backend it is, and what the units get, by what is there and asked for. */
static void chosen_by_what_is_there(void **state)
{
	static const struct hwt_query arm[] = {
		{ .name = "none" },
		{ .name = "spe", .ncaps = 4 },
		{ .name = "coresight", .ncaps = 6, .flags = HWT_QUERY_RING, .nranges = 4 },
		{ .name = "pt" },	/* no program of its machine */
		{ .name = "new", .ncaps = 1 },
		{ .name = "" },
	}, none[] = { { .name = "new", .ncaps = 1 }, { .name = "pt" }, { .name = "" } };
	static const struct record_filter main_only = { NULL, "main" };
	static const struct {
		const struct hwt_query *units;
		const char *asked;
		int nfilters;
		size_t ring;
		int err, version;
		size_t size;
		const char *want;	/* backend, or error */
	} row[] = {
		{ NULL, NULL, 0, 0, 0, PT_CONFIG_VERSION, sizeof(struct pt_cpu_config), "pt" },
		{ arm, NULL, 0, 0, 0, CORESIGHT_CONFIG_VERSION, sizeof(struct coresight_config),
		  "coresight" },
		{ arm, "spe", 0, 0, 0, ARM_SPE_CONFIG_VERSION2, sizeof(struct arm_spe_config2),
		  "spe" },
		{ arm, "pt", 0, 0, 0, PT_CONFIG_VERSION, sizeof(struct pt_cpu_config), "pt" },
		{ arm, "spe", 1, 0, -EOPNOTSUPP, 0, 0, "backend 'spe' has no address filters" },
		{ arm, "spe", 0, 4096, -EOPNOTSUPP, 0, 0, "backend 'spe' has no ring mode" },
		{ arm, "new", 0, 0, -ENXIO, 0, 0, "there is no backend 'new' here; see hwt list" },
		{ arm, "cpt", 0, 0, -ENXIO, 0, 0, "there is no backend 'cpt' here; see hwt list" },
		{ none, NULL, 0, 0, -ENXIO, 0, 0, "there is no trace unit here; see hwt list" },
	};
	static const struct fake_step script[] = { { .op = FAKE_EXIT }, { .op = FAKE_END } };
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct recorder_run t = { .opt = recorder_defaults() };

		t.opt.backend = row[i].asked;
		t.opt.filters = &main_only;
		t.opt.nfilters = row[i].nfilters;
		t.opt.ring = row[i].ring;
		run_recorder(&t, &(struct fake_options){ .script = script, .units = row[i].units });
		assert_int_equal(t.err, row[i].err);
		assert_string_equal(t.err ? t.error : t.facts.backend, row[i].want);
		assert_int_equal(t.facts.last_version, row[i].version);
		assert_int_equal(t.facts.last_size, row[i].size);
	}
}

/* The halves of SPE's are whole pages. */
static void buffer_sizes_of_units(void **state)
{
	static const struct hwt_query arm[] = {
		{ .name = "spe", .ncaps = 4 }, { .name = "coresight", .ncaps = 6 }, { .name = "" },
	};
	static const struct fake_step script[] = { { .op = FAKE_EXIT }, { .op = FAKE_END } };
	struct recorder_run t = {.opt = recorder_defaults()};

	t.opt.backend = "spe";
	t.opt.bufsize = 12288;
	run_recorder(&t, &(struct fake_options){.script = script, .units = arm});
	assert_int_equal(t.err, -EINVAL);
	assert_string_equal(t.error,
			    "a buffer of 'spe' is a multiple of 8192 bytes, 12288 is none");
	t.opt.backend = "coresight";
	run_recorder(&t, &(struct fake_options){.script = script, .units = arm});
	assert_int_equal(t.err, 0);
}

static void options_of_another_unit(void **state)
{
	static const struct hwt_query arm[] = { { .name = "coresight", .ncaps = 6 }, { .name = "" } };
	static const struct fake_step script[] = { { .op = FAKE_EXIT }, { .op = FAKE_END } };
	struct recorder_run t = {.opt = recorder_defaults()};

	t.opt.backend = NULL;
	t.opt.unfit = only_pt;
	run_recorder(&t, &(struct fake_options){.script = script, .units = arm});
	assert_int_equal(t.err, -EOPNOTSUPP);
	assert_string_equal(t.error, "--mtc: the program is traced by coresight, which "
				     "has no such thing; see hwt help record");
	assert_int_equal(t.result.status, -1);
	assert_string_equal(t.facts.backend, "");
	run_recorder(&t, &(struct fake_options){.script = script});
	assert_int_equal(t.err, 0);
}

static void ready_fd_gets_a_byte(void **state)
{
	static const struct fake_step script[] = { { .op = FAKE_EXIT }, { .op = FAKE_END } };
	struct recorder_run t = { .opt = recorder_defaults() };
	char buf[4];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	t.opt.ready_fd = fds[1];
	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(read(fds[0], buf, sizeof(buf)), 1);
	assert_int_equal(read(fds[0], buf, sizeof(buf)), 0);
	close(fds[0]);
}

static void bare_trace_of_one_thread(void **state)
{
	static const struct fake_step script[] = {
		{ FAKE_THREAD, .tid = T(1) }, { FAKE_TRACE, .tid = T(1), .n = 40 * KIB },
		{ FAKE_TRACE, .n = 50 }, { .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	char path[] = "/tmp/hwt-raw.XXXXXX", buf[50 * KIB];
	struct recorder_run t = { .opt = recorder_defaults() };
	uint32_t which[] = { 0, 1, T(1), PID }, tid[] = { PID, T(1), T(1), PID };
	ssize_t size[] = { 50, 40 * KIB, 40 * KIB, 50 }, j;
	int fd = mkstemp(path), i;

	assert_true(fd >= 0);
	for (i = 0; i < 4; i++) {
		t.opt.raw = path;
		t.opt.raw_thread = which[i];
		run_recorder(&t, &(struct fake_options){ .script = script });
		assert_int_equal(t.err, 0);
		assert_false(fake_file.created);
		assert_int_equal(pread(fd, buf, sizeof(buf), 0), size[i]);
		assert_int_equal(t.result.bytes, size[i]);
		for (j = 0; j < size[i]; j++)
			assert_int_equal((uint8_t)buf[j], fake_byte(tid[i], (uint64_t)j));
	}
	close(fd);
	unlink(path);
}

/* A recording that never began leaves no file behind, and an old one as it was. */
static void refused_before_it_began(void **state)
{
	static const struct fake_step script[] = { { .op = FAKE_END } };
	static const unsigned long request[] = { HWT_IOC_ALLOC, HWT_IOC_SET_CONFIG2,
						 HWT_IOC_START };
	char folder[] = "/tmp/hwt-refused.XXXXXX", path[64], text[8] = "";
	struct recorder_run t = { .opt = recorder_defaults() };
	int fd, i;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/raw", folder);
	t.opt.raw = path;
	for (i = 0; i < 3; i++) {
		run_recorder(&t, &(struct fake_options){
			.script = script, .fail_ioctl = request[i], .fail_with = -EBUSY });
		assert_int_equal(t.err, -EBUSY);
		assert_int_equal(access(path, F_OK), -1);
	}
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_int_equal(write(fd, "before", 6), 6);
	for (i = 0; i < 2; i++) {
		run_recorder(&t, &(struct fake_options){
			.script = script, .fail_ioctl = request[i], .fail_with = -EBUSY });
		assert_int_equal(pread(fd, text, sizeof(text), 0), 6);
		assert_string_equal(text, "before");
	}
	close(fd);
	unlink(path);
	rmdir(folder);
}

/* The ABI's names for the bits are the manual's. */
static void abi_bits_are_the_registers(void **state)
{
	assert_int_equal(PT_CTL_CYCEN, RTIT_CTL_CYCEN);
	assert_int_equal(PT_CTL_OS, RTIT_CTL_OS);
	assert_int_equal(PT_CTL_USER, RTIT_CTL_USER);
	assert_int_equal(PT_CTL_MTCEN, RTIT_CTL_MTCEN);
	assert_int_equal(PT_CTL_TSCEN, RTIT_CTL_TSCEN);
	assert_int_equal(PT_CTL_DISRETC, RTIT_CTL_DISRETC);
	assert_int_equal(PT_CTL_BRANCHEN, RTIT_CTL_BRANCHEN);
	assert_int_equal(PT_CTL_MTCFREQ_SHIFT, RTIT_CTL_MTCFREQ_SHIFT);
	assert_int_equal(PT_CTL_CYCTHRESH_SHIFT, RTIT_CTL_CYCTHRESH_SHIFT);
	assert_int_equal(PT_CTL_PSBFREQ_SHIFT, RTIT_CTL_PSBFREQ_SHIFT);
}

#define TEST(fn)	cmocka_unit_test_setup(fn, fresh_file)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_thread_wraps_many_times),
		TEST(no_trace_still_ends_the_stream),
		TEST(many_threads_one_after_another),
		TEST(first_thread_comes_back),
		TEST(exit_position_stands_where_the_node_is_dead),
		TEST(ring_keeps_the_end_and_counts_the_rest),
		TEST(ring_larger_than_the_buffer_makes_it_larger),
		TEST(gaps_and_lost_records_are_counted),
		TEST(filter_starts_with_its_image),
		TEST(two_filters_in_two_images),
		TEST(whole_image),
		TEST(filters_that_never_come), TEST(a_range_over_two_images),
		TEST(ranges_are_fitted),
		TEST(more_ranges_than_the_unit_has),
		TEST(unmapped_image_traces_nothing),
		TEST(children_are_followed), TEST(a_child_has_its_parents_filter),
		TEST(children_without_follow),
		TEST(child_that_cannot_be_traced),
		TEST(disk_full),
		TEST(failures_before_the_target_runs),
		TEST(other_backend),
		TEST(chosen_by_what_is_there),
		TEST(buffer_sizes_of_units),
		TEST(options_of_another_unit),
		TEST(ready_fd_gets_a_byte),
		TEST(bare_trace_of_one_thread),
		TEST(refused_before_it_began),
		TEST(abi_bits_are_the_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
