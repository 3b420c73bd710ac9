/* SPDX-License-Identifier: BSD-2-Clause */
/* What the writer writes, the reader reads: every record type, trace bytes, info. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "temp.h"

#define PID 100
#define TID 101

/* Each payload, its text, and the perf event that must stand before the record. */
static const struct hwt_rec_mmap libc_map = {
	.addr = 0x7000000,
	.len = 0x2000,
	.pgoff = 0x1000,
	.ino = 5,
	.dev_major = 8,
	.dev_minor = 1,
	.prot = PROT_READ | PROT_EXEC,
	.mapflags = MAP_PRIVATE,
};
static const struct hwt_rec_mmap jit_map = {
	.addr = 0x8000000,
	.len = 0x1000,
	.prot = PROT_READ | PROT_WRITE | PROT_EXEC,
	.mapflags = MAP_PRIVATE | MAP_ANONYMOUS,
};
static const struct hwt_rec_mmap heap_map = {
	.addr = 0x9000000,
	.len = 0x1000,
	.prot = PROT_READ | PROT_WRITE,
};
static const struct hwt_rec_munmap munmap_payload = {0x7000000, 0x1000};
static const struct hwt_rec_mprotect mprotect_payload = {0x9000000, 0x1000, PROT_EXEC, 0};
static const struct hwt_rec_exec exec_payload = {.old_tid = TID, .addr = 0x400000};
static const struct hwt_rec_thread new_thread = {.tid = 102};
static const struct hwt_rec_thread old_thread = {.tid = 102, .status = 3};
static const struct hwt_rec_name name_payload = {"sixteen bytes ok"};
static const struct hwt_rec_fork fork_payload = {200, 200};
static const struct hwt_rec_buffer buffer_payload = {.buf_id = TID, .head = 64};
static const struct hwt_rec_kernel kernel_payload = {0xffffffff81000000, 0x1000};
static const struct hwt_rec_lost lost_payload = {17};
static const struct hwt_rec_exit exit_payload = {0x100, 0};
static const struct hwt_rec_source source_payload = {7, 0x11};
static const struct hwt_rec_native native_payload = {62, 0};
static const struct hwt_rec_generation generation_payload = {9};
static const struct {
	struct hwt_rec_code head;
	uint8_t bytes[8];
} code_payload = {{.addr = 0xa000, .len = 5}, {0x90, 0x90, 0xc3, 1, 2}};

static const struct row {
	uint16_t type;
	const void *payload;
	size_t n;
	const char *text;
	int before; /* -1: perf has no record for it */
} rows[] = {
	{HWT_REC_EXEC, &exec_payload, sizeof(exec_payload),
	 "/usr/bin/a-long-program-name", PERFDATA_COMM},
	{HWT_REC_MMAP, &libc_map, sizeof(libc_map), "/usr/lib/libc.so.6", PERFDATA_MMAP},
	{HWT_REC_MMAP, &libc_map, sizeof(libc_map), "/usr/lib/other.so", PERFDATA_MMAP},
	{HWT_REC_MMAP, &jit_map, sizeof(jit_map), "", PERFDATA_MMAP},
	{HWT_REC_MMAP, &heap_map, sizeof(heap_map), "", -1},
	{HWT_REC_MUNMAP, &munmap_payload, sizeof(munmap_payload), NULL, -1},
	{HWT_REC_MPROTECT, &mprotect_payload, sizeof(mprotect_payload), NULL, -1},
	{HWT_REC_THREAD_CREATE, &new_thread, sizeof(new_thread), NULL, PERFDATA_FORK},
	{HWT_REC_THREAD_NAME, &name_payload, sizeof(name_payload), NULL, PERFDATA_COMM},
	{HWT_REC_THREAD_EXIT, &old_thread, sizeof(old_thread), NULL, PERFDATA_EXIT},
	{HWT_REC_FORK, &fork_payload, sizeof(fork_payload), NULL, PERFDATA_FORK},
	{HWT_REC_BUFFER, &buffer_payload, sizeof(buffer_payload), NULL, -1},
	{HWT_REC_KERNEL, &kernel_payload, sizeof(kernel_payload), "kernel",
	 PERFDATA_MMAP},
	{HWT_REC_TEXT_POKE, &code_payload, sizeof(code_payload), NULL,
	 PERFDATA_TEXT_POKE},
	{HWT_REC_LOST, &lost_payload, sizeof(lost_payload), NULL, PERFDATA_LOST},
	{HWT_REC_CODE, &code_payload, sizeof(code_payload), NULL, -1},
	{HWT_REC_GENERATION, &generation_payload, sizeof(generation_payload), NULL, -1},
	{HWT_REC_SOURCE, &source_payload, sizeof(source_payload), NULL, -1},
	{HWT_REC_NATIVE, &native_payload, sizeof(native_payload), "/bin/true", -1},
	{HWT_REC_EXIT, &exit_payload, sizeof(exit_payload), NULL, PERFDATA_EXIT},
};
#define NROWS (sizeof(rows) / sizeof(rows[0]))

