// SPDX-License-Identifier: BSD-2-Clause
/*
 * One CPU of a machine.  As in user mode the exec callback runs before each block
 * and only then is it known what became of the one before.  Nothing tells of
 * exceptions and interrupts, but the handler's first block finds what the CPU
 * pushed; interrupts come between blocks only, so a block that one follows is
 * whole, and a block that a fault ended retired up to the faulting instruction.
 */
#include "system.h"

#include <string.h>

#include "block.h"
#include "thunk.h"
#include "window.h"

#define MAX_NESTED 8 /* handlers entered before the first one's first block */

static void *machine_memory(void *ctx, uint64_t addr, uint64_t len)
{
	return system_ram(addr, len);
}

static void machine_interrupt(void *ctx)
{
	struct system_cpu *s = ctx;

	__atomic_add_fetch(&s->v.block->irqs, 1, __ATOMIC_RELEASE);
}

void system_cpu_init(struct system_cpu *s, unsigned int index)
{
	struct pt_unit_host host = {s, machine_memory, machine_interrupt, NULL};
	struct vtu_block *b = vtu_block(vtu.window, index);

	s->v.index = index;
	s->v.prev = &vcpu_outside;
	s->v.block = b;
	s->v.mode = VCPU_LIVE;
	s->on = !index; /* until its first block was seen */
	b->vcpu = index;
	pt_unit_init(&s->v.pt, (struct pt_regs_file *)b->regs, NULL, &host);
	window_set_state(b, VTU_RUNNING);
}

/* Ends the block before at `next`, which it leads to by itself. */
static void retire_whole(struct system_cpu *s, const struct run *p, unsigned int level,
			 uint64_t next)
{
	const struct block_info *info = run_info(p);

	if (p->kind == RUN_FAR) {
		pt_unit_far(&s->v.pt, p, level, s->space, next);
		return;
	}
	if (info->flags & R_NEXT && next == p->end &&
	    vtu.guest->branch_taken(s->v.env, info->last_insn, p->len[p->ninsn - 1]))
		p = info->taken;
	pt_unit_run(&s->v.pt, p, p->ninsn, next);
}

static bool leads_to(const struct run *p, uint64_t next)
{
	return next == p->fall || next == p->taken || p->kind >= RUN_JMP_IND;
}

/* What retired before the event e, whose instruction was next. */
static void retire_before(struct system_cpu *s, const struct guest_event *e)
{
	const struct run *p = run_real(s->v.prev);
	int n = vcpu_index_of(p, e->ip);

	if (leads_to(p, e->ip) && !(e->fault && n >= 0))
		retire_whole(s, p, e->level, e->ip);
	else if (n >= 0)
		pt_unit_run(&s->v.pt, p, (uint32_t)n, e->ip);
	else
		s->unexplained++;
}

/* Where the block before loaded another address space, its last instruction did. */
static void move_space(struct system_cpu *s, unsigned int level, uint64_t space,
		       uint64_t ip)
{
	if (s->space == space)
		return;
	s->space = space;
	pt_unit_set_context(&s->v.pt, level, space, ip);
}

/*
 * Did exceptions or interrupts lead to w?  The last one's frame may show the first
 * instruction of another handler, which an event before it was to run.
 */
static bool retire_events(struct system_cpu *s, const struct guest_where *w)
{
	const struct guest_system *g = vtu.guest->system;
	const struct run *p = run_real(s->v.prev);
	struct guest_event e[MAX_NESTED];
	uint64_t to = w->pc, sp = g->stack_pointer(s->v.env);
	int n = 0;

	while (n < MAX_NESTED && g->event(s->v.env, &s->entries, to, sp, &e[n])) {
		/* INT3, INT n: a branch that was executed, not an event. */
		if (p->kind == RUN_FAR && e[n].ip == p->end && !e[n].fault)
			break;
		to = e[n].ip;
		sp = e[n].sp;
		n++;
		if (leads_to(p, to) || vcpu_index_of(p, to) >= 0)
			break;
	}
	if (!n)
		return false;
	retire_before(s, &e[n - 1]);
	move_space(s, e[n - 1].level, w->space, e[n - 1].ip);
	while (n--) {
		to = n ? e[n - 1].ip : w->pc;
		pt_unit_async(&s->v.pt, e[n].ip, n ? e[n - 1].level : w->level,
			      s->space, to);
	}
	return true;
}

/*
 * A block that the translator was told to leave early (it wrote to its own code)
 * goes on at the instruction that it stands at, in a block of its own: no other
 * block that begins within p ends before it.
 */
static bool was_cut(const struct run *p, const struct run *c)
{
	return c->start - p->start < p->end - p->start && c->end < p->end;
}

/* What became of the block before c, which begins at w. */
static void retire(struct system_cpu *s, const struct run *c, const struct guest_where *w)
{
	const struct run *p = run_real(s->v.prev);
	int n = vcpu_index_of(p, w->pc);

	if (n >= 0 && (was_cut(p, c) || !leads_to(p, w->pc)))
		pt_unit_run(&s->v.pt, p, (uint32_t)n, w->pc);
	else if (w->pc == p->fall || w->pc == p->taken)
		retire_whole(s, p, w->level, w->pc);
	else if (retire_events(s, w))
		;
	else if (leads_to(p, w->pc))
		retire_whole(s, p, w->level, w->pc);
	else
		s->unexplained++;
	move_space(s, w->level, w->space, w->pc);
}

