/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a context's queue: written, acted upon, and their threads woken. */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const void *payload(const struct hwt_rec *rec)
{
	return rec + 1;
}

static int on_mmap(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_mmap *map = payload(rec);
	int err = 0;

	/* The embedded host's programs have none. */
	if (strcmp(map->path, "[vdso]") == 0)
		err = code_of_process(ctx, rec, map);
	keep_map(&ctx->r->keep, rec, map);
	return err ? err : filter_map(ctx, map);
}

static int on_munmap(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_munmap *un = payload(rec);

	keep_unmap(&ctx->r->keep, ctx->pid, un->addr, un->len);
	return filter_unmap(ctx, un->addr, un->len);
}

/* What was forked to become the program has become it, and stands still. */
static int program_begins(struct context *ctx)
{
	struct recorder *r = ctx->r;
	char *said = r->error;
	int err = 0;

	r->exec_pending = false;
	if (r->opt->nfilters == 0) {
		err = context_configure(ctx);
		if (!err)
			err = context_start(ctx);
	}
	target_ready(r);
	return recorder_unless_gone(r, err, said);
}

/* Its trace ends here; its EXIT record follows. */
static void note_stray(struct record_strays *strays, const struct context *ctx,
		       const char *path)
{
	if (strays->n++)
		return;
	strays->pid = ctx->pid;
	snprintf(strays->program, sizeof(strays->program), "%s", path);
}

static int on_exec(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_exec *exec = payload(rec);

	if (rec->flags & HWT_REC_REVOKED) {
		note_stray(&ctx->r->result->revoked, ctx, exec->path);
		return 0;
	}
	keep_unmap_all(&ctx->r->keep, ctx->pid);
	if (ctx->r->exec_pending && ctx->pid == (uint32_t)ctx->r->pid)
		return program_begins(ctx);
	return filter_exec(ctx);
}

static int on_native(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_native *native = payload(rec);

	note_stray(&ctx->r->result->native, ctx, native->path);
	return 0;
}

static int on_thread_create(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_thread *thread = payload(rec);
	int err = buffer_open(ctx, thread->tid);

	/* Gone already, with all that it did: its buffer was never opened. */
	if (err == -ENOENT) {
		ctx->r->result->lost_records++;
		return 0;
	}
	if (err)
		return recorder_fail(ctx->r, err, "opening the buffer of thread %u: %s",
				     thread->tid, strerror(-err));
	return ctx->existing ? existing_thread(ctx, rec, thread->tid) : 0;
}

static int on_thread_exit(struct context *ctx, const struct hwt_rec *rec)
{
	struct buffer *b = buffer_find(ctx, rec->tid);

	if (!b)
		return 0;
	/*
	 * The first thread's may go on: an exec by another thread takes it over.  Others
	 * write to one that is shared.
	 */
	if (rec->tid == ctx->pid || ctx->r->query.scope == HWT_SCOPE_CONTEXT)
		return buffer_save(b, rec->position);
	return buffer_finish(b, rec->position);
}

static int on_buffer(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_buffer *buf = payload(rec);
	struct buffer *b = buffer_find(ctx, buf->buf_id);

	if (!b)
		return 0;
	/* Of a ring that wrapped they are bytes. */
	if (!(buf->flags & HWT_BUF_WRAPPED) && buf->lost > b->events_lost) {
		ctx->r->result->gaps += buf->lost - b->events_lost;
		b->events_lost = buf->lost;
		b->gap = true;
	}
	return buffer_save(b, buf->head);
}

/*
 * The child stands before its first instruction until it has a context, or it
 * is known that it gets none.
 */
static int on_fork(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_fork *fork = payload(rec);
	struct recorder *r = ctx->r;
	int err;

	if (!r->opt->follow)
		return 0;
	err = context_open(r, fork->child_pid, ctx);
	if (err == 0) {
		keep_fork(&r->keep, ctx->pid, fork->child_pid);
		context_wake(r->contexts, fork->child_tid);
	} else {
		/* Killed meanwhile, or out of memory: the others' recording goes on. */
		r->result->untraced++;
		free(r->error);
		r->error = NULL;
	}
	return context_wake(ctx, fork->child_tid);
}

static int on_kernel(struct context *ctx, const struct hwt_rec *rec)
{
	return kernel_object(ctx, rec);
}

static int on_lost(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_lost *lost = payload(rec);

	ctx->r->result->lost_records += lost->count;
	return 0;
}

static int on_exit_record(struct context *ctx, const struct hwt_rec *rec)
{
	ctx->ended = true;
	keep_unmap_all(&ctx->r->keep, ctx->pid);
	return 0;
}

