// SPDX-License-Identifier: BSD-2-Clause
/*
 * The SPE driver against the unit of models/spe: the order of its writes, what it takes
 * for a configuration, and that the samples of operations that are fed come back.
 */
#include <errno.h>
#include <string.h>
#include "spe_world.h"

/* ---- order of writes ---- */

static int find(int from, uint32_t reg)
{
	int i;

	for (i = from; i < world.nlog; i++)
		if (world.log[i].reg == reg)
			return i;
	return -1;
}

/* Off, ISB, PSB CSYNC and DSB, and only then anything else (D9.7). */
static int check_off(int at)
{
	static const struct entry off[] = {
		{PMSCR_EL1, 0}, {0, HWT_BARRIER_CONTEXT}, {0, HWT_BARRIER_DATA},
		{PMBLIMITR_EL1, 0}, {0, HWT_BARRIER_CONTEXT}, {PMBSR_EL1, 0},
	};
	size_t i;

	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++, at++) {
		assert_int_equal(world.log[at].reg, off[i].reg);
		assert_true(world.log[at].value == off[i].value);
	}
	return at;
}

/* Everything else first, a context synchronization, then PMSCR, and another. */
static int check_on(int at)
{
	static const uint32_t before[] = {PMSFCR_EL1, PMSEVFR_EL1, PMSNEVFR_EL1, PMSLATFR_EL1,
					  PMSIRR_EL1, PMSICR_EL1, PMBPTR_EL1, PMBSR_EL1,
					  PMBLIMITR_EL1};
	int scr = find(at, PMSCR_EL1), k;
	size_t i;

	assert_true(scr > 0);
	assert_true(world.log[scr].value == (PMSCR_E0SPE | PMSCR_CX | PMSCR_TS));
	for (i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		k = find(at, before[i]);
		assert_in_range(k, at, scr - 1);
	}
	assert_true(find(at, PMBSR_EL1) < find(at, PMBLIMITR_EL1));
	assert_int_equal(world.log[scr - 1].reg, 0);
	assert_int_equal(world.log[scr + 1].reg, 0);
	return scr + 2;
}

static void order_of_writes(void **state)
{
	uint64_t limit;
	int at;

	begin();
	at = check_on(0);
	assert_int_equal(at, world.nlog);
	limit = world.log[find(0, PMBLIMITR_EL1)].value;
	assert_true(limit == ((100 * PAGE + BUS_OFFSET + HALF) | PMBLIMITR_NVM | PMBLIMITR_E));
	assert_true(world.log[find(0, PMBPTR_EL1)].value == 100 * PAGE + BUS_OFFSET);
	/* The interrupt: off, then the other half. */
	world.nlog = 0;
	samples(PER_HALF);
	at = check_on(check_off(0));
	assert_int_equal(at, world.nlog);
	assert_true(world.log[find(0, PMBPTR_EL1)].value ==
		    100 * PAGE + BUS_OFFSET + HALF);
	/* Out and in again: goes on where it was, in the middle of an interval. */
	run(100);
	world.nlog = 0;
	fake_switch_out(world.h, PID, PID);
	assert_int_equal(check_off(0), world.nlog);
	world.nlog = 0;
	fake_switch_in(world.h, PID, PID, 0);
	check_on(0);
	assert_int_equal(world.log[find(0, PMSICR_EL1)].value, INTERVAL - 100);
}

/* ---- configurations ---- */

