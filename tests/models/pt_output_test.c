/* SPDX-License-Identifier: BSD-2-Clause */
/* ToPA and single-range output (33.2.7): where bytes go, INT, STOP, END, errors. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "models/pt/pt_feed.h"

#define DRAM	(4u << 20)
#define TABLE	0x1000ull
#define CTL	(RTIT_CTL_TRACEEN | RTIT_CTL_USER | RTIT_CTL_BRANCHEN)
#define ORDER(n) ((uint64_t)(n) << TOPA_SIZE_SHIFT)

struct bench {
	struct pt_unit *u;
	struct pt_regs_file regs;
	uint8_t *mem;
	uint64_t ip;
	unsigned int interrupts;
	uint64_t ptrs_at_interrupt[64], base_at_interrupt[64];
	bool clear_stop; /* the handler starts the unit again at `restart` */
	uint64_t restart;
};

static void *memory(void *ctx, uint64_t addr, uint64_t len)
{
	struct bench *b = ctx;

	return addr < DRAM && len <= DRAM - addr ? b->mem + addr : NULL;
}

static void interrupt(void *ctx)
{
	struct bench *b = ctx;
	unsigned int i = b->interrupts++ % 64;

	b->ptrs_at_interrupt[i] = b->regs.msr[MSR_RTIT_OUTPUT_MASK_PTRS - MSR_RTIT_FIRST];
	b->base_at_interrupt[i] = b->regs.msr[MSR_RTIT_OUTPUT_BASE - MSR_RTIT_FIRST];
	if (!b->clear_stop)
		return;
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_CTL, 0), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_STATUS, 0), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_BASE, b->restart), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, 0), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_CTL, CTL | RTIT_CTL_TOPA), 0);
}

static void reset(struct bench *b)
{
	const struct pt_unit_host host = {
		.ctx = b, .memory = memory, .interrupt = interrupt};

	memset(b->mem, 0, DRAM);
	b->interrupts = 0;
	b->clear_stop = false;
	b->ip = 0x401000;
	pt_unit_init(b->u, &b->regs, NULL, &host);
	pt_unit_set_context(b->u, 3, 0, b->ip);
}

static void entry(struct bench *b, uint64_t table, unsigned int i, uint64_t value)
{
	memcpy(b->mem + table + 8 * i, &value, 8);
}

static uint64_t ptrs(struct bench *b)
{
	return b->regs.msr[MSR_RTIT_OUTPUT_MASK_PTRS - MSR_RTIT_FIRST];
}

static uint64_t status(struct bench *b)
{
	return b->regs.msr[MSR_RTIT_STATUS - MSR_RTIT_FIRST];
}

static void topa(struct bench *b, uint64_t base, uint64_t mask_ptrs)
{
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_BASE, base), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, mask_ptrs), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_CTL, CTL | RTIT_CTL_TOPA), 0);
}

/* One TIP of three bytes, now and then of five: packets end at any offset. */
static void tip(struct bench *b, unsigned int i)
{
	static union {
		struct run r;
		uint8_t room[sizeof(struct run) + 8];
	} one;
	static const uint8_t len = 2;
	uint64_t to = i % 7 ? 0x401000 + i % 5 * 16 : 0x1401000 + (i & 0xff0) * 0x1000;

	run_init(&one.r, b->ip, 1, &len, RUN_JMP_IND, 0);
	pt_unit_feed(b->u, &one.r, to);
	b->ip = to;
}

static void tips(struct bench *b, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		tip(b, i);
}

/* The same packets to one large region: what every layout must hold. */
static size_t reference(struct bench *b, uint8_t *out, unsigned int n)
{
	size_t len;

	reset(b);
	pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, DRAM - 1);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_CTL, CTL), 0);
	tips(b, n);
	len = ptrs(b) >> 32;
	memcpy(out, b->mem, len);
	return len;
}

