/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Statistical Profiling Unit: what it samples, what it filters, what it writes
 * (read back by decode/spe), and how its buffer ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "decode/spe/spe_decoder.h"
#include "models/spe/spe_feed.h"

#define BASE		0x10000ull	/* of the memory that there is */
#define SIZE		0x40000ull
#define INTERVAL	256u
#define CODE		0x400000ull
#define DATA		0x7f0000000000ull

struct bench {
	struct spe_unit unit;
	struct spe_regs_file regs;
	uint8_t memory[SIZE];
	int interrupts;
	struct spe_event ev[8192];
	int n;
};

static void *memory(void *ctx, uint64_t addr, uint64_t len)
{
	struct bench *b = ctx;

	if (addr < BASE || len > SIZE || addr - BASE > SIZE - len)
		return NULL;
	return b->memory + (addr - BASE);
}

static void interrupt(void *ctx)
{
	((struct bench *)ctx)->interrupts++;
}

static struct bench *bench_new(uint64_t seed)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct spe_unit_host host = {b, memory, interrupt, NULL};

	assert_non_null(b);
	assert_int_equal(spe_unit_init(&b->unit, &b->regs, seed, &host), 0);
	return b;
}

static void bench_free(struct bench *b)
{
	spe_unit_fini(&b->unit);
	free(b);
}

static void wr(struct bench *b, uint32_t reg, uint64_t value)
{
	assert_int_equal(spe_unit_write(&b->unit, reg, value), 0);
}

static uint64_t rd(struct bench *b, uint32_t reg)
{
	return spe_unit_read(&b->unit, reg);
}

#define SCR_ALL (PMSCR_E0SPE | PMSCR_CX | PMSCR_TS)
#define LIMIT_ON(limit) ((limit) | PMBLIMITR_NVM | PMBLIMITR_E)

static void start(struct bench *b, uint64_t irr, uint64_t scr)
{
	wr(b, PMSIRR_EL1, irr);
	wr(b, PMBPTR_EL1, BASE);
	wr(b, PMBLIMITR_EL1, LIMIT_ON(BASE + SIZE));
	wr(b, PMSCR_EL1, scr);
}

/* Decodes what was written from BASE on. */
static void decode(struct bench *b)
{
	struct spe_decoder_config config = {.align = SPE_RECORD_SIZE};
	struct spe_decoder *d = spe_decoder_new(&config);
	int n;

	assert_non_null(d);
	b->n = 0;
	spe_decoder_feed(d, b->memory, rd(b, PMBPTR_EL1) - BASE);
	while ((n = spe_decoder_next(d, b->ev + b->n, 64)) > 0)
		b->n += n;
	spe_decoder_finish(d);
	assert_int_equal(spe_decoder_next(d, b->ev + b->n, 1), 0);
	spe_decoder_free(d);
	for (n = 0; n < b->n; n++)
		assert_int_equal(b->ev[n].type, SPE_SAMPLE);
	assert_int_equal(b->n, spe_unit_counts(&b->unit)->records);
}

static struct spe_op plain(uint64_t i)
{
	return (struct spe_op){.pc = CODE + 4 * i};
}

/* Operation i of a program of all kinds. */
static struct spe_op mixed(uint64_t i)
{
	struct spe_op op = plain(i);

	switch (i % 7) {
	case 1:
		op.kind = SPE_OP_KIND_LOAD;
		op.access = (struct spe_access){.addr = DATA + 64 * (i * 31 % 4000), .size = 8};
		break;
	case 2:
		op.kind = SPE_OP_KIND_STORE;
		op.access = (struct spe_access){.addr = DATA + 0x8000 + 4 * (i % 1000), .size = 4};
		break;
	case 3:
		op.kind = SPE_OP_KIND_BRANCH;
		op.flags = SPE_OPF_COND | (i % 3 ? SPE_OPF_TAKEN : 0);
		op.target = CODE + 4 * (i + 1);
		break;
	case 4:
		op.kind = SPE_OP_KIND_BRANCH;
		op.flags = SPE_OPF_INDIRECT | SPE_OPF_TAKEN;
		op.target = CODE + 0x1000 * (i % 5);
		break;
	case 5:
		op.kind = SPE_OP_KIND_LOAD;
		op.flags = SPE_OPF_ATOMIC | SPE_OPF_ACQREL;
		op.access = (struct spe_access){.addr = DATA + 0x100000, .size = 8};
		break;
	}
	return op;
}

