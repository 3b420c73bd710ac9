// SPDX-License-Identifier: BSD-2-Clause
/* Recordings of the kernel host: CPUs that run kernel code, threads without generations. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "decoded.h"
#include "world.h"

static const char symbols[] = "ffffffff81000000 T main_loop\n"
			      "ffffffff81000005 t behind_it\n"
			      "ffffffff81800000 t helper\t[mod]\n";

static void object(struct world *w, uint64_t addr, const char *path)
{
	struct {
		struct hwt_rec_kernel k;
		char path[16];
	} p = {.k = {addr, 4096}};

	snprintf(p.path, sizeof(p.path), "%s", path);
	world_kernel_record(w, HWT_REC_KERNEL, &p, sizeof(p));
}

static void put_lib(struct world *w, enum hwt_rec_type type, enum lib lib)
{
	size_t n;
	const uint8_t *code = world_lib(lib, &n);

	world_kernel_code(w, type, KERNEL_LIB, code, (uint32_t)n);
}

/* What the recorder writes before START: objects, their code, the symbols. */
static void begin_kernel(struct world *w)
{
	size_t n;
	const uint8_t *code;

	world_begin_kind(w, WORLD_CPUS);
	assert_int_equal(perfdata_write_symbols(w->writer, symbols, sizeof(symbols) - 1), 0);
	object(w, KERNEL_MAIN, "kernel");
	code = world_main(&n);
	world_kernel_code(w, HWT_REC_CODE, KERNEL_MAIN, code, (uint32_t)n);
	object(w, KERNEL_LIB, "mod");
	put_lib(w, HWT_REC_CODE, LIB_A);
	w->tsc += 1000;
}

static void finish(struct world *w, struct world_thread *t)
{
	world_finish(t);
	world_drain(w, t, false);
}

static void two_cpus(void **state)
{
	struct world_thread cpu[2];
	struct hwt_stream *st;
	struct hwt_session *s;
	struct image_symbol sym;
	struct world w;
	int i;

	begin_kernel(&w);
	world_thread_begin(&w, &cpu[0], 0, 0);
	world_thread_begin(&w, &cpu[1], 0, 5);
	for (i = 0; i < 20; i++) {
		world_run(&w, &cpu[i % 2], LIB_A, 30);
		world_stop(&cpu[i % 2]);	/* to user mode and back */
		world_go(&w, &cpu[i % 2]);
		if (i % 3 == 0)
			world_drain(&w, &cpu[i % 2], false);
	}
	finish(&w, &cpu[0]);
	finish(&w, &cpu[1]);
	world_close(&w);
	check_cpu(w.path, &cpu[0]);
	check_cpu(w.path, &cpu[1]);

	s = open_session(w.path, 0);
	assert_int_equal(hwt_session_nstreams(s), 2);
	st = cpu_stream(s, 5);
	assert_int_equal(hwt_stream_info(st)->tid, 0);
	decode_away(st);
	assert_true(image_view_symbol(hwt_stream_view(st), KERNEL_MAIN + 2, &sym));
	assert_string_equal(sym.name, "main_loop");
	assert_string_equal(sym.image, "[kernel]");
	assert_int_equal(sym.end, KERNEL_MAIN + 5);
	assert_true(image_view_symbol(hwt_stream_view(st), KERNEL_LIB + 1, &sym));
	assert_string_equal(sym.name, "helper");
	assert_string_equal(sym.image, "[mod]");
	hwt_session_close(s);
	for (i = 0; i < 2; i++)
		world_thread_end(&cpu[i]);
	world_end(&w);
}

/* Text is patched again and again; each CPU is traced on from a time behind it. */
static void text_is_patched(void **state)
{
	struct world_thread cpu[2];
	struct world w;
	int i, j;

	begin_kernel(&w);
	world_thread_begin(&w, &cpu[0], 0, 0);
	world_thread_begin(&w, &cpu[1], 0, 1);
	for (i = 0; i < 12; i++) {
		for (j = 0; j < 2; j++) {
			world_run(&w, &cpu[j], i % 3, 20);
			world_stop(&cpu[j]);
		}
		w.tsc += 500;
		put_lib(&w, HWT_REC_TEXT_POKE, (i + 1) % 3);
		for (j = 0; j < 2; j++) {
			world_go(&w, &cpu[j]);
			world_drain(&w, &cpu[j], false);
		}
	}
	finish(&w, &cpu[0]);
	finish(&w, &cpu[1]);
	world_close(&w);
	for (i = 0; i < 2; i++) {
		check_cpu(w.path, &cpu[i]);
		world_thread_end(&cpu[i]);
	}
	world_end(&w);
}

