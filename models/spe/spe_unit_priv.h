/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of the Statistical Profiling Unit.
 *
 *	spe_regs.c	registers, enabling and disabling
 *	spe_sample.c	counting, filters, collisions
 *	spe_record.c	records, the Profiling Buffer, its management events
 *	spe_timing.c	the machine that is made up: caches, prediction, cycles
 */
#ifndef MODELS_SPE_UNIT_PRIV_H
#define MODELS_SPE_UNIT_PRIV_H

#include "spe_unit.h"
#include "spe_timing.h"

#define SPE_ALIGN_SHIFT	6		/* records are 64 bytes, at multiples of 64 */
#define SPE_RECORD_SIZE	(1u << SPE_ALIGN_SHIFT)
/* Events that the filters look at: all that the unit has but exceptions (D9.4.1). */
#define SPE_EVENTS	0xffeull
#define SPE_COUNTER_MAX	0xfffu		/* 12 bits, saturating */
#define SPE_NEVER	(1ull << 62)	/* sampling is off: no count comes down from here */

struct spe_unit {
	/* What the inline feed touches. */
	uint64_t until;		/* operations to the next sample, it included */
	uint64_t ops;		/* executed: the clock */

	bool on;		/* sampling here and now: `until` is PMSICR.COUNT */
	unsigned int el;
	uint32_t contextidr;
	uint64_t busy_until;	/* `ops` at which the sample in flight is done */
	uint64_t random;	/* state of the generator */
	uint64_t time_base;	/* time = time_base + ops */

	struct spe_regs_file *regs;
	struct spe_unit_host host;
	struct spe_unit_counts counts;
	struct spe_timing timing;
};

static inline uint64_t *spe_reg(struct spe_unit *u, uint32_t reg)
{
	return &u->regs->reg[SPE_REG_INDEX(reg)];
}

/* Another process reads it at any time; what it tells of is stored before. */
static inline void spe_publish(struct spe_unit *u, uint32_t reg, uint64_t value)
{
	__atomic_store_n(spe_reg(u, reg), value, __ATOMIC_RELEASE);
}

/* spe_sample.c: after any change of what decides whether sampling is on. */
void spe_update(struct spe_unit *u);
/* The registers alone, whatever the exception level. */
bool spe_enabled(struct spe_unit *u);

/* spe_record.c: writes one, moves PMBPTR; may raise the interrupt. */
struct spe_figures {
	uint64_t events;
	uint32_t total, issue;	/* cycles, saturated */
};
void spe_record(struct spe_unit *u, const struct spe_op *op, const struct spe_figures *f);
/* A management event if another record has no room. */
void spe_check_full(struct spe_unit *u);

#endif
