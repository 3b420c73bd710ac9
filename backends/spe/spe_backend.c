// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "spe_backend.h"

#include "../../core/hwt_core.h"

/* Save area: what the unit must find again at the next switch-in. */
struct spe_save {
	struct spe_config config;
	uint64_t	icr;		/* operations to the next sample */
	uint64_t	base, base_at;	/* unit's address of the piece, its position */
	uint64_t	end_at;		/* position of the piece's end */
	uint64_t	told;		/* halves before it were told by BUFPTR_GET */
	bool		returned[2];	/* that half was given back by index */
	bool		partial[2];	/* its last record is not whole */
	bool		on;		/* the unit runs this buffer now */
	bool		broken;		/* the unit cannot write to it */
};

static void wr(struct hwt_buffer *b, int unit, uint32_t reg, uint64_t value)
{
	b->backend->bus->ops->write(b->backend->bus, unit, reg, value);
}

static uint64_t rd(struct hwt_buffer *b, int unit, uint32_t reg)
{
	return b->backend->bus->ops->read(b->backend->bus, unit, reg);
}

static void order(struct hwt_buffer *b, int unit, enum hwt_barrier kind)
{
	(b->backend->bus->ops->barrier)(b->backend->bus, unit, kind);
}

static uint64_t half_size(const struct hwt_buffer *b)
{
	return b->bufsize / 2;
}

/* Position of the first byte behind the half that holds `at`. */
static uint64_t half_end(const struct hwt_buffer *b, uint64_t at)
{
	return (at / half_size(b) + 1) * half_size(b);
}

static unsigned int half_index(const struct hwt_buffer *b, uint64_t at)
{
	return at / half_size(b) & 1;
}

static bool physical(const struct hwt_buffer *b)
{
	return spe_pmbidr(b->backend) & PMBIDR_ADDRMODE_MASK;
}

/* The unit's address of an offset in the buffer. */
static uint64_t address(const struct hwt_buffer *b, uint64_t offset)
{
	const struct hwt_host_ops *ops = hwt_core_host_ops(b->core);
	struct hwt_bus *bus = b->backend->bus;
	uint64_t page;

	if (!physical(b))
		return (uint64_t)(uintptr_t)b->pages->kva + offset;
	page = ops->page_addr(hwt_core_host(b->core), b->pages, offset / HWT_PAGE_SIZE);
	return bus->ops->buf_addr(bus, page) + offset % HWT_PAGE_SIZE;
}

/* How far from `offset` pages are side by side for the unit; at most to `end`. */
static uint64_t contiguous(const struct hwt_buffer *b, uint64_t offset, uint64_t end)
{
	uint64_t first = offset - offset % HWT_PAGE_SIZE, at = first;

	if (!physical(b))
		return end;
	do
		at += HWT_PAGE_SIZE;
	while (at < end && address(b, at) == address(b, first) + (at - first));
	return at;
}

static int spe_buffer_init(struct hwt_buffer *b)
{
	struct spe_save *s;

	/* The program's unit is another one. */
	if (!spe_pmsidr(b->backend))
		return -ENXIO;
	if (b->bufsize % (2 * HWT_PAGE_SIZE) || (!physical(b) && !b->pages->kva))
		return -EINVAL;
	s = hwt_alloc(sizeof(*s), HWT_MAY_SLEEP);
	if (!s)
		return -ENOMEM;
	b->priv = s;
	spe_config_default(b->backend, b->thr ? HWT_MODE_THREAD : HWT_MODE_CPU, &s->config);
	return 0;
}

static void spe_buffer_fini(struct hwt_buffer *b)
{
	hwt_free(b->priv);
	b->priv = NULL;
}

static void spe_set_config(struct hwt_buffer *b, const void *config)
{
	struct spe_save *s = b->priv;

	hwt_memcpy(&s->config, config, sizeof(s->config));
	s->icr = 0;	/* the new interval from its beginning */
}

