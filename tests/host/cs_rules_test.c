// SPDX-License-Identifier: BSD-2-Clause
/*
 * The register sequences that the CoreSight driver sends, held against the manuals'
 * rules (cs_rules.h): that the rules see what is wrong, then that the driver keeps them
 * through any sequence of switches, interrupts, configurations and service, and never
 * gives the sink memory that holds unread trace; each source with a sink of its own, or
 * some with one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/coresight/cs_backend.h"
#include "cs_rules.h"
#include "driver_world.h"

#define STEPS	2000
#define SEEDS	60

#define ETM	CS_RULES_BASE(CS_RULES_ETM)
#define FUNNEL	CS_RULES_BASE(CS_RULES_FUNNEL)
#define ETR	CS_RULES_BASE(CS_RULES_ETR)

static struct {
	struct cs_rules unit[WORLD_UNITS];
	struct cs_backend cb;
	struct hwt_bus bus;
	bool opened[WORLD_UNITS];	/* capture began in this op */
	bool taken[WORLD_UNITS];	/* its ETR, by a sink that is on */
	const char *window;		/* what is wrong with the memory that a sink got */
	const uint32_t *idr;
} w;

#define NIDR	6
#define LEVELS	(0xbu << TRCIDR3_EXLEVEL_S_SHIFT | 7u << TRCIDR3_EXLEVEL_NS_SHIFT)

enum { RICH, POOR };

/*
 * All that ETMv4 has and this driver may ask for, with two pairs of comparators; and as
 * little as it may have.
 */
static const uint32_t idrs[][NIDR] = {
	[RICH] = {
		[0] = TRCIDR0_RES1 | TRCIDR0_TRCBB | TRCIDR0_TRCCCI | TRCIDR0_RETSTACK |
		      TRCIDR0_TSSIZE_64,
		[2] = TRCIDR2_IASIZE_64 | 4u << TRCIDR2_CIDSIZE_SHIFT,
		[3] = 8 | LEVELS | TRCIDR3_STALLCTL,
		[4] = 2,
		[5] = TRCIDR5_TRACEIDSIZE_7,
	},
	[POOR] = {
		[0] = TRCIDR0_RES1,
		[2] = TRCIDR2_IASIZE_64,
		[3] = LEVELS | TRCIDR3_SYNCPR,
		[5] = TRCIDR5_TRACEIDSIZE_7,
	},
};

/* ---- the rules themselves ---- */

enum access_kind { END_OF_ROW, WRITE, LOOK, TRACE, SETTLE, OP_END, AT_UNIT, UNIT_IS };
#define NSTEPS	80

struct step {
	enum access_kind kind;
	uint32_t reg;
	uint64_t value;
};

#define UNLOCK \
	{WRITE, ETM + CS_LAR, CS_LAR_KEY}, {WRITE, FUNNEL + CS_LAR, CS_LAR_KEY}, \
	{WRITE, ETR + CS_LAR, CS_LAR_KEY}
#define SINK \
	{LOOK, ETR + TMC_STS, 0}, {WRITE, ETR + TMC_RSZ, 0x400}, \
	{WRITE, ETR + TMC_MODE, TMC_MODE_SWF2}, {WRITE, ETR + TMC_BUFWM, 0x200}, \
	{WRITE, ETR + TMC_AXICTL, 0}, {WRITE, ETR + TMC_DBALO, 0x10000}, \
	{WRITE, ETR + TMC_DBAHI, 0}, {WRITE, ETR + TMC_RRP, 0x10000}, \
	{WRITE, ETR + TMC_RRPHI, 0}, {WRITE, ETR + TMC_RWP, 0x10000}, \
	{WRITE, ETR + TMC_RWPHI, 0}, {WRITE, ETR + TMC_FFCR, TMC_FFCR_ENFT}
