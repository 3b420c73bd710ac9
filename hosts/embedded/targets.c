// SPDX-License-Identifier: BSD-2-Clause
#include "embedded.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct target *target_find(struct embedded *e, int pid)
{
	struct target *t;

	for (t = e->targets; t; t = t->next)
		if (t->pid == pid && !t->exited)
			return t;
	/* A target that ended is still there for whoever waits for its status. */
	for (t = e->targets; t; t = t->next)
		if (t->pid == pid)
			return t;
	return NULL;
}

struct target *target_add(struct embedded *e, int pid, bool child)
{
	struct target *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->pid = pid;
	t->child = child;
	t->refs = 1;
	t->status = t->exit_fd = -1;
	t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (t->pidfd < 0) {
		free(t);
		return NULL;
	}
	t->next = e->targets;
	e->targets = t;
	return t;
}

int target_exit_fd(struct target *t)
{
	if (t->exit_fd < 0)
		t->exit_fd = eventfd(t->exited, EFD_CLOEXEC | EFD_NONBLOCK);
	return t->exit_fd < 0 ? -errno : t->exit_fd;
}

void target_unref(struct embedded *e, struct target *t)
{
	struct target **link;

	if (--t->refs)
		return;
	for (link = &e->targets; *link && *link != t; link = &(*link)->next)
		;
	if (*link)
		*link = t->next;
	if (t->pidfd >= 0)
		close(t->pidfd);
	if (t->exit_fd >= 0)
		close(t->exit_fd);
	free(t->native);
	free(t);
}

void target_set_native(struct target *t, const char *path, uint32_t machine, int tid)
{
	free(t->native);
	t->native = path ? strdup(path) : NULL;
	t->native_machine = machine;
	t->native_tid = tid;
}

void targets_fini(struct embedded *e)
{
	while (e->targets) {
		e->targets->refs = 1;
		target_unref(e, e->targets);
	}
}

/* Of <linux/pidfd.h> of Linux 6.15: what is left of a process that was reaped. */
struct pidfd_end {
	uint64_t	mask, cgroup;
	uint32_t	ids[11];
	int32_t		exit_code;	/* as wait(2) gives it */
};
#define GET_INFO	_IOWR(0xff, 11, struct pidfd_end)
#define INFO_EXIT	8u
#define REAP_MS		200	/* that a parent is given to reap it */

static bool is_past(const struct timespec *at)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > at->tv_sec ||
	       (now.tv_sec == at->tv_sec && now.tv_nsec >= at->tv_nsec);
}

/* Another's child, which told nothing: false: wait, the kernel will tell. */
static bool ask_kernel(struct target *t)
{
	struct pidfd_end end = {.mask = INFO_EXIT};

	if (ioctl(t->pidfd, GET_INFO, &end))
		return true;
	if (end.mask & INFO_EXIT) {
		t->status = end.exit_code;
		t->know_status = true;
		return true;
	}
	if (!t->patience.tv_sec)
		deadline(&t->patience, REAP_MS);
	return is_past(&t->patience);
}

/* True once the process is gone; its status is taken, if there is a way to it. */
static bool has_ended(struct target *t)
{
	struct pollfd p = {.fd = t->pidfd, .events = POLLIN};
	int status;

	if (poll(&p, 1, 0) <= 0)
		return false;
	if (!t->child)
		return t->know_status || ask_kernel(t);
	if (waitpid(t->pid, &status, WNOHANG) == t->pid) {
		t->status = status;
		t->know_status = true;
	}
	return true;
}

/*
 * The blocks of a process that is gone: what their units had written counts.  A unit
 * may have used another one's sink: none is free before all are out.
 */
static void end_blocks(struct embedded *e, struct target *t)
{
	struct block *b;
	uint32_t i;

	for (i = 0; i < e->high; i++) {
		b = &e->blocks[i];
		if (b->target != t)
			continue;
		__atomic_store_n(&b->dead, true, __ATOMIC_RELAXED);
		if (!b->exited)
			hwt_hook_switch_out(e->core, b->pid, b->tid, b->unit);
	}
	for (i = 0; i < e->high; i++) {
		b = &e->blocks[i];
		if (b->target != t)
			continue;
		pthread_mutex_lock(&e->lock);
		while (b->pins)
			pthread_cond_wait(&e->cond, &e->lock);
		block_free(e, b);
		target_unref(e, t);
		pthread_mutex_unlock(&e->lock);
	}
}

static void target_end(struct embedded *e, struct target *t)
{
	struct hwt_hook_where at = {.pid = t->pid, .tid = t->pid, .unit = -1};
	uint64_t one = 1;

	at.time = __atomic_load_n(&e->window->clock, __ATOMIC_ACQUIRE);
	end_blocks(e, t);
	if (t->native && hwt_hook_native(e->core, &at, t->native, t->native_machine) < 0)
		hwt_hook_lost(e->core, t->pid);
	hwt_hook_exit(e->core, &at, t->status);
	pthread_mutex_lock(&e->lock);
	t->exited = true;
	close(t->pidfd);
	t->pidfd = -1;
	pthread_cond_broadcast(&e->cond);
	if (t->exit_fd >= 0 && write(t->exit_fd, &one, sizeof(one)) < 0) {
		/* EAGAIN: it is readable already */
	}
	/* A child's is kept for hwt_target_wait; others nobody asks for. */
	if (!t->child)
		target_unref(e, t);
	pthread_mutex_unlock(&e->lock);
}

void targets_reap(struct embedded *e)
{
	struct target *t;

	for (;;) {
		pthread_mutex_lock(&e->lock);
		for (t = e->targets; t; t = t->next)
			if (!t->exited && has_ended(t))
				break;
		pthread_mutex_unlock(&e->lock);
		if (!t)
			return;
		target_end(e, t);
	}
}
