/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_ioctl.h"
#include "hwt_buffer.h"
#include "hwt_context.h"
#include "hwt_contexthash.h"
#include "hwt_cpu.h"
#include "hwt_thread.h"

static int backend_get(struct hwt_core *core, uint64_t uname, struct hwt_backend **be)
{
	char name[HWT_BACKEND_MAXNAMELEN];
	int rc = hwt_copyinstr(uname, name, sizeof(name));

	/* So long a name no backend has. */
	if (rc == -ENAMETOOLONG)
		return -ENODEV;
	if (rc)
		return rc;
	*be = hwt_backend_use(core, name);
	if (!*be)
		return -ENODEV;
	if ((*be)->bus)
		return 0;
	hwt_backend_unuse(core, *be);
	return -ENXIO;
}

static int mode_check(const struct hwt_cred *cred, const struct hwt_backend *be, int mode)
{
	if (!(be->modes & 1u << mode))
		return -EOPNOTSUPP;
	return mode == HWT_MODE_CPU && !cred->perfmon ? -EPERM : 0;
}

static void thread_record(struct hwt_thread *thr)
{
	struct hwt_context *ctx = thr->ctx;
	struct hwt_bus *bus = ctx->backend->bus;
	struct hwt_rec_thread payload = {.tid = thr->buf.buf_id};
	struct hwt_record_parts parts = {
		.rec = {
			.type = HWT_REC_THREAD_CREATE,
			.time = bus->ops->now ? bus->ops->now(bus, thr->unit) : 0,
			.pid = ctx->user_pid,
			.tid = thr->buf.buf_id,
			.cpu = -1,
		},
		.fixed = &payload,
		.nfixed = sizeof(payload),
		.never_hold = true,
	};

	hwt_record_put(ctx, &parts, NULL);
	hwt_buffer_tell_source(&thr->buf, &parts.rec, true);
	hwt_record_notify(ctx);
}

/* All threads that the target has; may miss none, since hooks bring the new ones. */
static int threads_list(struct hwt_context *ctx, struct hwt_target_thread **out)
{
	const struct hwt_host_ops *ops = ctx->core->ops;
	struct hwt_target_thread *list;
	int max = 32, n;

	for (;; max = n + n / 4) {
		list = hwt_alloc(max * sizeof(*list), HWT_MAY_SLEEP);
		if (!list)
			return -ENOMEM;
		n = ops->target_threads(ctx->core->host, ctx->target, list, max);
		if (n > 0 && n <= max)
			break;
		hwt_free(list);
		if (n <= 0)
			return n ? n : -ESRCH;
	}
	*out = list;
	return n;
}

/* The first is the one whose tid is the pid, if it still lives. */
static void leader_first(struct hwt_target_thread *list, int n, int pid)
{
	struct hwt_target_thread t;
	int i;

	for (i = 1; i < n; i++) {
		if (list[i].tid != pid)
			continue;
		t = list[0];
		list[0] = list[i];
		list[i] = t;
	}
}

static int threads_add(struct hwt_context *ctx)
{
	struct hwt_target_thread *list;
	struct hwt_thread *thr;
	int n = threads_list(ctx, &list), i, rc = 0;

	if (n < 0)
		return n;
	leader_first(list, n, ctx->pid);
	for (i = 0; i < n && !rc; i++) {
		rc = hwt_thread_add(ctx, list[i].tid, list[i].unit, i == 0, &thr);
		if (rc == -EEXIST)
			rc = 0;
		if (!rc && hwt_thread_announce(thr, true)) {
			thread_record(thr);
			hwt_thread_tell(thr);
		}
	}
	hwt_free(list);
	return rc;
}

/* An exec that came after the check and before hooks reach ctx: looks again. */
static int target_recheck(struct hwt_context *ctx, const struct hwt_cred *cred)
{
	const struct hwt_host_ops *ops = ctx->core->ops;
	void *again;
	int rc = ops->target_get(ctx->core->host, cred, ctx->pid, &again);

	if (!rc)
		ops->target_put(ctx->core->host, again);
	return rc;
}

