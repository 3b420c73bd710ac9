// SPDX-License-Identifier: BSD-2-Clause
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "world.h"

#define DRAM_SIZE (1u << 20)
#define PAGE	  4096

static const uint8_t main_code[] = {0xff, 0xd0, 0x90, 0xeb, 0xfb};
static const struct {
	uint8_t n, code[8], ninsn, len[4];
} libs[LIB_MAX] = {
	[LIB_A] = {2, {0x90, 0xc3}, 2, {1, 1}},
	[LIB_B] = {4, {0x90, 0x90, 0x90, 0xc3}, 4, {1, 1, 1, 1}},
	[LIB_C] = {6, {0x66, 0x90, 0x48, 0x31, 0xc0, 0xc3}, 3, {2, 3, 1}},
};

const uint8_t *world_lib(enum lib lib, size_t *n)
{
	*n = libs[lib].n;
	return libs[lib].code;
}

static void make_file(char *path, const char *name, const uint8_t *code, size_t n)
{
	uint8_t page[PAGE];
	FILE *f;

	snprintf(path, 64, "/tmp/hwt-session-%s-XXXXXX", name);
	f = fdopen(mkstemp(path), "w");
	assert_non_null(f);
	memset(page, 0xcc, sizeof(page));
	memcpy(page, code, n);
	fwrite(page, 1, sizeof(page), f);
	fclose(f);
}

/* Where the last whole packet ends: the unit writes whole packets only. */
static size_t all(const uint8_t *bytes, size_t n)
{
	return n;
}

static void begin(struct world *w, enum world_kind kind, bool tsc)
{
	static const char *const argv[] = {"prog", "arg", NULL};
	static const char *const names[] = {"a", "b", "c"};
	struct perfdata_params p = {
		.backend = "pt",
		.argv = argv,
		.rtit_ctl = (kind == WORLD_CPUS ? RTIT_CTL_OS : RTIT_CTL_USER) |
			    RTIT_CTL_BRANCHEN | (tsc ? RTIT_CTL_TSCEN : 0),
		.caps = pt_unit_default_caps,
		.ncaps = 8,
		.time_hz = 1000000000,
		.per_cpu = kind == WORLD_CPUS,
		.host = kind == WORLD_EMBEDDED ? "embedded" : "kernel",
		.whole_packets = all,
	};
	int i;

	memset(w, 0, sizeof(*w));
	w->kind = kind;
	w->main = kind == WORLD_CPUS ? KERNEL_MAIN : MAIN_ADDR;
	w->lib = kind == WORLD_CPUS ? KERNEL_LIB : LIB_ADDR;
	make_file(w->main_path, "main", main_code, sizeof(main_code));
	for (i = 0; i < LIB_MAX; i++)
		make_file(w->lib_path[i], names[i], libs[i].code, libs[i].n);
	strcpy(w->path, "/tmp/hwt-session-data-XXXXXX");
	close(mkstemp(w->path));
	w->tsc = tsc ? 1000000 : 0;
	assert_int_equal(perfdata_create(w->path, &p, &w->writer), 0);
}

void world_begin(struct world *w, bool tsc)
{
	begin(w, WORLD_EMBEDDED, tsc);
}

void world_begin_kind(struct world *w, enum world_kind kind)
{
	begin(w, kind, true);
}

const uint8_t *world_main(size_t *n)
{
	*n = sizeof(main_code);
	return main_code;
}

void world_close(struct world *w)
{
	assert_int_equal(perfdata_close(w->writer), 0);
	w->writer = NULL;
}

void world_end(struct world *w)
{
	int i;

	if (w->writer)
		world_close(w);
	unlink(w->path);
	unlink(w->main_path);
	for (i = 0; i < LIB_MAX; i++)
		unlink(w->lib_path[i]);
}

static void *memory(void *ctx, uint64_t addr, uint64_t len)
{
	struct world_thread *t = ctx;

	return addr < DRAM_SIZE && len <= DRAM_SIZE - addr ? t->dram + addr : NULL;
}

static void interrupt(void *ctx)
{
	fail_msg("the buffer is too small for the test");
}

void world_thread_begin(struct world *w, struct world_thread *t, uint32_t pid,
			uint32_t tid)
{
	struct pt_unit_host host = {.ctx = t, .memory = memory, .interrupt = interrupt};
	bool cpu = w->kind == WORLD_CPUS;
	uint64_t ctl = (cpu ? RTIT_CTL_OS : RTIT_CTL_USER) | RTIT_CTL_BRANCHEN |
		       RTIT_CTL_TRACEEN;

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->tid = tid;
	t->main = w->main;
	t->dram = calloc(1, DRAM_SIZE);
	t->unit = malloc(pt_unit_size());
	pt_unit_init(t->unit, &t->regs, NULL, &host);
	assert_int_equal(pt_unit_wrmsr(t->unit, MSR_RTIT_OUTPUT_BASE, 0), 0);
	assert_int_equal(pt_unit_wrmsr(t->unit, MSR_RTIT_OUTPUT_MASK_PTRS, DRAM_SIZE - 1),
			 0);
	pt_unit_set_context(t->unit, cpu ? 0 : 3, 0x1000, w->main);
	if (w->tsc) {
		pt_unit_set_tsc(t->unit, ++w->tsc);
		ctl |= RTIT_CTL_TSCEN;
	}
	assert_int_equal(pt_unit_wrmsr(t->unit, MSR_RTIT_CTL, ctl), 0);
}

