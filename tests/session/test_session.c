// SPDX-License-Identifier: BSD-2-Clause
/* Recordings of made-up programs whose code changes while they run. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "decoded.h"
#include "world.h"

static void begin_main(struct world *w, struct world_thread *t)
{
	world_thread_begin(w, t, 100, 100);
	world_stop(t);
	t->generation = 1;
	world_mmap(w, t, MAIN_ADDR, 4096, w->main_path);
	world_go(w, t);
}

/* Another library at the same address, again and again. */
static void swap_to(struct world *w, struct world_thread *t, enum lib lib)
{
	world_stop(t);
	t->generation++;
	world_munmap(w, t, LIB_ADDR, 4096);
	t->generation++;
	world_mmap(w, t, LIB_ADDR, 4096, w->lib_path[lib]);
	world_go(w, t);
}

static void libraries_alternate(void **state)
{
	struct world_thread t;
	struct world w;
	int i;

	world_begin(&w, false);
	begin_main(&w, &t);
	for (i = 0; i < 6; i++) {
		swap_to(&w, &t, i % 3);
		world_run(&w, &t, i % 3, 50);
		if (i % 2)
			world_drain(&w, &t, false);
	}
	world_finish(&t);
	world_drain(&w, &t, false);
	world_close(&w);
	check_thread(w.path, &t);
	world_thread_end(&t);
	world_end(&w);
}

/* A second thread goes on with the old code until it hears of the new. */
static void threads_switch_alone(void **state)
{
	struct world_thread t1, t2;
	struct hwt_rec_thread create = {.tid = 101};
	struct hwt_rec_generation g;
	struct world w;
	int i;

	world_begin(&w, false);
	begin_main(&w, &t1);
	swap_to(&w, &t1, LIB_A);
	world_stop(&t1);
	world_record(&w, &t1, HWT_REC_THREAD_CREATE, &create, sizeof(create));
	world_thread_begin(&w, &t2, 100, 101);
	t2.generation = t1.generation;
	world_go(&w, &t1);
	for (i = 0; i < 10; i++) {
		world_run(&w, &t2, i % 2 ? LIB_B : LIB_A, 20);
		swap_to(&w, &t1, i % 2 ? LIB_A : LIB_B);
		world_run(&w, &t1, i % 2 ? LIB_A : LIB_B, 20);
		/* Late: it has run the old code until now. */
		world_run(&w, &t2, i % 2 ? LIB_B : LIB_A, 20);
		world_stop(&t2);
		g.generation = t2.generation = t1.generation;
		world_record(&w, &t2, HWT_REC_GENERATION, &g, sizeof(g));
		world_go(&w, &t2);
		world_drain(&w, &t1, false);
		world_drain(&w, &t2, false);
	}
	world_finish(&t1);
	world_finish(&t2);
	world_drain(&w, &t1, false);
	world_drain(&w, &t2, false);
	world_close(&w);
	check_thread(w.path, &t1);
	check_thread(w.path, &t2);
	world_thread_end(&t1);
	world_thread_end(&t2);
	world_end(&w);
}

/* Code that is written in place, over a file's and over nothing. */
static void captured_code(void **state)
{
	struct world_thread t;
	const uint8_t *bytes;
	struct world w;
	size_t n;
	int i;

	world_begin(&w, false);
	begin_main(&w, &t);
	for (i = 0; i < 9; i++) {
		world_stop(&t);
		t.generation++;
		if (i == 4)
			world_mmap(&w, &t, LIB_ADDR, 4096, w.lib_path[LIB_A]);
		t.generation++;
		bytes = world_lib(i % 3, &n);
		world_code(&w, &t, LIB_ADDR, bytes, (uint32_t)n);
		world_go(&w, &t);
		world_run(&w, &t, i % 3, 10);
	}
	world_finish(&t);
	world_drain(&w, &t, false);
	world_close(&w);
	check_thread(w.path, &t);
	world_thread_end(&t);
	world_end(&w);
}

