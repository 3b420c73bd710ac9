// SPDX-License-Identifier: BSD-2-Clause
/* ELF headers: program headers, build-id, and what a file is. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "image_priv.h"

Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	const char *s;
	size_t shstrndx;

	if (elf_getshdrstrndx(elf, &shstrndx))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, shdr))
			continue;
		s = elf_strptr(elf, shstrndx, shdr->sh_name);
		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

Elf_Data *elf_section_data(Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data;

	if (shdr->sh_type == SHT_NOBITS || shdr->sh_flags & SHF_COMPRESSED ||
	    !shdr->sh_size || shdr->sh_size > IMAGE_TABLE_MAX)
		return NULL;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

/* Finds NT_GNU_BUILD_ID among notes. */
static size_t notes_build_id(Elf_Data *data, uint8_t *out, size_t max)
{
	size_t pos = 0, next, name, desc;
	GElf_Nhdr nhdr;

	while ((next = gelf_getnote(data, pos, &nhdr, &name, &desc)) > 0) {
		pos = next;
		if (nhdr.n_type != NT_GNU_BUILD_ID || nhdr.n_namesz != 4 ||
		    !nhdr.n_descsz || name + 4 > data->d_size ||
		    memcmp((char *)data->d_buf + name, "GNU", 4))
			continue;
		if (desc > data->d_size || nhdr.n_descsz > data->d_size - desc ||
		    nhdr.n_descsz > max)
			continue;
		memcpy(out, (char *)data->d_buf + desc, nhdr.n_descsz);
		return nhdr.n_descsz;
	}
	return 0;
}

static Elf_Data *note_data(Elf *elf, uint64_t offset, uint64_t size, uint64_t align)
{
	/* libelf checks the range against the file's size. */
	if (!size || size > IMAGE_TABLE_MAX || offset > INT64_MAX)
		return NULL;
	return elf_getdata_rawchunk(elf, (int64_t)offset, size,
				    align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
}

size_t elf_build_id_of(Elf *elf, uint8_t *out, size_t max)
{
	size_t n, i, got;
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Phdr ph;
	GElf_Shdr sh;

	if (!elf_getphdrnum(elf, &n)) {
		for (i = 0; i < n && i < IMAGE_PHDRS_MAX; i++) {
			if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE)
				continue;
			data = note_data(elf, ph.p_offset, ph.p_filesz, ph.p_align);
			got = data ? notes_build_id(data, out, max) : 0;
			if (got)
				return got;
		}
	}
	/* Relocatable files have sections only. */
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE)
			continue;
		data = elf_section_data(scn, &sh);
		got = data ? notes_build_id(data, out, max) : 0;
		if (got)
			return got;
	}
	return 0;
}

static void load_phdrs(struct image_file *f)
{
	size_t n, i;
	GElf_Phdr ph;

	if (elf_getphdrnum(f->elf, &n) || !n)
		return;
	if (n > IMAGE_PHDRS_MAX)
		n = IMAGE_PHDRS_MAX;
	f->phdr = calloc(n, sizeof(*f->phdr));
	if (!f->phdr) {
		f->err = -ENOMEM;
		return;
	}
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(f->elf, (int)i, &ph))
			break;
		f->phdr[i] = (struct image_phdr){
			.offset = ph.p_offset,
			.vaddr = ph.p_vaddr,
			.filesz = ph.p_filesz,
			.memsz = ph.p_memsz,
			.align = ph.p_align,
			.type = ph.p_type,
			.flags = ph.p_flags,
		};
		/* A segment cannot hold bytes that the file has not. */
		if (ph.p_offset > f->size)
			f->phdr[i].filesz = 0;
		else if (ph.p_filesz > f->size - ph.p_offset)
			f->phdr[i].filesz = f->size - ph.p_offset;
		f->nphdr = i + 1;
	}
}

void elf_file_load(struct image_file *f)
{
	GElf_Ehdr eh;

	/* Not mapped: a file that shrinks meanwhile must not end in SIGBUS. */
	f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
	if (!f->elf)
		return;
	if (elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &eh)) {
		elf_end(f->elf);
		f->elf = NULL;
		return;
	}
	f->machine = eh.e_machine;
	f->elf_type = eh.e_type;
	f->bits = gelf_getclass(f->elf) == ELFCLASS64 ? 64 : 32;
	load_phdrs(f);
	f->build_id_size = elf_build_id_of(f->elf, f->build_id, sizeof(f->build_id));
}

int elf_ask(const char *path, int (*ask)(struct image_file *f, void *ctx), void *ctx)
{
	struct image_store *st = image_store_new(NULL);
	struct image_file *f = st ? file_open(st, path) : NULL;
	int ret = -ENOMEM;

	if (f && f->err)
		ret = f->err;
	else if (f)
		ret = f->elf ? ask(f, ctx) : -ENOEXEC;
	file_close(f);
	image_store_free(st);
	return ret;
}

