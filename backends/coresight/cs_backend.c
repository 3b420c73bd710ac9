// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cs_backend.h"

#include "../../core/hwt_core.h"

/* What a sink's buffer has beside its thread's own save area; its lock. */
struct cs_sink {
	uint64_t base;	  /* the ETR's address of the buffer */
	uint64_t freed;	  /* position that the FIFO begins at */
	uint64_t used[2]; /* trace IDs, a bit each */
	uint32_t sources; /* that are on */
	int unit;	  /* whose ETR it is, while there are */
};

/* Save area: what the unit must find again at the next switch-in. */
struct cs_save {
	struct cs_config config;
	bool configured; /* else: the default, once the unit is known */
	bool on;	 /* the unit runs this buffer now */
	bool stuck;	 /* a component did not follow: said once */
	struct cs_sink sink;
};

static struct cs_sink *sink_of(const struct hwt_buffer *b)
{
	struct cs_save *s = b->sink->priv;

	return &s->sink;
}

/* `unit` as one that feeds b's sink. */
static struct cs_unit unit_of(const struct hwt_buffer *b, int unit)
{
	const struct cs_backend *cb = HWT_CONTAINER_OF(b->backend, struct cs_backend, be);
	const struct cs_sink *k = sink_of(b);

	return (struct cs_unit){b->backend->bus, cb->path, unit,
				k->sources ? k->unit : unit};
}

static uint64_t unit_page(const struct hwt_buffer *b, uint64_t n)
{
	const struct hwt_host_ops *ops = hwt_core_host_ops(b->core);
	struct hwt_bus *bus = b->backend->bus;

	return bus->ops->buf_addr(bus,
				  ops->page_addr(hwt_core_host(b->core), b->pages, n));
}

/* The ETR takes one stretch of memory. */
static bool contiguous(const struct hwt_buffer *b)
{
	uint64_t i, base = unit_page(b, 0);

	for (i = 1; i < b->bufsize / HWT_PAGE_SIZE; i++)
		if (unit_page(b, i) != base + i * HWT_PAGE_SIZE)
			return false;
	return true;
}

static int cs_buffer_init(struct hwt_buffer *b)
{
	struct cs_save *s = hwt_alloc(sizeof(*s), HWT_MAY_SLEEP);

	if (!s)
		return -ENOMEM;
	hwt_memset(s, 0, sizeof(*s));
	b->priv = s;
	if (b->sink != b)
		return 0;
	if (!contiguous(b))
		return -ENOMEM;
	s->sink.base = unit_page(b, 0);
	return 0;
}

static void cs_buffer_fini(struct hwt_buffer *b)
{
	hwt_free(b->priv);
	b->priv = NULL;
}

/* The first one is what a source has that shares its sink with none. */
static int cs_source_get(struct hwt_buffer *sink)
{
	struct cs_sink *k = sink_of(sink);
	hwt_irqflags_t flags;
	uint32_t id, i;
	int found = -EAGAIN;

	hwt_spin_lock(&sink->lock, flags);
	for (i = 0; i < CS_ID_LAST && found < 0; i++) {
		id = CS_ID_FIRST + (CORESIGHT_TRACE_ID - CS_ID_FIRST + i) % CS_ID_LAST;
		if (k->used[id / 64] & 1ull << id % 64)
			continue;
		k->used[id / 64] |= 1ull << id % 64;
		found = (int)id;
	}
	hwt_spin_unlock(&sink->lock, flags);
	return found;
}

static void cs_source_put(struct hwt_buffer *sink, int source)
{
	struct cs_sink *k = sink_of(sink);
	hwt_irqflags_t flags;

	hwt_spin_lock(&sink->lock, flags);
	k->used[source / 64] &= ~(1ull << source % 64);
	hwt_spin_unlock(&sink->lock, flags);
}

static void cs_set_config(struct hwt_buffer *b, const void *config)
{
	struct cs_save *s = b->priv;

	hwt_memcpy(&s->config, config, sizeof(s->config));
	s->configured = true;
}

/* ---- of a sink; its lock is held ---- */

/* Moves head to where the ETR is; a ring forgets its oldest bytes. */
static bool look(struct hwt_buffer *sink, const struct cs_unit *u)
{
	uint64_t head = sink_of(sink)->freed + cs_path_level(u);
	bool moved = head != sink->head;

	sink->head = head;
	if (sink->head - sink->tail > sink->bufsize)
		sink->tail = sink->head - sink->bufsize;
	return moved;
}

