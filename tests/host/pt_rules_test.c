// SPDX-License-Identifier: BSD-2-Clause
/*
 * The register sequences that the PT driver sends, held against the manual's
 * rules (pt_rules.h): that the rules see what is wrong, then that the driver keeps
 * them through any sequence of switches, interrupts, configurations and service.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "pt_world.h"

#define STEPS		2000
#define SEEDS		60

static int setup(void **state)
{
	return pt_world_setup();
}

static int teardown(void **state)
{
	return pt_world_teardown();
}

/* ---- the rules themselves ---- */

enum access_kind { END_OF_ROW, WRITE, READ, DRAIN, SETTLE, TABLE, OP_END };

struct step {
	enum access_kind kind;
	uint32_t msr;
	uint64_t value;
};

#define ON (RTIT_CTL_TRACEEN | RTIT_CTL_USER | RTIT_CTL_TOPA | RTIT_CTL_BRANCHEN)
#define PREPARE \
	{WRITE, MSR_RTIT_STATUS, 0}, {WRITE, MSR_RTIT_OUTPUT_BASE, 0x1000}, \
	{WRITE, MSR_RTIT_OUTPUT_MASK_PTRS, RTIT_MASK_LOWER}
#define ENABLE {WRITE, MSR_RTIT_CTL, ON}, {SETTLE, 0, 0}
#define DISABLE {WRITE, MSR_RTIT_CTL, 0}
#define RANGE_0 (RTIT_ADDR_CFG_FILTER << RTIT_CTL_ADDR_CFG_SHIFT(0))

static const struct {
	const char *name, *section;	/* section NULL: nothing is wrong */
	struct step steps[12];
} rows[] = {
	{"a whole stretch", NULL,
	 {PREPARE, ENABLE, {READ, MSR_RTIT_OUTPUT_BASE, 0}, {READ, MSR_RTIT_OUTPUT_MASK_PTRS, 0},
	  {READ, MSR_RTIT_OUTPUT_BASE, 0}, DISABLE, {DRAIN, 0, 0}, {READ, MSR_RTIT_STATUS, 0}}},
	{"changed while tracing", "33.2.8", {PREPARE, ENABLE, {WRITE, MSR_RTIT_STATUS, 0}}},
	{"CTL changed while tracing", "33.2.8.2",
	 {PREPARE, ENABLE, {WRITE, MSR_RTIT_CTL, ON | RTIT_CTL_TSCEN}}},
	{"enabled with a stale base", "33.2.8",
	 {{WRITE, MSR_RTIT_STATUS, 0}, {WRITE, MSR_RTIT_OUTPUT_MASK_PTRS, RTIT_MASK_LOWER},
	  ENABLE}},
	{"enabled again without setting it up", "33.2.8",
	 {PREPARE, ENABLE, DISABLE, {DRAIN, 0, 0}, ENABLE}},
	{"enabled with a stale range", "33.2.8.5",
	 {PREPARE, {WRITE, MSR_RTIT_CTL, ON | RANGE_0}}},
	{"a range that ends before it begins", "33.2.4.3",
	 {PREPARE, {WRITE, MSR_RTIT_ADDRN_A(0), 2}, {WRITE, MSR_RTIT_ADDRN_B(0), 1},
	  {WRITE, MSR_RTIT_CTL, ON | RANGE_0}}},
	{"enabled with Stopped", "33.2.8.4",
	 {PREPARE, {WRITE, MSR_RTIT_STATUS, RTIT_STATUS_STOPPED}, ENABLE}},
	{"enabled with Error", "33.2.8.4",
	 {PREPARE, {WRITE, MSR_RTIT_STATUS, RTIT_STATUS_ERROR}, ENABLE}},
	{"no ring at all", "33.2.5.1", {PREPARE, {WRITE, MSR_RTIT_CTL, ON & ~RTIT_CTL_USER}}},
	{"a bit that CPUID lacks", "33.2.8.2",
	 {PREPARE, {WRITE, MSR_RTIT_CTL, ON | RTIT_CTL_PTWEN}}},
	{"a reserved range configuration", "33.2.8.2",
	 {PREPARE, {WRITE, MSR_RTIT_ADDRN_A(0), 1}, {WRITE, MSR_RTIT_ADDRN_B(0), 2},
	  {WRITE, MSR_RTIT_CTL, ON | 3ull << RTIT_CTL_ADDR_CFG_SHIFT(0)}}},
	{"a table across pages", "33.2.7.2",
	 {PREPARE, {WRITE, MSR_RTIT_OUTPUT_BASE, 0x1080}, ENABLE}},
	{"an address that is not canonical", "33.2.8",
	 {{WRITE, MSR_RTIT_ADDRN_A(0), 1ull << 47}}},
	{"a reserved bit of STATUS", "33.2.8", {{WRITE, MSR_RTIT_STATUS, 1ull << 3}}},
	{"a range that the unit lacks", "33.3.1", {{WRITE, MSR_RTIT_ADDRN_A(2), 0}}},
	{"CR3_MATCH without the filter", "33.3.1", {{WRITE, MSR_RTIT_CR3_MATCH, 0}}},
	{"read before the drain", "33.2.7",
	 {PREPARE, ENABLE, DISABLE, {READ, MSR_RTIT_OUTPUT_MASK_PTRS, 0}}},
	{"set up before the drain", "33.2.7", {PREPARE, ENABLE, DISABLE, PREPARE}},
	{"a torn position", "33.2.7.2",
	 {PREPARE, ENABLE, {READ, MSR_RTIT_OUTPUT_MASK_PTRS, 0}, DISABLE}},
	{"a table changed in use", "33.2.7.2", {PREPARE, ENABLE, {TABLE, 0, 0x1000}}},
	{"another's table changed", NULL, {PREPARE, ENABLE, {TABLE, 0, 0x2000}}},
	{"ends before it settled", "33.2.8",
	 {PREPARE, {WRITE, MSR_RTIT_CTL, ON}, {OP_END, 0, true}}},
	{"left on", "the unit", {PREPARE, ENABLE, {OP_END, 0, false}}},
};

