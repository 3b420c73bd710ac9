// SPDX-License-Identifier: BSD-2-Clause
/*
 * The vDSO is in no file: the kernel maps it into every process.  A recording
 * of this boot's kernel finds it in our own process; the build-id, which a
 * recording has to give for it, tells whether that is so.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include "image_priv.h"

#define VDSO_MAX (1u << 20)

/* Bytes mapped at addr, as /proc/self/maps has it; 0: nothing. */
static size_t mapped_at(unsigned long addr)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512];
	size_t n = 0;

	while (maps && !n && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start == addr)
			n = end - start;
	}
	if (maps)
		fclose(maps);
	return n;
}

int vdso_open(void)
{
	unsigned long addr = getauxval(AT_SYSINFO_EHDR);
	size_t n = addr ? mapped_at(addr) : 0;
	int fd;

	if (!n || n > VDSO_MAX)
		return -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, (const void *)addr, n) == (ssize_t)n)
		return fd;
	close(fd);
	return -EIO;
}
