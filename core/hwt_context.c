/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_context.h"
#include "hwt_buffer.h"
#include "hwt_contexthash.h"
#include "hwt_cpu.h"
#include "hwt_owner.h"
#include "hwt_thread.h"

void hwt_context_wants(struct hwt_context *ctx, struct hwt_context_wants *out)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&ctx->lock, flags);
	out->running = ctx->running && !ctx->dying;
	out->start_seq = ctx->start_seq;
	out->config_seq = ctx->config_seq;
	hwt_spin_unlock(&ctx->lock, flags);
}

void hwt_context_configure(struct hwt_context *ctx, struct hwt_buffer *b)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&ctx->lock, flags);
	if (ctx->config && b->config_seq != ctx->config_seq)
		ctx->backend->ops->set_config(b, ctx->config);
	b->config_seq = ctx->config_seq;
	hwt_spin_unlock(&ctx->lock, flags);
}

bool hwt_context_ring(struct hwt_context *ctx)
{
	hwt_irqflags_t flags;
	bool full;

	hwt_spin_lock(&ctx->lock, flags);
	full = ctx->full;
	hwt_spin_unlock(&ctx->lock, flags);
	return !full && (ctx->backend->flags & HWT_QUERY_RING);
}

static bool context_flag(struct hwt_context *ctx, const bool *flag)
{
	hwt_irqflags_t flags;
	bool v;

	hwt_spin_lock(&ctx->lock, flags);
	v = *flag;
	hwt_spin_unlock(&ctx->lock, flags);
	return v;
}

bool hwt_context_is_dying(struct hwt_context *ctx)
{
	return context_flag(ctx, &ctx->dying);
}

bool hwt_context_is_running(struct hwt_context *ctx)
{
	return context_flag(ctx, &ctx->running);
}

bool hwt_context_is_dead(struct hwt_context *ctx)
{
	struct hwt_core *core = ctx->core;

	if (ctx->mode != HWT_MODE_THREAD)
		return false;
	return context_flag(ctx, &ctx->exited) ||
	       core->ops->target_dead(core->host, ctx->target);
}

uint32_t hwt_context_pauses(struct hwt_context *ctx)
{
	hwt_irqflags_t flags;
	uint32_t pause;

	hwt_spin_lock(&ctx->lock, flags);
	pause = ctx->dying ? 0 : ctx->pause;
	hwt_spin_unlock(&ctx->lock, flags);
	return pause;
}

struct hwt_buffer *hwt_context_next(struct hwt_context *ctx, struct hwt_buffer *prev)
{
	struct hwt_thread *thr;
	struct hwt_cpu *cpu;

	if (ctx->mode == HWT_MODE_CPU) {
		cpu = prev ? HWT_CONTAINER_OF(prev, struct hwt_cpu, buf)->next : ctx->cpus;
		return cpu ? &cpu->buf : NULL;
	}
	thr = hwt_thread_next(ctx, prev ? prev->thr : NULL);
	return thr ? &thr->buf : NULL;
}

struct hwt_buffer *hwt_context_first(struct hwt_context *ctx)
{
	return hwt_context_next(ctx, NULL);
}

struct hwt_buffer *hwt_context_buffer(struct hwt_context *ctx, int buf_id)
{
	struct hwt_buffer *b;

	for (b = hwt_context_first(ctx); b; b = hwt_context_next(ctx, b))
		if (b->buf_id == buf_id && !context_flag(ctx, &b->retired))
			return b;
	return NULL;
}

int hwt_context_sync(struct hwt_context *ctx)
{
	struct hwt_thread *thr;

	if (ctx->mode == HWT_MODE_CPU)
		return hwt_cpu_sync(ctx);
	for (thr = hwt_thread_next(ctx, NULL); thr; thr = hwt_thread_next(ctx, thr))
		hwt_thread_sync(thr);
	return 0;
}

static char *put_number(char *p, int n)
{
	char digits[12];
	int i = 0;

	do
		digits[i++] = '0' + n % 10;
	while ((n /= 10) > 0);
	while (i)
		*p++ = digits[--i];
	return p;
}

