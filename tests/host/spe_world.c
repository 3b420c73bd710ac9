// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include "spe_world.h"

struct spe_world world;

static void note(uint32_t reg, uint64_t value)
{
	if (world.nlog < 256)
		world.log[world.nlog++] = (struct entry){reg, value};
}

static void bus_write(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t value)
{
	note(reg, value);
	if (spe_unit_write(&world.unit, reg, value))
		world.refused++;
}

static uint64_t bus_read(struct hwt_bus *bus, int unit, uint32_t reg)
{
	return spe_unit_read(&world.unit, reg);
}

static void bus_barrier(struct hwt_bus *bus, int unit, enum hwt_barrier kind)
{
	note(0, kind);
}

static uint64_t bus_now(struct hwt_bus *bus, int unit)
{
	return spe_unit_time(&world.unit);
}

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t i)
{
	return i < SPE_CAP_COUNT ? world.caps[i] : 0;
}

static uint64_t bus_addr(struct hwt_bus *bus, uint64_t addr)
{
	return addr + BUS_OFFSET;
}

static const struct hwt_bus_ops bus_ops = {
	.write = bus_write,
	.read = bus_read,
	.barrier = bus_barrier,
	.now = bus_now,
	.cap = bus_cap,
	.buf_addr = bus_addr,
};

static struct hwt_pages *pages_alloc(void *host, size_t n, enum hwt_pages_how how)
{
	struct hwt_pages *p = calloc(1, sizeof(*p));

	p->npages = n;
	p->kva = aligned_alloc(PAGE, n * PAGE);
	memset(p->kva, 0xee, n * PAGE);
	world.pages = p;
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
	return PAGE * (world.scattered ? 100 + 2 * i : 100 + i);
}

static void *unit_memory(void *ctx, uint64_t addr, uint64_t len)
{
	uint64_t page = (addr - BUS_OFFSET) / PAGE - 100;

	if (world.scattered)
		page = page % 2 ? ~0ull : page / 2;
	if (addr < BUS_OFFSET || page >= world.pages->npages)
		return NULL;
	return (uint8_t *)world.pages->kva + page * PAGE + addr % PAGE;
}

static void unit_interrupt(void *ctx)
{
	world.irq = true;
}

static int setup_with(bool may_hold, bool scattered)
{
	struct spe_unit_host host = {NULL, unit_memory, unit_interrupt, NULL};

	memset(&world, 0, sizeof(world));
	world.scattered = scattered;
	spe_unit_caps(world.caps);
	if (spe_unit_init(&world.unit, &world.regs, 1, &host))
		return -1;
	world.bus = (struct hwt_bus){.ops = &bus_ops, .name = "recording", .time_hz = 1};
	world.h = fake_host_new(may_hold);
	world.h->ops.pages_alloc = pages_alloc;
	world.h->ops.pages_free = pages_free;
	world.h->ops.page_addr = page_addr;
	spe_backend_init(&world.be, &world.bus);
	fake_target_add(world.h, PID, 1);
	return hwt_backend_register(world.h->core, &world.be);
}

int setup(void **state)
{
	return setup_with(false, false);
}

int setup_holding(void **state)
{
	return setup_with(true, false);
}

int setup_scattered(void **state)
{
	return setup_with(false, true);
}

int teardown(void **state)
{
	if (world.dev)
		fake_close(world.dev);
	spe_unit_fini(&world.unit);
	/* Whatever the test did, no write was one that silicon refuses. */
	assert_int_equal(world.refused, 0);
	hwt_owner_exit(world.h->core, FAKE_OWNER);
	assert_int_equal(hwt_backend_unregister(world.h->core, &world.be), 0);
	world.h->pages = 0;
	return fake_host_free(world.h) ? 0 : -1;
}