static void config_table(void **state)
{
	static const struct hwt_cred user = {.uid = 1000}, root = {.perfmon = true};
	static const struct {
		int mode;
		const struct hwt_cred *cred;
		struct arm_spe_config2 c;
		int version;
		int want;
		struct spe_config regs;
	} row[] = {
#define T HWT_MODE_THREAD
#define C HWT_MODE_CPU
#define USER ARM_SPE_USER_ONLY
		{T, &user, {.first = {0, USER, 0}}, 1, 0,
		 {.scr = PMSCR_E0SPE | PMSCR_TS, .irr = 256 | PMSIRR_RND}},
		{T, &user, {.first = {4096, USER, ARM_SPE_CTX_PID}}, 1, 0,
		 {.scr = PMSCR_E0SPE | PMSCR_CX | PMSCR_TS, .irr = 4096 | PMSIRR_RND}},
		{T, &user, {.first = {0xffffff00, USER, 0}}, 1, 0,
		 {.scr = PMSCR_E0SPE | PMSCR_TS, .irr = 0xffffff00 | PMSIRR_RND}},
		{T, &user, {.first = {1000, USER, 0}}, 1, -EINVAL, {0}},
		{T, &user, {.first = {0, ARM_SPE_KERNEL_AND_USER, 0}}, 1, -EOPNOTSUPP, {0}},
		{T, &user, {.first = {0, ARM_SPE_KERNEL_ONLY, 0}}, 1, -EOPNOTSUPP, {0}},
		{T, &user, {.first = {0, (enum arm_spe_profiling_level)7, 0}}, 1, -EINVAL, {0}},
		{T, &user, {.first = {0, USER, ARM_SPE_CTX_CPU_ID}}, 1, -EOPNOTSUPP, {0}},
		{T, &user, {.first = {0, USER, (enum arm_spe_ctx_field)7}}, 1, -EINVAL, {0}},
		{T, &user, {.first = {0, USER, 0}}, 3, -EINVAL, {0}},
		{C, &user, {.first = {0, USER, 0}}, 1, -EPERM, {0}},
		{C, &root, {.first = {0, ARM_SPE_KERNEL_AND_USER, 0}}, 1, 0,
		 {.scr = PMSCR_E0SPE | PMSCR_E1SPE | PMSCR_TS, .irr = 256 | PMSIRR_RND}},
		{T, &user, {.first = {0, USER, 0}, .flags = 3}, 2, 0,
		 {.scr = PMSCR_E0SPE, .irr = 256}},
		{T, &user, {.first = {0, USER, 0}, .flags = 8}, 2, -EINVAL, {0}},
		{T, &user, {.first = {0, USER, 0}, .flags = ARM_SPE_PHYS}, 2, -EPERM, {0}},
		{T, &user, {.first = {0, USER, 0}, .pmsfcr = PMSFCR_FT | PMSFCR_LD}, 2, 0,
		 {.scr = PMSCR_E0SPE | PMSCR_TS, .irr = 256 | PMSIRR_RND,
		  .fcr = PMSFCR_FT | PMSFCR_LD}},
		{T, &user, {.first = {0, USER, 0}, .pmsfcr = PMSFCR_FT}, 2, -EINVAL, {0}},
		{T, &user, {.first = {0, USER, 0}, .pmsfcr = PMSFCR_FE}, 2, -EINVAL, {0}},
		{T, &user, {.first = {0, USER, 0}, .pmsfcr = PMSFCR_FE | PMSFCR_FNE | PMSFCR_FL,
			    .pmsevfr = 8, .pmsnevfr = 2, .pmslatfr = 30}, 2, 0,
		 {.scr = PMSCR_E0SPE | PMSCR_TS, .irr = 256 | PMSIRR_RND,
		  .fcr = PMSFCR_FE | PMSFCR_FNE | PMSFCR_FL, .evfr = 8, .nevfr = 2,
		  .latfr = 30}},
		{T, &user, {.first = {0, USER, 0}, .pmsfcr = 0x10}, 2, -EINVAL, {0}},
		/* Events that the unit lacks, or that no filter looks at. */
		{T, &user, {.first = {0, USER, 0}, .pmsfcr = PMSFCR_FE, .pmsevfr = 0x1002}, 2,
		 -EOPNOTSUPP, {0}},
		{T, &user, {.first = {0, USER, 0}, .pmsfcr = PMSFCR_FNE, .pmsnevfr = 1}, 2,
		 -EOPNOTSUPP, {0}},
		{T, &user, {.first = {0, USER, 0}, .pmsfcr = PMSFCR_FNE,
			    .pmsnevfr = 1ull << 63}, 2, -EOPNOTSUPP, {0}},
		{T, &user, {.first = {0, USER, 0}, .pmsevfr = 1ull << 48}, 2, -EOPNOTSUPP, {0}},
		{T, &user, {.first = {0, USER, 0}, .pmsfcr = PMSFCR_FL, .pmslatfr = 0x1000}, 2,
		 -EINVAL, {0}},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		void *out = NULL;
		int got = world.be.ops->config_check(
			&world.be, row[i].mode, row[i].cred, &row[i].c,
			row[i].version == 1 ? sizeof(row[i].c.first) : sizeof(row[i].c),
			row[i].version, &out);

		if (got != row[i].want)
			fail_msg("row %zu: %d instead of %d", i, got, row[i].want);
		if (!got)
			assert_memory_equal(out, &row[i].regs, sizeof(row[i].regs));
		hwt_free(out);
	}
}

