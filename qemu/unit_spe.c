// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arm SPE beside a vCPU.
 *
 * Nothing is told of most instructions but their number.  What the caches and the
 * branch predictor of the model need comes as it happens: each access by a callback
 * of its own, before the block that makes it has retired; each branch when its
 * block has.  Accesses of the block under way wait in a list for the case that
 * their instruction is sampled.
 */
#include "unit.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "../models/spe/spe_feed.h"
#include "memlog.h"
#include "operation_a64.h"
#include "system.h"
#include "vcpu.h"
#include "window.h"

#define MAX_ACCESSES 512	/* QEMU: TCG_MAX_INSNS */
#define SEED	     0		/* recordings are repeatable */
#define INSN_BYTES   4u

static const uint8_t level[] = {[UNIT_KERNEL] = 1, [UNIT_USER] = 0};

/* What one instruction of the block under way accessed. */
struct access {
	uint32_t insn;		/* its index in the block */
	bool store;		/* the first access was one */
	struct spe_access at;
};

struct spe_side {
	struct spe_unit unit;
	uint32_t n;
	struct access access[MAX_ACCESSES];
};

static struct spe_side *side(const struct vcpu *v)
{
	return v->unit;
}

static void describe(struct vtu_header *h)
{
	spe_unit_caps(h->caps);
	__atomic_store_n(&h->ncaps, SPE_CAP_COUNT, __ATOMIC_RELEASE);
}

static void power_on(struct vcpu *v)
{
	struct spe_unit_host host = {v, unit_memory, unit_interrupt, NULL};
	struct spe_side *s = calloc(1, sizeof(*s));

	if (vtu.flags & VTU_F_CLOCK_HOST)
		host.clock = unit_host_clock;
	if (!s || spe_unit_init(&s->unit, (struct spe_regs_file *)v->block->regs, SEED, &host))
		plugin_refuse("no memory for a trace unit");
	/* Linux has the thread's id there (CONFIG_PID_IN_CONTEXTIDR). */
	spe_unit_set_context(&s->unit, 0, (uint32_t)v->tid);
	v->unit = s;
}

static void drop(struct vcpu *v)
{
	struct spe_side *s = side(v);

	v->unit = NULL;
	if (s)
		spe_unit_fini(&s->unit);
	free(s);
}

static void power_off(struct vcpu *v)
{
	if (side(v))
		spe_unit_write(&side(v)->unit, PMSCR_EL1, 0);
	drop(v);
}

static int write(struct vcpu *v, uint32_t reg, uint64_t value)
{
	return side(v) ? spe_unit_write(&side(v)->unit, reg, value) : -1;
}

static bool tracing(const struct vcpu *v)
{
	return side(v) && spe_enabled(&side(v)->unit);
}

static const struct access *find(const struct spe_side *s, uint32_t insn)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		if (s->access[i].insn == insn)
			return &s->access[i];
	return NULL;
}

/* By enum run_end; 0: no branch. */
#define IS_BRANCH 0x8000u
static const uint16_t branches[] = {
	[RUN_SEQ] = 0,
	[RUN_JCC] = IS_BRANCH | SPE_OPF_COND,
	[RUN_JMP] = IS_BRANCH,
	[RUN_CALL] = IS_BRANCH | SPE_OPF_CALL,
	[RUN_JMP_IND] = IS_BRANCH | SPE_OPF_INDIRECT,
	[RUN_CALL_IND] = IS_BRANCH | SPE_OPF_INDIRECT | SPE_OPF_CALL,
	[RUN_RET] = IS_BRANCH | SPE_OPF_INDIRECT | SPE_OPF_RETURN,
};

static bool is_branch(const struct run *r)
{
	return r->kind < sizeof(branches) / sizeof(branches[0]) && branches[r->kind];
}

static unsigned int branch_flags(const struct run *r, uint64_t next)
{
	/* One that leads to what follows anyway comes as a run of either outcome. */
	bool taken = r->kind != RUN_JCC || next != r->end || r->fall == RUN_NOWHERE;

	return (branches[r->kind] & ~IS_BRANCH) | (taken ? SPE_OPF_TAKEN : 0);
}

/* The instruction at index k of r, which is sampled. */
static void sample(struct spe_side *s, const struct run *r, uint32_t k, uint64_t next,
		   bool whole, bool mispredicted)
{
	const struct block_info *b = run_info(r);
	const uint16_t *flags = b->of_unit;
	struct spe_op op = {.pc = r->start + k * INSN_BYTES};
	uint32_t in_block = (uint32_t)(op.pc - b->real->start) / INSN_BYTES;
	const struct access *a = find(s, in_block);

	op.flags = flags[in_block];
	if (whole && k == r->ninsn - 1 && is_branch(r)) {
		op.kind = SPE_OP_KIND_BRANCH;
		op.flags = (uint16_t)branch_flags(r, next);
		op.target = next;
		op.mispredicted = mispredicted;
	} else if (a) {
		op.kind = a->store ? SPE_OP_KIND_STORE : SPE_OP_KIND_LOAD;
		op.access = a->at;
	}
	spe_unit_sample(&s->unit, &op);
}

