// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an IFUNC's resolver may return.
 *
 * The implementations are local functions; in a stripped library only the
 * resolver's code tells where they are.  Each of them is an address that the
 * resolver forms: LEA reg, [rip + x]; MOV reg, imm (static programs); or a load
 * from a GOT slot that a RELATIVE relocation fills.  Instruction lengths and
 * operands need a decoder, which is why this file, and only this one of image/,
 * uses Zydis.
 */
#include <string.h>
#include "image_priv.h"

#ifdef HAVE_ZYDIS
#include <Zydis/Zydis.h>

#define RESOLVER_MAX 8192u /* bytes; glibc's longest has some 600 */
#define DEPTH_MAX    2	   /* a resolver that jumps on to a common one */

struct scan {
	struct image_file *f;
	uint64_t *out;
	int max, n;
};

static void found(struct scan *s, uint64_t addr)
{
	int i;

	if (!file_is_code(s->f, addr))
		return;
	for (i = 0; i < s->n && i < s->max; i++) {
		if (s->out[i] == addr)
			return;
	}
	if (s->n < s->max)
		s->out[s->n] = addr;
	s->n++;
}

/* The address that a RELATIVE relocation stores at `slot`. */
static bool relative_at(struct image_file *f, uint64_t slot, uint64_t *value)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr sh;
	GElf_Rela r;
	size_t i, n;

	while ((scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA || !sh.sh_entsize)
			continue;
		data = elf_section_data(scn, &sh);
		n = data ? data->d_size / sh.sh_entsize : 0;
		for (i = 0; i < n && gelf_getrela(data, (int)i, &r); i++) {
			if (r.r_offset == slot &&
			    GELF_R_TYPE(r.r_info) == R_X86_64_RELATIVE) {
				*value = (uint64_t)r.r_addend;
				return true;
			}
		}
	}
	return false;
}

static void look_at(struct scan *s, uint64_t ip, const ZydisDecodedInstruction *in,
		    const ZydisDecodedOperand *op)
{
	uint64_t addr;

	if (op[0].type != ZYDIS_OPERAND_TYPE_REGISTER || in->operand_count_visible < 2)
		return;
	if (op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    in->mnemonic == ZYDIS_MNEMONIC_MOV) {
		found(s, op[1].imm.value.u);
		return;
	}
	if (op[1].type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    op[1].mem.base != ZYDIS_REGISTER_RIP)
		return;
	addr = ip + in->length + (uint64_t)op[1].mem.disp.value;
	if (in->mnemonic == ZYDIS_MNEMONIC_LEA)
		found(s, addr);
	else if (op[1].size == 64 && relative_at(s->f, addr, &addr))
		found(s, addr);
}

static void scan_code(struct scan *s, uint64_t start, uint64_t end, int depth)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t code[RESOLVER_MAX];
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	uint64_t target, to, tend;
	size_t at, n;

	n = end > start && end - start < sizeof(code) ? (size_t)(end - start)
						      : sizeof(code);
	if (!file_read_vaddr(s->f, start, code, n))
		return;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (at = 0; at < n; at += in.length) {
		if (!ZYAN_SUCCESS(
			    ZydisDecoderDecodeFull(&decoder, code + at, n - at, &in, op)))
			break;
		look_at(s, start + at, &in, op);
		if (in.mnemonic != ZYDIS_MNEMONIC_JMP ||
		    op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || depth >= DEPTH_MAX)
			continue;
		target = start + at + in.length + (uint64_t)op[0].imm.value.s;
		if (target >= start && target < start + n)
			continue;
		if (fde_find(s->f, target, &to, &tend) && to == target)
			scan_code(s, to, tend, depth + 1);
	}
}

int ifunc_targets(struct image_file *f, uint64_t start, uint64_t end, uint64_t *out,
		  int max)
{
	struct scan s = {.f = f, .out = out, .max = max};

	if (f->machine != EM_X86_64)
		return 0;
	scan_code(&s, start, end, 0);
	return s.n;
}

#else

int ifunc_targets(struct image_file *f, uint64_t start, uint64_t end, uint64_t *out,
		  int max)
{
	return 0;
}

#endif