/* The doorbell: register writes in order, a flush, the acknowledgement. */
static void serve(struct system_cpu *s, const struct guest_where *w)
{
	struct vtu_block *b = s->v.block;
	uint32_t request, tail, done;
	bool commands;

	__atomic_and_fetch(&b->attention, ~VTU_ATTN_RING, __ATOMIC_SEQ_CST);
	request = __atomic_load_n(&b->request, __ATOMIC_ACQUIRE);
	tail = __atomic_load_n(&b->ring_tail, __ATOMIC_ACQUIRE);
	if (request == b->ack)
		return;
	if (system_log_dir)
		system_log_begin();
	done = tail - s->v.served > VTU_RING ? tail - VTU_RING : s->v.served;
	commands = done != tail;
	if (commands) {
		vtu.guest->system->entries(s->v.env, &s->entries, true);
		s->space = w->space;
		pt_unit_set_context(&s->v.pt, w->level, w->space, w->pc);
		pt_unit_break(&s->v.pt, w->pc);
	}
	pt_unit_set_tsc(&s->v.pt, system_clock());
	vcpu_clock_sync(&s->v);
	for (; done != tail; done++) {
		const struct vtu_command *c = &b->ring[done % VTU_RING];

		if (pt_unit_wrmsr(&s->v.pt, c->reg, c->value) < 0) {
			b->fault_reg = c->reg;
			b->faults++;
		}
	}
	s->v.served = tail;
	pt_unit_flush(&s->v.pt);
	vcpu_publish(&s->v);
	__atomic_store_n(&b->ack, request, __ATOMIC_SEQ_CST);
	if (commands)
		pt_unit_resume(&s->v.pt, w->pc);
}

/* Not executed yet: is the block at `front` in a context that the unit traces? */
static bool in_context(struct system_cpu *s, const struct guest_where *w)
{
	if (!w->traceable) {
		if (!s->v.pt.broken)
			pt_unit_break(&s->v.pt, w->pc);
		return false;
	}
	if (s->v.pt.broken)
		pt_unit_resume(&s->v.pt, w->pc);
	if (s->v.pt.cpl != w->level || s->space != w->space) {
		s->space = w->space;
		pt_unit_set_context(&s->v.pt, w->level, w->space, w->pc);
	}
	return s->v.pt.context_en;
}

/* The machine's first instruction. */
static void begin(const struct guest_env *env)
{
	const char *why = vtu.guest->system->verify(env);

	if (why)
		plugin_refuse("this emulator keeps a CPU's state elsewhere: %s", why);
	vtu.started = true;
}

static __attribute__((noinline)) void exec_slow(struct system_cpu *s, struct run *front,
						struct guest_env *env)
{
	struct guest_where w;
	struct run *c = front;

	s->v.env = env;
	if (!vtu.started)
		begin(env);
	vtu.guest->system->where(env, &w);
	if (s->v.prev != &vcpu_outside) {
		c = block_at(front, w.pc);
		retire(s, run_real(c), &w);
	}
	if (unlikely(s->v.block->attention))
		serve(s, &w);
	s->on = s->v.pt.trigger_en;
	s->v.in = s->on && in_context(s, &w);
	if (s->v.in)
		s->v.prev = block_at(front, w.pc);
	else
		s->v.prev = &vcpu_outside;
	if (s->on && !s->v.in)
		pt_unit_pass(&s->v.pt, front->ninsn);
	if (system_log_dir)
		system_log_resume(s, &w);
}

__attribute__((visibility("hidden"), used)) void
system_exec(unsigned int index, struct run *front, struct guest_env *env);
__attribute__((visibility("hidden"), used)) void
system_exec_rep(unsigned int index, struct run *front, struct guest_env *env);

__attribute__((section(".text.exec"), aligned(64))) void
system_exec(unsigned int index, struct run *front, struct guest_env *env)
{
	struct system_cpu *s = system_cpus[index];
	uint64_t pc;

	if (likely(!s->on)) {
		if (likely(!s->v.block->attention))
			return;
	} else {
		pc = guest_pc(env, vtu.pc_offset);
		if (likely(front->start == pc &&
			   pt_unit_try(&s->v.pt, s->v.prev, pc))) {
			s->v.prev = front;
			return;
		}
	}
	exec_slow(s, front, env);
}

/* A REP that comes back to itself is not retired yet: there is nothing to do. */
void system_exec_rep(unsigned int index, struct run *front, struct guest_env *env)
{
	const struct system_cpu *s = system_cpus[index];

	if (s->v.prev == front && front->start == guest_pc(env, vtu.pc_offset) &&
	    likely(!s->v.block->attention))
		return;
	system_exec(index, front, env);
}

EXEC_THUNK(system_exec)
EXEC_THUNK(system_exec_rep)
