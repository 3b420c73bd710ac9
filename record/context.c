/* SPDX-License-Identifier: BSD-2-Clause */
/* A context of hwt(4): one traced process, or a set of CPUs. */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t first_cpu(const cpu_set_t *cpus)
{
	uint32_t cpu = 0;

	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, cpus))
		cpu++;
	return cpu;
}

static int refused_thread(struct context *ctx, int err)
{
	struct recorder *r = ctx->r;

	switch (err) {
	case -EPERM:
		return recorder_fail(r, err, "no permission to trace process %u: it must be yours and no more privileged than you, or you need CAP_PERFMON",
				     ctx->pid);
	case -EEXIST:
		return recorder_fail(r, err, "process %u is being traced already", ctx->pid);
	case -ESRCH:
		return recorder_fail(r, err, "process %u: there is none, or it has ended", ctx->pid);
	case -EBUSY:
		return recorder_fail(r, err, "'%s' is busy: CPUs are being traced with it, or, where it has one buffer at a time, another process",
				     r->technology->backend);
	}
	return recorder_fail(r, err, "cannot trace process %u with '%s' and a buffer of %zu bytes: %s",
			     ctx->pid, r->technology->backend, r->bufsize, strerror(-err));
}

static int refused_cpus(struct context *ctx, int err)
{
	struct recorder *r = ctx->r;

	switch (err) {
	case -EPERM:
		return recorder_fail(r, err, "no permission to trace CPUs: kernel code takes CAP_PERFMON (root has it)");
	case -ENXIO:
		return recorder_fail(r, err, "one of these CPUs is not there or offline");
	case -EBUSY:
		return recorder_fail(r, err, "'%s' is busy: one of these CPUs or a process is being traced with it, or, where it has one buffer at a time, other CPUs",
				     r->technology->backend);
	case -EOPNOTSUPP:
		return recorder_fail(r, err, "'%s' cannot trace CPUs on the %s host", r->technology->backend,
				     hwt_host_kind(r->opt->host));
	}
	return recorder_fail(r, err, "cannot trace these CPUs with '%s' and a buffer of %zu bytes each: %s",
			     r->technology->backend, r->bufsize, strerror(-err));
}

/* The node that the context's requests go to: its first. */
static int open_first(struct context *ctx, uint32_t d)
{
	char name[64];
	int err;

	snprintf(name, sizeof(name), "/dev/hwt_%d_%u", ctx->ident, d);
	err = hwt_dev_open(ctx->r->opt->host, name, &ctx->dev);
	return err ? recorder_fail(ctx->r, err, "%s: %s", name, strerror(-err)) : 0;
}

static int allocate(struct context *ctx)
{
	struct recorder *r = ctx->r;
	struct hwt_alloc alloc = {
		.bufsize = r->bufsize,
		.mode = r->opt->cpus ? HWT_MODE_CPU : HWT_MODE_THREAD,
		.pid = (pid_t)ctx->pid,
		.cpu_map = (cpu_set_t *)(uintptr_t)r->opt->cpus,
		.cpusetsize = r->opt->cpus ? sizeof(*r->opt->cpus) : 0,
		.backend_name = r->technology->backend,
		.ident = &ctx->ident,
		.kqueue_fd = r->event_fd,
	};
	int err = hwt_dev_ioctl(r->hwt, HWT_IOC_ALLOC, &alloc);

	if (err)
		return r->opt->cpus ? refused_cpus(ctx, err) : refused_thread(ctx, err);
	return open_first(ctx, r->opt->cpus ? first_cpu(r->opt->cpus) : ctx->pid);
}

/*
 * Filters pause a thread where an image comes in, following where a child begins;
 * and a program that begins by an exec of ours must not be ahead of START.  CPUs
 * do not pause.
 */
static uint32_t pauses(const struct recorder *r)
{
	if (r->opt->cpus)
		return 0;
	return (r->opt->nfilters ? HWT_PAUSE_EXEC | HWT_PAUSE_MMAP : 0) |
	       (r->exec_pending ? HWT_PAUSE_EXEC : 0) |
	       (r->opt->follow ? HWT_PAUSE_FORK : 0);
}

int context_configure(struct context *ctx)
{
	struct hwt_set_config2 set = { .pause = pauses(ctx->r) };
	union technology_room room;
	int err;

	ctx->r->technology->configure(ctx, &room, &set);
	err = hwt_dev_ioctl(ctx->dev, HWT_IOC_SET_CONFIG2, &set);
	if (err == -EOPNOTSUPP)
		return recorder_fail(ctx->r, err, "this trace unit (%s) lacks something that the options ask for; see hwt list",
				     ctx->r->query.unit);
	if (err == -ESRCH)
		return recorder_fail(ctx->r, err, "process %u has ended", ctx->pid);
	return err ? recorder_fail(ctx->r, err, "configuring the trace unit: %s",
				   strerror(-err)) : 0;
}

int context_start(struct context *ctx)
{
	struct hwt_start start = { 0 };
	int err;

	if (ctx->started)
		return 0;
	err = hwt_dev_ioctl(ctx->dev, HWT_IOC_START, &start);
	if (err == -ESRCH)
		return recorder_fail(ctx->r, err, "process %u has ended", ctx->pid);
	if (err)
		return recorder_fail(ctx->r, err, "starting the trace: %s", strerror(-err));
	ctx->started = true;
	return 0;
}

