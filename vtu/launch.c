// SPDX-License-Identifier: BSD-2-Clause
#include "launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPT_DEPTH	5	/* BINPRM: nested interpreters, as Linux allows */
#define SCRIPT_LINE	256	/* BINPRM_BUF_SIZE */
#define FIXED_ARGS	12	/* qemu -U name -cpu X -L X -plugin X -0 argv0 path */

static const struct vtu_machine machines[] = {
	{EM_X86_64, "x86-64", "qemu-x86_64", "max", NULL},
	/* Pointer authentication by a hash that costs little to compute. */
	{EM_AARCH64, "AArch64", "qemu-aarch64", "max,pauth-impdef=on",
	 "/usr/aarch64-linux-gnu"},
};

const struct vtu_machine *vtu_machine(unsigned int elf)
{
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].elf == elf)
			return &machines[i];
	return NULL;
}

const char *vtu_sysroot(const struct vtu_machine *machine)
{
	const char *given = getenv("QEMU_LD_PREFIX");

	if (!machine->sysroot)
		return NULL;
	if (given && *given)
		return given;
	return access(machine->sysroot, X_OK) ? NULL : machine->sysroot;
}

/*
 * Variables that would act on QEMU itself: its dynamic linker, its libc, its
 * glib, its own options.
 */
static const char *const guest_only[] = {
	"LD_", "GLIBC_TUNABLES=", "MALLOC_", "QEMU_", "G_", "GCONV_PATH=",
	"LOCPATH=", "NLSPATH=",
};
#define NGUEST_ONLY (sizeof(guest_only) / sizeof(guest_only[0]))

static int env_is_guest_only(const char *entry)
{
	size_t i;

	for (i = 0; i < NGUEST_ONLY; i++)
		if (!strncmp(entry, guest_only[i], strlen(guest_only[i])))
			return 1;
	return 0;
}

int vtu_env_restore(char *entry)
{
	size_t i;

	if (entry[0] != VTU_ENV_MARK)
		return 0;
	for (i = 0; i < NGUEST_ONLY; i++) {
		if (!strncmp(entry + 1, guest_only[i] + 1, strlen(guest_only[i]) - 1)) {
			entry[0] = guest_only[i][0];
			return 1;
		}
	}
	return 0;
}

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* The first bytes of an executable regular file, and its size: how many, or -errno. */
static ssize_t read_head(const char *path, unsigned char *head, size_t size, uint64_t *whole)
{
	struct stat st;
	ssize_t n;
	int fd, err;

	if (stat(path, &st) < 0)
		return -errno;
	*whole = (uint64_t)st.st_size;
	if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return -EACCES;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = pread(fd, head, size, 0);
	err = errno;
	close(fd);
	return n < 0 ? -err : n;
}

static int check_elf(const unsigned char *head, ssize_t n, uint64_t size,
		     unsigned int *machine)
{
	Elf64_Ehdr eh;

	if (n < (ssize_t)sizeof(eh) || memcmp(head, ELFMAG, SELFMAG))
		return -ENOEXEC;
	memcpy(&eh, head, sizeof(eh));
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    !vtu_machine(eh.e_machine))
		return -ENOTSUP;
	*machine = eh.e_machine;
	if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)
		return -ENOEXEC;
	/* A file that is cut before its program headers: QEMU would crash. */
	if (eh.e_phoff > size || eh.e_phnum * sizeof(Elf64_Phdr) > size - eh.e_phoff)
		return -ENOEXEC;
	return 0;
}

