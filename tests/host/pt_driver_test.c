// SPDX-License-Identifier: BSD-2-Clause
/*
 * The PT driver without a unit: configurations against capabilities, tables
 * over contiguous and scattered pages, and the order of register writes that a
 * recording bus sees (SDM 33.2.7, 33.2.8).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>

#include "pt_world.h"

#define world	pt_world
#define be	pt_world.be
#define bus	pt_world.bus
#define host_ops driver_world.host_ops

static int setup(void **state)
{
	return pt_world_setup();
}

static int teardown(void **state)
{
	return pt_world_teardown();
}

/* ---- configurations ---- */

static void config_table(void **state)
{
	static const struct hwt_cred user = {.uid = 1000}, root = {.perfmon = true};
	static const struct {
		int mode;
		const struct hwt_cred *cred;
		struct pt_cpu_config c;
		int version;
		size_t size_off;
		int want;
	} row[] = {
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_BRANCHEN}, 1, 0, 0},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_BRANCHEN}, 2, 0, -EINVAL},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_BRANCHEN}, 1, 1, -EINVAL},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_TRACEEN}, 1, 0, -EINVAL},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_TOPA}, 1, 0, -EINVAL},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = 1ull << 60}, 1, 0, -EINVAL},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = 1ull << 33}, 1, 0, -EINVAL},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_OS}, 1, 0, -EOPNOTSUPP},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_PTWEN}, 1, 0, -EOPNOTSUPP},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_PWREVTEN}, 1, 0, -EOPNOTSUPP},
		{HWT_MODE_THREAD, &user, {.cr3_filter = 0x1000}, 1, 0, -EOPNOTSUPP},
		{HWT_MODE_THREAD, &user, {.cr3_filter = 0x1001}, 1, 0, -EINVAL},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_MTCEN, .mtc_freq = 3}, 1, 0, 0},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_MTCEN, .mtc_freq = 4}, 1, 0,
		 -EOPNOTSUPP},
		{HWT_MODE_THREAD, &user, {.mtc_freq = 16}, 1, 0, -EINVAL},
		{HWT_MODE_THREAD, &user, {.psb_freq = 5}, 1, 0, 0},
		{HWT_MODE_THREAD, &user, {.psb_freq = 6}, 1, 0, -EOPNOTSUPP},
		{HWT_MODE_THREAD, &user, {.rtit_ctl = RTIT_CTL_CYCEN, .cyc_thresh = 14}, 1, 0,
		 -EOPNOTSUPP},
		{HWT_MODE_THREAD, &user, {.nranges = 2, .ip_ranges = {{1, 2}, {3, 3}}}, 1, 0, 0},
		{HWT_MODE_THREAD, &user, {.nranges = 1, .ip_ranges = {{3, 2}}}, 1, 0, -EINVAL},
		{HWT_MODE_THREAD, &user, {.nranges = 1, .ip_ranges = {{1, 1ull << 47}}}, 1, 0,
		 -EINVAL},
		{HWT_MODE_THREAD, &user, {.nranges = 3}, 1, 0, -EINVAL},
		{HWT_MODE_THREAD, &user, {.nranges = -1}, 1, 0, -EINVAL},
		{HWT_MODE_CPU, &root, {.rtit_ctl = RTIT_CTL_BRANCHEN}, 1, 0, 0},
		{HWT_MODE_CPU, &root, {.rtit_ctl = RTIT_CTL_USER}, 1, 0, -EOPNOTSUPP},
		{HWT_MODE_CPU, &user, {.rtit_ctl = RTIT_CTL_BRANCHEN}, 1, 0, -EPERM},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		void *out = NULL;
		int got = be.ops->config_check(&be, row[i].mode, row[i].cred, &row[i].c,
					       sizeof(row[i].c) - row[i].size_off,
					       row[i].version, &out);

		if (got != row[i].want)
			fail_msg("row %zu: %d instead of %d", i, got, row[i].want);
		hwt_free(out);
	}
}

