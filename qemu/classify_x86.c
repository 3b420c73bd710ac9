// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64 instructions as PT sees them.  By hand, because it runs for every
 * translated instruction; the tests compare it with Zydis.
 */
#include "classify_x86.h"

#include <string.h>

#define OP_PREFIX	0x01u	/* legacy prefix */
#define OP_STRING	0x02u	/* honours REP */
#define OP_FAR		0x04u
#define OP_JCC8		0x08u	/* Jcc rel8, LOOPcc, JRCXZ */
#define OP_RET		0x10u

static const uint8_t one_byte[256] = {
	[0x26] = OP_PREFIX, [0x2e] = OP_PREFIX, [0x36] = OP_PREFIX, [0x3e] = OP_PREFIX,
	[0x64] = OP_PREFIX, [0x65] = OP_PREFIX, [0x66] = OP_PREFIX, [0x67] = OP_PREFIX,
	[0xf0] = OP_PREFIX, [0xf2] = OP_PREFIX, [0xf3] = OP_PREFIX,
	[0x6c] = OP_STRING, [0x6d] = OP_STRING, [0x6e] = OP_STRING, [0x6f] = OP_STRING,
	[0xa4] = OP_STRING, [0xa5] = OP_STRING, [0xa6] = OP_STRING, [0xa7] = OP_STRING,
	[0xaa] = OP_STRING, [0xab] = OP_STRING, [0xac] = OP_STRING, [0xad] = OP_STRING,
	[0xae] = OP_STRING, [0xaf] = OP_STRING,
	[0x70] = OP_JCC8, [0x71] = OP_JCC8, [0x72] = OP_JCC8, [0x73] = OP_JCC8,
	[0x74] = OP_JCC8, [0x75] = OP_JCC8, [0x76] = OP_JCC8, [0x77] = OP_JCC8,
	[0x78] = OP_JCC8, [0x79] = OP_JCC8, [0x7a] = OP_JCC8, [0x7b] = OP_JCC8,
	[0x7c] = OP_JCC8, [0x7d] = OP_JCC8, [0x7e] = OP_JCC8, [0x7f] = OP_JCC8,
	[0xe0] = OP_JCC8, [0xe1] = OP_JCC8, [0xe2] = OP_JCC8, [0xe3] = OP_JCC8,
	[0xc2] = OP_RET, [0xc3] = OP_RET,
	/* far RET, IRET, INT3, INT n, INT1 */
	[0xca] = OP_FAR, [0xcb] = OP_FAR, [0xcf] = OP_FAR, [0xcc] = OP_FAR,
	[0xcd] = OP_FAR, [0xf1] = OP_FAR,
};

size_t x86_prefixes(const uint8_t *b, size_t n, struct x86_prefix *p)
{
	size_t i;

	memset(p, 0, sizeof(*p));
	/* A REX that other prefixes follow is void, not an opcode. */
	for (i = 0; i < n && (one_byte[b[i]] & OP_PREFIX || (b[i] & 0xf0) == 0x40); i++) {
		p->rep |= b[i] == 0xf2 || b[i] == 0xf3;
		p->lock |= b[i] == 0xf0;
		p->addr32 |= b[i] == 0x67;
	}
	return i;
}

static uint64_t rel8(const uint8_t *b, size_t n, uint64_t va)
{
	return va + n + (uint64_t)(int64_t)(int8_t)b[n - 1];
}

static uint64_t rel32(const uint8_t *b, size_t n, uint64_t va)
{
	int32_t disp;

	memcpy(&disp, b + n - 4, 4);
	return va + n + (uint64_t)(int64_t)disp;
}

/* Group 5 (FF /r): 2 and 4 are near, 3 and 5 far, indirect. */
static uint8_t group5(uint8_t modrm)
{
	static const uint8_t kind[8] = {
		[2] = RUN_CALL_IND, [3] = RUN_FAR, [4] = RUN_JMP_IND, [5] = RUN_FAR,
	};

	return kind[modrm >> 3 & 7];
}

static void two_byte(const uint8_t *b, size_t n, size_t i, uint64_t va,
		     struct insn_class *out)
{
	uint8_t op = i + 1 < n ? b[i + 1] : 0;

	if ((op & 0xf0) == 0x80 && n >= i + 6) {
		out->kind = RUN_JCC;
		out->target = rel32(b, n, va);
	} else if (op == 0x05 || op == 0x07 || op == 0x34 || op == 0x35) {
		out->kind = RUN_FAR;	/* SYSCALL, SYSRET, SYSENTER, SYSEXIT */
	} else if (op == 0x22 && i + 2 < n && (b[i + 2] >> 3 & 7) == 3) {
		out->traits |= INSN_SPACE;	/* MOV to CR3 */
	}
}

void x86_classify(const uint8_t *b, size_t n, uint64_t va, struct insn_class *out)
{
	struct x86_prefix p;
	size_t i = x86_prefixes(b, n, &p);
	uint8_t op, info;

	out->target = 0;
	out->kind = RUN_SEQ;
	out->traits = p.lock ? INSN_ATOMIC : 0;
	if (i >= n)
		return;
	op = b[i];
	info = one_byte[op];
	if (info & OP_STRING) {
		out->traits |= p.rep ? INSN_REP : 0;
	} else if (info & OP_JCC8) {
		out->kind = RUN_JCC;
		out->target = rel8(b, n, va);
	} else if (info & OP_RET) {
		out->kind = RUN_RET;
	} else if (info & OP_FAR) {
		out->kind = RUN_FAR;
	} else if (op == 0xeb) {
		out->kind = RUN_JMP;
		out->target = rel8(b, n, va);
	} else if ((op == 0xe8 || op == 0xe9) && n >= i + 5) {
		out->kind = op == 0xe8 ? RUN_CALL : RUN_JMP;
		out->target = rel32(b, n, va);
	} else if (op == 0xff && i + 1 < n) {
		out->kind = group5(b[i + 1]);
	} else if (op == 0x0f) {
		two_byte(b, n, i, va, out);
	} else if ((op == 0x86 || op == 0x87) && i + 1 < n && (b[i + 1] & 0xc0) != 0xc0) {
		out->traits |= INSN_ATOMIC;	/* XCHG with memory locks by itself */
	}
}
