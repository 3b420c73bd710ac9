// SPDX-License-Identifier: BSD-2-Clause
/*
 * The register sequences that the SPE driver sends, held against the manual's rules
 * (spe_rules.h): that the rules see what is wrong, then that the driver keeps them
 * through any sequence of switches, interrupts, configurations and service, and never
 * gives the unit memory that holds unread records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "backends/spe/spe_backend.h"
#include "driver_world.h"
#include "spe_rules.h"

#define STEPS	2000
#define SEEDS	80
#define RECORD	64u

#define IDR (PMSIDR_FE | PMSIDR_FT | PMSIDR_FL | PMSIDR_FNE | PMSIDR_ARCHINST)
#define BIDR_PA (6ull | PMBIDR_ADDRMODE_PA << PMBIDR_ADDRMODE_SHIFT)
#define BIDR_VA 6ull

static struct {
	struct spe_rules unit[WORLD_UNITS];
	uint64_t idr, bidr;
	struct hwt_backend be;
	struct hwt_bus bus;
	bool enabled[WORLD_UNITS];	/* in this op */
	const char *window;		/* what is wrong with the memory that a unit got */
} w;

/* ---- the rules themselves ---- */

enum access_kind { END_OF_ROW, WRITE, READ, DRAIN, SETTLE, OP_END };

struct step {
	enum access_kind kind;
	uint32_t reg;
	uint64_t value;
};

#define LIMIT (0x3000 | PMBLIMITR_NVM)
#define SAMPLES(fcr, evfr, latfr) \
	{WRITE, PMSFCR_EL1, fcr}, {WRITE, PMSEVFR_EL1, evfr}, {WRITE, PMSNEVFR_EL1, 0}, \
	{WRITE, PMSLATFR_EL1, latfr}, {WRITE, PMSIRR_EL1, 0x100}, {WRITE, PMSICR_EL1, 0}
#define BUFFER {WRITE, PMBPTR_EL1, 0x1000}, {WRITE, PMBSR_EL1, 0}
#define ENABLE {WRITE, PMBLIMITR_EL1, LIMIT | PMBLIMITR_E}, {SETTLE, 0, 0}
#define START {WRITE, PMSCR_EL1, PMSCR_E0SPE}, {SETTLE, 0, 0}
#define PREPARE SAMPLES(0, 0, 0), BUFFER
#define OFF {WRITE, PMSCR_EL1, 0}

