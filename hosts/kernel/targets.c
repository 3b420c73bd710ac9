// SPDX-License-Identifier: BSD-2-Clause
/*
 * Targets of the kernel host.  A program is started as any shell does, by fork
 * and exec; between the two the child waits for hwt_target_run, so that a context
 * can be made for it.  Of what it is until its exec nothing needs to be traced.
 */
#include "kernel.h"
#include "../search.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct ktarget *find(struct kernel_host *h, pid_t pid)
{
	struct ktarget *t;

	pthread_mutex_lock(&h->lock);
	for (t = h->targets; t && t->pid != pid; t = t->next)
		;
	pthread_mutex_unlock(&h->lock);
	return t;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void target_free(struct ktarget *t)
{
	close_fd(&t->pidfd);
	close_fd(&t->go_fd);
	close_fd(&t->exec_fd);
	free(t);
}

static struct ktarget *target_new(void)
{
	struct ktarget *t = calloc(1, sizeof(*t));

	if (t) {
		t->pidfd = t->go_fd = t->exec_fd = -1;
		t->status = -1;
	}
	return t;
}

/* Takes over a target whose pid is set: 0, or -errno. */
static int target_add(struct kernel_host *h, struct ktarget *t)
{
	t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	if (t->pidfd < 0)
		return -errno;
	pthread_mutex_lock(&h->lock);
	t->next = h->targets;
	h->targets = t;
	pthread_mutex_unlock(&h->lock);
	return 0;
}

void ktargets_free(struct kernel_host *h)
{
	struct ktarget *t;

	while ((t = h->targets)) {
		h->targets = t->next;
		if (t->child && t->go_fd >= 0) {
			kill(t->pid, SIGKILL);
			waitpid(t->pid, NULL, 0);
		}
		target_free(t);
	}
}

int kernel_attach(void *host, pid_t pid)
{
	struct ktarget *t = find(host, pid);
	int err;

	/* An ended one's number may be another's by now. */
	if (t && !t->ended)
		return 0;
	t = target_new();
	if (!t)
		return -ENOMEM;
	t->pid = pid;
	err = target_add(host, t);
	if (err)
		target_free(t);
	/* pidfd_open wants a process, not another thread of one. */
	return err == -EINVAL ? -ESRCH : err;
}

/* ---- starting a program ---- */

/* In the child: only async-signal-safe calls. */
static void child(const char *file, char *const argv[], int go_fd, int err_fd)
{
	ssize_t n;
	char go;
	int err;

	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)	/* whoever started it is gone */
		_exit(127);
	execve(file, argv, environ);
	err = errno;
	if (write(err_fd, &err, sizeof(err)) < 0)
		_exit(127);
	_exit(127);
}

static int start(struct kernel_host *h, struct ktarget *t, const char *file,
		 char *const argv[])
{
	int go[2], exec[2], err;

	/* Sockets: writing to a child that was killed must raise no SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0)
		return -errno;
	t->go_fd = go[1];
	if (pipe2(exec, O_CLOEXEC) < 0) {
		err = -errno;
		close(go[0]);
		return err;
	}
	t->exec_fd = exec[0];
	t->pid = fork();
	if (t->pid == 0) {
		/* Else it would never see that the other end is gone. */
		close(go[1]);
		child(file, argv, go[0], exec[1]);
	}
	err = t->pid < 0 ? -errno : 0;
	close(go[0]);
	close(exec[1]);
	if (err)
		return err;
	t->child = true;
	err = target_add(h, t);
	if (err) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	return err;
}

int kernel_spawn(void *host, const char *path, char *const argv[], pid_t *pid, char **error)
{
	struct ktarget *t;
	char *file;
	int err;

	*error = NULL;
	err = path_search(path, &file);
	if (err)
		return host_fail(error, err, "%s: %s", path, err == -ENOENT ?
				 "no such program" : strerror(-err));
	if (access(file, X_OK)) {
		err = host_fail(error, -errno, "%s: %s", file, strerror(errno));
		free(file);
		return err;
	}
	t = target_new();
	err = t ? start(host, t, file, argv) : -ENOMEM;
	if (err) {
		host_fail(error, err, "%s: %s", file, strerror(-err));
		if (t)
			target_free(t);
	} else {
		*pid = t->pid;
	}
	free(file);
	return err;
}

int kernel_run(void *host, pid_t pid)
{
	struct ktarget *t = find(host, pid);
	ssize_t n;

	if (!t)
		return -ESRCH;
	if (t->go_fd < 0)
		return 0;
	n = send(t->go_fd, "", 1, MSG_NOSIGNAL);
	close_fd(&t->go_fd);
	return n == 1 ? 0 : -ESRCH;
}

/* ---- its end ---- */

static int status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return info->si_status << 8;
	return info->si_status | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}

/*
 * What execve said, once the child is gone: 0, it was executed.  Not asked for before:
 * a thread that stands still in its exec (HWT_PAUSE_EXEC) has not closed its end yet.
 */
static int exec_result(struct ktarget *t)
{
	int err = 0;
	ssize_t n;

	if (t->exec_fd < 0)
		return 0;
	n = read(t->exec_fd, &err, sizeof(err));
	close_fd(&t->exec_fd);
	return n == (ssize_t)sizeof(err) ? -err : 0;
}

int kernel_wait(void *host, pid_t pid, int timeout_ms, int *status)
{
	struct ktarget *t = find(host, pid);
	siginfo_t info = { 0 };
	struct pollfd p;
	int n;

	if (!t)
		return -ESRCH;
	p = (struct pollfd){ .fd = t->pidfd, .events = POLLIN };
	if (!t->ended) {
		n = poll(&p, 1, timeout_ms);
		if (n <= 0)
			return n < 0 ? -errno : 0;
		t->ended = true;
		if (t->child && waitid(P_PIDFD, (id_t)t->pidfd, &info, WEXITED) == 0)
			t->status = status_of(&info);
		t->exec_error = exec_result(t);
	}
	*status = t->status;
	return t->exec_error ? t->exec_error : 1;
}

int kernel_fd(void *host, pid_t pid)
{
	struct ktarget *t = find(host, pid);

	return t ? t->pidfd : -ESRCH;
}
