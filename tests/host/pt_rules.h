/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One PT unit's registers as the manual lets a driver use them (Intel SDM
 * volume 3C, chapter 33).  Each access is held against the rules; the first that
 * breaks one is kept in `broken` with the section that it breaks.  Written from
 * the manual: shares no code with the driver or with models/pt.
 */
#ifndef TESTS_HOST_PT_RULES_H
#define TESTS_HOST_PT_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include <hwt/bus.h>
#include "hw/pt.h"

#define PT_RULES_NREGS	(MSR_RTIT_LAST - MSR_RTIT_FIRST + 1)

struct pt_rules {
	uint64_t	regs[PT_RULES_NREGS];	/* a test may set them: the unit moved */
	const uint32_t	*caps;			/* borrowed */
	const char	*broken;		/* NULL: all rules were kept so far */
	uint32_t	broken_msr;
	uint64_t	written;		/* registers written since TraceEn was cleared */
	bool		drained;		/* a data barrier came after that */
	bool		base_due;		/* a running unit's MASK_PTRS was read */
	bool		settled;		/* a barrier came after TraceEn was set */
};

void pt_rules_init(struct pt_rules *r, const uint32_t *caps);
void pt_rules_write(struct pt_rules *r, uint32_t msr, uint64_t value);
uint64_t pt_rules_read(struct pt_rules *r, uint32_t msr);
void pt_rules_barrier(struct pt_rules *r, enum hwt_barrier kind);
/* The driver writes to the ToPA table at `table`. */
void pt_rules_table_write(struct pt_rules *r, uint64_t table);
/* The driver's op returned: the unit has to be (not) tracing, and settled. */
void pt_rules_end(struct pt_rules *r, bool tracing);

#endif
