// SPDX-License-Identifier: BSD-2-Clause
/*
 * Resolvers of AArch64: ADR; ADRP and ADD; or ADRP and a load from a GOT slot.  The
 * instructions are read in their order, whatever branches there are between: an address
 * that is formed on one way may only be one too many.
 */
#include "ifunc.h"

#define NREGS 32

static uint32_t le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* The low n bits as a signed number. */
static uint64_t extend(uint64_t value, unsigned int n)
{
	uint64_t sign = 1ull << (n - 1);

	return ((value & (2 * sign - 1)) ^ sign) - sign;
}

/* What is known of registers: reg[n] is a multiple of 4 KiB, 0: nothing. */
static void look_at(struct ifunc_scan *s, uint64_t ip, uint32_t in, uint64_t reg[NREGS])
{
	uint64_t imm = extend((uint64_t)(in >> 5 & 0x7ffff) << 2 | (in >> 29 & 3), 21);
	uint64_t page = reg[in >> 5 & 31], addr;

	if ((in & 0x9f000000) == 0x90000000) { /* ADRP Xd */
		reg[in & 31] = (ip & ~0xfffull) + (imm << 12);
	} else if ((in & 0x9f000000) == 0x10000000) { /* ADR Xd */
		ifunc_found(s, ip + imm);
	} else if ((in & 0xffc00000) == 0x91000000 && page) { /* ADD Xd, Xn, imm12 */
		ifunc_found(s, page + (in >> 10 & 0xfff));
	} else if ((in & 0xffc00000) == 0xf9400000 && page) { /* LDR Xt, [Xn, imm12 * 8] */
		if (ifunc_slot(s->f, page + (in >> 10 & 0xfff) * 8, &addr))
			ifunc_found(s, addr);
	}
}

void ifunc_scan_a64(struct ifunc_scan *s, uint64_t start, uint64_t end, int depth)
{
	uint8_t code[IFUNC_CODE_MAX];
	uint64_t reg[NREGS] = {0}, target;
	size_t at, n = ifunc_code(s, start, end, code);
	uint32_t in;

	for (at = 0; at + 4 <= n; at += 4) {
		in = le32(code + at);
		look_at(s, start + at, in, reg);
		if ((in & 0xfc000000) != 0x14000000) /* B */
			continue;
		target = start + at + extend((uint64_t)(in & 0x3ffffff) << 2, 28);
		if (target < start || target >= start + n)
			ifunc_follow(s, target, depth, ifunc_scan_a64);
	}
}