/* Is all of the half free that the next record goes to? */
static bool has_room(const struct hwt_buffer *b)
{
	return half_end(b, b->head) <= b->tail + b->bufsize;
}

/* Padding packets over [from, to), positions; words where there is no mapping. */
static void pad(struct hwt_buffer *b, uint64_t from, uint64_t to)
{
	const struct hwt_host_ops *ops = hwt_core_host_ops(b->core);
	uint64_t at = from % b->bufsize, n = to - from;

	if (b->pages->kva) {
		hwt_memset((char *)b->pages->kva + at, SPE_HDR_PADDING, n);
		return;
	}
	for (; n >= 8; n -= 8, at += 8)
		ops->page_write64(hwt_core_host(b->core), b->pages, at, 0);
}

/* Programs the unit for the piece that begins at head; sampling on comes last. */
static void program(struct hwt_buffer *b, int unit)
{
	struct spe_save *s = b->priv;
	uint64_t offset = b->head % b->bufsize;
	uint64_t end = offset + (half_end(b, b->head) - b->head);
	uint64_t flags = physical(b) ? PMBLIMITR_NVM | PMBLIMITR_E : PMBLIMITR_E;

	end = contiguous(b, offset, end);
	s->base = address(b, offset);
	s->base_at = b->head;
	s->end_at = b->head + (end - offset);
	wr(b, unit, PMSFCR_EL1, s->config.fcr);
	wr(b, unit, PMSEVFR_EL1, s->config.evfr);
	if (spe_pmsidr(b->backend) & PMSIDR_FNE)
		wr(b, unit, PMSNEVFR_EL1, s->config.nevfr);
	wr(b, unit, PMSLATFR_EL1, s->config.latfr);
	wr(b, unit, PMSIRR_EL1, s->config.irr);
	wr(b, unit, PMSICR_EL1, s->icr);
	wr(b, unit, PMBPTR_EL1, s->base);
	wr(b, unit, PMBSR_EL1, 0);
	wr(b, unit, PMBLIMITR_EL1, (s->base + (end - offset)) | flags | PMBLIMITR_FM_FILL);
	order(b, unit, HWT_BARRIER_CONTEXT);
	wr(b, unit, PMSCR_EL1, s->config.scr);
	order(b, unit, HWT_BARRIER_CONTEXT);
	s->on = true;
}

/* Moves head to where PMBPTR is. */
static void look(struct hwt_buffer *b, int unit)
{
	struct spe_save *s = b->priv;
	uint64_t at = rd(b, unit, PMBPTR_EL1) - s->base;

	if (at > s->end_at - s->base_at) {
		if (!s->broken)
			hwt_warn("spe: buffer %d: write pointer outside of it", b->buf_id);
		s->broken = true;
		return;
	}
	if (s->base_at + at > b->head)
		b->head = s->base_at + at;
}

/* A management event that ended the piece: what the syndrome says of it. */
static void end_piece(struct hwt_buffer *b, uint64_t sr)
{
	struct spe_save *s = b->priv;
	bool full = !(sr & (PMBSR_EC_MASK | PMBSR_EA)) &&
		    (sr & PMBSR_BSC_MASK) == PMBSR_BSC_FULL;
	bool waited = !hwt_core_host_ops(b->core)->may_hold;

	if (sr & PMBSR_DL)
		s->partial[half_index(b, s->base_at)] = true;
	if (full) {
		pad(b, b->head, s->end_at);
		b->head = s->end_at;
		/* What was executed until now was not sampled; without room core counts. */
		waited = waited && has_room(b);
	} else {
		/* It would fault again at the next record. */
		hwt_warn("spe: buffer %d: the unit cannot write (PMBSR 0x%llx)", b->buf_id,
			 (unsigned long long)sr);
		s->broken = true;
	}
	if (sr & PMBSR_DL || !full || waited)
		b->gaps++;
}

