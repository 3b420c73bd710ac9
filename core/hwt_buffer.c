/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_buffer.h"
#include "hwt_context.h"
#include "hwt_record.h"

struct hwt_buffer *hwt_buffer_sink(struct hwt_buffer *b)
{
	return b->sink ? b->sink : b;
}

static bool buffer_shares(const struct hwt_buffer *b)
{
	return b->backend->scope == HWT_SCOPE_CONTEXT;
}

/* b's trace goes to sink: 0, -EAGAIN. */
static int source_take(struct hwt_buffer *b, struct hwt_buffer *sink)
{
	int source = b->backend->ops->source_get(sink);
	hwt_irqflags_t flags;

	if (source < 0)
		return source;
	b->sink = sink;
	b->source = source;
	b->told = 0;
	hwt_spin_lock(&sink->lock, flags);
	sink->nsources++;
	hwt_spin_unlock(&sink->lock, flags);
	return 0;
}

static void source_drop(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;

	if (!b->source)
		return;
	hwt_spin_lock(&b->sink->lock, flags);
	b->sink->nsources--;
	hwt_spin_unlock(&b->sink->lock, flags);
	b->backend->ops->source_put(b->sink, b->source);
	b->source = 0;
}

static bool sink_in_use(struct hwt_buffer *sink)
{
	hwt_irqflags_t flags;
	bool used;

	hwt_spin_lock(&sink->lock, flags);
	used = sink->nsources;
	hwt_spin_unlock(&sink->lock, flags);
	return used;
}

/* A sink of the context that has a mark left; true: b's trace goes there. */
static bool sink_find(struct hwt_buffer *b)
{
	struct hwt_buffer *s;

	for (s = hwt_context_first(b->ctx); s; s = hwt_context_next(b->ctx, s))
		if (s->sink == s && !source_take(b, s))
			return true;
	return false;
}

static int buffer_pages(struct hwt_buffer *b)
{
	struct hwt_core *core = b->core;

	b->pages = core->ops->pages_alloc(core->host, b->bufsize / HWT_PAGE_SIZE,
					  b->backend->pages);
	return b->pages ? 0 : -ENOMEM;
}

int hwt_buffer_init(struct hwt_buffer *b, struct hwt_context *ctx, int buf_id)
{
	bool joined;
	int rc = 0;

	b->core = ctx->core;
	b->backend = ctx->backend;
	b->ctx = ctx;
	b->cpu = -1;
	b->buf_id = buf_id;
	b->bufsize = ctx->bufsize;
	b->unit = -1;
	b->ring = hwt_context_ring(ctx);
	hwt_spin_init(&b->lock);
	hwt_spin_init(&b->unit_lock);
	joined = buffer_shares(b) && sink_find(b);
	if (!joined) {
		b->sink = b;
		rc = buffer_pages(b);
	}
	if (!rc)
		rc = b->backend->ops->buffer_init(b);
	/* The first one of a new sink. */
	if (!rc && !joined && buffer_shares(b))
		rc = source_take(b, b);
	if (rc)
		hwt_buffer_fini(b);
	return rc;
}

void hwt_buffer_fini(struct hwt_buffer *b)
{
	if (!b->sink)
		return;
	source_drop(b);
	if (b->priv)
		b->backend->ops->buffer_fini(b);
	if (b->pages)
		b->core->ops->pages_free(b->core->host, b->pages);
	b->pages = NULL;
	b->sink = NULL;
}

/* Whether and how a unit's answer is reported; unit_lock held. Returns HWT_BUF_*. */
static uint32_t buffer_take(struct hwt_buffer *b, int bits)
{
	hwt_irqflags_t flags;

	if (!(bits & HWT_IRQ_FULL))
		return 0;
	if (!(bits & HWT_IRQ_HELD))
		b->unit = -1;
	hwt_spin_lock(&b->lock, flags);
	b->stopped_full = true;
	b->held = bits & HWT_IRQ_HELD;
	hwt_spin_unlock(&b->lock, flags);
	/* A thread that is held while its unit waits misses nothing. */
	hwt_spin_lock(&b->sink->lock, flags);
	if (!b->core->ops->may_hold)
		b->sink->gaps++;
	hwt_spin_unlock(&b->sink->lock, flags);
	return b->core->ops->may_hold ? 0 : HWT_BUF_FULL;
}

static bool buffer_stopped(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;
	bool stopped;

	hwt_spin_lock(&b->lock, flags);
	stopped = b->stopped_full;
	hwt_spin_unlock(&b->lock, flags);
	return stopped;
}

/* True: it stood still with its unit on. */
static bool buffer_unhold(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;
	bool was;

	hwt_spin_lock(&b->lock, flags);
	was = b->held;
	b->held = false;
	hwt_spin_unlock(&b->lock, flags);
	return was;
}

