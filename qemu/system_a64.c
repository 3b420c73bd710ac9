// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64 under QEMU 7.2's system emulation, machine virt with EL0 and EL1: CPU
 * state, and what an exception leaves in it (Arm ARM D1.10).
 */
#include "guest_a64.h"
#include "guest_system.h"

#define RAM_BASE       0x40000000ull
#define PSTATE_EL      0xcu
#define EL1H	       0x5u
#define MIDR_ARCH      0x000f0000u /* by ID registers */
#define SCTLR_RESET    0x00c50838u /* these bits of it, at least */
#define PMCR_IMP       0xff000000u
#define CNTFRQ	       62500000u

#define VECTORS_MASK   0x7ffull
#define VECTOR_MASK    0x7full
#define VECTOR_KIND(o) ((o) >> 7 & 3)
#define FROM_LOWER_EL  0x400u

enum vector { SYNCHRONOUS, IRQ, FIQ, SERROR };

/* ESR_ELx.EC (D17.2.37), where it is not TRAP at the instruction itself. */
static const struct {
	uint8_t what;
	bool between; /* before the instruction at ELR, which has not begun */
	bool call;    /* SVC, HVC, SMC: the instruction before retired */
} classes[64] = {
	[0x0e] = {UNIT_TRAP, true, false}, /* illegal execution state */
	[0x15] = {UNIT_TRAP, true, true},
	[0x16] = {UNIT_TRAP, true, true},
	[0x17] = {UNIT_TRAP, true, true},
	[0x20] = {UNIT_FETCH_FAULT, true, false},
	[0x21] = {UNIT_FETCH_FAULT, true, false},
	[0x22] = {UNIT_ALIGNMENT, true, false}, /* of the PC */
	[0x24] = {UNIT_FAULT, false, false},
	[0x25] = {UNIT_FAULT, false, false},
	[0x26] = {UNIT_ALIGNMENT, false, false}, /* of the SP */
	[0x30] = {UNIT_DEBUG, true, false},	 /* breakpoint */
	[0x31] = {UNIT_DEBUG, true, false},
	[0x32] = {UNIT_DEBUG, true, false}, /* step */
	[0x33] = {UNIT_DEBUG, true, false},
	[0x34] = {UNIT_DATA_DEBUG, false, false}, /* watchpoint */
	[0x35] = {UNIT_DATA_DEBUG, false, false},
	[0x3c] = {UNIT_DEBUG, false, false}, /* BRK */
};

static const char *verify(const struct guest_env *env, uint64_t pc)
{
	int i;

	if (env->pc != pc)
		return "its program counter is not the first block's";
	for (i = 0; i < X_SP; i++)
		if (env->x[i])
			return "a register is not 0 after a reset";
	if (env->aarch64 != 1 || (env->pstate & PSTATE_EL) > EL1H)
		return "it does not begin at EL1 in AArch64 state (machine virt, with "
		       "neither virtualization=on nor secure=on, is what can be traced)";
	if (env->pstate != EL1H || (env->midr & MIDR_ARCH) != MIDR_ARCH)
		return "PSTATE and MIDR_EL1 are not those of a reset";
	if ((env->sctlr_el[1] & SCTLR_RESET) != SCTLR_RESET || env->sctlr_el[1] >> 32 ||
	    !(env->pmcr & PMCR_IMP) || env->pmcr >> 32 || env->cntfrq != CNTFRQ)
		return "SCTLR_EL1, PMCR_EL0 and CNTFRQ_EL0 are not those of a reset";
	if (env->elr_el[1] || env->ttbr0_el[1] || env->esr_el[1] || env->vbar_el[1] ||
	    env->contextidr_el[1] || env->tpidr_el[0])
		return "its system registers are not those of a reset";
	return NULL;
}

static void where(const struct guest_env *env, struct guest_where *w)
{
	w->at.ip = env->aarch64 ? env->pc : env->aarch32_regs[15];
	w->at.level = env->pstate & PSTATE_EL ? UNIT_KERNEL : UNIT_USER;
	w->at.space = env->ttbr0_el[1];
	w->at.context = (uint32_t)env->contextidr_el[1];
	w->traceable = env->aarch64;
}

static uint64_t thread(const struct guest_env *env)
{
	return env->tpidr_el[0];
}

/* hw/arm's virt: all of it from 1 GiB. */
static bool ram_offset(uint64_t pa, uint64_t size, uint64_t *offset, uint64_t *left)
{
	if (pa - RAM_BASE >= size)
		return false;
	*offset = pa - RAM_BASE;
	*left = size - *offset;
	return true;
}

static bool synchronous(const struct guest_env *env, struct guest_event *e)
{
	unsigned int class = env->esr_el[1] >> 26 & 63;

	e->what = classes[class].what ? classes[class].what : UNIT_TRAP;
	e->fault = !classes[class].between;
	return !classes[class].call;
}

/*
 * The CPU is at its table of vectors (VBAR_EL1), of which software enters none by a
 * branch.  Exceptions mask what could come before the handler's first instruction,
 * so there is only one event to see.
 */
static bool event(const struct guest_env *env, const struct guest_entries *t, uint64_t pc,
		  uint64_t sp, struct guest_event *e)
{
	static const uint8_t asynchronous[] = {
		[IRQ] = UNIT_INTERRUPT,
		[FIQ] = UNIT_FAST_INTERRUPT,
		[SERROR] = UNIT_SYSTEM_ERROR,
	};
	uint64_t offset = pc - (env->vbar_el[1] & ~VECTORS_MASK);

	if (pc != env->pc || offset > VECTORS_MASK || offset & VECTOR_MASK)
		return false;
	*e = (struct guest_event){
		.ip = env->elr_el[1],
		.level = offset >= FROM_LOWER_EL ? UNIT_USER : UNIT_KERNEL,
	};
	if (VECTOR_KIND(offset) == SYNCHRONOUS)
		return synchronous(env, e);
	e->what = asynchronous[VECTOR_KIND(offset)];
	return true;
}

/* Exceptions move the flags to SPSR_EL1. */
static bool branch_taken(const struct guest_env *env, const uint8_t *insn, size_t n)
{
	return a64_outcome(env, (uint32_t)env->banked_spsr[1], insn);
}

const struct guest_system guest_aarch64_system = {
	.verify = verify,
	.pc_offset = offsetof(struct guest_env, pc),
	.where = where,
	.thread = thread,
	.ram_offset = ram_offset,
	.event = event,
	.branch_taken = branch_taken,
};
