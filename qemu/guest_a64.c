// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64 under QEMU 7.2's linux-user: CPU state, signal frames, numbers.
 */
#include <elf.h>
#include <signal.h>
#include <string.h>

#include "../vtu/window.h"
#include "classify_a64.h"
#include "guest_a64.h"
#include "guest_system.h"

#define KERNEL_IP 0xffff800008000000ull
#define MAX_MIDR  0x000f0510u	  /* of -cpu max */
#define TOP_BYTE  (0xffull << 56) /* ignored (Arm ARM D8.8) */

/* What the kernel, here QEMU, puts on the stack for a handler: struct rt_sigframe. */
struct sigframe {
	uint8_t info[128];
	uint64_t uc_flags, uc_link;
	uint8_t uc_stack[24], uc_sigmask[128];
	uint64_t fault_address __attribute__((aligned(16)));
	uint64_t x[X_COUNT], pc, pstate;
	uint32_t first_magic __attribute__((aligned(16))); /* of the extensions */
};
_Static_assert(offsetof(struct sigframe, x) == 312, "struct sigcontext");
_Static_assert(offsetof(struct sigframe, first_magic) == 592, "struct sigcontext");

#define FPSIMD_MAGIC   0x46508001u
#define SI_CODE_OFFSET 8
#define FAULTS                                                                \
	(1ull << SIGSEGV | 1ull << SIGBUS | 1ull << SIGFPE | 1ull << SIGILL | \
	 1ull << SIGTRAP)

static size_t a64_length(const uint8_t *bytes, size_t n)
{
	return n >= 4 ? 4 : 0;
}

static bool a64_is_kernel_page(uint64_t va)
{
	return false;
}

static const char *a64_verify_env(const struct guest_env *env, uint64_t pc)
{
	uint64_t argc, sp = env->x[X_SP];
	int i;

	if (env->pc != pc)
		return "its program counter is not the first block's";
	for (i = 0; i < X_SP; i++)
		if (env->x[i])
			return "a register is not 0 at the program's start";
	if (sp & 15 || !guest_read(sp, &argc, sizeof(argc)) || argc > 1u << 24)
		return "its stack pointer points to no argument list";
	/* Behind the flags: they are where we look for them, too. */
	if (env->aarch64 != 1 || env->midr != MAX_MIDR)
		return "the identification of -cpu max is not behind its flags";
	return NULL;
}

static uint64_t a64_stack_pointer(const struct guest_env *env)
{
	return env->x[X_SP];
}

static uint64_t a64_ip(const struct guest_env *env)
{
	return env->pc;
}

/* Without SA_SIGINFO the frame does not say who sent the signal: a fault, then. */
static bool raised_by_insn(uint64_t sig, uint64_t sp, const uint64_t x[X_COUNT])
{
	int code = 1;

	if (x[1] == sp && x[2] == sp + offsetof(struct sigframe, uc_flags))
		guest_read(sp + SI_CODE_OFFSET, &code, sizeof(code));
	return code > 0 && FAULTS >> (sig & 63) & 1;
}

/* mov x8, #139; svc #0: what QEMU provides for handlers without a restorer. */
static bool is_sigreturn(uint64_t at)
{
	static const uint32_t trampoline[2] = {0xd2801168, 0xd4000001};
	uint32_t code[2];

	return guest_read(at, code, sizeof(code)) &&
	       !memcmp(code, trampoline, sizeof(code));
}

/*
 * A handler starts with x0 = signal, sp at the frame, x29 at a record of the
 * interrupted x29 and x30 behind it, and x30 = where it returns to.
 */
static bool frame_at(const uint64_t x[X_COUNT], struct guest_sigframe *out)
{
	uint64_t sp = x[X_SP], record[2];
	struct sigframe f;

	if (x[0] < 1 || x[0] > 64 || x[X_FP] <= sp || !guest_read(sp, &f, sizeof(f)) ||
	    !guest_read(x[X_FP], record, sizeof(record)))
		return false;
	if (f.first_magic != FPSIMD_MAGIC || record[0] != f.x[X_FP] ||
	    record[1] != f.x[X_LR])
		return false;
	*out = (struct guest_sigframe){
		.restorer = is_sigreturn(x[X_LR]) ? 0 : x[X_LR],
		.ip = f.pc,
		.fault = raised_by_insn(x[0], sp, x),
	};
	memcpy(out->saved, f.x, sizeof(f.x));
	return true;
}

static bool a64_sigframe(const struct guest_env *env, struct guest_sigframe *out)
{
	return frame_at(env->x, out);
}

static bool a64_sigframe_outer(struct guest_sigframe *frame)
{
	struct guest_sigframe in = *frame;

	return frame_at(in.saved, frame);
}

/* ConditionHolds() (Arm ARM J1). */
static bool condition(uint32_t nzcv, unsigned int cond)
{
	bool n = nzcv >> 31 & 1, z = nzcv >> 30 & 1, c = nzcv >> 29 & 1,
	     v = nzcv >> 28 & 1;
	const bool holds[8] = {z, c, n, v, c && !z, n == v, n == v && !z, true};

	return holds[cond >> 1] != (cond & 1 && cond != 15);
}

bool a64_outcome(const struct guest_env *env, uint32_t nzcv, const uint8_t *bytes)
{
	uint64_t reg;
	uint32_t insn;
	bool zero;

	memcpy(&insn, bytes, sizeof(insn));
	if (insn >> 24 == 0x54)
		return condition(nzcv, insn & 15);
	reg = (insn & 31) == X_SP ? 0 : env->x[insn & 31];
	if (insn & 1u << 25) /* TBZ, TBNZ: b5:b40 */
		zero = !(reg >> (insn >> 31 << 5 | (insn >> 19 & 31)) & 1);
	else /* CBZ, CBNZ: sf */
		zero = insn >> 31 ? !reg : !(uint32_t)reg;
	return zero != (insn >> 24 & 1);
}

static bool a64_branch_taken(const struct guest_env *env, const uint8_t *insn, size_t n)
{
	uint32_t nzcv = (env->nf >> 31) << 31 | (uint32_t)!env->zf << 30 | env->cf << 29 |
			(env->vf >> 31) << 28;

	return a64_outcome(env, nzcv, insn);
}

const struct guest_arch guest_aarch64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.unit_kind = VTU_UNIT_CORESIGHT,
	.nr =
		{
			[CALL_MMAP] = 222,
			[CALL_MUNMAP] = 215,
			[CALL_MPROTECT] = 226,
			[CALL_MREMAP] = 216,
			[CALL_EXECVE] = 221,
			[CALL_EXECVEAT] = 281,
			[CALL_CLONE] = 220,
			[CALL_EXIT] = 93,
			[CALL_EXIT_GROUP] = 94,
			[CALL_RT_SIGACTION] = 134,
			[CALL_PRCTL] = 167,
		},
	.kernel_ip = KERNEL_IP,
	.tag_bits = TOP_BYTE,
	.faults = FAULTS,
	.length = a64_length,
	.classify = a64_classify,
	.is_kernel_page = a64_is_kernel_page,
	.verify_env = a64_verify_env,
	.stack_pointer = a64_stack_pointer,
	.ip = a64_ip,
	.sigframe = a64_sigframe,
	.sigframe_outer = a64_sigframe_outer,
	.branch_taken = a64_branch_taken,
	.system = &guest_aarch64_system,
};