/* The child has the parent's code as it was at the fork, and its own later. */
static void fork_and_exec(void **state)
{
	struct hwt_rec_fork fork = {200, 200};
	struct world_thread t, child;
	struct hwt_session *s;
	struct {
		struct hwt_rec_exec e;
		char path[16];
	} exec = {.e = {.old_tid = 200}, .path = "/bin/other"};
	struct world w;

	world_begin(&w, false);
	begin_main(&w, &t);
	swap_to(&w, &t, LIB_A);
	world_run(&w, &t, LIB_A, 5);
	world_stop(&t);
	world_record(&w, &t, HWT_REC_FORK, &fork, sizeof(fork));
	world_go(&w, &t);
	swap_to(&w, &t, LIB_B);
	world_run(&w, &t, LIB_B, 5);

	world_thread_begin(&w, &child, 200, 200);
	world_run(&w, &child, LIB_A, 5);
	swap_to(&w, &child, LIB_C);
	world_run(&w, &child, LIB_C, 5);
	/* Generations begin anew with the new program. */
	world_stop(&child);
	child.generation = 0;
	world_record(&w, &child, HWT_REC_EXEC, &exec, sizeof(exec));
	child.generation = 1;
	world_mmap(&w, &child, MAIN_ADDR, 4096, w.main_path);
	world_mmap(&w, &child, LIB_ADDR, 4096, w.lib_path[LIB_B]);
	world_go(&w, &child);
	world_run(&w, &child, LIB_B, 5);
	world_finish(&t);
	world_finish(&child);
	world_drain(&w, &t, false);
	world_drain(&w, &child, false);
	world_close(&w);
	check_thread(w.path, &t);
	check_thread(w.path, &child);
	s = open_session(w.path, 0);
	assert_int_equal(hwt_session_nstreams(s), 2);
	{
		struct trace_event ev[16];
		struct hwt_stream *st = stream_of(s, 200);
		uint32_t programs = 0;

		while (hwt_stream_next(st, ev, 16) > 0)
			programs = hwt_stream_programs(st);
		assert_int_equal(programs, 2);
	}
	hwt_session_close(s);
	world_thread_end(&t);
	world_thread_end(&child);
	world_end(&w);
}

/* Bytes that never reached the file: a counted gap, then it goes on. */
static void lost_bytes(void **state)
{
	struct world_thread t;
	struct hwt_session *s;
	struct hwt_stream *st;
	struct decoded d;
	struct world w;
	uint64_t from;
	size_t before, resumed;

	world_begin(&w, false);
	begin_main(&w, &t);
	swap_to(&w, &t, LIB_A);
	world_run(&w, &t, LIB_A, 100);
	world_stop(&t);
	world_drain(&w, &t, false);
	before = t.nip;
	world_go(&w, &t);
	from = t.written;
	world_run(&w, &t, LIB_A, 5000);
	world_stop(&t);
	world_drain(&w, &t, true);
	from = t.written - from;
	assert_true(from > 0);
	world_go(&w, &t);
	resumed = t.nip;
	/* The next sync point comes after some time. */
	world_run(&w, &t, LIB_A, 50000);
	world_finish(&t);
	world_drain(&w, &t, false);
	world_close(&w);
	s = open_session(w.path, 0);
	st = stream_of(s, 100);
	assert_int_equal(hwt_stream_info(st)->lost, from);
	decode(st, &d);
	assert_int_equal(d.errors, 0);
	assert_true(d.gaps > 0);
	assert_true(d.missing >= from);
	assert_true(d.n > before && d.n < t.nip - (resumed - before));
	assert_memory_equal(d.ip, t.ip, before * sizeof(*d.ip));
	/* What follows the gap is the end of what was executed. */
	assert_memory_equal(d.ip + before, t.ip + (t.nip - (d.n - before)),
			    (d.n - before) * sizeof(*d.ip));
	free(d.ip);
	hwt_session_close(s);
	world_thread_end(&t);
	world_end(&w);
}

/* Records of ours under a number that nobody knows: a recording of perf's. */
static void make_foreign(const char *path)
{
	struct {
		uint32_t type;
		uint16_t misc, size;
	} h;
	uint64_t header[13], at, end;
	FILE *f = fopen(path, "r+");
	uint64_t skip;

	assert_int_equal(fread(header, 1, 104, f), 104);
	at = header[5];
	end = at + header[6];
	while (at < end) {
		fseek(f, (long)at, SEEK_SET);
		assert_int_equal(fread(&h, 1, 8, f), 8);
		skip = h.size;
		if (h.type == 71) {
			uint64_t size;

			assert_int_equal(fread(&size, 1, 8, f), 8);
			skip += size;
		}
		if (h.type == 65) {
			h.type = 200;
			fseek(f, (long)at, SEEK_SET);
			fwrite(&h, 1, 8, f);
		}
		assert_true(h.size >= 8);
		at += skip;
	}
	fclose(f);
}

