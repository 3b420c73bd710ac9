// SPDX-License-Identifier: BSD-2-Clause
/*
 * The SPE driver on core's fake host.  Its bus records what is written, in which
 * order, and hands it to the unit of models/spe, which refuses what silicon would
 * not take; operations are fed and their records read back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/spe/spe_backend.h"
#include "decode/spe/spe_decoder.h"
#include "models/spe/spe_feed.h"
#include "tests/core/fake.h"

#define PAGE		4096ull
#define PID		100
#define BUFSIZE		(4 * PAGE)
#define HALF		(BUFSIZE / 2)
#define INTERVAL	256u
#define PER_HALF	(HALF / SPE_RECORD_SIZE)
#define CODE		0x400000ull
/* Where the unit sees a page that the host calls by its address. */
#define BUS_OFFSET	(1ull << 40)

struct entry {
	uint32_t reg;		/* 0: a barrier */
	uint64_t value;		/* or enum hwt_barrier */
};

static struct world {
	struct fake_host *h;
	struct hwt_backend be;
	struct hwt_bus bus;
	uint32_t caps[SPE_CAP_COUNT];
	struct spe_unit unit;
	struct spe_regs_file regs;
	struct entry log[256];
	int nlog;
	int refused;
	bool irq;		/* raised, not handled yet */
	bool scattered;
	struct hwt_pages *pages;	/* of the last buffer */
	uint64_t ops;
	int cpu;		/* the unit's */
	struct fake_dev *dev;
	int ident;
	uint64_t saved;		/* bytes of the stream that the client has read */
	uint8_t stream[1 << 20];
	struct spe_event ev[16384];
	int nev;
} w;

/* ---- bus, pages, unit ---- */

static void note(uint32_t reg, uint64_t value)
{
	if (w.nlog < 256)
		w.log[w.nlog++] = (struct entry){reg, value};
}

static void bus_write(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t value)
{
	note(reg, value);
	if (spe_unit_write(&w.unit, reg, value))
		w.refused++;
}

static uint64_t bus_read(struct hwt_bus *bus, int unit, uint32_t reg)
{
	return spe_unit_read(&w.unit, reg);
}

static void bus_barrier(struct hwt_bus *bus, int unit, enum hwt_barrier kind)
{
	note(0, kind);
}

static uint64_t bus_now(struct hwt_bus *bus, int unit)
{
	return spe_unit_time(&w.unit);
}

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t i)
{
	return i < SPE_CAP_COUNT ? w.caps[i] : 0;
}

static uint64_t bus_addr(struct hwt_bus *bus, uint64_t addr)
{
	return addr + BUS_OFFSET;
}

static const struct hwt_bus_ops bus_ops = {
	.write = bus_write, .read = bus_read, .barrier = bus_barrier, .now = bus_now,
	.cap = bus_cap, .buf_addr = bus_addr,
};

static struct hwt_pages *pages_alloc(void *host, size_t n, enum hwt_pages_how how)
{
	struct hwt_pages *p = calloc(1, sizeof(*p));

	p->npages = n;
	p->kva = aligned_alloc(PAGE, n * PAGE);
	memset(p->kva, 0xee, n * PAGE);
	w.pages = p;
	return p;
}

static void pages_free(void *host, struct hwt_pages *p)
{
	free(p->kva);
	free(p);
}

/* Scattered: no page follows the one before it. */
static uint64_t page_addr(void *host, struct hwt_pages *p, size_t i)
{
	return PAGE * (w.scattered ? 100 + 2 * i : 100 + i);
}

static void *unit_memory(void *ctx, uint64_t addr, uint64_t len)
{
	uint64_t page = (addr - BUS_OFFSET) / PAGE - 100;

	if (w.scattered)
		page = page % 2 ? ~0ull : page / 2;
	if (addr < BUS_OFFSET || page >= w.pages->npages)
		return NULL;
	return (uint8_t *)w.pages->kva + page * PAGE + addr % PAGE;
}

static void unit_interrupt(void *ctx)
{
	w.irq = true;
}