int allocate(uint64_t bufsize)
{
	struct hwt_cred cred = fake_cred(FAKE_OWNER);
	struct hwt_alloc al = {
		.bufsize = bufsize,
		.mode = HWT_MODE_THREAD,
		.pid = PID,
		.backend_name = "spe",
		.ident = &world.ident,
		.kqueue_fd = 3,
	};

	return hwt_ioctl(world.h->core, &cred, NULL, NULL, HWT_IOC_ALLOC, &al);
}

int configure(const struct arm_spe_config2 *c)
{
	struct hwt_set_config s = {
		.config = (void *)(uintptr_t)c,
		.config_size = sizeof(*c),
		.config_version = ARM_SPE_CONFIG_VERSION2,
	};

	return fake_ioctl(world.dev, HWT_IOC_SET_CONFIG, &s);
}

const struct arm_spe_config2 plain_config = {
	.first = {INTERVAL, ARM_SPE_USER_ONLY, ARM_SPE_CTX_PID},
	.flags = ARM_SPE_NO_JITTER,
};

void begin(void)
{
	assert_int_equal(allocate(BUFSIZE), 0);
	assert_int_equal(fake_open_node(world.h, world.ident, 0, &world.dev), 0);
	assert_int_equal(configure(&plain_config), 0);
	assert_int_equal(fake_simple(world.dev, HWT_IOC_START), 0);
	fake_switch_in(world.h, PID, PID, 0);
}

void run(uint64_t n)
{
	struct spe_op op = {0};

	while (n--) {
		op.pc = CODE + 4 * world.ops++;
		spe_unit_op(&world.unit, &op);
		if (world.irq) {
			world.irq = false;
			hwt_hook_irq(world.h->core, PID, PID, world.cpu);
		}
	}
}

void samples(uint64_t n)
{
	run(n * INTERVAL);
}

int bufptr(int *ident, vm_offset_t *offset, uint64_t *data)
{
	struct hwt_bufptr_get get = {ident, offset, data};

	return fake_ioctl(world.dev, HWT_IOC_BUFPTR_GET, &get);
}

uint64_t position(void)
{
	struct hwt_position_get get = {0};

	assert_int_equal(fake_ioctl(world.dev, HWT_IOC_POSITION_GET, &get), 0);
	return get.head;
}

int give_half(uint32_t ident, unsigned int half)
{
	struct arm_spe_svc_buf svc = {.ident = ident, .buf_idx = half & 1};
	struct hwt_svc_buf s = {&svc, sizeof(svc), ARM_SPE_SVC_BUF_VERSION};

	return fake_ioctl(world.dev, HWT_IOC_SVC_BUF, &s);
}

int give_to(uint64_t tail)
{
	struct arm_spe_svc_buf2 svc = {PID, 0, tail};
	struct hwt_svc_buf s = {&svc, sizeof(svc), ARM_SPE_SVC_BUF_VERSION2};

	return fake_ioctl(world.dev, HWT_IOC_SVC_BUF, &s);
}

void save(uint64_t to)
{
	for (; world.saved < to; world.saved++)
		world.stream[world.saved] =
			((uint8_t *)world.pages->kva)[world.saved % BUFSIZE];
}

void decode(void)
{
	struct spe_decoder_config config = {.align = SPE_RECORD_SIZE};
	struct spe_decoder *d = spe_decoder_new(&config);
	int n;

	world.nev = 0;
	spe_decoder_feed(d, world.stream, world.saved);
	while ((n = spe_decoder_next(d, world.ev + world.nev, 64)) > 0)
		world.nev += n;
	spe_decoder_finish(d);
	assert_int_equal(spe_decoder_next(d, world.ev, 1), 0);
	spe_decoder_free(d);
}

void check_samples(int at, int n, uint64_t first)
{
	int i;

	for (i = 0; i < n; i++) {
		assert_int_equal(world.ev[at + i].type, SPE_SAMPLE);
		assert_true(world.ev[at + i].sample.addr[SPE_ADDR_PC] ==
			    CODE + 4 * ((first + (uint64_t)i + 1) * INTERVAL - 1));
	}
}