static const struct {
	const char *name, *rule;	/* rule NULL: nothing is wrong */
	struct step steps[24];
} rows[] = {
	{"a whole stretch", NULL,
	 {PREPARE, ENABLE, START, {READ, PMBPTR_EL1, 0}, {DRAIN, 0, 0}, OFF, {SETTLE, 0, 0},
	  {DRAIN, 0, 0}, {WRITE, PMBLIMITR_EL1, 0}, {SETTLE, 0, 0}, {READ, PMSICR_EL1, 0},
	  {OP_END, 0, false}}},
	{"sampling on before the buffer", "D9.7: sampling", {PREPARE, START}},
	{"no ISB between buffer and sampling", "D9.7: sampling",
	 {PREPARE, {WRITE, PMBLIMITR_EL1, LIMIT | PMBLIMITR_E}, START}},
	{"a stale filter", "D9.4: a sampling register", {BUFFER, ENABLE, START}},
	{"a stale pointer", "D9.7: a buffer register",
	 {SAMPLES(0, 0, 0), {WRITE, PMBSR_EL1, 0}, ENABLE}},
	{"buffer set up anew without its pointer", "D9.7: a buffer register",
	 {PREPARE, ENABLE, START, OFF, {SETTLE, 0, 0}, {DRAIN, 0, 0}, {WRITE, PMBLIMITR_EL1, 0},
	  {SETTLE, 0, 0}, ENABLE}},
	{"PMBSR.S left", "D9.7.3",
	 {SAMPLES(0, 0, 0), {WRITE, PMBPTR_EL1, 0x1000}, {WRITE, PMBSR_EL1, PMBSR_S}, ENABLE}},
	{"a limit at the pointer", "D9.7.1",
	 {SAMPLES(0, 0, 0), {WRITE, PMBPTR_EL1, 0x3000}, {WRITE, PMBSR_EL1, 0}, ENABLE}},
	{"virtual addresses to this unit", "D13.6.1",
	 {PREPARE, {WRITE, PMBLIMITR_EL1, 0x3000 | PMBLIMITR_E}}},
	{"a reserved fill mode", "D13.6.1",
	 {PREPARE, {WRITE, PMBLIMITR_EL1, LIMIT | PMBLIMITR_FM_MASK | PMBLIMITR_E}}},
	{"a pointer inside a record", "D13.6.2", {{WRITE, PMBPTR_EL1, 0x1020}}},
	{"filter while sampling", "D9.4: written",
	 {PREPARE, ENABLE, START, {WRITE, PMSFCR_EL1, 0}}},
	{"pointer moved while enabled", "D9.7: written while",
	 {PREPARE, ENABLE, {WRITE, PMBPTR_EL1, 0x2000}}},
	{"buffer off before sampling", "D9.7: the buffer was changed",
	 {PREPARE, ENABLE, START, {WRITE, PMBLIMITR_EL1, 0}}},
	{"buffer off before PSB CSYNC", "D9.7: the buffer was changed",
	 {PREPARE, ENABLE, START, OFF, {SETTLE, 0, 0}, {WRITE, PMBLIMITR_EL1, 0}}},
	{"PSB CSYNC before the ISB", "D9.7: the buffer was changed",
	 {PREPARE, ENABLE, START, OFF, {DRAIN, 0, 0}, {SETTLE, 0, 0}, {WRITE, PMBLIMITR_EL1, 0}}},
	{"pointer read before PSB CSYNC", "D9.7: read",
	 {PREPARE, ENABLE, START, OFF, {SETTLE, 0, 0}, {READ, PMBPTR_EL1, 0}}},
	{"pointer read before the buffer is off", "D9.7: read",
	 {PREPARE, ENABLE, START, OFF, {SETTLE, 0, 0}, {DRAIN, 0, 0}, {WRITE, PMBLIMITR_EL1, 0},
	  {READ, PMBPTR_EL1, 0}}},
	{"a position without PSB CSYNC", "D9.7: a position",
	 {PREPARE, ENABLE, START, {READ, PMBPTR_EL1, 0}, {OP_END, 0, true}}},
	{"no interval", "D13.6.9",
	 {PREPARE, {WRITE, PMSIRR_EL1, PMSIRR_RND}, ENABLE, START}},
	{"by no event", "D13.6.7", {SAMPLES(PMSFCR_FE, 0, 0), BUFFER, ENABLE, START}},
	{"by no type", "D13.6.7", {SAMPLES(PMSFCR_FT, 0, 0), BUFFER, ENABLE, START}},
	{"by no latency", "D13.6.7", {SAMPLES(PMSFCR_FL, 0, 0), BUFFER, ENABLE, START}},
	{"RES0", "D13.6: a bit", {{WRITE, PMSICR_EL1, 1ull << 40}}},
	{"an ID register", "D13.6: no such", {{WRITE, PMSIDR_EL1, 0}}},
	{"a write that is not in effect at the end", "D9.7: the op ended",
	 {PREPARE, ENABLE, {WRITE, PMSCR_EL1, PMSCR_E0SPE}, {OP_END, 0, true}}},
	{"left on", "the unit", {PREPARE, ENABLE, START, {OP_END, 0, false}}},
};

static void take_step(struct spe_rules *r, const struct step *s)
{
	switch (s->kind) {
	case WRITE:	spe_rules_write(r, s->reg, s->value); break;
	case READ:	spe_rules_read(r, s->reg); break;
	case DRAIN:	spe_rules_barrier(r, HWT_BARRIER_DATA); break;
	case SETTLE:	spe_rules_barrier(r, HWT_BARRIER_CONTEXT); break;
	case OP_END:	spe_rules_end(r, s->value); break;
	case END_OF_ROW: break;
	}
}

static void rules_see_what_is_wrong(void **state)
{
	struct spe_rules r;
	const char *want;
	size_t i, j;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		spe_rules_init(&r, IDR, BIDR_PA);
		for (j = 0; j < 24 && rows[i].steps[j].kind != END_OF_ROW; j++)
			take_step(&r, &rows[i].steps[j]);
		want = rows[i].rule;
		if (!want != !r.broken || (want && strncmp(r.broken, want, strlen(want))))
			fail_msg("%s: %s", rows[i].name, r.broken ? r.broken : "nothing found");
	}
}

/* ---- the driver under them ---- */

static void bus_write(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t value)
{
	spe_rules_write(&w.unit[unit], reg, value);
	if (reg == PMBLIMITR_EL1)
		w.enabled[unit] = value & PMBLIMITR_E;
}

static uint64_t bus_read(struct hwt_bus *bus, int unit, uint32_t reg)
{
	return spe_rules_read(&w.unit[unit], reg);
}

static void bus_barrier(struct hwt_bus *bus, int unit, enum hwt_barrier kind)
{
	spe_rules_barrier(&w.unit[unit], kind);
}

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t i)
{
	const uint32_t words[SPE_CAP_COUNT] = {
		(uint32_t)w.idr, (uint32_t)(w.idr >> 32),
		(uint32_t)w.bidr, (uint32_t)(w.bidr >> 32),
	};

	return i < SPE_CAP_COUNT ? words[i] : 0;
}

static const struct hwt_bus_ops bus_ops = {
	.write = bus_write, .read = bus_read, .barrier = bus_barrier, .cap = bus_cap,
	.now = driver_world_now, .buf_addr = driver_world_bus_addr,
};

