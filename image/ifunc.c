// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an IFUNC's resolver may return.
 *
 * The implementations are local functions; in a stripped library only the
 * resolver's code tells where they are.  Each of them is an address that the
 * resolver forms by itself, or loads from a GOT slot that a RELATIVE relocation
 * fills.  ifunc_x86.c and ifunc_a64.c read the code.
 */
#include <string.h>
#include "ifunc.h"

void ifunc_found(struct ifunc_scan *s, uint64_t addr)
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

bool ifunc_slot(struct image_file *f, uint64_t slot, uint64_t *value)
{
	const unsigned int relative = f->machine == EM_AARCH64 ? R_AARCH64_RELATIVE :
								 R_X86_64_RELATIVE;
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
			if (r.r_offset == slot && GELF_R_TYPE(r.r_info) == relative) {
				*value = (uint64_t)r.r_addend;
				return true;
			}
		}
	}
	return false;
}

void ifunc_follow(struct ifunc_scan *s, uint64_t target, int depth, ifunc_scan_fn scan)
{
	uint64_t start, end;

	if (depth < IFUNC_DEPTH_MAX && fde_find(s->f, target, &start, &end) && start == target)
		scan(s, start, end, depth + 1);
}

size_t ifunc_code(struct ifunc_scan *s, uint64_t start, uint64_t end,
		  uint8_t code[IFUNC_CODE_MAX])
{
	size_t n = end > start && end - start < IFUNC_CODE_MAX ? (size_t)(end - start) :
								 IFUNC_CODE_MAX;

	return file_read_vaddr(s->f, start, code, n) ? n : 0;
}

int ifunc_targets(struct image_file *f, uint64_t start, uint64_t end, uint64_t *out,
		  int max)
{
	struct ifunc_scan s = {.f = f, .out = out, .max = max};

	if (f->machine == EM_X86_64)
		ifunc_scan_x86(&s, start, end, 0);
	else if (f->machine == EM_AARCH64)
		ifunc_scan_a64(&s, start, end, 0);
	return s.n;
}