/* Two tables of regions out of order and of several sizes, END from one to the other. */
static void chained_tables(void **state)
{
	static const struct {
		uint64_t addr;
		unsigned int order;
	} region[] = {
		{0x10000, 0}, {0x8000, 1}, {0x20000, 2}, {0x11000, 0}, {0x40000, 4}};
	struct bench *b = *state;
	uint8_t *expected = malloc(DRAM), *got = malloc(DRAM);
	size_t len = reference(b, expected, 20000), at = 0, n;
	unsigned int i;

	assert_in_range(len, 0x8000 + 1, 0x18000 - 1);
	reset(b);
	entry(b, TABLE, 0, region[0].addr | ORDER(0));
	entry(b, TABLE, 1, region[1].addr | ORDER(1));
	entry(b, TABLE, 2, (TABLE + 0x1000) | TOPA_END);
	for (i = 2; i < 5; i++)
		entry(b, TABLE + 0x1000, i - 2, region[i].addr | ORDER(region[i].order));
	entry(b, TABLE + 0x1000, 3, TABLE | TOPA_END);
	topa(b, TABLE, 0);
	tips(b, 20000);
	for (i = 0; i < 5 && at < len; i++, at += n) {
		n = 0x1000u << region[i].order;
		memcpy(got + at, b->mem + region[i].addr, n);
	}
	assert_memory_equal(got, expected, len);
	/* Registers: table 2, its last region, and how far in. */
	assert_int_equal(b->regs.msr[0], TABLE + 0x1000);
	assert_int_equal((ptrs(b) & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT, 2);
	assert_int_equal(ptrs(b) & 0x7f, 0x7f);
	assert_int_equal(ptrs(b) >> 32, len - 0x8000);
	assert_int_equal(b->interrupts, 0);
	free(expected);
	free(got);
}

/* END back to the first entry: a ring that is overwritten. */
static void ring(void **state)
{
	struct bench *b = *state;
	uint8_t *expected = malloc(DRAM);
	size_t len = reference(b, expected, 20000), pos, i;

	reset(b);
	entry(b, TABLE, 0, 0x10000);
	entry(b, TABLE, 1, 0x12000);
	entry(b, TABLE, 2, TABLE | TOPA_END);
	topa(b, TABLE, 0);
	tips(b, 20000);
	pos = ((ptrs(b) & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT) * 0x1000 +
	      (ptrs(b) >> 32);
	assert_int_equal(pos, len % 0x2000);
	for (i = len - 0x2000; i < len; i++)
		assert_int_equal(
			b->mem[0x10000 + (i % 0x2000 < 0x1000 ? 0 : 0x1000) + i % 0x2000],
			expected[i]);
	free(expected);
}

static void single_range(void **state)
{
	struct bench *b = *state;
	uint8_t *expected = malloc(DRAM);
	size_t len = reference(b, expected, 2000), size, i;

	for (size = 0x80; size <= 0x4000; size *= 4) {
		reset(b);
		assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_BASE, 0x40000), 0);
		assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, size - 1),
				 0);
		assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_CTL, CTL), 0);
		tips(b, 2000);
		assert_int_equal(ptrs(b) >> 32, len % size);
		assert_int_equal(ptrs(b) & 0xffffffff, size - 1);
		for (i = len > size ? len - size : 0; i < len; i++)
			assert_int_equal(b->mem[0x40000 + i % size], expected[i]);
		/* Nothing beside it. */
		assert_int_equal(b->mem[0x40000 - 1], 0);
		assert_int_equal(b->mem[0x40000 + size], 0);
	}
	free(expected);
}

/* INT: once for each region that has it, after it was filled, registers beyond it. */
static void interrupts(void **state)
{
	static const unsigned int after[] = {2, 5, 0};
	struct bench *b = *state;
	unsigned int i;

	reset(b);
	for (i = 0; i < 8; i++)
		entry(b, TABLE, i, (0x10000 + i * 0x1000) | (i % 3 == 1 ? TOPA_INT : 0));
	entry(b, TABLE, 8, TABLE | TOPA_END);
	topa(b, TABLE, 0);
	for (i = 0; !b->interrupts; i++)
		tip(b, i);
	assert_int_equal((b->ptrs_at_interrupt[0] & RTIT_MASK_TABLE_MASK) >>
				 RTIT_MASK_TABLE_SHIFT,
			 2);
	assert_in_range(b->ptrs_at_interrupt[0] >> 32, 0, 200);
	while (b->interrupts < 7)
		tip(b, i++);
	for (i = 0; i < 7; i++)
		assert_int_equal((b->ptrs_at_interrupt[i] & RTIT_MASK_TABLE_MASK) >>
				 RTIT_MASK_TABLE_SHIFT, after[i % 3]);
}