static const struct event_row {
	size_t size;			/* of the payload, at least */
	int (*act)(struct context *ctx, const struct hwt_rec *rec);
} rows[HWT_REC_TYPE_MAX] = {
	[HWT_REC_MMAP] = { sizeof(struct hwt_rec_mmap) + 1, on_mmap },
	[HWT_REC_MUNMAP] = { sizeof(struct hwt_rec_munmap), on_munmap },
	[HWT_REC_EXEC] = { sizeof(struct hwt_rec_exec) + 1, on_exec },
	[HWT_REC_THREAD_CREATE] = { sizeof(struct hwt_rec_thread), on_thread_create },
	[HWT_REC_THREAD_EXIT] = { sizeof(struct hwt_rec_thread), on_thread_exit },
	[HWT_REC_FORK] = { sizeof(struct hwt_rec_fork), on_fork },
	[HWT_REC_BUFFER] = { sizeof(struct hwt_rec_buffer), on_buffer },
	[HWT_REC_KERNEL] = { sizeof(struct hwt_rec_kernel) + 1, on_kernel },
	[HWT_REC_LOST] = { sizeof(struct hwt_rec_lost), on_lost },
	[HWT_REC_NATIVE] = { sizeof(struct hwt_rec_native) + 1, on_native },
	[HWT_REC_EXIT] = { sizeof(struct hwt_rec_exit), on_exit_record },
};

static void note_pause(struct context *ctx, uint32_t tid, int *err)
{
	int i;

	for (i = 0; i < ctx->nwake && ctx->wake[i] != tid; i++)
		;
	if (i < ctx->nwake)
		return;
	if (ctx->nwake == (int)(sizeof(ctx->wake) / sizeof(ctx->wake[0])))
		context_wake_all(ctx, err);
	ctx->wake[ctx->nwake++] = tid;
}

/*
 * Written first: what is acted upon (a mapping that a filter waits for) must be
 * in the file before bytes that depend on it.
 */
static int handle(struct context *ctx, const struct hwt_rec *rec)
{
	const struct event_row *row = rec->type < HWT_REC_TYPE_MAX ? &rows[rec->type] : NULL;
	int err = 0;

	if (ctx->existing && !ctx->told_existing) {
		ctx->told_existing = true;
		err = existing_maps(ctx, rec);
	}
	if (!err)
		err = sink_record(&ctx->r->sink, rec);
	if (!err && row && row->act && rec->size >= sizeof(*rec) + row->size)
		err = row->act(ctx, rec);
	if ((rec->flags & HWT_REC_PAUSED) && rec->type != HWT_REC_FORK)
		note_pause(ctx, rec->tid, &err);
	return err;
}

static int handle_all(struct context *ctx, const char *p, size_t used)
{
	const struct hwt_rec *rec;
	size_t at;
	int err = 0, each;

	for (at = 0; used - at >= sizeof(*rec); at += rec->size) {
		rec = (const struct hwt_rec *)(const void *)(p + at);
		if (rec->size < sizeof(*rec) || rec->size > used - at || rec->size % 8)
			return recorder_fail(ctx->r, -EPROTO, "the host gave a malformed record");
		each = handle(ctx, rec);
		err = err ? err : each;
	}
	return err;
}

static int grow_room(struct recorder *r, size_t size)
{
	void *room = realloc(r->records, size);

	if (!room)
		return -ENOMEM;
	r->records = room;
	r->records_size = size;
	return 0;
}

/* Empties the queue. */
static int drain(struct context *ctx)
{
	struct recorder *r = ctx->r;
	struct hwt_record_get2 get;
	int err;

	for (;;) {
		get = (struct hwt_record_get2){
			.buf = (uintptr_t)r->records,
			.size = (uint32_t)r->records_size,
		};
		err = hwt_dev_ioctl(ctx->dev, HWT_IOC_RECORD_GET2, &get);
		if (err == -EINVAL && get.used > r->records_size) {
			err = grow_room(r, get.used);
			if (err)
				return err;
			continue;
		}
		if (err == -EINTR)
			continue;
		if (err || get.used == 0)
			return err;
		err = handle_all(ctx, r->records, get.used);
		/*
		 * An exec and the mappings that belong to it are many records of one
		 * pause: wake when there was nothing more to fetch.
		 */
		if (get.used + RECORD_LARGEST <= r->records_size)
			context_wake_all(ctx, &err);
		if (err)
			return err;
	}
}

int events_drain(struct context *ctx)
{
	int err = drain(ctx);

	/* Whatever went wrong, nobody is left waiting. */
	context_wake_all(ctx, &err);
	return err;
}