/* A unit without filters, and one with larger intervals. */
static void config_against_the_unit(void **state)
{
	static const struct hwt_cred user = {.uid = 1000};
	static const struct {
		uint64_t fcr, idr;
	} filters[] = {{PMSFCR_FE, PMSIDR_FE}, {PMSFCR_FNE, PMSIDR_FNE},
		       {PMSFCR_FT | PMSFCR_B, PMSIDR_FT}, {PMSFCR_FL, PMSIDR_FL}};
	struct arm_spe_config2 c = plain_config;
	void *out = NULL;
	size_t i;

	c.pmsevfr = c.pmsnevfr = c.pmslatfr = 2;
	for (i = 0; i < 4; i++) {
		spe_unit_caps(world.caps);
		world.caps[SPE_CAP_PMSIDR] &= ~(uint32_t)filters[i].idr;
		c.pmsfcr = filters[i].fcr;
		assert_int_equal(world.be.ops->config_check(&world.be, HWT_MODE_THREAD,
							    &user, &c, sizeof(c), 2,
							    &out),
				 -EOPNOTSUPP);
	}
	/* One that keeps bits of its own in the registers. */
	c.pmsfcr = PMSFCR_FE | PMSFCR_FNE;
	c.pmsevfr = c.pmsnevfr = 1ull << 48 | 2;
	spe_unit_caps(world.caps);
	world.caps[SPE_CAP_EVENTS_HI] = 1u << 16;
	assert_int_equal(world.be.ops->config_check(&world.be, HWT_MODE_THREAD, &user, &c,
						    sizeof(c), 2, &out),
			 0);
	assert_true(((struct spe_config *)out)->evfr == c.pmsevfr);
	hwt_free(out);
	c.pmsfcr = 0;
	world.caps[SPE_CAP_PMSIDR] |= 4u << PMSIDR_INTERVAL_SHIFT;
	c.first.interval = 768;
	assert_int_equal(world.be.ops->config_check(&world.be, HWT_MODE_THREAD, &user, &c,
						    sizeof(c), 2, &out),
			 -EINVAL);
	c.first.interval = 0;
	assert_int_equal(world.be.ops->config_check(&world.be, HWT_MODE_THREAD, &user, &c,
						    sizeof(c), 2, &out),
			 0);
	assert_int_equal(((struct spe_config *)out)->irr, 1024);
	hwt_free(out);
}

static void buffer_sizes(void **state)
{
	assert_int_equal(allocate(3 * PAGE), -EINVAL);
	assert_int_equal(allocate(PAGE), -EINVAL);
	assert_int_equal(allocate(2 * PAGE), 0);
}

/* ---- halves ---- */

static void halves_by_index(void **state)
{
	uint64_t data = 0;
	unsigned long signals;
	vm_offset_t offset = 0;
	int ident = 0, round;

	begin();
	assert_int_equal(bufptr(&ident, &offset, &data), -ENOENT);
	for (round = 0; round < 6; round++) {
		signals = world.h->signals;
		samples(PER_HALF);
		assert_true(world.h->signals > signals);
		assert_int_equal(bufptr(&ident, &offset, &data), 0);
		assert_int_equal(ident, PID);
		assert_int_equal(offset, HALF);
		assert_int_equal(data, round & 1 ? ARM_SPE_BUF_POS : 0);
		assert_int_equal(bufptr(&ident, &offset, &data), -ENOENT);
		save(world.saved + HALF);
		assert_int_equal(give_half(PID, (unsigned int)round & 1), 0);
	}
	/* The other one is not full, and this one is given back already. */
	assert_int_equal(give_half(PID, 0), -EINVAL);
	assert_int_equal(give_half(PID, 1), -EINVAL);
	assert_int_equal(give_half(PID + 1, 0), -ENOENT);
	decode();
	assert_int_equal(world.nev, 6 * PER_HALF);
	check_samples(0, world.nev, 0);
}

