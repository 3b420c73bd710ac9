/* SPDX-License-Identifier: BSD-2-Clause */
/* MSRs: what is refused (#GP), what is kept, per capability (33.2.8, 33.3.1). */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "models/pt/pt_unit.h"

#define BUFFER	0x10000u

enum caps { ALL, NONE, TWO, TOPA_ONLY };

static const uint32_t caps_none[PT_CAP_COUNT] = {
	[PT_CAP_MAX_SUBLEAF] = 1,
	[PT_CAP_0_ECX] = PT_CAP0C_SINGLE_RANGE,
};
/* Two ranges; MTC 3 and 6, CYC 0 and 1 to 4, PSB 0 to 5. */
static const uint32_t caps_two[PT_CAP_COUNT] = {
	[PT_CAP_MAX_SUBLEAF] = 1,
	[PT_CAP_0_EBX] = PT_CAP0B_CR3FILTER | PT_CAP0B_PSB_CYC | PT_CAP0B_IPFILTER |
			 PT_CAP0B_MTC,
	[PT_CAP_0_ECX] = PT_CAP0C_TOPA | PT_CAP0C_TOPA_MULTI | PT_CAP0C_SINGLE_RANGE,
	[PT_CAP_1_EAX] = 2 | 0x48u << PT_CAP1A_MTC_SHIFT,
	[PT_CAP_1_EBX] = 0x1f | 0x3fu << PT_CAP1B_PSB_SHIFT,
	[PT_CAP_15_EAX] = 2,
	[PT_CAP_15_EBX] = 176,
};
static const uint32_t caps_topa[PT_CAP_COUNT] = {
	[PT_CAP_0_ECX] = PT_CAP0C_TOPA,
};
static const uint32_t *const caps[] = {pt_unit_default_caps, caps_none, caps_two,
				       caps_topa};

struct row {
	enum caps caps;
	uint32_t msr;
	uint64_t value;
	int result;
	uint64_t reads;			/* if accepted; 0: as written */
};

#define CTL	MSR_RTIT_CTL
#define STATUS	MSR_RTIT_STATUS
#define MTC(n)	(RTIT_CTL_MTCEN | (uint64_t)(n) << RTIT_CTL_MTCFREQ_SHIFT)
#define CYC(n)	(RTIT_CTL_CYCEN | (uint64_t)(n) << RTIT_CTL_CYCTHRESH_SHIFT)
#define PSB(n)	((uint64_t)(n) << RTIT_CTL_PSBFREQ_SHIFT)
#define CFG(n, v) ((uint64_t)(v) << RTIT_CTL_ADDR_CFG_SHIFT(n))

