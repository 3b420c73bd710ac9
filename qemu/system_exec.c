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

void system_cpu_init(struct system_cpu *s, unsigned int index)
{
	struct vtu_block *b = vtu_block(vtu.window, index);

	s->v.index = index;
	s->v.prev = &vcpu_outside;
	s->v.block = b;
	s->v.mode = VCPU_LIVE;
	s->on = !index; /* until its first block was seen */
	b->vcpu = index;
	vtu.unit->power_on(&s->v);
	window_set_state(b, VTU_RUNNING);
}

/* The flow goes on at ip, at `level`; nothing else that the unit knows changed. */
static struct unit_place at_level(struct system_cpu *s, enum unit_level level,
				  uint64_t ip)
{
	s->told.level = level;
	s->told.ip = ip;
	return s->told;
}

static bool changes_level(const struct run *p)
{
	return p->kind == RUN_FAR || p->kind == RUN_ERET;
}

/*
 * Ends the block before at `next`, which it leads to by itself; `event`: and an
 * event entered its handler since.
 */
static void retire_whole(struct system_cpu *s, const struct run *p, enum unit_level level,
			 uint64_t next, bool event)
{
	const struct block_info *info = run_info(p);
	bool (*taken)(const struct guest_env *, const uint8_t *, size_t) =
		vtu.guest->branch_taken;
	struct unit_place to;

	if (changes_level(p)) {
		to = at_level(s, level, next);
		vcpu_feed_far(&s->v, p, &to);
		return;
	}
	if (event && vtu.guest->system->branch_taken)
		taken = vtu.guest->system->branch_taken;
	if (info->flags & R_NEXT && next == p->end &&
	    taken(s->v.env, info->last_insn, p->len[p->ninsn - 1]))
		p = info->taken;
	vcpu_feed(&s->v, p, p->ninsn, next);
}

static bool leads_to(const struct run *p, uint64_t next)
{
	return next == p->fall || next == p->taken || run_is_indirect(p->kind) ||
	       p->kind == RUN_FAR;
}

/* What retired before the event e, whose instruction was next. */
static void retire_before(struct system_cpu *s, const struct guest_event *e)
{
	const struct run *p = run_real(s->v.prev);
	int n = vcpu_index_of(p, e->ip);

	if (leads_to(p, e->ip) && !(e->fault && n >= 0))
		retire_whole(s, p, e->level, e->ip, true);
	else if (n >= 0)
		vcpu_feed(&s->v, p, (uint32_t)n, e->ip);
	else
		s->unexplained++;
}

/* Another address space or context: the block before loaded it, at its end. */
static void move_space(struct system_cpu *s, const struct guest_where *w,
		       enum unit_level level, uint64_t ip)
{
	if (s->told.space == w->at.space && s->told.context == w->at.context)
		return;
	s->told = (struct unit_place){level, w->at.space, w->at.context, ip};
	vtu.unit->move(&s->v, &s->told);
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
	uint64_t to = w->at.ip, sp = vtu.guest->stack_pointer(s->v.env);
	struct unit_place place;
	int n = 0;

