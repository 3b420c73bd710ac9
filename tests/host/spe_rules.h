/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One SPE unit's registers as the manual lets a driver use them (Arm DDI 0487, chapters
 * D9 and D13).  Each access is held against the rules; the first that breaks one is
 * kept in `broken`.  Written from the manual: shares no code with the driver or with
 * models/spe.
 *
 * A system register write counts from the next context synchronization on (ISB,
 * HWT_BARRIER_CONTEXT); PSB CSYNC and DSB (HWT_BARRIER_DATA) end what is under way
 * only if sampling was off by then.
 */
#ifndef TESTS_HOST_SPE_RULES_H
#define TESTS_HOST_SPE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include <hwt/bus.h>
#include "hw/spe.h"

struct spe_rules {
	uint64_t	regs[SPE_REG_COUNT];	/* a test may set them: the unit moved */
	uint64_t	idr, bidr;		/* PMSIDR_EL1, PMBIDR_EL1 */
	const char	*broken;		/* NULL: all rules were kept so far */
	uint32_t	broken_reg;
	uint32_t	written;	/* bit SPE_REG_INDEX: since the buffer was disabled */
	bool		settled;	/* no write of PMSCR or PMBLIMITR waits for an ISB */
	bool		drained;	/* PSB CSYNC and DSB since sampling was turned off */
	bool		told;		/* PMBPTR was read while on, and not drained since */
};

void spe_rules_init(struct spe_rules *r, uint64_t idr, uint64_t bidr);
void spe_rules_write(struct spe_rules *r, uint32_t reg, uint64_t value);
uint64_t spe_rules_read(struct spe_rules *r, uint32_t reg);
void spe_rules_barrier(struct spe_rules *r, enum hwt_barrier kind);
/* The driver's op returned: the unit has to be on or off, and settled. */
void spe_rules_end(struct spe_rules *r, bool on);

static inline uint64_t *spe_rules_reg(struct spe_rules *r, uint32_t reg)
{
	return &r->regs[SPE_REG_INDEX(reg)];
}

#endif
