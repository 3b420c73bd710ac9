/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hooks of threads' lives, of the scheduler and of the unit's interrupt. */
#include "hwt_hook.h"
#include "hwt_buffer.h"
#include "hwt_context.h"
#include "hwt_contexthash.h"
#include "hwt_cpu.h"

/* The context and thread that a hook is about; NULL: neither, nothing to leave. */
static struct hwt_context *enter(struct hwt_core *core, int pid, int tid,
				 struct hwt_thread **thr)
{
	struct hwt_context *ctx = hwt_contexthash_lookup(core, pid);

	*thr = ctx ? hwt_thread_lookup(ctx, tid) : NULL;
	return ctx;
}

void hwt_hook_switch_in(struct hwt_core *core, int pid, int tid, int unit)
{
	struct hwt_thread *thr;
	struct hwt_context *ctx = enter(core, pid, tid, &thr);

	if (!ctx)
		return;
	if (thr)
		hwt_thread_sync_here(thr, unit);
	hwt_context_leave(ctx);
}

void hwt_hook_switch_out(struct hwt_core *core, int pid, int tid, int unit)
{
	struct hwt_thread *thr;
	struct hwt_context *ctx = enter(core, pid, tid, &thr);

	if (!ctx)
		return;
	/* Else another thread's number, which an exec exchanged with this one's. */
	if (thr && hwt_thread_unit(thr) == unit) {
		hwt_buffer_leave(&thr->buf);
		hwt_store_release(&thr->unit, -1);
	}
	hwt_context_leave(ctx);
}

int hwt_hook_irq(struct hwt_core *core, int pid, int tid, int unit)
{
	int bits = hwt_cpu_irq(core, unit);
	struct hwt_thread *thr;
	struct hwt_context *ctx;

	if (bits)
		return bits;
	ctx = enter(core, pid, tid, &thr);
	if (!ctx)
		return HWT_IRQ_NONE;
	if (thr)
		bits = hwt_buffer_irq(&thr->buf, unit);
	hwt_context_leave(ctx);
	return bits;
}

int hwt_hook_irq_resume(struct hwt_core *core, int pid, int tid, int unit)
{
	int rc = hwt_cpu_irq_resume(core, unit);
	struct hwt_thread *thr;
	struct hwt_context *ctx;

	if (rc)
		return rc;
	ctx = enter(core, pid, tid, &thr);
	if (!ctx)
		return 0;
	if (thr)
		rc = hwt_buffer_resume(&thr->buf, unit);
	hwt_context_leave(ctx);
	return rc;
}

static int thread_record(struct hwt_context *ctx, struct hwt_thread *thr,
			 const struct hwt_hook_where *at, int type, int tid, int status)
{
	struct hwt_rec_thread payload = {.tid = tid, .status = status};
	struct hwt_record_parts parts = {.fixed = &payload, .nfixed = sizeof(payload)};

	hwt_hook_header(ctx, thr, at, type, &parts.rec);
	return hwt_hook_result(ctx, hwt_record_put(ctx, &parts, NULL), false);
}

/* Where its trace goes, unless that was told. */
static int source_record(struct hwt_context *ctx, struct hwt_thread *thr,
			 const struct hwt_hook_where *at)
{
	struct hwt_rec rec;

	hwt_hook_header(ctx, thr, at, HWT_REC_SOURCE, &rec);
	return hwt_hook_result(ctx, hwt_buffer_tell_source(&thr->buf, &rec, false), false);
}

/* Buffer, node and save area, before the record that tells of them. */
static int thread_born(struct hwt_context *ctx, const struct hwt_hook_where *at,
		       int new_tid, int unit)
{
	struct hwt_thread *thr, *parent;
	bool mine;
	int rc = hwt_thread_add(ctx, new_tid, unit, false, &thr);

	if (rc == -ENXIO)
		return rc;	/* the context ends */
	if (rc && rc != -EEXIST) {
		hwt_warn("hwt: thread %d is not traced: error %d", new_tid, -rc);
		hwt_record_lose(ctx);
		return rc;
	}
	mine = hwt_thread_announce(thr, true);
	if (mine) {
		parent = hwt_thread_lookup(ctx, at->tid);
		rc = thread_record(ctx, parent, at, HWT_REC_THREAD_CREATE,
				   thr->buf.buf_id, 0);
		if (rc < 0) {
			hwt_thread_announce(thr, false);
			return rc;
		}
	}
	rc = source_record(ctx, thr, at);
	if (rc < 0)
		return rc;
	/* Called again for the source's record alone: the other one is out. */
	if (mine || thr->buf.source)
		hwt_thread_tell(thr);
	if (unit >= 0)
		hwt_thread_sync_here(thr, unit);
	return HWT_HOOK_TRACED;
}

