// SPDX-License-Identifier: BSD-2-Clause
/* The independent log of an x86-64 machine. */
#include "system_log.h"

#include <Zydis/Zydis.h>

#include "guest_system.h"
#include "guest_x86.h"

static void describe(struct system_log_insn *i, const uint8_t *bytes, size_t n)
{
	ZydisDecoder d;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	i->kind = LOG_SEQ;
	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes, n, &z, op)))
		return;
	switch (z.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
		i->kind = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? LOG_DIRECT
								     : LOG_OTHER;
		if (i->kind == LOG_DIRECT)
			ZydisCalcAbsoluteAddress(&z, &op[0], i->addr, &i->target);
		break;
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
		i->kind = LOG_OTHER;
		break;
	default:
		break;
	}
}

/* By the look of what is on the stack, with an error code or without. */
static bool interrupted_at(const struct guest_env *env, uint64_t ip)
{
	uint64_t s[3]; /* RIP, CS, RFLAGS */
	int i;

	if ((int64_t)env->eip >= 0)
		return false;
	for (i = 0; i < 2; i++)
		if (system_read(env, env->regs[X86_RSP] + 8u * (unsigned int)i, s,
				sizeof(s)) &&
		    s[0] == ip && s[1] && s[1] < 0x100 && s[2] & 2 && !(s[2] >> 22))
			return true;
	return false;
}

const struct system_log_arch system_log_x86_64 = {describe, interrupted_at};