void world_thread_end(struct world_thread *t)
{
	free(t->unit);
	free(t->dram);
	free(t->ip);
}

static void note(struct world_thread *t, uint64_t ip, const uint8_t *len, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (t->nip == t->room) {
			t->room = t->room ? t->room * 2 : 1024;
			t->ip = realloc(t->ip, t->room * sizeof(*t->ip));
		}
		t->ip[t->nip++] = ip;
		ip += len[i];
	}
}

static void feed(struct world_thread *t, uint64_t start, uint32_t n, const uint8_t *len,
		 enum run_end kind, uint64_t target, uint64_t next)
{
	struct run *r = malloc(run_size(n));

	run_init(r, start, n, len, kind, target);
	pt_unit_run(t->unit, r, n, next);
	note(t, start, len, n);
	free(r);
}

void world_run(struct world *w, struct world_thread *t, enum lib lib, int rounds)
{
	static const uint8_t two[] = {2, 2}, nop_jmp[] = {1, 2};
	int i;

	for (i = 0; i < rounds; i++) {
		feed(t, w->main, 1, two, RUN_CALL_IND, 0, w->lib);
		feed(t, w->lib, libs[lib].ninsn, libs[lib].len, RUN_RET, 0, w->main + 2);
		feed(t, w->main + 2, 2, nop_jmp, RUN_JMP, w->main, w->main);
	}
}

static uint64_t position(const struct world_thread *t)
{
	return t->regs.msr[MSR_RTIT_OUTPUT_MASK_PTRS - MSR_RTIT_FIRST] >> 32;
}

uint64_t world_stop(struct world_thread *t)
{
	pt_unit_break(t->unit, t->main);
	return position(t);
}

void world_finish(struct world_thread *t)
{
	world_stop(t);
	pt_unit_wrmsr(t->unit, MSR_RTIT_CTL, 0);
}

void world_go(struct world *w, struct world_thread *t)
{
	if (w->tsc)
		pt_unit_set_tsc(t->unit, w->tsc += 1000);
	pt_unit_resume(t->unit, t->main);
}

void world_drain(struct world *w, struct world_thread *t, bool drop)
{
	uint64_t to = position(t);

	if (!drop && to > t->written)
		assert_int_equal(perfdata_write_trace(w->writer, t->pid, t->tid,
						      t->written, t->dram + t->written,
						      to - t->written, false, false),
				 0);
	t->written = to;
}

static void put(struct world *w, const struct hwt_rec *head, const void *payload, size_t n)
{
	size_t size = (sizeof(*head) + n + 7) & ~7ull;
	struct hwt_rec *rec = calloc(1, size);

	*rec = *head;
	rec->size = (uint32_t)size;
	rec->time = w->tsc;
	memcpy(rec + 1, payload, n);
	assert_int_equal(perfdata_write_record(w->writer, rec), 0);
	free(rec);
}

void world_record(struct world *w, struct world_thread *t, enum hwt_rec_type type,
		  const void *payload, size_t n)
{
	struct hwt_rec head = {
		.type = (uint16_t)type,
		.flags = t->flags,
		.pid = t->pid,
		.tid = t->tid,
		.cpu = w->kind == WORLD_CPUS ? (int32_t)t->tid : -1,
		.generation = w->kind == WORLD_EMBEDDED ? (uint32_t)t->generation : 0,
		.position = position(t),
	};

	put(w, &head, payload, n);
}

void world_kernel_record(struct world *w, enum hwt_rec_type type, const void *payload, size_t n)
{
	put(w, &(struct hwt_rec){.type = (uint16_t)type, .cpu = -1}, payload, n);
}

void world_kernel_code(struct world *w, enum hwt_rec_type type, uint64_t addr,
		       const void *bytes, uint32_t n)
{
	struct {
		struct hwt_rec_code c;
		uint8_t bytes[64];
	} p = {.c = {.addr = addr, .len = n}};

	memcpy(p.bytes, bytes, n);
	world_kernel_record(w, type, &p, sizeof(p.c) + n);
}

void world_mmap(struct world *w, struct world_thread *t, uint64_t addr, uint64_t len,
		const char *path)
{
	struct {
		struct hwt_rec_mmap m;
		char path[64];
	} p = {.m = {.addr = addr,
		     .len = len,
		     .prot = PROT_READ | PROT_EXEC,
		     .mapflags = 2}};

	snprintf(p.path, sizeof(p.path), "%s", path);
	world_record(w, t, HWT_REC_MMAP, &p, sizeof(p));
}

void world_munmap(struct world *w, struct world_thread *t, uint64_t addr, uint64_t len)
{
	struct hwt_rec_munmap m = {addr, len};

	world_record(w, t, HWT_REC_MUNMAP, &m, sizeof(m));
}

void world_code(struct world *w, struct world_thread *t, uint64_t addr, const void *bytes,
		uint32_t n)
{
	struct {
		struct hwt_rec_code c;
		uint8_t bytes[64];
	} p = {.c = {.addr = addr, .len = n}};

	memcpy(p.bytes, bytes, n);
	world_record(w, t, HWT_REC_CODE, &p, sizeof(p.c) + n);
}