static void ordered_by_time(void **state)
{
	struct world_thread t;
	struct hwt_session *s;
	struct world w;
	int i;

	world_begin(&w, true);
	begin_main(&w, &t);
	for (i = 0; i < 6; i++) {
		w.tsc += 500;
		pt_unit_set_tsc(t.unit, w.tsc);
		world_stop(&t);
		world_mmap(&w, &t, LIB_ADDR, 4096, w.lib_path[i % 3]);
		world_go(&w, &t);
		world_run(&w, &t, i % 3, 50);
	}
	world_finish(&t);
	world_drain(&w, &t, false);
	world_close(&w);
	make_foreign(w.path);
	s = open_session(w.path, 0);
	assert_false(hwt_session_info(s)->ours);
	assert_string_equal(hwt_session_info(s)->writer, "perf");
	hwt_session_close(s);
	check_thread(w.path, &t);
	world_thread_end(&t);
	world_end(&w);
}

static void switch_at(struct world *w, const struct world_thread *t, uint64_t position,
		      uint32_t generation)
{
	struct {
		struct hwt_rec rec;
		struct hwt_rec_generation g;
	} r = {.rec = {.size = sizeof(r),
		       .type = HWT_REC_GENERATION,
		       .pid = t->pid,
		       .tid = t->tid,
		       .cpu = -1,
		       .generation = generation,
		       .position = position}};

	assert_int_equal(perfdata_write_record(w->writer, &r.rec), 0);
}

/* Records whose positions go back take their place, those of one position in order. */
static void switches_by_position(void **state)
{
	static const uint64_t expected[][2] = {{50, 12}, {60, 13}, {100, 11}, {100, 14}};
	struct hwt_code_switch sw = {};
	struct world_thread t;
	struct hwt_session *s;
	struct hwt_stream *st;
	struct world w;
	size_t i, n = 0;

	world_begin(&w, false);
	begin_main(&w, &t);
	switch_at(&w, &t, 100, 11);
	switch_at(&w, &t, 50, 12);
	switch_at(&w, &t, 60, 13);
	switch_at(&w, &t, 100, 14);
	world_finish(&t);
	world_drain(&w, &t, false);
	world_close(&w);
	s = open_session(w.path, 0);
	st = stream_of(s, 100);
	for (i = 0; hwt_stream_code_switch(st, i, &sw) == 1; i++) {
		if (sw.position < 50)
			continue;
		assert_true(n < 4);
		assert_int_equal(sw.position, expected[n][0]);
		assert_int_equal(sw.at.generation, expected[n][1]);
		n++;
	}
	assert_int_equal(n, 4);
	hwt_session_close(s);
	world_thread_end(&t);
	world_end(&w);
}

/* New code between two TSC packets, where nothing was before. */
static void ahead_of_time(void **state)
{
	struct world_thread t;
	struct world w;

	world_begin(&w, true);
	begin_main(&w, &t);
	world_stop(&t);
	/* The unit's clock stays: no TSC packet follows the mapping. */
	w.tsc += 100;
	world_mmap(&w, &t, LIB_ADDR, 4096, w.lib_path[LIB_B]);
	pt_unit_resume(t.unit, MAIN_ADDR);
	world_run(&w, &t, LIB_B, 50);
	world_stop(&t);
	world_go(&w, &t);
	world_run(&w, &t, LIB_B, 50);
	world_finish(&t);
	world_drain(&w, &t, false);
	world_close(&w);
	make_foreign(w.path);
	check_thread(w.path, &t);
	world_thread_end(&t);
	world_end(&w);
}

