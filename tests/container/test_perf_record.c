/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that perf record wrote here: the reader sees the mappings that perf script
 * sees, at the same times.  Skipped where perf cannot record.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "temp.h"

static char dir[] = "/tmp/hwt-perf-XXXXXX";

static int record(const char *options, const char *name)
{
	char command[512];

	snprintf(
		command, sizeof(command),
		"cd %s && perf record -q -e cpu-clock:u %s -o %s /bin/ls -R /usr/include "
		">/dev/null 2>&1",
		dir, options, name);
	return system(command);
}

/* Each line of perf script's that tells of a mapping, against the next of ours. */
static void compare(const char *options, bool build_ids)
{
	unsigned int pid, tid, sec, usec, n = 0;
	char command[256], path[64], line[1024], *at;
	const struct perfdata_info *info;
	struct perfdata_event ev;
	struct perfdata *p;
	uint64_t addr, len;
	FILE *out;

	assert_int_equal(record(options, "x.data"), 0);
	snprintf(path, sizeof(path), "%s/x.data", dir);
	snprintf(command, sizeof(command),
		 "perf script --ns --show-mmap-events -i %s 2>/dev/null", path);
	p = must_open(path);
	info = perfdata_info(p);
	assert_true(info->complete && !info->ours && !info->backend);
	assert_non_null(strstr(info->cmdline, "record -q -e cpu-clock:u"));
	assert_non_null(info->cpuid);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		at = strstr(line, "PERF_RECORD_MMAP");
		if (!at || strstr(line, "-1/0")) /* the kernel's */
			continue;
		do
			assert_int_equal(next_event(p, &ev), 1);
		while (ev.type != PERFDATA_MMAP || ev.mmap.kernel);
		at = strchr(at, ' ');
		assert_int_equal(sscanf(at, " %u/%u: [0x%" SCNx64 "(0x%" SCNx64 ")", &pid,
					&tid, &addr, &len),
				 4);
		assert_int_equal(ev.pid, pid);
		assert_int_equal(ev.tid, tid);
		assert_true(ev.mmap.addr == addr && ev.mmap.len == len);
		assert_non_null(strstr(at, ev.mmap.path));
		at = strchr(line, '.');
		while (at > line && at[-1] != ' ')
			at--;
		assert_int_equal(sscanf(at, "%u.%u:", &sec, &usec), 2);
		assert_true(ev.has_time);
		assert_true(ev.time == sec * 1000000000ull + usec);
		if (build_ids && ev.mmap.path[0] == '/')
			assert_int_equal(ev.mmap.build_id_size, 20);
		n++;
	}
	pclose(out);
	assert_true(n >= 3); /* the program, its loader, libc */
	do
		assert_true(next_event(p, &ev) == 0 || ev.type != PERFDATA_MMAP);
	while (ev.file_offset && ev.type != PERFDATA_EXIT);
	perfdata_close_reader(p);
}

static void test_plain(void **state)
{
	compare("", false);
	compare("-c 100000 -e dummy", false);
}

static void test_compressed(void **state)
{
#ifdef HAVE_ZSTD
	compare("-z", false);
	compare("-z=22 -F 5000", false);
#else
	skip();
#endif
}

static void test_build_ids(void **state)
{
	compare("--buildid-mmap", true);
}

static void expect_kind(const char *name, enum perfdata_kind expected)
{
	enum perfdata_kind kind = PERFDATA_FILE;
	struct perfdata *p = NULL;
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(perfdata_open(path, &p, &kind), -EINVAL);
	assert_int_equal(kind, expected);
}

static void test_other_kinds(void **state)
{
	assert_int_equal(record("--threads", "many.data"), 0);
	expect_kind("many.data", PERFDATA_DIRECTORY);
	assert_int_equal(record("", "- /bin/true 2>/dev/null | cat > pipe.data; true"),
			 0);
	expect_kind("pipe.data", PERFDATA_PIPE);
}

static int remove_dir(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_other_kinds),
	};

	if (!mkdtemp(dir))
		return 1;
	if (record("", "try.data")) {
		printf("skipped: perf record does not work here (package linux-perf)\n");
		remove_dir(NULL);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, remove_dir);
}