static int setup_with(bool may_hold, bool scattered)
{
	struct spe_unit_host host = {NULL, unit_memory, unit_interrupt, NULL};

	memset(&w, 0, sizeof(w));
	w.scattered = scattered;
	spe_unit_caps(w.caps);
	if (spe_unit_init(&w.unit, &w.regs, 1, &host))
		return -1;
	w.bus = (struct hwt_bus){.ops = &bus_ops, .name = "recording", .time_hz = 1};
	w.h = fake_host_new(may_hold);
	w.h->ops.pages_alloc = pages_alloc;
	w.h->ops.pages_free = pages_free;
	w.h->ops.page_addr = page_addr;
	spe_backend_init(&w.be, &w.bus);
	fake_target_add(w.h, PID, 1);
	return hwt_backend_register(w.h->core, &w.be);
}

static int setup(void **state)
{
	return setup_with(false, false);
}

static int setup_holding(void **state)
{
	return setup_with(true, false);
}

static int setup_scattered(void **state)
{
	return setup_with(false, true);
}

static int teardown(void **state)
{
	if (w.dev)
		fake_close(w.dev);
	spe_unit_fini(&w.unit);
	/* Whatever the test did, no write was one that silicon refuses. */
	assert_int_equal(w.refused, 0);
	hwt_owner_exit(w.h->core, FAKE_OWNER);
	assert_int_equal(hwt_backend_unregister(w.h->core, &w.be), 0);
	w.h->pages = 0;
	return fake_host_free(w.h) ? 0 : -1;
}

static int allocate(uint64_t bufsize)
{
	struct hwt_cred cred = fake_cred(FAKE_OWNER);
	struct hwt_alloc al = {
		.bufsize = bufsize, .mode = HWT_MODE_THREAD, .pid = PID,
		.backend_name = "spe", .ident = &w.ident, .kqueue_fd = 3,
	};

	return hwt_ioctl(w.h->core, &cred, NULL, NULL, HWT_IOC_ALLOC, &al);
}

static int configure(const struct arm_spe_config2 *c)
{
	struct hwt_set_config s = {
		.config = (void *)(uintptr_t)c, .config_size = sizeof(*c),
		.config_version = ARM_SPE_CONFIG_VERSION2,
	};

	return fake_ioctl(w.dev, HWT_IOC_SET_CONFIG, &s);
}

static const struct arm_spe_config2 plain_config = {
	.first = {INTERVAL, ARM_SPE_USER_ONLY, ARM_SPE_CTX_PID}, .flags = ARM_SPE_NO_JITTER,
};

static void begin(void)
{
	assert_int_equal(allocate(BUFSIZE), 0);
	assert_int_equal(fake_open_node(w.h, w.ident, 0, &w.dev), 0);
	assert_int_equal(configure(&plain_config), 0);
	assert_int_equal(fake_simple(w.dev, HWT_IOC_START), 0);
	fake_switch_in(w.h, PID, PID, 0);
}

/* n operations, each interrupt behind the one that filled a piece. */
static void run(uint64_t n)
{
	struct spe_op op = {0};

	while (n--) {
		op.pc = CODE + 4 * w.ops++;
		spe_unit_op(&w.unit, &op);
		if (w.irq) {
			w.irq = false;
			hwt_hook_irq(w.h->core, PID, PID, w.cpu);
		}
	}
}

static void samples(uint64_t n)
{
	run(n * INTERVAL);
}

static int bufptr(int *ident, vm_offset_t *offset, uint64_t *data)
{
	struct hwt_bufptr_get get = {ident, offset, data};

	return fake_ioctl(w.dev, HWT_IOC_BUFPTR_GET, &get);
}

static uint64_t position(void)
{
	struct hwt_position_get get = {0};

	assert_int_equal(fake_ioctl(w.dev, HWT_IOC_POSITION_GET, &get), 0);
	return get.head;
}

static int give_half(uint32_t ident, unsigned int half)
{
	struct arm_spe_svc_buf svc = {.ident = ident, .buf_idx = half & 1};
	struct hwt_svc_buf s = {&svc, sizeof(svc), ARM_SPE_SVC_BUF_VERSION};

	return fake_ioctl(w.dev, HWT_IOC_SVC_BUF, &s);
}

static int give_to(uint64_t tail)
{
	struct arm_spe_svc_buf2 svc = {PID, 0, tail};
	struct hwt_svc_buf s = {&svc, sizeof(svc), ARM_SPE_SVC_BUF_VERSION2};

	return fake_ioctl(w.dev, HWT_IOC_SVC_BUF, &s);
}