/* unit_lock held. */
static int buffer_out(struct hwt_buffer *b)
{
	int bits = b->backend->ops->switch_out(b, b->unit);

	b->unit = -1;
	return bits;
}

static void buffer_report(struct hwt_buffer *b, int unit, int bits, uint32_t flags)
{
	if (bits & (HWT_IRQ_PROGRESS | HWT_IRQ_FULL))
		hwt_buffer_publish(b, unit, flags);
	/* Who goes by BUFPTR_GET may leave the record where it is. */
	if (bits & HWT_IRQ_TELL)
		hwt_record_notify(b->ctx);
}

/*
 * Others that share its sink filled it, or a ring came to its end: to be switched in when
 * SVC_BUF made room.  A CPU would not be asked again.
 */
static bool buffer_lacks_room(struct hwt_buffer *b)
{
	bool (*room)(struct hwt_buffer *) = b->backend->ops->room;

	return room && !b->core->ops->may_hold && !room(b);
}

void hwt_buffer_sync(struct hwt_buffer *b, int unit)
{
	struct hwt_context_wants want;
	hwt_irqflags_t flags;
	uint32_t report = 0;
	int bits = 0;

	hwt_spin_lock(&b->unit_lock, flags);
	hwt_context_wants(b->ctx, &want);
	if (b->final || (buffer_shares(b) && !b->source))
		want.running = false;
	if (b->unit >= 0 &&
	    (!want.running || b->unit != unit || b->start_seq != want.start_seq ||
	     b->config_seq != want.config_seq)) {
		bits = buffer_out(b);
		report = buffer_take(b, bits);
	}
	if (want.running && b->unit < 0 && !buffer_stopped(b) && buffer_lacks_room(b)) {
		bits |= HWT_IRQ_FULL;
		report |= buffer_take(b, HWT_IRQ_FULL);
	}
	if (want.running && b->unit < 0 && !buffer_stopped(b)) {
		hwt_context_configure(b->ctx, b);
		/* start_seq 0 is never the context's own. */
		b->backend->ops->switch_in(b, unit, b->start_seq != want.start_seq);
		b->start_seq = want.start_seq;
		b->unit = unit;
	}
	hwt_spin_unlock(&b->unit_lock, flags);
	buffer_report(b, unit, bits, report);
}

void hwt_buffer_leave(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;
	uint32_t report = 0;
	int bits = 0, unit;

	hwt_spin_lock(&b->unit_lock, flags);
	unit = b->unit;
	if (unit >= 0) {
		bits = buffer_out(b);
		report = buffer_take(b, bits);
	}
	hwt_spin_unlock(&b->unit_lock, flags);
	buffer_report(b, unit, bits, report);
}

int hwt_buffer_irq(struct hwt_buffer *b, int unit)
{
	int bits = HWT_IRQ_NONE;
	hwt_irqflags_t flags;
	uint32_t report = 0;

	hwt_spin_lock(&b->unit_lock, flags);
	if (b->unit == unit && b->backend->ops->irq) {
		bits = b->backend->ops->irq(b, unit);
		report = buffer_take(b, bits);
	}
	hwt_spin_unlock(&b->unit_lock, flags);
	buffer_report(b, unit, bits, report);
	return bits;
}

int hwt_buffer_resume(struct hwt_buffer *b, int unit)
{
	struct hwt_context_wants want;

	hwt_context_wants(b->ctx, &want);
	if (!want.running)
		return 0;
	if (buffer_stopped(b))
		return -EAGAIN;
	if (buffer_unhold(b))
		hwt_buffer_irq(b, unit);
	hwt_buffer_sync(b, unit);
	/* It may have filled up again at once, or just now by another's call. */
	return buffer_stopped(b) ? -EAGAIN : 0;
}

void hwt_buffer_finish(struct hwt_buffer *b)
{
	uint64_t offset = 0, data = 0;
	hwt_irqflags_t flags;

	hwt_spin_lock(&b->unit_lock, flags);
	if (!b->final) {
		if (b->unit >= 0)
			buffer_take(b, buffer_out(b));
		b->final = true;
		if (!b->backend->ops->read(b, -1, &offset, &data)) {
			b->last_offset = offset;
			b->last_data = data;
		}
		source_drop(b);
	}
	hwt_spin_unlock(&b->unit_lock, flags);
}

void hwt_buffer_abandon(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&b->unit_lock, flags);
	b->unit = -1;
	b->final = true;
	hwt_spin_unlock(&b->unit_lock, flags);
}

void hwt_buffer_revive(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&b->unit_lock, flags);
	b->final = false;
	b->start_seq = 0;
	/* -EAGAIN: others have all marks; it goes on untraced. */
	if (buffer_shares(b) && !b->source && source_take(b, b->sink))
		hwt_record_lose(b->ctx);
	hwt_spin_unlock(&b->unit_lock, flags);
}

