// SPDX-License-Identifier: BSD-2-Clause
/* The independent log of AArch64 programs. */
#include "execlog.h"

#include <signal.h>
#include <string.h>

/* 7.2's CPUARMState, as the log sees it: sixteen 32-bit registers, then these. */
#define ENV_X	    64

/* Offsets in the frame that a handler's sp points to. */
#define FRAME_CODE  8 /* siginfo.si_code */
#define FRAME_X0    312
#define FRAME_PC    (FRAME_X0 + 32 * 8)
#define FRAME_EXTRA 592			  /* the first extension is the FP registers */
#define FPSIMD	    0x0000021046508001ull /* its size and magic */

/*
 * Branches and SVC.  BRK and UDF are not: they raise a signal, and then the
 * instruction itself is where the program was interrupted.
 */
static bool transfers_control(const uint8_t *bytes, size_t n)
{
	switch (bytes[3]) {
	case 0x14:
	case 0x15:
	case 0x16:
	case 0x17: /* B */
	case 0x94:
	case 0x95:
	case 0x96:
	case 0x97: /* BL */
	case 0x34:
	case 0x35:
	case 0x36:
	case 0x37: /* CBZ, CBNZ, TBZ, TBNZ */
	case 0xb4:
	case 0xb5:
	case 0xb6:
	case 0xb7:
	case 0x54: /* B.cond */
	case 0xd6:
	case 0xd7: /* to registers */
		return true;
	case 0xd4:
		return (bytes[2] & 0xe0) == 0 && (bytes[0] & 0x1f) == 1; /* SVC */
	default:
		return false;
	}
}

/* Signals that arrive together stack their frames: down to the first. */
static bool signal_frame(const void *env, uint64_t *ip, bool *fault)
{
	uint64_t x[32], extra, record[2], sp;
	int code, depth;

	memcpy(x, (const uint8_t *)env + ENV_X, sizeof(x));
	for (depth = 0; depth < 64; depth++) {
		uint64_t sig = x[0];

		sp = x[31];
		if (!sig || sig > 64 || !guest_read(sp + FRAME_EXTRA, &extra, 8) ||
		    extra != FPSIMD || !guest_read(x[29], record, sizeof(record)))
			break;
		*fault = sig == SIGSEGV || sig == SIGBUS || sig == SIGILL ||
			 sig == SIGFPE || sig == SIGTRAP;
		if (x[1] == sp && guest_read(sp + FRAME_CODE, &code, sizeof(code)))
			*fault &= code > 0;
		if (!guest_read(sp + FRAME_X0, x, sizeof(x)) || record[0] != x[29] ||
		    record[1] != x[30] || !guest_read(sp + FRAME_PC, ip, 8))
			break;
	}
	return depth > 0;
}

const struct execlog_arch execlog_aarch64 = {transfers_control, signal_frame};
