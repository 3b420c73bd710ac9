/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ETMv4, a funnel and a TMC as ETR as their manuals let a driver use them (Arm IHI
 * 0064, IHI 0029, DDI 0461).  Each access is held against the rules; the first that
 * breaks one is kept in `broken`.  Written from the manuals: shares no code with the
 * driver or with models/coresight.
 *
 * Nothing happens at once: a component needs a few looks at its status until it is what
 * was asked for.
 *
 * A struct is a unit: an ETM, and a funnel and an ETR.  Its ETM feeds those, or those of
 * another unit that the register CS_RULES_ROUTE names (a part of no manual): what is
 * written to funnel and ETR goes there, and is read there.
 */
#ifndef TESTS_HOST_CS_RULES_H
#define TESTS_HOST_CS_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include <hwt/bus.h>
#include "hw/etm4.h"
#include "hw/tmc.h"

/* The components' registers, side by side. */
enum { CS_RULES_ETM, CS_RULES_FUNNEL, CS_RULES_ETR, CS_RULES_COMPONENTS };
#define CS_RULES_BASE(component) ((uint32_t)(component) * CS_COMPONENT_SIZE)
#define CS_RULES_NREGS (CS_RULES_COMPONENTS * CS_COMPONENT_SIZE / 4)
#define CS_RULES_ROUTE CS_RULES_BASE(CS_RULES_COMPONENTS)

struct cs_rules {
	struct cs_rules *units;		/* all that there are, borrowed */
	int		nunits;
	struct cs_rules *to;		/* whose funnel and ETR the ETM feeds */
	uint64_t	regs[CS_RULES_NREGS];	/* 64-bit ones whole at their first word */
	bool		written[CS_RULES_NREGS];	/* since the component was turned off */
	const uint32_t	*idr;		/* TRCIDR0 ..., borrowed */
	bool		unlocked[CS_RULES_COMPONENTS];
	bool		idle;		/* TRCSTATR said so since the last write of TRCPRGCTLR */
	bool		busy;		/* and that it is not */
	bool		settled;	/* a barrier came after the last TRCPRGCTLR.EN */
	bool		ready;		/* TMC_STS said so since capture was asked to end */
	bool		flushed;	/* the manual flush after a source's end is done */
	int		delay;		/* looks that pass before a component has followed */
	int		waits;		/* ... still: the ETM */
	int		sink_waits;	/* ... and the ETR */
	uint64_t	level;		/* bytes in the ETR's FIFO */
	const char	*broken;	/* NULL: all rules were kept so far */
	uint32_t	broken_reg;
};

void cs_rules_init(struct cs_rules *r, const uint32_t *idr, int delay);
/* They can feed each other's ETR. */
void cs_rules_join(struct cs_rules *units, int n);
void cs_rules_write(struct cs_rules *r, uint32_t reg, uint64_t value);
uint64_t cs_rules_read(struct cs_rules *r, uint32_t reg);
void cs_rules_barrier(struct cs_rules *r, enum hwt_barrier kind);
/* The source sends n bytes, as far as the sink has room. */
void cs_rules_trace(struct cs_rules *r, uint64_t n);
/* The driver's op returned: everything has to be on, or off. */
void cs_rules_end(struct cs_rules *r, bool on);

static inline uint64_t *cs_rules_reg(struct cs_rules *r, int component, uint32_t offset)
{
	return &r->regs[(CS_RULES_BASE(component) + offset) / 4];
}

#endif
