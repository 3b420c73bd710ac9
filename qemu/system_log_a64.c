// SPDX-License-Identifier: BSD-2-Clause
/* The independent log of an AArch64 machine. */
#include "system_log.h"

#include <string.h>

/* 7.2's CPUARMState, as the log sees it. */
#define ENV_PC	     320
#define ENV_PSTATE   328
#define ENV_DAIF     560
#define ENV_ELR_EL1  584
#define PSTATE_EL    0xc
#define EXCEPTION_EL 0x4   /* EL1 */
#define ALL_MASKED   0x3c0 /* DAIF, set by each exception */
#define VECTOR	     128   /* bytes of an entry, and its alignment */

static int64_t field(uint32_t insn, unsigned int low, unsigned int bits)
{
	return (int64_t)((uint64_t)insn << (64 - low - bits)) >> (64 - bits);
}

static void branch(struct system_log_insn *i, int64_t words)
{
	i->kind = LOG_DIRECT;
	i->target = i->addr + (uint64_t)(words * 4);
}

static void describe(struct system_log_insn *i, const uint8_t *bytes, size_t n)
{
	uint32_t insn = 0;

	memcpy(&insn, bytes, n < 4 ? n : 4);
	i->kind = LOG_SEQ;
	switch (insn >> 24) {
	case 0x14 ... 0x17: /* B */
	case 0x94 ... 0x97: /* BL */
		branch(i, field(insn, 0, 26));
		break;
	case 0x34: /* CBZ, CBNZ */
	case 0x35:
	case 0xb4:
	case 0xb5:
	case 0x54: /* B.cond */
		branch(i, field(insn, 5, 19));
		break;
	case 0x36: /* TBZ, TBNZ */
	case 0x37:
	case 0xb6:
	case 0xb7:
		branch(i, field(insn, 5, 14));
		break;
	case 0xd6: /* to registers, ERET */
	case 0xd7:
		i->kind = LOG_OTHER;
		break;
	case 0xd4: /* SVC, HVC, SMC; BRK and HLT do not retire */
		if (!(insn & 0xe00000))
			i->kind = LOG_OTHER;
		break;
	default:
		break;
	}
}

static uint64_t state(const struct guest_env *env, size_t offset)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)env + offset, sizeof(v));
	return v;
}

/* By what an exception does to PSTATE, where vectors lie, and ELR_EL1. */
static bool interrupted_at(const struct guest_env *env, uint64_t ip)
{
	return state(env, ENV_ELR_EL1) == ip && !(state(env, ENV_PC) % VECTOR) &&
	       (state(env, ENV_PSTATE) & PSTATE_EL) == EXCEPTION_EL &&
	       (state(env, ENV_DAIF) & ALL_MASKED) == ALL_MASKED;
}

const struct system_log_arch system_log_aarch64 = {describe, interrupted_at};
