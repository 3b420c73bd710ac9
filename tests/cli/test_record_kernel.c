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
						 .exec_error = -ENOEXEC });
	assert_int_equal(t.err, -ENOEXEC);
	assert_true(t.result.spawn_failed);
	assert_int_equal(t.result.status, -1);
	assert_non_null(strstr(t.error, "/bin/prog"));
	t.opt.raw = "exec-that-fails.raw";
	run_recorder(&t, &(struct fake_options){ .script = late, .late_exec = true,
						 .exec_error = -ENOEXEC });
	assert_int_equal(access(t.opt.raw, F_OK), -1);
}

/* A set-uid program: as what is started, or later. */
static void program_beyond_us(void **state)
{
	static const struct fake_step script[] = {
		{ FAKE_EXEC, .path = "/bin/prog" }, { FAKE_TRACE, .n = 10 },
		{ FAKE_REVOKE, .path = "/bin/su" }, { FAKE_TRACE, .n = 5 }, { .op = FAKE_END }
	};
	struct recorder_run t;
	int i;

	for (i = 0; i < 2; i++) {
		fresh_file(NULL);
		t.opt = recorder_defaults();
		run_recorder(&t, &(struct fake_options){ .script = script + 2 * i,
							 .late_exec = true, .status = 0x200 });
		assert_int_equal(t.err, 0);
		assert_int_equal(t.result.status, 0x200);
		assert_int_equal(t.result.revoked.n, 1);
		assert_int_equal(t.result.revoked.pid, PID);
		assert_string_equal(t.result.revoked.program, "/bin/su");
		expect_stream(PID, i ? 0 : 10, 0);
	}
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
		assert_true(fake_file.of_type[HWT_REC_CODE] >= 1);	/* the vDSO's */
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
	assert_true(t.result.ended_ns >= t.result.started_ns);
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

/* ---- CPU mode ---- */

static struct recorder_run record_cpus(const struct fake_options *fake,
				       const struct record_filter *filters, int n)
{
	struct recorder_run t = { .opt = recorder_defaults() };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	CPU_SET(3, &cpus);
	t.opt.cpus = &cpus;
	t.opt.config.rtit_ctl = PT_CTL_OS | PT_CTL_BRANCHEN;
	t.opt.filters = filters;
	t.opt.nfilters = n;
	if (fake->stop) {
		*fake->stop = 0;
		t.opt.path = NULL;
		t.opt.stop = fake->stop;
	}
	run_recorder(&t, fake);
	return t;
}

#define KERNEL								\
	{ FAKE_KERNEL, .addr = KERNEL_TEXT, .len = 3u << 20, .path = "kernel" },	\
	{ FAKE_KERNEL, .addr = KERNEL_MOD, .len = 4096 + 16, .path = "[mod]" }

static const struct fake_step two_cpus[] = {
	KERNEL,
	{ FAKE_TRACE, .tid = 1, .n = 100 * KIB }, { FAKE_TRACE, .tid = 3, .n = 30 },
	{ FAKE_GAP, .tid = 3, .n = 2 }, { FAKE_TRACE, .tid = 3, .n = 5 },
	{ .op = FAKE_END }
};

static void cpus_while_a_program_runs(void **state)
{
	struct recorder_run t = record_cpus(&(struct fake_options){ .script = two_cpus,
		.cpu_mode = true, .late_exec = true, .status = 0x300 }, NULL, 0);

	assert_int_equal(t.err, 0);
	assert_int_equal(t.result.status, 0x300);
	assert_true(t.facts.started_at_run);
	assert_int_equal(t.facts.starts, 1);
	assert_int_equal(t.facts.stops, 1);
	assert_int_equal(t.result.threads, 2);
	assert_int_equal(t.result.processes, 0);
	assert_int_equal(t.result.gaps, 2);
	assert_true(fake_file.per_cpu);
	assert_int_equal(fake_file.code, (3u << 20) + 4096 + 16);
	expect_stream(1, 100 * KIB, 0);
	expect_stream(3, 35, 1);
}

static void cpus_until_stopped(void **state)
{
	static const struct fake_step script[] = {
		KERNEL, { FAKE_TRACE, .tid = 1, .n = 10 },
		/* A module is loaded, the last part of which goes away meanwhile. */
		{ FAKE_KERNEL, .addr = KERNEL_MOD + 0x10000, .len = 4096, .path = "[late]" },
		{ FAKE_TRACE, .tid = 1, .n = 10 }, { .op = FAKE_STOP }, { .op = FAKE_END }
	};
	struct recorder_run t = record_cpus(&(struct fake_options){ .script = script,
		.cpu_mode = true, .stop = &stop_flag,
		.unreadable = KERNEL_MOD + 0x10000 + 100 }, NULL, 0);

	assert_int_equal(t.err, 0);
	assert_false(t.facts.ran);
	assert_int_equal(t.facts.stops, 1);
	assert_int_equal(fake_file.code, (3u << 20) + 4096 + 16 + 100);
	expect_stream(1, 20, 0);
}

static void filters_in_the_kernel(void **state)
{
	static const struct {
		struct record_filter filter;
		uint64_t start, end;
		const char *text;
	} row[] = {
		{ { "kernel", "schedule" }, KERNEL_TEXT + 0x100, KERNEL_TEXT + 0x13f,
		  "filter 0xffffffff81000100/0x40" },
		{ { NULL, "schedule" }, KERNEL_TEXT + 0x100, KERNEL_TEXT + 0x13f,
		  "filter 0xffffffff81000100/0x40" },
		{ { "mod", "hello" }, KERNEL_MOD + 0x10, KERNEL_MOD + 0x4f,
		  "filter 0xffffffffc0000010/0x40" },
		{ { "mod", NULL }, KERNEL_MOD, KERNEL_MOD + 4096 + 15,
		  "filter 0xffffffffc0000000/0x1010" },
	};
	struct recorder_run t;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		fresh_file(NULL);
		t = record_cpus(&(struct fake_options){ .script = two_cpus, .cpu_mode = true },
				&row[i].filter, 1);
		assert_int_equal(t.err, 0);
		assert_int_equal(t.facts.last_config.nranges, 1);
		assert_int_equal(t.facts.last_pause, 0);
		assert_int_equal(t.facts.last_config.ip_ranges[0].start, row[i].start);
		assert_int_equal(t.facts.last_config.ip_ranges[0].end, row[i].end);
		assert_true(t.facts.started_at_run);
		assert_string_equal(fake_file.filter, row[i].text);
		assert_int_equal(t.result.filters_missed, 0);
	}
}

