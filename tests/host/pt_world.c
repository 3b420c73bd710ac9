// SPDX-License-Identifier: BSD-2-Clause
#include "pt_world.h"

struct pt_world pt_world;

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

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t i)
{
	return i < PT_CAP_COUNT ? pt_world.caps[i] : 0;
}

static const struct hwt_bus_ops bus_ops = {
	.write = bus_write, .read = bus_read, .barrier = bus_barrier, .now = driver_world_now,
	.cap = bus_cap, .buf_addr = driver_world_bus_addr,
};

static void page_written(uint64_t addr)
{
	int i;

	for (i = 0; i < WORLD_UNITS; i++)
		pt_rules_table_write(&pt_world.unit[i], addr);
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
	for (i = 0; i < WORLD_UNITS; i++)
		pt_rules_init(&pt_world.unit[i], pt_world.caps);
	pt_world.bus = (struct hwt_bus){.ops = &bus_ops, .name = "recording", .time_hz = 1};
	if (driver_world_setup())
		return -1;
	driver_world.page_written = page_written;
	pt_backend_init(&pt_world.be, &pt_world.bus);
	return 0;
}

int pt_world_teardown(void)
{
	return driver_world_teardown();
}