static void run(struct bench *b, uint64_t n, struct spe_op (*program)(uint64_t))
{
	struct spe_op op;
	uint64_t i;

	for (i = 0; i < n; i++) {
		op = program(i);
		spe_unit_op(&b->unit, &op);
	}
}

static uint64_t index_of(const struct spe_event *ev)
{
	return (ev->sample.addr[SPE_ADDR_PC] - CODE) / 4;
}

/* ---- registers ---- */

static void test_registers(void **state)
{
	static const struct {
		uint32_t reg;
		uint64_t value;
		int result;
	} rows[] = {
		{PMSCR_EL1, PMSCR_E0SPE | PMSCR_E1SPE | PMSCR_CX | PMSCR_PA | PMSCR_TS, 0},
		{PMSCR_EL1, 1ull << 2, -EIO},
		{PMSIDR_EL1, 0, -EIO},
		{PMBIDR_EL1, 0, -EIO},
		{PMSIRR_EL1, 0xffffff01, 0},
		{PMSIRR_EL1, 2, -EIO},
		{PMSIRR_EL1, 1ull << 32, -EIO},
		{PMSFCR_EL1, 0x7000f, 0},
		{PMSFCR_EL1, 0x10, -EIO},
		{PMSLATFR_EL1, 0xfff, 0},
		{PMSLATFR_EL1, 0x1000, -EIO},
		{PMSEVFR_EL1, 0xffe, 0},
		{PMSEVFR_EL1, 1, -EIO},
		{PMSEVFR_EL1, 1ull << 12, -EIO},
		{PMSEVFR_EL1, 1ull << 63, -EIO},
		{PMSNEVFR_EL1, 0xffe, 0},
		{PMSNEVFR_EL1, 1, -EIO},
		{PMSNEVFR_EL1, 1ull << 12, -EIO},
		{PMSNEVFR_EL1, 1ull << 63, -EIO},
		{PMSICR_EL1, 0xffffffff, 0},
		{PMSICR_EL1, 1ull << 56, -EIO},
		{PMBPTR_EL1, BASE + 64, 0},
		{PMBPTR_EL1, BASE + 32, -EIO},
		{PMBLIMITR_EL1, BASE | PMBLIMITR_NVM, 0},
		{PMBLIMITR_EL1, BASE | 0x20, -EIO},
		{PMBLIMITR_EL1, BASE | 1ull << 1, -EIO},
		{PMBLIMITR_EL1, BASE | 2ull << 1, 0},
		{PMBSR_EL1, 0, 0},
		{PMBSR_EL1, 1ull << 25, -EIO},
		{SPE_SYSREG(3, 0, 9, 10, 2), 0, -EIO},
		{SPE_SYSREG(3, 0, 9, 11, 0), 0, -EIO},
		{0, 0, -EIO},
	};
	struct bench *b = bench_new(0);
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t before = rd(b, rows[i].reg);

		assert_int_equal(spe_unit_write(&b->unit, rows[i].reg, rows[i].value),
				 rows[i].result);
		assert_true(rd(b, rows[i].reg) == (rows[i].result ? before : rows[i].value));
	}
	bench_free(b);
}

