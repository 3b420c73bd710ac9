/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ioctl table, and all requests but ALLOC. */
#include "hwt_ioctl.h"
#include "hwt_buffer.h"
#include "hwt_config.h"
#include "hwt_context.h"
#include "hwt_thread.h"

struct call {
	struct hwt_core		*core;
	const struct hwt_cred	*cred;
	struct hwt_context	*ctx;		/* NULL: /dev/hwt */
	struct hwt_buffer	*buffer;	/* the node's; the first's for the alias */
	bool			alias;
};

static int do_alloc(const struct call *c, void *arg)
{
	return hwt_ioctl_alloc(c->core, c->cred, arg);
}

static int do_query(const struct call *c, void *arg)
{
	return hwt_backend_query(c->core, arg);
}

static void set_running(struct hwt_context *ctx, bool running)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&ctx->lock, flags);
	ctx->running = running;
	/* 0 is a buffer's that was never started. */
	if (running && !++ctx->start_seq)
		ctx->start_seq = 1;
	hwt_spin_unlock(&ctx->lock, flags);
}

static int do_start(const struct call *c, void *arg)
{
	struct hwt_context *ctx = c->ctx;
	int rc;

	if (hwt_context_is_dead(ctx))
		return -ESRCH;
	if (hwt_context_is_running(ctx))
		return -EBUSY;
	if (!ctx->configured && ctx->backend->ops->config_size)
		return -EINVAL;
	set_running(ctx, true);
	rc = hwt_context_sync(ctx);
	if (rc) {
		set_running(ctx, false);
		hwt_context_sync(ctx);
	}
	return rc;
}

static int do_stop(const struct call *c, void *arg)
{
	struct hwt_context *ctx = c->ctx;

	if (!hwt_context_is_running(ctx))
		return -EINVAL;
	set_running(ctx, false);
	hwt_context_sync(ctx);
	hwt_core_wakeup(c->core);
	return 0;
}

static int do_record_get(const struct call *c, void *arg)
{
	return hwt_record_get_old(c->ctx, arg);
}

static int do_record_get2(const struct call *c, void *arg)
{
	return hwt_record_get2(c->ctx, arg);
}

/* What a backend has to tell of any buffer of the context, or of the node's. */
static int bufptr_find(const struct call *c, int *id, uint64_t *offset, uint64_t *data)
{
	struct hwt_context *ctx = c->ctx;
	struct hwt_buffer *b;
	int rc = -ENOENT;

	*id = hwt_buffer_sink(c->buffer)->buf_id;
	if (!ctx->backend->ops->bufptr)
		return hwt_buffer_read(c->buffer, offset, data);
	hwt_mutex_lock(&ctx->mutex);
	for (b = hwt_context_first(ctx); b && rc == -ENOENT; b = hwt_context_next(ctx, b)) {
		if (hwt_context_buffer(ctx, b->buf_id) != b)
			continue;	/* its pages were given back */
		rc = hwt_buffer_bufptr(b, offset, data);
		*id = b->buf_id;
	}
	hwt_mutex_unlock(&ctx->mutex);
	return rc;
}

static int do_bufptr_get(const struct call *c, void *arg)
{
	const struct hwt_bufptr_get *req = arg;
	uint64_t offset = 0, data = 0;
	vm_offset_t uoffset;
	int id, rc = bufptr_find(c, &id, &offset, &data);

	uoffset = offset;
	if (!rc && req->ident)
		rc = hwt_copyout(&id, (uintptr_t)req->ident, sizeof(int));
	if (!rc && req->offset)
		rc = hwt_copyout(&uoffset, (uintptr_t)req->offset, sizeof(uoffset));
	if (!rc && req->data)
		rc = hwt_copyout(&data, (uintptr_t)req->data, sizeof(data));
	return rc;
}

static int do_position_get(const struct call *c, void *arg)
{
	struct hwt_position_get *req = arg;
	uint64_t offset;

	return hwt_buffer_read(c->buffer, &offset, &req->head);
}

static int config_set(const struct call *c, const struct hwt_config_request *req)
{
	if (hwt_context_is_dead(c->ctx))
		return -ESRCH;
	return hwt_config_set(c->ctx, c->cred, req);
}

static int do_set_config(const struct call *c, void *arg)
{
	const struct hwt_set_config *s = arg;
	struct hwt_config_request req = {
		/* hwt(4) lets an exec wait too. */
		.pause = s->pause_on_mmap ? HWT_PAUSE_MMAP | HWT_PAUSE_EXEC : 0,
		.config = (uintptr_t)s->config,
		.config_size = s->config_size,
		.version = s->config_version,
	};

	return config_set(c, &req);
}

