/* SPDX-License-Identifier: BSD-2-Clause */
#include "kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIGNMENT	4096u
#define ALIGNED(n)	(((n) + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1))
#define OBJECT_MAX	(1ull << 30)	/* bytes; the kernel's text has an eighth of it */
#define OBJECTS_MAX	(PN_XNUM - 1)

struct kcore {
	struct perfdata	*file;
	int		core, symbols, modules;
	Elf64_Phdr	*object;	/* OBJECTS_MAX: their code's place in the core file */
	unsigned int	n;
	void		*by_address;	/* tsearch(3) */
};

static int write_at(int fd, const void *data, size_t n, uint64_t offset)
{
	const char *p = data;
	ssize_t done;

	for (; n; p += done, n -= (size_t)done, offset += (uint64_t)done) {
		done = pwrite(fd, p, n, (off_t)offset);
		if (done < 0 && errno != EINTR)
			return -errno;
		done = done < 0 ? 0 : done;
	}
	return 0;
}

/* Objects do not overlap: what does is equal. */
static int compare(const void *one, const void *other)
{
	const Elf64_Phdr *a = one, *b = other;

	if (a->p_vaddr + a->p_memsz <= b->p_vaddr)
		return -1;
	return b->p_vaddr + b->p_memsz <= a->p_vaddr;
}

static Elf64_Phdr *find(struct kcore *k, uint64_t addr, uint64_t len)
{
	const Elf64_Phdr key = {.p_vaddr = addr, .p_memsz = len};
	Elf64_Phdr **found = tfind(&key, &k->by_address, compare);

	return found ? *found : NULL;
}

/* As lsmod's file has them: "name size references by state address". */
static int write_module(struct kcore *k, const struct hwt_rec_kernel *o)
{
	size_t n = strcspn(o->path, "]");

	if (o->path[0] != '[' || !o->path[n] || strpbrk(o->path, " \n"))
		return 0;
	return dprintf(k->modules, "%.*s %llu 0 - Live 0x%016llx\n", (int)n - 1, o->path + 1,
		       (unsigned long long)o->len, (unsigned long long)o->addr) < 0 ? -errno : 0;
}

/* A module in the place of one that has gone is left out: perf knows no such times. */
static int add_object(struct kcore *k, const struct hwt_rec_kernel *o)
{
	Elf64_Phdr *added = &k->object[k->n], **found;

	if (!o->len || o->len > OBJECT_MAX || o->addr + o->len < o->addr ||
	    k->n == OBJECTS_MAX)
		return 0;
	*added = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = o->addr,
		.p_filesz = o->len, .p_memsz = o->len, .p_align = ALIGNMENT,
	};
	found = tsearch(added, &k->by_address, compare);
	if (!found)
		return -ENOMEM;
	if (*found != added)
		return 0;
	k->n++;
	return write_module(k, o);
}

static int add_code(struct kcore *k, const struct hwt_rec_code *c)
{
	Elf64_Phdr *o = find(k, c->addr, c->len);

	if (!o || c->addr < o->p_vaddr || c->addr - o->p_vaddr + c->len > o->p_memsz)
		return 0;
	return write_at(k->core, c->bytes, c->len, o->p_offset + c->addr - o->p_vaddr);
}

/* Each text of symbols is whole: the last one counts. */
static int put_symbols(struct kcore *k, const char *text, size_t n)
{
	int err = write_at(k->symbols, text, n, 0);

	if (!err && ftruncate(k->symbols, (off_t)n))
		err = -errno;
	return err;
}

static int take_object(struct kcore *k, const struct perfdata_event *ev)
{
	if (ev->type == PERFDATA_SYMBOLS)
		return put_symbols(k, ev->symbols.text, ev->symbols.n);
	if (ev->type == PERFDATA_HWT && ev->rec->type == HWT_REC_KERNEL)
		return add_object(k, (const struct hwt_rec_kernel *)(ev->rec + 1));
	return 0;
}

static int take_code(struct kcore *k, const struct perfdata_event *ev)
{
	if (ev->type == PERFDATA_HWT && ev->rec->type == HWT_REC_CODE && !ev->rec->pid)
		return add_code(k, (const struct hwt_rec_code *)(ev->rec + 1));
	return 0;
}

/* The whole file; what is beyond damage is as if it were not there. */
static int each(struct kcore *k, int (*take)(struct kcore *, const struct perfdata_event *))
{
	struct perfdata_event ev;
	int n, err = 0;

	perfdata_rewind(k->file);
	while (!err && (n = perfdata_next(k->file, &ev)) > 0)
		err = take(k, &ev);
	return err ? err : n == -ENOMEM ? n : 0;
}

static int write_headers(struct kcore *k)
{
	const char *arch = perfdata_info(k->file)->arch;
	size_t size = k->n * sizeof(*k->object);
	Elf64_Ehdr e = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = arch && !strcmp(arch, "aarch64") ? EM_AARCH64 : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(e),
		.e_ehsize = sizeof(e),
		.e_phentsize = sizeof(*k->object),
		.e_phnum = (Elf64_Half)k->n,
	};
	uint64_t offset = ALIGNED(sizeof(e) + size);
	unsigned int i;
	int err;

	for (i = 0; i < k->n; i++) {
		k->object[i].p_offset = offset;
		offset += ALIGNED(k->object[i].p_filesz);
	}
	err = write_at(k->core, &e, sizeof(e), 0);
	if (!err)
		err = write_at(k->core, k->object, size, sizeof(e));
	/* Code that could not be read is zero. */
	return err ? err : ftruncate(k->core, (off_t)offset) ? -errno : 0;
}

/* The first error is kept. */
static int create(int folder, const char *name, int *err)
{
	int fd = *err ? -1 : openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 && !*err)
		*err = -errno;
	return fd;
}

static void finish(int fd, int *err)
{
	if (fd >= 0 && close(fd) && !*err)
		*err = -errno;
}

static void leave(void *object)
{
}

int kcore_write(struct perfdata *p, int folder)
{
	struct kcore k = {.file = p};
	int err;

	k.object = calloc(OBJECTS_MAX, sizeof(*k.object));
	err = k.object ? 0 : -ENOMEM;

	k.core = create(folder, "kcore", &err);
	k.symbols = create(folder, "kallsyms", &err);
	k.modules = create(folder, "modules", &err);
	if (!err)
		err = each(&k, take_object);
	if (!err && !k.n)
		err = -ENODATA;
	if (!err)
		err = write_headers(&k);
	if (!err)
		err = each(&k, take_code);
	finish(k.core, &err);
	finish(k.symbols, &err);
	finish(k.modules, &err);
	tdestroy(k.by_address, leave);
	free(k.object);
	return err;
}
