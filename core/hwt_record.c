/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_record.h"
#include "hwt_context.h"
#include "hwt_thread.h"

#define SCRATCH_SIZE (HWT_RECORD_MAX + sizeof(struct hwt_record_user_entry))

int hwt_record_load(struct hwt_record_queue *q)
{
	q->ring = hwt_alloc(HWT_RECORD_RING, HWT_MAY_SLEEP);
	q->scratch = hwt_alloc(SCRATCH_SIZE, HWT_MAY_SLEEP);
	if (!q->ring || !q->scratch)
		goto free_memory;
	hwt_spin_init(&q->lock);
	hwt_wait_init(&q->wait);
	hwt_wait_init(&q->room);
	hwt_mutex_init(&q->reader);
	q->buffers_end = &q->buffers;
	return 0;

free_memory:
	hwt_free(q->scratch);
	hwt_free(q->ring);
	return -ENOMEM;
}

void hwt_record_unload(struct hwt_record_queue *q)
{
	hwt_mutex_destroy(&q->reader);
	hwt_free(q->scratch);
	hwt_free(q->ring);
}

/*
 * The ring.  Positions count bytes since the beginning; a record may wrap.
 *
 *       get % SIZE            put % SIZE
 *   |.......[record][record]....[record]......|
 */
static uint32_t ring_free(const struct hwt_record_queue *q)
{
	return HWT_RECORD_RING - (uint32_t)(q->put - q->get);
}

static void ring_write(struct hwt_record_queue *q, uint64_t at, const void *src, size_t n)
{
	size_t off = at & (HWT_RECORD_RING - 1);
	size_t part = HWT_RECORD_RING - off < n ? HWT_RECORD_RING - off : n;

	if (!n)
		return;		/* src may be NULL then */
	hwt_memcpy(q->ring + off, src, part);
	hwt_memcpy(q->ring, (const uint8_t *)src + part, n - part);
}

static void ring_read(const struct hwt_record_queue *q, uint64_t at, void *dst, size_t n)
{
	size_t off = at & (HWT_RECORD_RING - 1);
	size_t part = HWT_RECORD_RING - off < n ? HWT_RECORD_RING - off : n;

	hwt_memcpy(dst, q->ring + off, part);
	hwt_memcpy((uint8_t *)dst + part, q->ring, n - part);
}

static uint32_t parts_size(const struct hwt_record_parts *p)
{
	return (sizeof(p->rec) + p->nfixed + p->nvar + p->string + 7) & ~(size_t)7;
}

static void ring_put(struct hwt_record_queue *q, struct hwt_record_parts *p)
{
	static const uint8_t zero[8];
	uint64_t at = q->put;
	size_t used = sizeof(p->rec) + p->nfixed + p->nvar;

	p->rec.size = parts_size(p);
	ring_write(q, at, &p->rec, sizeof(p->rec));
	ring_write(q, at + sizeof(p->rec), p->fixed, p->nfixed);
	ring_write(q, at + sizeof(p->rec) + p->nfixed, p->var, p->nvar);
	ring_write(q, at + used, zero, p->rec.size - used);
	q->put += p->rec.size;
	q->nput++;
}

static void lost_parts(struct hwt_record_parts *p, struct hwt_rec_lost *lost,
		       const struct hwt_rec *after)
{
	hwt_memset(p, 0, sizeof(*p));
	p->rec.type = HWT_REC_LOST;
	p->rec.time = after->time;
	p->rec.pid = after->pid;
	p->rec.cpu = -1;
	p->fixed = lost;
	p->nfixed = sizeof(*lost);
}

/* Puts the LOST record that is due before the next; true: there was room. */
static bool put_lost(struct hwt_record_queue *q, const struct hwt_record_parts *next)
{
	struct hwt_rec_lost lost = {q->lost};
	struct hwt_record_parts p;

	if (!q->lost)
		return true;
	lost_parts(&p, &lost, &next->rec);
	if (ring_free(q) < parts_size(&p) + parts_size(next))
		return false;
	ring_put(q, &p);
	q->lost = 0;
	return true;
}

int hwt_record_put(struct hwt_context *ctx, struct hwt_record_parts *parts,
		   struct hwt_pause *pause)
{
	struct hwt_record_queue *q = &ctx->queue;
	uint32_t size = parts_size(parts);
	hwt_irqflags_t flags;
	int rc = 0;