static void test_identification(void **state)
{
	struct bench *b = bench_new(0);
	uint32_t caps[SPE_CAP_COUNT];

	spe_unit_caps(caps);
	assert_true(rd(b, PMSIDR_EL1) == (caps[SPE_CAP_PMSIDR] |
					  (uint64_t)caps[SPE_CAP_PMSIDR_HI] << 32));
	assert_true(rd(b, PMBIDR_EL1) == (caps[SPE_CAP_PMBIDR] |
					  (uint64_t)caps[SPE_CAP_PMBIDR_HI] << 32));
	assert_int_equal(caps[SPE_CAP_EVENTS], 0xffe);
	assert_int_equal(caps[SPE_CAP_EVENTS_HI], 0);
	/* Records are exactly as large as they are aligned. */
	assert_int_equal((rd(b, PMSIDR_EL1) & PMSIDR_MAXSIZE_MASK) >> PMSIDR_MAXSIZE_SHIFT,
			 rd(b, PMBIDR_EL1) & PMBIDR_ALIGN_MASK);
	assert_int_equal((rd(b, PMBIDR_EL1) & PMBIDR_ADDRMODE_MASK) >> PMBIDR_ADDRMODE_SHIFT,
			 PMBIDR_ADDRMODE_PA);
	bench_free(b);
}

/* While it samples, only what stops it may be written. */
static void test_locked_while_on(void **state)
{
	static const uint32_t locked[] = {PMSICR_EL1, PMSIRR_EL1, PMSFCR_EL1, PMSEVFR_EL1,
					  PMSNEVFR_EL1, PMSLATFR_EL1, PMBPTR_EL1};
	struct bench *b = bench_new(0);
	size_t i;

	start(b, INTERVAL, SCR_ALL);
	for (i = 0; i < sizeof(locked) / sizeof(locked[0]); i++)
		assert_int_equal(spe_unit_write(&b->unit, locked[i], 0), -EIO);
	wr(b, PMSCR_EL1, 0);
	for (i = 0; i < sizeof(locked) / sizeof(locked[0]); i++)
		wr(b, locked[i], 0);
	bench_free(b);
}

/* ---- sampling ---- */

static void test_interval(void **state)
{
	struct bench *b = bench_new(1);
	int i;

	start(b, INTERVAL, SCR_ALL);
	run(b, 100 * INTERVAL, plain);
	decode(b);
	assert_int_equal(b->n, 100);
	for (i = 0; i < b->n; i++)
		assert_int_equal(index_of(&b->ev[i]), (i + 1) * INTERVAL - 1);
	bench_free(b);
}

static void test_random(void **state)
{
	struct bench *b = bench_new(1), *same = bench_new(1), *other = bench_new(2);
	uint64_t last = 0, step, differ = 0;
	int i, n;

	start(b, 1024 | PMSIRR_RND, SCR_ALL);
	start(same, 1024 | PMSIRR_RND, SCR_ALL);
	start(other, 1024 | PMSIRR_RND, SCR_ALL);
	run(b, 200000, mixed);
	run(same, 200000, mixed);
	run(other, 200000, mixed);
	decode(b);
	decode(other);
	for (i = 0; i < b->n; i++) {
		step = index_of(&b->ev[i]) + 1 - last;
		assert_in_range(step, 1024, 1024 + 255);
		differ |= step ^ 1024;
		last += step;
	}
	/* Every bit of the lowest byte is used. */
	assert_int_equal(differ, 0xff);
	assert_memory_equal(b->memory, same->memory, SIZE);
	n = b->n < other->n ? b->n : other->n;
	assert_memory_not_equal(b->ev, other->ev, (size_t)n * sizeof(b->ev[0]));
	bench_free(b);
	bench_free(same);
	bench_free(other);
}

/* Operations passed in one go count as they do one by one. */
static void test_pass(void **state)
{
	struct bench *b = bench_new(1);
	uint64_t i = 0;

	start(b, INTERVAL, SCR_ALL);
	while (i < 100 * INTERVAL) {
		struct spe_op op;

		if (spe_unit_try(&b->unit, 10)) {
			i += 10;
			continue;
		}
		i += spe_unit_until(&b->unit) - 1;
		spe_unit_pass(&b->unit, spe_unit_until(&b->unit) - 1);
		op = plain(i++);
		spe_unit_sample(&b->unit, &op);
	}
	decode(b);
	for (i = 0; i < (uint64_t)b->n; i++)
		assert_int_equal(index_of(&b->ev[i]), (i + 1) * INTERVAL - 1);
	/* The counter is where a driver reads it. */
	assert_int_equal(rd(b, PMSICR_EL1), spe_unit_until(&b->unit));
	bench_free(b);
}