static void take_step(struct pt_rules *r, const struct step *s)
{
	switch (s->kind) {
	case WRITE:	pt_rules_write(r, s->msr, s->value); break;
	case READ:	pt_rules_read(r, s->msr); break;
	case DRAIN:	pt_rules_barrier(r, HWT_BARRIER_DATA); break;
	case SETTLE:	pt_rules_barrier(r, HWT_BARRIER_CONTEXT); break;
	case TABLE:	pt_rules_table_write(r, s->value); break;
	case OP_END:	pt_rules_end(r, s->value); break;
	case END_OF_ROW: break;
	}
}

static void rules_see_what_is_wrong(void **state)
{
	struct pt_rules r;
	const char *want;
	size_t i, j;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pt_rules_init(&r, pt_world.caps);
		for (j = 0; j < 12 && rows[i].steps[j].kind != END_OF_ROW; j++)
			take_step(&r, &rows[i].steps[j]);
		want = rows[i].section;
		if (!want != !r.broken || (want && strncmp(r.broken, want, strlen(want))))
			fail_msg("%s: %s", rows[i].name, r.broken ? r.broken : "nothing found");
	}
}

/* ---- the driver under them ---- */

static uint64_t *reg(int unit, uint32_t msr)
{
	return &pt_world.unit[unit].regs[msr - MSR_RTIT_FIRST];
}