/* Turns the unit off and keeps its place (D9.7); true: head moved. */
static bool quiesce(struct hwt_buffer *b, int unit)
{
	struct spe_save *s = b->priv;
	uint64_t before = b->head, sr;

	wr(b, unit, PMSCR_EL1, 0);
	order(b, unit, HWT_BARRIER_CONTEXT);
	order(b, unit, HWT_BARRIER_DATA);	/* PSB CSYNC, DSB */
	wr(b, unit, PMBLIMITR_EL1, 0);
	order(b, unit, HWT_BARRIER_CONTEXT);
	s->icr = rd(b, unit, PMSICR_EL1) & PMSICR_COUNT_MASK;
	sr = rd(b, unit, PMBSR_EL1);
	look(b, unit);
	b->collided |= !!(sr & PMBSR_COLL);
	if (sr & PMBSR_S)
		end_piece(b, sr);
	wr(b, unit, PMBSR_EL1, 0);
	s->on = false;
	return b->head != before;
}

static void spe_switch_in(struct hwt_buffer *b, int unit, bool fresh)
{
	struct spe_save *s = b->priv;
	hwt_irqflags_t flags;

	hwt_spin_lock(&b->lock, flags);
	if (fresh)
		s->icr = 0;
	if (!s->broken)
		program(b, unit);
	hwt_spin_unlock(&b->lock, flags);
}

