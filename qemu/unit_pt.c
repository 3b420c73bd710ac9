// SPDX-License-Identifier: BSD-2-Clause
/* Intel PT beside a vCPU. */
#include "unit.h"

#include <elf.h>
#include <string.h>

#include "vcpu.h"
#include "window.h"

/* CPL of an enum unit_level. */
static const uint8_t cpl[] = {[UNIT_KERNEL] = 0, [UNIT_USER] = 3};

static void describe(struct vtu_header *h)
{
	memcpy(h->caps, pt_unit_default_caps, PT_CAP_COUNT * sizeof(uint32_t));
	__atomic_store_n(&h->ncaps, PT_CAP_COUNT, __ATOMIC_RELEASE);
}

static void power_on(struct vcpu *v)
{
	struct pt_unit_host host = {v, unit_memory, unit_interrupt, NULL};

	if (vtu.flags & VTU_F_CLOCK_HOST)
		host.clock = unit_host_clock;
	pt_unit_init(&v->pt, (struct pt_regs_file *)v->block->regs, NULL, &host);
	pt_unit_set_context(&v->pt, cpl[UNIT_KERNEL], 0, vtu.guest->kernel_ip);
}

static void power_off(struct vcpu *v)
{
	pt_unit_wrmsr(&v->pt, MSR_RTIT_CTL, v->pt.ctl & ~RTIT_CTL_TRACEEN);
	v->pt.regs = (struct pt_regs_file *)window_no_block.regs;
}

static void forget(struct vcpu *v)
{
	v->pt.regs = (struct pt_regs_file *)window_no_block.regs;
	v->pt.trigger_en = v->pt.packet_en = false;
	v->pt.wend = v->pt.wp;
}

static int write(struct vcpu *v, uint32_t reg, uint64_t value)
{
	return pt_unit_wrmsr(&v->pt, reg, value);
}

static bool tracing(const struct vcpu *v)
{
	return v->pt.ctl & RTIT_CTL_TRACEEN;
}

static void run(struct vcpu *v, const struct run *r, uint32_t n, uint64_t next)
{
	pt_unit_run(&v->pt, r, n, next);
}

static void far(struct vcpu *v, const struct run *r, const struct unit_place *to)
{
	pt_unit_far(&v->pt, r, cpl[to->level], to->space, to->ip);
}

static void leave(struct vcpu *v, uint64_t at, enum unit_event event,
		  const struct unit_place *to)
{
	pt_unit_async(&v->pt, at, cpl[to->level], to->space, to->ip);
}

static void enter(struct vcpu *v, const struct unit_place *at)
{
	/* Time went on outside: records of mappings made there come before this. */
	if (v->pt.host.clock)
		pt_unit_set_tsc(&v->pt, pt_unit_tsc(&v->pt));
	pt_unit_enter(&v->pt, cpl[at->level], at->space, at->ip);
}

static void skip(struct vcpu *v, uint32_t n)
{
	pt_unit_pass(&v->pt, n);
}

static void flush(struct vcpu *v, bool hook)
{
	pt_unit_flush(&v->pt);
}

static uint64_t get_clock(const struct vcpu *v)
{
	return pt_unit_tsc(&v->pt);
}

static void set_clock(struct vcpu *v, uint64_t time)
{
	pt_unit_set_tsc(&v->pt, time);
}

static uint64_t insns(const struct vcpu *v)
{
	return v->pt.insns;
}

static bool wanting(const struct vcpu *v)
{
	return v->pt.trigger_en;
}

static bool in_context(const struct vcpu *v)
{
	return v->pt.context_en;
}

static void move(struct vcpu *v, const struct unit_place *at)
{
	pt_unit_set_context(&v->pt, cpl[at->level], at->space, at->ip);
}

static void pause_at(struct vcpu *v, uint64_t at)
{
	pt_unit_break(&v->pt, at);
}

static void resume(struct vcpu *v, uint64_t at)
{
	pt_unit_resume(&v->pt, at);
}

const struct unit_ops unit_pt = {
	.kind = VTU_UNIT_PT,
	.elf_machine = EM_X86_64,
	.name = "Intel PT",
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
	.clock = get_clock,
	.set_clock = set_clock,
	.insns = insns,
	.wanting = wanting,
	.in_context = in_context,
	.move = move,
	.pause = pause_at,
	.resume = resume,
};
