/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the AArch64 guest: guest_a64.c, system_a64.c. */
#ifndef QEMU_GUEST_A64_H
#define QEMU_GUEST_A64_H

#include "guest.h"

enum { X_FP = 29, X_LR, X_SP, X_COUNT };

/* The beginning of QEMU 7.2's CPUARMState; _elN[n]: of exception level n. */
struct guest_env {
	uint32_t aarch32_regs[16];
	uint64_t x[X_COUNT];
	uint64_t pc;
	uint32_t pstate;
	uint8_t aarch64, thumb;
	uint64_t hflags[2];
	uint32_t cpsr, spsr;
	uint64_t banked_spsr[8]; /* SPSR_EL1 is the second */
	uint32_t banked_r13[8], banked_r14[8], usr_regs[5], fiq_regs[5];
	/* PSTATE's condition flags, apart: C is 0 or 1, N and V bit 31, Z where 0. */
	uint32_t cf, vf, nf, zf;
	uint32_t qf, ge, condexec_bits, btype;
	uint64_t daif, svcr;
	uint64_t elr_el[4], sp_el[4];
	uint32_t midr;
	uint64_t csselr_el[4];
	uint64_t sctlr_el[4];
	uint64_t between_sctlr_and_ttbr0[8];
	uint64_t ttbr0_el[4];
	uint64_t between_ttbr0_and_esr[21];
	uint64_t esr_el[4];
	uint64_t between_esr_and_pmcr[15];
	uint64_t pmcr;
	uint64_t between_pmcr_and_vbar[9];
	uint64_t vbar_el[4];
	uint64_t between_vbar_and_contextidr[3];
	uint64_t contextidr_el[4];
	uint64_t tpidr_el[4];
	uint64_t between_tpidr_and_cntfrq[5];
	uint64_t cntfrq;
};

_Static_assert(offsetof(struct guest_env, midr) == 640, "CPUARMState");
_Static_assert(offsetof(struct guest_env, sctlr_el[1]) == 688, "CPUARMState");
_Static_assert(offsetof(struct guest_env, ttbr0_el[1]) == 784, "CPUARMState");
_Static_assert(offsetof(struct guest_env, esr_el[1]) == 984, "CPUARMState");
_Static_assert(offsetof(struct guest_env, pmcr) == 1128, "CPUARMState");
_Static_assert(offsetof(struct guest_env, vbar_el[1]) == 1216, "CPUARMState");
_Static_assert(offsetof(struct guest_env, contextidr_el[1]) == 1272, "CPUARMState");
_Static_assert(offsetof(struct guest_env, tpidr_el[0]) == 1296, "CPUARMState");
_Static_assert(offsetof(struct guest_env, cntfrq) == 1368, "CPUARMState");

/* Is the conditional branch taken, with these flags (as PSTATE has them)? */
bool a64_outcome(const struct guest_env *env, uint32_t nzcv, const uint8_t *insn);

#endif