/* Only levels that are enabled count. */
static void test_level(void **state)
{
	struct bench *b = bench_new(1);

	start(b, INTERVAL, SCR_ALL);
	run(b, 100, plain);
	spe_unit_set_context(&b->unit, 1, 7);
	run(b, 5000, plain);
	assert_int_equal(spe_unit_counts(&b->unit)->samples, 0);
	assert_int_equal(rd(b, PMSICR_EL1), INTERVAL - 100);
	spe_unit_set_context(&b->unit, 0, 8);
	run(b, INTERVAL - 100, plain);
	decode(b);
	assert_int_equal(b->n, 1);
	assert_int_equal(b->ev[0].sample.context[0], 8);
	assert_int_equal(b->ev[0].sample.el, 0);
	wr(b, PMSCR_EL1, PMSCR_E1SPE);
	spe_unit_set_context(&b->unit, 1, 9);
	run(b, INTERVAL, plain);
	decode(b);
	assert_int_equal(b->n, 2);
	assert_int_equal(b->ev[1].sample.el, 1);
	/* Neither CX nor TS this time. */
	assert_int_equal(b->ev[1].sample.has & (SPE_HAS_CONTEXT(0) | SPE_HAS_TIME), 0);
	bench_free(b);
}

static void check_sample(const struct spe_event *ev)
{
	const struct spe_sample *s = &ev->sample;
	struct spe_op op = mixed(index_of(ev));
	bool taken = op.flags & SPE_OPF_TAKEN;

	assert_int_equal(!!(s->has & SPE_HAS_ADDR(SPE_ADDR_TARGET)), taken);
	assert_int_equal(!!(s->has & SPE_HAS_ADDR(SPE_ADDR_DATA_VA)), op.access.size != 0);
	assert_true(s->addr[SPE_ADDR_TARGET] == (taken ? op.target : 0));
	assert_true(s->addr[SPE_ADDR_DATA_VA] == op.access.addr);
	assert_int_equal(s->op_class, op.kind == SPE_OP_KIND_BRANCH ? SPE_CLASS_BRANCH :
			 op.access.size ? SPE_CLASS_LDST : SPE_CLASS_OTHER);
	if (op.access.size)
		assert_int_equal(s->op & SPE_OP_STORE, op.kind == SPE_OP_KIND_STORE);
	assert_int_equal(!!(s->has & SPE_HAS_SOURCE), op.kind == SPE_OP_KIND_LOAD);
	assert_int_equal(s->events >> SPE_EV_NOT_TAKEN & 1,
			 op.kind == SPE_OP_KIND_BRANCH && !taken);
	assert_true(s->events & 1u << SPE_EV_RETIRED);
	assert_int_equal(s->context[0], 1234);
	assert_int_equal(s->time, 5000 + index_of(ev) + 1);
	assert_true(s->counter[SPE_COUNTER_TOTAL] > s->counter[SPE_COUNTER_ISSUE]);
}

static void test_records(void **state)
{
	struct bench *b = bench_new(3);
	int i;

	spe_unit_set_time(&b->unit, 5000);
	spe_unit_set_context(&b->unit, 0, 1234);
	start(b, INTERVAL | PMSIRR_RND, SCR_ALL);
	run(b, 300000, mixed);
	decode(b);
	assert_in_range(b->n, 300000 / (INTERVAL + 255) - 10, 300000 / INTERVAL);
	for (i = 0; i < b->n; i++)
		check_sample(&b->ev[i]);
	bench_free(b);
}

/* ---- filters ---- */

static bool is_load(const struct spe_sample *s)
{
	return s->op_class == SPE_CLASS_LDST &&
	       (!(s->op & SPE_OP_STORE) || (s->op & SPE_OP_ATOMIC));
}

static bool is_store(const struct spe_sample *s)
{
	return s->op_class == SPE_CLASS_LDST &&
	       ((s->op & SPE_OP_STORE) ||
		((s->op & SPE_OP_EXTENDED_MASK) == SPE_OP_EXTENDED && s->op & SPE_OP_ATOMIC));
}