static int spe_switch_out(struct hwt_buffer *b, int unit)
{
	struct spe_save *s = b->priv;
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

/* PMBIRQ: the piece is full.  Only a whole half is worth a record. */
static int spe_irq(struct hwt_buffer *b, int unit)
{
	struct spe_save *s = b->priv;
	hwt_irqflags_t flags;
	int result = HWT_IRQ_NONE;
	uint64_t half;

	hwt_spin_lock(&b->lock, flags);
	if (!s->on || !(rd(b, unit, PMBSR_EL1) & PMBSR_S))
		goto out;
	half = half_end(b, s->base_at);
	quiesce(b, unit);
	if (b->head >= half || s->broken)
		result = HWT_IRQ_PROGRESS | HWT_IRQ_TELL;
	if (!has_room(b))
		result |= HWT_IRQ_FULL;
	else if (!s->broken)
		program(b, unit);
out:
	hwt_spin_unlock(&b->lock, flags);
	return result;
}

static bool spe_room(struct hwt_buffer *b)
{
	hwt_irqflags_t flags;
	bool room;

	hwt_spin_lock(&b->lock, flags);
	room = has_room(b);
	hwt_spin_unlock(&b->lock, flags);
	return room;
}

static int spe_read(struct hwt_buffer *b, int unit, uint64_t *offset, uint64_t *data)
{
	struct spe_save *s = b->priv;
	hwt_irqflags_t flags;

	hwt_spin_lock(&b->lock, flags);
	if (s->on && unit >= 0) {
		look(b, unit);
		/* What PMBPTR has passed is in memory only after PSB CSYNC and DSB. */
		order(b, unit, HWT_BARRIER_DATA);
	}
	*offset = b->head % b->bufsize;
	*data = b->head;
	hwt_spin_unlock(&b->lock, flags);
	return 0;
}

static int spe_bufptr(struct hwt_buffer *b, bool idle, uint64_t *offset, uint64_t *data)
{
	struct spe_save *s = b->priv;
	uint64_t start, end;
	hwt_irqflags_t flags;
	int err = 0;

	hwt_spin_lock(&b->lock, flags);
	start = s->told - s->told % half_size(b);
	end = half_end(b, start);
	*data = half_index(b, start) ? ARM_SPE_BUF_POS : 0;
	if (s->partial[half_index(b, start)])
		*data |= ARM_SPE_PARTREC;
	if (b->head >= end) {
		*offset = half_size(b);
		s->told = end;
	} else if (idle && b->head > s->told) {
		*offset = b->head - start;
		*data |= ARM_SPE_FINAL_BUF;
		s->told = b->head;
	} else {
		err = -ENOENT;
	}
	hwt_spin_unlock(&b->lock, flags);
	return err;
}

/* Halves may come back in any order; the tail goes over those that are back. */
static int give_back(struct hwt_buffer *b, unsigned int index)
{
	struct spe_save *s = b->priv;
	uint64_t at = b->tail - b->tail % half_size(b);

	if (half_index(b, at) != index)
		at += half_size(b);
	if (half_end(b, at) > b->head)
		return -EINVAL;
	s->returned[index] = true;
	while (half_end(b, b->tail) <= b->head && s->returned[half_index(b, b->tail)]) {
		s->returned[half_index(b, b->tail)] = false;
		s->partial[half_index(b, b->tail)] = false;
		b->tail = half_end(b, b->tail);
	}
	return 0;
}

static int move_tail(struct hwt_buffer *b, uint64_t tail)
{
	struct spe_save *s = b->priv;

	if (tail < b->tail || tail > b->head)
		return -EINVAL;
	for (; half_end(b, b->tail) <= tail; b->tail = half_end(b, b->tail)) {
		s->returned[half_index(b, b->tail)] = false;
		s->partial[half_index(b, b->tail)] = false;
	}
	b->tail = tail;
	/* Who reads by position is not told by halves as well. */
	if (s->told < tail)
		s->told = tail;
	return 0;
}

static int spe_svc_buf(struct hwt_context *ctx, const void *data, size_t size, int version,
		       struct hwt_buffer **out)
{
	struct arm_spe_svc_buf2 by_tail = {0};
	struct arm_spe_svc_buf by_half = {0};
	struct hwt_buffer *b;
	hwt_irqflags_t flags;
	bool halves = version == ARM_SPE_SVC_BUF_VERSION;
	int err;

	if (!halves && version != ARM_SPE_SVC_BUF_VERSION2)
		return -EINVAL;
	if (size < (halves ? sizeof(by_half) : sizeof(by_tail)))
		return -EINVAL;
	if (halves)
		hwt_memcpy(&by_half, data, sizeof(by_half));
	else
		hwt_memcpy(&by_tail, data, sizeof(by_tail));
	b = hwt_context_buffer(ctx, halves ? (int)by_half.ident : by_tail.buf_id);
	if (!b)
		return -ENOENT;
	hwt_spin_lock(&b->lock, flags);
	err = halves ? give_back(b, by_half.buf_idx) : move_tail(b, by_tail.tail);
	hwt_spin_unlock(&b->lock, flags);
	*out = b;
	return err;
}

static const struct hwt_backend_ops spe_ops = {
	.buffer_init = spe_buffer_init,
	.buffer_fini = spe_buffer_fini,
	.config_check = spe_config_check,
	.config_size = sizeof(struct arm_spe_config),
	.config_size2 = sizeof(struct arm_spe_config2),
	.set_config = spe_set_config,
	.switch_in = spe_switch_in,
	.switch_out = spe_switch_out,
	.irq = spe_irq,
	.read = spe_read,
	.bufptr = spe_bufptr,
	.svc_buf = spe_svc_buf,
	.svc_size = sizeof(struct arm_spe_svc_buf),
	.svc_size2 = sizeof(struct arm_spe_svc_buf2),
	.room = spe_room,
};

void spe_backend_init(struct hwt_backend *be, struct hwt_bus *bus)
{
	hwt_memset(be, 0, sizeof(*be));
	be->name = "spe";
	be->ops = &spe_ops;
	be->bus = bus;
	be->scope = HWT_SCOPE_THREAD;
	be->modes = 1u << HWT_MODE_THREAD | 1u << HWT_MODE_CPU;
	be->pages = HWT_PAGES_MAPPED;
}
