// SPDX-License-Identifier: BSD-2-Clause
/* The recorder on a host like the kernel's: late exec, processes that run already. */
#include "record_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- a program that begins by an exec of the child that the recorder forked ---- */

static const struct fake_step late[] = {
	{ FAKE_TRACE, .n = 50 },	/* the child before its exec: not traced */
	{ FAKE_EXEC, .path = "/bin/prog" },
	{ FAKE_MMAP, .addr = 0x401000, .len = 0x1000, .n = 0x1000, .path = "/bin/prog" },
	{ FAKE_TRACE, .n = 100 },
	{ FAKE_EXEC, .path = "/bin/other" },
	{ FAKE_TRACE, .n = 10 },
	{ .op = FAKE_EXIT }, { .op = FAKE_END }
};

static void trace_begins_with_the_program(void **state)
{
	struct recorder_run t = { .opt = recorder_defaults() };

	run_recorder(&t, &(struct fake_options){ .script = late, .late_exec = true });
	assert_int_equal(t.err, 0);
	assert_true(t.facts.ran);
	assert_false(t.facts.started_at_run);
	assert_int_equal(t.facts.starts, 1);
	assert_int_equal(t.facts.untraced, 50);
	/* A later exec need not be waited for. */
	assert_int_equal(t.facts.last_pause, 0);
	expect_stream(PID, 110, 0);
}

static void filter_of_the_program(void **state)
{
	static const struct record_filter filter = { NULL, "main" };
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.filters = &filter;
	t.opt.nfilters = 1;
	run_recorder(&t, &(struct fake_options){ .script = late, .late_exec = true });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.facts.starts, 1);
	assert_int_equal(t.facts.untraced, 50 + 10);	/* the other program has no main */
	assert_int_equal(t.facts.last_config.ip_ranges[0].start, 0x401000);
	expect_stream(PID, 100, 0);
}

static void ready_once_the_program_is_there(void **state)
{
	static const struct fake_step never[] = { { .op = FAKE_END } };
	const struct fake_step *script[] = { late, never };
	struct recorder_run t = { .opt = recorder_defaults() };
	int fds[2], i;
	char byte;

	for (i = 0; i < 2; i++) {
		assert_int_equal(pipe(fds), 0);
		t.opt.ready_fd = fds[1];
		run_recorder(&t, &(struct fake_options){ .script = script[i], .late_exec = true });
		if (i)	/* it never came: nothing was told */
			close(fds[1]);
		assert_int_equal(read(fds[0], &byte, 1), i == 0);
		close(fds[0]);
	}
}

static void exec_that_fails(void **state)
{
	struct recorder_run t = { .opt = recorder_defaults() };

	run_recorder(&t, &(struct fake_options){ .script = late, .late_exec = true,
						 .run_error = -ENOEXEC });
	assert_int_equal(t.err, -ENOEXEC);
	assert_true(t.result.spawn_failed);
	assert_int_equal(t.result.status, -1);
	assert_non_null(strstr(t.error, "/bin/prog"));
}

/* ---- a process that runs already ---- */

static struct recorder_run attach(const struct fake_options *fake)
{
	struct recorder_run t = { .opt = recorder_defaults() };

	t.opt.path = NULL;
	t.opt.pid = (pid_t)PID;
	run_recorder(&t, fake);
	return t;
}

static void all_threads_of_a_process(void **state)
{
	static const uint32_t existing[] = { PID, T(1), T(2), 0 };
	static const struct fake_step script[] = {
		{ FAKE_TRACE, .n = 100 }, { FAKE_TRACE, .tid = T(1), .n = 40 * KIB },
		{ FAKE_TRACE, .tid = T(2), .n = 7 }, { .op = FAKE_EXIT }, { .op = FAKE_END }
	};
	struct recorder_run t = attach(&(struct fake_options){ .script = script,
							       .existing = existing });

	assert_int_equal(t.err, 0);
	assert_int_equal(t.result.threads, 3);
	assert_false(t.facts.ran);
	assert_int_equal(t.result.status, -1);
	expect_stream(PID, 100, 0);
	expect_stream(T(1), 40 * KIB, 0);
	expect_stream(T(2), 7, 0);
}

/* This very process, for its files in /proc: what it has is told before all else. */
static void what_it_had_before(void **state)
{
	uint32_t me = (uint32_t)getpid();
	uint32_t existing[] = { me, 0 };
	const struct fake_step script[] = {
		{ FAKE_TRACE, .pid = me, .n = 100 }, { FAKE_EXIT, .pid = me }, { .op = FAKE_END }
	};
	struct recorder_run t = { .opt = recorder_defaults() };
	static const struct record_filter filter = { "libcmocka.so.0", NULL };
	int i;

	for (i = 0; i < 2; i++) {
		fresh_file(NULL);
		t.opt.path = NULL;
		t.opt.pid = (pid_t)me;
		t.opt.filters = &filter;
		t.opt.nfilters = i;
		run_recorder(&t, &(struct fake_options){ .script = script, .existing = existing });
		assert_int_equal(t.err, 0);
		assert_true(fake_file.of_type[HWT_REC_MMAP] > 3);
		assert_int_equal(fake_file.of_type[HWT_REC_THREAD_NAME], 1);
		expect_stream(me, 100, 0);
	}
	assert_int_equal(t.facts.last_config.nranges, 1);
	assert_non_null(strstr(fake_file.filter, "libcmocka"));
}

static volatile sig_atomic_t stop_flag;

/* Interrupted: it stops the trace, not the process. */
static void stopped_by_the_user(void **state)
{
	static const struct fake_step script[] = { { FAKE_TRACE, .n = 100 }, { .op = FAKE_END } };
	struct recorder_run t = { .opt = recorder_defaults() };

	stop_flag = 1;
	t.opt.path = NULL;
	t.opt.pid = (pid_t)PID;
	t.opt.stop = &stop_flag;
	run_recorder(&t, &(struct fake_options){ .script = script });
	assert_int_equal(t.err, 0);
	assert_int_equal(t.facts.stops, 1);
	assert_true(fake_file.closed);
	assert_int_equal(fake_stream(PID)->finals, 1);
}

static void attaching_fails(void **state)
{
	static const struct fake_step script[] = { { .op = FAKE_END } };
	static const struct { struct fake_options fake; int err; const char *text; } row[] = {
		{ { .attach_error = -EOPNOTSUPP }, -EOPNOTSUPP, "kernel host" },
		{ { .attach_error = -ESRCH }, -ESRCH, "No such process" },
		{ { .fail_ioctl = HWT_IOC_ALLOC, .fail_with = -EPERM }, -EPERM, "CAP_PERFMON" },
		{ { .fail_ioctl = HWT_IOC_ALLOC, .fail_with = -EEXIST }, -EEXIST, "already" },
	};
	struct fake_options fake;
	struct recorder_run t;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		fake = row[i].fake;
		fake.script = script;
		t = attach(&fake);
		assert_int_equal(t.err, row[i].err);
		assert_non_null(strstr(t.error, row[i].text));
		assert_false(t.facts.ran);
	}
}

#define TEST(fn)	cmocka_unit_test_setup(fn, fresh_file)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trace_begins_with_the_program),
		TEST(filter_of_the_program),
		TEST(ready_once_the_program_is_there),
		TEST(exec_that_fails),
		TEST(all_threads_of_a_process),
		TEST(what_it_had_before),
		TEST(stopped_by_the_user),
		TEST(attaching_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
