// SPDX-License-Identifier: BSD-2-Clause
/* What SPE's Operation Type tells of A64 instructions (encodings: Arm ARM C4.1). */
#include "operation_a64.h"

#include <stddef.h>

#include "../models/spe/spe_unit.h"

/* The first that fits counts. */
static const struct {
	uint32_t mask, value;
	uint16_t flags;
	uint32_t acqrel;	/* any of these bits: acquire or release */
} rows[] = {
	/* Compare and swap (pairs): C4.1.66. */
	{0x3fa07c00, 0x08a07c00, SPE_OPF_ATOMIC, 0x00408000},
	{0xbfa07c00, 0x08207c00, SPE_OPF_ATOMIC, 0x00408000},
	/* LDAR, STLR, LDLAR, STLLR */
	{0x3fa00000, 0x08800000, SPE_OPF_ACQREL, 0},
	/* Load and store exclusive: o0 is acquire or release. */
	{0x3f000000, 0x08000000, SPE_OPF_EXCL, 0x00008000},
	/* LDAPR, then the other atomic memory operations: A and R. */
	{0x3fe0fc00, 0x38a0c000, SPE_OPF_ACQREL, 0},
	{0x3f200c00, 0x38200000, SPE_OPF_ATOMIC, 0x00c00000},
	/* LDAPUR, STLUR */
	{0x3f200c00, 0x19000000, SPE_OPF_ACQREL, 0},
	/* Loads and stores of SIMD and floating-point registers: V (C4.1.66). */
	{0x0e000000, 0x0c000000, SPE_OPF_SIMD, 0},
	/* Conditional select: C4.1.67. */
	{0x1fe00000, 0x1a800000, SPE_OPF_COND, 0},
	/* Data processing, floating point and SIMD: C4.1.68. */
	{0x0e000000, 0x0e000000, SPE_OPF_SIMD, 0},
};

unsigned int a64_op_flags(uint32_t insn)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((insn & rows[i].mask) == rows[i].value)
			return rows[i].flags | (insn & rows[i].acqrel ? SPE_OPF_ACQREL : 0);
	return 0;
}