#define CAPTURE {WRITE, ETR + TMC_CTL, TMC_CTL_CAPTURE}
#define LINK {WRITE, FUNNEL + CSTF_CTRL, 1}
/* As much as a unit with little needs. */
#define BARE \
	{WRITE, ETM + TRCOSLAR, 0}, {WRITE, ETM + TRCPRGCTLR, 0}, {LOOK, ETM + TRCSTATR, 0}, \
	{WRITE, ETM + TRCCONFIGR, TRCCONFIGR_RES1}, {WRITE, ETM + TRCEVENTCTL0R, 0}, \
	{WRITE, ETM + TRCEVENTCTL1R, 0}, {WRITE, ETM + TRCTSCTLR, 0}, \
	{WRITE, ETM + TRCSYNCPR, 0}, {WRITE, ETM + TRCBBCTLR, 0}, \
	{WRITE, ETM + TRCTRACEIDR, 1}, {WRITE, ETM + TRCVICTLR, 1}, \
	{WRITE, ETM + TRCVIIECTLR, 0}, {WRITE, ETM + TRCVISSCTLR, 0}
#define SOURCE BARE, {WRITE, ETM + TRCSTALLCTLR, 0}
#define LITTLE {UNIT_IS, 0, POOR}
#define ENABLE {WRITE, ETM + TRCPRGCTLR, TRCPRGCTLR_EN}, {SETTLE, 0, 0}, {LOOK, ETM + TRCSTATR, 0}
#define START UNLOCK, SINK, CAPTURE, LINK, SOURCE, ENABLE
#define OFF {WRITE, ETM + TRCPRGCTLR, 0}, {SETTLE, 0, 0}
#define IDLE {LOOK, ETM + TRCSTATR, 0}
#define FLUSH \
	{WRITE, ETR + TMC_FFCR, TMC_FFCR_ENFT | TMC_FFCR_STOPONFL | TMC_FFCR_FLUSHMAN}, \
	{LOOK, ETR + TMC_FFCR, 0}
#define READY {LOOK, ETR + TMC_STS, 0}
#define UNLINK {WRITE, FUNNEL + CSTF_CTRL, 0}
#define CLOSE {WRITE, ETR + TMC_CTL, 0}
#define LEVEL {LOOK, ETR + TMC_CBUFLEVEL, 0}
/* Another unit's source into the first one's sink. */
#define SECOND(id) \
	{AT_UNIT, 0, 1}, {WRITE, CS_RULES_ROUTE, 0}, {WRITE, ETM + CS_LAR, CS_LAR_KEY}, \
	SOURCE, {WRITE, ETM + TRCTRACEIDR, id}, ENABLE
#define FLUSH_ON {WRITE, ETR + TMC_FFCR, TMC_FFCR_ENFT | TMC_FFCR_FLUSHMAN}