/* A region that MTCs alone fill, between branches that are never told. */
static void interrupt_by_time(void **state)
{
	static union {
		struct run r;
		uint8_t room[sizeof(struct run) + 8];
	} one;
	static const uint8_t len[] = {2, 2, 2, 2};
	struct bench *b = *state;
	unsigned int stop, i;

	for (stop = 0; stop < 2; stop++) {
		reset(b);
		entry(b, TABLE, 0, 0x10000 | TOPA_INT | (stop ? TOPA_STOP : 0));
		entry(b, TABLE, 1, 0x11000);
		assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_BASE, TABLE), 0);
		assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_CTL,
					       CTL | RTIT_CTL_TOPA | RTIT_CTL_MTCEN), 0);
		run_init(&one.r, b->ip, 4, len, RUN_JMP, b->ip);
		for (i = 0; !b->interrupts && i < 30000; i++)
			pt_unit_feed(b->u, &one.r, b->ip);
		assert_int_equal(b->interrupts, 1);
		if (stop)
			assert_int_equal(b->ptrs_at_interrupt[0] >> 32, 0x1000);
		else
			assert_in_range(b->ptrs_at_interrupt[0] >> 32, 0, 64);
		/* 2 bytes each 40 instructions of 4 each run, and the PSB+ at 2K. */
		assert_in_range(i, 18000, 20480);
	}
}

/* STOP: the region is filled to its last byte, nothing goes beyond, nor ever after. */
static void stop(void **state)
{
	struct bench *b = *state;
	uint8_t *expected = malloc(DRAM);

	reference(b, expected, 20000);
	reset(b);
	entry(b, TABLE, 0, 0x10000);
	entry(b, TABLE, 1, 0x11000 | TOPA_STOP | TOPA_INT);
	entry(b, TABLE, 2, 0x12000);
	topa(b, TABLE, 0);
	tips(b, 20000);
	assert_memory_equal(b->mem + 0x10000, expected, 0x2000);
	assert_int_equal(b->mem[0x12000], 0);
	assert_int_equal(status(b) & 0x3f, RTIT_STATUS_STOPPED);
	assert_int_equal((ptrs(b) & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT, 1);
	assert_int_equal(ptrs(b) >> 32, 0x1000);
	assert_int_equal(b->interrupts, 1);
	pt_unit_far(b->u,
		    &(struct run){
			    .start = b->ip, .last = b->ip, .end = b->ip, .kind = RUN_FAR},
		    0, 0, 0xffffffff81000000);
	pt_unit_enter(b->u, 3, 0, b->ip);
	assert_int_equal(b->mem[0x12000], 0);
	/* Cleared with the offset still at the end: it stops again at once. */
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_CTL, 0), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_STATUS, 0), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_CTL, CTL | RTIT_CTL_TOPA), 0);
	assert_int_equal(status(b) & RTIT_STATUS_STOPPED, RTIT_STATUS_STOPPED);
	assert_int_equal(b->mem[0x12000], 0);
	free(expected);
}

/* The handler moves a stopped unit to other tables: it begins with PSB+, then PGE. */
static void handler_restarts(void **state)
{
	struct bench *b = *state;

	reset(b);
	entry(b, TABLE, 0, 0x10000 | TOPA_STOP | TOPA_INT);
	entry(b, TABLE + 0x1000, 0, 0x20000 | TOPA_STOP);
	b->clear_stop = true;
	b->restart = TABLE + 0x1000;
	topa(b, TABLE, 0);
	tips(b, 1600);
	assert_int_equal(b->interrupts, 1);
	assert_memory_equal(b->mem + 0x20000, "\x02\x82\x02\x82", 4);
	assert_int_equal(b->regs.msr[0], TABLE + 0x1000);
	assert_int_equal(status(b) & 0x3f, RTIT_STATUS_TRIGGEREN | RTIT_STATUS_CONTEXTEN |
						   RTIT_STATUS_FILTEREN);
}

struct fault {
	const char *name;
	uint64_t base, mask_ptrs, entry0, entry1;
};

