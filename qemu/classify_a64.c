// SPDX-License-Identifier: BSD-2-Clause
/*
 * A64 instructions as an ETM sees them (IHI0064 F.1; encodings: Arm ARM C4.1).
 * The tests compare this with objdump.
 */
#include "classify_a64.h"

#include <string.h>

struct pattern {
	uint32_t mask, value;
	uint8_t kind;	     /* enum run_end */
	uint8_t bits, shift; /* of the offset in words; 0: none */
};

/* Branches, exception generating and system instructions: C4.1.65. */
static const struct pattern patterns[] = {
	{0xfc000000, 0x14000000, RUN_JMP, 26, 0},     /* B */
	{0xfc000000, 0x94000000, RUN_CALL, 26, 0},    /* BL */
	{0xff000000, 0x54000000, RUN_JCC, 19, 5},     /* B.cond, BC.cond */
	{0x7e000000, 0x34000000, RUN_JCC, 19, 5},     /* CBZ, CBNZ */
	{0x7e000000, 0x36000000, RUN_JCC, 14, 5},     /* TBZ, TBNZ */
	{0xfffffc1f, 0xd61f0000, RUN_JMP_IND, 0, 0},  /* BR */
	{0xfffff81f, 0xd61f081f, RUN_JMP_IND, 0, 0},  /* BRAAZ, BRABZ */
	{0xfffff800, 0xd71f0800, RUN_JMP_IND, 0, 0},  /* BRAA, BRAB */
	{0xfffffc1f, 0xd63f0000, RUN_CALL_IND, 0, 0}, /* BLR */
	{0xfffff81f, 0xd63f081f, RUN_CALL_IND, 0, 0}, /* BLRAAZ, BLRABZ */
	{0xfffff800, 0xd73f0800, RUN_CALL_IND, 0, 0}, /* BLRAA, BLRAB */
	{0xfffffc1f, 0xd65f0000, RUN_RET, 0, 0},      /* RET */
	{0xfffffbff, 0xd65f0bff, RUN_RET, 0, 0},      /* RETAA, RETAB */
	{0xffffffff, 0xd69f03e0, RUN_ERET, 0, 0},     /* ERET */
	{0xfffffbff, 0xd69f0bff, RUN_ERET, 0, 0},     /* ERETAA, ERETAB */
	{0xffe0001f, 0xd4000001, RUN_FAR, 0, 0},      /* SVC */
	{0xffe0001f, 0xd4000002, RUN_FAR, 0, 0},      /* HVC */
	{0xffe0001f, 0xd4000003, RUN_FAR, 0, 0},      /* SMC */
	{0xfffff0ff, 0xd50330df, RUN_ISB, 0, 0},      /* ISB */
	{0xffffffdf, 0xd503205f, RUN_WFX, 0, 0},      /* WFE, WFI */
	{0xffffffc0, 0xd5031000, RUN_WFX, 0, 0},      /* WFET, WFIT */
};

#define IS_BRANCH_OR_SYSTEM(i) (((i)&0x1c000000) == 0x14000000)

/* Loads and stores that the emulator may have to run alone: C4.1.66. */
static bool is_atomic(uint32_t i)
{
	bool exclusive = (i & 0x3f000000) == 0x08000000;
	bool ordered = (i & 0x00a00000) == 0x00800000; /* LDAR, STLR and the like */
	bool read_modify_write = (i & 0x3f200c00) == 0x38200000;

	return (exclusive && !ordered) || read_modify_write;
}

static uint64_t branch_target(uint32_t insn, const struct pattern *p, uint64_t va)
{
	uint32_t field = insn >> p->shift << (32 - p->bits);

	return va + (uint64_t)((int64_t)(int32_t)field >> (32 - p->bits)) * 4;
}

void a64_classify(const uint8_t *bytes, size_t n, uint64_t va, struct insn_class *out)
{
	const struct pattern *p, *end = patterns + sizeof(patterns) / sizeof(*p);
	uint32_t insn = 0;

	memcpy(&insn, bytes, n < 4 ? n : 4);
	memset(out, 0, sizeof(*out));
	if (is_atomic(insn))
		out->traits = INSN_ATOMIC;
	if (!IS_BRANCH_OR_SYSTEM(insn))
		return;
	for (p = patterns; p < end; p++) {
		if ((insn & p->mask) != p->value)
			continue;
		out->kind = p->kind;
		out->target = p->bits ? branch_target(insn, p, va) : 0;
		return;
	}
}