/* What the unit says of samples that it lost is told once, with the half they miss in. */
static void collisions_are_told(void **state)
{
	static const uint32_t told[] = {0, HWT_BUF_COLLISION, 0};
	uint64_t record[64];
	const struct hwt_rec_buffer *buf = (const void *)(record + 5);
	size_t i;

	begin();
	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		samples(PER_HALF / 2);
		if (told[i])
			assert_int_equal(
				spe_unit_write(&world.unit, PMBSR_EL1, PMBSR_COLL), 0);
		samples(PER_HALF / 2);
		assert_true(fake_record_of(world.dev, HWT_REC_BUFFER, record,
					   sizeof(record)));
		assert_int_equal(buf->flags & HWT_BUF_COLLISION, told[i]);
		save(world.saved + HALF);
		assert_int_equal(give_half(PID, i & 1), 0);
	}
}

/* Both halves full: it stops, and goes on when one is given back. */
static void both_halves_full(void **state)
{
	uint64_t data = 0, record[64];
	const struct hwt_rec_buffer *buf = (const void *)(record + 5);
	vm_offset_t offset = 0;
	int ident = 0;

	begin();
	samples(PER_HALF);
	assert_true(fake_record_of(world.dev, HWT_REC_BUFFER, record, sizeof(record)));
	assert_int_equal(buf->head, HALF);
	assert_int_equal(buf->flags & HWT_BUF_FULL, 0);
	/* There was room, but the unit stood still until its interrupt was taken. */
	assert_int_equal(buf->lost, 1);
	samples(PER_HALF);
	assert_int_equal(position(), BUFSIZE);
	samples(10);
	assert_int_equal(position(), BUFSIZE);
	assert_true(fake_record_of(world.dev, HWT_REC_BUFFER, record, sizeof(record)));
	assert_int_equal(buf->head, BUFSIZE);
	assert_int_equal(buf->flags & HWT_BUF_FULL, HWT_BUF_FULL);
	assert_int_equal(buf->lost, 2);
	/* In any order: the newer one alone makes no room for what comes next. */
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(data, ARM_SPE_BUF_POS);
	save(BUFSIZE);
	assert_int_equal(give_half(PID, 1), 0);
	samples(3);
	assert_int_equal(position(), BUFSIZE);
	assert_int_equal(give_half(PID, 0), 0);
	samples(5);
	assert_int_equal(position(), BUFSIZE + 5 * SPE_RECORD_SIZE);
	save(position());
	decode();
	assert_int_equal(world.nev, 2 * PER_HALF + 5);
	check_samples(0, 2 * PER_HALF, 0);
}

/* A host that holds the CPU loses nothing. */
static void held_until_read(void **state)
{
	uint64_t record[64];

	begin();
	samples(2 * PER_HALF);
	assert_int_equal(hwt_hook_irq_resume(world.h->core, PID, PID, 0), -EAGAIN);
	save(HALF);
	assert_int_equal(give_to(HALF), 0);
	assert_int_equal(hwt_hook_irq_resume(world.h->core, PID, PID, 0), 0);
	samples(PER_HALF);
	assert_int_equal(position(), BUFSIZE + HALF);
	save(position());
	decode();
	assert_int_equal(world.nev, 3 * PER_HALF);
	check_samples(0, world.nev, 0);
	assert_true(fake_record_of(world.dev, HWT_REC_BUFFER, record, sizeof(record)));
	assert_int_equal(((const struct hwt_rec_buffer *)(record + 5))->lost, 0);
}

