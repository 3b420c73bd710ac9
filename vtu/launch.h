/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a program is started under the virtual trace unit: the command line and
 * environment of the QEMU that runs it.  Used by the embedded host for the
 * first program and by the plugin when a traced process calls execve.
 */
#ifndef VTU_LAUNCH_H
#define VTU_LAUNCH_H

#include <stddef.h>

/* First byte of an environment name that only the guest may see. */
#define VTU_ENV_MARK	'\x01'
/*
 * The first bytes that a mark can stand for, by what follows it: names below
 * without their first byte are unique, so a marked name is restored by
 * vtu_env_restore.
 */

#define VTU_NAME_MAX	15	/* TASK_COMM_LEN - 1 */

/* A machine whose programs can be run. */
struct vtu_machine {
	unsigned int	elf;		/* e_machine */
	const char	*name;		/* as people call it */
	const char	*qemu;		/* the emulator's file name */
	const char	*cpu;		/* its option -cpu */
	const char	*sysroot;	/* where its libraries are on Debian, or NULL */
};
/* NULL: none of ours. */
const struct vtu_machine *vtu_machine(unsigned int elf);
/*
 * The folder that holds the libraries of a foreign machine's programs, as QEMU looks
 * for it: $QEMU_LD_PREFIX, or Debian's if it is there; NULL: none.
 */
const char *vtu_sysroot(const struct vtu_machine *machine);

struct vtu_launch {
	const char	*qemu;		/* path of the emulator */
	const char	*sysroot;	/* its option -L, or NULL */
	const char	*plugin;	/* path of the plugin; commas are allowed */
	int		owner_pid, window_fd, dram_fd;
	int		exec_tid;	/* at exec: the caller's tid; else 0 */
	const char	*preload;	/* into the emulator itself, or NULL (tests) */
	const char	*path;		/* program, as execve would get it */
	const char	*name;		/* what names the thread instead of path; or NULL */
	char *const	*argv;		/* as execve would get it */
	char *const	*envp;
	/* results */
	char		**qemu_argv, **qemu_envp;
	char		*image;		/* the ELF file (script: its interpreter) */
	unsigned int	elf;		/* its e_machine; 0: not known */
	char		**args;		/* the program's own, between the two steps */
	size_t		nargs;
};

/*
 * Resolves #! lines as execve(2) does: image and elf, which say what emulator is
 * wanted.  0, or -errno as execve would fail (-ENOENT, -EACCES, -ENOEXEC, -ELOOP,
 * -ENOMEM, ...); -ENOTSUP: an ELF file that none of our machines runs (image
 * names it).  Free with vtu_launch_free either way.
 */
int vtu_launch_resolve(struct vtu_launch *l);
/* Then, with qemu and sysroot set: the command line and environment. -ENOMEM. */
int vtu_launch_build(struct vtu_launch *l);
void vtu_launch_free(struct vtu_launch *l);

/* Restores a marked "NAME=value" in place; returns 1 if it was marked. */
int vtu_env_restore(char *entry);

#endif
