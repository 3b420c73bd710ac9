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

#define ONE_CPU	 "/bin/ls -R /usr/include"
/* Maps on two CPUs and ends on the one whose records come first in the file. */
#define TWO_CPUS "taskset -c 1 sh -c 'taskset -p -c 0 $$; ls; true'"

struct mapping {
	uint64_t time, addr, len, file_offset;
	uint32_t pid, tid;
	size_t build_id_size;
	char path[256];
};

static int record(const char *options, const char *name, const char *program)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "cd %s && perf record -q -e cpu-clock:u %s -o %s %s >/dev/null 2>&1",
		 dir, options, name, program);
	return system(command);
}

static int by_time(const void *pa, const void *pb)
{
	const struct mapping *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->file_offset < b->file_offset ? -1 : 1;
}

/* All that the reader has, in the order of perf script: a file is by CPU. */
static size_t read_ours(const char *path, struct mapping *m, size_t room)
{
	struct perfdata *p = must_open(path);
	const struct perfdata_info *info = perfdata_info(p);
	struct perfdata_event ev;
	size_t n = 0;

	assert_true(info->complete && !info->ours && !info->backend);
	assert_non_null(strstr(info->cmdline, "record -q -e cpu-clock:u"));
	assert_non_null(info->cpuid);
	while (next_event(p, &ev)) {
		if (ev.type != PERFDATA_MMAP || ev.mmap.kernel)
			continue;
		assert_true(ev.has_time);
		assert_true(n < room);
		m[n] = (struct mapping){
			ev.time, ev.mmap.addr, ev.mmap.len,	      ev.file_offset,
			ev.pid,	 ev.tid,       ev.mmap.build_id_size, ""};
		snprintf(m[n++].path, sizeof(m->path), "%s", ev.mmap.path);
	}
	perfdata_close_reader(p);
	qsort(m, n, sizeof(*m), by_time);
	return n;
}

static void compare_line(char *line, const char *at, const struct mapping *m)
{
	unsigned int pid, tid, sec, nsec;
	uint64_t addr, len;
	char *time;

	at = strchr(at, ' ');
	assert_int_equal(sscanf(at, " %u/%u: [0x%" SCNx64 "(0x%" SCNx64 ")", &pid, &tid,
				&addr, &len),
			 4);
	assert_int_equal(m->pid, pid);
	assert_int_equal(m->tid, tid);
	assert_true(m->addr == addr && m->len == len);
	assert_non_null(strstr(at, m->path));
	time = strchr(line, '.');
	while (time > line && time[-1] != ' ')
		time--;
	assert_int_equal(sscanf(time, "%u.%u:", &sec, &nsec), 2);
	assert_true(m->time == sec * 1000000000ull + nsec);
}

/* Each line of perf script's that tells of a mapping, against the next of ours. */
static void compare(const char *options, const char *program, bool build_ids)
{
	char command[256], path[64], line[1024], *at;
	struct mapping m[64];
	size_t n = 0, ours;
	FILE *out;

	assert_int_equal(record(options, "x.data", program), 0);
	snprintf(path, sizeof(path), "%s/x.data", dir);
	ours = read_ours(path, m, 64);
	snprintf(command, sizeof(command),
		 "perf script --ns --show-mmap-events -i %s 2>/dev/null", path);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		at = strstr(line, "PERF_RECORD_MMAP");
		if (!at || strstr(line, "-1/0")) /* the kernel's */
			continue;
		assert_true(n < ours);
		compare_line(line, at, &m[n]);
		if (build_ids && m[n].path[0] == '/')
			assert_int_equal(m[n].build_id_size, 20);
		n++;
	}
	assert_int_equal(pclose(out), 0);
	assert_int_equal(n, ours);
	assert_true(n >= 3); /* the program, its loader, libc */
}

static void test_plain(void **state)
{
	compare("", ONE_CPU, false);
	compare("-c 100000 -e dummy", ONE_CPU, false);
}

static void test_two_cpus(void **state)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip();
	compare("", TWO_CPUS, false);
}

static void test_compressed(void **state)
{
#ifdef HAVE_ZSTD
	compare("-z", ONE_CPU, false);
	compare("-z=22 -F 5000", ONE_CPU, false);
#else
	skip();
#endif
}

static void test_build_ids(void **state)
{
	compare("--buildid-mmap", ONE_CPU, true);
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
	assert_int_equal(record("--threads", "many.data", ONE_CPU), 0);
	expect_kind("many.data", PERFDATA_DIRECTORY);
	assert_int_equal(record("", "-", "/bin/true 2>/dev/null | cat > pipe.data; true"),
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
		cmocka_unit_test(test_plain),	    cmocka_unit_test(test_two_cpus),
		cmocka_unit_test(test_compressed),  cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_other_kinds),
	};

	if (!mkdtemp(dir))
		return 1;
	if (record("", "try.data", ONE_CPU)) {
		printf("skipped: perf record does not work here (package linux-perf)\n");
		remove_dir(NULL);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, remove_dir);
}