	HWT_ASSERT(size <= HWT_RECORD_MAX);
	hwt_spin_lock(&q->lock, flags);
	if (q->closed) {
		rc = -ENOSPC;
	} else if (ring_free(q) >= size && put_lost(q, parts)) {
		if (pause) {
			parts->rec.flags |= HWT_REC_PAUSED;
			pause->on = true;
			pause->order = q->nput;
		}
		ring_put(q, parts);
	} else if (ctx->core->ops->may_hold && !parts->never_hold) {
		if (q->wanted < size)
			q->wanted = size;
		rc = -EAGAIN;
	} else {
		q->lost++;
		rc = -ENOSPC;
	}
	hwt_spin_unlock(&q->lock, flags);
	return rc;
}

void hwt_record_lose(struct hwt_context *ctx)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&ctx->queue.lock, flags);
	ctx->queue.lost++;
	hwt_spin_unlock(&ctx->queue.lock, flags);
	hwt_record_notify(ctx);
}

void hwt_record_notify(struct hwt_context *ctx)
{
	hwt_wait_wake(&ctx->queue.wait);
	if (ctx->event)
		ctx->core->ops->event_signal(ctx->core->host, ctx->event);
}

void hwt_record_buffer(struct hwt_buffer *b, const struct hwt_buffer_record *r)
{
	struct hwt_record_queue *q = &b->ctx->queue;
	struct hwt_buffer_record *mine = &b->record;
	hwt_irqflags_t flags;
	bool fresh;

	hwt_spin_lock(&q->lock, flags);
	fresh = !mine->queued;
	if (fresh) {
		mine->queued = true;
		mine->flags = 0;
		mine->order = q->nput;
		mine->next = NULL;
		*q->buffers_end = b;
		q->buffers_end = &mine->next;
	}
	mine->version++;
	mine->time = r->time;
	/* Two that publish at once may come here in the other order. */
	if (r->head >= mine->head) {
		mine->head = r->head;
		mine->tail = r->tail;
		mine->lost = r->lost;
	}
	mine->flags |= r->flags;
	mine->generation = b->thr ? hwt_load_acquire(&b->thr->generation) : 0;
	hwt_spin_unlock(&q->lock, flags);
	if (fresh)
		hwt_record_notify(b->ctx);
}

bool hwt_record_buffer_fetched(struct hwt_buffer *b)
{
	struct hwt_record_queue *q = &b->ctx->queue;
	hwt_irqflags_t flags;
	bool queued;

	hwt_spin_lock(&q->lock, flags);
	queued = b->record.queued;
	hwt_spin_unlock(&q->lock, flags);
	return !queued;
}

void hwt_record_exit(struct hwt_context *ctx, const struct hwt_rec *rec, int status)
{
	struct hwt_record_queue *q = &ctx->queue;
	hwt_irqflags_t flags;

	hwt_spin_lock(&q->lock, flags);
	if (!q->exit_queued) {
		q->exit = *rec;
		q->exit_status.status = status;
		q->exit_queued = true;
	}
	hwt_spin_unlock(&q->lock, flags);
	hwt_record_notify(ctx);
}

void hwt_record_close(struct hwt_record_queue *q)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&q->lock, flags);
	q->closed = true;
	hwt_spin_unlock(&q->lock, flags);
	hwt_wait_wake(&q->wait);
	hwt_wait_wake(&q->room);
}

bool hwt_pause_end(struct hwt_record_queue *q, struct hwt_pause *p, bool fetched)
{
	hwt_irqflags_t flags;
	bool ended;

	hwt_spin_lock(&q->lock, flags);
	ended = p->on && (!fetched || p->order < q->nget);
	if (ended)
		p->on = false;
	hwt_spin_unlock(&q->lock, flags);
	if (ended)
		hwt_wait_wake(&p->wait);
	return ended;
}

bool hwt_pause_is_on(struct hwt_record_queue *q, struct hwt_pause *p)
{
	hwt_irqflags_t flags;
	bool on;

	hwt_spin_lock(&q->lock, flags);
	on = p->on;
	hwt_spin_unlock(&q->lock, flags);
	return on;
}

bool hwt_record_fetched(struct hwt_record_queue *q, uint64_t order)
{
	hwt_irqflags_t flags;
	bool fetched;

	hwt_spin_lock(&q->lock, flags);
	fetched = order < q->nget;
	hwt_spin_unlock(&q->lock, flags);
	return fetched;
}

bool hwt_record_has_room(struct hwt_record_queue *q)
{
	hwt_irqflags_t flags;
	bool room;

	hwt_spin_lock(&q->lock, flags);
	room = q->closed || ring_free(q) >= q->wanted;
	hwt_spin_unlock(&q->lock, flags);
	return room;
}