static const struct row rows[] = {
	/* CTL: bits that are always there, and reserved ones */
	{ALL, CTL,
	 RTIT_CTL_OS | RTIT_CTL_USER | RTIT_CTL_TSCEN | RTIT_CTL_DISRETC |
		 RTIT_CTL_BRANCHEN,
	 0, 0},
	{NONE, CTL,
	 RTIT_CTL_OS | RTIT_CTL_USER | RTIT_CTL_TSCEN | RTIT_CTL_DISRETC |
		 RTIT_CTL_BRANCHEN,
	 0, 0},
	{ALL, CTL, RTIT_CTL_PWREVTEN, -EIO, 0},
	{ALL, CTL, RTIT_CTL_FUPONPTW, -EIO, 0},
	{ALL, CTL, RTIT_CTL_FABRICEN, -EIO, 0},
	{ALL, CTL, RTIT_CTL_PTWEN, -EIO, 0},
	{ALL, CTL, 1ull << 18, -EIO, 0},
	{ALL, CTL, 1ull << 23, -EIO, 0},
	{ALL, CTL, 1ull << 28, -EIO, 0},
	{ALL, CTL, 1ull << 31, -EIO, 0},
	{ALL, CTL, 1ull << 48, -EIO, 0},
	{ALL, CTL, 1ull << 63, -EIO, 0},
	/* CTL: bits by capability */
	{ALL, CTL, RTIT_CTL_CR3FILTER, 0, 0},
	{NONE, CTL, RTIT_CTL_CR3FILTER, -EIO, 0},
	{ALL, CTL, RTIT_CTL_TOPA, 0, 0},
	{NONE, CTL, RTIT_CTL_TOPA, -EIO, 0},
	{TOPA_ONLY, CTL, RTIT_CTL_TOPA, 0, 0},
	{TOPA_ONLY, CTL, RTIT_CTL_TRACEEN, -EIO, 0},
	{ALL, CTL, MTC(0), 0, 0},
	{ALL, CTL, MTC(15), 0, 0},
	{TWO, CTL, MTC(3), 0, 0},
	{TWO, CTL, MTC(6), 0, 0},
	{TWO, CTL, MTC(0), -EIO, 0},
	{TWO, CTL, MTC(4), -EIO, 0},
	{TWO, CTL, MTC(4) & ~RTIT_CTL_MTCEN, -EIO, 0},
	{NONE, CTL, MTC(0), -EIO, 0},
	{NONE, CTL, MTC(3) & ~RTIT_CTL_MTCEN, -EIO, 0},
	{ALL, CTL, CYC(0), 0, 0},
	{ALL, CTL, CYC(15), 0, 0},
	{TWO, CTL, CYC(4), 0, 0},
	{TWO, CTL, CYC(5), -EIO, 0},
	{NONE, CTL, CYC(0), -EIO, 0},
	{ALL, CTL, PSB(15), 0, 0},
	{TWO, CTL, PSB(5), 0, 0},
	{TWO, CTL, PSB(6), -EIO, 0},
	{NONE, CTL, PSB(1), -EIO, 0},
	{ALL, CTL, CFG(0, 1) | CFG(1, 2) | CFG(2, 1) | CFG(3, 2), 0, 0},
	{ALL, CTL, CFG(0, 3), -EIO, 0},
	{ALL, CTL, CFG(3, 15), -EIO, 0},
	{TWO, CTL, CFG(1, 1), 0, 0},
	{TWO, CTL, CFG(2, 1), -EIO, 0},
	{NONE, CTL, CFG(0, 1), -EIO, 0},
	/* STATUS */
	{ALL, STATUS, RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED, 0, 0},
	{ALL, STATUS, RTIT_STATUS_PKTBYTECNT_MASK, 0, 0},
	{ALL, STATUS, 1ull << 8, -EIO, 0},
	{ALL, STATUS, 1ull << 3, -EIO, 0},
	{ALL, STATUS, 1ull << 49, -EIO, 0},
	/* output */
	{ALL, MSR_RTIT_OUTPUT_BASE, 0x12345680, 0, 0},
	{ALL, MSR_RTIT_OUTPUT_BASE, 0x12345640, -EIO, 0},
	{ALL, MSR_RTIT_OUTPUT_BASE, 1ull << 52, -EIO, 0},
	{ALL, MSR_RTIT_OUTPUT_MASK_PTRS, 0, 0, 0x7f},
	{ALL, MSR_RTIT_OUTPUT_MASK_PTRS, 0x123400000080, 0, 0x1234000000ff},
	/* CR3_MATCH */
	{ALL, MSR_RTIT_CR3_MATCH, 0x123456789ae0, 0, 0},
	{ALL, MSR_RTIT_CR3_MATCH, 0x10, -EIO, 0},
	{NONE, MSR_RTIT_CR3_MATCH, 0x20, -EIO, 0},
	/* ranges */
	{ALL, MSR_RTIT_ADDR0_A, 0x7fffffffffff, 0, 0},
	{ALL, MSR_RTIT_ADDRN_B(3), 0xffff800000000000, 0, 0},
	{ALL, MSR_RTIT_ADDR0_B, 0x800000000000, -EIO, 0},
	{TWO, MSR_RTIT_ADDRN_B(1), 1, 0, 0},
	{TWO, MSR_RTIT_ADDRN_A(2), 1, -EIO, 0},
	{NONE, MSR_RTIT_ADDR0_A, 1, -EIO, 0},
	/* no such register */
	{ALL, MSR_RTIT_FIRST - 1, 0, -EIO, 0},
	{ALL, 0x562, 0, -EIO, 0},
	{ALL, 0x573, 0, -EIO, 0},
	{ALL, MSR_RTIT_LAST + 1, 0, -EIO, 0},
};

struct bench {
	struct pt_unit *u;
	struct pt_regs_file regs;
	uint8_t mem[BUFFER];
};

static void *memory(void *ctx, uint64_t addr, uint64_t len)
{
	struct bench *b = ctx;

	return addr < BUFFER && len <= BUFFER - addr ? b->mem + addr : NULL;
}

static void init(struct bench *b, enum caps c)
{
	const struct pt_unit_host host = {.ctx = b, .memory = memory};

	pt_unit_init(b->u, &b->regs, caps[c], &host);
}

static void writes(void **state)
{
	struct bench *b = *state;
	uint64_t before, after;
	size_t i;
	int r;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		init(b, rows[i].caps);
		before = pt_unit_rdmsr(b->u, rows[i].msr);
		r = pt_unit_wrmsr(b->u, rows[i].msr, rows[i].value);
		after = pt_unit_rdmsr(b->u, rows[i].msr);
		if (r != rows[i].result || after != (r		     ? before
						     : rows[i].reads ? rows[i].reads
								     : rows[i].value)) {
			print_error("row %zu: MSR %#x = %#llx: %d, reads %#llx\n", i,
				    rows[i].msr, (unsigned long long)rows[i].value, r,
				    (unsigned long long)after);
			fail();
		}
	}
}

static void status_bits_are_the_units(void **state)
{
	struct bench *b = *state;

	init(b, ALL);
	assert_int_equal(pt_unit_wrmsr(b->u, STATUS, 7), 0);
	assert_int_equal(pt_unit_rdmsr(b->u, STATUS), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, BUFFER - 1), 0);
	pt_unit_set_context(b->u, 3, 0, 0x401000);
	assert_int_equal(
		pt_unit_wrmsr(b->u, CTL,
			      RTIT_CTL_TRACEEN | RTIT_CTL_USER | RTIT_CTL_BRANCHEN),
		0);
	assert_int_equal(pt_unit_rdmsr(b->u, STATUS) & 0x3f,
			 RTIT_STATUS_TRIGGEREN | RTIT_STATUS_CONTEXTEN |
				 RTIT_STATUS_FILTEREN);
	pt_unit_set_context(b->u, 0, 0, 0x401000);
	assert_int_equal(pt_unit_rdmsr(b->u, STATUS) & 0x3f,
			 RTIT_STATUS_TRIGGEREN | RTIT_STATUS_FILTEREN);
}

