// SPDX-License-Identifier: BSD-2-Clause
/*
 * CoreSight beside a vCPU: its own ETM, which feeds a funnel and an ETR; those of
 * its own block, or those of another one of the process or machine (VTU_CS_ROUTE), so
 * that many ETMs share a sink.  vtu/window.h has the layout.
 */
#include "unit.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "../models/coresight/etm4_feed.h"
#include "../models/coresight/tmc_unit.h"
#include "vcpu.h"
#include "window.h"

#define EL_KERNEL 1u
#define EL_USER	  0u
static const uint8_t level[] = {[UNIT_KERNEL] = EL_KERNEL, [UNIT_USER] = EL_USER};

/* Where a trace bus ends.  Outlives its block's vCPU: others may feed it. */
struct fabric {
	pthread_mutex_t lock;
	struct vcpu *feeder; /* who holds the lock, to be interrupted */
	struct cs_funnel funnel;
	struct tmc_unit etr;
};

struct coresight {
	struct etm_unit etm;
	struct fabric *own, *to;
	uint32_t port; /* of the funnel */
	bool waiting;  /* for room: the ETM is in the middle of output */
};

/* By block; of this process. vtu.lock guards what is in the table, not the fabrics. */
static struct fabric *fabrics[VTU_MAX_BLOCKS];

static struct coresight *cs(const struct vcpu *v)
{
	return v->unit;
}

static struct cs_regs *component(struct vtu_block *b, uint32_t base)
{
	return (struct cs_regs *)(b->regs + base);
}

/* ---- the sink ---- */

/* The vCPU that filled it: its handler runs, and it waits if the host wants that. */
static void etr_full(void *ctx)
{
	struct fabric *f = ctx;

	if (f->feeder)
		unit_interrupt(f->feeder);
}

static bool into_etr(void *ctx, uint8_t id, const uint8_t *bytes, size_t n)
{
	return tmc_unit_input(ctx, id, bytes, n);
}

static struct fabric *find_fabric(uint32_t n)
{
	struct fabric *f;

	pthread_mutex_lock(&vtu.lock);
	f = n < VTU_MAX_BLOCKS ? fabrics[n] : NULL;
	pthread_mutex_unlock(&vtu.lock);
	return f;
}

/* The block's, in power-on state. */
static struct fabric *make_fabric(struct vtu_block *b)
{
	struct tmc_unit_host host = {NULL, unit_memory, etr_full, NULL};
	uint32_t n = window_block_number(b);
	struct fabric *f = find_fabric(n);

	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f)
			plugin_refuse("no memory for a trace unit");
		pthread_mutex_init(&f->lock, NULL);
		pthread_mutex_lock(&vtu.lock);
		fabrics[n] = f;
		pthread_mutex_unlock(&vtu.lock);
	}
	host.ctx = f;
	pthread_mutex_lock(&f->lock);
	tmc_unit_init(&f->etr, component(b, VTU_CS_ETR), TMC_CONFIG_ETR, NULL, 0,
		      (struct cs_sink){NULL, NULL}, &host);
	cs_funnel_init(&f->funnel, component(b, VTU_CS_FUNNEL), CSTF_PORTS,
		       (struct cs_sink){into_etr, &f->etr});
	pthread_mutex_unlock(&f->lock);
	return f;
}

static void flush_sink(struct fabric *f)
{
	pthread_mutex_lock(&f->lock);
	tmc_unit_flush(&f->etr);
	pthread_mutex_unlock(&f->lock);
}

/* ---- what the ETM asks for ---- */

static bool output(void *ctx, uint8_t id, const uint8_t *bytes, size_t n)
{
	struct vcpu *v = ctx;
	struct fabric *f = cs(v)->to;
	bool taken;

	pthread_mutex_lock(&f->lock);
	f->feeder = v;
	taken = cs_funnel_input(&f->funnel, cs(v)->port, id, bytes, n);
	f->feeder = NULL;
	pthread_mutex_unlock(&f->lock);
	return taken;
}

/* The handler may make room; the vCPU waits in its hook until it has run. */
static bool stall(void *ctx)
{
	struct vcpu *v = ctx;
	bool answered;

	if (v->mode != VCPU_LIVE || v->quitting)
		return false;
	cs(v)->waiting = true;
	answered = window_hook(v, VTU_HOOK_IRQ, 0, 0, 0);
	cs(v)->waiting = false;
	return answered;
}