static uint64_t room(const struct hwt_buffer *sink)
{
	return sink->bufsize - (sink->head - sink_of(sink)->freed);
}

/* What may be written over: what was read, in whole frames; of a ring everything. */
static uint64_t free_up_to(const struct hwt_buffer *sink)
{
	return sink->ring ? sink->head : sink->tail - sink->tail % CS_FRAME;
}

static void give_back(struct hwt_buffer *sink, const struct cs_unit *u)
{
	struct cs_sink *k = sink_of(sink);
	uint64_t to = free_up_to(sink);

	if (to <= k->freed)
		return;
	cs_path_free(u, to - k->freed);
	k->freed = to;
}

/* More than at the watermark: else it would not interrupt again. */
static bool has_room(const struct hwt_buffer *sink)
{
	return sink->head - free_up_to(sink) < sink->bufsize / 2;
}

/* ---- of a source; its sink's lock is held ---- */

static void warn_stuck(struct hwt_buffer *b)
{
	struct cs_save *s = b->priv;

	if (!s->stuck)
		hwt_warn("coresight: buffer %d: a component does not follow", b->buf_id);
	s->stuck = true;
}

/* Of the first source that is on: whose ETR takes the trace.  -EBUSY. */
static int take_etr(const struct cs_unit *u)
{
	if (u->path->route && u->bus->ops->sink_get)
		return u->bus->ops->sink_get(u->bus, u->unit);
	return u->unit;
}

static void give_etr(const struct cs_unit *u)
{
	if (u->path->route && u->bus->ops->sink_put)
		u->bus->ops->sink_put(u->bus, u->etr);
}

static bool quiesce(struct hwt_buffer *b, const struct cs_unit *u)
{
	struct cs_sink *k = sink_of(b);
	struct cs_save *s = b->priv;
	bool last = k->sources == 1, moved;

	if (!cs_path_stop(u, last))
		warn_stuck(b);
	moved = look(b->sink, u);
	if (last) {
		cs_path_close(u);
		give_etr(u);
	}
	k->sources--;
	s->on = false;
	return moved;
}

/*
 * Where the FIFO begins: all before it is free.  In full mode that is what was read,
 * also of what a ring had let go already; false: nothing is free, and pointers that
 * are equal would say that everything is.
 */
static bool place_fifo(struct hwt_buffer *sink, const struct cs_unit *u)
{
	struct cs_sink *k = sink_of(sink);

	if (k->sources)
		give_back(sink, u);
	else
		k->freed = free_up_to(sink);
	return sink->head - k->freed < sink->bufsize;
}

static void start(struct hwt_buffer *b, const struct cs_unit *u)
{
	struct cs_sink *k = sink_of(b);
	struct cs_save *s = b->priv;
	struct cs_window w = {
		.base = k->base,
		.size = b->bufsize,
		.rrp = k->base + k->freed % b->bufsize,
		.rwp = k->base + b->sink->head % b->bufsize,
	};

	if (!s->configured)
		cs_config_default(b->backend, b->thr ? HWT_MODE_THREAD : HWT_MODE_CPU,
				  &s->config);
	s->on = cs_path_start(u, &s->config, k->sources ? NULL : &w,
			      b->source ? (uint32_t)b->source : CORESIGHT_TRACE_ID);
	if (!s->on) {
		warn_stuck(b);
		return;
	}
	if (!k->sources++)
		k->unit = u->etr;
}

/* Each stretch begins with a sync point, for the source was off. */
static void cs_switch_in(struct hwt_buffer *b, int unit, bool fresh)
{
	struct cs_save *s = b->priv;
	hwt_irqflags_t flags;
	struct cs_unit u;

	(void)fresh;
	hwt_spin_lock(&b->sink->lock, flags);
	u = unit_of(b, unit);
	if (!sink_of(b)->sources)
		u.etr = take_etr(&u);
	if (u.etr >= 0) {
		cs_path_attach(&u);
		if (place_fifo(b->sink, &u))
			start(b, &u);
		if (!sink_of(b)->sources)
			give_etr(&u);
	}
	if (!s->on)
		b->sink->gaps++;
	hwt_spin_unlock(&b->sink->lock, flags);
}

