// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64 under QEMU 7.2's linux-user: CPU state, signal frames, numbers.
 */
#include "guest_x86.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "../vtu/window.h"
#include "classify_x86.h"
#include "guest_system.h"

#define VSYSCALL_PAGE	0xffffffffff600000ull
#define KERNEL_IP	0xffffffff81000000ull
#define MCONTEXT_OFFSET	48	/* pretcode, uc_flags, uc_link, uc_stack */
#define SI_CODE_OFFSET	8

/* gregs of struct sigcontext_64, in order. */
enum { G_R8, G_R9, G_R10, G_R11, G_R12, G_R13, G_R14, G_R15, G_RDI, G_RSI, G_RBP,
       G_RBX, G_RDX, G_RAX, G_RCX, G_RSP, G_RIP, G_COUNT };

static size_t x86_length(const uint8_t *bytes, size_t n)
{
	static ZydisDecoder decoder;
	static int ready;
	ZydisDecodedInstruction insn;
	ZyanStatus s;

	/* Translation is serialised by the emulator. */
	if (!ready) {
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
				 ZYDIS_STACK_WIDTH_64);
		ready = 1;
	}
	s = ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, n, &insn);
	if (s == ZYDIS_STATUS_NO_MORE_DATA)
		return 0;
	return ZYAN_SUCCESS(s) ? insn.length : n;
}

static bool x86_is_kernel_page(uint64_t va)
{
	return (va & ~0xfffull) == VSYSCALL_PAGE;
}

static const char *x86_verify_env(const struct guest_env *env, uint64_t pc)
{
	uint64_t argc;
	int i;

	if (env->eip != pc)
		return "its program counter is not the first block's";
	for (i = 0; i < 16; i++)
		if (i != X86_RSP && env->regs[i])
			return "a register is not 0 at the program's start";
	if (env->regs[X86_RSP] & 15 ||
	    !guest_read(env->regs[X86_RSP], &argc, sizeof(argc)) || argc > 1u << 24)
		return "its stack pointer points to no argument list";
	return NULL;
}

static uint64_t x86_stack_pointer(const struct guest_env *env)
{
	return env->regs[X86_RSP];
}

static uint64_t x86_ip(const struct guest_env *env)
{
	return env->eip;
}

#define FAULTS	(1ull << SIGSEGV | 1ull << SIGBUS | 1ull << SIGFPE | 1ull << SIGILL)

/*
 * A handler starts with rdi = signal, rsi = siginfo, rdx = ucontext, rax = 0 and
 * rsp at the frame, whose first word is the restorer (setup_rt_frame).
 */
static bool frame_at(uint64_t sp, const uint64_t arg[3], uint64_t result,
		     struct guest_sigframe *out)
{
	uint64_t restorer, g[G_COUNT];
	int code;

	if (arg[0] < 1 || arg[0] > 64 || arg[2] != sp + 8 || result)
		return false;
	if (!guest_read(sp, &restorer, sizeof(restorer)) ||
	    !guest_read(sp + MCONTEXT_OFFSET, g, sizeof(g)) ||
	    !guest_read(arg[1] + SI_CODE_OFFSET, &code, sizeof(code)))
		return false;
	*out = (struct guest_sigframe){
		.restorer = restorer,
		.ip = g[G_RIP],
		.fault = code > 0 && FAULTS >> (arg[0] & 63) & 1,
		.saved = {g[G_RSP], g[G_RAX], g[G_RDI], g[G_RSI], g[G_RDX]},
	};
	return true;
}

static bool x86_sigframe(const struct guest_env *env, struct guest_sigframe *out)
{
	uint64_t arg[3] = {env->regs[X86_RDI], env->regs[X86_RSI], env->regs[X86_RDX]};

	return frame_at(env->regs[X86_RSP], arg, env->regs[X86_RAX], out);
}

static bool x86_sigframe_outer(struct guest_sigframe *frame)
{
	struct guest_sigframe in = *frame;

	return frame_at(in.saved[0], in.saved + 2, in.saved[1], frame);
}

const struct guest_arch guest_x86_64 = {
	.name = "x86_64",
	.elf_machine = EM_X86_64,
	.unit_kind = VTU_UNIT_PT,
	.nr = {
		[CALL_MMAP] = 9, [CALL_MUNMAP] = 11, [CALL_MPROTECT] = 10,
		[CALL_MREMAP] = 25, [CALL_EXECVE] = 59, [CALL_EXECVEAT] = 322,
		[CALL_CLONE] = 56, [CALL_EXIT] = 60, [CALL_EXIT_GROUP] = 231,
		[CALL_RT_SIGACTION] = 13, [CALL_PRCTL] = 157,
	},
	.kernel_ip = KERNEL_IP,
	.faults = FAULTS,
	.length = x86_length,
	.classify = x86_classify,
	.is_kernel_page = x86_is_kernel_page,
	.verify_env = x86_verify_env,
	.stack_pointer = x86_stack_pointer,
	.ip = x86_ip,
	.sigframe = x86_sigframe,
	.sigframe_outer = x86_sigframe_outer,
	.branch_taken = x86_branch_taken,
	.system = &guest_x86_64_system,
};
