// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pt_backend.h"

#include "../../core/hwt_core.h"

#define NO_GRANULE	(~0ull)
#define NO_OFFSET	(~0ull)

/* Save area: what the unit must find again at the next switch-in. */
struct pt_save {
	struct pt_topa	topa;
	struct pt_config config;
	uint64_t	status;
	uint64_t	output_base, mask_ptrs;
	uint64_t	offset;		/* of head inside the buffer */
	bool		on;		/* the unit runs this buffer now */
	bool		lost_place;	/* registers pointed outside the tables: said once */
};

static void wr(struct hwt_buffer *b, int unit, uint32_t msr, uint64_t value)
{
	b->backend->bus->ops->write(b->backend->bus, unit, msr, value);
}

static uint64_t rd(struct hwt_buffer *b, int unit, uint32_t msr)
{
	return b->backend->bus->ops->read(b->backend->bus, unit, msr);
}

static void bus_barrier(struct hwt_buffer *b, int unit, enum hwt_barrier kind)
{
	/* In parentheses: a kernel has a macro of that name. */
	(b->backend->bus->ops->barrier)(b->backend->bus, unit, kind);
}

static bool may_hold(const struct hwt_buffer *b)
{
	return hwt_core_host_ops(b->core)->may_hold;
}

static int pt_buffer_init(struct hwt_buffer *b)
{
	struct hwt_bus *bus = b->backend->bus;
	bool multi = bus->ops->cap(bus, PT_CAP_0_ECX) & PT_CAP0C_TOPA_MULTI;
	struct pt_save *s = hwt_alloc(sizeof(*s), HWT_MAY_SLEEP);
	int err;

	if (!s)
		return -ENOMEM;
	b->priv = s;
	err = pt_topa_init(&s->topa, b, multi);
	if (err)
		return err;	/* buffer_fini gets the half of it */
	s->output_base = pt_topa_base(&s->topa, b);
	s->mask_ptrs = RTIT_MASK_LOWER;
	pt_config_default(b->thr ? HWT_MODE_THREAD : HWT_MODE_CPU, &s->config);
	return 0;
}

static void pt_buffer_fini(struct hwt_buffer *b)
{
	struct pt_save *s = b->priv;

	if (!s)
		return;
	pt_topa_fini(&s->topa, b);
	hwt_free(s);
	b->priv = NULL;
}

static void pt_set_config(struct hwt_buffer *b, const void *config)
{
	struct pt_save *s = b->priv;

	hwt_memcpy(&s->config, config, sizeof(s->config));
	s->status = 0;	/* a sync point, so that the change can be decoded */
}

/*
 * Moves head to where the registers say the unit is.  An offset that went back
 * means one more lap: the granules' interrupts look at least once a lap.
 */
static bool advance(struct hwt_buffer *b, uint64_t base, uint64_t ptrs)
{
	struct pt_save *s = b->priv;
	uint64_t off = pt_topa_offset(&s->topa, b, base, ptrs), step;

	if (off == NO_OFFSET) {
		if (!s->lost_place)
			hwt_warn("pt: buffer %d: output registers outside the tables",
				 b->buf_id);
		s->lost_place = true;
		return false;
	}
	step = off >= s->offset ? off - s->offset : off + b->bufsize - s->offset;
	s->offset = off;
	b->head += step;
	if (b->head - b->tail > b->bufsize) {
		/* Full mode protects unread data; were it not for a skid, never. */
		if (!b->ring)
			b->gaps++;
		b->tail = b->head - b->bufsize;
	}
	return step != 0;
}

/*
 * Nothing was unread, and the unit ran against STOP before anybody looked: it is
 * where it was, all the way round.
 */
static bool went_round(struct hwt_buffer *b, int unit)
{
	return !b->ring && b->head == b->tail &&
	       rd(b, unit, MSR_RTIT_STATUS) & RTIT_STATUS_STOPPED;
}

/* Reads a running unit's place; OUTPUT_BASE may change between two reads. */
static bool look(struct hwt_buffer *b, int unit)
{
	uint64_t base, ptrs, again = rd(b, unit, MSR_RTIT_OUTPUT_BASE);
	bool moved;

	do {
		base = again;
		ptrs = rd(b, unit, MSR_RTIT_OUTPUT_MASK_PTRS);
		again = rd(b, unit, MSR_RTIT_OUTPUT_BASE);
	} while (base != again);
	moved = advance(b, base, ptrs);
	if (!moved && went_round(b, unit)) {
		b->head += b->bufsize;
		moved = true;
	}
	return moved;
}

