/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which operations are sampled (D9.2 "Defining the sample population") and which
 * samples are recorded (D9.3 "Controlling when an operation is sampled", D9.4
 * "Filtering sample records").
 */
#include "spe_unit_priv.h"

bool spe_enabled(struct spe_unit *u)
{
	return (*spe_reg(u, PMSCR_EL1) & (PMSCR_E0SPE | PMSCR_E1SPE)) &&
	       (*spe_reg(u, PMBLIMITR_EL1) & PMBLIMITR_E) &&
	       !(*spe_reg(u, PMBSR_EL1) & PMBSR_S);
}

/* xorshift64*: the same numbers for the same seed, everywhere. */
static uint8_t random_byte(struct spe_unit *u)
{
	u->random ^= u->random >> 12;
	u->random ^= u->random << 25;
	u->random ^= u->random >> 27;
	return (uint8_t)(u->random * 0x2545f4914f6cdd1dull >> 56);
}

/* PMSIRR_EL1 to the counter; its lowest byte is random if that is asked for. */
static uint64_t reload(struct spe_unit *u)
{
	uint64_t irr = *spe_reg(u, PMSIRR_EL1), count = irr & PMSIRR_INTERVAL_MASK;

	if (irr & PMSIRR_RND)
		count |= random_byte(u);
	/* INTERVAL 0 gives an UNKNOWN interval: this one. */
	return count ? count : 1ull << PMSIRR_INTERVAL_SHIFT;
}

void spe_unit_flush(struct spe_unit *u)
{
	if (u->on)
		spe_publish(u, PMSICR_EL1, u->until);
}

void spe_update(struct spe_unit *u)
{
	uint64_t wanted = u->el ? PMSCR_E1SPE : PMSCR_E0SPE, count;

	if (spe_enabled(u))
		spe_check_full(u);
	u->on = spe_enabled(u) && (*spe_reg(u, PMSCR_EL1) & wanted);
	if (!u->on) {
		u->until = SPE_NEVER;
		return;
	}
	count = *spe_reg(u, PMSICR_EL1) & PMSICR_COUNT_MASK;
	u->until = count ? count : reload(u);
}

uint64_t spe_unit_until(const struct spe_unit *u)
{
	return u->until;
}

void spe_unit_pass(struct spe_unit *u, uint64_t n)
{
	u->until -= n;
	u->ops += n;
}

void spe_unit_access(struct spe_unit *u, struct spe_access *a, uint64_t addr,
		     uint32_t size, bool store)
{
	spe_timing_access(&u->timing, a, addr, size, store);
}

bool spe_unit_branch(struct spe_unit *u, uint64_t pc, unsigned int flags, uint64_t target)
{
	return spe_timing_branch(&u->timing, pc, flags, target);
}

static uint64_t events_of(const struct spe_op *op)
{
	uint64_t events = 1ull << SPE_EV_RETIRED | op->access.events;

	if (op->kind == SPE_OP_KIND_BRANCH && !(op->flags & SPE_OPF_TAKEN))
		events |= 1ull << SPE_EV_NOT_TAKEN;
	if (op->mispredicted)
		events |= 1ull << SPE_EV_MISPREDICTED;
	return events;
}

/* PMSFCR_EL1.{B,LD,ST}: any of the types that the operation is. */
static bool type_wanted(uint64_t fcr, const struct spe_op *op)
{
	bool atomic = op->flags & SPE_OPF_ATOMIC;

	return (op->kind == SPE_OP_KIND_BRANCH && fcr & PMSFCR_B) ||
	       ((op->kind == SPE_OP_KIND_LOAD || atomic) && fcr & PMSFCR_LD) ||
	       ((op->kind == SPE_OP_KIND_STORE || atomic) && fcr & PMSFCR_ST);
}

static bool wanted(struct spe_unit *u, const struct spe_op *op, const struct spe_figures *f)
{
	uint64_t fcr = *spe_reg(u, PMSFCR_EL1), e = f->events;

	if (fcr & PMSFCR_FE && ~e & *spe_reg(u, PMSEVFR_EL1))
		return false;
	if (fcr & PMSFCR_FNE && e & *spe_reg(u, PMSNEVFR_EL1))
		return false;
	if (fcr & PMSFCR_FT && !type_wanted(fcr, op))
		return false;
	return !(fcr & PMSFCR_FL) || f->total >= *spe_reg(u, PMSLATFR_EL1);
}

static uint32_t saturate(uint32_t cycles)
{
	return cycles < SPE_COUNTER_MAX ? cycles : SPE_COUNTER_MAX;
}

void spe_unit_sample(struct spe_unit *u, const struct spe_op *op)
{
	struct spe_figures f = {.events = events_of(op)};

	u->ops++;
	u->until = reload(u);
	u->counts.samples++;
	/* One sample at a time: the new one is lost (D9.3.2, collisions). */
	if (u->ops <= u->busy_until) {
		u->counts.collisions++;
		spe_publish(u, PMBSR_EL1, *spe_reg(u, PMBSR_EL1) | PMBSR_COLL);
		return;
	}
	spe_timing_cycles(op, &f.total, &f.issue);
	u->busy_until = u->ops + f.total;
	f.total = saturate(f.total);
	f.issue = saturate(f.issue);
	if (!wanted(u, op, &f)) {
		u->counts.filtered++;
		return;
	}
	spe_record(u, op, &f);
}

void spe_unit_op(struct spe_unit *u, const struct spe_op *op)
{
	struct spe_op seen = *op;

	if (op->access.size) {
		seen.access = (struct spe_access){0};
		spe_unit_access(u, &seen.access, op->access.addr, op->access.size,
				op->kind == SPE_OP_KIND_STORE);
	}
	if (op->kind == SPE_OP_KIND_BRANCH)
		seen.mispredicted = spe_unit_branch(u, op->pc, op->flags, op->target);
	if (u->until > 1)
		spe_unit_pass(u, 1);
	else
		spe_unit_sample(u, &seen);
}
