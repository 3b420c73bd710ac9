// SPDX-License-Identifier: BSD-2-Clause
/* Starting a program under the plugin, and waiting for its end. */
#include "embedded.h"
#include "../search.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../vtu/launch.h"
#include "../../vtu/program.h"

extern char **environ;

static int explain(char **error, int err, const char *path, const struct vtu_launch *l)
{
	switch (err) {
	case -ENOTSUP:
		return host_fail(error, -ENOEXEC, "%s: not a program for x86-64 or AArch64",
				 l->image);
	case -ENOEXEC:
		return host_fail(error, err, "%s: not an executable format",
				 l->image ? l->image : path);
	}
	if (l->image && strcmp(l->image, path))
		return host_fail(error, err, "%s: its interpreter %s: %s", path, l->image,
				 strerror(-err));
	return host_fail(error, err, "%s: %s", path, strerror(-err));
}

/* In the child: between fork and exec only async-signal-safe calls. */
static void become_qemu(struct embedded *e, const struct vtu_launch *l, int err_fd)
{
	int err;

	setrlimit(RLIMIT_NOFILE, &e->files);
	fcntl(e->window_fd, F_SETFD, 0);
	fcntl(e->dram.fd, F_SETFD, 0);
	execve(l->qemu, l->qemu_argv, l->qemu_envp);
	err = errno;
	if (write(err_fd, &err, sizeof(err)) < 0)
		_exit(127);
	_exit(127);
}

