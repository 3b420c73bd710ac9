/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every CoreSight component in software has: 4 KiB of registers in memory of
 * the caller's (the vtu window), with ID, claim and lock registers.  Reads are
 * plain loads: the other side reads them live.
 */
#ifndef MODELS_CORESIGHT_CS_COMPONENT_H
#define MODELS_CORESIGHT_CS_COMPONENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../hw/coresight.h"

struct cs_regs {
	uint32_t word[CS_COMPONENT_SIZE / 4];
};

static inline uint32_t *cs_reg(struct cs_regs *r, uint32_t offset)
{
	return &r->word[(offset & (CS_COMPONENT_SIZE - 1)) / 4];
}

struct cs_identity {
	uint32_t devtype, devid, devarch;
	uint16_t part;			/* PIDR0, PIDR1 */
};

/* Zeroes the registers and fills in the management ones; locked. */
void cs_component_init(struct cs_regs *regs, const struct cs_identity *id);

enum cs_written { CS_WRITE_OTHER, CS_WRITE_DONE, CS_WRITE_REFUSED };
/*
 * A write to a management register: DONE.  REFUSED: the component is locked
 * (IHI 0029 B2.3.9), the offset is no register's, or it is read only.  OTHER:
 * not one of these, and not locked.
 */
enum cs_written cs_component_write(struct cs_regs *regs, uint32_t offset, uint32_t value);

#endif
