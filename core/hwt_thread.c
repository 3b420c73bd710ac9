/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_thread.h"
#include "hwt_buffer.h"
#include "hwt_context.h"

static struct hwt_thread **tid_bucket(struct hwt_context *ctx, int tid)
{
	return &ctx->tids[(uint32_t)tid & (HWT_TIDHASH - 1)];
}

/* ctx->lock held. */
static struct hwt_thread *tid_find(struct hwt_context *ctx, int tid)
{
	struct hwt_thread *thr = *tid_bucket(ctx, tid);

	while (thr && thr->tid != tid)
		thr = thr->hash_next;
	return thr;
}

struct hwt_thread *hwt_thread_lookup(struct hwt_context *ctx, int tid)
{
	struct hwt_thread *thr;
	hwt_irqflags_t flags;

	hwt_spin_lock(&ctx->lock, flags);
	thr = tid_find(ctx, tid);
	hwt_spin_unlock(&ctx->lock, flags);
	return thr;
}

struct hwt_thread *hwt_thread_next(struct hwt_context *ctx, struct hwt_thread *prev)
{
	struct hwt_thread *thr;
	hwt_irqflags_t flags;

	hwt_spin_lock(&ctx->lock, flags);
	thr = prev ? prev->next : ctx->threads;
	hwt_spin_unlock(&ctx->lock, flags);
	return thr;
}

bool hwt_thread_rename(struct hwt_context *ctx, int from, int to)
{
	struct hwt_thread *thr, **p;
	hwt_irqflags_t flags;

	hwt_spin_lock(&ctx->lock, flags);
	thr = tid_find(ctx, to) ? NULL : tid_find(ctx, from);
	if (thr) {
		for (p = tid_bucket(ctx, from); *p != thr; p = &(*p)->hash_next)
			;
		*p = thr->hash_next;
		hwt_store_release(&thr->tid, to);
		p = tid_bucket(ctx, to);
		thr->hash_next = *p;
		*p = thr;
	}
	hwt_spin_unlock(&ctx->lock, flags);
	return thr != NULL;
}

static struct hwt_thread *thread_alloc(struct hwt_context *ctx, int tid, int unit, int *rc)
{
	struct hwt_thread *thr = hwt_alloc(sizeof(*thr), HWT_MAY_SLEEP);
	int user_tid = hwt_core_pid_to_user(ctx->core, ctx->target, tid);

	*rc = -ENOMEM;
	if (!thr)
		return NULL;
	thr->ctx = ctx;
	thr->tid = tid;
	thr->unit = unit;
	hwt_wait_init(&thr->pause.wait);
	thr->buf.thr = thr;
	*rc = hwt_buffer_init(&thr->buf, ctx, user_tid);
	if (*rc) {
		hwt_free(thr);
		return NULL;
	}
	return thr;
}

void hwt_thread_free(struct hwt_thread *thr)
{
	hwt_buffer_fini(&thr->buf);
	hwt_free(thr);
}

/* A tid that came back goes on in its old buffer; ctx->lock held. */
static bool thread_revive(struct hwt_thread *thr, int unit)
{
	bool was = thr->dead;

	hwt_store_release(&thr->unit, unit);
	thr->dead = false;
	if (was)
		thr->announced = false;
	return was;
}

bool hwt_thread_revive(struct hwt_thread *thr, int unit)
{
	hwt_irqflags_t flags;
	bool was;

	hwt_spin_lock(&thr->ctx->lock, flags);
	was = thread_revive(thr, unit);
	hwt_spin_unlock(&thr->ctx->lock, flags);
	return was;
}

bool hwt_thread_announce(struct hwt_thread *thr, bool publish)
{
	hwt_irqflags_t flags;
	bool was;

	hwt_spin_lock(&thr->ctx->lock, flags);
	was = thr->announced;
	thr->announced = publish;
	hwt_spin_unlock(&thr->ctx->lock, flags);
	return publish && !was;
}

/*
 * Puts thr into the tables unless the tid is there: then that one.  One whose
 * pages were given back is only replaced in the hash.
 */
static struct hwt_thread *thread_insert(struct hwt_context *ctx, struct hwt_thread *thr,
					bool *revived)
{
	struct hwt_thread *old, **p = tid_bucket(ctx, thr->tid);
	hwt_irqflags_t flags;

	*revived = false;
	hwt_spin_lock(&ctx->lock, flags);
	old = tid_find(ctx, thr->tid);
	if (old && !old->buf.retired) {
		*revived = thread_revive(old, thr->unit);
		hwt_spin_unlock(&ctx->lock, flags);
		return old;
	}
	thr->hash_next = *p;
	*p = thr;
	*ctx->threads_end = thr;
	ctx->threads_end = &thr->next;
	hwt_spin_unlock(&ctx->lock, flags);
	return thr;
}