bool hwt_record_ready(struct hwt_record_queue *q)
{
	hwt_irqflags_t flags;
	bool ready;

	hwt_spin_lock(&q->lock, flags);
	ready = q->closed || q->put != q->get || q->buffers || q->lost || q->exit_queued;
	hwt_spin_unlock(&q->lock, flags);
	return ready;
}

/* The next in order, queue's lock held. */
enum next_kind { NEXT_NONE, NEXT_RING, NEXT_BUFFER, NEXT_LOST, NEXT_EXIT };
static enum next_kind next_kind(const struct hwt_record_queue *q)
{
	bool ring = q->put != q->get;

	if (q->buffers && (!ring || q->buffers->record.order <= q->nget))
		return NEXT_BUFFER;
	if (ring)
		return NEXT_RING;
	if (q->lost)
		return NEXT_LOST;
	return q->exit_queued && !q->exit_fetched ? NEXT_EXIT : NEXT_NONE;
}

/* For those that are not in the ring. */
static void scratch_record(struct hwt_record_queue *q, const struct hwt_rec *rec,
			   const void *payload, size_t n)
{
	struct hwt_rec copy = *rec;

	copy.size = sizeof(copy) + n;
	hwt_memcpy(q->scratch, &copy, sizeof(copy));
	hwt_memcpy(q->scratch + sizeof(copy), payload, n);
}

static void scratch_buffer(struct hwt_context *ctx, struct hwt_buffer *b)
{
	struct hwt_buffer_record *r = &b->record;
	struct hwt_rec rec = {
		.type = HWT_REC_BUFFER,
		.time = r->time,
		.pid = ctx->user_pid,
		.tid = b->thr ? b->buf_id : 0,
		.cpu = b->cpu,
		.generation = r->generation,
		.position = r->head,
	};
	struct hwt_rec_buffer payload = {
		.buf_id = b->buf_id,
		.flags = r->flags,
		.head = r->head,
		.tail = r->tail,
		.lost = r->lost,
	};

	scratch_record(&ctx->queue, &rec, &payload, sizeof(payload));
}

uint32_t hwt_record_peek(struct hwt_context *ctx, struct hwt_record_next *next)
{
	struct hwt_record_queue *q = &ctx->queue;
	struct hwt_rec head = {.type = HWT_REC_LOST, .pid = ctx->user_pid, .cpu = -1};
	hwt_irqflags_t flags;

	hwt_memset(next, 0, sizeof(*next));
	hwt_spin_lock(&q->lock, flags);
	switch (next_kind(q)) {
	case NEXT_BUFFER:
		next->buffer = q->buffers;
		next->version = q->buffers->record.version;
		scratch_buffer(ctx, q->buffers);
		break;
	case NEXT_RING:
		ring_read(q, q->get, &head, sizeof(head));
		ring_read(q, q->get, q->scratch, head.size);
		break;
	case NEXT_LOST:
		next->lost = q->lost;
		scratch_record(q, &head, &next->lost, sizeof(next->lost));
		break;
	case NEXT_EXIT:
		next->exit = true;
		scratch_record(q, &q->exit, &q->exit_status, sizeof(q->exit_status));
		break;
	case NEXT_NONE:
		hwt_memset(q->scratch, 0, sizeof(head));
		break;
	}
	hwt_spin_unlock(&q->lock, flags);
	hwt_memcpy(&head, q->scratch, sizeof(head));
	return head.size;
}

/* A record that was refreshed since it was peeked stays in the queue. */
static void take_buffer(struct hwt_record_queue *q, const struct hwt_record_next *next)
{
	struct hwt_buffer *b = next->buffer;

	if (b->record.version != next->version)
		return;
	b->record.queued = false;
	q->buffers = b->record.next;
	if (!q->buffers)
		q->buffers_end = &q->buffers;
}

static void take_ring(struct hwt_record_queue *q)
{
	struct hwt_rec head;

	ring_read(q, q->get, &head, sizeof(head));
	q->get += head.size;
	q->nget++;
	if (ring_free(q) >= q->wanted)
		q->wanted = 0;
}

void hwt_record_take(struct hwt_context *ctx, const struct hwt_record_next *next)
{
	struct hwt_record_queue *q = &ctx->queue;
	hwt_irqflags_t flags;

	hwt_spin_lock(&q->lock, flags);
	if (next->buffer)
		take_buffer(q, next);
	else if (next->lost)
		q->lost -= next->lost;
	else if (next->exit)
		q->exit_fetched = true;
	else
		take_ring(q);
	hwt_spin_unlock(&q->lock, flags);
}
