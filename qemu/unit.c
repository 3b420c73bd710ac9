// SPDX-License-Identifier: BSD-2-Clause
/* What a unit finds around itself. */
#include "unit.h"

#include <time.h>

#include "vcpu.h"

void *unit_memory(void *ctx, uint64_t addr, uint64_t len)
{
	if (addr > vtu.dram_size || len > vtu.dram_size - addr)
		return NULL;
	return vtu.dram + addr;
}

/* As on silicon, the handler runs at the next instruction boundary it can. */
void unit_interrupt(void *ctx)
{
	vcpu_attention(ctx, VTU_ATTN_IRQ);
}

uint64_t unit_host_clock(void *ctx)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