static const struct {
	const char *name, *rule;	/* rule NULL: nothing is wrong */
	struct step steps[NSTEPS];
} rows[] = {
	{"a whole stretch", NULL,
	 {START, {TRACE, 0, 640}, LEVEL, {WRITE, ETR + TMC_RURP, 320}, OFF, IDLE, FLUSH, READY,
	  UNLINK, LEVEL, CLOSE, {OP_END, 0, false}}},
	{"locked", "IHI 0029 B2.3.9", {{WRITE, ETR + TMC_RSZ, 0x400}}},
	{"source first", "IHI 0029 D5.1: the source", {UNLOCK, SOURCE, ENABLE}},
	{"funnel before sink", "IHI 0029 D5.1: the funnel", {UNLOCK, LINK}},
	{"sink set up before TMCReady", "TMC_CTL: written",
	 {UNLOCK, {WRITE, ETR + TMC_RSZ, 0x400}}},
	{"a stale pointer", "a register of the TMC",
	 {UNLOCK, READY, {WRITE, ETR + TMC_RSZ, 0x400}, CAPTURE}},
	{"a pointer outside", "TMC_RWP: a pointer",
	 {UNLOCK, SINK, {WRITE, ETR + TMC_RWP, 0x11000}, CAPTURE}},
	{"a pointer inside a frame", "TMC_RWP: not",
	 {UNLOCK, SINK, {WRITE, ETR + TMC_RWP, 0x10008}, CAPTURE}},
	{"set up while capturing", "TMC_CTL: written",
	 {UNLOCK, SINK, CAPTURE, {WRITE, ETR + TMC_RSZ, 0x800}}},
	{"a stop that was left on", "TMC_FFCR: the first",
	 {UNLOCK, SINK, {WRITE, ETR + TMC_FFCR, TMC_FFCR_ENFT | TMC_FFCR_STOPONFL}, CAPTURE}},
	{"unit set up before it is idle", "TRCPRGCTLR",
	 {UNLOCK, {WRITE, ETM + TRCCONFIGR, 1}}},
	{"unit changed while enabled", "TRCPRGCTLR", {START, {WRITE, ETM + TRCVICTLR, 1}}},
	{"unit changed before it is idle", "TRCPRGCTLR", {START, OFF, {WRITE, ETM + TRCVICTLR, 1}}},
	{"a stale register", "a register of the trace unit",
	 {UNLOCK, SINK, CAPTURE, LINK, {WRITE, ETM + TRCOSLAR, 0}, {WRITE, ETM + TRCPRGCTLR, 0},
	  IDLE, {WRITE, ETM + TRCCONFIGR, 1}, ENABLE}},
	{"no trace ID", "IHI 0029 D4.2.1",
	 {UNLOCK, SINK, CAPTURE, LINK, SOURCE, {WRITE, ETM + TRCTRACEIDR, 0x70}, ENABLE}},
	{"OS Lock", "TRCOSLAR",
	 {UNLOCK, SINK, CAPTURE, LINK, SOURCE, {WRITE, ETM + TRCOSLAR, 1}, ENABLE}},
	{"cycles below the least", "TRCCCCTLR",
	 {UNLOCK, SINK, CAPTURE, LINK, SOURCE, {WRITE, ETM + TRCCONFIGR, 1 | TRCCONFIGR_CCI},
	  {WRITE, ETM + TRCCCCTLR, 4}, ENABLE}},
	{"a period that is reserved", "TRCSYNCPR",
	 {UNLOCK, SINK, CAPTURE, LINK, SOURCE, {WRITE, ETM + TRCSYNCPR, 7}, ENABLE}},
	{"a stale range", "TRCACVRn",
	 {UNLOCK, SINK, CAPTURE, LINK, SOURCE, {WRITE, ETM + TRCVIIECTLR, 1}, ENABLE}},
	{"a comparator too many", "TRCVIIECTLR",
	 {UNLOCK, SINK, CAPTURE, LINK, SOURCE, {WRITE, ETM + TRCVIIECTLR, 4}, ENABLE}},
	{"flushed before idle", "IHI 0029 D5.1: flushed", {START, OFF, FLUSH}},
	{"flushed without a stop", "TMC_FFCR: a last",
	 {START, OFF, IDLE, {WRITE, ETR + TMC_FFCR, TMC_FFCR_ENFT | TMC_FFCR_FLUSHMAN}}},
	{"closed before flush", "TMC_CTL: disabled", {START, OFF, IDLE, UNLOCK, CLOSE}},
	{"closed before TMCReady", "TMC_CTL: disabled", {START, OFF, IDLE, FLUSH, CLOSE}},
	{"closed before the source", "IHI 0029 D5.1: the sink", {START, CLOSE}},
	{"unlinked before the flush", "IHI 0029 D5.1: the funnel", {START, OFF, IDLE, UNLINK}},
	{"level before the flush", "TMC_CBUFLEVEL", {START, OFF, IDLE, LEVEL}},
	{"more given back than there is", "TMC_RURP",
	 {START, {TRACE, 0, 160}, {WRITE, ETR + TMC_RURP, 320}}},
	{"end before it runs", "TRCSTATR: the op",
	 {UNLOCK, SINK, CAPTURE, LINK, SOURCE, {WRITE, ETM + TRCPRGCTLR, TRCPRGCTLR_EN},
	  {SETTLE, 0, 0}, {OP_END, 0, true}}},
	{"left on", "the components", {START, {OP_END, 0, false}}},
	{"two share a sink", NULL,
	 {START, SECOND(2), {OP_END, 0, true}, OFF, IDLE, FLUSH_ON, {OP_END, 0, false},
	  {AT_UNIT, 0, 0}, {LOOK, ETR + TMC_FFCR, 0}, LEVEL, OFF, IDLE, FLUSH, READY, UNLINK,
	  LEVEL, CLOSE, {OP_END, 0, false}}},
	{"one trace ID for two", "IHI 0029 D4.2: another", {START, SECOND(1)}},
	{"stopped while another feeds it", "TMC_FFCR: the formatter",
	 {START, SECOND(2), OFF, IDLE, FLUSH}},
	{"closed while another feeds it", "IHI 0029 D5.1: the sink",
	 {START, SECOND(2), OFF, IDLE, CLOSE}},
	{"unlinked while another feeds it", "IHI 0029 D5.1: the funnel",
	 {START, SECOND(2), OFF, IDLE, FLUSH_ON, UNLINK}},
	{"a route under a source", "a route", {START, SECOND(2), {WRITE, CS_RULES_ROUTE, 1}}},
	{"a route to nowhere", "a route", {{WRITE, CS_RULES_ROUTE, 2}}},
	{"stalls as somebody else had it", "TRCSTALLCTLR: left",
	 {UNLOCK, SINK, CAPTURE, LINK, BARE, ENABLE}},
	{"a unit with little", NULL, {LITTLE, UNLOCK, SINK, CAPTURE, LINK, BARE, ENABLE}},
	{"stalls that it lacks", "TRCSTALLCTLR: the unit", {LITTLE, START}},
	{"cycles that it lacks", "TRCCONFIGR: a feature",
	 {LITTLE, UNLOCK, SINK, CAPTURE, LINK, BARE,
	  {WRITE, ETM + TRCCONFIGR, 1 | TRCCONFIGR_CCI}, {WRITE, ETM + TRCCCCTLR, 4}, ENABLE}},
	{"a period that is fixed", "TRCSYNCPR: the unit",
	 {LITTLE, UNLOCK, SINK, CAPTURE, LINK, BARE, {WRITE, ETM + TRCSYNCPR, 12}, ENABLE}},
};