static bool is_branch(const struct spe_sample *s)
{
	return s->op_class == SPE_CLASS_BRANCH;
}

static bool missed_l1(const struct spe_sample *s)
{
	return s->events >> SPE_EV_L1D_REFILL & 1;
}

static bool not_access(const struct spe_sample *s)
{
	return !(s->events >> SPE_EV_L1D_ACCESS & 1);
}

static bool slow(const struct spe_sample *s)
{
	return s->counter[SPE_COUNTER_TOTAL] >= 10;
}

/* What a filter lets through is what is left of the same run without it. */
static void test_filters(void **state)
{
	static const struct {
		uint64_t fcr, evfr, nevfr, latfr;
		bool (*pass)(const struct spe_sample *s);
	} rows[] = {
		{PMSFCR_FT | PMSFCR_LD, 0, 0, 0, is_load},
		{PMSFCR_FT | PMSFCR_ST, 0, 0, 0, is_store},
		{PMSFCR_FT | PMSFCR_B, 0, 0, 0, is_branch},
		{PMSFCR_FE, 1u << SPE_EV_L1D_REFILL, 0, 0, missed_l1},
		{PMSFCR_FNE, 0, 1u << SPE_EV_L1D_ACCESS, 0, not_access},
		{PMSFCR_FL, 0, 0, 10, slow},
	};
	struct bench *all = bench_new(5), *b;
	size_t i;
	int k, n;

	start(all, INTERVAL | PMSIRR_RND, SCR_ALL);
	run(all, 300000, mixed);
	decode(all);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		b = bench_new(5);
		wr(b, PMSFCR_EL1, rows[i].fcr);
		wr(b, PMSEVFR_EL1, rows[i].evfr);
		wr(b, PMSNEVFR_EL1, rows[i].nevfr);
		wr(b, PMSLATFR_EL1, rows[i].latfr);
		start(b, INTERVAL | PMSIRR_RND, SCR_ALL);
		run(b, 300000, mixed);
		decode(b);
		for (k = n = 0; k < all->n; k++) {
			if (!rows[i].pass(&all->ev[k].sample))
				continue;
			assert_true(n < b->n);
			assert_memory_equal(&b->ev[n++].sample, &all->ev[k].sample,
					    sizeof(all->ev[k].sample));
		}
		assert_int_equal(n, b->n);
		assert_in_range(n, 1, all->n - 1);
		assert_int_equal(spe_unit_counts(&b->unit)->filtered, all->n - n);
		bench_free(b);
	}
	bench_free(all);
}

/* Loads that miss everything take longer than the interval. */
static struct spe_op missing(uint64_t i)
{
	struct spe_op op = plain(i);

	op.kind = SPE_OP_KIND_LOAD;
	op.access = (struct spe_access){.addr = DATA + i * 0x10000, .size = 8};
	return op;
}

static void test_collisions(void **state)
{
	struct bench *b = bench_new(1);
	const struct spe_unit_counts *c = spe_unit_counts(&b->unit);

	start(b, INTERVAL, SCR_ALL);
	run(b, 100 * INTERVAL, missing);
	decode(b);
	assert_int_equal(c->samples, 100);
	assert_int_equal(c->collisions, 50);
	assert_int_equal(c->records, 50);
	assert_true(rd(b, PMBSR_EL1) & PMBSR_COLL);
	assert_false(rd(b, PMBSR_EL1) & PMBSR_S);
	assert_int_equal(index_of(&b->ev[1]), 3 * INTERVAL - 1);
	assert_int_equal(b->ev[1].sample.source, SPE_SOURCE_DRAM);
	bench_free(b);
}

/* ---- the buffer ---- */