/* n instructions of r, of which at least one is sampled. */
static void samples(struct spe_side *s, const struct run *r, uint32_t n, uint64_t next,
		    bool whole, bool mispredicted)
{
	uint64_t until;
	uint32_t done = 0;

	while ((until = spe_unit_until(&s->unit)) <= n - done) {
		spe_unit_pass(&s->unit, until - 1);
		done += (uint32_t)until;
		sample(s, r, done - 1, next, whole, mispredicted);
	}
	spe_unit_pass(&s->unit, n - done);
}

static void run(struct vcpu *v, const struct run *r, uint32_t n, uint64_t next)
{
	struct spe_side *s = side(v);
	bool whole = n == r->ninsn, mispredicted = false;

	if (s->unit.on && whole && is_branch(r))
		mispredicted = spe_unit_branch(&s->unit, r->last, branch_flags(r, next), next);
	if (!spe_unit_try(&s->unit, n))
		samples(s, r, n, next, whole, mispredicted);
	s->n = 0;
}

static void enter(struct vcpu *v, const struct unit_place *at)
{
	struct spe_side *s = side(v);

	spe_unit_set_context(&s->unit, level[at->level], at->context);
	s->n = 0;
}

/* An exception is no branch, but it retires. */
static void far(struct vcpu *v, const struct run *r, const struct unit_place *to)
{
	struct spe_side *s = side(v);

	if (!spe_unit_try(&s->unit, r->ninsn))
		samples(s, r, r->ninsn, r->end, false, false);
	enter(v, to);
}

/* Whatever was accessed did not retire, or was told already. */
static void leave(struct vcpu *v, uint64_t at, enum unit_event event,
		  const struct unit_place *to)
{
	enter(v, to);
}

static void skip(struct vcpu *v, uint32_t n)
{
	side(v)->unit.ops += n;
}

static void flush(struct vcpu *v, bool hook)
{
	spe_unit_flush(&side(v)->unit);
}

static uint64_t get_clock(const struct vcpu *v)
{
	return spe_unit_time(&side(v)->unit);
}

static void set_clock(struct vcpu *v, uint64_t time)
{
	spe_unit_set_time(&side(v)->unit, time);
}

static uint64_t insns(const struct vcpu *v)
{
	return side(v)->unit.ops;
}

/* Each access, before its block has retired; what: the instruction's index. */
static void on_access(unsigned int index, qemu_plugin_meminfo_t info, uint64_t vaddr,
		      void *what)
{
	struct vcpu *v = vtu.vcpus[index];
	struct spe_side *s = v ? side(v) : NULL;
	uint32_t insn = (uint32_t)(uintptr_t)what;
	bool store = qemu_plugin_mem_is_store(info);
	struct access *a;

	if (!s || !s->unit.on || !v->in)
		return;
	a = s->n ? &s->access[s->n - 1] : NULL;
	if (!a || a->insn != insn) {
		/* A block that is begun again has its accesses anew. */
		if (s->n == MAX_ACCESSES)
			s->n = 0;
		a = &s->access[s->n++];
		*a = (struct access){.insn = insn, .store = store};
	}
	spe_unit_access(&s->unit, &a->at, vaddr, 1u << qemu_plugin_mem_size_shift(info), store);
}

static bool in_context(const struct vcpu *v)
{
	return side(v)->unit.on;
}

static void stand_still(struct vcpu *v, uint64_t at)
{
	side(v)->n = 0;
}

static void translate(struct block_info *b, struct qemu_plugin_tb *tb, size_t n)
{
	uint16_t *flags = malloc(n * sizeof(*flags));
	uint32_t word;
	size_t i, size;

	if (!flags)
		plugin_refuse("no memory for a translated block");
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		word = 0;
		size = qemu_plugin_insn_size(insn);
		memcpy(&word, qemu_plugin_insn_data(insn), size < 4 ? size : 4);
		flags[i] = (uint16_t)a64_op_flags(word);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW,
						 (void *)(uintptr_t)i);
	}
	b->of_unit = flags;
	if (vtu.system ? system_log_ready : vtu.flags & VTU_F_LOG)
		memlog_translate(tb, n);
}

const struct unit_ops unit_spe = {
	.kind = VTU_UNIT_SPE,
	.elf_machine = EM_AARCH64,
	.name = "Arm SPE (latencies and cache levels: a model's)",
	.describe = describe,
	.power_on = power_on,
	.power_off = power_off,
	.forget = drop,
	.write = write,
	.tracing = tracing,
	.translate = translate,
	.run = run,
	.far = far,
	.leave = leave,
	.enter = enter,
	.skip = skip,
	.flush = flush,
	.clock = get_clock,
	.set_clock = set_clock,
	.insns = insns,
	.wanting = tracing,
	.in_context = in_context,
	.move = enter,
	.pause = stand_still,
	.resume = stand_still,
};
