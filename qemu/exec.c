// SPDX-License-Identifier: BSD-2-Clause
/*
 * execve: QEMU's own would run the new program natively, untraced.  We run the
 * emulator again instead, with the plugin, in the same process.
 */
#include "process.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code.h"
#include "window.h"
#include "../vtu/program.h"

#define MAX_STRINGS	(1u << 20)
#define MAX_STRING	(128u * 1024)	/* MAX_ARG_STRLEN */

static void free_strings(char **v)
{
	size_t i;

	for (i = 0; v && v[i]; i++)
		free(v[i]);
	free(v);
}

/* One string of the guest's; NULL: it has none there. */
static char *copy_string(uint64_t addr)
{
	char *s, *buf = malloc(MAX_STRING + 1);

	if (!buf)
		return NULL;
	s = guest_read_string(addr, buf, MAX_STRING + 1) ? strdup(buf) : NULL;
	free(buf);
	return s;
}

/* The guest's NULL-ended array of strings at addr; NULL: not readable. */
static char **copy_strings(uint64_t addr)
{
	size_t n = 0, room = 16;
	char **v = calloc(room, sizeof(*v)), **more;
	uint64_t p;

	for (; v && addr; addr += 8, n++) {
		if (!guest_read(addr, &p, sizeof(p)) || n == MAX_STRINGS)
			goto unreadable;
		if (!p)
			break;
		if (n + 2 > room) {
			more = realloc(v, 2 * room * sizeof(*v));
			if (!more)
				goto unreadable;
			memset(more + room, 0, room * sizeof(*v));
			v = more;
			room *= 2;
		}
		v[n] = copy_string(p);
		if (!v[n])
			goto unreadable;
	}
	return v;
unreadable:
	free_strings(v);
	return NULL;
}

/* QEMU hands the environment to its program in reverse: undo that beforehand. */
static void reverse(char **v)
{
	size_t i, n = 0;
	char *t;

	while (v[n])
		n++;
	for (i = 0; i < n / 2; i++) {
		t = v[i];
		v[i] = v[n - 1 - i];
		v[n - 1 - i] = t;
	}
}

/* The program under the emulator, where it asks for itself. */
static bool is_own_exe(const char *path)
{
	char pid[64];

	snprintf(pid, sizeof(pid), "/proc/%d/exe", vtu.pid);
	return !strcmp(path, "/proc/self/exe") ||
	       !strcmp(path, "/proc/thread-self/exe") || !strcmp(path, pid);
}

/* A path that means the same after exec, when descriptors may be closed. */
static bool resolve_path(int dirfd, const char *given, int flags, char out[PATH_MAX])
{
	char link[64], dir[PATH_MAX];
	ssize_t n;

	if (is_own_exe(given))
		return snprintf(out, PATH_MAX, "%s", process_program) < PATH_MAX;
	if (given[0] == '/' || (dirfd == AT_FDCWD && given[0]))
		return snprintf(out, PATH_MAX, "%s", given) < PATH_MAX;
	if (!given[0] && !(flags & AT_EMPTY_PATH))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd);
	n = readlink(link, dir, sizeof(dir) - 1);
	if (n <= 0)
		return false;
	dir[n] = 0;
	if (given[0])
		return snprintf(out, PATH_MAX, "%s/%s", dir, given) < PATH_MAX;
	snprintf(out, PATH_MAX, "%s", dir);
	return !access(out, X_OK);
}

static int machine_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr eh = {0};

	if (fd < 0 || pread(fd, &eh, sizeof(eh), 0) != sizeof(eh))
		eh.e_machine = 0;
	if (fd >= 0)
		close(fd);
	return eh.e_machine;
}

/* A guest's own call then says that there is no interpreter; what is cut crashes. */
static bool lacks_interpreter(const char *path)
{
	char why[VTU_PROGRAM_WHY];

	return vtu_program_check(path, vtu.window->sysroot, why, sizeof(why)) == -ENOENT;
}

static void tell_native(struct vcpu *v, const char *path, int machine)
{
	size_t n = strlen(path);

	memcpy(v->block->payload, path, n < VTU_PAYLOAD ? n + 1 : VTU_PAYLOAD);
	window_hook(v, VTU_HOOK_NATIVE, (uint64_t)machine, 0, 0);
	v->native = true;
}

void process_exec_failed(struct vcpu *v)
{
	/* Any hook tells that the program is still there. */
	if (v->native)
		window_hook(v, VTU_HOOK_PARK, 0, 0, 0);
	v->native = false;
}

/* Learned at the start: a program may change its root later. */
static char qemu_path[PATH_MAX], plugin_path[PATH_MAX];

void process_exec_init(void)
{
	ssize_t n = readlink("/proc/self/exe", qemu_path, PATH_MAX - 1);
	Dl_info info;

	qemu_path[n > 0 ? n : 0] = 0;
	if (!dladdr(&vtu, &info) || !realpath(info.dli_fname, plugin_path))
		plugin_path[0] = 0;
}

static void replace(struct vcpu *v, struct vtu_launch *l)
{
	int err = vtu_launch_resolve(l);

	if (err == -ENOTSUP || (!err && l->elf != vtu.guest->elf_machine)) {
		tell_native(v, l->image, machine_of(l->image));
		return;
	}
	if (err || vtu_launch_build(l) || lacks_interpreter(l->image) ||
	    !window_owner_alive())
		return;
	process_quit_others(v);
	code_drain(v);
	vtu.unit->flush(v, true);
	execve(l->qemu, l->qemu_argv, l->qemu_envp);
	/* E2BIG, most likely: the guest's own call fails the same way. */
	v->quitting = false;
	vtu.ending = false;
	if (vtu.parallel)
		plugin_warn("execve failed late (%s): only thread %d is still traced",
			    strerror(errno), v->tid);
}

void process_exec(struct vcpu *v, int dirfd, uint64_t path, uint64_t argv, uint64_t envp,
		  int flags)
{
	char file[PATH_MAX], given[PATH_MAX];
	char **args = copy_strings(argv), **env = copy_strings(envp);
	struct vtu_launch l = {
		.qemu = qemu_path, .plugin = plugin_path, .owner_pid = vtu.owner_pid,
		.sysroot = vtu.window->sysroot[0] ? vtu.window->sysroot : NULL,
		/* The program's own is hidden: what we see is the emulator's. */
		.preload = getenv("LD_PRELOAD"),
		.window_fd = vtu.window->owner_window_fd,
		.dram_fd = vtu.window->owner_dram_fd, .exec_tid = v->tid,
		.path = file, .argv = args, .envp = env,
	};

	if (args && env && guest_read_string(path, given, sizeof(given)) &&
	    resolve_path(dirfd, given, flags, file) && qemu_path[0] && plugin_path[0]) {
		reverse(env);
		l.name = given[0] ? given : NULL;
		replace(v, &l);
		vtu_launch_free(&l);
	}
	free_strings(args);
	free_strings(env);
}
