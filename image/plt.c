// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries of the procedure linkage tables have no symbols: each gets the name
 * "function@plt".  An x86-64 entry jumps through a GOT slot (`jmp *slot(%rip)`,
 * with ENDBR64 or BND around it, in .plt, .plt.sec, .plt.got); the slot's
 * relocation names the function.  A lazy entry beside a .plt.sec only pushes
 * the relocation's index.  An AArch64 entry loads the slot by ADRP x16 and
 * LDR x17, with BTI before or AUTIA1716 behind, in .plt or .iplt.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

struct slot {
	uint64_t addr;
	const char *name;
};

struct slots {
	struct slot *by_addr;
	size_t n, room;
	const char **by_index; /* .rela.plt, in its order */
	size_t nindex;
};

static int slots_add(struct slots *s, uint64_t addr, const char *name)
{
	size_t room = s->room ? s->room * 2 : 128;
	struct slot *p;

	if (s->n == s->room) {
		p = realloc(s->by_addr, room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		s->by_addr = p;
		s->room = room;
	}
	s->by_addr[s->n++] = (struct slot){addr, name};
	return 0;
}

/* An IRELATIVE slot belongs to the function whose resolver its addend is. */
static const char *resolver_name(struct image_symtab *t, uint64_t addend)
{
	size_t i;

	for (i = 0; i < t->nall; i++) {
		if (t->all[i].start == addend && t->all[i].type == STT_GNU_IFUNC)
			return t->all[i].raw;
	}
	return NULL;
}

static const char *reloc_symbol(Elf *elf, const GElf_Shdr *sh, const GElf_Rela *r)
{
	Elf_Scn *scn = elf_getscn(elf, sh->sh_link);
	GElf_Shdr symsh;
	Elf_Data *data;
	GElf_Sym sym;

	if (!scn || !gelf_getshdr(scn, &symsh) || symsh.sh_type != SHT_DYNSYM)
		return NULL;
	data = elf_section_data(scn, &symsh);
	if (!data || !gelf_getsym(data, (int)GELF_R_SYM(r->r_info), &sym))
		return NULL;
	return elf_strptr(elf, symsh.sh_link, sym.st_name);
}

static const char *reloc_name(struct image_file *f, const GElf_Shdr *sh, const GElf_Rela *r)
{
	static const struct {
		int machine;
		unsigned int type;
		bool resolver;
	} rows[] = {
		{EM_X86_64, R_X86_64_JUMP_SLOT, false},
		{EM_X86_64, R_X86_64_GLOB_DAT, false},
		{EM_X86_64, R_X86_64_IRELATIVE, true},
		{EM_AARCH64, R_AARCH64_JUMP_SLOT, false},
		{EM_AARCH64, R_AARCH64_GLOB_DAT, false},
		{EM_AARCH64, R_AARCH64_IRELATIVE, true},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].machine != f->machine || rows[i].type != GELF_R_TYPE(r->r_info))
			continue;
		return rows[i].resolver ? resolver_name(&f->symtab, (uint64_t)r->r_addend) :
					  reloc_symbol(f->elf, sh, r);
	}
	return NULL;
}

static int add_relocs(struct image_file *f, Elf_Data *data, const GElf_Shdr *sh, bool plt,
		      struct slots *s)
{
	size_t i, n = sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	const char *name;
	GElf_Rela r;
	int ret = 0;