static struct perfdata_writer *must_create(const char *path)
{
	struct perfdata_writer *w = NULL;

	assert_int_equal(perfdata_create(path, &test_params, &w), 0);
	return w;
}

/* Events up to and with the next HWT one; the last perf event before it in *perf. */
static void next_rec(struct perfdata *p, struct perfdata_event *ev, int *perf)
{
	*perf = -1;
	while (next_event(p, ev) && ev->type != PERFDATA_HWT)
		if (ev->type != PERFDATA_ITRACE_START)
			*perf = ev->type;
	assert_int_equal(ev->type, PERFDATA_HWT);
}

static void test_every_record(void **state)
{
	char *path = temp_file();
	struct perfdata_writer *w = must_create(path);
	struct hwt_rec *recs[NROWS];
	struct perfdata_event ev;
	struct perfdata *p;
	int before;
	size_t i;

	for (i = 0; i < NROWS; i++) {
		recs[i] = make_rec(rows[i].type, PID, TID, rows[i].payload, rows[i].n,
				   rows[i].text);
		assert_int_equal(perfdata_write_record(w, recs[i]), 0);
	}
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	for (i = 0; i < NROWS; i++) {
		next_rec(p, &ev, &before);
		assert_int_equal(before, rows[i].before);
		assert_int_equal(ev.rec->size, recs[i]->size);
		assert_memory_equal(ev.rec, recs[i], recs[i]->size);
		assert_true(ev.has_time);
		assert_int_equal(perfdata_time_to_ticks(p, ev.time), recs[i]->time);
		free(recs[i]);
	}
	while (next_event(p, &ev))
		assert_int_equal(ev.type, PERFDATA_EXIT); /* threads that were left */
	assert_true(perfdata_info(p)->complete);
	assert_int_equal(perfdata_info(p)->truncated_at, 0);
	perfdata_close_reader(p);
	temp_remove(path);
}

static void write_one(struct perfdata_writer *w, uint16_t type, const void *payload,
		      size_t n, const char *text)
{
	struct hwt_rec *rec = make_rec(type, PID, TID, payload, n, text);

	assert_int_equal(perfdata_write_record(w, rec), 0);
	free(rec);
}

/* The fields that perf's own records carry. */
static void test_perf_fields(void **state)
{
	char *path = temp_file();
	struct perfdata_writer *w = must_create(path);
	struct perfdata_event ev;
	struct perfdata *p;
	int i;

	write_one(w, HWT_REC_EXEC, &exec_payload, sizeof(exec_payload), "/bin/prog");
	write_one(w, HWT_REC_MMAP, &libc_map, sizeof(libc_map), "/usr/lib/libc.so.6");
	write_one(w, HWT_REC_MMAP, &libc_map, sizeof(libc_map), "/usr/lib/other.so");
	write_one(w, HWT_REC_FORK, &fork_payload, sizeof(fork_payload), NULL);
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_ITRACE_START);
	assert_int_equal(ev.tid, TID);
	assert_int_equal(next_event(p, &ev), 1);
	assert_string_equal(ev.comm.comm, "prog");
	assert_true(ev.comm.exec);
	assert_int_equal(next_event(p, &ev), 1); /* the record itself */
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.mmap.addr, libc_map.addr);
	assert_int_equal(ev.mmap.len, libc_map.len);
	assert_int_equal(ev.mmap.pgoff, libc_map.pgoff);
	assert_int_equal(ev.mmap.prot, libc_map.prot);
	assert_int_equal(ev.mmap.flags, libc_map.mapflags);
	assert_string_equal(ev.mmap.path, "/usr/lib/libc.so.6");
	assert_int_equal(ev.mmap.build_id_size, 20);
	for (i = 0; i < 20; i++)
		assert_int_equal(ev.mmap.build_id[i], 0xab);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.mmap.build_id_size, 0);
	assert_int_equal(ev.mmap.ino, libc_map.ino);
	assert_int_equal(ev.mmap.major, libc_map.dev_major);
	assert_int_equal(ev.mmap.minor, libc_map.dev_minor);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_FORK);
	assert_int_equal(ev.pid, 200);
	assert_int_equal(ev.fork.ppid, PID);
	assert_int_equal(ev.fork.ptid, TID);
	perfdata_close_reader(p);
	temp_remove(path);
}