/* A machine's CPUs cannot be stalled: its guest runs on them. */
static struct etm_unit_host host_of(struct vcpu *v)
{
	return (struct etm_unit_host){
		.ctx = v,
		.output = output,
		.stall = vtu.system ? NULL : stall,
		.clock = vtu.flags & VTU_F_CLOCK_HOST ? unit_host_clock : NULL,
	};
}

/* ---- struct unit_ops ---- */

static void describe(struct vtu_header *h)
{
	static struct cs_regs regs;
	static struct etm_unit scratch;
	struct etm_unit_host host = host_of(NULL);
	uint32_t i;

	etm_unit_init(&scratch, &regs, &host);
	for (i = 0; i < ETM4_NUM_IDR; i++)
		h->caps[i] = *cs_reg(&regs, TRCIDR(i));
	__atomic_store_n(&h->ncaps, ETM4_NUM_IDR, __ATOMIC_RELEASE);
}

static void power_on(struct vcpu *v)
{
	struct etm_unit_host host = host_of(v);
	struct coresight *c = calloc(1, sizeof(*c));

	if (!c)
		plugin_refuse("no memory for a trace unit");
	v->unit = c;
	c->own = c->to = make_fabric(v->block);
	c->port = v->index % CSTF_PORTS;
	etm_unit_init(&c->etm, component(v->block, VTU_CS_ETM), &host);
	etm_unit_set_context(&c->etm, EL_KERNEL, (uint32_t)v->tid, vtu.guest->kernel_ip);
}

static void power_off(struct vcpu *v)
{
	struct coresight *c = cs(v);

	if (c->waiting) { /* the host is gone, in the middle of output */
		c->etm.enabled = false;
		c->etm.limit = 0;
	} else if (c->etm.enabled) {
		etm_unit_write(&c->etm, CS_LAR, CS_LAR_KEY);
		etm_unit_write(&c->etm, TRCPRGCTLR, 0);
	}
	flush_sink(c->to);
	c->etm.regs = component(&window_no_block, VTU_CS_ETM);
}

/* The parent's sinks are none of the child's. */
static void forget(struct vcpu *v)
{
	memset(fabrics, 0, sizeof(fabrics));
	cs(v)->etm.enabled = false;
	cs(v)->etm.regs = component(&window_no_block, VTU_CS_ETM);
	cs(v)->etm.limit = 0;
}

static int route(struct vcpu *v, uint64_t block)
{
	struct fabric *f = find_fabric((uint32_t)block);

	if (!f || cs(v)->etm.enabled)
		return -1;
	cs(v)->to = f;
	*(uint64_t *)(v->block->regs + VTU_CS_ROUTE) = block;
	return 0;
}

/* A shared component's registers: whoever serves the command writes them. */
static int write_fabric(struct vcpu *v, uint32_t reg, uint32_t value)
{
	struct fabric *f = cs(v)->to;
	uint32_t offset = reg & (CS_COMPONENT_SIZE - 1);
	int err;

	pthread_mutex_lock(&f->lock);
	err = (reg & ~offset) == VTU_CS_ETR ? tmc_unit_write(&f->etr, offset, value)
					    : cs_funnel_write(&f->funnel, offset, value);
	pthread_mutex_unlock(&f->lock);
	return err;
}

static int write(struct vcpu *v, uint32_t reg, uint64_t value)
{
	/* In the middle of output: its handler can make room, nothing else. */
	if (reg < VTU_CS_FUNNEL && cs(v)->waiting)
		return -1;
	if (reg < VTU_CS_FUNNEL)
		return etm_unit_write(&cs(v)->etm, reg, value);
	if (reg == VTU_CS_ROUTE)
		return route(v, value);
	if (reg >= VTU_CS_ETR + CS_COMPONENT_SIZE || value > UINT32_MAX)
		return -1;
	return write_fabric(v, reg, (uint32_t)value);
}

static bool tracing(const struct vcpu *v)
{
	return cs(v)->etm.enabled;
}