int context_stop(struct context *ctx)
{
	struct hwt_stop stop = { 0 };
	int err;

	if (!ctx->started)
		return 0;
	err = hwt_dev_ioctl(ctx->dev, HWT_IOC_STOP, &stop);
	if (err == -ESRCH)
		return err;	/* it is gone, and its trace complete */
	if (err)
		return recorder_fail(ctx->r, err, "stopping the trace: %s", strerror(-err));
	ctx->started = false;
	return 0;
}

void context_wake_all(struct context *ctx, int *err)
{
	int each;

	while (ctx->nwake) {
		each = context_wake(ctx, ctx->wake[--ctx->nwake]);
		*err = *err ? *err : each;
	}
}

int context_wake(struct context *ctx, uint32_t tid)
{
	struct hwt_wakeup_tid wake = { .tid = tid };
	int err = hwt_dev_ioctl(ctx->dev, HWT_IOC_WAKEUP_TID, &wake);

	return err == -ESRCH ? 0 : err;
}

/* A child has its parent's mappings, and no records of their own tell of them. */
static int inherit(struct context *ctx, const struct context *parent)
{
	ctx->exec_seen = parent->exec_seen;
	memcpy(ctx->program, parent->program, sizeof(ctx->program));
	return filter_inherit(ctx, parent);
}

int context_open(struct recorder *r, uint32_t pid, const struct context *parent)
{
	struct context *ctx = calloc(1, sizeof(*ctx));
	int err = 0;

	if (!ctx)
		return -ENOMEM;
	ctx->r = r;
	ctx->pid = pid;
	ctx->exec_seen = true;
	ctx->existing = !parent && !r->opt->path;
	if (parent)
		err = inherit(ctx, parent);
	if (!err)
		err = allocate(ctx);
	if (!err)
		err = context_configure(ctx);
	if (!err)
		err = recorder_output(r);
	if (!err)
		err = buffer_open(ctx, pid);
	/* Threads that are there: until its buffer is open, one may lose its beginning. */
	if (!err && ctx->existing)
		err = events_drain(ctx);
	if (!err && !r->exec_pending && (r->opt->nfilters == 0 || ctx->nranges))
		err = context_start(ctx);
	if (err) {
		context_abandon(ctx);
		return err;
	}
	ctx->next = r->contexts;
	r->contexts = ctx;
	r->result->processes++;
	return 0;
}

static int open_cpu_buffers(struct context *ctx)
{
	const cpu_set_t *cpus = ctx->r->opt->cpus;
	uint32_t cpu;
	int err = 0;

	for (cpu = 0; cpu < CPU_SETSIZE && !err; cpu++)
		if (CPU_ISSET(cpu, cpus))
			err = buffer_open(ctx, cpu);
	return err;
}

static int no_function(struct recorder *r, const struct record_filter *f)
{
	return recorder_fail(r, -ENOENT, "there is no function %s in %s", f->function,
			     f->image ? f->image : "kernel");
}

/* A typing mistake in a name of the kernel's own shows before anything is written. */
static int check_kernel_filters(struct recorder *r)
{
	const struct record_images *images = &r->opt->images;
	struct ipf_range range;
	int i;

	for (i = 0; i < r->opt->nfilters; i++) {
		const struct record_filter *f = &r->opt->filters[i];

		if (f->function && (!f->image || !strcmp(f->image, "kernel")) &&
		    images->kernel_ranges(images->ctx, NULL, f->function, &range, 1) == 0)
			return no_function(r, f);
	}
	return 0;
}

/* All objects are known by now: a function that is not in one that is there is a mistake. */
static int check_filters(struct recorder *r)
{
	const struct record_filter *f = r->opt->filters;
	int i;

	for (i = 0; i < r->opt->nfilters; i++)
		if ((r->images_met & ~r->filters_met) >> i & 1 && f[i].function)
			return no_function(r, &f[i]);
	return 0;
}

int context_open_cpus(struct recorder *r)
{
	struct context *ctx = calloc(1, sizeof(*ctx));
	int err;

	if (!ctx)
		return -ENOMEM;
	ctx->r = r;
	err = allocate(ctx);
	if (!err)
		err = context_configure(ctx);
	if (!err)
		err = check_kernel_filters(r);
	if (!err)
		err = recorder_output(r);
	if (!err)
		err = open_cpu_buffers(ctx);
	if (!err)
		err = kernel_symbols(r);
	/* KERNEL records of all that is there; filters start with theirs. */
	if (!err)
		err = events_drain(ctx);
	if (!err)
		err = check_filters(r);
	if (!err && r->opt->nfilters == 0)
		err = context_start(ctx);
	if (err) {
		context_abandon(ctx);
		return err;
	}
	r->symbols_of = r->kernel_objects;
	r->contexts = ctx;
	return 0;
}

static void context_free(struct context *ctx)
{
	struct context **at;

	for (at = &ctx->r->contexts; *at; at = &(*at)->next) {
		if (*at == ctx) {
			*at = ctx->next;
			break;
		}
	}
	if (ctx->dev)
		hwt_dev_close(ctx->dev);
	free(ctx->wanted);
	free(ctx);
}

int context_finish(struct context *ctx)
{
	int err = 0, each;

	while (ctx->buffers) {
		each = buffer_finish(ctx->buffers, 0);
		err = err ? err : each;
	}
	context_free(ctx);
	return err;
}

void context_abandon(struct context *ctx)
{
	struct buffer *b, *next;

	for (b = ctx->buffers; b; b = next) {
		next = b->next;
		if (b->map)
			hwt_dev_munmap(b->dev, (void *)(uintptr_t)b->map,
				       ctx->r->bufsize);
		hwt_dev_close(b->dev);
		free(b);
	}
	context_free(ctx);
}