/* Code larger than a perf record is split and comes back whole. */
static void test_large_code(void **state)
{
	const size_t sizes[] = {1, 65000, 65528, 65529, 200000, 1 << 20};
	struct {
		struct hwt_rec_code head;
		uint8_t bytes[1 << 20];
	} *code = calloc(1, sizeof(*code));
	char *path = temp_file();
	struct perfdata_writer *w = must_create(path);
	struct perfdata_event ev;
	struct hwt_rec *rec;
	struct perfdata *p;
	const struct hwt_rec_code *got;
	size_t i;

	assert_non_null(code);
	for (i = 0; i < sizeof(code->bytes); i++)
		code->bytes[i] = (uint8_t)(i * 7 + (i >> 9));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		code->head.len = (uint32_t)sizes[i];
		rec = make_rec(HWT_REC_CODE, PID, TID, code,
			       sizeof(code->head) + sizes[i], NULL);
		assert_int_equal(perfdata_write_record(w, rec), 0);
		free(rec);
	}
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		do
			assert_int_equal(next_event(p, &ev), 1);
		while (ev.type != PERFDATA_HWT);
		got = (const struct hwt_rec_code *)(ev.rec + 1);
		assert_int_equal(got->len, sizes[i]);
		assert_memory_equal(got->bytes, code->bytes, sizes[i]);
	}
	perfdata_close_reader(p);
	temp_remove(path);
	free(code);
}

static void test_symbols(void **state)
{
	const size_t sizes[] = {1, 65000, 200000};
	char *path = temp_file(), *text = malloc(200000);
	struct perfdata_writer *w = must_create(path);
	struct perfdata_event ev;
	struct perfdata *p;
	size_t i;

	for (i = 0; i < 200000; i++)
		text[i] = (char)('a' + i % 23);
	assert_int_equal(perfdata_write_symbols(w, text, 0), -EINVAL);
	assert_int_equal(perfdata_write_symbols(w, text, (16u << 20) + 1), -EINVAL);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		assert_int_equal(perfdata_write_symbols(w, text, sizes[i]), 0);
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		do
			assert_int_equal(next_event(p, &ev), 1);
		while (ev.type != PERFDATA_SYMBOLS);
		assert_int_equal(ev.symbols.n, sizes[i]);
		assert_memory_equal(ev.symbols.text, text, sizes[i]);
	}
	perfdata_close_reader(p);
	temp_remove(path);
	free(text);
}

static void test_malformed(void **state)
{
	char *path = temp_file();
	struct perfdata_writer *w = must_create(path);
	struct hwt_rec *rec =
		make_rec(HWT_REC_MMAP, PID, TID, &libc_map, sizeof(libc_map), "/x");
	struct perfdata_event ev;
	struct perfdata *p;

	memset((char *)rec + rec->size - 8, 'x', 8); /* a path without an end */
	assert_int_equal(perfdata_write_record(w, rec), -EINVAL);
	rec->size -= 4;
	assert_int_equal(perfdata_write_record(w, rec), -EINVAL);
	rec->size = 8;
	assert_int_equal(perfdata_write_record(w, rec), -EINVAL);
	rec->size = sizeof(*rec) + 8;
	assert_int_equal(perfdata_write_record(w, rec), -EINVAL);
	rec->type = HWT_REC_TYPE_MAX;
	assert_int_equal(perfdata_write_record(w, rec), -EINVAL);
	rec->type = 0;
	assert_int_equal(perfdata_write_record(w, rec), -EINVAL);
	free(rec);
	rec = make_rec(HWT_REC_CODE, PID, TID, &code_payload, sizeof(code_payload), NULL);
	((struct hwt_rec_code *)(rec + 1))->len = 9;
	assert_int_equal(perfdata_write_record(w, rec), -EINVAL);
	free(rec);
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	assert_int_equal(next_event(p, &ev), 0);
	perfdata_close_reader(p);
	temp_remove(path);
}