/* Copies the stream up to `to` out of the buffer. */
static void save(uint64_t to)
{
	for (; w.saved < to; w.saved++)
		w.stream[w.saved] = ((uint8_t *)w.pages->kva)[w.saved % BUFSIZE];
}

static void decode(void)
{
	struct spe_decoder_config config = {.align = SPE_RECORD_SIZE};
	struct spe_decoder *d = spe_decoder_new(&config);
	int n;

	w.nev = 0;
	spe_decoder_feed(d, w.stream, w.saved);
	while ((n = spe_decoder_next(d, w.ev + w.nev, 64)) > 0)
		w.nev += n;
	spe_decoder_finish(d);
	assert_int_equal(spe_decoder_next(d, w.ev, 1), 0);
	spe_decoder_free(d);
}

/* Sample i is operation (i + 1) * INTERVAL - 1, i from `first` on. */
static void check_samples(int at, int n, uint64_t first)
{
	int i;

	for (i = 0; i < n; i++) {
		assert_int_equal(w.ev[at + i].type, SPE_SAMPLE);
		assert_true(w.ev[at + i].sample.addr[SPE_ADDR_PC] ==
			    CODE + 4 * ((first + (uint64_t)i + 1) * INTERVAL - 1));
	}
}

/* ---- order of writes ---- */

static int find(int from, uint32_t reg)
{
	int i;

	for (i = from; i < w.nlog; i++)
		if (w.log[i].reg == reg)
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
		assert_int_equal(w.log[at].reg, off[i].reg);
		assert_true(w.log[at].value == off[i].value);
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
	assert_true(w.log[scr].value == (PMSCR_E0SPE | PMSCR_CX | PMSCR_TS));
	for (i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		k = find(at, before[i]);
		assert_in_range(k, at, scr - 1);
	}
	assert_true(find(at, PMBSR_EL1) < find(at, PMBLIMITR_EL1));
	assert_int_equal(w.log[scr - 1].reg, 0);
	assert_int_equal(w.log[scr + 1].reg, 0);
	return scr + 2;
}