/* fork and exec; the pipe closes at exec, or brings the errno. */
static int start_qemu(struct embedded *e, const struct vtu_launch *l, pid_t *pid)
{
	int p[2], err = 0;
	ssize_t n;

	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	*pid = fork();
	if (*pid == 0)
		become_qemu(e, l, p[1]);
	if (*pid < 0) {
		err = -errno;
		close(p[0]);
		close(p[1]);
		return err;
	}
	close(p[1]);
	do
		n = read(p[0], &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	close(p[0]);
	if (n == (ssize_t)sizeof(err)) {
		waitpid(*pid, NULL, 0);
		return -err;
	}
	return 0;
}

/* Until the plugin's ATTACH came, or QEMU ended before it. */
static int wait_ready(struct embedded *e, struct target *t, const char *qemu, char **error)
{
	int status, err = 0;

	pthread_mutex_lock(&e->lock);
	while (!t->ready && !t->exited)
		pthread_cond_wait(&e->cond, &e->lock);
	status = t->status;
	if (!t->ready)
		err = -ECHILD;
	pthread_mutex_unlock(&e->lock);
	if (!err)
		return 0;
	if (WIFSIGNALED(status))
		return host_fail(error, err, "%s ended by signal %d before the program began",
			    qemu, WTERMSIG(status));
	return host_fail(error, err, "%s ended with status %d before the program began", qemu,
			 WEXITSTATUS(status));
}

/* The lock is held around fork, so that the child cannot end unseen. */
static int start_target(struct embedded *e, const struct vtu_launch *l, struct target **out)
{
	struct target *t;
	pid_t pid = -1;
	int err;

	pthread_mutex_lock(&e->lock);
	err = start_qemu(e, l, &pid);
	if (!err) {
		t = target_add(e, pid, true);
		if (!t) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			err = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&e->lock);
	if (!err)
		*out = t;
	return err;
}

/* The emulator for the program's machine, and what it has to be told. */
static int choose_emulator(struct embedded *e, struct vtu_launch *l, char **qemu,
			   char **error)
{
	const struct vtu_machine *m = vtu_machine(l->elf);

	if (embedded_find_qemu(e->qemu_given ? e->qemu : m->qemu, qemu, error))
		return -ECHILD;
	l->qemu = *qemu;
	l->sysroot = vtu_sysroot(m);
	if (l->sysroot && strlen(l->sysroot) >= sizeof(e->window->sysroot))
		return host_fail(error, -ENAMETOOLONG, "QEMU_LD_PREFIX: its name is too long");
	strcpy(e->window->sysroot, l->sysroot ? l->sysroot : "");
	return 0;
}

static int check_program(const struct embedded *e, const struct vtu_launch *l,
			 char **error)
{
	char why[VTU_PROGRAM_WHY];
	int err = vtu_program_check(l->image, e->window->sysroot, why, sizeof(why));

	return err ? host_fail(error, err, "%s: %s", l->image, why) : 0;
}

/* The unit that the program's vCPUs will have. */
static int choose_unit(struct embedded *e, const struct vtu_launch *l, char **error)
{
	const struct vtu_machine *m = vtu_machine(l->elf);
	const struct technology *own = technology_for(l->elf, NULL);
	const struct technology *t = technology_for(l->elf, e->backend), *asked;

	if (t) {
		e->window->unit_kind = t->kind;
		return 0;
	}
	asked = technology_for(0, e->backend);
	if (!asked)	/* the recorder says so */
		return 0;
	return host_fail(error, -ENOEXEC, "%s: a program for %s; %s traces programs for %s%s%s",
			 l->image, m->name, asked->backend, vtu_machine(asked->elf)->name,
			 own ? ": use -c " : "", own ? own->backend : "");
}

int embedded_spawn(void *host, const char *path, char *const argv[], pid_t *pid, char **error)
{
	struct embedded *e = host;
	struct vtu_launch l = {
		.plugin = e->plugin, .owner_pid = getpid(),
		.window_fd = e->window_fd, .dram_fd = e->dram.fd,
		.preload = getenv("HWT_EMULATOR_PRELOAD"),
		.argv = argv, .envp = environ,
	};
	struct target *t;
	char *file, *qemu = NULL;
	int err;

	*error = NULL;
	err = path_search(path, &file);
	if (err)
		return host_fail(error, err, "%s: %s", path, err == -ENOENT ?
			"no such program" : strerror(-err));
	l.path = file;
	err = vtu_launch_resolve(&l);
	if (!err) {
		err = choose_unit(e, &l, error);
		if (!err)
			err = choose_emulator(e, &l, &qemu, error);
		if (!err)
			err = check_program(e, &l, error);
		if (err)
			goto out;
		err = vtu_launch_build(&l);
	}
	if (err) {
		err = explain(error, err, file, &l);
		goto out;
	}
	err = start_target(e, &l, &t);
	if (err) {
		err = host_fail(error, -ECHILD, "the QEMU %s: %s", qemu, strerror(-err));
		goto out;
	}
	*pid = t->pid;
	err = wait_ready(e, t, qemu, error);
out:
	vtu_launch_free(&l);
	free(qemu);
	free(file);
	return err;
}

int embedded_run(void *host, pid_t pid)
{
	struct embedded *e = host;
	struct target *t;

	pthread_mutex_lock(&e->lock);
	t = target_find(e, pid);
	if (t)
		t->run = true;
	pthread_mutex_unlock(&e->lock);
	if (!t)
		return -ESRCH;
	service_recheck(e);
	return 0;
}

int embedded_wait(void *host, pid_t pid, int timeout_ms, int *status)
{
	struct embedded *e = host;
	struct timespec ts;
	struct target *t;
	int err = 0, result;

	deadline(&ts, timeout_ms < 0 ? 0 : timeout_ms);
	pthread_mutex_lock(&e->lock);
	t = target_find(e, pid);
	while (t && !t->exited && !err)
		err = timeout_ms < 0 ? pthread_cond_wait(&e->cond, &e->lock) :
				       pthread_cond_timedwait(&e->cond, &e->lock, &ts);
	result = !t ? -ESRCH : t->exited;
	if (result == 1)
		*status = t->status;
	pthread_mutex_unlock(&e->lock);
	return result;
}

int embedded_fd(void *host, pid_t pid)
{
	struct embedded *e = host;
	struct target *t;
	int fd;

	pthread_mutex_lock(&e->lock);
	t = target_find(e, pid);
	fd = t ? target_exit_fd(t) : -ESRCH;
	pthread_mutex_unlock(&e->lock);
	return fd;
}