static int cs_switch_out(struct hwt_buffer *b, int unit)
{
	struct cs_save *s = b->priv;
	int result = HWT_IRQ_NONE;
	hwt_irqflags_t flags;
	struct cs_unit u;

	hwt_spin_lock(&b->sink->lock, flags);
	u = unit_of(b, unit);
	if (s->on && quiesce(b, &u))
		result = HWT_IRQ_PROGRESS;
	if (!has_room(b->sink))
		result |= HWT_IRQ_FULL;
	hwt_spin_unlock(&b->sink->lock, flags);
	return result;
}

static int cs_irq(struct hwt_buffer *b, int unit)
{
	struct hwt_buffer *sink = b->sink;
	struct cs_save *s = b->priv;
	int result = HWT_IRQ_NONE;
	hwt_irqflags_t flags;
	struct cs_unit u;

	hwt_spin_lock(&sink->lock, flags);
	u = unit_of(b, unit);
	if (!s->on)
		goto out;
	if (look(sink, &u))
		result = HWT_IRQ_PROGRESS;
	give_back(sink, &u);
	if (has_room(sink) && room(sink) > sink->bufsize / 2)
		goto out;
	/* The ETM may wait for room itself, and cannot be stopped then. */
	if (hwt_core_host_ops(b->core)->may_hold) {
		result |= HWT_IRQ_FULL | HWT_IRQ_HELD;
		goto out;
	}
	if (quiesce(b, &u))
		result |= HWT_IRQ_PROGRESS;
	result |= HWT_IRQ_FULL;
out:
	hwt_spin_unlock(&sink->lock, flags);
	return result;
}

static bool cs_room(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;
	bool yes;

	hwt_spin_lock(&b->sink->lock, flags);
	yes = has_room(b->sink);
	hwt_spin_unlock(&b->sink->lock, flags);
	return yes;
}

/* A sink that others share is looked at for any of them. */
static int cs_read(struct hwt_buffer *b, int unit, uint64_t *offset, uint64_t *data)
{
	struct cs_save *s = b->priv;
	hwt_irqflags_t flags;
	struct cs_unit u;

	hwt_spin_lock(&b->sink->lock, flags);
	u = unit_of(b, unit);
	if (b->source ? sink_of(b)->sources : s->on && unit >= 0)
		look(b->sink, &u);
	*offset = b->sink->head % b->bufsize;
	*data = b->sink->head;
	hwt_spin_unlock(&b->sink->lock, flags);
	return 0;
}

static int cs_svc_buf(struct hwt_context *ctx, const void *data, size_t size, int version,
		      struct hwt_buffer **out)
{
	struct coresight_svc_buf svc;
	struct hwt_buffer *b;
	hwt_irqflags_t flags;
	int err = 0;

	if (version != CORESIGHT_SVC_BUF_VERSION || size < sizeof(svc))
		return -EINVAL;
	hwt_memcpy(&svc, data, sizeof(svc));
	b = hwt_context_buffer(ctx, svc.buf_id);
	if (!b)
		return -ENOENT;
	b = b->sink;
	hwt_spin_lock(&b->lock, flags);
	if (svc.tail < b->tail || svc.tail > b->head)
		err = -EINVAL;
	else
		b->tail = svc.tail;
	hwt_spin_unlock(&b->lock, flags);
	*out = b;
	return err;
}

static const struct hwt_backend_ops cs_ops = {
	.buffer_init = cs_buffer_init,
	.buffer_fini = cs_buffer_fini,
	.source_get = cs_source_get,
	.source_put = cs_source_put,
	.config_check = cs_config_check,
	.config_size = sizeof(struct coresight_config),
	.ranges = cs_config_ranges,
	.set_config = cs_set_config,
	.switch_in = cs_switch_in,
	.switch_out = cs_switch_out,
	.irq = cs_irq,
	.read = cs_read,
	.svc_buf = cs_svc_buf,
	.svc_size = sizeof(struct coresight_svc_buf),
	.room = cs_room,
};

void cs_backend_init(struct cs_backend *cb, struct hwt_bus *bus,
		     const struct cs_path *path)
{
	struct hwt_backend *be = &cb->be;

	hwt_memset(cb, 0, sizeof(*cb));
	cb->path = path;
	be->name = "coresight";
	be->ops = &cs_ops;
	be->bus = bus;
	be->scope = path->route ? HWT_SCOPE_CONTEXT : HWT_SCOPE_THREAD;
	be->modes = 1u << HWT_MODE_THREAD | 1u << HWT_MODE_CPU;
	be->flags = HWT_QUERY_RING;
	be->pages = HWT_PAGES_CONTIGUOUS;
}
