/* SPDX-License-Identifier: BSD-2-Clause */
/* What of an ELF program's file decides whether the emulator can begin with it. */
#ifndef VTU_PROGRAM_H
#define VTU_PROGRAM_H

#include <limits.h>
#include <stddef.h>

#define VTU_PROGRAM_WHY	(2 * PATH_MAX + 64)	/* room for why */

/*
 * 0, or why not, in words as well: -ENOENT: its interpreter is not there, neither below
 * sysroot (NULL or "": none) nor as it is; -ENOEXEC: it is a library without an entry
 * point, or lacks pages of its segments.  QEMU would crash, or the program would at once.
 */
int vtu_program_check(const char *path, const char *sysroot, char *why, size_t size);

#endif
