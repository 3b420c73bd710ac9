/* SPDX-License-Identifier: BSD-2-Clause */
/* A backend whose unit only counts bytes. */
#include <assert.h>
#include <stdlib.h>

#include "fake_backend.h"

/* The units are in the host; every op knows its way by the buffer's backend. */
static struct fake_host *host_of(struct hwt_backend *be)
{
	return HWT_CONTAINER_OF(be, struct fake_host, be);
}

struct fake_area *fake_area(struct hwt_buffer *b)
{
	return b->priv;
}

static int buffer_init(struct hwt_buffer *b)
{
	struct fake_area *area = hwt_alloc(sizeof(*area), HWT_MAY_SLEEP);

	if (!area)
		return -ENOMEM;
	area->unit = -1;
	b->priv = area;
	return 0;
}

static void buffer_fini(struct hwt_buffer *b)
{
	struct fake_host *h = host_of(b->backend);
	struct fake_area *area = b->priv;
	int i;

	/* A unit that still writes into freed pages is what must never be. */
	pthread_mutex_lock(&h->lock);
	for (i = 0; i < FAKE_UNITS; i++)
		assert(h->units[i].buffer != b);
	pthread_mutex_unlock(&h->lock);
	hwt_free(area);
	b->priv = NULL;
}

static int config_check(struct hwt_backend *be, int mode, const struct hwt_cred *cred,
			const void *config, size_t size, int version, void **out)
{
	const struct fake_config *c = config;
	struct fake_config *copy;

	(void)be;
	(void)mode;
	if (version != FAKE_VERSION || size != sizeof(*c) || c->flags & FAKE_BAD)
		return -EINVAL;
	if (c->flags & FAKE_LACKS)
		return -EOPNOTSUPP;
	if (c->flags & FAKE_ROOT && !cred->perfmon)
		return -EPERM;
	copy = hwt_alloc(sizeof(*copy), HWT_MAY_SLEEP);
	if (!copy)
		return -ENOMEM;
	*copy = *c;
	*out = copy;
	return 0;
}

static void set_config(struct hwt_buffer *b, const void *config)
{
	const struct fake_config *c = config;
	struct fake_area *area = b->priv;

	assert(area->unit < 0);
	area->config = c->value;
	area->configs++;
}

static void switch_in(struct hwt_buffer *b, int unit, bool fresh)
{
	struct fake_host *h = host_of(b->backend);
	struct fake_area *area = b->priv;

	assert(area->unit < 0);
	pthread_mutex_lock(&h->lock);
	assert(!h->units[unit].buffer);
	h->units[unit].buffer = b;
	h->units[unit].pos = area->pos;
	pthread_mutex_unlock(&h->lock);
	area->seen = area->pos;
	area->unit = unit;
	area->programmed = area->config;
	area->ins++;
	area->fresh += fresh;
}

/* The unit stands at pos, as far as it itself wrote: head, and is there room for more? */
static int look(struct hwt_buffer *b, uint64_t pos)
{
	struct fake_area *area = b->priv;
	hwt_irqflags_t flags;
	int bits = 0;

	b = b->sink;
	hwt_spin_lock(&b->lock, flags);
	if (pos != area->seen)
		bits |= HWT_IRQ_PROGRESS;
	b->head += pos - area->seen;
	area->seen = pos;
	if (!b->ring && b->head - b->tail >= b->bufsize)
		bits |= HWT_IRQ_FULL;
	hwt_spin_unlock(&b->lock, flags);
	return bits;
}

static int source_get(struct hwt_buffer *sink)
{
	struct fake_area *area = sink->priv;
	int i;

	for (i = 1; i <= FAKE_MARKS; i++) {
		if (area->marks >> i & 1)
			continue;
		area->marks |= 1u << i;
		return i;
	}
	return -EAGAIN;
}

static void source_put(struct hwt_buffer *sink, int source)
{
	struct fake_area *area = sink->priv;

	assert(area->marks >> source & 1);
	area->marks &= ~(1u << source);
}

static uint64_t unit_stop(struct hwt_buffer *b, int unit)
{
	struct fake_host *h = host_of(b->backend);
	struct fake_area *area = b->priv;

	pthread_mutex_lock(&h->lock);
	assert(h->units[unit].buffer == b);
	h->units[unit].buffer = NULL;
	area->pos = h->units[unit].pos;
	pthread_mutex_unlock(&h->lock);
	area->unit = -1;
	area->outs++;
	return area->pos;
}