static void take_step(struct cs_rules **at, const struct step *s)
{
	struct cs_rules *r = *at;

	switch (s->kind) {
	case AT_UNIT:	*at = &r->units[s->value]; break;
	case UNIT_IS:	r->idr = idrs[s->value]; break;
	case WRITE:	cs_rules_write(r, s->reg, s->value); break;
	case LOOK:	cs_rules_read(r, s->reg); break;
	case TRACE:	cs_rules_trace(r, s->value); break;
	case SETTLE:	cs_rules_barrier(r, HWT_BARRIER_CONTEXT); break;
	case OP_END:	cs_rules_end(r, s->value); break;
	case END_OF_ROW: break;
	}
}

static void rules_see_what_is_wrong(void **state)
{
	static struct cs_rules r[2];
	const char *want, *found;
	struct cs_rules *at;
	size_t i, j;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cs_rules_init(&r[0], idrs[RICH], 0);
		cs_rules_init(&r[1], idrs[RICH], 0);
		cs_rules_join(r, 2);
		at = r;
		for (j = 0; j < NSTEPS && rows[i].steps[j].kind != END_OF_ROW; j++)
			take_step(&at, &rows[i].steps[j]);
		want = rows[i].rule;
		found = r[0].broken ? r[0].broken : r[1].broken;
		if (!want != !found || (want && strncmp(found, want, strlen(want))))
			fail_msg("%s: %s", rows[i].name, found ? found : "nothing found");
	}
}