/* Records, until none fits any more or the memory cannot be written (D9.7.3). */
static void unit_moves(struct hwt_buffer *b, int unit)
{
	struct spe_rules *r = &w.unit[unit];
	uint64_t limit = *spe_rules_reg(r, PMBLIMITR_EL1) & PMBLIMITR_LIMIT_MASK;
	uint64_t *at = spe_rules_reg(r, PMBPTR_EL1), *status = spe_rules_reg(r, PMBSR_EL1);
	uint64_t n = driver_walk_draw(2 * (b->bufsize / 2 / RECORD));

	while (n-- && !(*status & PMBSR_S)) {
		if (*at + RECORD > limit)
			*status = PMBSR_S | PMBSR_BSC_FULL | (n & 1 ? PMBSR_COLL : 0);
		else
			*at += RECORD;
	}
	*spe_rules_reg(r, PMSICR_EL1) = driver_walk_draw(1ull << 32);
}

/* Any; the driver refuses what may not be. */
static void configure(struct hwt_buffer *b)
{
	const struct hwt_cred cred = {.perfmon = true};
	const struct arm_spe_config2 c = {
		.first = {(uint32_t)(driver_walk_draw(3) * 256), driver_walk_draw(3),
			  driver_walk_draw(2)},
		.flags = (uint32_t)driver_walk_draw(8),
		.pmsfcr = driver_walk_draw(2) ? 1ull << driver_walk_draw(20) |
						1ull << driver_walk_draw(20) : 0,
		.pmsevfr = driver_walk_draw(2) * 0x8,
		.pmsnevfr = driver_walk_draw(2) * 0x2,
		.pmslatfr = driver_walk_draw(2) * driver_walk_draw(0x2000),
	};
	void *checked;

	if (w.be.ops->config_check(&w.be, HWT_MODE_THREAD, &cred, &c, sizeof(c),
				   ARM_SPE_CONFIG_VERSION2, &checked))
		return;
	w.be.ops->set_config(b, checked);
	hwt_free(checked);
}

/* The unit's address of a byte of the buffer. */
static uint64_t address(const struct hwt_buffer *b, uint64_t offset)
{
	if (!(w.bidr & PMBIDR_ADDRMODE_MASK))
		return (uint64_t)(uintptr_t)b->pages->kva + offset;
	return driver_world_page_addr(NULL, b->pages, offset / PAGE) + WORLD_BIAS + offset % PAGE;
}

/* What the unit may write to is free, and where head says that it is. */
static void check_window(struct hwt_buffer *b, struct spe_rules *r)
{
	uint64_t start = *spe_rules_reg(r, PMBPTR_EL1);
	uint64_t limit = *spe_rules_reg(r, PMBLIMITR_EL1) & PMBLIMITR_LIMIT_MASK;
	uint64_t at = b->head, off;

	for (; start < limit && !w.window; at += RECORD, start += RECORD) {
		off = at % b->bufsize;
		if (at + RECORD > b->tail + b->bufsize)
			w.window = "a unit got memory that holds unread records";
		else if (address(b, off) != start)
			w.window = "a unit got memory that is not the buffer's at its head";
	}
}

static void op_ended(struct hwt_buffer *b, int unit, bool on)
{
	spe_rules_end(&w.unit[unit], on);
	if (w.enabled[unit])
		check_window(b, &w.unit[unit]);
	w.enabled[unit] = false;
}

static const char *broken(int unit, uint32_t *reg)
{
	if (w.window)
		return w.window;
	*reg = w.unit[unit].broken_reg;
	return w.unit[unit].broken;
}

static void the_driver_keeps_the_rules(void **state)
{
	static const uint64_t pages[] = {2, 4, 16, 64, 0};
	const struct driver_walk walk = {
		.be = &w.be, .pages = pages, .full_only = true, .configure = configure,
		.unit_moves = unit_moves, .op_ended = op_ended, .broken = broken,
	};
	uint64_t seed;
	int i;

	for (seed = 1; seed <= SEEDS; seed++) {
		memset(&w, 0, sizeof(w));
		assert_int_equal(driver_world_setup(), 0);
		driver_walk_seed(seed);
		w.idr = IDR & ~(driver_walk_draw(4) ? 0 : PMSIDR_FNE | PMSIDR_FL);
		w.bidr = driver_walk_draw(2) ? BIDR_PA : BIDR_VA;
		driver_world.scattered = driver_walk_draw(2);
		for (i = 0; i < WORLD_UNITS; i++)
			spe_rules_init(&w.unit[i], w.idr, w.bidr);
		w.bus = (struct hwt_bus){.ops = &bus_ops, .name = "recording", .time_hz = 1};
		spe_backend_init(&w.be, &w.bus);
		driver_walk(&walk, seed, STEPS);
		assert_int_equal(driver_world_teardown(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_see_what_is_wrong),
		cmocka_unit_test(the_driver_keeps_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