int hwt_hook_thread_create(struct hwt_core *core, const struct hwt_hook_where *at,
			   int new_tid, int unit)
{
	struct hwt_context *ctx = hwt_contexthash_lookup(core, at->pid);
	int rc = 0;

	if (!ctx)
		return 0;
	if (!hwt_context_is_dying(ctx))
		rc = thread_born(ctx, at, new_tid, unit);
	hwt_context_leave(ctx);
	return rc == -ENXIO ? 0 : rc;
}

/* Its last bytes, its THREAD_EXIT, its last BUFFER record; may be called again. */
static int thread_end(struct hwt_context *ctx, struct hwt_thread *thr,
		      const struct hwt_hook_where *at, int status)
{
	int rc;

	if (hwt_thread_is_dead(thr))
		return HWT_HOOK_TRACED;
	hwt_buffer_finish(&thr->buf);
	rc = thread_record(ctx, thr, at, HWT_REC_THREAD_EXIT, thr->buf.buf_id, status);
	if (rc < 0)
		return rc;
	/* Dead only then: once all are, the process's EXIT may be fetched. */
	hwt_buffer_publish(&thr->buf, at->unit, HWT_BUF_FINAL);
	hwt_thread_kill(thr);
	return rc;
}

static bool none_lives(struct hwt_context *ctx)
{
	struct hwt_thread *thr = hwt_thread_next(ctx, NULL);

	while (thr && hwt_thread_is_dead(thr))
		thr = hwt_thread_next(ctx, thr);
	return !thr;
}

int hwt_hook_thread_exit(struct hwt_core *core, const struct hwt_hook_where *at,
			 int status)
{
	struct hwt_thread *thr;
	struct hwt_context *ctx = enter(core, at->pid, at->tid, &thr);
	int rc = 0;

	if (!ctx)
		return 0;
	if (thr)
		rc = thread_end(ctx, thr, at, status);
	if (rc >= 0 && none_lives(ctx))
		rc |= HWT_HOOK_LAST;
	hwt_context_leave(ctx);
	return rc;
}

void hwt_hook_lost(struct hwt_core *core, int pid)
{
	struct hwt_context *ctx = hwt_contexthash_lookup(core, pid);

	if (!ctx)
		return;
	hwt_record_lose(ctx);
	hwt_context_leave(ctx);
}

bool hwt_hook_is_traced(struct hwt_core *core, int pid)
{
	struct hwt_context *ctx = hwt_contexthash_lookup(core, pid);

	if (ctx)
		hwt_context_leave(ctx);
	return ctx != NULL;
}

/* Each thread's last bytes, from units that are gone by now. */
static void threads_finish(struct hwt_context *ctx, const struct hwt_hook_where *at)
{
	struct hwt_thread *thr;

	for (thr = hwt_thread_next(ctx, NULL); thr; thr = hwt_thread_next(ctx, thr)) {
		if (!hwt_thread_kill(thr))
			continue;
		hwt_buffer_finish(&thr->buf);
		hwt_buffer_publish(&thr->buf, at->unit, HWT_BUF_FINAL);
	}
}

/* No hook of the process comes to ctx any more; the EXIT record is its last. */
static void context_exit(struct hwt_context *ctx, struct hwt_thread *thr,
			 const struct hwt_hook_where *at, uint16_t rec_flags, int status)
{
	hwt_irqflags_t flags;
	struct hwt_rec rec;

	threads_finish(ctx, at);
	hwt_spin_lock(&ctx->lock, flags);
	ctx->exited = true;
	hwt_spin_unlock(&ctx->lock, flags);
	hwt_hook_header(ctx, thr, at, HWT_REC_EXIT, &rec);
	rec.flags = rec_flags;
	hwt_record_exit(ctx, &rec, status);
	/* The pid may come again for another process. */
	hwt_contexthash_remove(ctx);
	hwt_core_wakeup(ctx->core);
}