static void order_of_writes(void **state)
{
	uint64_t limit;
	int at;

	begin();
	at = check_on(0);
	assert_int_equal(at, w.nlog);
	limit = w.log[find(0, PMBLIMITR_EL1)].value;
	assert_true(limit == ((100 * PAGE + BUS_OFFSET + HALF) | PMBLIMITR_NVM | PMBLIMITR_E));
	assert_true(w.log[find(0, PMBPTR_EL1)].value == 100 * PAGE + BUS_OFFSET);
	/* The interrupt: off, then the other half. */
	w.nlog = 0;
	samples(PER_HALF);
	at = check_on(check_off(0));
	assert_int_equal(at, w.nlog);
	assert_true(w.log[find(0, PMBPTR_EL1)].value == 100 * PAGE + BUS_OFFSET + HALF);
	/* Out and in again: goes on where it was, in the middle of an interval. */
	run(100);
	w.nlog = 0;
	fake_switch_out(w.h, PID, PID);
	assert_int_equal(check_off(0), w.nlog);
	w.nlog = 0;
	fake_switch_in(w.h, PID, PID, 0);
	check_on(0);
	assert_int_equal(w.log[find(0, PMSICR_EL1)].value, INTERVAL - 100);
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
		int got = w.be.ops->config_check(&w.be, row[i].mode, row[i].cred, &row[i].c,
						 row[i].version == 1 ? sizeof(row[i].c.first) :
						 sizeof(row[i].c), row[i].version, &out);

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
		spe_unit_caps(w.caps);
		w.caps[SPE_CAP_PMSIDR] &= ~(uint32_t)filters[i].idr;
		c.pmsfcr = filters[i].fcr;
		assert_int_equal(w.be.ops->config_check(&w.be, HWT_MODE_THREAD, &user, &c,
							sizeof(c), 2, &out), -EOPNOTSUPP);
	}
	/* One that keeps bits of its own in the registers. */
	c.pmsfcr = PMSFCR_FE | PMSFCR_FNE;
	c.pmsevfr = c.pmsnevfr = 1ull << 48 | 2;
	spe_unit_caps(w.caps);
	w.caps[SPE_CAP_EVENTS_HI] = 1u << 16;
	assert_int_equal(w.be.ops->config_check(&w.be, HWT_MODE_THREAD, &user, &c, sizeof(c), 2,
						&out), 0);
	assert_true(((struct spe_config *)out)->evfr == c.pmsevfr);
	hwt_free(out);
	c.pmsfcr = 0;
	w.caps[SPE_CAP_PMSIDR] |= 4u << PMSIDR_INTERVAL_SHIFT;
	c.first.interval = 768;
	assert_int_equal(w.be.ops->config_check(&w.be, HWT_MODE_THREAD, &user, &c, sizeof(c), 2,
						&out), -EINVAL);
	c.first.interval = 0;
	assert_int_equal(w.be.ops->config_check(&w.be, HWT_MODE_THREAD, &user, &c, sizeof(c), 2,
						&out), 0);
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
		signals = w.h->signals;
		samples(PER_HALF);
		assert_true(w.h->signals > signals);
		assert_int_equal(bufptr(&ident, &offset, &data), 0);
		assert_int_equal(ident, PID);
		assert_int_equal(offset, HALF);
		assert_int_equal(data, round & 1 ? ARM_SPE_BUF_POS : 0);
		assert_int_equal(bufptr(&ident, &offset, &data), -ENOENT);
		save(w.saved + HALF);
		assert_int_equal(give_half(PID, (unsigned int)round & 1), 0);
	}
	/* The other one is not full, and this one is given back already. */
	assert_int_equal(give_half(PID, 0), -EINVAL);
	assert_int_equal(give_half(PID, 1), -EINVAL);
	assert_int_equal(give_half(PID + 1, 0), -ENOENT);
	decode();
	assert_int_equal(w.nev, 6 * PER_HALF);
	check_samples(0, w.nev, 0);
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
			assert_int_equal(spe_unit_write(&w.unit, PMBSR_EL1, PMBSR_COLL), 0);
		samples(PER_HALF / 2);
		assert_true(fake_record_of(w.dev, HWT_REC_BUFFER, record, sizeof(record)));
		assert_int_equal(buf->flags & HWT_BUF_COLLISION, told[i]);
		save(w.saved + HALF);
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
	assert_true(fake_record_of(w.dev, HWT_REC_BUFFER, record, sizeof(record)));
	assert_int_equal(buf->head, HALF);
	assert_int_equal(buf->flags & HWT_BUF_FULL, 0);
	/* There was room, but the unit stood still until its interrupt was taken. */
	assert_int_equal(buf->lost, 1);
	samples(PER_HALF);
	assert_int_equal(position(), BUFSIZE);
	samples(10);
	assert_int_equal(position(), BUFSIZE);
	assert_true(fake_record_of(w.dev, HWT_REC_BUFFER, record, sizeof(record)));
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
	assert_int_equal(w.nev, 2 * PER_HALF + 5);
	check_samples(0, 2 * PER_HALF, 0);
}

/* A host that holds the CPU loses nothing. */
static void held_until_read(void **state)
{
	uint64_t record[64];

	begin();
	samples(2 * PER_HALF);
	assert_int_equal(hwt_hook_irq_resume(w.h->core, PID, PID, 0), -EAGAIN);
	save(HALF);
	assert_int_equal(give_to(HALF), 0);
	assert_int_equal(hwt_hook_irq_resume(w.h->core, PID, PID, 0), 0);
	samples(PER_HALF);
	assert_int_equal(position(), BUFSIZE + HALF);
	save(position());
	decode();
	assert_int_equal(w.nev, 3 * PER_HALF);
	check_samples(0, w.nev, 0);
	assert_true(fake_record_of(w.dev, HWT_REC_BUFFER, record, sizeof(record)));
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
	assert_int_equal(fake_simple(w.dev, HWT_IOC_STOP), 0);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(offset, HALF);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(offset, 7 * SPE_RECORD_SIZE);
	assert_int_equal(data, ARM_SPE_BUF_POS | ARM_SPE_FINAL_BUF);
	assert_int_equal(bufptr(&ident, &offset, &data), -ENOENT);
	/* It goes on behind that. */
	assert_int_equal(fake_simple(w.dev, HWT_IOC_START), 0);
	fake_switch_in(w.h, PID, PID, 0);
	samples(PER_HALF - 7);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(offset, HALF);
	assert_int_equal(data, ARM_SPE_BUF_POS);
	save(BUFSIZE);
	decode();
	assert_int_equal(w.nev, 2 * PER_HALF);
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
	assert_int_equal(w.nev, 3 * PER_HALF);
	check_samples(0, w.nev, 0);
}