void hwt_context_node_name(char *name, int ident, int d)
{
	char *p = name;

	hwt_memcpy(p, "hwt_", 4);
	p = put_number(p + 4, ident);
	*p++ = '_';
	*put_number(p, d) = 0;
}

/* The smallest ident that nobody has; core->lock held. */
static int free_ident(struct hwt_core *core)
{
	struct hwt_context *c = core->contexts;
	int ident = 0;

	while (c) {
		if (c->ident == ident) {
			ident++;
			c = core->contexts;
		} else {
			c = c->next;
		}
	}
	return ident;
}

struct hwt_context *hwt_context_alloc(struct hwt_core *core, const struct hwt_cred *cred,
				      struct hwt_backend *be, struct hwt_event *event,
				      uint64_t bufsize, int mode)
{
	struct hwt_context *ctx = hwt_alloc(sizeof(*ctx), HWT_MAY_SLEEP);
	hwt_irqflags_t flags;

	if (!ctx)
		return NULL;
	if (hwt_record_load(&ctx->queue)) {
		hwt_free(ctx);
		return NULL;
	}
	ctx->core = core;
	ctx->backend = be;
	ctx->event = event;
	ctx->bufsize = bufsize;
	ctx->mode = mode;
	ctx->owner = cred->owner;
	ctx->uid = cred->uid;
	ctx->threads_end = &ctx->threads;
	hwt_ref_init(&ctx->ref);
	hwt_ref_init(&ctx->users);
	hwt_mutex_init(&ctx->mutex);
	hwt_spin_init(&ctx->lock);
	hwt_spin_lock(&core->lock, flags);
	ctx->ident = free_ident(core);
	ctx->next = core->contexts;
	core->contexts = ctx;
	hwt_spin_unlock(&core->lock, flags);
	return ctx;
}

int hwt_context_own(struct hwt_context *ctx)
{
	struct hwt_owner *spare = hwt_alloc(sizeof(*spare), HWT_MAY_SLEEP);
	hwt_irqflags_t flags;
	bool used;

	if (!spare)
		return -ENOMEM;
	hwt_spin_lock(&ctx->core->lock, flags);
	used = hwt_owner_add(ctx->core, ctx, spare);
	hwt_spin_unlock(&ctx->core->lock, flags);
	if (!used)
		hwt_free(spare);
	return 0;
}

/* Nodes, children, pauses: what others could still see or wait for. */
static void context_release(struct hwt_context *ctx)
{
	const struct hwt_host_ops *ops = ctx->core->ops;
	struct hwt_buffer *b;

	hwt_record_close(&ctx->queue);
	for (b = hwt_context_first(ctx); b; b = hwt_context_next(ctx, b)) {
		if (b->thr)
			hwt_pause_end(&ctx->queue, &b->thr->pause, false);
		if (b->node)
			ops->node_destroy(ctx->core->host, b->node);
		b->node = NULL;
	}
	if (ctx->alias)
		ops->node_destroy(ctx->core->host, ctx->alias);
	ctx->alias = NULL;
	hwt_child_wake(ctx->core, ctx, 0, 0, false);
}

static bool context_on_unit(struct hwt_context *ctx)
{
	struct hwt_buffer *b;

	for (b = hwt_context_first(ctx); b; b = hwt_context_next(ctx, b))
		if (hwt_buffer_on_unit(b))
			return true;
	return false;
}

void hwt_context_kill(struct hwt_context *ctx)
{
	struct hwt_core *core = ctx->core;
	struct hwt_owner *owner = NULL;
	hwt_irqflags_t flags;
	bool mine;

	hwt_spin_lock(&core->lock, flags);
	mine = !ctx->killed;
	ctx->killed = true;
	if (mine)
		owner = hwt_owner_remove(core, ctx);
	hwt_spin_unlock(&core->lock, flags);
	if (!mine)
		return;
	hwt_free(owner);

	hwt_spin_lock(&ctx->lock, flags);
	ctx->dying = true;
	hwt_spin_unlock(&ctx->lock, flags);
	hwt_record_close(&ctx->queue);
	hwt_mutex_lock(&ctx->mutex);
	hwt_context_sync(ctx);
	if (ctx->mode == HWT_MODE_CPU)
		hwt_cpu_unlink(ctx);
	else if (!context_on_unit(ctx))
		hwt_contexthash_remove(ctx);
	context_release(ctx);
	hwt_mutex_unlock(&ctx->mutex);
	hwt_core_wakeup(core);
	hwt_context_put(ctx);
}