/* "#! interp arg" in head: *interp and *arg point into it; -ENOEXEC if empty. */
static int parse_script(char *head, ssize_t n, char **interp, char **arg)
{
	char *end;

	head[n] = 0;
	end = strchr(head, '\n');
	if (!end)
		end = head + strlen(head);
	*end = 0;
	while (end > head && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = 0;
	*interp = head + 2 + strspn(head + 2, " \t");
	if (!**interp)
		return -ENOEXEC;
	*arg = *interp + strcspn(*interp, " \t");
	if (**arg) {
		*(*arg)++ = 0;
		*arg += strspn(*arg, " \t");
	}
	if (!**arg)
		*arg = NULL;
	return 0;
}

/* Takes the program's argument list, growing at its front for each script. */
struct args {
	char	**v;		/* strings owned */
	size_t	n;
};

static int args_push_front(struct args *a, const char *s)
{
	char **v = realloc(a->v, (a->n + 2) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	a->v = v;
	memmove(v + 1, v, a->n * sizeof(*v));
	v[0] = strdup(s);
	if (!v[0]) {
		memmove(v, v + 1, a->n * sizeof(*v));
		return -ENOMEM;
	}
	v[++a->n] = NULL;
	return 0;
}

static int args_copy(struct args *a, char *const *argv)
{
	size_t i;
	int err = 0;

	for (i = count(argv); i > 0 && !err; i--)
		err = args_push_front(a, argv[i - 1]);
	if (!err && !a->n)	/* as Linux does for an empty list */
		err = args_push_front(a, "");
	return err;
}

/* Replaces `#!` by its interpreter, up to SCRIPT_DEPTH times (execve(2)). */
static int resolve(struct vtu_launch *l, struct args *a)
{
	unsigned char head[SCRIPT_LINE + 1];
	uint64_t size = 0;
	char *interp, *arg, *old;
	int depth, err;
	ssize_t n;

	l->image = strdup(l->path);
	if (!l->image)
		return -ENOMEM;
	for (depth = 0; depth <= SCRIPT_DEPTH; depth++) {
		n = read_head(l->image, head, SCRIPT_LINE, &size);
		if (n < 0)
			return (int)n;
		if (n < 2 || head[0] != '#' || head[1] != '!')
			return check_elf(head, n, size, &l->elf);
		err = parse_script((char *)head, n, &interp, &arg);
		if (err)
			return err;
		/* argv[0] of the script gives way to its path. */
		free(a->v[0]);
		a->v[0] = strdup(l->image);
		if (!a->v[0])
			return -ENOMEM;
		if (arg && args_push_front(a, arg))
			return -ENOMEM;
		if (args_push_front(a, interp))
			return -ENOMEM;
		old = l->image;
		l->image = strdup(interp);
		free(old);
		if (!l->image)
			return -ENOMEM;
	}
	return -ELOOP;
}

/*
 * The thread's name as the kernel makes it, from the name that was executed: a link's
 * own, a script's own.  In hexadecimal, for it may hold anything.
 */
static void add_name(const struct vtu_launch *l, char *o)
{
	const char *name = l->name ? l->name : l->path, *slash = strrchr(name, '/');
	int i;

	name = slash ? slash + 1 : name;
	if (*name)
		o = stpcpy(o, ",name=");
	for (i = 0; i < VTU_NAME_MAX && name[i]; i++)
		o += sprintf(o, "%02x", (unsigned char)name[i]);
}

/* QEMU's option parser takes a doubled comma for one. */
static char *plugin_option(const struct vtu_launch *l)
{
	size_t n = 2 * strlen(l->plugin) + 192;
	char *s = malloc(n), *o = s;
	const char *p;

	if (!s)
		return NULL;
	for (p = l->plugin; *p; p++) {
		*o++ = *p;
		if (*p == ',')
			*o++ = ',';
	}
	snprintf(o, n - (size_t)(o - s), ",owner=%d,window=%d,dram=%d", l->owner_pid,
		 l->window_fd, l->dram_fd);
	o += strlen(o);
	if (l->exec_tid)
		o += sprintf(o, ",exec=%d", l->exec_tid);
	add_name(l, o);
	return s;
}

static int build_argv(struct vtu_launch *l)
{
	char *plugin = plugin_option(l), **v = calloc(FIXED_ARGS + l->nargs + 1, sizeof(*v));
	/* With -U the program does not see what was preloaded into the emulator. */
	const char *fixed[FIXED_ARGS] = {
		l->qemu, "-U", "LD_PRELOAD", "-cpu", vtu_machine(l->elf)->cpu,
		l->sysroot ? "-L" : NULL, l->sysroot, "-plugin", plugin, "-0", l->args[0],
		l->image,
	};
	size_t i, n = 0;
	int err = v && plugin ? 0 : -ENOMEM;

	l->qemu_argv = v;
	for (i = 0; !err && i < FIXED_ARGS; i++) {
		if (!fixed[i])
			continue;
		v[n] = strdup(fixed[i]);
		if (!v[n++])
			err = -ENOMEM;
	}
	for (i = 1; !err && i < l->nargs; i++) {
		v[n++] = l->args[i];
		l->args[i] = NULL;
	}
	free(plugin);
	return err;
}

static int build_envp(struct vtu_launch *l)
{
	size_t i, n = count(l->envp);

	l->qemu_envp = calloc(n + 2, sizeof(char *));
	if (!l->qemu_envp)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		char *s = strdup(l->envp[i]);

		if (!s)
			return -ENOMEM;
		if (env_is_guest_only(s))
			s[0] = VTU_ENV_MARK;
		l->qemu_envp[i] = s;
	}
	if (l->preload && asprintf(&l->qemu_envp[n], "LD_PRELOAD=%s", l->preload) < 0) {
		l->qemu_envp[n] = NULL;
		return -ENOMEM;
	}
	return 0;
}

int vtu_launch_resolve(struct vtu_launch *l)
{
	struct args a = {0};
	int err;

	l->qemu_argv = l->qemu_envp = NULL;
	l->image = NULL;
	l->elf = 0;
	err = args_copy(&a, l->argv);
	if (!err)
		err = resolve(l, &a);
	l->args = a.v;
	l->nargs = a.n;
	return err;
}

int vtu_launch_build(struct vtu_launch *l)
{
	int err = build_argv(l);

	return err ? err : build_envp(l);
}

static void free_list(char **v)
{
	size_t i;

	for (i = 0; v && v[i]; i++)
		free(v[i]);
	free(v);
}

void vtu_launch_free(struct vtu_launch *l)
{
	size_t i;

	free_list(l->qemu_argv);
	free_list(l->qemu_envp);
	for (i = 0; i < l->nargs; i++)
		free(l->args[i]);
	free(l->args);
	free(l->image);
	l->qemu_argv = l->qemu_envp = l->args = NULL;
	l->nargs = 0;
	l->image = NULL;
}