	if (plt && !s->by_index) {
		s->by_index = calloc(n + 1, sizeof(*s->by_index));
		if (!s->by_index)
			return -ENOMEM;
		s->nindex = n;
	}
	for (i = 0; i < n && !ret; i++) {
		if (!gelf_getrela(data, (int)i, &r))
			break;
		name = reloc_name(f, sh, &r);
		if (!name || !*name)
			continue;
		if (plt && i < s->nindex)
			s->by_index[i] = name;
		ret = slots_add(s, r.r_offset, name);
	}
	return ret;
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int load_slots(struct image_file *f, struct slots *s)
{
	Elf_Scn *scn = NULL;
	const char *name;
	size_t shstrndx;
	Elf_Data *data;
	GElf_Shdr sh;
	int ret = 0;

	if (elf_getshdrstrndx(f->elf, &shstrndx))
		return 0;
	while (!ret && (scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA ||
		    !(sh.sh_flags & SHF_ALLOC))
			continue;
		data = elf_section_data(scn, &sh);
		name = elf_strptr(f->elf, shstrndx, sh.sh_name);
		if (data && name)
			ret = add_relocs(f, data, &sh, !strcmp(name, ".rela.plt"), s);
	}
	if (s->n)
		qsort(s->by_addr, s->n, sizeof(*s->by_addr), compare_slots);
	return ret;
}

static const char *slot_name(const struct slots *s, uint64_t addr)
{
	size_t lo = 0, hi = s->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->by_addr[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n && s->by_addr[lo].addr == addr ? s->by_addr[lo].name : NULL;
}

static int32_t le32(const uint8_t *p)
{
	return (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			 (uint32_t)p[3] << 24);
}

/* Whose entry the n bytes at p (virtual address `addr`) are. */
static const char *entry_name(const struct slots *s, uint64_t addr, const uint8_t *p,
			      size_t n)
{
	const char *name = NULL;
	size_t i;

	for (i = 0; i + 6 <= n && !name; i++) {
		if (p[i] == 0xff && p[i + 1] == 0x25)
			name = slot_name(s, addr + i + 6 +
						    (uint64_t)(int64_t)le32(p + i + 2));
	}
	/* PUSH imm32, after an ENDBR64 perhaps. */
	for (i = 0; i + 5 <= n && i <= 4 && !name; i += 4) {
		if (p[i] == 0x68 && (uint32_t)le32(p + i + 1) < s->nindex)
			name = s->by_index[(uint32_t)le32(p + i + 1)];
	}
	return name;
}

static int add_entry(struct image_symtab *t, uint64_t addr, size_t size, const char *name)
{
	struct image_sym sym = {.start = addr, .size = size, .type = STT_FUNC};
	char *text;

	if (asprintf(&text, "%s%s", name, *name == '.' ? "" : "@plt") < 0)
		return -ENOMEM;
	sym.raw = symtab_string(t, text);
	free(text);
	return sym.raw ? symtab_add(t, &sym) : -ENOMEM;
}

static int name_section(struct image_file *f, const char *section, size_t entsize,
			const struct slots *s)
{
	const uint8_t *p;
	const char *name;
	Elf_Data *data;
	GElf_Shdr sh;
	Elf_Scn *scn;
	size_t i;
	int ret = 0;

	scn = elf_section(f->elf, section, &sh);
	data = scn ? elf_section_data(scn, &sh) : NULL;
	if (!data)
		return 0;
	if (sh.sh_entsize == 8 || sh.sh_entsize == 16)
		entsize = sh.sh_entsize;
	p = data->d_buf;
	for (i = 0; i + entsize <= data->d_size && !ret; i += entsize) {
		name = entry_name(s, sh.sh_addr + i, p + i, entsize);
		/* The first entry pushes the link map and jumps to the resolver. */
		if (!name && !i && entsize == 16 && p[0] == 0xff && p[1] == 0x35)
			name = ".plt";
		if (name)
			ret = add_entry(&f->symtab, sh.sh_addr + i, entsize, name);
	}
	return ret;
}

/* ---- AArch64 ---- */

#define A64_BTI_C	0xd503245fu
#define A64_IS_ADRP_X16(in) (((in) & 0x9f00001f) == 0x90000010)
#define A64_IS_LDR_X17(in) (((in) & 0xffc003ff) == 0xf9400211) /* from [x16, imm] */

/* The slot of the entry whose ADRP is at p (virtual address `addr`); 0: it is none. */
static uint64_t a64_slot(uint64_t addr, const uint8_t *p)
{
	uint32_t adrp = (uint32_t)le32(p), ldr = (uint32_t)le32(p + 4);
	uint64_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);

	if (!A64_IS_ADRP_X16(adrp) || !A64_IS_LDR_X17(ldr))
		return 0;
	pages = (pages ^ 0x100000) - 0x100000;
	return (addr & ~0xfffull) + (pages << 12) + (ldr >> 10 & 0xfff) * 8;
}

/* What is before the first entry that has a name is the table's own. */
static int name_a64_section(struct image_file *f, const char *section, const struct slots *s)
{
	uint64_t start = 0, at, entry;
	const char *name = ".plt", *next;
	const uint8_t *p;
	Elf_Data *data;
	GElf_Shdr sh;
	Elf_Scn *scn;
	bool any = false;
	int ret = 0;

	scn = elf_section(f->elf, section, &sh);
	data = scn ? elf_section_data(scn, &sh) : NULL;
	if (!data)
		return 0;
	p = data->d_buf;
	for (at = 0; at + 8 <= data->d_size && !ret; at += 4) {
		next = slot_name(s, a64_slot(sh.sh_addr + at, p + at));
		if (!next)
			continue;
		entry = at >= 4 && (uint32_t)le32(p + at - 4) == A64_BTI_C ? at - 4 : at;
		if (entry > start)
			ret = add_entry(&f->symtab, sh.sh_addr + start, entry - start, name);
		start = entry;
		name = next;
		any = true;
	}
	if (!ret && any)
		ret = add_entry(&f->symtab, sh.sh_addr + start, data->d_size - start, name);
	return ret;
}

static int name_sections(struct image_file *f, const struct slots *s)
{
	static const struct {
		const char *name;
		size_t entsize; /* x86-64 */
	} sections[] = {
		{".plt", 16},
		{".plt.sec", 16},
		{".plt.got", 8},
		{".iplt", 16},
	};
	size_t i;
	int ret = 0;

	for (i = 0; i < sizeof(sections) / sizeof(sections[0]) && !ret; i++)
		ret = f->machine == EM_X86_64 ?
			      name_section(f, sections[i].name, sections[i].entsize, s) :
			      name_a64_section(f, sections[i].name, s);
	return ret;
}

int plt_load(struct image_file *f)
{
	struct slots s = {};
	int ret;

	if ((f->machine != EM_X86_64 && f->machine != EM_AARCH64) || f->bits != 64)
		return 0;
	ret = load_slots(f, &s);
	if (!ret)
		ret = name_sections(f, &s);
	free(s.by_addr);
	free(s.by_index);
	return ret;
}