static void run(struct vcpu *v, const struct run *r, uint32_t n, uint64_t next)
{
	if (n == r->ninsn)
		etm_unit_feed(&cs(v)->etm, r, next);
	else
		etm_unit_run(&cs(v)->etm, r, n, next);
}

static void far(struct vcpu *v, const struct run *r, const struct unit_place *to)
{
	etm_unit_far(&cs(v)->etm, r, level[to->level], to->context, to->ip);
}

/* IHI0064 table 6-15. */
static const uint8_t exceptions[UNIT_EVENTS] = {
	[UNIT_INTERRUPT] = ETM4_EXC_IRQ,
	[UNIT_FAST_INTERRUPT] = ETM4_EXC_FIQ,
	[UNIT_SYSTEM_ERROR] = ETM4_EXC_SYSTEM_ERROR,
	[UNIT_FAULT] = ETM4_EXC_DATA_FAULT,
	[UNIT_FETCH_FAULT] = ETM4_EXC_INST_FAULT,
	[UNIT_ALIGNMENT] = ETM4_EXC_ALIGNMENT,
	[UNIT_TRAP] = ETM4_EXC_TRAP,
	[UNIT_DEBUG] = ETM4_EXC_INST_DEBUG,
	[UNIT_DATA_DEBUG] = ETM4_EXC_DATA_DEBUG,
};

static void leave(struct vcpu *v, uint64_t at, enum unit_event event,
		  const struct unit_place *to)
{
	etm_unit_exception(&cs(v)->etm, exceptions[event], at, level[to->level],
			   to->context, to->ip);
}

static void enter(struct vcpu *v, const struct unit_place *at)
{
	etm_unit_set_context(&cs(v)->etm, level[at->level], at->context, at->ip);
}

static bool in_context(const struct vcpu *v)
{
	return cs(v)->etm.enabled && cs(v)->etm.level_on;
}

/* A context ID that is written breaks no flow. */
static void move(struct vcpu *v, const struct unit_place *at)
{
	struct etm_unit *etm = &cs(v)->etm;

	if (in_context(v) && etm->el == level[at->level])
		etm_unit_set_cid(etm, at->context);
	else
		enter(v, at);
}

static void pause_at(struct vcpu *v, uint64_t at)
{
	if (cs(v)->etm.enabled)
		etm_unit_break(&cs(v)->etm, at);
}

static void resume(struct vcpu *v, uint64_t at)
{
	etm_unit_resume(&cs(v)->etm, at);
}

static void skip(struct vcpu *v, uint32_t n)
{
	cs(v)->etm.insns += n;
}

/* A sink that many feed is not made to fill up its frame at each system call. */
static void flush(struct vcpu *v, bool hook)
{
	if (cs(v)->waiting)
		return;
	etm_unit_flush(&cs(v)->etm);
	if (hook)
		flush_sink(cs(v)->to);
}

/* Ended threads' sinks, too: what they had is in memory already. */
static void settle(void)
{
	struct fabric *f;
	uint32_t i;

	for (i = 0; i < VTU_MAX_BLOCKS; i++) {
		f = find_fabric(i);
		if (f)
			flush_sink(f);
	}
}

static uint64_t get_clock(const struct vcpu *v)
{
	return etm_unit_clock(&cs(v)->etm);
}

static void set_clock(struct vcpu *v, uint64_t time)
{
	etm_unit_set_clock(&cs(v)->etm, time);
}

static uint64_t insns(const struct vcpu *v)
{
	return cs(v)->etm.insns;
}

const struct unit_ops unit_coresight = {
	.kind = VTU_UNIT_CORESIGHT,
	.elf_machine = EM_AARCH64,
	.name = "CoreSight ETMv4 and TMC",
	.describe = describe,
	.power_on = power_on,
	.power_off = power_off,
	.forget = forget,
	.write = write,
	.tracing = tracing,
	.run = run,
	.far = far,
	.leave = leave,
	.enter = enter,
	.skip = skip,
	.flush = flush,
	.settle = settle,
	.clock = get_clock,
	.set_clock = set_clock,
	.insns = insns,
	.wanting = tracing,
	.in_context = in_context,
	.move = move,
	.pause = pause_at,
	.resume = resume,
};