/* What was patched between ALLOC and START is in the code that was read, too. */
static void patched_before_the_start(void **state)
{
	struct world_thread cpu;
	struct world w;

	begin_kernel(&w);
	put_lib(&w, HWT_REC_TEXT_POKE, LIB_B);
	put_lib(&w, HWT_REC_CODE, LIB_C);
	put_lib(&w, HWT_REC_TEXT_POKE, LIB_C);
	world_thread_begin(&w, &cpu, 0, 0);
	world_run(&w, &cpu, LIB_C, 20);
	finish(&w, &cpu);
	world_close(&w);
	check_cpu(w.path, &cpu);
	world_thread_end(&cpu);
	world_end(&w);
}

/* A module comes in while the trace runs. */
static void module_is_loaded(void **state)
{
	static const char late[] = "ffffffff81800000 t late_function\t[late]\n";
	struct image_symbol sym;
	struct world_thread cpu;
	struct hwt_session *s;
	struct hwt_stream *st;
	struct world w;

	begin_kernel(&w);
	world_thread_begin(&w, &cpu, 0, 0);
	world_run(&w, &cpu, LIB_A, 20);
	world_stop(&cpu);
	world_drain(&w, &cpu, false);
	w.tsc += 500;
	object(&w, KERNEL_LIB, "[late]");
	put_lib(&w, HWT_REC_CODE, LIB_B);
	world_go(&w, &cpu);
	world_run(&w, &cpu, LIB_B, 20);
	finish(&w, &cpu);
	assert_int_equal(perfdata_write_symbols(w.writer, late, sizeof(late) - 1), 0);
	world_close(&w);
	check_cpu(w.path, &cpu);
	s = open_session(w.path, 0);
	st = cpu_stream(s, 0);
	decode_away(st);
	image_view_symbol(hwt_stream_view(st), KERNEL_LIB, &sym);
	assert_string_equal(sym.image, "[late]");
	hwt_session_close(s);
	world_thread_end(&cpu);
	world_end(&w);
}

/* ---- threads on a kernel ---- */

static void swap_lib(struct world *w, struct world_thread *t, enum lib lib)
{
	world_stop(t);
	w->tsc += 100;
	world_munmap(w, t, LIB_ADDR, 4096);
	w->tsc += 100;
	world_mmap(w, t, LIB_ADDR, 4096, w->lib_path[lib]);
	world_go(w, t);
}

/* Its own changes are exact: no generation, no TSC is needed. */
static void thread_swaps_libraries(void **state)
{
	struct world_thread t;
	struct world w;
	int i;

	world_begin_kind(&w, WORLD_KERNEL);
	world_thread_begin(&w, &t, 100, 100);
	world_stop(&t);
	world_mmap(&w, &t, MAIN_ADDR, 4096, w.main_path);
	world_go(&w, &t);
	for (i = 0; i < 9; i++) {
		swap_lib(&w, &t, i % 3);
		world_run(&w, &t, i % 3, 30);
		if (i % 2)
			world_drain(&w, &t, false);
	}
	finish(&w, &t);
	world_close(&w);
	check_thread(w.path, &t);
	world_thread_end(&t);
	world_end(&w);
}

/* Another thread's changes come by time. */
static void thread_follows_anothers_changes(void **state)
{
	struct hwt_rec_thread create = {.tid = 101};
	struct world_thread t1, t2;
	struct world w;
	int i;

	world_begin_kind(&w, WORLD_KERNEL);
	world_thread_begin(&w, &t1, 100, 100);
	world_stop(&t1);
	world_mmap(&w, &t1, MAIN_ADDR, 4096, w.main_path);
	world_mmap(&w, &t1, LIB_ADDR, 4096, w.lib_path[LIB_A]);
	world_record(&w, &t1, HWT_REC_THREAD_CREATE, &create, sizeof(create));
	w.tsc += 100;
	world_thread_begin(&w, &t2, 100, 101);
	world_go(&w, &t1);
	for (i = 0; i < 9; i++) {
		world_run(&w, &t2, i % 3, 20);
		world_stop(&t2);
		swap_lib(&w, &t1, (i + 1) % 3);
		world_run(&w, &t1, (i + 1) % 3, 20);
		world_go(&w, &t2);
	}
	finish(&w, &t1);
	finish(&w, &t2);
	world_close(&w);
	check_thread(w.path, &t1);
	check_thread(w.path, &t2);
	world_thread_end(&t1);
	world_thread_end(&t2);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_cpus),
		cmocka_unit_test(text_is_patched),
		cmocka_unit_test(patched_before_the_start),
		cmocka_unit_test(module_is_loaded),
		cmocka_unit_test(thread_swaps_libraries),
		cmocka_unit_test(thread_follows_anothers_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
