// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cs_backend.h"

#include "../../core/hwt_core.h"

/* Save area: what the unit must find again at the next switch-in. */
struct cs_save {
	struct cs_config config;
	bool configured; /* else: the default, once the unit is known */
	uint64_t base;	 /* the sink's address of the buffer */
	uint64_t freed;	 /* position that the FIFO begins at */
	bool on;	 /* the unit runs this buffer now */
	bool stuck;	 /* a component did not follow: said once */
};

static struct cs_unit unit_of(const struct hwt_buffer *b, int unit)
{
	const struct cs_backend *cb = HWT_CONTAINER_OF(b->backend, struct cs_backend, be);

	return (struct cs_unit){b->backend->bus, cb->path, unit};
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
	if (!contiguous(b))
		return -ENOMEM;
	s->base = unit_page(b, 0);
	return 0;
}

static void cs_buffer_fini(struct hwt_buffer *b)
{
	hwt_free(b->priv);
	b->priv = NULL;
}

static void cs_set_config(struct hwt_buffer *b, const void *config)
{
	struct cs_save *s = b->priv;

	hwt_memcpy(&s->config, config, sizeof(s->config));
	s->configured = true;
}

/* Moves head to where the unit is; a ring forgets its oldest bytes. */
static bool look(struct hwt_buffer *b, const struct cs_unit *u)
{
	struct cs_save *s = b->priv;
	uint64_t head = s->freed + cs_path_level(u);
	bool moved = head != b->head;

	b->head = head;
	if (b->head - b->tail > b->bufsize)
		b->tail = b->head - b->bufsize;
	return moved;
}

static uint64_t room(const struct hwt_buffer *b)
{
	const struct cs_save *s = b->priv;

	return b->bufsize - (b->head - s->freed);
}

/* What may be written over: what was read, in whole frames; of a ring everything. */
static uint64_t free_up_to(const struct hwt_buffer *b)
{
	return b->ring ? b->head : b->tail - b->tail % CS_FRAME;
}

static void give_back(struct hwt_buffer *b, const struct cs_unit *u)
{
	struct cs_save *s = b->priv;
	uint64_t to = free_up_to(b);

	if (to <= s->freed)
		return;
	cs_path_free(u, to - s->freed);
	s->freed = to;
}

/* More than at the watermark: else it would not interrupt again. */
static bool has_room(const struct hwt_buffer *b)
{
	return b->head - free_up_to(b) < b->bufsize / 2;
}

static void warn_stuck(struct hwt_buffer *b)
{
	struct cs_save *s = b->priv;

	if (!s->stuck)
		hwt_warn("coresight: buffer %d: a component does not follow", b->buf_id);
	s->stuck = true;
}

static bool quiesce(struct hwt_buffer *b, const struct cs_unit *u)
{
	struct cs_save *s = b->priv;
	bool moved;

	if (!cs_path_stop(u))
		warn_stuck(b);
	moved = look(b, u);
	u->bus->ops->write(u->bus, u->unit, u->path->etr + TMC_CTL, 0);
	(u->bus->ops->barrier)(u->bus, u->unit, HWT_BARRIER_DATA);
	s->on = false;
	return moved;
}

/*
 * Where the FIFO begins: all before it is free.  In full mode that is what was read,
 * also of what a ring had let go already; false: nothing is free, and pointers that
 * are equal would say that everything is.
 */
static bool place_fifo(struct hwt_buffer *b)
{
	struct cs_save *s = b->priv;

	s->freed = free_up_to(b);
	return b->head - s->freed < b->bufsize;
}

static void start(struct hwt_buffer *b, const struct cs_unit *u)
{
	struct cs_save *s = b->priv;
	struct cs_window w = {
		.base = s->base,
		.size = b->bufsize,
		.rrp = s->base + s->freed % b->bufsize,
		.rwp = s->base + b->head % b->bufsize,
	};

	if (!s->configured)
		cs_config_default(b->backend, b->thr ? HWT_MODE_THREAD : HWT_MODE_CPU,
				  &s->config);
	s->on = cs_path_start(u, &s->config, &w);
	if (!s->on)
		warn_stuck(b);
}

/* Each stretch begins with a sync point, for the source was off. */
static void cs_switch_in(struct hwt_buffer *b, int unit, bool fresh)
{
	struct cs_save *s = b->priv;
	struct cs_unit u = unit_of(b, unit);
	hwt_irqflags_t flags;

	(void)fresh;
	hwt_spin_lock(&b->lock, flags);
	if (place_fifo(b))
		start(b, &u);
	if (!s->on)
		b->gaps++;
	hwt_spin_unlock(&b->lock, flags);
}

static int cs_switch_out(struct hwt_buffer *b, int unit)
{
	struct cs_save *s = b->priv;
	struct cs_unit u = unit_of(b, unit);
	hwt_irqflags_t flags;
	int result = HWT_IRQ_NONE;

	hwt_spin_lock(&b->lock, flags);
	if (s->on && quiesce(b, &u))
		result = HWT_IRQ_PROGRESS;
	if (!has_room(b))
		result |= HWT_IRQ_FULL;
	hwt_spin_unlock(&b->lock, flags);
	return result;
}

static int cs_irq(struct hwt_buffer *b, int unit)
{
	struct cs_save *s = b->priv;
	struct cs_unit u = unit_of(b, unit);
	hwt_irqflags_t flags;
	int result = HWT_IRQ_NONE;

	hwt_spin_lock(&b->lock, flags);
	if (!s->on)
		goto out;
	if (look(b, &u))
		result = HWT_IRQ_PROGRESS;
	give_back(b, &u);
	if (has_room(b) && room(b) > b->bufsize / 2)
		goto out;
	if (quiesce(b, &u))
		result |= HWT_IRQ_PROGRESS;
	result |= HWT_IRQ_FULL;
out:
	hwt_spin_unlock(&b->lock, flags);
	return result;
}

static bool cs_room(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;
	bool yes;

	hwt_spin_lock(&b->lock, flags);
	yes = has_room(b);
	hwt_spin_unlock(&b->lock, flags);
	return yes;
}

static int cs_read(struct hwt_buffer *b, int unit, uint64_t *offset, uint64_t *data)
{
	struct cs_save *s = b->priv;
	struct cs_unit u = unit_of(b, unit);
	hwt_irqflags_t flags;

	hwt_spin_lock(&b->lock, flags);
	if (s->on && unit >= 0)
		look(b, &u);
	*offset = b->head % b->bufsize;
	*data = b->head;
	hwt_spin_unlock(&b->lock, flags);
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
	be->scope = HWT_SCOPE_THREAD;
	be->modes = 1u << HWT_MODE_THREAD | 1u << HWT_MODE_CPU;
	be->flags = HWT_QUERY_RING;
	be->pages = HWT_PAGES_CONTIGUOUS;
}
