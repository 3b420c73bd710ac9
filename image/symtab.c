// SPDX-License-Identifier: BSD-2-Clause
/* The symbols of one file, and which of them an address belongs to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "image_priv.h"

/* Outward steps for a symbol that encloses an address; deeper nesting is damage. */
#define WALK_MAX 64

int symtab_add(struct image_symtab *t, const struct image_sym *sym)
{
	struct image_sym *p;
	size_t room;

	if (t->nall == t->room) {
		room = t->room ? t->room * 2 : 256;
		if (room > UINT32_MAX / 2)
			return -E2BIG;
		p = realloc(t->all, room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		t->all = p;
		t->room = room;
	}
	t->all[t->nall++] = *sym;
	return 0;
}

const char *symtab_string(struct image_symtab *t, const char *text)
{
	char **p, *s;
	size_t room;

	if (t->nowned == t->owned_room) {
		room = t->owned_room ? t->owned_room * 2 : 64;
		p = realloc(t->owned, room * sizeof(*p));
		if (!p)
			return NULL;
		t->owned = p;
		t->owned_room = room;
	}
	s = strdup(text);
	if (s)
		t->owned[t->nowned++] = s;
	return s;
}

void symtab_free(struct image_symtab *t)
{
	size_t i;

	for (i = 0; i < t->nowned; i++)
		free(t->owned[i]);
	free(t->owned);
	free(t->all);
	free(t->best);
	free(t->max_end);
	if (t->inner)
		elf_end(t->inner);
	if (t->inner && !t->debugdata_bytes)
		close(t->inner_fd);
	free(t->debugdata_bytes);
	memset(t, 0, sizeof(*t));
}

static bool wanted(const struct image_file *f, const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
		return false;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	return file_is_code(f, sym->st_value);
}

/* Assemblers' and mapping symbols ($x, $d, .L123) are marks, not functions. */
static bool is_mark(const char *name, int type)
{
	return type == STT_NOTYPE &&
	       (!*name || name[0] == '$' || (name[0] == '.' && name[1] == 'L'));
}

/* The version table that goes with the dynamic symbols, or NULL. */
static Elf_Data *version_table(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_GNU_versym)
			return elf_section_data(scn, &sh);
	}
	return NULL;
}

/* Bit 15: not the default version of its name (LSB Core, 10.7.2). */
static bool is_old_version(Elf_Data *versions, size_t i)
{
	GElf_Versym v;

	return versions && gelf_getversym(versions, (int)i, &v) && v & 0x8000;
}

static int load_table(struct image_file *f, Elf *elf, uint32_t sh_type)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data, *versions = NULL;
	struct image_sym sym = {};
	GElf_Shdr sh;
	GElf_Sym gs;
	size_t i, n;
	int ret = 0;

	if (sh_type == SHT_DYNSYM)
		versions = version_table(elf);
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != sh_type || !sh.sh_entsize)
			continue;
		data = elf_section_data(scn, &sh);
		if (!data)
			continue;
		n = data->d_size / sh.sh_entsize;
		for (i = 1; i < n && !ret; i++) {
			if (!gelf_getsym(data, (int)i, &gs) || !wanted(f, &gs))
				continue;
			sym.raw = elf_strptr(elf, sh.sh_link, gs.st_name);
			sym.type = GELF_ST_TYPE(gs.st_info);
			sym.bind = GELF_ST_BIND(gs.st_info);
			if (!sym.raw || !*sym.raw || is_mark(sym.raw, sym.type))
				continue;
			sym.old_version = is_old_version(versions, i);
			sym.start = gs.st_value;
			sym.size = gs.st_size > UINT64_MAX - gs.st_value ? 0 : gs.st_size;
			ret = symtab_add(&f->symtab, &sym);
		}
	}
	return ret;
}

static int underscores(const char *s)
{
	return (int)strspn(s, "_");
}

static int bind_rank(int bind)
{
	return bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
}

/* By address; at one address the symbol that a reader knows best comes first. */
static int compare(const void *pa, const void *pb)
{
	const struct image_sym *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	if ((a->type == STT_NOTYPE) != (b->type == STT_NOTYPE))
		return a->type == STT_NOTYPE ? 1 : -1;
	/* free is, cfree was: a program linked today cannot name it. */
	if (a->old_version != b->old_version)
		return a->old_version ? 1 : -1;
	if (bind_rank(a->bind) != bind_rank(b->bind))
		return bind_rank(a->bind) - bind_rank(b->bind);
	if (underscores(a->raw) != underscores(b->raw))
		return underscores(a->raw) - underscores(b->raw);
	/* The order must not depend on qsort: ids come from it. */
	if (strlen(a->raw) != strlen(b->raw))
		return strlen(a->raw) < strlen(b->raw) ? -1 : 1;
	return strcmp(a->raw, b->raw);
}

