// SPDX-License-Identifier: BSD-2-Clause
/*
 * Dynamic symbols by the program headers alone, for files whose section
 * headers were taken away (sstrip, packers).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

struct dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash;
};

static bool read_dynamic(struct image_file *f, struct dynamic *d)
{
	const struct image_phdr *p = NULL;
	Elf64_Dyn dyn;
	uint64_t off;
	size_t i;

	for (i = 0; i < f->nphdr; i++) {
		if (f->phdr[i].type == PT_DYNAMIC)
			p = &f->phdr[i];
	}
	for (off = 0; p && off + sizeof(dyn) <= p->filesz && off < 65536;
	     off += sizeof(dyn)) {
		if (file_bytes(f, p->offset + off, (uint8_t *)&dyn, sizeof(dyn)) !=
		    sizeof(dyn))
			break;
		switch (dyn.d_tag) {
		case DT_NULL:
			return d->symtab && d->strtab && d->strsz;
		case DT_SYMTAB:
			d->symtab = dyn.d_un.d_ptr;
			break;
		case DT_STRTAB:
			d->strtab = dyn.d_un.d_ptr;
			break;
		case DT_STRSZ:
			d->strsz = dyn.d_un.d_val;
			break;
		case DT_HASH:
			d->hash = dyn.d_un.d_ptr;
			break;
		case DT_GNU_HASH:
			d->gnu_hash = dyn.d_un.d_ptr;
			break;
		}
	}
	return false;
}

/* The table's length is written nowhere but in the hash tables. */
static uint64_t gnu_hash_count(struct image_file *f, uint64_t addr)
{
	uint32_t head[4], bucket, last = 0, i, word;
	uint64_t chains;

	if (!file_read_vaddr(f, addr, head, sizeof(head)))
		return 0;
	addr += sizeof(head) + (uint64_t)head[2] * 8;
	chains = addr + (uint64_t)head[0] * 4;
	for (i = 0; i < head[0]; i++) {
		if (!file_read_vaddr(f, addr + (uint64_t)i * 4, &bucket, 4))
			return 0;
		if (bucket > last)
			last = bucket;
	}
	if (last < head[1])
		return head[1];
	do {
		if (!file_read_vaddr(f, chains + (uint64_t)(last - head[1]) * 4, &word,
				     4))
			return 0;
		last++;
	} while (!(word & 1));
	return last;
}

static uint64_t count_symbols(struct image_file *f, const struct dynamic *d)
{
	uint32_t head[2];
	uint64_t n = 0;

	if (d->hash && file_read_vaddr(f, d->hash, head, sizeof(head)))
		n = head[1];
	if (!n && d->gnu_hash)
		n = gnu_hash_count(f, d->gnu_hash);
	if (n > f->size / sizeof(Elf64_Sym))
		n = f->size / sizeof(Elf64_Sym);
	return n;
}

static int add_symbol(struct image_file *f, const Elf64_Sym *es, const char *strings,
		      uint64_t strsz)
{
	struct image_sym sym = {};

	sym.type = ELF64_ST_TYPE(es->st_info);
	sym.bind = ELF64_ST_BIND(es->st_info);
	if (es->st_shndx == SHN_UNDEF || es->st_name >= strsz || !strings[es->st_name] ||
	    (sym.type != STT_FUNC && sym.type != STT_GNU_IFUNC) ||
	    !file_is_code(f, es->st_value))
		return 0;
	sym.start = es->st_value;
	sym.size = es->st_size > UINT64_MAX - es->st_value ? 0 : es->st_size;
	sym.raw = strings + es->st_name;
	return symtab_add(&f->symtab, &sym);
}

int dynsym_load(struct image_file *f)
{
	struct image_symtab *t = &f->symtab;
	struct dynamic d = {};
	char *strings, **owned;
	uint64_t i, n;
	Elf64_Sym es;
	int ret = 0;

	if (f->bits != 64 || !read_dynamic(f, &d) || d.strsz > f->size ||
	    d.strsz > IMAGE_TABLE_MAX)
		return 0;
	strings = malloc(d.strsz + 1);
	owned = realloc(t->owned, (t->nowned + 1) * sizeof(*owned));
	if (owned)
		t->owned = owned;
	if (!strings || !owned) {
		free(strings);
		return -ENOMEM;
	}
	t->owned_room = t->nowned + 1;
	t->owned[t->nowned++] = strings;
	if (!file_read_vaddr(f, d.strtab, strings, d.strsz))
		return 0;
	strings[d.strsz] = 0;
	n = count_symbols(f, &d);
	for (i = 1; i < n && !ret; i++) {
		if (!file_read_vaddr(f, d.symtab + i * sizeof(es), &es, sizeof(es)))
			break;
		ret = add_symbol(f, &es, strings, d.strsz);
	}
	return ret;
}