	while (n < MAX_NESTED && g->event(s->v.env, &s->entries, to, sp, &e[n])) {
		/* INT3, INT n: a branch that was executed, not an event. */
		if (p->kind == RUN_FAR && e[n].ip == p->end && e[n].may_call)
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
	move_space(s, w, e[n - 1].level, e[n - 1].ip);
	while (n--) {
		place = n ? at_level(s, e[n - 1].level, e[n - 1].ip)
			  : at_level(s, w->at.level, w->at.ip);
		vtu.unit->leave(&s->v, e[n].ip, e[n].what, &place);
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
	uint64_t pc = w->at.ip;
	int n = vcpu_index_of(p, pc);

	if (n >= 0 && (was_cut(p, c) || !leads_to(p, pc)))
		vcpu_feed(&s->v, p, (uint32_t)n, pc);
	else if (pc == p->fall || pc == p->taken)
		retire_whole(s, p, w->at.level, pc, false);
	else if (retire_events(s, w))
		;
	else if (leads_to(p, pc))
		retire_whole(s, p, w->at.level, pc, false);
	else
		s->unexplained++;
	move_space(s, w, w->at.level, pc);
}

/* Register writes in order; the unit stands still meanwhile. */
static void execute(struct system_cpu *s, uint32_t from, uint32_t to)
{
	struct vtu_block *b = s->v.block;

	for (; from != to; from++) {
		const struct vtu_command *c = &b->ring[from % VTU_RING];

		if (vtu.unit->write(&s->v, c->reg, c->value) < 0) {
			b->fault_reg = c->reg;
			b->faults++;
		}
	}
}

/* The doorbell: register writes, a flush, the acknowledgement. */
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
		if (vtu.guest->system->entries)
			vtu.guest->system->entries(s->v.env, &s->entries, true);
		s->told = w->at;
		vtu.unit->move(&s->v, &w->at);
		vtu.unit->pause(&s->v, w->at.ip);
	}
	vtu.unit->set_clock(&s->v, system_clock());
	vcpu_clock_sync(&s->v);
	execute(s, done, tail);
	s->v.served = tail;
	vtu.unit->flush(&s->v, true);
	vcpu_publish(&s->v);
	__atomic_store_n(&b->ack, request, __ATOMIC_SEQ_CST);
	if (commands) {
		vtu.unit->resume(&s->v, w->at.ip);
		s->paused = false;
	}
}

/* Not executed yet: is the block at w in a context that the unit traces? */
static bool in_context(struct system_cpu *s, const struct guest_where *w)
{
	if (!w->traceable) {
		if (!s->paused)
			vtu.unit->pause(&s->v, w->at.ip);
		s->paused = true;
		return false;
	}
	if (s->paused)
		vtu.unit->resume(&s->v, w->at.ip);
	s->paused = false;
	if (s->told.level != w->at.level || s->told.space != w->at.space ||
	    s->told.context != w->at.context) {
		s->told = w->at;
		vtu.unit->move(&s->v, &w->at);
	}
	return vtu.unit->in_context(&s->v);
}

/* The machine's first instruction. */
static void begin(const struct guest_env *env, uint64_t pc)
{
	const char *why = vtu.guest->system->verify(env, pc);

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
		begin(env, run_real(c)->start);
	vtu.guest->system->where(env, &w);
	if (s->v.prev != &vcpu_outside) {
		c = block_at(front, w.at.ip);
		retire(s, run_real(c), &w);
	}
	if (unlikely(s->v.block->attention))
		serve(s, &w);
	s->on = vtu.unit->wanting(&s->v);
	s->v.in = s->on && in_context(s, &w);
	if (s->v.in)
		s->v.prev = block_at(front, w.at.ip);
	else
		s->v.prev = &vcpu_outside;
	if (s->on && !s->v.in)
		vtu.unit->skip(&s->v, front->ninsn);
	if (system_log_dir)
		system_log_resume(s, &w);
}

__attribute__((visibility("hidden"), used)) void
system_exec(unsigned int index, struct run *front, struct guest_env *env);
__attribute__((visibility("hidden"), used)) void
system_exec_rep(unsigned int index, struct run *front, struct guest_env *env);

__attribute__((visibility("hidden"), used)) void
system_exec_any(unsigned int index, struct run *front, struct guest_env *env);

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

/* Any unit: what surely retired is a call, all else as for PT. */
void system_exec_any(unsigned int index, struct run *front, struct guest_env *env)
{
	struct system_cpu *s = system_cpus[index];
	uint64_t pc = guest_pc(env, vtu.pc_offset);
	const struct run *p = s->v.prev;

	if (likely(!s->v.block->attention)) {
		if (likely(!s->on))
			return;
		if (likely(front->start == pc && !(p->flags & R_LEAVE))) {
			p = run_real(p);
			if (pc == p->fall || pc == p->taken) {
				s->v.prev = front;
				vtu.unit->run(&s->v, p, p->ninsn, pc);
				return;
			}
		}
	}
	exec_slow(s, front, env);
}

EXEC_THUNK(system_exec)
EXEC_THUNK(system_exec_rep)
EXEC_THUNK(system_exec_any)