/* ---- the driver under them ---- */

static void bus_write(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t value)
{
	cs_rules_write(&w.unit[unit], reg, value);
	if (reg == ETR + TMC_CTL && value)
		w.opened[unit] = true;
}

static uint64_t bus_read(struct hwt_bus *bus, int unit, uint32_t reg)
{
	return cs_rules_read(&w.unit[unit], reg);
}

static void bus_barrier(struct hwt_bus *bus, int unit, enum hwt_barrier kind)
{
	cs_rules_barrier(&w.unit[unit], kind);
}

static int bus_poll(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t mask,
		    uint64_t value)
{
	return (cs_rules_read(&w.unit[unit], reg) & mask) == value ? 0 : -ETIMEDOUT;
}

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t i)
{
	return i < NIDR ? w.idr[i] : 0;
}

/* There are as many ETRs as units, so one is left. */
static int bus_sink_get(struct hwt_bus *bus, int unit)
{
	int i;

	for (i = 0; i < WORLD_UNITS; i++, unit = (unit + 1) % WORLD_UNITS)
		if (!w.taken[unit])
			break;
	if (i == WORLD_UNITS)
		return -EBUSY;
	w.taken[unit] = true;
	return unit;
}

static void bus_sink_put(struct hwt_bus *bus, int unit)
{
	if (!w.taken[unit])
		w.window = "an ETR is given back that nobody has";
	w.taken[unit] = false;
}

static const struct hwt_bus_ops bus_ops = {
	.write = bus_write, .read = bus_read, .barrier = bus_barrier, .poll = bus_poll,
	.cap = bus_cap, .now = driver_world_now, .buf_addr = driver_world_bus_addr,
	.sink_get = bus_sink_get, .sink_put = bus_sink_put,
};

static void unit_moves(struct hwt_buffer *b, int unit)
{
	cs_rules_trace(&w.unit[unit], driver_walk_draw(b->bufsize / 2));
}

/* Any; the driver refuses what may not be. */
static void configure(struct hwt_buffer *b)
{
	const struct hwt_cred cred = {.perfmon = true};
	struct coresight_config c = {
		.configr = driver_walk_draw(2) ? 1u << driver_walk_draw(14) | 1u << driver_walk_draw(14) :
						 CORESIGHT_CCI | CORESIGHT_TS,
		.flags = (uint32_t)driver_walk_draw(3),
		.sync = (uint32_t)driver_walk_draw(24),
		.cc_threshold = (uint32_t)driver_walk_draw(0x1100),
		.nranges = (uint32_t)driver_walk_draw(4),
	};
	void *checked;
	uint32_t i;

	for (i = 0; i < c.nranges; i++) {
		c.ranges[i].start = driver_walk_draw(UINT64_MAX);
		c.ranges[i].end = driver_walk_draw(UINT64_MAX);
	}
	if (w.cb.be.ops->config_check(&w.cb.be, HWT_MODE_THREAD, &cred, &c, sizeof(c),
				      CORESIGHT_CONFIG_VERSION, &checked))
		return;
	w.cb.be.ops->set_config(b, checked);
	hwt_free(checked);
}

static uint64_t pointer(int unit, uint32_t low, uint32_t high)
{
	return *cs_rules_reg(w.unit[unit].to, CS_RULES_ETR, high) << 32 |
	       *cs_rules_reg(w.unit[unit].to, CS_RULES_ETR, low);
}

