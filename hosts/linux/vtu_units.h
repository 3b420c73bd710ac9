/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the virtual trace unit of a machine can be, and the driver of each. */
#ifndef HWT_VTU_UNITS_H
#define HWT_VTU_UNITS_H

#include "../../backends/coresight/cs_backend.h"
#include "../../vtu/bus.h"

#define VTU_UNIT_WORDS 2

/* One of them, or NULL: not known here. */
const struct vtu_unit *vtu_unit_of_kind(uint32_t kind);

/* Room for any driver's backend. */
union vtu_backend {
	struct hwt_backend	be;	/* the first member of all */
	struct cs_backend	cs;
};

struct vtu_write {
	uint32_t reg, value;
};

struct vtu_unit {
	uint32_t kind;			/* enum vtu_unit_kind */
	bool words;			/* registers have 32 bits */
	int (*offset)(uint32_t reg);	/* in a block's registers */
	void (*init)(union vtu_backend *b, struct hwt_bus *bus);
	/* The unit traces while each of these registers has one of its bits set. */
	struct {
		uint32_t reg, bits;
	} on[2];
	/* Writes that turn it off, in order, and its sink, if that is one that many can feed. */
	struct vtu_write off[VTU_UNIT_WORDS], sink_off[VTU_UNIT_WORDS];
	uint32_t noff, nsink_off;
	/* Register by which it feeds the sink of its own block; 0: it has no other. */
	uint32_t route;
};

bool vtu_unit_traces(const struct vtu_unit *u, const struct vtu_block *b);

#endif