static void raw_stream(void **state)
{
	struct hwt_raw_map maps[2] = {};
	struct hwt_session_options o = {.maps = maps, .nmaps = 2};
	char raw[] = "/tmp/hwt-session-raw-XXXXXX", *error;
	struct world_thread t;
	struct hwt_session *s;
	struct decoded d;
	struct world w;
	FILE *f;

	world_begin(&w, false);
	begin_main(&w, &t);
	world_run(&w, &t, LIB_B, 100);
	world_finish(&t);
	f = fdopen(mkstemp(raw), "w");
	fwrite(t.dram, 1, t.regs.msr[MSR_RTIT_OUTPUT_MASK_PTRS - MSR_RTIT_FIRST] >> 32,
	       f);
	fclose(f);
	o.raw_path = raw;
	maps[0] = (struct hwt_raw_map){w.main_path, MAIN_ADDR, true};
	maps[1] = (struct hwt_raw_map){w.lib_path[LIB_B], LIB_ADDR, true};
	assert_int_equal(hwt_session_open(&o, warn, NULL, &s, &error), 0);
	assert_int_equal(hwt_session_nstreams(s), 1);
	decode(hwt_session_stream(s, 0), &d);
	assert_int_equal(d.n, t.nip);
	assert_memory_equal(d.ip, t.ip, d.n * sizeof(*d.ip));
	free(d.ip);
	hwt_session_close(s);
	/* Without an address, only an ELF says where it belongs. */
	maps[1].has_addr = false;
	assert_int_equal(hwt_session_open(&o, warn, NULL, &s, &error), -ENOEXEC);
	assert_non_null(strstr(error, "@ADDRESS"));
	free(error);
	/* A recording that is no perf.data: what it is, and what to do. */
	o = (struct hwt_session_options){.path = raw};
	assert_int_equal(hwt_session_open(&o, warn, NULL, &s, &error), -EINVAL);
	assert_non_null(strstr(error, "--raw"));
	free(error);
	unlink(raw);
	world_thread_end(&t);
	world_end(&w);
}

static void chunks_for_dump(void **state)
{
	uint64_t position, lost, next = 0;
	struct world_thread t;
	struct hwt_session *s;
	struct hwt_stream *st;
	const uint8_t *bytes;
	struct world w;
	size_t n;
	int ret;

	world_begin(&w, false);
	begin_main(&w, &t);
	world_run(&w, &t, LIB_A, 20000);
	world_drain(&w, &t, false);
	world_run(&w, &t, LIB_A, 20000);
	world_finish(&t);
	world_drain(&w, &t, false);
	world_close(&w);
	s = open_session(w.path, 0);
	st = stream_of(s, 100);
	while ((ret = hwt_stream_chunk(st, &bytes, &n, &position, &lost)) > 0) {
		assert_int_equal(position, next);
		assert_int_equal(lost, 0);
		assert_memory_equal(bytes, t.dram + position, n);
		next += n;
	}
	assert_int_equal(ret, 0);
	assert_int_equal(next, t.written);
	hwt_session_close(s);
	world_thread_end(&t);
	world_end(&w);
}

/* A process that runs on where its trace ends: nobody knows its status. */
static void exec_ends_a_trace(void **state)
{
	struct {
		struct hwt_rec_native native;
		char path[16];
	} last = {.native.machine = 183, .path = "/bin/other"};
	struct hwt_rec_exit privileged = {.status = 0}, unknown = {.status = -1};
	const struct hwt_stream_info *info;
	struct world_thread t;
	struct hwt_session *s;
	struct world w;
	int native;

	for (native = 0; native < 2; native++) {
		world_begin(&w, false);
		begin_main(&w, &t);
		world_stop(&t);
		t.flags = native ? 0 : HWT_REC_REVOKED;
		if (native)
			world_record(&w, &t, HWT_REC_NATIVE, &last, sizeof(last));
		world_record(&w, &t, HWT_REC_EXIT, native ? &unknown : &privileged,
			     sizeof(unknown));
		world_finish(&t);
		world_drain(&w, &t, false);
		world_close(&w);
		s = open_session(w.path, 0);
		info = hwt_stream_info(stream_of(s, 100));
		assert_true(info->exited);
		assert_int_equal(info->revoked, !native);
		assert_int_equal(!!info->native, native);
		if (native)
			assert_string_equal(info->native, "/bin/other");
		assert_int_equal(info->status, -1);
		hwt_session_close(s);
		world_thread_end(&t);
		world_end(&w);
	}
}

