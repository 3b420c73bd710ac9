/* SPDX-License-Identifier: BSD-2-Clause */
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096ull

struct program {
	int fd;
	uint64_t size;
	const char *sysroot;
	bool dynamic;
	char *why;
	size_t room;
};

static bool read_all(const struct program *p, void *out, size_t n, uint64_t offset)
{
	return pread(p->fd, out, n, (off_t)offset) == (ssize_t)n;
}

/* A page that the file ends in is filled up with zeros; one behind it is a SIGBUS. */
static int check_load(const struct program *p, const Elf64_Phdr *ph)
{
	uint64_t last = ph->p_offset + ph->p_filesz - 1;

	if (!ph->p_filesz || (last >= ph->p_offset && last / PAGE * PAGE < p->size))
		return 0;
	snprintf(p->why, p->room,
		 "cut short: a segment ends at offset %llu, the file at %llu",
		 (unsigned long long)last + 1, (unsigned long long)p->size);
	return -ENOEXEC;
}

static int check_interpreter(const struct program *p, const Elf64_Phdr *ph)
{
	char name[PATH_MAX] = "", below[2 * PATH_MAX];

	if (ph->p_filesz >= sizeof(name) ||
	    !read_all(p, name, ph->p_filesz, ph->p_offset))
		return 0;
	snprintf(below, sizeof(below), "%s%s", p->sysroot, name);
	if (!access(below, X_OK) || !access(name, X_OK))
		return 0;
	snprintf(p->why, p->room, "its interpreter %s is not there%s%s", name,
		 *p->sysroot ? ", nor below " : "", p->sysroot);
	return -ENOENT;
}

static int check_segment(struct program *p, const Elf64_Phdr *ph)
{
	switch (ph->p_type) {
	case PT_LOAD:
		return check_load(p, ph);
	case PT_INTERP:
		return check_interpreter(p, ph);
	case PT_DYNAMIC:
		p->dynamic = true;
	}
	return 0;
}

static int check(struct program *p)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	int i, err = 0;

	if (!read_all(p, &eh, sizeof(eh), 0))
		return 0;
	for (i = 0; i < eh.e_phnum && !err; i++)
		if (read_all(p, &ph, sizeof(ph), eh.e_phoff + (uint64_t)i * sizeof(ph)))
			err = check_segment(p, &ph);
	if (err || eh.e_type != ET_DYN || eh.e_entry || !p->dynamic)
		return err;
	snprintf(p->why, p->room, "a library: it has no entry point");
	return -ENOEXEC;
}

int vtu_program_check(const char *path, const char *sysroot, char *why, size_t size)
{
	struct program p = {
		.fd = open(path, O_RDONLY | O_CLOEXEC),
		.sysroot = sysroot ? sysroot : "",
		.why = why,
		.room = size,
	};
	struct stat sb;
	int err = 0;

	if (p.fd < 0)
		return 0; /* whoever starts it says so */
	if (!fstat(p.fd, &sb)) {
		p.size = (uint64_t)sb.st_size;
		err = check(&p);
	}
	close(p.fd);
	return err;
}