static void four_ranges(void **state)
{
	static const struct hwt_cred user = {.uid = 1000};
	struct pt_cpu_config2 c = {
		.first = {.nranges = 4, .ip_ranges = {{1, 2}, {3, 4}}},
		.more = {{5, 6}, {7, 8}},
	};
	void *out = NULL;

	assert_int_equal(be.ops->config_check(&be, HWT_MODE_THREAD, &user, &c, sizeof(c), 2,
					      &out), -EOPNOTSUPP);
	world.caps[PT_CAP_1_EAX] = (world.caps[PT_CAP_1_EAX] & ~PT_CAP1A_NRANGES_MASK) | 4;
	assert_int_equal(be.ops->config_check(&be, HWT_MODE_THREAD, &user, &c, sizeof(c), 2,
					      &out), 0);
	assert_int_equal(((struct pt_config *)out)->addr[7], 8);
	hwt_free(out);
	c.more[1].start = 9;
	assert_int_equal(be.ops->config_check(&be, HWT_MODE_THREAD, &user, &c, sizeof(c), 2,
					      &out), -EINVAL);
	c.first.nranges = 5;
	assert_int_equal(be.ops->config_check(&be, HWT_MODE_THREAD, &user, &c, sizeof(c), 2,
					      &out), -EINVAL);
}

static void a_unit_without_ranges_refuses_them(void **state)
{
	static const struct hwt_cred user = {.uid = 1000};
	struct pt_cpu_config c = {.nranges = 1, .ip_ranges = {{1, 2}}};
	void *out;

	world.caps[PT_CAP_0_EBX] &= ~PT_CAP0B_IPFILTER;
	assert_int_equal(be.ops->config_check(&be, HWT_MODE_THREAD, &user, &c, sizeof(c), 1,
					      &out), -EOPNOTSUPP);
}

/* ---- tables ---- */

static uint64_t table_word(struct pt_topa *t, uint64_t table, uint64_t i)
{
	return ((uint64_t *)t->tables->kva)[table * 512 + i];
}

/* Walks the tables as the unit would: every byte once, in order, then round. */
static void check_walk(struct hwt_buffer *b, struct pt_topa *t, bool want_multi)
{
	uint64_t table = 0, i = 0, off = 0, ints = 0, e, size;
	uint64_t bias = 1ull << 40;

	while (off < b->bufsize) {
		e = table_word(t, table, i);
		if (e & TOPA_END) {
			assert_int_equal(e & 0xffe, 0);
			table++;
			assert_int_equal(e & TOPA_BASE_MASK,
					 driver_world_page_addr(NULL, t->tables, table) + bias);
			i = 0;
			continue;
		}
		size = PAGE << ((e & TOPA_SIZE_MASK) >> TOPA_SIZE_SHIFT);
		assert_int_equal((e & TOPA_BASE_MASK) % size, 0);
		assert_int_equal(e & TOPA_BASE_MASK,
				 driver_world_page_addr(NULL, b->pages, off / PAGE) + bias);
		assert_int_equal(pt_topa_offset(t, b, driver_world_page_addr(NULL, t->tables, table) + bias,
						i << RTIT_MASK_TABLE_SHIFT | RTIT_MASK_LOWER |
						5ull << RTIT_MASK_OFFSET_SHIFT), off + 5);
		off += size;
		ints += !!(e & TOPA_INT);
		assert_int_equal(!!(e & TOPA_INT), off % t->granule == 0 || off == b->bufsize);
		i++;
	}
	assert_int_equal(off, b->bufsize);
	assert_int_equal(ints, t->ngranules);
	e = table_word(t, table, i);
	assert_int_equal(e, (driver_world_page_addr(NULL, t->tables, 0) + bias) | TOPA_END);
	assert_int_equal(table + 1, t->ntables);
	assert_int_equal(t->ntables > 1, want_multi);
}

static void tables_cover_the_buffer(void **state)
{
	static const uint64_t sizes[] = {PAGE, 2 * PAGE, 3 * PAGE, 17 * PAGE, 1000 * PAGE,
					 4096 * PAGE};
	struct hwt_buffer *b;
	size_t i;

	for (i = 0; i < 12; i++) {
		driver_world.scattered = i >= 6;
		b = driver_world_buffer(&be, sizes[i % 6]);
		/* The save area begins with the tables. */
		check_walk(b, b->priv, driver_world.scattered && sizes[i % 6] > 511 * PAGE);
		driver_world_buffer_free(b);
	}
}

/* The largest buffer there may be, in pieces that are as large as they can, and in pages. */
static void tables_of_the_largest_buffers(void **state)
{
	struct hwt_buffer *b = driver_world_buffer(&be, 32ull << 30);
	struct pt_topa *t = b->priv;

	check_walk(b, t, t->ntables > 1);	/* how large they can be: where it lies */
	driver_world_buffer_free(b);
	driver_world.scattered = true;
	b = driver_world_buffer(&be, 1ull << 30);
	check_walk(b, b->priv, true);
	driver_world_buffer_free(b);
}