int hwt_hook_exit(struct hwt_core *core, const struct hwt_hook_where *at, int status)
{
	struct hwt_thread *thr;
	struct hwt_context *ctx = enter(core, at->pid, at->tid, &thr);

	if (hwt_child_wake(core, NULL, at->pid, 0, false))
		hwt_core_wakeup(core);
	if (!ctx)
		return 0;
	context_exit(ctx, thr, at, 0, status);
	hwt_context_leave(ctx);
	return HWT_HOOK_TRACED;
}

/* exec leaves one thread: -EAGAIN, or 0 when all others have ended. */
static int others_end(struct hwt_context *ctx, const struct hwt_hook_where *at)
{
	struct hwt_hook_where where = *at;
	struct hwt_thread *thr;
	int rc;

	for (thr = hwt_thread_next(ctx, NULL); thr; thr = hwt_thread_next(ctx, thr)) {
		if (hwt_thread_tid(thr) == at->tid)
			continue;
		rc = thread_end(ctx, thr, &where, 0);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * The thread that goes on: in the leader's buffer.  The new image's part of the
 * stream begins with a sync point; nothing of the old one decodes it.
 */
static struct hwt_thread *exec_thread(struct hwt_context *ctx,
				      const struct hwt_hook_where *at)
{
	struct hwt_thread *thr = hwt_thread_lookup(ctx, at->tid);

	if (!thr)
		return NULL;
	if (hwt_thread_revive(thr, at->unit))
		hwt_buffer_revive(&thr->buf);
	hwt_buffer_restart(&thr->buf);
	return thr;
}

static bool is_allowed(struct hwt_context *ctx)
{
	const struct hwt_host_ops *ops = ctx->core->ops;

	return !ops->target_allowed || ops->target_allowed(ctx->core->host, ctx->target);
}

static int exec_publish(struct hwt_context *ctx, const struct hwt_hook_where *at,
			int old_tid, const char *path, uint64_t addr, uint64_t base)
{
	struct hwt_rec_exec payload = {
		.old_tid = hwt_core_pid_to_user(ctx->core, ctx->target, old_tid),
		.addr = addr,
		.baseaddr = base,
	};
	struct hwt_record_parts parts = {
		.fixed = &payload,
		.nfixed = sizeof(payload),
		.var = path,
		.nvar = path ? hwt_strnlen(path, HWT_PATH_MAX - 1) : 0,
		.string = true,
	};
	struct hwt_thread *thr;
	struct hwt_pause *pause = NULL;
	bool allowed = is_allowed(ctx);
	int rc;

	hwt_thread_rename(ctx, old_tid, at->tid);
	rc = others_end(ctx, at);
	if (rc < 0)
		return rc;
	thr = exec_thread(ctx, at);
	rc = thr ? source_record(ctx, thr, at) : 0;
	if (rc < 0)
		return rc;
	hwt_hook_header(ctx, thr, at, HWT_REC_EXEC, &parts.rec);
	if (!allowed) {
		parts.rec.flags = HWT_REC_REVOKED;
		rc = hwt_record_put(ctx, &parts, NULL);
		if (rc != -EAGAIN)
			context_exit(ctx, thr, at, HWT_REC_REVOKED, 0);
		return hwt_hook_result(ctx, rc, false);
	}
	if (thr && hwt_context_pauses(ctx) & HWT_PAUSE_EXEC)
		pause = &thr->pause;
	rc = hwt_record_put(ctx, &parts, pause);
	rc = hwt_hook_result(ctx, rc, pause != NULL);
	if (thr && at->unit >= 0 && rc >= 0)
		hwt_buffer_sync(&thr->buf, at->unit);
	return rc;
}

int hwt_hook_exec(struct hwt_core *core, const struct hwt_hook_where *at,
		  int old_tid, const char *path, uint64_t addr, uint64_t base)
{
	struct hwt_context *ctx = hwt_contexthash_lookup(core, at->pid);
	int rc = 0;

	if (!ctx)
		return 0;
	if (!hwt_context_is_dying(ctx))
		rc = exec_publish(ctx, at, old_tid, path, addr, base);
	hwt_context_leave(ctx);
	return rc;
}