/* Bytes of the granule that begins at head, or what is left of it. */
static uint64_t granule_left(const struct hwt_buffer *b, const struct pt_topa *t, uint64_t off)
{
	uint64_t left = t->granule - off % t->granule;

	return left < b->bufsize - off ? left : b->bufsize - off;
}

/*
 * May the unit write the rest of the granule that head is in?  Where the CPU is
 * held at the interrupt it may by then be some bytes into the next one: those
 * have to be free, too.  A buffer of one granule can only ask to be empty.
 */
static bool has_room(const struct hwt_buffer *b)
{
	const struct pt_save *s = b->priv;
	uint64_t need = granule_left(b, &s->topa, s->offset);

	if (b->ring)
		return true;
	if (may_hold(b))
		need += b->backend->bus->skid;
	if (s->topa.ngranules == 1)
		return b->head == b->tail;	/* STOP is at its only end */
	return b->head + need <= b->tail + b->bufsize;
}

/* The last granule that ends at or before unread data. */
static uint64_t last_free_granule(const struct hwt_buffer *b, const struct pt_topa *t)
{
	uint64_t limit = (b->tail + b->bufsize) % b->bufsize;

	if (limit < t->granule)
		return t->ngranules - 1;
	return limit / t->granule - 1;
}

/* STOP protects unread data where nobody can hold the CPU. Unit is quiet. */
static void place_stop(struct hwt_buffer *b)
{
	struct pt_save *s = b->priv;

	pt_topa_set_stop(&s->topa, b, b->ring || may_hold(b) ?
		NO_GRANULE : last_free_granule(b, &s->topa));
}

/* Programs the unit from the save area; TraceEn last (SDM 33.2.8.2). */
static void program(struct hwt_buffer *b, int unit)
{
	struct pt_save *s = b->priv;
	int i;

	wr(b, unit, MSR_RTIT_STATUS, s->status);
	wr(b, unit, MSR_RTIT_OUTPUT_BASE, s->output_base);
	wr(b, unit, MSR_RTIT_OUTPUT_MASK_PTRS, s->mask_ptrs);
	if (s->config.ctl & RTIT_CTL_CR3FILTER)
		wr(b, unit, MSR_RTIT_CR3_MATCH, s->config.cr3_match);
	for (i = 0; i < s->config.nranges; i++) {
		wr(b, unit, MSR_RTIT_ADDRN_A(i), s->config.addr[2 * i]);
		wr(b, unit, MSR_RTIT_ADDRN_B(i), s->config.addr[2 * i + 1]);
	}
	wr(b, unit, MSR_RTIT_CTL, s->config.ctl | RTIT_CTL_TOPA | RTIT_CTL_TRACEEN);
	bus_barrier(b, unit, HWT_BARRIER_CONTEXT);
	s->on = true;
}

/* Turns the unit off and keeps its place. */
static bool quiesce(struct hwt_buffer *b, int unit)
{
	struct pt_save *s = b->priv;
	bool moved;

	wr(b, unit, MSR_RTIT_CTL, 0);
	/* Drain before OUTPUT_MASK_PTRS is read (SDM 33.2.7.1). */
	bus_barrier(b, unit, HWT_BARRIER_DATA);
	moved = look(b, unit);
	s->status = rd(b, unit, MSR_RTIT_STATUS);
	s->output_base = rd(b, unit, MSR_RTIT_OUTPUT_BASE);
	s->mask_ptrs = rd(b, unit, MSR_RTIT_OUTPUT_MASK_PTRS);
	s->on = false;
	return moved;
}

static void pt_switch_in(struct hwt_buffer *b, int unit, bool fresh)
{
	struct pt_save *s = b->priv;
	hwt_irqflags_t flags;

	hwt_spin_lock(&b->lock, flags);
	/* A stretch that goes on carries the count of bytes since the last PSB. */
	s->status &= fresh ? 0 : RTIT_STATUS_PKTBYTECNT_MASK;
	place_stop(b);
	program(b, unit);
	hwt_spin_unlock(&b->lock, flags);
}