static int switch_out(struct hwt_buffer *b, int unit)
{
	struct fake_area *area = b->priv;

	assert(area->unit == unit);
	return look(b, unit_stop(b, unit));
}

static int irq(struct hwt_buffer *b, int unit)
{
	struct fake_host *h = host_of(b->backend);
	uint64_t pos;
	int bits;

	pthread_mutex_lock(&h->lock);
	pos = h->units[unit].pos;
	pthread_mutex_unlock(&h->lock);
	bits = look(b, pos);
	if (bits & HWT_IRQ_FULL)
		unit_stop(b, unit);
	if (h->in_irq)
		h->in_irq(h, b);
	return bits;
}

static int read_position(struct hwt_buffer *b, int unit, uint64_t *offset, uint64_t *data)
{
	struct fake_host *h = host_of(b->backend);
	struct fake_area *area = b->priv;
	hwt_irqflags_t flags;
	uint64_t pos;

	pthread_mutex_lock(&h->lock);
	pos = unit >= 0 ? h->units[unit].pos : area->pos;
	pthread_mutex_unlock(&h->lock);
	look(b, pos);
	hwt_spin_lock(&b->sink->lock, flags);
	*data = b->sink->head;
	hwt_spin_unlock(&b->sink->lock, flags);
	*offset = *data % b->bufsize;
	return 0;
}

static int svc_buf(struct hwt_context *ctx, const void *data, size_t size, int version,
		   struct hwt_buffer **out)
{
	const struct fake_svc *svc = data;
	struct hwt_buffer *b;
	hwt_irqflags_t flags;
	int rc = 0;

	if (version != FAKE_VERSION || size != sizeof(*svc))
		return -EINVAL;
	b = hwt_context_buffer(ctx, svc->buf_id);
	if (!b)
		return -ENOENT;
	b = b->sink;
	hwt_spin_lock(&b->lock, flags);
	if (svc->tail < b->tail || svc->tail > b->head)
		rc = -EINVAL;
	else
		b->tail = svc->tail;
	hwt_spin_unlock(&b->lock, flags);
	*out = b;
	return rc;
}

static const struct hwt_backend_ops backend_ops = {
	.buffer_init = buffer_init,
	.buffer_fini = buffer_fini,
	.source_get = source_get,
	.source_put = source_put,
	.config_check = config_check,
	.config_size = sizeof(struct fake_config),
	.set_config = set_config,
	.switch_in = switch_in,
	.switch_out = switch_out,
	.irq = irq,
	.read = read_position,
	.svc_buf = svc_buf,
	.svc_size = sizeof(struct fake_svc),
};

static uint64_t bus_now(struct hwt_bus *bus, int unit)
{
	struct fake_host *h = HWT_CONTAINER_OF(bus, struct fake_host, bus);

	(void)unit;
	return __atomic_add_fetch(&h->clock, 1, __ATOMIC_RELAXED);
}

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t index)
{
	(void)bus;
	return index < 3 ? 0x100 + index : 0;
}

static const struct hwt_bus_ops bus_ops = {.now = bus_now, .cap = bus_cap};

void fake_backend_init(struct fake_host *h)
{
	h->bus.ops = &bus_ops;
	h->bus.name = "counting unit";
	h->bus.time_hz = 1000000000;
	h->be.name = "fake";
	h->be.ops = &backend_ops;
	h->be.bus = &h->bus;
	h->be.scope = HWT_SCOPE_THREAD;
	h->be.modes = 1u << HWT_MODE_THREAD | 1u << HWT_MODE_CPU;
	h->be.nranges = 2;
	h->be.flags = HWT_QUERY_RING;
}

uint64_t fake_produce(struct fake_host *h, int unit, uint64_t bytes)
{
	struct fake_unit *u = &h->units[unit];
	struct hwt_buffer *b;
	hwt_irqflags_t flags;
	uint64_t room;

	pthread_mutex_lock(&h->lock);
	b = u->buffer;
	if (!b)
		bytes = 0;
	if (b) {
		hwt_spin_lock(&b->sink->lock, flags);
		room = b->sink->ring ? bytes : b->sink->tail + b->bufsize -
		       (b->sink->head + u->pos - fake_area(b)->seen);
		hwt_spin_unlock(&b->sink->lock, flags);
		if (bytes > room)
			bytes = room;
		u->pos += bytes;
	}
	pthread_mutex_unlock(&h->lock);
	return bytes;
}