static void test_full(void **state)
{
	struct bench *b = bench_new(1);
	int i;

	start(b, INTERVAL, SCR_ALL);
	wr(b, PMBLIMITR_EL1, LIMIT_ON(BASE + 4096));
	run(b, 100 * INTERVAL, plain);
	assert_int_equal(b->interrupts, 1);
	assert_true(rd(b, PMBPTR_EL1) == BASE + 4096);
	assert_true(rd(b, PMBSR_EL1) == (PMBSR_S | PMBSR_BSC_FULL));
	assert_int_equal(spe_unit_counts(&b->unit)->samples, 64);
	/* The driver gives it another half, then lets it go on. */
	wr(b, PMBLIMITR_EL1, LIMIT_ON(BASE + 8192));
	assert_true(spe_unit_until(&b->unit) >= SPE_NEVER);
	wr(b, PMBSR_EL1, 0);
	for (i = 0; i < 10 * (int)INTERVAL; i++) {
		struct spe_op op = plain((uint64_t)i + 64 * INTERVAL);

		spe_unit_op(&b->unit, &op);
	}
	decode(b);
	assert_int_equal(b->n, 74);
	for (i = 0; i < b->n; i++)
		assert_int_equal(index_of(&b->ev[i]), (i + 1) * (int)INTERVAL - 1);
	bench_free(b);
}

/* A buffer without room for one record says so before anything is sampled. */
static void test_no_room(void **state)
{
	struct bench *b = bench_new(1);

	wr(b, PMSIRR_EL1, INTERVAL);
	wr(b, PMBPTR_EL1, BASE + 4096);
	wr(b, PMBLIMITR_EL1, LIMIT_ON(BASE + 4096));
	wr(b, PMSCR_EL1, SCR_ALL);
	assert_int_equal(b->interrupts, 1);
	assert_true(rd(b, PMBSR_EL1) == (PMBSR_S | PMBSR_BSC_FULL));
	bench_free(b);
}

static void test_aborts(void **state)
{
	struct bench *b = bench_new(1);

	/* Beyond memory. */
	wr(b, PMSIRR_EL1, INTERVAL);
	wr(b, PMBPTR_EL1, BASE + SIZE);
	wr(b, PMBLIMITR_EL1, LIMIT_ON(BASE + SIZE + 4096));
	wr(b, PMSCR_EL1, SCR_ALL);
	run(b, 2 * INTERVAL, plain);
	assert_int_equal(b->interrupts, 1);
	assert_true(rd(b, PMBSR_EL1) == (PMBSR_S | PMBSR_EA | PMBSR_DL));
	assert_true(rd(b, PMBPTR_EL1) == BASE + SIZE);
	/* A virtual address: the unit has no translation. */
	wr(b, PMBPTR_EL1, BASE);
	wr(b, PMBLIMITR_EL1, (BASE + 4096) | PMBLIMITR_E);
	wr(b, PMBSR_EL1, 0);
	run(b, 2 * INTERVAL, plain);
	assert_int_equal(b->interrupts, 2);
	assert_true(rd(b, PMBSR_EL1) == (PMBSR_S | PMBSR_FSC_TRANSLATION |
					 PMBSR_EC_ABORT_S1 << PMBSR_EC_SHIFT));
	assert_int_equal(spe_unit_counts(&b->unit)->records, 0);
	bench_free(b);
}

static void test_discard(void **state)
{
	struct bench *b = bench_new(1);

	start(b, INTERVAL, SCR_ALL);
	wr(b, PMBLIMITR_EL1, LIMIT_ON(BASE) | PMBLIMITR_FM_DISCARD);
	run(b, 10 * INTERVAL, plain);
	assert_int_equal(spe_unit_counts(&b->unit)->samples, 10);
	assert_true(rd(b, PMBPTR_EL1) == BASE);
	assert_int_equal(b->interrupts, 0);
	bench_free(b);
}

/* ---- the machine that is made up ---- */

static struct spe_access reach(struct bench *b, uint64_t addr, uint32_t size)
{
	struct spe_access a = {0};

	spe_unit_access(&b->unit, &a, addr, size, false);
	return a;
}