static int do_set_config2(const struct call *c, void *arg)
{
	const struct hwt_set_config2 *s = arg;
	struct hwt_config_request req = {
		.pause = s->pause,
		.keep = !s->config,
		.config = s->config,
		.config_size = s->config_size,
		.version = s->config_version,
	};

	return s->reserved ? -EINVAL : config_set(c, &req);
}

/*
 * Wakes a thread however its pause came about: in this context, or as a child
 * after fork in its parent's.
 */
static bool wake_thread(struct hwt_thread *thr)
{
	struct hwt_context *ctx = thr->ctx;
	bool woken = hwt_pause_end(&ctx->queue, &thr->pause, false);

	return hwt_child_wake(ctx->core, NULL, ctx->pid, hwt_thread_tid(thr), false) || woken;
}

static void wake_fetched(struct hwt_context *ctx)
{
	struct hwt_thread *thr;

	for (thr = hwt_thread_next(ctx, NULL); thr; thr = hwt_thread_next(ctx, thr))
		hwt_pause_end(&ctx->queue, &thr->pause, true);
	hwt_child_wake(ctx->core, ctx, 0, 0, true);
	/* Its own fork pause: the client of this context knows of the child. */
	hwt_child_wake(ctx->core, NULL, ctx->pid, 0, false);
}

/*
 * A client of hwt(4) answers every record through the first node, whose thread
 * need not be the one that waits.  Through the alias only what was seen is
 * woken, so that a pause whose record still waits is not passed over.
 */
static int do_wakeup(const struct call *c, void *arg)
{
	if (c->ctx->mode != HWT_MODE_THREAD)
		return -EOPNOTSUPP;
	if (!c->alias)
		wake_thread(c->buffer->thr);
	if (c->alias || c->buffer == hwt_context_first(c->ctx))
		wake_fetched(c->ctx);
	hwt_core_wakeup(c->core);
	return 0;
}

/* By the owner's number for it; threads come first. */
static int do_wakeup_tid(const struct call *c, void *arg)
{
	const struct hwt_wakeup_tid *w = arg;
	struct hwt_context *ctx = c->ctx;
	struct hwt_thread *thr;
	bool found = false;

	if (w->reserved)
		return -EINVAL;
	if (ctx->mode != HWT_MODE_THREAD)
		return -EOPNOTSUPP;
	for (thr = hwt_thread_next(ctx, NULL); thr; thr = hwt_thread_next(ctx, thr)) {
		if ((uint32_t)thr->buf.buf_id != w->tid || hwt_thread_is_dead(thr))
			continue;
		wake_thread(thr);
		found = true;
	}
	if (hwt_child_wake_user(ctx, w->tid))
		found = true;
	if (!found)
		return -ESRCH;
	hwt_core_wakeup(c->core);
	return 0;
}

static int svc_copyin(const struct call *c, const struct hwt_svc_buf *s,
		      struct hwt_buffer **out)
{
	const struct hwt_backend_ops *ops = c->ctx->backend->ops;
	size_t size = ops->svc_size;
	void *data;
	int rc;

	if (s->data_version == 2 && ops->svc_size2)
		size = ops->svc_size2;
	if (s->data_size < size)
		return -EINVAL;
	data = hwt_alloc(size, HWT_MAY_SLEEP);
	if (!data)
		return -ENOMEM;
	rc = hwt_copyin((uintptr_t)s->data, data, size);
	if (!rc)
		rc = ops->svc_buf(c->ctx, data, size, s->data_version, out);
	hwt_free(data);
	return rc;
}

/* Every buffer of the context is read from now on: none may overwrite. */
static void context_full(struct hwt_context *ctx)
{
	struct hwt_buffer *b;
	hwt_irqflags_t flags;
	bool was;

	hwt_spin_lock(&ctx->lock, flags);
	was = ctx->full;
	ctx->full = true;
	hwt_spin_unlock(&ctx->lock, flags);
	for (b = hwt_context_first(ctx); b && !was; b = hwt_context_next(ctx, b)) {
		hwt_spin_lock(&b->lock, flags);
		b->ring = false;
		hwt_spin_unlock(&b->lock, flags);
	}
}

/*
 * What waits for room in that buffer goes on.  A held thread resumes itself; any other,
 * and a CPU, is switched in from here.
 */