static void a_unit_with_one_entry_a_table(void **state)
{
	struct hwt_buffer *b;

	world.caps[PT_CAP_0_ECX] &= ~PT_CAP0C_TOPA_MULTI;
	b = driver_world_buffer(&be, 16 * PAGE);
	check_walk(b, b->priv, true);
	driver_world_buffer_free(b);
}

/* ---- registers ---- */

static int find_write(uint32_t msr, int from)
{
	int i;

	for (i = from; i < world.nlog; i++)
		if (!world.log[i].barrier && world.log[i].msr == msr)
			return i;
	return -1;
}

static void trace_is_enabled_last(void **state)
{
	struct hwt_buffer *b = driver_world_buffer(&be, 16 * PAGE);
	int ctl, i;

	be.ops->switch_in(b, 0, true);
	ctl = find_write(MSR_RTIT_CTL, 0);
	assert_true(ctl > 0);
	assert_true(world.log[ctl].value & RTIT_CTL_TRACEEN);
	assert_true(world.log[ctl].value & RTIT_CTL_TOPA);
	assert_true(world.log[ctl].value & RTIT_CTL_USER);
	for (i = ctl + 1; i < world.nlog; i++)
		assert_true(world.log[i].barrier);
	assert_in_range(find_write(MSR_RTIT_OUTPUT_BASE, 0), 0, ctl);
	assert_in_range(find_write(MSR_RTIT_OUTPUT_MASK_PTRS, 0), 0, ctl);
	/* A fresh stretch begins with a PSB: PacketByteCnt is 0. */
	assert_int_equal(world.log[find_write(MSR_RTIT_STATUS, 0)].value, 0);
	be.ops->switch_out(b, 0);
	driver_world_buffer_free(b);
}

static void switch_out_drains_before_it_looks(void **state)
{
	struct hwt_buffer *b = driver_world_buffer(&be, 16 * PAGE);

	be.ops->switch_in(b, 0, true);
	world.nlog = 0;
	world.unit[0].regs[MSR_RTIT_OUTPUT_MASK_PTRS - MSR_RTIT_FIRST] =
		RTIT_MASK_LOWER | 100ull << RTIT_MASK_OFFSET_SHIFT;
	assert_int_equal(be.ops->switch_out(b, 0), HWT_IRQ_PROGRESS);
	assert_int_equal(world.log[0].msr, MSR_RTIT_CTL);
	assert_int_equal(world.log[0].value & RTIT_CTL_TRACEEN, 0);
	assert_true(world.log[1].barrier);
	assert_int_equal(b->head, 100);
	/* Nothing is written to a unit that is not ours any more. */
	world.nlog = 0;
	assert_int_equal(be.ops->switch_out(b, 0), HWT_IRQ_NONE);
	assert_int_equal(world.nlog, 0);
	driver_world_buffer_free(b);
}

static void set_place(uint64_t entry, uint64_t off)
{
	world.unit[0].regs[MSR_RTIT_OUTPUT_MASK_PTRS - MSR_RTIT_FIRST] =
		RTIT_MASK_LOWER | entry << RTIT_MASK_TABLE_SHIFT |
		off << RTIT_MASK_OFFSET_SHIFT;
}

static void positions_count_laps(void **state)
{
	struct hwt_buffer *b = driver_world_buffer(&be, 16 * PAGE);
	uint64_t off, pos;

	be.ops->switch_in(b, 0, true);
	set_place(15, 4000);
	be.ops->read(b, 0, &off, &pos);
	assert_int_equal(pos, 15 * PAGE + 4000);
	set_place(2, 1);
	assert_int_equal(be.ops->irq(b, 0), HWT_IRQ_PROGRESS);
	be.ops->read(b, 0, &off, &pos);
	assert_int_equal(off, 2 * PAGE + 1);
	assert_int_equal(pos, 18 * PAGE + 1);
	/* Ring mode: what was overwritten is behind tail. */
	assert_int_equal(b->tail, 2 * PAGE + 1);
	set_place(600, 0);	/* outside the tables: the position stays */
	be.ops->read(b, 0, &off, &pos);
	assert_int_equal(pos, 18 * PAGE + 1);
	set_place(2, 1);
	be.ops->switch_out(b, 0);
	driver_world_buffer_free(b);
}