/* No hook comes in any more; waits for those that are in. */
static void context_drain(struct hwt_context *ctx)
{
	if (ctx->mode == HWT_MODE_THREAD)
		hwt_contexthash_remove(ctx);
	hwt_context_leave(ctx);
	/* Also for an owner that was killed: what follows frees the context. */
	hwt_wait_event_uninterruptible(&ctx->core->drained,
				       hwt_load_acquire(&ctx->is_drained));
}

static void context_free(struct hwt_context *ctx)
{
	struct hwt_core *core = ctx->core;
	struct hwt_context **p;
	struct hwt_thread *thr, *next;
	hwt_irqflags_t flags;
	struct hwt_buffer *b;

	context_drain(ctx);
	hwt_spin_lock(&core->lock, flags);
	for (p = &core->contexts; *p != ctx; p = &(*p)->next)
		;
	*p = ctx->next;
	hwt_spin_unlock(&core->lock, flags);
	/* Sources before their sinks. */
	for (b = hwt_context_first(ctx); b; b = hwt_context_next(ctx, b))
		if (b->sink != b)
			hwt_buffer_fini(b);
	for (thr = ctx->threads; thr; thr = next) {
		next = thr->next;
		hwt_thread_free(thr);
	}
	hwt_cpu_free(ctx);
	if (ctx->kernel_hooks && core->ops->kernel_done)
		core->ops->kernel_done(core->host);
	if (ctx->target)
		core->ops->target_put(core->host, ctx->target);
	if (ctx->event)
		core->ops->event_put(core->host, ctx->event);
	hwt_free(ctx->config);
	hwt_backend_unuse(core, ctx->backend);
	hwt_record_unload(&ctx->queue);
	hwt_mutex_destroy(&ctx->mutex);
	hwt_free(ctx);
}

void hwt_context_get(struct hwt_context *ctx)
{
	hwt_ref_get(&ctx->ref);
}

void hwt_context_put(struct hwt_context *ctx)
{
	struct hwt_core *core = ctx->core;
	hwt_irqflags_t flags;

	if (!hwt_ref_put(&ctx->ref))
		return;
	/*
	 * A thread in a system call may keep its unit until it comes back; the
	 * buffer that the unit points at has to outlive that.
	 */
	if (!context_on_unit(ctx)) {
		context_free(ctx);
		return;
	}
	hwt_spin_lock(&core->lock, flags);
	ctx->linger_next = core->lingering;
	core->lingering = ctx;
	hwt_spin_unlock(&core->lock, flags);
}

void hwt_context_leave(struct hwt_context *ctx)
{
	struct hwt_core *core = ctx->core;

	if (!hwt_ref_put(&ctx->users))
		return;
	/* The store lets the context go: only core is touched after it. */
	hwt_store_release(&ctx->is_drained, true);
	hwt_wait_wake(&core->drained);
}

/* Takes the lingering contexts off the list; the caller sorts them. */
static struct hwt_context *lingering_take(struct hwt_core *core)
{
	struct hwt_context *list;
	hwt_irqflags_t flags;

	hwt_spin_lock(&core->lock, flags);
	list = core->lingering;
	core->lingering = NULL;
	hwt_spin_unlock(&core->lock, flags);
	return list;
}

void hwt_context_reap(struct hwt_core *core, bool all)
{
	struct hwt_context *ctx, *next;
	hwt_irqflags_t flags;

	for (ctx = lingering_take(core); ctx; ctx = next) {
		next = ctx->linger_next;
		if (all || !context_on_unit(ctx)) {
			context_free(ctx);
			continue;
		}
		hwt_spin_lock(&core->lock, flags);
		ctx->linger_next = core->lingering;
		core->lingering = ctx;
		hwt_spin_unlock(&core->lock, flags);
	}
}
