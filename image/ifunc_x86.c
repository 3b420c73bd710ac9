// SPDX-License-Identifier: BSD-2-Clause
/*
 * Resolvers of x86-64: LEA reg, [rip + x]; MOV reg, imm (static programs); or a load
 * from a GOT slot.  Instruction lengths and operands need a decoder, which is why this
 * file, and only this one of image/, uses Zydis.
 */
#include "ifunc.h"

#ifdef HAVE_ZYDIS
#include <Zydis/Zydis.h>

static void look_at(struct ifunc_scan *s, uint64_t ip, const ZydisDecodedInstruction *in,
		    const ZydisDecodedOperand *op)
{
	uint64_t addr;

	if (op[0].type != ZYDIS_OPERAND_TYPE_REGISTER || in->operand_count_visible < 2)
		return;
	if (op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    in->mnemonic == ZYDIS_MNEMONIC_MOV) {
		ifunc_found(s, op[1].imm.value.u);
		return;
	}
	if (op[1].type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    op[1].mem.base != ZYDIS_REGISTER_RIP)
		return;
	addr = ip + in->length + (uint64_t)op[1].mem.disp.value;
	if (in->mnemonic == ZYDIS_MNEMONIC_LEA)
		ifunc_found(s, addr);
	else if (op[1].size == 64 && ifunc_slot(s->f, addr, &addr))
		ifunc_found(s, addr);
}

void ifunc_scan_x86(struct ifunc_scan *s, uint64_t start, uint64_t end, int depth)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t code[IFUNC_CODE_MAX];
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	uint64_t target;
	size_t at, n = ifunc_code(s, start, end, code);

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (at = 0; at < n; at += in.length) {
		if (!ZYAN_SUCCESS(
			    ZydisDecoderDecodeFull(&decoder, code + at, n - at, &in, op)))
			break;
		look_at(s, start + at, &in, op);
		if (in.mnemonic != ZYDIS_MNEMONIC_JMP ||
		    op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			continue;
		target = start + at + in.length + (uint64_t)op[0].imm.value.s;
		if (target < start || target >= start + n)
			ifunc_follow(s, target, depth, ifunc_scan_x86);
	}
}

#else

void ifunc_scan_x86(struct ifunc_scan *s, uint64_t start, uint64_t end, int depth)
{
}

#endif
