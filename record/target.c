/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is recorded: a program that is started, or a process that runs already; in CPU
 * mode the CPUs, as long as a program runs, if there is one.
 */
#include "internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define EXIT_GRACE_MS	2000	/* for the EXIT record once the target has ended */

int target_begin(struct recorder *r)
{
	const struct record_options *opt = r->opt;
	int err;

	if (opt->path) {
		err = hwt_target_spawn(opt->host, opt->path, opt->argv, &r->pid, &r->error);
		r->result->spawn_failed = err != 0;
		r->exec_pending = !err && !opt->cpus && hwt_target_execs_late(opt->host);
		return err;
	}
	if (!opt->pid)
		return 0;
	r->pid = opt->pid;
	err = hwt_target_attach(opt->host, r->pid);
	if (err == -EOPNOTSUPP)
		return recorder_fail(r, err, "the %s host traces only programs that it starts; attaching needs the kernel host",
				     hwt_host_kind(opt->host));
	return err ? recorder_fail(r, err, "process %d: %s", (int)r->pid, strerror(-err)) : 0;
}

void target_ready(struct recorder *r)
{
	ssize_t done;

	r->result->started_ns = recorder_now();
	if (r->opt->ready_fd < 0 || r->told_ready)
		return;
	r->told_ready = true;
	do
		done = write(r->opt->ready_fd, "", 1);
	while (done < 0 && errno == EINTR);
	close(r->opt->ready_fd);
}

int target_release(struct recorder *r)
{
	int err;

	if (r->exec_pending)
		r->result->started_ns = recorder_now();
	else
		target_ready(r);
	if (!r->opt->path)
		return 0;
	if (r->opt->spawned)
		r->opt->spawned(r->opt->spawned_ctx, r->pid);
	err = hwt_target_run(r->opt->host, r->pid);
	return err ? recorder_fail(r, err, "starting the program: %s", strerror(-err)) : 0;
}

static void has_ended(struct recorder *r, int status)
{
	r->ended = true;
	/* An attached one's is told by its EXIT record, if at all. */
	if (r->opt->path)
		r->result->status = status;
	r->result->ended_ns = recorder_now();
	if (r->opt->path && r->opt->spawned)
		r->opt->spawned(r->opt->spawned_ctx, 0);
}

int target_fd(const struct recorder *r)
{
	return r->ended || !r->pid ? -1 : hwt_target_fd(r->opt->host, r->pid);
}

/* 0, or what execve said: then it has ended. */
static int look(struct recorder *r, int timeout_ms)
{
	int status, ended = hwt_target_wait(r->opt->host, r->pid, timeout_ms, &status);

	if (ended == 0 || ended == -EINTR)
		return 0;
	has_ended(r, ended > 0 ? status : -1);
	if (ended > 0)
		return 0;
	r->result->spawn_failed = true;
	return recorder_fail(r, ended, "%s: %s", r->opt->path, strerror(-ended));
}

int target_look(struct recorder *r)
{
	return r->ended || !r->pid ? 0 : look(r, 0);
}

bool target_context_open(const struct recorder *r)
{
	const struct context *ctx;

	for (ctx = r->contexts; ctx && ctx->pid != (uint32_t)r->pid; ctx = ctx->next)
		;
	return ctx != NULL;
}

bool target_finished(const struct recorder *r)
{
	/* Set by whichever thread took the signal. */
	bool stop = r->opt->stop && __atomic_load_n(r->opt->stop, __ATOMIC_RELAXED);

	/* What was attached to lives on without its trace. */
	if (!r->opt->path && stop)
		return true;
	if (r->opt->cpus)
		return r->ended || stop;
	if (!r->ended)
		return !r->opt->path && !r->contexts;
	if (!r->contexts || stop)
		return true;
	/* Its EXIT record comes behind its end; do not hang if it does not. */
	return target_context_open(r) &&
	       recorder_now() - r->result->ended_ns > EXIT_GRACE_MS * 1000000ull;
}

void target_kill_held(struct recorder *r)
{
	int status;

	if (!r->opt->path)
		return;
	kill(r->pid, SIGKILL);
	hwt_target_run(r->opt->host, r->pid);
	while (hwt_target_wait(r->opt->host, r->pid, -1, &status) == -EINTR)
		;
}

void target_let_run(struct recorder *r)
{
	while (r->contexts)
		context_abandon(r->contexts);
	if (r->hwt)
		hwt_dev_close(r->hwt);
	r->hwt = NULL;
	while (r->opt->path && !r->ended)
		look(r, -1);
}