static int pt_switch_out(struct hwt_buffer *b, int unit)
{
	struct pt_save *s = b->priv;
	hwt_irqflags_t flags;
	int result = HWT_IRQ_NONE;

	hwt_spin_lock(&b->lock, flags);
	if (s->on && quiesce(b, unit))
		result = HWT_IRQ_PROGRESS;
	if (!has_room(b))
		result |= HWT_IRQ_FULL;
	hwt_spin_unlock(&b->lock, flags);
	return result;
}

/*
 * Decided by where the unit is, not by a status bit (33.2.7.2: PMIs may come
 * late or twice).  STOP moves only while the unit is off.
 */
static int pt_irq(struct hwt_buffer *b, int unit)
{
	struct pt_save *s = b->priv;
	hwt_irqflags_t flags;
	int result = HWT_IRQ_NONE;

	hwt_spin_lock(&b->lock, flags);
	if (!s->on)
		goto out;
	if (look(b, unit))
		result = HWT_IRQ_PROGRESS;
	if (has_room(b) && (b->ring || may_hold(b)))
		goto out;
	if (quiesce(b, unit))
		result |= HWT_IRQ_PROGRESS;
	if (!has_room(b)) {
		result |= HWT_IRQ_FULL;
		goto out;
	}
	if (s->status & RTIT_STATUS_STOPPED)
		b->gaps++;	/* it ran against STOP before this came */
	s->status &= RTIT_STATUS_PKTBYTECNT_MASK;
	place_stop(b);
	program(b, unit);
out:
	hwt_spin_unlock(&b->lock, flags);
	return result;
}

static bool pt_room(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;
	bool room;

	hwt_spin_lock(&b->lock, flags);
	room = has_room(b);
	hwt_spin_unlock(&b->lock, flags);
	return room;
}

static int pt_read(struct hwt_buffer *b, int unit, uint64_t *offset, uint64_t *data)
{
	struct pt_save *s = b->priv;
	hwt_irqflags_t flags;

	hwt_spin_lock(&b->lock, flags);
	if (s->on && unit >= 0)
		look(b, unit);
	*offset = s->offset;
	*data = b->head;
	hwt_spin_unlock(&b->lock, flags);
	return 0;
}

static int pt_svc_buf(struct hwt_context *ctx, const void *data, size_t size, int version,
		      struct hwt_buffer **out)
{
	struct pt_svc_buf svc;
	struct hwt_buffer *b;
	hwt_irqflags_t flags;
	int err = 0;

	if (version != PT_SVC_BUF_VERSION || size < sizeof(svc))
		return -EINVAL;
	hwt_memcpy(&svc, data, sizeof(svc));
	b = hwt_context_buffer(ctx, svc.buf_id);
	if (!b)
		return -ENOENT;
	/* The skid after the one interrupt would always hit unread data. */
	if (may_hold(b) && ((struct pt_save *)b->priv)->topa.ngranules == 1)
		return -EOPNOTSUPP;
	hwt_spin_lock(&b->lock, flags);
	if (svc.tail < b->tail || svc.tail > b->head) {
		err = -EINVAL;
	} else {
		b->tail = svc.tail;
	}
	hwt_spin_unlock(&b->lock, flags);
	*out = b;
	return err;
}

static const struct hwt_backend_ops pt_ops = {
	.buffer_init = pt_buffer_init,
	.buffer_fini = pt_buffer_fini,
	.config_check = pt_config_check,
	.config_size = sizeof(struct pt_cpu_config),
	.config_size2 = sizeof(struct pt_cpu_config2),
	.ranges = pt_config_ranges,
	.set_config = pt_set_config,
	.switch_in = pt_switch_in,
	.switch_out = pt_switch_out,
	.irq = pt_irq,
	.read = pt_read,
	.svc_buf = pt_svc_buf,
	.svc_size = sizeof(struct pt_svc_buf),
	.room = pt_room,
};

void pt_backend_init(struct hwt_backend *be, struct hwt_bus *bus)
{
	hwt_memset(be, 0, sizeof(*be));
	be->name = "pt";
	be->ops = &pt_ops;
	be->bus = bus;
	be->scope = HWT_SCOPE_THREAD;
	be->modes = 1u << HWT_MODE_THREAD | 1u << HWT_MODE_CPU;
	be->flags = HWT_QUERY_RING;
}