static void test_info(void **state)
{
	char *path = temp_file(), long_filter[PERFDATA_FILTER_MAX + 1], shown[100000];
	struct perfdata_writer *w = must_create(path);
	const struct perfdata_info *info;
	struct perfdata_event ev;
	struct perfdata *p;

	memset(long_filter, 'f', sizeof(long_filter));
	long_filter[PERFDATA_FILTER_MAX] = 0;
	assert_int_equal(perfdata_set_filter(w, long_filter), -ENAMETOOLONG);
	long_filter[PERFDATA_FILTER_MAX - 1] = 0;
	assert_int_equal(perfdata_set_filter(w, long_filter), 0);
	assert_int_equal(perfdata_set_filter(w, "filter 0x10/0x20@/bin/x"), 0);
	assert_int_equal(perfdata_set_shown(w, "filter 0x10/0x8@/bin/x"), 0);
	memset(shown, 's', sizeof(shown));
	shown[sizeof(shown) - 1] = 0;
	assert_int_equal(perfdata_set_shown(w, shown), 0);
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	info = perfdata_info(p);
	assert_string_equal(info->backend, "pt");
	assert_string_equal(info->host, "embedded");
	assert_string_equal(info->cmdline, "hwt record -- a b");
	assert_string_equal(info->arch, "x86_64");
	assert_string_equal(info->filter, "filter 0x10/0x20@/bin/x");
	assert_int_equal(next_event(p, &ev), 0);
	assert_string_equal(info->shown, shown);
	assert_non_null(info->hostname);
	assert_non_null(info->os_release);
	assert_non_null(info->cpuid);
	assert_true(info->rtit_ctl == TEST_CTL);
	assert_int_equal(info->mtc_freq, 3);
	assert_int_equal(info->tsc_ratio_num, 80);
	assert_int_equal(info->tsc_ratio_den, 2);
	assert_int_equal(info->nominal_ratio, 10);
	assert_true(info->ours && info->complete && info->has_time_conv);
	assert_false(info->per_cpu);
	perfdata_close_reader(p);
	temp_remove(path);
}

/* CoreSight: a unit of each trace ID, which is the CPU's that a SOURCE record names. */
static void test_cpu_sources(void **state)
{
	static const struct hwt_rec_source sources[] = {{3, 0x11}, {3, 1}, {3, 0x6f}, {3, 0x70}};
	static const int32_t cpu_of[] = {3, 4, 70, 5};
	struct perfdata_params params = test_params;
	const struct perfdata_info *info;
	char *path = temp_file();
	struct perfdata_writer *w;
	struct perfdata *p;
	struct hwt_rec *rec;
	uint32_t i, want;

	params.backend = "coresight";
	params.per_cpu = params.shared = true;
	assert_int_equal(perfdata_create(path, &params, &w), 0);
	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		rec = make_rec(HWT_REC_SOURCE, 0, 0, &sources[i], sizeof(sources[i]), NULL);
		rec->cpu = cpu_of[i];
		assert_int_equal(perfdata_write_record(w, rec), 0);
		free(rec);
	}
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	info = perfdata_info(p);
	assert_true(info->per_cpu);
	assert_int_equal(info->netm, CORESIGHT_TRACE_ID_LAST);
	for (i = 0; i < info->netm; i++) {
		want = i == 0x10 ? 3 : i == 0 ? 4 : i == 0x6e ? 70 : UINT32_MAX;
		assert_int_equal(info->etm[i].traceidr, i + 1);
		assert_int_equal(info->etm[i].cpu, want);
	}
	perfdata_close_reader(p);
	temp_remove(path);
}

/* Times at the ends of their range: they saturate, they never wrap. */
static void test_clock(void **state)
{
	static const uint64_t hz[] = {1,	  1000,	      24000000,	  999999937,
				      1000000000, 3700000000, 1ull << 40, UINT64_MAX};
	struct perfdata_params params = test_params;
	struct perfdata_writer *w;
	struct perfdata *p;
	char *path;
	uint64_t ns;
	size_t i;

	for (i = 0; i < sizeof(hz) / sizeof(hz[0]); i++) {
		path = temp_file();
		params.time_hz = hz[i];
		assert_int_equal(perfdata_create(path, &params, &w), 0);
		assert_int_equal(perfdata_close(w), 0);
		p = must_open(path);
		assert_int_equal(perfdata_ticks_to_time(p, 0), 0);
		assert_int_equal(perfdata_time_to_ticks(p, 0), 0);
		if (hz[i] >= 1000 && hz[i] <= 4000000000) {
			ns = perfdata_ticks_to_time(p, hz[i] * 100); /* 100 s */
			assert_in_range(ns, 99999999000, 100000001000);
		}
		if (hz[i] < 1000000000)
			assert_true(perfdata_ticks_to_time(p, UINT64_MAX) == UINT64_MAX);
		if (hz[i] > 1000000000)
			assert_true(perfdata_time_to_ticks(p, UINT64_MAX) == UINT64_MAX);
		perfdata_close_reader(p);
		temp_remove(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_record), cmocka_unit_test(test_perf_fields),
		cmocka_unit_test(test_large_code),   cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_info),	     cmocka_unit_test(test_clock),
		cmocka_unit_test(test_cpu_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