static const struct fault faults[] = {
	{"END in the first entry", TABLE, 0, TABLE | TOPA_END, 0},
	{"INT with END", TABLE, 1 << 7, 0x10000, TABLE | TOPA_END | TOPA_INT},
	{"STOP with END", TABLE, 1 << 7, 0x10000, TABLE | TOPA_END | TOPA_STOP},
	{"reserved bit 1", TABLE, 0, 0x10000 | 2, 0},
	{"reserved bit 10", TABLE, 0, 0x10000 | 1 << 10, 0},
	{"reserved bit 63", TABLE, 0, 0x10000 | 1ull << 63, 0},
	{"region not aligned to its size", TABLE, 0, 0x11000 | ORDER(1), 0},
	{"region is no memory", TABLE, 0, DRAM, 0},
	{"region leads out of memory", TABLE, 0, (DRAM - 0x1000) | ORDER(3), 0},
	{"table is no memory", DRAM, 0, 0, 0},
	{"table not aligned", TABLE | 0x80, 0, 0x10000, 0x10000},
	{"offset beyond the region", TABLE, 0x1001ull << 32, 0x10000, 0},
	{"chained table is no memory", TABLE, 1 << 7, 0x10000, DRAM | TOPA_END},
};

static void operational_errors(void **state)
{
	struct bench *b = *state;
	size_t i, k;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		reset(b);
		entry(b, TABLE, 0, faults[i].entry0);
		entry(b, TABLE, 1, faults[i].entry1);
		topa(b, faults[i].base, faults[i].mask_ptrs);
		tips(b, 2000);
		if ((status(b) & 0x3f) != RTIT_STATUS_ERROR) {
			print_error("%s: STATUS %#llx\n", faults[i].name,
				    (unsigned long long)status(b));
			fail();
		}
		for (k = 0x10000; k < 0x14000; k++)
			assert_int_equal(b->mem[k], 0);
	}
}

/* An error that is met later: what was written before stays. */
static void error_on_the_way(void **state)
{
	struct bench *b = *state;
	uint8_t *expected = malloc(DRAM);

	reference(b, expected, 4000);
	reset(b);
	entry(b, TABLE, 0, 0x10000);
	entry(b, TABLE, 1, 0x11800);
	topa(b, TABLE, 0);
	tips(b, 4000);
	assert_int_equal(status(b) & 0x3f, RTIT_STATUS_ERROR);
	assert_memory_equal(b->mem + 0x10000, expected, 0x1000);
	assert_int_equal(b->mem[0x11000], 0);
	assert_int_equal(b->mem[0x11800], 0);
	/* The registers point at the entry at fault. */
	assert_int_equal((ptrs(b) & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT, 1);
	free(expected);
}

static void single_range_errors(void **state)
{
	static const uint64_t bad[][2] = {
		{0x40080, 0xfff},  /* base not aligned to the mask */
		{0x40000, 0x2fff}, /* mask with a hole */
		{0x40000, 0x1000ull << 32 | 0xfff | 1ull << 63}, /* offset beyond it */
		{DRAM, 0xfff},					 /* no memory */
	};
	struct bench *b = *state;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		reset(b);
		assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_BASE, bad[i][0]), 0);
		assert_int_equal(
			pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, bad[i][1]), 0);
		assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_CTL, CTL), 0);
		tips(b, 100);
		assert_int_equal(status(b) & 0x3f, RTIT_STATUS_ERROR);
	}
}

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	b->u = malloc(pt_unit_size());
	b->mem = malloc(DRAM);
	*state = b;
	return b->u && b->mem ? 0 : -1;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	free(b->u);
	free(b->mem);
	free(b);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chained_tables),
		cmocka_unit_test(ring),
		cmocka_unit_test(single_range),
		cmocka_unit_test(interrupts),
		cmocka_unit_test(interrupt_by_time),
		cmocka_unit_test(stop),
		cmocka_unit_test(handler_restarts),
		cmocka_unit_test(operational_errors),
		cmocka_unit_test(error_on_the_way),
		cmocka_unit_test(single_range_errors),
	};

	return cmocka_run_group_tests_name("pt_output", tests, setup, teardown);
}