static int thread_node(struct hwt_thread *thr, int d)
{
	struct hwt_context *ctx = thr->ctx;
	struct hwt_core *core = ctx->core;
	struct hwt_node *node = NULL;
	char name[HWT_NODE_NAME];
	hwt_irqflags_t flags;
	bool keep;
	int rc;

	hwt_context_node_name(name, ctx->ident, d);
	rc = core->ops->node_create(core->host, name, ctx, &thr->buf, ctx->uid, &node);
	if (rc)
		return rc;
	hwt_spin_lock(&ctx->lock, flags);
	keep = !ctx->dying;
	if (keep)
		thr->buf.node = node;
	hwt_spin_unlock(&ctx->lock, flags);
	if (keep)
		return 0;
	core->ops->node_destroy(core->host, node);
	return -ENXIO;
}

int hwt_thread_add(struct hwt_context *ctx, int tid, int unit, bool pid_node,
		   struct hwt_thread **out)
{
	struct hwt_thread *thr, *in;
	bool revived;
	int rc;

	in = hwt_thread_lookup(ctx, tid);
	if (in && !hwt_thread_is_dead(in)) {
		hwt_store_release(&in->unit, unit);
		*out = in;
		return -EEXIST;
	}
	thr = thread_alloc(ctx, tid, unit, &rc);
	if (!thr)
		return rc;
	in = thread_insert(ctx, thr, &revived);
	*out = in;
	if (in != thr) {
		hwt_thread_free(thr);
		if (revived) {
			hwt_store_release(&in->told, false);
			hwt_buffer_revive(&in->buf);
		}
		return revived ? 0 : -EEXIST;
	}
	rc = thread_node(thr, pid_node ? ctx->user_pid : thr->buf.buf_id);
	if (rc) {
		/* Others may have seen it: it stays, as dead and without a node. */
		hwt_buffer_finish(&thr->buf);
		hwt_thread_kill(thr);
		hwt_thread_retire(thr);
	}
	return rc;
}

bool hwt_thread_kill(struct hwt_thread *thr)
{
	hwt_irqflags_t flags;
	bool was;

	hwt_spin_lock(&thr->ctx->lock, flags);
	was = !thr->dead;
	thr->dead = true;
	hwt_spin_unlock(&thr->ctx->lock, flags);
	hwt_pause_end(&thr->ctx->queue, &thr->pause, false);
	return was;
}

void hwt_thread_retire(struct hwt_thread *thr)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&thr->ctx->lock, flags);
	thr->buf.retired = true;
	hwt_spin_unlock(&thr->ctx->lock, flags);
}

bool hwt_thread_is_dead(struct hwt_thread *thr)
{
	hwt_irqflags_t flags;
	bool dead;

	hwt_spin_lock(&thr->ctx->lock, flags);
	dead = thr->dead;
	hwt_spin_unlock(&thr->ctx->lock, flags);
	return dead;
}

void hwt_thread_tell(struct hwt_thread *thr)
{
	hwt_store_release(&thr->told, true);
}

void hwt_thread_sync_here(struct hwt_thread *thr, int unit)
{
	hwt_store_release(&thr->unit, unit);
	if (hwt_load_acquire(&thr->told))
		hwt_buffer_sync(&thr->buf, unit);
}

static void sync_on_cpu(void *arg, int cpu)
{
	hwt_thread_sync_here(arg, cpu);
}

void hwt_thread_sync(struct hwt_thread *thr)
{
	struct hwt_core *core = thr->ctx->core;

	/* -EAGAIN: at its next switch-in. -ESRCH: its exit is on the way. */
	if (!hwt_thread_is_dead(thr))
		core->ops->thread_call(core->host, thr, sync_on_cpu, thr);
}

int hwt_thread_pid(const struct hwt_thread *thr)
{
	return thr->ctx->pid;
}

int hwt_thread_tid(const struct hwt_thread *thr)
{
	return hwt_load_acquire(&thr->tid);
}

int hwt_thread_unit(const struct hwt_thread *thr)
{
	return hwt_load_acquire(&thr->unit);
}