struct build_id_room {
	uint8_t *out;
	size_t max;
};

static int build_id(struct image_file *f, void *ctx)
{
	struct build_id_room *room = ctx;

	if (f->build_id_size > room->max)
		return -ENOSPC;
	memcpy(room->out, f->build_id, f->build_id_size);
	return (int)f->build_id_size;
}

int image_build_id(const char *path, uint8_t *out, size_t max)
{
	return elf_ask(path, build_id, &(struct build_id_room){out, max});
}

struct offset {
	uint64_t pgoff, *vaddr;
};

static int offset_to_vaddr(struct image_file *f, void *ctx)
{
	struct offset *o = ctx;

	return file_offset_to_vaddr(f, o->pgoff, o->pgoff, o->vaddr) ? 0 : -ENOENT;
}

int image_offset_to_vaddr(const char *path, uint64_t pgoff, uint64_t *vaddr)
{
	return elf_ask(path, offset_to_vaddr, &(struct offset){pgoff, vaddr});
}

static const struct {
	int machine;
	const char *name;
} machines[] = {
	{EM_386, "Intel 80386"},  {EM_X86_64, "x86-64"}, {EM_ARM, "Arm"},
	{EM_AARCH64, "AArch64"},  {EM_RISCV, "RISC-V"},	 {EM_PPC64, "PowerPC64"},
	{EM_PPC, "PowerPC"},	  {EM_S390, "S/390"},	 {EM_MIPS, "MIPS"},
	{EM_SPARCV9, "SPARC V9"}, {EM_IA_64, "IA-64"},	 {EM_LOONGARCH, "LoongArch"},
};

static const char *const elf_types[] = {
	[ET_REL] = "object file",
	[ET_EXEC] = "executable",
	[ET_DYN] = "shared object or PIE",
	[ET_CORE] = "core dump",
};

static void describe_elf(const struct image_file *f, char *buf, size_t n)
{
	const char *type = "file", *order;
	char number[32];
	const char *machine = number;
	GElf_Ehdr eh;
	size_t i;

	snprintf(number, sizeof(number), "machine %d", f->machine);
	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].machine == f->machine)
			machine = machines[i].name;
	}
	if (f->elf_type > 0 && f->elf_type <= ET_CORE)
		type = elf_types[f->elf_type];
	order = gelf_getehdr(f->elf, &eh) && eh.e_ident[EI_DATA] == ELFDATA2MSB
			? " big-endian"
			: "";
	/* x32: 64-bit machine, 32-bit addresses; no target of ours. */
	snprintf(buf, n, "ELF %d-bit %s%s %s", f->bits, machine, order, type);
}

static const struct {
	const char *magic;
	uint8_t len;
	const char *what;
} magics[] = {
	{"#!", 2, "script"},
	{"MZ", 2, "DOS or Windows program"},
	{"\xca\xfe\xba\xbe", 4, "Mach-O or Java class file"},
	{"\xcf\xfa\xed\xfe", 4, "Mach-O file"},
	{"!<arch>\n", 8, "archive"},
	{"PERFILE2", 8, "perf.data file"},
	{"\x1f\x8b", 2, "gzip file"},
};

static void describe_other(struct image_file *f, char *buf, size_t n)
{
	uint8_t head[16];
	size_t got = file_bytes(f, 0, head, sizeof(head)), i;

	if (!f->size) {
		snprintf(buf, n, "empty file");
		return;
	}
	if (got >= 4 && !memcmp(head, ELFMAG, SELFMAG)) {
		snprintf(buf, n, "damaged ELF file");
		return;
	}
	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (got >= magics[i].len &&
		    !memcmp(head, magics[i].magic, magics[i].len)) {
			snprintf(buf, n, "%s", magics[i].what);
			return;
		}
	}
	snprintf(buf, n, "not an ELF file");
}

int image_describe(const char *path, char *buf, size_t n, int *machine, int *bits)
{
	struct image_store *st = image_store_new(NULL);
	struct image_file *f = st ? file_open(st, path) : NULL;
	int ret = f ? f->err : -ENOMEM;

	*machine = f ? f->machine : 0;
	*bits = f ? f->bits : 0;
	if (!f || f->err)
		snprintf(buf, n, "%s", ret == -EISDIR ? "directory" : strerror(-ret));
	else if (f->elf)
		describe_elf(f, buf, n);
	else
		describe_other(f, buf, n);
	file_close(f);
	image_store_free(st);
	return ret;
}