/* A thread begins with its creator's name, whoever tells of it, and keeps it. */
static void names_are_inherited(void **state)
{
	struct hwt_rec_thread by_itself = {.tid = 101}, by_creator = {.tid = 102};
	struct hwt_rec_name first = {"first"}, later = {"later"};
	struct world_thread t1, t2;
	struct hwt_session *s;
	struct world w;

	world_begin(&w, false);
	begin_main(&w, &t1);
	world_stop(&t1);
	world_record(&w, &t1, HWT_REC_THREAD_NAME, &first, sizeof(first));
	world_thread_begin(&w, &t2, 100, 101);
	world_stop(&t2);
	world_record(&w, &t2, HWT_REC_THREAD_CREATE, &by_itself, sizeof(by_itself));
	world_record(&w, &t1, HWT_REC_THREAD_CREATE, &by_creator, sizeof(by_creator));
	world_record(&w, &t1, HWT_REC_THREAD_NAME, &later, sizeof(later));
	world_finish(&t1);
	world_finish(&t2);
	world_drain(&w, &t1, false);
	world_drain(&w, &t2, false);
	world_close(&w);
	s = open_session(w.path, 0);
	assert_string_equal(hwt_stream_info(stream_of(s, 100))->name, "later");
	assert_string_equal(hwt_stream_info(stream_of(s, 101))->name, "first");
	assert_string_equal(hwt_stream_info(stream_of(s, 102))->name, "first");
	hwt_session_close(s);
	world_thread_end(&t1);
	world_thread_end(&t2);
	world_end(&w);
}

/* What the threads were called and how it ended. */
static void names_and_status(void **state)
{
	struct hwt_rec_exit gone = {.status = 9};
	struct hwt_rec_name name = {"worker"};
	const struct hwt_stream_info *info;
	struct image_symbol sym;
	struct world_thread t;
	struct hwt_session *s;
	struct hwt_stream *st;
	struct decoded d;
	struct world w;

	world_begin(&w, false);
	begin_main(&w, &t);
	swap_to(&w, &t, LIB_A);
	world_run(&w, &t, LIB_A, 1);
	world_stop(&t);
	world_record(&w, &t, HWT_REC_THREAD_NAME, &name, sizeof(name));
	world_record(&w, &t, HWT_REC_EXIT, &gone, sizeof(gone));
	world_finish(&t);
	world_drain(&w, &t, false);
	world_close(&w);
	/* The library is gone when it comes to decoding. */
	unlink(w.lib_path[LIB_A]);
	s = open_session(w.path, 0);
	assert_true(hwt_session_info(s)->ours);
	assert_string_equal(hwt_session_info(s)->writer, "hwt");
	assert_true(hwt_session_info(s)->complete);
	assert_string_equal(hwt_session_info(s)->backend, "pt");
	st = stream_of(s, 100);
	info = hwt_stream_info(st);
	assert_string_equal(info->name, "worker");
	assert_true(info->exited);
	assert_false(info->revoked);
	assert_int_equal(info->status, 9);
	assert_int_equal(info->pid, 100);
	assert_int_equal(info->cpu, -1);
	decode(st, &d);
	assert_true(d.gaps > 0);
	assert_int_equal(d.errors, 0);
	free(d.ip);
	assert_int_equal(warnings, 1);
	assert_non_null(strstr(last_warning, w.lib_path[LIB_A]));
	image_view_symbol(hwt_stream_view(st), LIB_ADDR, &sym);
	assert_string_equal(sym.image, w.lib_path[LIB_A]);
	hwt_session_close(s);
	world_thread_end(&t);
	world_end(&w);
}

static void not_a_recording(void **state)
{
	struct hwt_session_options o = {.path = "/nowhere"};
	struct hwt_session *s;
	char *error;

	assert_int_equal(hwt_session_open(&o, warn, NULL, &s, &error), -ENOENT);
	assert_non_null(strstr(error, "/nowhere"));
	free(error);
	o.path = "/";
	assert_true(hwt_session_open(&o, warn, NULL, &s, &error) < 0);
	assert_non_null(strstr(error, "directory"));
	free(error);
	o = (struct hwt_session_options){.raw_path = "/dev/null"};
	assert_int_equal(hwt_session_open(&o, warn, NULL, &s, &error), -EINVAL);
	free(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries_alternate),
		cmocka_unit_test(threads_switch_alone),
		cmocka_unit_test(captured_code),
		cmocka_unit_test(fork_and_exec),
		cmocka_unit_test(lost_bytes),
		cmocka_unit_test(ordered_by_time),
		cmocka_unit_test(switches_by_position),
		cmocka_unit_test(ahead_of_time),
		cmocka_unit_test(raw_stream),
		cmocka_unit_test(chunks_for_dump),
		cmocka_unit_test(names_and_status),
		cmocka_unit_test(names_are_inherited),
		cmocka_unit_test(exec_ends_a_trace),
		cmocka_unit_test(not_a_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
