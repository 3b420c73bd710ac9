// SPDX-License-Identifier: BSD-2-Clause
#include "pt_world.h"

#include <stdlib.h>

struct pt_world pt_world;
static struct hwt_core *core;

static void record(struct pt_access access)
{
	if (pt_world.nlog < 64)
		pt_world.log[pt_world.nlog++] = access;
}

static void bus_write(struct hwt_bus *bus, int unit, uint32_t msr, uint64_t value)
{
	record((struct pt_access){msr, value, false});
	pt_rules_write(&pt_world.unit[unit], msr, value);
}

static uint64_t bus_read(struct hwt_bus *bus, int unit, uint32_t msr)
{
	return pt_rules_read(&pt_world.unit[unit], msr);
}

static void bus_barrier(struct hwt_bus *bus, int unit, enum hwt_barrier kind)
{
	record((struct pt_access){0, kind, true});
	pt_rules_barrier(&pt_world.unit[unit], kind);
}

static uint64_t bus_now(struct hwt_bus *bus, int unit)
{
	return 0;
}

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t i)
{
	return i < PT_CAP_COUNT ? pt_world.caps[i] : 0;
}

static uint64_t bus_addr(struct hwt_bus *bus, uint64_t addr)
{
	return addr + PT_WORLD_BIAS;
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
	hwt_memset(p->kva, 0, n * PAGE);
	return p;
}

static void pages_free(void *host, struct hwt_pages *p)
{
	free(p->kva);
	free(p);
}

uint64_t pt_world_page_addr(void *host, struct hwt_pages *p, size_t i)
{
	uint64_t base = (uint64_t)(uintptr_t)p->kva;

	return pt_world.scattered ? base + (1ull << 36) * (i % 2) + i * PAGE
				  : base + i * PAGE;
}

static void page_write64(void *host, struct hwt_pages *p, uint64_t off, uint64_t v)
{
	uint64_t table = pt_world_page_addr(NULL, p, off / PAGE) + PT_WORLD_BIAS;
	int i;

	for (i = 0; i < PT_WORLD_UNITS; i++)
		pt_rules_table_write(&pt_world.unit[i], table);
	*(uint64_t *)((uint8_t *)p->kva + off) = v;
}

int pt_world_setup(void)
{
	static const uint32_t caps[PT_CAP_COUNT] = {
		[0] = 1,
		[PT_CAP_0_EBX] = PT_CAP0B_PSB_CYC | PT_CAP0B_IPFILTER | PT_CAP0B_MTC,
		[PT_CAP_0_ECX] = PT_CAP0C_TOPA | PT_CAP0C_TOPA_MULTI,
		[PT_CAP_1_EAX] = 2 | 0x249u << PT_CAP1A_MTC_SHIFT,
		[PT_CAP_1_EBX] = 0x3fff | 0x3fu << PT_CAP1B_PSB_SHIFT,
	};
	int i;

	hwt_memset(&pt_world, 0, sizeof(pt_world));
	hwt_memcpy(pt_world.caps, caps, sizeof(caps));
	for (i = 0; i < PT_WORLD_UNITS; i++)
		pt_rules_init(&pt_world.unit[i], pt_world.caps);
	pt_world.bus = (struct hwt_bus){.ops = &bus_ops, .name = "recording", .time_hz = 1};
	pt_world.host_ops = (struct hwt_host_ops){
		.name = "test", .pages_alloc = pages_alloc, .pages_free = pages_free,
		.page_addr = pt_world_page_addr, .page_write64 = page_write64,
	};
	core = hwt_load(&pt_world.host_ops, NULL);
	pt_backend_init(&pt_world.be, &pt_world.bus);
	return core ? 0 : -1;
}

int pt_world_teardown(void)
{
	return hwt_unload(core);
}

struct hwt_buffer *pt_world_buffer(uint64_t size)
{
	static struct hwt_thread *const a_thread = (void *)&pt_world; /* never looked into */
	struct hwt_buffer *b = calloc(1, sizeof(*b));

	b->core = core;
	b->backend = &pt_world.be;
	b->thr = a_thread;
	b->bufsize = size;
	b->ring = true;
	hwt_spin_init(&b->lock);
	b->pages = pages_alloc(NULL, size / PAGE, HWT_PAGES_ANY);
	if (pt_world.be.ops->buffer_init(b))
		abort();
	return b;
}

void pt_world_buffer_free(struct hwt_buffer *b)
{
	pt_world.be.ops->buffer_fini(b);
	pages_free(NULL, b->pages);
	free(b);
}
