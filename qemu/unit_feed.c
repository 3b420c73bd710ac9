// SPDX-License-Identifier: BSD-2-Clause
/*
 * For tests: in a unit's place, the addresses of all instructions that it would be
 * told of.  What the feed gets wrong, any unit's packets would.
 */
#include "unit.h"

#include <stdlib.h>

#include "addrlog.h"
#include "window.h"

struct feed {
	bool on;
	bool open;
	bool inside;	      /* between enter and leave */
	uint64_t next;	      /* where the flow has to go on */
	uint64_t insns, base; /* clock = base + insns */
	struct addrlog file;
};

static struct feed *feed_of(const struct vcpu *v)
{
	return v->unit;
}

static void describe(struct vtu_header *h)
{
	__atomic_store_n(&h->ncaps, 0, __ATOMIC_RELEASE);
}

static void power_on(struct vcpu *v)
{
	v->unit = calloc(1, sizeof(struct feed));
	if (!v->unit)
		plugin_refuse("no memory for a trace unit");
}

static void power_off(struct vcpu *v)
{
	struct feed *f = feed_of(v);

	if (f->open)
		addrlog_close(&f->file);
	f->open = f->on = false;
}

static int write(struct vcpu *v, uint32_t reg, uint64_t value)
{
	struct feed *f = feed_of(v);

	if (reg != FEED_REG_ON)
		return -1;
	f->on = value & 1;
	if (f->on && !f->open)
		f->open = addrlog_open(&f->file, "feed", v);
	return 0;
}

static bool tracing(const struct vcpu *v)
{
	return feed_of(v)->on;
}

/* The address that cannot be: a flow that does not hang together. */
static void tell(struct feed *f, uint64_t addr)
{
	if (!f->open)
		return;
	if (!f->inside || addr != f->next)
		addrlog_append(&f->file, RUN_NOWHERE);
	addrlog_append(&f->file, addr);
}

/* Of a branch to what follows anyway, only the feeder can say. */
static void count_outcome(struct vcpu *v, const struct run *r, uint64_t next)
{
	uint64_t *regs = (uint64_t *)v->block->regs;

	regs[next == r->taken ? FEED_REG_TAKEN : FEED_REG_NOT_TAKEN]++;
}

static void run(struct vcpu *v, const struct run *r, uint32_t n, uint64_t next)
{
	struct feed *f = feed_of(v);
	uint64_t at = r->start;
	uint32_t i;

	if (n == r->ninsn && r->kind == RUN_JCC)
		count_outcome(v, r, next);

	for (i = 0; i < n; i++) {
		tell(f, at);
		at += r->len[i];
		f->next = at;
	}
	if (next != at && (n < r->ninsn || run_is_sequential(r->kind)))
		addrlog_append(&f->file, RUN_NOWHERE);
	f->next = next;
	f->insns += n;
}

static void far(struct vcpu *v, const struct run *r, const struct unit_place *to)
{
	run(v, r, r->ninsn, r->end);
	feed_of(v)->inside = false;
}

static void leave(struct vcpu *v, uint64_t at, enum unit_event event,
		  const struct unit_place *to)
{
	struct feed *f = feed_of(v);

	/* Exceptions say where they were taken: behind all that was told. */
	if (f->open && at != f->next)
		addrlog_append(&f->file, RUN_NOWHERE);
	f->inside = false;
}

static void enter(struct vcpu *v, const struct unit_place *at)
{
	struct feed *f = feed_of(v);

	if (f->open && f->inside)
		addrlog_append(&f->file, RUN_NOWHERE);
	f->next = at->ip;
	f->inside = true;
}

static void skip(struct vcpu *v, uint32_t n)
{
	feed_of(v)->insns += n;
}

static void flush(struct vcpu *v, bool hook)
{
}

static uint64_t get_clock(const struct vcpu *v)
{
	const struct feed *f = feed_of(v);

	return f->base + f->insns;
}

static void set_clock(struct vcpu *v, uint64_t time)
{
	struct feed *f = feed_of(v);

	if (time > get_clock(v))
		f->base = time - f->insns;
}

static uint64_t insns(const struct vcpu *v)
{
	return feed_of(v)->insns;
}

const struct unit_ops unit_feed = {
	.kind = VTU_UNIT_FEED,
	.name = "The feed of a trace unit",
	.describe = describe,
	.power_on = power_on,
	.power_off = power_off,
	.forget = power_off,
	.write = write,
	.tracing = tracing,
	.run = run,
	.far = far,
	.leave = leave,
	.enter = enter,
	.skip = skip,
	.flush = flush,
	.clock = get_clock,
	.set_clock = set_clock,
	.insns = insns,
};