/* The unit writes: walks its tables as silicon does (33.2.7.2). */
static void unit_moves(struct hwt_buffer *b, int unit)
{
	uint64_t bytes = driver_walk_draw(b->bufsize / 2);
	uint64_t *base = reg(unit, MSR_RTIT_OUTPUT_BASE);
	uint64_t *ptrs = reg(unit, MSR_RTIT_OUTPUT_MASK_PTRS);
	uint64_t *status = reg(unit, MSR_RTIT_STATUS);
	uint64_t i, off, entry, size, part;

	while (bytes && !(*status & RTIT_STATUS_STOPPED)) {
		i = (*ptrs & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT;
		off = *ptrs >> RTIT_MASK_OFFSET_SHIFT;
		entry = ((uint64_t *)(uintptr_t)(*base - WORLD_BIAS))[i];
		if (entry & TOPA_END) {
			*base = entry & TOPA_BASE_MASK;
			*ptrs = RTIT_MASK_LOWER;
			continue;
		}
		size = PAGE << ((entry & TOPA_SIZE_MASK) >> TOPA_SIZE_SHIFT);
		part = size - off < bytes ? size - off : bytes;
		bytes -= part;
		off += part;
		if (off == size) {
			off = 0;
			i++;
			if (entry & TOPA_STOP)
				*status |= RTIT_STATUS_STOPPED;
		}
		*ptrs = RTIT_MASK_LOWER | i << RTIT_MASK_TABLE_SHIFT |
			off << RTIT_MASK_OFFSET_SHIFT;
	}
	*status |= RTIT_STATUS_CONTEXTEN | RTIT_STATUS_TRIGGEREN |
		   driver_walk_draw(0x20000) << RTIT_STATUS_PKTBYTECNT_SHIFT;
}

static uint64_t any_address(void)
{
	return driver_walk_draw(2) ? driver_walk_draw(1ull << 47) : driver_walk_draw(UINT64_MAX);
}

/* A configuration of any kind; the driver refuses what may not be. */
static void configure(struct hwt_buffer *b)
{
	const struct hwt_cred cred = {.perfmon = true};
	struct pt_cpu_config c = {
		.rtit_ctl = driver_walk_draw(4) ? 1ull << driver_walk_draw(16) | 1ull << driver_walk_draw(16) : driver_walk_draw(UINT64_MAX),
		.nranges = (int)driver_walk_draw(4),
		.mtc_freq = (int)driver_walk_draw(12),
		.cyc_thresh = (int)driver_walk_draw(4),
		.psb_freq = (int)driver_walk_draw(8),
		.cr3_filter = driver_walk_draw(4) ? 0 : (int)driver_walk_draw(4096),
	};
	void *checked;
	int i;

	for (i = 0; i < PT_IP_FILTER_MAX_RANGES; i++) {
		c.ip_ranges[i].start = any_address();
		c.ip_ranges[i].end = any_address();
	}
	if (pt_world.be.ops->config_check(&pt_world.be, HWT_MODE_THREAD, &cred, &c, sizeof(c),
					  PT_CONFIG_VERSION, &checked))
		return;
	pt_world.be.ops->set_config(b, checked);
	hwt_free(checked);
}

static void op_ended(struct hwt_buffer *b, int unit, bool on)
{
	pt_rules_end(&pt_world.unit[unit], on);
}

static const char *broken(int unit, uint32_t *reg)
{
	*reg = pt_world.unit[unit].broken_msr;
	return pt_world.unit[unit].broken;
}

static void the_driver_keeps_the_rules(void **state)
{
	static const uint64_t pages[] = {1, 2, 16, 64, 1024, 0};
	const struct driver_walk walk = {
		.be = &pt_world.be, .pages = pages, .configure = configure,
		.unit_moves = unit_moves, .op_ended = op_ended, .broken = broken,
	};
	uint64_t seed;

	for (seed = 1; seed <= SEEDS; seed++) {
		pt_world_setup();
		driver_walk_seed(seed);
		driver_world.host_ops.may_hold = driver_walk_draw(2);
		pt_world.bus.skid = driver_world.host_ops.may_hold ? 256 : 0;
		if (driver_walk_draw(2))
			pt_world.caps[PT_CAP_0_EBX] |= PT_CAP0B_CR3FILTER;
		driver_walk(&walk, seed, STEPS);
		assert_int_equal(pt_world_teardown(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rules_see_what_is_wrong, setup, teardown),
		cmocka_unit_test(the_driver_keeps_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
