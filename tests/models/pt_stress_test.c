/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A driver and a feeder out of their minds: random register writes, ToPA
 * tables full of garbage that changes while the unit runs, runs that do not
 * follow from each other.  The unit stays inside the memory that it was given
 * (guard bytes here, sanitizers where they are on) and its registers stay sane.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "models/pt/pt_feed.h"

#define DRAM	(1u << 18)
#define GUARD	4096u
#define OPS	200000
#define NRUNS	64
#define RUN_MAX	40

struct bench {
	struct pt_unit *u;
	struct pt_regs_file regs;
	uint8_t *mem;			/* GUARD, DRAM, GUARD */
	struct run *run[NRUNS];
	uint64_t rng;
	unsigned int interrupts, traced;
};

static uint32_t rnd(struct bench *b, uint32_t n)
{
	b->rng ^= b->rng << 13;
	b->rng ^= b->rng >> 7;
	b->rng ^= b->rng << 17;
	return (b->rng >> 16) % n;
}

static uint64_t address(struct bench *b)
{
	static const uint64_t some[] = {
		0, ~0ull, 0x401000, 0x7fffffffffff, 0x800000000000, 0xffff800000000000,
		0xffffffffffffffff, 1ull << 63, 0x0100000000000000,
	};

	return rnd(b, 4) ? 0x401000 + rnd(b, 2000) : some[rnd(b, 9)] + rnd(b, 16);
}

static void *memory(void *ctx, uint64_t addr, uint64_t len)
{
	struct bench *b = ctx;

	return addr < DRAM && len <= DRAM - addr ? b->mem + GUARD + addr : NULL;
}

/* A word that may be a ToPA entry. */
static void scribble(struct bench *b)
{
	uint64_t e = (uint64_t)rnd(b, DRAM / 0x1000 + 2) << 12;

	if (!rnd(b, 8))
		e |= rnd(b, 8) << TOPA_SIZE_SHIFT;
	e |= (rnd(b, 3) ? 0 : TOPA_INT) | (rnd(b, 20) ? 0 : TOPA_STOP) |
	     (rnd(b, 12) ? 0 : TOPA_END) | (rnd(b, 50) ? 0 : 1ull << rnd(b, 64));
	memcpy(b->mem + GUARD + rnd(b, 2) * 0x1000 + rnd(b, 8) * 8, &e, 8);
}

/* Mostly something that traces. */
static uint64_t control(struct bench *b)
{
	uint64_t v = rnd(b, 0x4000) & ~(RTIT_CTL_PWREVTEN | RTIT_CTL_FUPONPTW |
					RTIT_CTL_FABRICEN | RTIT_CTL_PTWEN);

	if (!rnd(b, 10))
		return v;
	v |= RTIT_CTL_TRACEEN | RTIT_CTL_USER | RTIT_CTL_BRANCHEN;
	if (rnd(b, 3))
		v &= ~RTIT_CTL_CR3FILTER;
	return rnd(b, 2) ? v : v | (uint64_t)rnd(b, 3) << 32 | (uint64_t)rnd(b, 3) << 36;
}

static void write_register(struct bench *b)
{
	static const uint32_t msrs[] = {
		MSR_RTIT_CTL, MSR_RTIT_CTL, MSR_RTIT_CTL, MSR_RTIT_STATUS,
		MSR_RTIT_OUTPUT_BASE, MSR_RTIT_OUTPUT_MASK_PTRS, MSR_RTIT_CR3_MATCH,
	};
	uint32_t i = rnd(b, 10), msr = i < 7 ? msrs[i] : MSR_RTIT_ADDR0_A + rnd(b, 9);
	uint64_t v = address(b);

	if (msr == MSR_RTIT_CTL)
		v = control(b);
	else if (msr == MSR_RTIT_STATUS)
		v = rnd(b, 3) ? 0 : (uint64_t)rnd(b, 0x20000) << 32;
	else if (msr == MSR_RTIT_OUTPUT_BASE)
		v = (uint64_t)rnd(b, 3) << 12;
	else if (msr == MSR_RTIT_OUTPUT_MASK_PTRS)
		v = (uint64_t)rnd(b, 0x1002) << 32 |
		    (rnd(b, 2) ? 0xfff : rnd(b, 10) << 7);
	pt_unit_wrmsr(b->u, msr, v);
	/* Writes to the registers' memory that go around the unit, too. */
	if (!rnd(b, 20))
		b->regs.msr[rnd(b, 2)] = rnd(b, 2) ? v : v << 12;
}

