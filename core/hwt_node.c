/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Device nodes: open, close, mmap, poll. */
#include "hwt_buffer.h"
#include "hwt_context.h"
#include "hwt_thread.h"

int hwt_node_open(struct hwt_core *core, const struct hwt_cred *cred,
		  struct hwt_context *ctx)
{
	hwt_irqflags_t flags;
	int rc = 0;

	if (cred->uid != ctx->uid && !cred->perfmon)
		return -EACCES;
	hwt_spin_lock(&core->lock, flags);
	if (ctx->killed) {
		rc = -ENXIO;
	} else {
		hwt_context_get(ctx);
		ctx->opens += cred->owner == ctx->owner;
	}
	hwt_spin_unlock(&core->lock, flags);
	return rc;
}

void hwt_node_close(struct hwt_core *core, const struct hwt_cred *cred,
		    struct hwt_context *ctx)
{
	bool last = false;
	hwt_irqflags_t flags;

	hwt_spin_lock(&core->lock, flags);
	if (cred->owner == ctx->owner)
		last = --ctx->opens == 0;
	hwt_spin_unlock(&core->lock, flags);
	if (last)
		hwt_context_kill(ctx);
	hwt_context_put(ctx);
	hwt_context_reap(core, false);
}

int hwt_node_mmap(struct hwt_core *core, const struct hwt_cred *cred,
		  struct hwt_context *ctx, struct hwt_buffer *buffer,
		  uint64_t offset, uint64_t length, bool writable,
		  struct hwt_pages **pages)
{
	if (!ctx)
		return -EINVAL;
	if (writable || cred->owner != ctx->owner)
		return -EACCES;
	if (hwt_context_is_dying(ctx))
		return -ENXIO;
	if (!buffer)
		buffer = hwt_context_first(ctx);
	if (buffer)
		buffer = hwt_buffer_sink(buffer);
	if (!buffer || !buffer->pages)
		return -ENXIO;
	if (!length || offset % HWT_PAGE_SIZE || offset >= buffer->bufsize ||
	    length > buffer->bufsize - offset)
		return -EINVAL;
	*pages = buffer->pages;
	return 0;
}

bool hwt_node_poll(struct hwt_context *ctx, struct hwt_wait **wait)
{
	*wait = &ctx->queue.wait;
	return hwt_record_ready(&ctx->queue);
}

void hwt_buffer_idle(struct hwt_core *core, struct hwt_context *ctx,
		     struct hwt_buffer *buffer)
{
	struct hwt_thread *thr = buffer ? buffer->thr : NULL;

	/*
	 * The leader's is taken up again if another thread calls execve; one that is
	 * shared, by the next thread.
	 */
	if (!thr || hwt_thread_tid(thr) == ctx->pid ||
	    ctx->backend->scope == HWT_SCOPE_CONTEXT)
		return;
	hwt_mutex_lock(&ctx->mutex);
	if (!hwt_context_is_dying(ctx) && !buffer->retired && buffer->node &&
	    hwt_thread_is_dead(thr) && hwt_record_buffer_fetched(buffer)) {
		hwt_thread_retire(thr);
		core->ops->node_destroy(core->host, buffer->node);
		buffer->node = NULL;
		hwt_buffer_fini(buffer);
	}
	hwt_mutex_unlock(&ctx->mutex);
}
