/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * struct hwt_bus over the vtu window: register writes become commands, reads
 * are loads.  A unit's number is its block's.
 */
#ifndef VTU_BUS_H
#define VTU_BUS_H

#include <hwt/bus.h>
#include "window.h"

struct vtu_bus {
	struct hwt_bus		bus;
	struct vtu_header	*window;
	/*
	 * Wakes the parked vCPU and waits until block->ack == seq.  The host's:
	 * futexes embedded, a poll in a guest.  Returns early when the vCPU is
	 * gone.
	 */
	void (*doorbell)(struct vtu_bus *vb, struct vtu_block *block, uint32_t seq);
	/* Others use what belongs to a block, also when its vCPU is gone; NULL: it stays. */
	void (*hold)(struct vtu_bus *vb, struct vtu_block *block, bool on);
	/* Offset of a register in vtu_block.regs, or -1. */
	int (*reg_offset)(uint32_t reg);
	bool words;		/* registers have 32 bits */
	uint32_t kind;		/* enum vtu_unit_kind: other units' capabilities are 0 */
};

/* PT: MSR n at (n - MSR_RTIT_FIRST) * 8. */
int vtu_reg_offset_pt(uint32_t reg);
/* CoreSight: as vtu/window.h has its components; words. */
int vtu_reg_offset_coresight(uint32_t reg);
/* SPE: the register at SPE_REG_INDEX * 8. */
int vtu_reg_offset_spe(uint32_t reg);

/* Hosts that wrap some of them. */
extern const struct hwt_bus_ops vtu_bus_ops;
/* A read that rings no doorbell: of a block that another one serves. */
uint64_t vtu_bus_load(struct hwt_bus *bus, int unit, uint32_t reg);
/*
 * Rings the doorbell, also without commands: where a CPU runs while its driver
 * talks to the unit (VTU_F_SYSTEM), registers are as of the last answer.
 */
void vtu_bus_flush(struct hwt_bus *bus, int unit);

void vtu_bus_init(struct vtu_bus *vb, struct vtu_header *window, const char *name);

#endif