/* The sink writes at head, and its FIFO holds at least what was not read yet. */
static void check_window(struct hwt_buffer *b, int unit)
{
	uint64_t at, unread;

	b = b->sink;
	at = driver_world_page_addr(NULL, b->pages, 0) + WORLD_BIAS;
	unread = b->ring ? 0 : b->head - b->tail;
	if (pointer(unit, TMC_DBALO, TMC_DBAHI) != at ||
	    pointer(unit, TMC_RWP, TMC_RWPHI) != at + b->head % b->bufsize)
		w.window = "a sink got memory that is not the buffer's at its head";
	else if (w.unit[unit].to->level < unread)
		w.window = "a sink got memory that holds unread trace";
}

static void op_ended(struct hwt_buffer *b, int unit, bool on)
{
	cs_rules_end(&w.unit[unit], on);
	if (w.opened[unit])
		check_window(b, unit);
	w.opened[unit] = false;
}

static const char *broken(int unit, uint32_t *reg)
{
	if (w.window)
		return w.window;
	*reg = w.unit[unit].broken_reg;
	return w.unit[unit].broken;
}

static void begin(int delay, bool share, int idr)
{
	static const struct cs_path own = {.etm = ETM, .funnel = FUNNEL, .etr = ETR};
	static const struct cs_path shared = {ETM, FUNNEL, ETR, CS_RULES_ROUTE};
	int i;

	memset(&w, 0, sizeof(w));
	w.idr = idrs[idr];
	assert_int_equal(driver_world_setup(), 0);
	for (i = 0; i < WORLD_UNITS; i++)
		cs_rules_init(&w.unit[i], w.idr, delay);
	cs_rules_join(w.unit, WORLD_UNITS);
	w.bus = (struct hwt_bus){.ops = &bus_ops, .name = "recording", .time_hz = 1};
	cs_backend_init(&w.cb, &w.bus, share ? &shared : &own);
}

static void the_driver_keeps_the_rules(void **state)
{
	static const uint64_t pages[] = {1, 2, 16, 64, 0};
	struct driver_walk walk = {
		.be = &w.cb.be, .pages = pages, .needs_room = true, .configure = configure,
		.unit_moves = unit_moves, .op_ended = op_ended, .broken = broken,
	};
	uint64_t seed;
	int i;

	for (seed = 1; seed <= SEEDS; seed++) {
		driver_walk_seed(seed);
		/* No two, pairs, threes, all. */
		walk.share = (int[]){0, 2, 3, 6}[seed % 4];
		begin((int)driver_walk_draw(4), walk.share, seed % 5 ? RICH : POOR);
		driver_walk(&walk, seed, STEPS);
		for (i = 0; i < WORLD_UNITS; i++)
			assert_false(w.taken[i]);
		assert_int_equal(driver_world_teardown(), 0);
	}
}

/* No trace, which is a gap: a component never does what it is asked for; no room. */
static void cannot_start(int delay, uint64_t unread)
{
	struct hwt_buffer *b;

	begin(delay, true, RICH);
	b = driver_world_buffer(&w.cb.be, 4 * PAGE);
	b->ring = !unread;
	b->head = unread;
	w.cb.be.ops->switch_in(b, 0, true);
	assert_int_equal(b->gaps, 1);
	assert_null(w.unit[0].broken);
	assert_false(w.opened[0]);
	assert_int_equal(w.cb.be.ops->switch_out(b, 0), unread ? HWT_IRQ_FULL : HWT_IRQ_NONE);
	assert_null(w.unit[0].broken);
	assert_false(w.taken[0]);
	driver_world_buffer_free(b);
	assert_int_equal(driver_world_teardown(), 0);
}

static void no_start_is_a_gap(void **state)
{
	cannot_start(1 << 30, 0);
	cannot_start(0, 4 * PAGE);	/* equal pointers would say that all is free */
	cannot_start(0, 5 * PAGE);	/* a ring that is read only now */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_see_what_is_wrong),
		cmocka_unit_test(the_driver_keeps_the_rules),
		cmocka_unit_test(no_start_is_a_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