/* While TraceEn is set everything is refused but clearing it. */
static void while_tracing(void **state)
{
	const uint64_t ctl = RTIT_CTL_TRACEEN | RTIT_CTL_USER | RTIT_CTL_BRANCHEN;
	struct bench *b = *state;
	static const uint32_t others[] = {
		STATUS,
		MSR_RTIT_OUTPUT_BASE,
		MSR_RTIT_OUTPUT_MASK_PTRS,
		MSR_RTIT_CR3_MATCH,
		MSR_RTIT_ADDR0_A,
		MSR_RTIT_ADDR0_B,
	};
	uint64_t before;
	size_t i;

	init(b, ALL);
	pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, BUFFER - 1);
	assert_int_equal(pt_unit_wrmsr(b->u, CTL, ctl), 0);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		before = pt_unit_rdmsr(b->u, others[i]);
		assert_int_equal(pt_unit_wrmsr(b->u, others[i], 0), -EIO);
		assert_int_equal(pt_unit_rdmsr(b->u, others[i]), before);
	}
	assert_int_equal(pt_unit_wrmsr(b->u, CTL, ctl), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, CTL, ctl | RTIT_CTL_TSCEN), -EIO);
	assert_int_equal(pt_unit_wrmsr(b->u, CTL, RTIT_CTL_USER), 0);
	assert_int_equal(pt_unit_rdmsr(b->u, CTL), RTIT_CTL_USER);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(pt_unit_wrmsr(b->u, others[i], 0), 0);
}

/* A saved unit continues: its byte count spaces the PSBs across the pause. */
static void save_and_restore(void **state)
{
	const uint64_t ctl = RTIT_CTL_TRACEEN | RTIT_CTL_USER | RTIT_CTL_BRANCHEN;
	struct bench *b = *state;
	uint64_t status, ptrs;

	init(b, ALL);
	pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, BUFFER - 1);
	assert_int_equal(pt_unit_wrmsr(b->u, CTL, ctl), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, CTL, 0), 0);
	status = pt_unit_rdmsr(b->u, STATUS);
	ptrs = pt_unit_rdmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS);
	assert_int_equal(status >> RTIT_STATUS_PKTBYTECNT_SHIFT, ptrs >> 32);
	init(b, ALL);
	assert_int_equal(pt_unit_wrmsr(b->u, STATUS, status), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, ptrs), 0);
	memset(b->mem, 0, sizeof(b->mem));
	assert_int_equal(pt_unit_wrmsr(b->u, CTL, ctl), 0);
	/* CBR alone, no PSB. */
	assert_memory_equal(b->mem + (ptrs >> 32), "\x02\x03", 2);
	assert_int_equal(pt_unit_wrmsr(b->u, CTL, 0), 0);
	assert_int_equal(pt_unit_wrmsr(b->u, STATUS, 0), 0);
	ptrs = pt_unit_rdmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS);
	assert_int_equal(pt_unit_wrmsr(b->u, CTL, ctl), 0);
	assert_memory_equal(b->mem + (ptrs >> 32), "\x02\x82\x02\x82", 4);
}

/* Error and Stopped keep the unit quiet until software clears them. */
static void sticky(void **state)
{
	static const uint64_t bits[] = {RTIT_STATUS_ERROR, RTIT_STATUS_STOPPED};
	struct bench *b = *state;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		init(b, ALL);
		pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, BUFFER - 1);
		pt_unit_wrmsr(b->u, STATUS, bits[i]);
		assert_int_equal(
			pt_unit_wrmsr(b->u, CTL, RTIT_CTL_TRACEEN | RTIT_CTL_USER), 0);
		assert_int_equal(pt_unit_rdmsr(b->u, STATUS), bits[i] | 0);
		assert_int_equal(pt_unit_rdmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS) >> 32, 0);
		pt_unit_wrmsr(b->u, CTL, 0);
		pt_unit_wrmsr(b->u, STATUS, 0);
		assert_int_equal(
			pt_unit_wrmsr(b->u, CTL, RTIT_CTL_TRACEEN | RTIT_CTL_USER), 0);
		assert_int_not_equal(pt_unit_rdmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS) >> 32,
				     0);
	}
}

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	if (b)
		b->u = malloc(pt_unit_size());
	*state = b;
	return b && b->u ? 0 : -1;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	free(b->u);
	free(b);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes),
		cmocka_unit_test(status_bits_are_the_units),
		cmocka_unit_test(while_tracing),
		cmocka_unit_test(save_and_restore),
		cmocka_unit_test(sticky),
	};

	return cmocka_run_group_tests_name("pt_regs", tests, setup, teardown);
}