/* A typing mistake is told before anything runs; a module may yet be loaded. */
static void functions_that_are_not_there(void **state)
{
	static const struct record_filter none = { "kernel", "shedule" };
	static const struct record_filter later = { "later", "f" };
	struct recorder_run t;

	t = record_cpus(&(struct fake_options){ .script = two_cpus, .cpu_mode = true }, &none, 1);
	assert_int_equal(t.err, -ENOENT);
	assert_non_null(strstr(t.error, "shedule"));
	assert_int_equal(t.facts.starts, 0);
	assert_false(fake_file.created);
	fresh_file(NULL);
	t = record_cpus(&(struct fake_options){ .script = two_cpus, .cpu_mode = true }, &later, 1);
	assert_int_equal(t.err, 0);
	assert_int_equal(t.result.images_missed, 1);
	assert_int_equal(t.facts.starts, 0);
}

static void cpus_refused(void **state)
{
	static const struct { int err; const char *text; } row[] = {
		{ -EPERM, "CAP_PERFMON" }, { -ENXIO, "offline" }, { -EBUSY, "busy" },
		{ -EOPNOTSUPP, "cannot trace CPUs" },
	};
	struct recorder_run t;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		t = record_cpus(&(struct fake_options){ .script = two_cpus, .cpu_mode = true,
			.fail_ioctl = HWT_IOC_ALLOC, .fail_with = row[i].err }, NULL, 0);
		assert_int_equal(t.err, row[i].err);
		assert_non_null(strstr(t.error, row[i].text));
		assert_int_equal(t.facts.starts, 0);
	}
	t = record_cpus(&(struct fake_options){ .script = two_cpus, .cpu_mode = true,
		.fail_ioctl = HWT_IOC_KERNEL_READ, .fail_with = -EPERM }, NULL, 0);
	assert_int_equal(t.err, -EPERM);
	assert_non_null(strstr(t.error, "code of kernel"));
}

#define TEST(fn)	cmocka_unit_test_setup(fn, fresh_file)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trace_begins_with_the_program),
		TEST(filter_of_the_program),
		TEST(ready_once_the_program_is_there),
		TEST(exec_that_fails),
		TEST(program_beyond_us),
		TEST(all_threads_of_a_process),
		TEST(what_it_had_before),
		TEST(stopped_by_the_user),
		TEST(attaching_fails),
		TEST(cpus_while_a_program_runs),
		TEST(cpus_until_stopped),
		TEST(filters_in_the_kernel),
		TEST(functions_that_are_not_there),
		TEST(cpus_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