void hwt_buffer_restart(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&b->unit_lock, flags);
	b->start_seq = 0;
	hwt_spin_unlock(&b->unit_lock, flags);
	hwt_buffer_leave(b);
}

/* Positions for a BUFFER record (struct hwt_rec_buffer). */
static void buffer_positions(struct hwt_buffer *b, struct hwt_buffer_record *r)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&b->lock, flags);
	r->head = b->head;
	r->tail = b->tail;
	r->lost = b->gaps;
	if (b->collided)
		r->flags |= HWT_BUF_COLLISION;
	b->collided = false;
	if (b->head - b->tail > b->bufsize)
		r->tail = b->head - b->bufsize;
	/* Nobody gives anything back in a ring: what is before tail is gone. */
	if (b->ring && r->tail) {
		r->lost = r->tail;
		r->flags |= HWT_BUF_WRAPPED;
	}
	hwt_spin_unlock(&b->lock, flags);
}

void hwt_buffer_publish(struct hwt_buffer *b, int unit, uint32_t flags)
{
	struct hwt_bus *bus = b->backend->bus;
	struct hwt_buffer_record r = {.flags = flags};

	b = b->sink;
	/* Others go on. */
	if (sink_in_use(b))
		r.flags &= ~HWT_BUF_FINAL;
	r.time = bus->ops->now ? bus->ops->now(bus, unit) : 0;
	buffer_positions(b, &r);
	hwt_record_buffer(b, &r);
}

int hwt_buffer_tell_source(struct hwt_buffer *b, const struct hwt_rec *rec, bool never_hold)
{
	struct hwt_rec_source payload = {
		.buf_id = hwt_buffer_sink(b)->buf_id,
		.source = b->source,
	};
	struct hwt_record_parts parts = {
		.rec = *rec,
		.fixed = &payload,
		.nfixed = sizeof(payload),
		.never_hold = never_hold,
	};
	int rc;

	if (!b->source || b->told == b->source)
		return 0;
	parts.rec.type = HWT_REC_SOURCE;
	rc = hwt_record_put(b->ctx, &parts, NULL);
	if (rc != -EAGAIN)
		b->told = b->source;
	return rc;
}

int hwt_buffer_read(struct hwt_buffer *b, uint64_t *offset, uint64_t *data)
{
	hwt_irqflags_t flags;
	int rc = 0;

	hwt_spin_lock(&b->unit_lock, flags);
	if (b->final && !sink_in_use(hwt_buffer_sink(b))) {
		*offset = b->last_offset;
		*data = b->last_data;
	} else {
		rc = b->backend->ops->read(b, b->unit, offset, data);
	}
	hwt_spin_unlock(&b->unit_lock, flags);
	return rc;
}

int hwt_buffer_bufptr(struct hwt_buffer *b, uint64_t *offset, uint64_t *data)
{
	struct hwt_context_wants want;
	hwt_irqflags_t flags;
	int rc;

	hwt_context_wants(b->ctx, &want);
	hwt_spin_lock(&b->unit_lock, flags);
	rc = b->backend->ops->bufptr(b, b->final || !want.running, offset, data);
	hwt_spin_unlock(&b->unit_lock, flags);
	return rc;
}

uint64_t hwt_buffer_position(struct hwt_buffer *b)
{
	uint64_t offset = 0, data = 0;

	return hwt_buffer_read(b, &offset, &data) ? 0 : data;
}

bool hwt_buffer_serviced(struct hwt_buffer *b)
{
	bool (*room)(struct hwt_buffer *) = b->backend->ops->room;
	struct hwt_buffer *sink = b->sink;
	hwt_irqflags_t flags;
	bool stopped, enough;

	hwt_spin_lock(&sink->lock, flags);
	sink->ring = false;
	enough = sink->head - sink->tail <= sink->bufsize - sink->bufsize / 4;
	hwt_spin_unlock(&sink->lock, flags);
	/*
	 * Its unit found no room before there was some: it says so before the lock is
	 * let go.  Nobody may come again to make room.
	 */
	hwt_spin_lock(&b->unit_lock, flags);
	stopped = buffer_stopped(b);
	hwt_spin_unlock(&b->unit_lock, flags);
	if (!stopped)
		return false;
	if (room)
		enough = room(b);
	if (!enough)
		return false;
	hwt_spin_lock(&b->lock, flags);
	b->stopped_full = false;
	hwt_spin_unlock(&b->lock, flags);
	return true;
}

bool hwt_buffer_on_unit(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;
	bool on;

	hwt_spin_lock(&b->unit_lock, flags);
	on = b->unit >= 0;
	hwt_spin_unlock(&b->unit_lock, flags);
	return on;
}
