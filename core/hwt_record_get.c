/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two ioctls that fetch records. */
#include "hwt_context.h"
#include "hwt_record.h"

/* Room was made: held hooks look again. */
static void reader_done(struct hwt_context *ctx)
{
	hwt_mutex_unlock(&ctx->queue.reader);
	hwt_wait_wake(&ctx->queue.room);
	hwt_core_wakeup(ctx->core);
}

/* Why the queue has nothing, if that is for good; else 0. */
static int queue_end(struct hwt_record_queue *q)
{
	hwt_irqflags_t flags;
	int rc;

	hwt_spin_lock(&q->lock, flags);
	rc = q->closed ? -ENXIO : q->exit_fetched ? -ESRCH : 0;
	hwt_spin_unlock(&q->lock, flags);
	return rc;
}

/*
 * Calls `fill`, which holds the queue's reader and says how many it fetched,
 * until there was something, an error, or nothing to wait for.
 */
static int fetch(struct hwt_context *ctx, bool wait, void *arg,
		 int (*fill)(struct hwt_context *ctx, void *arg))
{
	struct hwt_record_queue *q = &ctx->queue;
	int rc;

	for (;;) {
		hwt_mutex_lock(&q->reader);
		rc = fill(ctx, arg);
		reader_done(ctx);
		if (rc || !wait)
			return rc;
		rc = queue_end(q);
		if (!rc)
			rc = hwt_wait_event(&q->wait, hwt_record_ready(q));
		if (rc)
			return rc;
	}
}

static int fill_new(struct hwt_context *ctx, void *arg)
{
	struct hwt_record_get2 *get = arg;
	struct hwt_record_next next;
	uint32_t size;
	int n = 0;

	for (; (size = hwt_record_peek(ctx, &next)) != 0; n++) {
		if (size > get->size - get->used) {
			if (n)
				break;
			get->used = size;
			return -EINVAL;
		}
		if (hwt_copyout(ctx->queue.scratch, get->buf + get->used, size))
			return n ? n : -EFAULT;
		hwt_record_take(ctx, &next);
		get->used += size;
	}
	return n;
}

int hwt_record_get2(struct hwt_context *ctx, struct hwt_record_get2 *get)
{
	int rc;

	if (get->flags & ~HWT_GET_WAIT || get->reserved)
		return -EINVAL;
	get->used = 0;
	rc = fetch(ctx, get->flags & HWT_GET_WAIT, get, fill_new);
	return rc < 0 ? rc : 0;
}

/*
 * FreeBSD's records.  A record of a kind that hwt(4) does not know, and one
 * that says nothing there (PROT of a mapping, a generation), is passed over.
 */
typedef void (*old_view_fn)(struct hwt_record_user_entry *e, const void *payload);

static void old_path(struct hwt_record_user_entry *e, const char *path)
{
	size_t n = hwt_strnlen(path, sizeof(e->fullpath) - 1);

	hwt_memcpy(e->fullpath, path, n);
	e->fullpath[n] = 0;
}

static void old_mmap(struct hwt_record_user_entry *e, const void *payload)
{
	const struct hwt_rec_mmap *r = payload;

	old_path(e, r->path);
	e->addr = r->addr;
	e->baseaddr = r->addr - r->pgoff;
}

static void old_munmap(struct hwt_record_user_entry *e, const void *payload)
{
	const struct hwt_rec_munmap *r = payload;

	e->addr = r->addr;
}

static void old_exec(struct hwt_record_user_entry *e, const void *payload)
{
	const struct hwt_rec_exec *r = payload;

	old_path(e, r->path);
	e->addr = r->addr;
	e->baseaddr = r->baseaddr;
}

static void old_kernel(struct hwt_record_user_entry *e, const void *payload)
{
	const struct hwt_rec_kernel *r = payload;

	old_path(e, r->path);
	e->addr = r->addr;
}

static void old_thread(struct hwt_record_user_entry *e, const void *payload)
{
	const struct hwt_rec_thread *r = payload;

	e->thread_id = r->tid;
}

static void old_name(struct hwt_record_user_entry *e, const void *payload)
{
	const struct hwt_rec *rec = (const void *)((const char *)payload - sizeof(*rec));

	e->thread_id = rec->tid;
}

static void old_buffer(struct hwt_record_user_entry *e, const void *payload)
{
	const struct hwt_rec_buffer *r = payload;

	e->buf_id = r->buf_id;
	e->offset = r->head;	/* old_entry wraps it */
}

static const struct {
	enum hwt_record_type type;
	old_view_fn fill;
} old_view[HWT_REC_TYPE_MAX] = {
	[HWT_REC_MMAP] = {HWT_RECORD_MMAP, old_mmap},
	[HWT_REC_MUNMAP] = {HWT_RECORD_MUNMAP, old_munmap},
	[HWT_REC_EXEC] = {HWT_RECORD_EXECUTABLE, old_exec},
	[HWT_REC_KERNEL] = {HWT_RECORD_KERNEL, old_kernel},
	[HWT_REC_THREAD_CREATE] = {HWT_RECORD_THREAD_CREATE, old_thread},
	[HWT_REC_THREAD_NAME] = {HWT_RECORD_THREAD_SET_NAME, old_name},
	[HWT_REC_BUFFER] = {HWT_RECORD_BUFFER, old_buffer},
};

/* The peeked record as the old entry beside it in scratch; NULL: none. */
static struct hwt_record_user_entry *old_entry(struct hwt_context *ctx)
{
	const uint8_t *scratch = ctx->queue.scratch;
	struct hwt_record_user_entry *e = (void *)(ctx->queue.scratch + HWT_RECORD_MAX);
	const struct hwt_rec *rec = (const void *)scratch;
	uint64_t in_buffer;

	if (rec->type >= HWT_REC_TYPE_MAX || !old_view[rec->type].fill)
		return NULL;
	hwt_memset(e, 0, sizeof(*e));
	e->record_type = old_view[rec->type].type;
	old_view[rec->type].fill(e, rec + 1);
	if (rec->type == HWT_REC_BUFFER) {
		in_buffer = e->offset % ctx->bufsize;
		e->curpage = in_buffer / HWT_PAGE_SIZE;
		e->offset = in_buffer % HWT_PAGE_SIZE;
	}
	return e;
}

struct old_get {
	uint64_t	records;	/* user address */
	int		room;
};

static int fill_old(struct hwt_context *ctx, void *arg)
{
	struct old_get *get = arg;
	struct hwt_record_user_entry *e;
	struct hwt_record_next next;
	int n = 0;

	while (n < get->room && hwt_record_peek(ctx, &next)) {
		e = old_entry(ctx);
		if (e && hwt_copyout(e, get->records + n * sizeof(*e), sizeof(*e)))
			return n ? n : -EFAULT;
		hwt_record_take(ctx, &next);
		n += e != NULL;
	}
	return n;
}

int hwt_record_get_old(struct hwt_context *ctx, const struct hwt_record_get *get)
{
	struct old_get arg = {.records = (uintptr_t)get->records};
	uint64_t uentries = (uintptr_t)get->nentries;
	int rc, n;

	if (hwt_copyin(uentries, &arg.room, sizeof(arg.room)))
		return -EFAULT;
	if (arg.room <= 0)
		return -EINVAL;
	n = fetch(ctx, get->wait != 0, &arg, fill_old);
	if (n < 0)
		return n;
	rc = hwt_copyout(&n, uentries, sizeof(n));
	return rc ? -EFAULT : 0;
}
