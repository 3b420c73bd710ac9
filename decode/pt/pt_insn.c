/* SPDX-License-Identifier: BSD-2-Clause */
/* Which packets an instruction makes, by its mnemonic. */
#include <errno.h>
#include <string.h>

#include "pt_insn.h"

#define M(name)		ZYDIS_MNEMONIC_##name
#define JCC(name)	[M(name)] = BLOCK_JCC
#define FAR(name)	[M(name)] = BLOCK_FAR
#define SYS(name)	[M(name)] = BLOCK_SYSCALL

/*
 * XBEGIN looks like a branch and is none: an abort is an asynchronous event.
 * INTO traps or goes on, and UD2 and HLT go nowhere: no class of their own.
 */
static const uint8_t kinds[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
	JCC(JB), JCC(JBE), JCC(JCXZ), JCC(JECXZ), JCC(JKNZD), JCC(JKZD), JCC(JL),
	JCC(JLE), JCC(JNB), JCC(JNBE), JCC(JNL), JCC(JNLE), JCC(JNO), JCC(JNP),
	JCC(JNS), JCC(JNZ), JCC(JO), JCC(JP), JCC(JRCXZ), JCC(JS), JCC(JZ),
	JCC(LOOP), JCC(LOOPE), JCC(LOOPNE),
	[M(JMP)] = BLOCK_JMP, [M(CALL)] = BLOCK_CALL, [M(RET)] = BLOCK_RET,
	SYS(SYSCALL), SYS(SYSENTER), SYS(INT), SYS(INT1), SYS(INT3),
	FAR(IRET), FAR(IRETD), FAR(IRETQ), FAR(SYSRET), FAR(SYSEXIT), FAR(RSM),
	FAR(UIRET), FAR(VMLAUNCH), FAR(VMRESUME), FAR(VMCALL), FAR(SEAMCALL),
	FAR(SEAMRET), FAR(TDCALL),
};

int pt_insn_init(struct pt_insn_decoder *d)
{
	static const struct {
		ZydisMachineMode mode;
		ZydisStackWidth width;
	} modes[3] = {
		{ZYDIS_MACHINE_MODE_LEGACY_16, ZYDIS_STACK_WIDTH_16},
		{ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32},
		{ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64},
	};
	int i;

	for (i = 0; i < 3; i++)
		if (!ZYAN_SUCCESS(ZydisDecoderInit(&d->by_mode[i], modes[i].mode,
						   modes[i].width)))
			return -EINVAL;
	return 0;
}

static uint8_t branch_kind(const ZydisDecodedInstruction *z)
{
	uint8_t kind = kinds[z->mnemonic];

	if (kind != BLOCK_JMP && kind != BLOCK_CALL && kind != BLOCK_RET)
		return kind;
	if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return BLOCK_FAR;
	if (kind == BLOCK_RET || z->raw.imm[0].is_relative)
		return kind;
	return kind == BLOCK_JMP ? BLOCK_JMP_IND : BLOCK_CALL_IND;
}

static uint8_t special_of(const ZydisDecodedInstruction *z)
{
	if (z->mnemonic == M(PTWRITE))
		return PT_SPECIAL_PTWRITE;
	/* 0F 22 /3 is MOV CR3 (REX.R would make it CR11). */
	if (z->opcode_map == ZYDIS_OPCODE_MAP_0F && z->opcode == 0x22 &&
	    z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && z->raw.modrm.reg == 3 &&
	    !z->raw.rex.R)
		return PT_SPECIAL_CR3;
	return PT_SPECIAL_NONE;
}

/* Branches of 64-bit mode that are newer than Zydis 4.0. */
static int decode_new(const uint8_t *bytes, size_t n, struct pt_insn *insn)
{
	static const struct {
		uint8_t opcode[4], size, length, kind;
	} forms[] = {
		{{0xf3, 0x0f, 0x01, 0xca}, 4, 4, BLOCK_FAR},	/* ERETU */
		{{0xf2, 0x0f, 0x01, 0xca}, 4, 4, BLOCK_FAR},	/* ERETS */
		{{0xd5, 0x00, 0xa1}, 3, 11, BLOCK_JMP_IND},	/* JMPABS: has a TIP */
	};
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (n < forms[i].size || memcmp(bytes, forms[i].opcode, forms[i].size))
			continue;
		if (n < forms[i].length)
			return TRACE_GAP_NO_CODE;
		*insn = (struct pt_insn){.length = forms[i].length, .kind = forms[i].kind};
		return 0;
	}
	return TRACE_ERR_BAD_INSN;
}

int pt_insn_decode(const struct pt_insn_decoder *d, uint8_t mode, uint64_t ip,
		   const uint8_t *bytes, size_t n, struct pt_insn *insn)
{
	const ZydisDecoder *zydis = &d->by_mode[mode == 64 ? 2 : mode == 32];
	ZydisDecodedInstruction z;
	ZyanStatus status;

	status = ZydisDecoderDecodeInstruction(zydis, NULL, bytes, n, &z);
	if (status == ZYDIS_STATUS_NO_MORE_DATA)
		return TRACE_GAP_NO_CODE;
	if (!ZYAN_SUCCESS(status))
		return mode == 64 ? decode_new(bytes, n, insn) : TRACE_ERR_BAD_INSN;
	insn->length = z.length;
	insn->kind = branch_kind(&z);
	insn->special = insn->kind == BLOCK_SEQ ? special_of(&z) : PT_SPECIAL_NONE;
	insn->target = 0;
	if (insn->kind == BLOCK_JCC || insn->kind == BLOCK_JMP || insn->kind == BLOCK_CALL) {
		insn->target = ip + z.length + (uint64_t)z.raw.imm[0].value.s;
		if (mode != 64)
			insn->target &= z.operand_width == 16 ? 0xffff : 0xffffffff;
	}
	return 0;
}
