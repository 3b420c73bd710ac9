// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "bus.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif
#include "../hw/pt.h"
#include "../hw/spe.h"

static struct vtu_bus *to_vtu(struct hwt_bus *bus)
{
	return (struct vtu_bus *)((char *)bus - offsetof(struct vtu_bus, bus));
}

static struct vtu_block *block_of(struct vtu_bus *vb, int unit)
{
	if (unit < 0 || (uint32_t)unit >= vb->window->nblocks)
		return NULL;
	return vtu_block(vb->window, (uint32_t)unit);
}

int vtu_reg_offset_pt(uint32_t reg)
{
	if (reg < MSR_RTIT_FIRST || reg > MSR_RTIT_LAST)
		return -1;
	return (int)(reg - MSR_RTIT_FIRST) * 8;
}

static void ring(struct vtu_bus *vb, struct vtu_block *b)
{
	uint32_t seq;

	seq = __atomic_add_fetch(&b->request, 1, __ATOMIC_SEQ_CST);
	vb->doorbell(vb, b, seq);
	/* A vCPU that died served nothing: what was sent is void. */
	b->ring_done = b->ring_tail;
}

int vtu_reg_offset_coresight(uint32_t reg)
{
	return reg < VTU_REGS && !(reg & 3) ? (int)reg : -1;
}

int vtu_reg_offset_spe(uint32_t reg)
{
	return SPE_REG_VALID(reg) ? (int)SPE_REG_INDEX(reg) * 8 : -1;
}

/* Rings the doorbell if commands wait. Only the holder of the block calls it. */
static void flush(struct vtu_bus *vb, struct vtu_block *b)
{
	if (b->ring_tail != b->ring_done)
		ring(vb, b);
}

void vtu_bus_flush(struct hwt_bus *bus, int unit)
{
	struct vtu_bus *vb = to_vtu(bus);
	struct vtu_block *b = block_of(vb, unit);

	if (b)
		ring(vb, b);
}

static void bus_write(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t value)
{
	struct vtu_bus *vb = to_vtu(bus);
	struct vtu_block *b = block_of(vb, unit);
	struct vtu_command *c;

	if (!b || vb->reg_offset(reg) < 0)
		return;
	if (b->ring_tail - b->ring_done == VTU_RING)
		flush(vb, b);
	c = &b->ring[b->ring_tail % VTU_RING];
	c->reg = reg;
	c->value = value;
	__atomic_store_n(&b->ring_tail, b->ring_tail + 1, __ATOMIC_RELEASE);
}

uint64_t vtu_bus_load(struct hwt_bus *bus, int unit, uint32_t reg)
{
	struct vtu_bus *vb = to_vtu(bus);
	struct vtu_block *b = block_of(vb, unit);
	int off = vb->reg_offset(reg);

	if (!b || off < 0)
		return 0;
	if (vb->words)
		return __atomic_load_n((uint32_t *)(b->regs + off), __ATOMIC_ACQUIRE);
	return __atomic_load_n((uint64_t *)(b->regs + off), __ATOMIC_ACQUIRE);
}

static void bus_barrier(struct hwt_bus *bus, int unit, enum hwt_barrier kind)
{
	struct vtu_bus *vb = to_vtu(bus);
	struct vtu_block *b = block_of(vb, unit);

	(void)kind;	/* the unit's stores are ordered; both kinds are a drain */
	if (b)
		flush(vb, b);
}

static uint64_t bus_read(struct hwt_bus *bus, int unit, uint32_t reg)
{
	bus_barrier(bus, unit, HWT_BARRIER_CONTEXT);
	return vtu_bus_load(bus, unit, reg);
}

/* Commands are done once the doorbell is answered: one look is enough. */
static int bus_poll(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t mask,
		    uint64_t value)
{
	return (bus_read(bus, unit, reg) & mask) == value ? 0 : -ETIMEDOUT;
}

static uint64_t bus_now(struct hwt_bus *bus, int unit)
{
	struct vtu_bus *vb = to_vtu(bus);
	struct vtu_block *b = block_of(vb, unit);

	return __atomic_load_n(b ? &b->clock : &vb->window->clock, __ATOMIC_ACQUIRE);
}

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t index)
{
	struct vtu_bus *vb = to_vtu(bus);
	struct vtu_header *h = vb->window;

	if (vb->kind != VTU_UNIT_NONE && vb->kind != h->unit_kind)
		return 0;
	return index < h->ncaps && index < sizeof(h->caps) / sizeof(h->caps[0]) ?
		       h->caps[index] : 0;
}

static uint64_t bus_buf_addr(struct hwt_bus *bus, uint64_t addr)
{
	(void)bus;
	return addr;	/* an offset in the DRAM file is the unit's address */
}

static void hold(struct hwt_bus *bus, int unit, bool on)
{
	struct vtu_bus *vb = to_vtu(bus);
	struct vtu_block *b = block_of(vb, unit);

	if (b && vb->hold)
		vb->hold(vb, b, on);
}

/* A block is a thread's, so its ETR is free. */
static int bus_sink_get(struct hwt_bus *bus, int unit)
{
	hold(bus, unit, true);
	return unit;
}

static void bus_sink_put(struct hwt_bus *bus, int unit)
{
	hold(bus, unit, false);
}

const struct hwt_bus_ops vtu_bus_ops = {
	.write = bus_write,
	.read = bus_read,
	.barrier = bus_barrier,
	.poll = bus_poll,
	.now = bus_now,
	.cap = bus_cap,
	.buf_addr = bus_buf_addr,
	.sink_get = bus_sink_get,
	.sink_put = bus_sink_put,
};

void vtu_bus_init(struct vtu_bus *vb, struct vtu_header *window, const char *name)
{
	vb->bus.ops = &vtu_bus_ops;
	vb->bus.name = name;
	vb->bus.time_hz = window->time_hz;
	vb->bus.skid = VTU_IRQ_SKID;
	vb->window = window;
	vb->reg_offset = vtu_reg_offset_pt;
	vb->words = false;
	vb->hold = NULL;
	vb->kind = VTU_UNIT_NONE;
}