static void full_mode_protects_unread_data(void **state)
{
	struct hwt_buffer *b = driver_world_buffer(&be, 16 * PAGE);
	struct pt_topa *t = b->priv;
	int irq;

	b->ring = false;
	be.ops->switch_in(b, 0, true);
	assert_true(table_word(t, 0, 15) & TOPA_STOP);
	set_place(8, 0);
	assert_int_equal(be.ops->irq(b, 0), HWT_IRQ_PROGRESS);
	b->tail = 4 * PAGE;	/* four were read: STOP moves to the fourth */
	set_place(9, 0);
	assert_int_equal(be.ops->irq(b, 0), HWT_IRQ_PROGRESS);
	assert_false(table_word(t, 0, 15) & TOPA_STOP);
	assert_true(table_word(t, 0, 3) & TOPA_STOP);
	set_place(4, 0);
	world.unit[0].regs[MSR_RTIT_STATUS - MSR_RTIT_FIRST] |= RTIT_STATUS_STOPPED;
	irq = be.ops->irq(b, 0);
	assert_int_equal(irq, HWT_IRQ_PROGRESS | HWT_IRQ_FULL);
	/* Off and saved; core calls switch_in when there is room. */
	assert_int_equal(world.unit[0].regs[MSR_RTIT_CTL - MSR_RTIT_FIRST], 0);
	assert_false(be.ops->room(b));
	b->tail = 12 * PAGE;
	assert_true(be.ops->room(b));
	be.ops->switch_in(b, 0, false);
	assert_true(table_word(t, 0, 11) & TOPA_STOP);
	be.ops->switch_out(b, 0);
	driver_world_buffer_free(b);
}

/* A timer that comes late finds the unit where it was, having filled everything. */
static void full_mode_sees_a_whole_lap(void **state)
{
	struct hwt_buffer *b = driver_world_buffer(&be, 16 * PAGE);
	uint64_t off, pos;

	b->ring = false;
	be.ops->switch_in(b, 0, true);
	assert_int_equal(be.ops->irq(b, 0), HWT_IRQ_NONE);
	set_place(15, PAGE);
	world.unit[0].regs[MSR_RTIT_STATUS - MSR_RTIT_FIRST] |= RTIT_STATUS_STOPPED;
	be.ops->read(b, 0, &off, &pos);
	assert_int_equal(pos, 16 * PAGE);
	be.ops->read(b, 0, &off, &pos);	/* once */
	assert_int_equal(pos, 16 * PAGE);
	assert_int_equal(off, 0);
	assert_int_equal(be.ops->irq(b, 0), HWT_IRQ_FULL);
	driver_world_buffer_free(b);
}

/* A host that can hold the CPU needs no STOP: nothing is lost at all. */
static void full_mode_holds_where_it_can(void **state)
{
	struct hwt_buffer *b = driver_world_buffer(&be, 4 * PAGE);
	struct pt_topa *t = b->priv;
	int i;

	host_ops.may_hold = true;
	b->ring = false;
	be.ops->switch_in(b, 0, true);
	for (i = 1; i < 4; i++) {
		set_place((uint64_t)i, 0);
		assert_int_equal(be.ops->irq(b, 0), HWT_IRQ_PROGRESS);
		assert_false(table_word(t, 0, (uint64_t)i) & TOPA_STOP);
	}
	set_place(0, 0);
	assert_int_equal(be.ops->irq(b, 0), HWT_IRQ_PROGRESS | HWT_IRQ_FULL);
	assert_int_equal(b->gaps, 0);
	/* The skid into the next granule has to be free as well. */
	bus.skid = 256;
	b->tail = PAGE;
	assert_false(be.ops->room(b));
	b->tail = PAGE + 256;
	assert_true(be.ops->room(b));
	bus.skid = 0;
	driver_world_buffer_free(b);
}

/* If a skid does reach unread data, that is a gap and is counted. */
static void overwritten_data_is_counted(void **state)
{
	struct hwt_buffer *b = driver_world_buffer(&be, PAGE);
	uint64_t off, pos;

	host_ops.may_hold = true;
	b->ring = false;
	be.ops->switch_in(b, 0, true);
	set_place(0, 4000);
	be.ops->read(b, 0, &off, &pos);
	set_place(0, 30);
	be.ops->irq(b, 0);
	assert_int_equal(b->gaps, 1);
	assert_int_equal(b->tail, 30);
	driver_world_buffer_free(b);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(config_table), T(four_ranges), T(a_unit_without_ranges_refuses_them),
		T(tables_cover_the_buffer), T(tables_of_the_largest_buffers),
		T(tables_cover_the_buffer), T(a_unit_with_one_entry_a_table),
		T(trace_is_enabled_last), T(switch_out_drains_before_it_looks),
		T(positions_count_laps), T(full_mode_protects_unread_data),
		T(full_mode_sees_a_whole_lap), T(full_mode_holds_where_it_can), T(overwritten_data_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