static int alloc_thread_mode(struct hwt_context *ctx, const struct hwt_cred *cred,
			     const struct hwt_alloc *req)
{
	struct hwt_core *core = ctx->core;
	const struct hwt_host_ops *ops = core->ops;
	char name[HWT_NODE_NAME];
	hwt_irqflags_t flags;
	void *target;
	bool busy;
	int rc;

	if (req->pid <= 0)
		return -EINVAL;
	ctx->user_pid = req->pid;
	ctx->pid = ops->pid_from_user ? ops->pid_from_user(core->host, cred, req->pid)
				      : req->pid;
	if (ctx->pid <= 0)
		return -ESRCH;
	rc = ops->target_get(core->host, cred, ctx->pid, &target);
	if (rc)
		return rc;
	ctx->target = target;
	if (ops->target_dead(core->host, ctx->target))
		return -ESRCH;
	hwt_spin_lock(&core->lock, flags);
	busy = hwt_cpu_mode_conflict(core, ctx->backend, HWT_MODE_THREAD);
	hwt_spin_unlock(&core->lock, flags);
	if (busy)
		return -EBUSY;
	/* From here on hooks bring new threads, so the list below misses none. */
	rc = hwt_contexthash_insert(ctx);
	if (!rc)
		rc = target_recheck(ctx, cred);
	if (!rc)
		rc = threads_add(ctx);
	if (rc)
		return rc;
	hwt_context_node_name(name, ctx->ident, 0);
	return ops->node_create(core->host, name, ctx, NULL, ctx->uid, &ctx->alias);
}

static int alloc_cpu_mode(struct hwt_context *ctx, const struct hwt_alloc *req)
{
	const struct hwt_host_ops *ops = ctx->core->ops;
	int rc = hwt_cpu_add_set(ctx, (uintptr_t)req->cpu_map, req->cpusetsize);

	if (rc || !ops->kernel_objects)
		return rc;
	rc = ops->kernel_objects(ctx->core->host, ctx);
	ctx->kernel_hooks = !rc;
	return rc;
}

static int alloc_check(const struct hwt_alloc *req)
{
	if (!req->bufsize || req->bufsize % HWT_PAGE_SIZE ||
	    req->bufsize > HWT_BUFSIZE_MAX)
		return -EINVAL;
	if (req->mode != HWT_MODE_THREAD && req->mode != HWT_MODE_CPU)
		return -EINVAL;
	return req->ident ? 0 : -EFAULT;
}

/* The context is made; what it is about is not.  Its own reference is held. */
static int context_fill(struct hwt_context *ctx, const struct hwt_cred *cred,
			const struct hwt_alloc *req)
{
	int rc = hwt_context_own(ctx);

	if (!rc)
		rc = req->mode == HWT_MODE_CPU ? alloc_cpu_mode(ctx, req)
					       : alloc_thread_mode(ctx, cred, req);
	if (!rc && hwt_context_is_dying(ctx))
		rc = -ENXIO;
	if (!rc)
		rc = hwt_copyout(&ctx->ident, (uintptr_t)req->ident, sizeof(ctx->ident));
	return rc;
}

int hwt_ioctl_alloc(struct hwt_core *core, const struct hwt_cred *cred,
		    const struct hwt_alloc *req)
{
	struct hwt_event *event = NULL;
	struct hwt_context *ctx;
	struct hwt_backend *be;
	int rc = alloc_check(req);

	if (rc)
		return rc;
	hwt_context_reap(core, false);
	rc = backend_get(core, (uintptr_t)req->backend_name, &be);
	if (rc)
		return rc;
	rc = mode_check(cred, be, req->mode);
	if (rc)
		goto unuse_backend;
	if (req->kqueue_fd != -1)
		rc = core->ops->event_get(core->host, req->kqueue_fd, &event);
	if (rc)
		goto unuse_backend;
	ctx = hwt_context_alloc(core, cred, be, event, req->bufsize, req->mode);
	if (!ctx) {
		rc = -ENOMEM;
		goto put_event;
	}
	/* A client may open and close a node before it knows of it. */
	hwt_context_get(ctx);
	rc = context_fill(ctx, cred, req);
	if (rc)
		hwt_context_kill(ctx);
	hwt_context_put(ctx);
	return rc;

put_event:
	if (event)
		core->ops->event_put(core->host, event);
unuse_backend:
	hwt_backend_unuse(core, be);
	return rc;
}