/* The unit cannot write: said once, counted, and the rest stays whole. */
static void write_fault(void **state)
{
	uint64_t record[64];

	begin();
	samples(5);
	w.pages->npages = 0;
	samples(5);
	assert_int_equal(position(), 5 * SPE_RECORD_SIZE);
	assert_true(fake_record_of(w.dev, HWT_REC_BUFFER, record, sizeof(record)));
	assert_int_equal(((const struct hwt_rec_buffer *)(record + 5))->lost, 1);
	w.pages->npages = BUFSIZE / PAGE;
	save(position());
	decode();
	assert_int_equal(w.nev, 5);
}

/* Records smaller than their largest size: what does not fit is padding. */
static void padding_at_the_end(void **state)
{
	int i;

	w.caps[SPE_CAP_PMSIDR] = (w.caps[SPE_CAP_PMSIDR] & ~0xf000u) | 7u << 12;
	begin();
	samples(PER_HALF - 1);
	/* A unit that wants room for 128 bytes says so one record earlier. */
	w.regs.reg[SPE_REG_INDEX(PMBSR_EL1)] = PMBSR_S | PMBSR_BSC_FULL;
	hwt_hook_irq(w.h->core, PID, PID, 0);
	assert_int_equal(position(), HALF);
	for (i = 0; i < (int)SPE_RECORD_SIZE; i++)
		assert_int_equal(((uint8_t *)w.pages->kva)[HALF - SPE_RECORD_SIZE + i], 0);
	samples(1);
	save(position());
	decode();
	assert_int_equal(w.nev, PER_HALF);
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
		w.regs.reg[SPE_REG_INDEX(PMBPTR_EL1)] += bytes[i];
		w.regs.reg[SPE_REG_INDEX(PMBSR_EL1)] = PMBSR_S | PMBSR_DL | PMBSR_BSC_FULL;
		hwt_hook_irq(w.h->core, PID, PID, 0);
		assert_int_equal(bufptr(&ident, &offset, &data), 0);
		assert_int_equal(offset, HALF);
		assert_int_equal(data, half | ARM_SPE_PARTREC);
		assert_true(fake_record_of(w.dev, HWT_REC_BUFFER, record, sizeof(record)));
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
		.bufsize = BUFSIZE, .mode = HWT_MODE_CPU, .cpu_map = (cpuset_t *)(void *)&set,
		.cpusetsize = sizeof(set), .backend_name = "spe", .ident = &w.ident, .kqueue_fd = 3,
	};
	vm_offset_t offset = 0;
	uint64_t data = 0;
	int ident = 0;

	cred.perfmon = true;
	w.cpu = 2;
	assert_int_equal(hwt_ioctl(w.h->core, &cred, NULL, NULL, HWT_IOC_ALLOC, &al), 0);
	assert_int_equal(fake_open_node(w.h, w.ident, w.cpu, &w.dev), 0);
	w.dev->cred.perfmon = true;
	assert_int_equal(configure(&plain_config), 0);
	assert_int_equal(fake_simple(w.dev, HWT_IOC_START), 0);
	assert_int_equal(bufptr(&ident, &offset, &data), -ENOENT);
	samples(PER_HALF + 3);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(ident, w.cpu);
	assert_int_equal(offset, HALF);
	assert_int_equal(data, 0);
	save(HALF);
	assert_int_equal(give_half(PID, 0), -ENOENT);
	assert_int_equal(give_half((uint32_t)w.cpu, 0), 0);
	assert_int_equal(fake_simple(w.dev, HWT_IOC_STOP), 0);
	assert_int_equal(bufptr(&ident, &offset, &data), 0);
	assert_int_equal(ident, w.cpu);
	assert_int_equal(offset, 3 * SPE_RECORD_SIZE);
	assert_int_equal(data, ARM_SPE_BUF_POS | ARM_SPE_FINAL_BUF);
	save(position());
	decode();
	assert_int_equal(w.nev, PER_HALF + 3);
	check_samples(0, w.nev, 0);
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