static void service_by_tail(void **state)
{
	uint64_t data;
	vm_offset_t offset;
	int ident;

	begin();
	samples(PER_HALF + 10);
	assert_int_equal(position(), HALF + 10 * SPE_RECORD_SIZE);
	assert_int_equal(give_to(HALF + 11 * SPE_RECORD_SIZE), -EINVAL);
	assert_int_equal(give_to(HALF + 10 * SPE_RECORD_SIZE), 0);
	assert_int_equal(give_to(HALF), -EINVAL);
	/* What was given back by position is not offered as a half any more. */
	assert_int_equal(bufptr(&ident, &offset, &data), -ENOENT);
	samples(PER_HALF);
	assert_int_equal(position(), BUFSIZE + 10 * SPE_RECORD_SIZE);
}

/* Stopped in the middle of a half: what there is of it is told as the last. */
static void final_half(void **state)
{
	uint64_t data = 0;
	vm_offset_t offset = 0;
	int ident = 0;

	begin();
	samples(PER_HALF + 7);
	assert_int_equal(fake_simple(world.dev, HWT_IOC_STOP), 0);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(offset, HALF);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(offset, 7 * SPE_RECORD_SIZE);
	assert_int_equal(data, ARM_SPE_BUF_POS | ARM_SPE_FINAL_BUF);
	assert_int_equal(bufptr(&ident, &offset, &data), -ENOENT);
	/* It goes on behind that. */
	assert_int_equal(fake_simple(world.dev, HWT_IOC_START), 0);
	fake_switch_in(world.h, PID, PID, 0);
	samples(PER_HALF - 7);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(offset, HALF);
	assert_int_equal(data, ARM_SPE_BUF_POS);
	save(BUFSIZE);
	decode();
	assert_int_equal(world.nev, 2 * PER_HALF);
}

/* Each page is a piece of its own; records and halves are the same. */
static void scattered_pages(void **state)
{
	uint64_t data = 0;
	vm_offset_t offset = 0;
	int ident = 0;

	begin();
	samples(PER_HALF / 2);
	/* A piece ended, not the half. */
	assert_int_equal(bufptr(&ident, &offset, &data), -ENOENT);
	samples(PER_HALF / 2);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	save(HALF);
	assert_int_equal(give_half(PID, 0), 0);
	samples(2 * PER_HALF);
	save(BUFSIZE + HALF);
	decode();
	assert_int_equal(world.nev, 3 * PER_HALF);
	check_samples(0, world.nev, 0);
}

/* The unit cannot write: said once, counted, and the rest stays whole. */
static void write_fault(void **state)
{
	uint64_t record[64];

	begin();
	samples(5);
	world.pages->npages = 0;
	samples(5);
	assert_int_equal(position(), 5 * SPE_RECORD_SIZE);
	assert_true(fake_record_of(world.dev, HWT_REC_BUFFER, record, sizeof(record)));
	assert_int_equal(((const struct hwt_rec_buffer *)(record + 5))->lost, 1);
	world.pages->npages = BUFSIZE / PAGE;
	save(position());
	decode();
	assert_int_equal(world.nev, 5);
}

/* Records smaller than their largest size: what does not fit is padding. */
static void padding_at_the_end(void **state)
{
	int i;

	world.caps[SPE_CAP_PMSIDR] = (world.caps[SPE_CAP_PMSIDR] & ~0xf000u) | 7u << 12;
	begin();
	samples(PER_HALF - 1);
	/* A unit that wants room for 128 bytes says so one record earlier. */
	world.regs.reg[SPE_REG_INDEX(PMBSR_EL1)] = PMBSR_S | PMBSR_BSC_FULL;
	hwt_hook_irq(world.h->core, PID, PID, 0);
	assert_int_equal(position(), HALF);
	for (i = 0; i < (int)SPE_RECORD_SIZE; i++)
		assert_int_equal(
			((uint8_t *)world.pages->kva)[HALF - SPE_RECORD_SIZE + i], 0);
	samples(1);
	save(position());
	decode();
	assert_int_equal(world.nev, PER_HALF);
}

/*
 * A last record that is not whole, up to anywhere in its place or to the half's end: that
 * half is told as such, and the next one, and the same when it comes round again, are not.
 */
