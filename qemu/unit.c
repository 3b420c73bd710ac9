// SPDX-License-Identifier: BSD-2-Clause
/* What a unit finds around itself. */
#include "unit.h"

#include <time.h>

#include "guest_system.h"
#include "vcpu.h"

static const struct unit_ops *const units[] = {&unit_pt, &unit_coresight, &unit_spe,
					       &unit_feed};

const struct unit_ops *unit_find(uint32_t kind)
{
	size_t i;

	if (kind == VTU_UNIT_NONE)
		kind = vtu.guest->unit_kind;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i]->kind == kind &&
		    (!units[i]->elf_machine ||
		     units[i]->elf_machine == vtu.guest->elf_machine))
			return units[i];
	return NULL;
}

void *unit_memory(void *ctx, uint64_t addr, uint64_t len)
{
	if (vtu.system)
		return system_ram(addr, len);
	if (addr > vtu.dram_size || len > vtu.dram_size - addr)
		return NULL;
	return vtu.dram + addr;
}

/*
 * As on silicon, the handler runs at the next instruction boundary it can.  A
 * machine cannot be interrupted: its driver looks at the count.
 */
void unit_interrupt(void *ctx)
{
	struct vcpu *v = ctx;

	if (vtu.system)
		__atomic_add_fetch(&v->block->irqs, 1, __ATOMIC_RELEASE);
	else
		vcpu_attention(v, VTU_ATTN_IRQ);
}

uint64_t unit_host_clock(void *ctx)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