static void test_caches(void **state)
{
	struct bench *b = bench_new(0);
	struct spe_access a = reach(b, DATA, 8);
	uint64_t i;

	assert_int_equal(a.source, SPE_SOURCE_DRAM);
	assert_int_equal(a.latency, SPE_CYC_DRAM + SPE_CYC_WALK);
	assert_int_equal(a.xlat, SPE_CYC_WALK);
	a = reach(b, DATA + 32, 8);
	assert_int_equal(a.source, SPE_SOURCE_L1D);
	assert_int_equal(a.latency, SPE_CYC_L1D);
	assert_int_equal(a.events, 1u << SPE_EV_L1D_ACCESS | 1u << SPE_EV_TLB_ACCESS);
	/* 128 KiB turn the first level over, not the second; 2 MiB do both. */
	for (i = 0; i < 128 << 10; i += 64)
		reach(b, DATA + i, 8);
	assert_int_equal(reach(b, DATA, 8).source, SPE_SOURCE_L2);
	for (i = 0; i < 2 << 20; i += 64)
		reach(b, DATA + i, 8);
	a = reach(b, DATA + 4096, 8);
	assert_int_equal(a.source, SPE_SOURCE_SYS_CACHE);
	assert_int_equal(a.events, 1u << SPE_EV_L1D_ACCESS | 1u << SPE_EV_L1D_REFILL |
				   1u << SPE_EV_LLC_ACCESS | 1u << SPE_EV_TLB_ACCESS);
	bench_free(b);
}

static void test_crossing(void **state)
{
	struct bench *b = bench_new(0);
	struct spe_access a;

	reach(b, DATA, 8);
	a = reach(b, DATA + 60, 8);
	assert_int_equal(a.source, SPE_SOURCE_DRAM);
	assert_true(a.events & 1u << SPE_EV_MISALIGNED);
	reach(b, DATA + 4092, 4);
	a = reach(b, DATA + 4092, 8);
	assert_int_equal(a.xlat, SPE_CYC_WALK);
	/* Two accesses of one operation: the first's address, the sum, the slower. */
	spe_unit_access(&b->unit, &a, DATA, 8, false);
	assert_true(a.addr == DATA + 4092);
	assert_int_equal(a.size, 16);
	assert_int_equal(a.latency, SPE_CYC_DRAM + SPE_CYC_WALK);
	/* The last byte of the address space. */
	a = reach(b, ~0ull - 3, 8);
	assert_int_equal(a.size, 8);
	bench_free(b);
}

static void test_prediction(void **state)
{
	struct bench *b = bench_new(0);
	struct spe_unit *u = &b->unit;
	int i, wrong = 0;

	/* A loop of eight turns: wrong where it ends, once it is known. */
	for (i = 0; i < 80; i++)
		wrong += spe_unit_branch(u, CODE, SPE_OPF_COND | (i % 8 != 7 ? SPE_OPF_TAKEN : 0),
					 CODE);
	assert_in_range(wrong, 10, 13);
	assert_true(spe_unit_branch(u, CODE + 8, SPE_OPF_INDIRECT | SPE_OPF_TAKEN, 1));
	assert_false(spe_unit_branch(u, CODE + 8, SPE_OPF_INDIRECT | SPE_OPF_TAKEN, 1));
	assert_true(spe_unit_branch(u, CODE + 8, SPE_OPF_INDIRECT | SPE_OPF_TAKEN, 2));
	/* Direct calls are never wrong; their returns are known. */
	for (i = 0; i < 10; i++)
		assert_false(spe_unit_branch(u, CODE + 0x100 * (uint64_t)i,
					     SPE_OPF_CALL | SPE_OPF_TAKEN, CODE));
	for (i = 9; i >= 0; i--)
		assert_false(spe_unit_branch(u, CODE + 4, SPE_OPF_RETURN | SPE_OPF_INDIRECT |
					     SPE_OPF_TAKEN, CODE + 0x100 * (uint64_t)i + 4));
	assert_true(spe_unit_branch(u, CODE + 4, SPE_OPF_RETURN | SPE_OPF_TAKEN, CODE + 0x5000));
	bench_free(b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_identification),
		cmocka_unit_test(test_locked_while_on),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_pass),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_collisions),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_aborts),
		cmocka_unit_test(test_discard),
		cmocka_unit_test(test_caches),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_prediction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