static void partial_record(void **state)
{
	static const uint64_t bytes[] = {1, 20, SPE_RECORD_SIZE};
	uint64_t data = 0, record[64];
	vm_offset_t offset = 0;
	int ident = 0;
	size_t i;

	begin();
	for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		uint64_t half = i & 1 ? ARM_SPE_BUF_POS : 0;

		samples(PER_HALF - 1);
		world.regs.reg[SPE_REG_INDEX(PMBPTR_EL1)] += bytes[i];
		world.regs.reg[SPE_REG_INDEX(PMBSR_EL1)] =
			PMBSR_S | PMBSR_DL | PMBSR_BSC_FULL;
		hwt_hook_irq(world.h->core, PID, PID, 0);
		assert_int_equal(bufptr(&ident, &offset, &data), 0);
		assert_int_equal(offset, HALF);
		assert_int_equal(data, half | ARM_SPE_PARTREC);
		assert_true(fake_record_of(world.dev, HWT_REC_BUFFER, record,
					   sizeof(record)));
		assert_int_equal(((const struct hwt_rec_buffer *)(record + 5))->lost, i + 1);
		assert_int_equal(give_half(PID, i & 1), 0);
	}
	for (; i < 6; i++) {
		samples(PER_HALF);
		assert_int_equal(bufptr(&ident, &offset, &data), 0);
		assert_int_equal(data, i & 1 ? ARM_SPE_BUF_POS : 0);
		assert_int_equal(give_half(PID, i & 1), 0);
	}
}

/* A CPU's buffer is known by the CPU, and nobody is switched in. */
static void by_cpu(void **state)
{
	unsigned long set = 1ul << 2;
	struct hwt_cred cred = fake_cred(FAKE_OWNER);
	struct hwt_alloc al = {
		.bufsize = BUFSIZE,
		.mode = HWT_MODE_CPU,
		.cpu_map = (cpuset_t *)(void *)&set,
		.cpusetsize = sizeof(set),
		.backend_name = "spe",
		.ident = &world.ident,
		.kqueue_fd = 3,
	};
	vm_offset_t offset = 0;
	uint64_t data = 0;
	int ident = 0;

	cred.perfmon = true;
	world.cpu = 2;
	assert_int_equal(hwt_ioctl(world.h->core, &cred, NULL, NULL, HWT_IOC_ALLOC, &al),
			 0);
	assert_int_equal(fake_open_node(world.h, world.ident, world.cpu, &world.dev), 0);
	world.dev->cred.perfmon = true;
	assert_int_equal(configure(&plain_config), 0);
	assert_int_equal(fake_simple(world.dev, HWT_IOC_START), 0);
	assert_int_equal(bufptr(&ident, &offset, &data), -ENOENT);
	samples(PER_HALF + 3);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(ident, world.cpu);
	assert_int_equal(offset, HALF);
	assert_int_equal(data, 0);
	save(HALF);
	assert_int_equal(give_half(PID, 0), -ENOENT);
	assert_int_equal(give_half((uint32_t)world.cpu, 0), 0);
	assert_int_equal(fake_simple(world.dev, HWT_IOC_STOP), 0);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(ident, world.cpu);
	assert_int_equal(offset, 3 * SPE_RECORD_SIZE);
	assert_int_equal(data, ARM_SPE_BUF_POS | ARM_SPE_FINAL_BUF);
	save(position());
	decode();
	assert_int_equal(world.nev, PER_HALF + 3);
	check_samples(0, world.nev, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(order_of_writes),
		TEST(config_table),
		TEST(config_against_the_unit),
		TEST(buffer_sizes),
		TEST(halves_by_index),
		TEST(collisions_are_told),
		TEST(both_halves_full),
		cmocka_unit_test_setup_teardown(held_until_read, setup_holding, teardown),
		TEST(service_by_tail),
		TEST(final_half),
		cmocka_unit_test_setup_teardown(scattered_pages, setup_scattered, teardown),
		TEST(write_fault),
		TEST(padding_at_the_end),
		TEST(partial_record),
		TEST(by_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
