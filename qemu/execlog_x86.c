// SPDX-License-Identifier: BSD-2-Clause
/* The independent log of x86-64 programs. */
#include "execlog.h"

#include <Zydis/Zydis.h>
#include <signal.h>
#include <string.h>

/* 7.2's CPUX86State, as the log sees it. */
struct log_regs {
	uint64_t rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi;
};

static bool transfers_control(const uint8_t *bytes, size_t n)
{
	ZydisDecoder d;
	ZydisDecodedInstruction i;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, bytes, n, &i)))
		return false;
	switch (i.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
		return true;
	default:
		return false;
	}
}

/*
 * The frame: return address of "mov $15, %rax; syscall", siginfo and ucontext
 * where the registers say.  Signals that arrive together stack their frames: down
 * to the first.
 */
static bool signal_frame(const void *env, uint64_t *ip, bool *fault)
{
	static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	struct log_regs r = *(const struct log_regs *)env;
	uint64_t saved[17], back;
	uint8_t code[sizeof(sigreturn)];
	int info[3], depth;

	for (depth = 0; depth < 64; depth++) {
		if (r.rax || !r.rdi || r.rdi > 64 || r.rdx != r.rsp + 8 ||
		    !guest_read(r.rsp, &back, 8) ||
		    !guest_read(back, code, sizeof(code)) ||
		    memcmp(code, sigreturn, sizeof(code)) ||
		    !guest_read(r.rsp + 48, saved, sizeof(saved)) ||
		    !guest_read(r.rsi, info, sizeof(info)))
			break;
		*ip = saved[16];
		*fault = info[2] > 0 && (info[0] == SIGSEGV || info[0] == SIGBUS ||
					 info[0] == SIGILL || info[0] == SIGFPE);
		r.rdi = saved[8];
		r.rsi = saved[9];
		r.rdx = saved[12];
		r.rax = saved[13];
		r.rsp = saved[15];
	}
	return depth > 0;
}

const struct execlog_arch execlog_x86_64 = {transfers_control, signal_frame};