/* A symbol without size reaches to the next one, or to its segment's end. */
static uint64_t open_end(const struct image_file *f, uint64_t start, uint64_t next)
{
	uint64_t end = next;
	size_t i;

	for (i = 0; i < f->nphdr; i++) {
		const struct image_phdr *p = &f->phdr[i];

		if (p->type == PT_LOAD && start >= p->vaddr &&
		    start - p->vaddr < p->memsz && (!end || p->vaddr + p->memsz < end))
			end = p->vaddr + p->memsz;
	}
	return end ? end : start + 1;
}

static int index_symbols(struct image_file *f)
{
	struct image_symtab *t = &f->symtab;
	uint64_t reach = 0, next;
	size_t i, n = 0;

	if (!t->nall)
		return 0;
	qsort(t->all, t->nall, sizeof(*t->all), compare);
	t->best = malloc(t->nall * sizeof(*t->best));
	t->max_end = malloc(t->nall * sizeof(*t->max_end));
	if (!t->best || !t->max_end)
		return -ENOMEM;
	for (i = 0; i < t->nall; i++) {
		struct image_sym *s = &t->all[i];

		s->end = s->start + s->size;
		if (i && t->all[i - 1].start == s->start) {
			if (!s->size)
				s->end = t->all[i - 1].end;
			continue;
		}
		/* A label inside a function does not cut the function in two. */
		if (!s->size && s->start < reach) {
			s->end = reach;
			continue;
		}
		if (s->size && s->end > reach)
			reach = s->end;
		t->best[n++] = (uint32_t)i;
	}
	t->nbest = n;
	for (i = 0, reach = 0; i < n; i++) {
		struct image_sym *s = &t->all[t->best[i]];

		next = i + 1 < n ? t->all[t->best[i + 1]].start : 0;
		if (!s->size)
			s->end = open_end(f, s->start, next);
		if (s->end > reach)
			reach = s->end;
		t->max_end[i] = reach;
	}
	return 0;
}

int symtab_load(struct image_file *f)
{
	struct image_symtab *t = &f->symtab;
	int ret = 0;

	if (f->symbols_read || !f->elf)
		return f->names_err;
	f->symbols_read = true;
	ret = load_table(f, f->elf, SHT_SYMTAB);
	if (!ret && !t->nall) {
		t->inner = debugfile_open(f, &t->inner_fd);
		if (!t->inner)
			t->inner = debugdata_open(f->elf, &t->debugdata_bytes);
		if (t->inner)
			ret = load_table(f, t->inner, SHT_SYMTAB);
	}
	/* .symtab holds all of .dynsym; .gnu_debugdata leaves it out. */
	if (!ret && (!t->nall || t->inner))
		ret = load_table(f, f->elf, SHT_DYNSYM);
	if (!ret && !t->nall)
		ret = dynsym_load(f);
	if (!ret)
		ret = plt_load(f);
	if (!ret)
		ret = index_symbols(f);
	if (ret)
		symtab_free(t);
	f->names_err = ret ? ret : f->names_err;
	return ret;
}

struct image_sym *symtab_find(struct image_symtab *t, uint64_t vaddr)
{
	size_t lo = 0, hi = t->nbest, mid;
	struct image_sym *s;
	int steps;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->all[t->best[mid]].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (steps = 0; lo > 0 && steps < WALK_MAX; steps++, lo--) {
		if (t->max_end[lo - 1] <= vaddr)
			return NULL;
		s = &t->all[t->best[lo - 1]];
		if (vaddr < s->end)
			return s;
	}
	return NULL;
}

const char *symtab_name(struct image_store *st, struct image_sym *sym)
{
	char *demangled;

	if (sym->name)
		return sym->name;
	demangled = image_demangle(sym->raw);
	if (demangled)
		sym->name = store_intern(st, demangled, strlen(demangled));
	free(demangled);
	if (!sym->name)
		sym->name = sym->raw;
	return sym->name;
}