/* Sanity comes back now and then. */
static void restart(struct bench *b)
{
	pt_unit_wrmsr(b->u, MSR_RTIT_CTL, 0);
	pt_unit_wrmsr(b->u, MSR_RTIT_STATUS, 0);
	pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_BASE, (uint64_t)rnd(b, 2) << 12);
	pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS,
		      (rnd(b, 2) ? 0xfff : rnd(b, 8) << 7) | (uint64_t)rnd(b, 0x1000)
								     << 32);
	pt_unit_set_context(b->u, 3, 0, address(b));
	pt_unit_wrmsr(b->u, MSR_RTIT_CTL, control(b));
}

static void interrupt(void *ctx)
{
	struct bench *b = ctx;

	b->interrupts++;
	if (rnd(b, 2))
		write_register(b);
	if (!rnd(b, 4))
		pt_unit_flush(b->u);
}

static void make_runs(struct bench *b)
{
	uint8_t len[RUN_MAX];
	uint32_t i, k, n;

	for (i = 0; i < NRUNS; i++) {
		n = 1 + rnd(b, RUN_MAX);
		for (k = 0; k < n; k++)
			len[k] = 1 + rnd(b, 15);
		run_init(b->run[i], address(b), n, len, rnd(b, RUN_FAR + 1), address(b));
	}
}

static uint64_t successor(struct bench *b, const struct run *r)
{
	switch (rnd(b, 4)) {
	case 0: return address(b);
	case 1: return r->target;
	default: return r->end;
	}
}

static void operate(struct bench *b)
{
	struct run *r = b->run[rnd(b, NRUNS)];

	switch (rnd(b, 90)) {
	case 0: write_register(b); break;
	case 1: scribble(b); break;
	case 2: pt_unit_far(b->u, r, rnd(b, 4), address(b), address(b)); break;
	case 3: pt_unit_async(b->u, address(b), rnd(b, 4), address(b), address(b)); break;
	case 4: case 5: pt_unit_enter(b->u, 3, 0, address(b)); break;
	case 6: pt_unit_break(b->u, address(b)); break;
	case 7: case 8: pt_unit_resume(b->u, address(b)); break;
	case 9: pt_unit_set_tsc(b->u, pt_unit_tsc(b->u) + rnd(b, 100000)); break;
	case 10: pt_unit_flush(b->u); break;
	case 11: pt_unit_set_cbr(b->u, rnd(b, 256)); break;
	case 12: pt_unit_overflow_begin(b->u); break;
	case 13: case 14: pt_unit_overflow_end(b->u, address(b)); break;
	case 15: pt_unit_set_fifo(b->u, rnd(b, 4) ? 0 : rnd(b, 20)); break;
	case 16: pt_unit_set_defer_tips(b->u, !rnd(b, 3)); break;
	case 17: pt_unit_run(b->u, r, rnd(b, r->ninsn + 1), address(b)); break;
	case 18: restart(b); break;
	default: pt_unit_feed(b->u, r, successor(b, r));
	}
}

static void check(struct bench *b)
{
	uint64_t status = pt_unit_rdmsr(b->u, MSR_RTIT_STATUS);
	uint32_t i;

	for (i = 0; i < GUARD; i++)
		if (b->mem[i] != 0x5a || b->mem[GUARD + DRAM + i] != 0x5a)
			fail_msg("bytes beside the memory were written");
	if (status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED))
		assert_int_equal(status & RTIT_STATUS_TRIGGEREN, 0);
	if (!(pt_unit_rdmsr(b->u, MSR_RTIT_CTL) & RTIT_CTL_TRACEEN))
		assert_int_equal(status & RTIT_STATUS_TRIGGEREN, 0);
}

static void stress(void **state)
{
	struct bench b = {.rng = 88172645463325252ull};
	const struct pt_unit_host host = {
		.ctx = &b, .memory = memory, .interrupt = interrupt};
	unsigned int i, k;

	b.u = malloc(pt_unit_size());
	b.mem = malloc(DRAM + 2 * GUARD);
	assert_non_null(b.u);
	assert_non_null(b.mem);
	for (i = 0; i < NRUNS; i++) {
		b.run[i] = malloc(run_size(RUN_MAX));
		assert_non_null(b.run[i]);
	}
	for (k = 0; k < 20; k++) {
		memset(b.mem, 0x5a, DRAM + 2 * GUARD);
		make_runs(&b);
		pt_unit_init(b.u, &b.regs, NULL, &host);
		for (i = 0; i < 16; i++)
			scribble(&b);
		for (i = 0; i < OPS; i++) {
			operate(&b);
			b.traced += b.u->packet_en;
		}
		check(&b);
	}
	/* It did trace, in between. */
	assert_in_range(b.interrupts, 100, UINT32_MAX);
	assert_in_range(b.traced, 20 * OPS / 10, UINT32_MAX);
	for (i = 0; i < NRUNS; i++)
		free(b.run[i]);
	free(b.mem);
	free(b.u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stress),
	};

	return cmocka_run_group_tests_name("pt_stress", tests, NULL, NULL);
}