static void resume(const struct call *c, struct hwt_buffer *sink)
{
	struct hwt_buffer *b;
	bool cpus = false;

	for (b = hwt_context_first(c->ctx); b; b = hwt_context_next(c->ctx, b)) {
		if (b->sink != sink || !hwt_buffer_serviced(b) || c->core->ops->may_hold)
			continue;
		if (b->thr)
			hwt_thread_sync(b->thr);
		else
			cpus = true;
	}
	if (cpus)
		hwt_context_sync(c->ctx);
}

static int do_svc_buf(const struct call *c, void *arg)
{
	struct hwt_buffer *sink = NULL;
	int rc;

	if (!c->ctx->backend->ops->svc_buf)
		return -EOPNOTSUPP;
	rc = svc_copyin(c, arg, &sink);
	if (rc)
		return rc;
	context_full(c->ctx);
	if (sink)
		resume(c, sink);
	hwt_core_wakeup(c->core);
	return 0;
}

/* Code is read by those who may trace it, which CPU mode takes privilege for. */
static int do_kernel_read(const struct call *c, void *arg)
{
	const struct hwt_host_ops *ops = c->core->ops;
	struct hwt_kernel_read *r = arg;

	if (c->ctx->mode != HWT_MODE_CPU || !ops->kernel_read)
		return -EOPNOTSUPP;
	if (!c->cred->perfmon)
		return -EPERM;
	if (!r->len || r->len > HWT_KERNEL_READ_MAX)
		return -EINVAL;
	r->done = 0;
	return ops->kernel_read(c->core->host, r->addr, r->buf, r->len, &r->done);
}

#define ON_DEVICE	0x1u	/* /dev/hwt; others are on a context's node */
#define NO_MUTEX	0x2u	/* changes no state, or takes the mutex itself; may wait */

static const struct request {
	unsigned int	cmd;
	unsigned int	flags;
	int		(*fn)(const struct call *c, void *arg);
} requests[] = {
	{HWT_IOC_ALLOC, ON_DEVICE, do_alloc},
	{HWT_IOC_QUERY, ON_DEVICE, do_query},
	{HWT_IOC_START, 0, do_start},
	{HWT_IOC_STOP, 0, do_stop},
	{HWT_IOC_RECORD_GET, NO_MUTEX, do_record_get},
	{HWT_IOC_RECORD_GET2, NO_MUTEX, do_record_get2},
	{HWT_IOC_BUFPTR_GET, NO_MUTEX, do_bufptr_get},
	{HWT_IOC_POSITION_GET, NO_MUTEX, do_position_get},
	{HWT_IOC_SET_CONFIG, 0, do_set_config},
	{HWT_IOC_SET_CONFIG2, 0, do_set_config2},
	{HWT_IOC_WAKEUP, NO_MUTEX, do_wakeup},
	{HWT_IOC_WAKEUP_TID, NO_MUTEX, do_wakeup_tid},
	{HWT_IOC_SVC_BUF, 0, do_svc_buf},
	{HWT_IOC_KERNEL_READ, NO_MUTEX, do_kernel_read},
};

static const struct request *request_find(unsigned int cmd, bool on_device)
{
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (requests[i].cmd == cmd)
			return on_device == (requests[i].flags & ON_DEVICE) ? &requests[i]
									    : NULL;
	return NULL;
}

static int request_on_context(const struct request *r, struct call *c, void *arg)
{
	int rc = -ENXIO;

	if (c->cred->owner != c->ctx->owner)
		return -EPERM;
	if (hwt_context_is_dying(c->ctx))
		return -ENXIO;
	if (r->flags & NO_MUTEX)
		return r->fn(c, arg);
	hwt_mutex_lock(&c->ctx->mutex);
	if (!hwt_context_is_dying(c->ctx))
		rc = r->fn(c, arg);
	hwt_mutex_unlock(&c->ctx->mutex);
	return rc;
}

int hwt_ioctl(struct hwt_core *core, const struct hwt_cred *cred,
	      struct hwt_context *ctx, struct hwt_buffer *buffer,
	      unsigned int cmd, void *arg)
{
	const struct request *r = request_find(cmd, !ctx);
	struct call c = {core, cred, ctx, buffer, !buffer};

	if (!r)
		return -ENOTTY;
	if (!ctx)
		return r->fn(&c, arg);
	if (!c.buffer)
		c.buffer = hwt_context_first(ctx);
	return request_on_context(r, &c, arg);
}
