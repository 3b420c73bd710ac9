// SPDX-License-Identifier: BSD-2-Clause
/*
 * One vCPU.  The exec callback runs before each block: only then is it known
 * what became of the block before it.
 */
#include "vcpu.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code.h"
#include "execlog.h"
#include "process.h"
#include "signals.h"
#include "thunk.h"
#include "window.h"

#define EVENT_TICKS	500	/* before and after a record's event: 1 us */

__thread struct vcpu *vcpu_self;

static struct block_info outside_info = {
	.front = &vcpu_outside, .real = &vcpu_outside, .flags = R_LEAVE,
};

struct run vcpu_outside = {
	.fall = RUN_NOWHERE, .taken = RUN_NOWHERE, .kind = RUN_FAR, .flags = R_LEAVE,
	.priv = &outside_info,
};

struct vcpu vcpu_attending = {.prev = &vcpu_outside, .block = &window_no_block};

void vcpu_init(qemu_plugin_id_t id, unsigned int index)
{
	struct vcpu *v;

	if (index >= MAX_VCPUS)
		plugin_refuse("more than %u threads at once", MAX_VCPUS);
	/* On the parent's thread; an index comes back after its thread ended. */
	pthread_mutex_lock(&vtu.lock);
	v = vtu.vcpus[index];
	if (!v) {
		v = aligned_alloc(64, (sizeof(*v) + 63) & ~63ul);
		if (!v)
			plugin_refuse("no memory for a virtual CPU");
	}
	memset(v, 0, sizeof(*v));
	v->index = index;
	v->prev = &vcpu_outside;
	v->block = &window_no_block;
	v->mode = vtu.inert ? VCPU_OFF : VCPU_FRESH;
	vtu.vcpus[index] = vtu.current[index] = v;
	if (index >= vtu.nvcpus)
		vtu.nvcpus = index + 1;
	pthread_mutex_unlock(&vtu.lock);
}

bool vcpu_attach(struct vcpu *v)
{
	struct vtu_block *b = window_claim();

	v->tid = gettid();
	if (!b) {
		v->mode = VCPU_OFF;
		return false;
	}
	b->pid = vtu.pid;
	b->tid = v->tid;
	b->vcpu = v->index;
	v->served = 0;
	/* From here on a new generation rings us; one from before is the one we have. */
	pthread_mutex_lock(&vtu.lock);
	v->block = b;
	v->generation = __atomic_load_n(&vtu.generation, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&vtu.lock);
	vtu.unit->power_on(v);
	vcpu_clock_sync(v);
	v->in = false;
	v->prev = &vcpu_outside;
	v->mode = VCPU_LIVE;
	window_set_state(b, VTU_RUNNING);
	__atomic_add_fetch(&vtu.nthreads, 1, __ATOMIC_RELAXED);
	return true;
}

void vcpu_detach(struct vcpu *v)
{
	struct vtu_block *b = v->block;

	v->mode = VCPU_OFF;
	v->prev = &vcpu_outside;
	v->in = false;
	execlog_close(v);
	if (b == &window_no_block)
		return;
	vtu.unit->power_off(v);
	/* Nobody rings a block that may be another's by now. */
	pthread_mutex_lock(&vtu.lock);
	v->block = &window_no_block;
	pthread_mutex_unlock(&vtu.lock);
	__atomic_sub_fetch(&vtu.nthreads, 1, __ATOMIC_RELAXED);
	window_release(b);
}

void vcpu_publish(struct vcpu *v)
{
	uint64_t now = vtu.unit->clock(v), seen;

	v->block->clock = now;
	v->block->insns = vtu.unit->insns(v);
	seen = __atomic_load_n(&vtu.window->clock, __ATOMIC_RELAXED);
	while (seen < now &&
	       !__atomic_compare_exchange_n(&vtu.window->clock, &seen, now, 1,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

void vcpu_clock_sync(struct vcpu *v)
{
	uint64_t tree = __atomic_load_n(&vtu.window->clock, __ATOMIC_ACQUIRE);

	if (tree > vtu.unit->clock(v))
		vtu.unit->set_clock(v, tree);
}

void vcpu_clock_event(struct vcpu *v)
{
	if (!(vtu.flags & VTU_F_CLOCK_HOST))
		vtu.unit->set_clock(v, vtu.unit->clock(v) + EVENT_TICKS);
}

void vcpu_attention(struct vcpu *v, uint32_t bits)
{
	__atomic_or_fetch(&v->block->attention, bits, __ATOMIC_SEQ_CST);
	__atomic_store_n(&vtu.current[v->index], &vcpu_attending, __ATOMIC_SEQ_CST);
}

/* Back to the fast path, if nothing waits any more. */
static void attended(struct vcpu *v)
{
	if (vtu.current[v->index] == v)
		return;
	__atomic_store_n(&vtu.current[v->index], v, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&v->block->attention, __ATOMIC_SEQ_CST))
		__atomic_store_n(&vtu.current[v->index], &vcpu_attending,
				 __ATOMIC_SEQ_CST);
}

void vcpus_attention(const struct vcpu *but, uint32_t bits)
{
	uint32_t i;

	pthread_mutex_lock(&vtu.lock);
	for (i = 0; i < vtu.nvcpus; i++) {
		struct vcpu *v = vtu.vcpus[i];

		if (!v || v == but || v->block == &window_no_block)
			continue;
		vcpu_attention(v, bits);
	}
	pthread_mutex_unlock(&vtu.lock);
}

int vcpu_index_of(const struct run *r, uint64_t ip)
{
	uint64_t a = r->start;
	uint32_t i;

	for (i = 0; i < r->ninsn; i++) {
		if (a == ip)
			return (int)i;
		a += r->len[i];
	}
	return -1;
}

/* Does r, executed whole, lead to next? */
static bool leads_to(const struct run *r, uint64_t next)
{
	return next == r->fall || next == r->taken ||
	       run_is_indirect(r->kind);
}

void vcpu_feed(struct vcpu *v, const struct run *r, uint32_t n, uint64_t next)
{
	const struct block_info *b = run_info(r);
	const struct run *part = r;
	uint32_t i;

	for (i = 0; i < b->nparts; i++) {
		part = b->parts[i + 1 == b->nparts && r == b->taken ? i + 1 : i];
		if (n <= part->ninsn)
			break;
		vtu.unit->run(v, part, part->ninsn, part->end);
		n -= part->ninsn;
	}
	vtu.unit->run(v, part, n, next);
}

static void feed(struct vcpu *v, const struct run *p, uint64_t next)
{
	const struct block_info *info = run_info(p);

	if (info->flags & R_NEXT && next == p->end &&
	    vtu.guest->branch_taken(v->env, info->last_insn, p->len[p->ninsn - 1]))
		p = info->taken;
	vcpu_feed(v, p, p->ninsn, next);
}

void vcpu_feed_far(struct vcpu *v, const struct run *r, const struct unit_place *to)
{
	const struct block_info *b = run_info(r);
	const struct run *last = b->nparts ? b->parts[b->nparts - 1] : r;

	if (last != r)
		vcpu_feed(v, r, r->ninsn - last->ninsn, last->start);
	vtu.unit->far(v, last, to);
}

/* Where nothing is traced: the kernel, which in user mode is the emulator. */
static struct unit_place kernel_place(const struct vcpu *v)
{
	return (struct unit_place){UNIT_KERNEL, 0, (uint32_t)v->tid,
				   vtu.guest->kernel_ip};
}

/* All of p retired, its last one calls the kernel. */
static void feed_far(struct vcpu *v, const struct run *p)
{
	struct unit_place to = kernel_place(v);

	vcpu_feed_far(v, p, &to);
}

void vcpu_retire(struct vcpu *v, uint64_t next)
{
	const struct run *p = run_real(v->prev);
	bool whole = !(run_info(p)->flags & R_CUT) || v->reached;
	int n;

	if (p == &vcpu_outside)
		return;
	if (p->kind == RUN_FAR && whole) {
		/* INT3 and the like: no system call told of it. */
		feed_far(v, p);
		v->in = false;
		v->prev = &vcpu_outside;
		return;
	}
	if (leads_to(p, next) && whole) {
		feed(v, p, next);
		return;
	}
	/* Cut short, or a REP that comes back to itself. */
	n = vcpu_index_of(p, next);
	if (n > 0)
		vcpu_feed(v, p, (uint32_t)n, next);
	else if (n < 0)
		vcpu_feed(v, p, p->ninsn, next);
}

void vcpu_leave(struct vcpu *v, uint64_t at, enum unit_event why)
{
	struct unit_place to = kernel_place(v);

	if (!v->in)
		return;
	vtu.unit->leave(v, at, why, &to);
	v->in = false;
	v->prev = &vcpu_outside;
}

static void enter(struct vcpu *v, uint64_t ip)
{
	const struct unit_place at = {UNIT_USER, 0, (uint32_t)v->tid, ip};

	vtu.unit->enter(v, &at);
	v->in = true;
}

void vcpu_syscall(struct vcpu *v)
{
	const struct run *p = run_real(v->prev);

	execlog_syscall(v);
	if (v->in && p->kind == RUN_FAR && p != &vcpu_outside)
		feed_far(v, p);
	else if (v->in)
		vcpu_leave(v, p->start, UNIT_INTERRUPT);
	v->in = false;
	v->prev = &vcpu_outside;
	vtu.unit->flush(v, false);
	vcpu_publish(v);
}

/* The bits of attention that wait; `at` is the next instruction, c's first. */
static void attend(struct vcpu *v, const struct run *c)
{
	uint32_t bits = __atomic_load_n(&v->block->attention, __ATOMIC_SEQ_CST);

	if (bits & (VTU_ATTN_DETACH | VTU_ATTN_QUIT)) {
		execlog_end(v, c->start, false);
		vcpu_leave(v, c->start, UNIT_INTERRUPT);
		if (bits & VTU_ATTN_DETACH)
			process_detach();
		else
			vcpu_detach(v);
		return;
	}
	if (bits & VTU_ATTN_CODE)
		code_attend(v, c);
	if (bits & VTU_ATTN_IRQ && v->mode == VCPU_LIVE) {
		vcpu_leave(v, c->start, UNIT_INTERRUPT);
		__atomic_and_fetch(&v->block->attention, ~VTU_ATTN_IRQ, __ATOMIC_SEQ_CST);
		window_hook(v, VTU_HOOK_IRQ, 0, 0, 0);
	}
	if (bits & VTU_ATTN_PARK && v->mode == VCPU_LIVE) {
		vcpu_leave(v, c->start, UNIT_INTERRUPT);
		__atomic_and_fetch(&v->block->attention, ~VTU_ATTN_PARK,
				   __ATOMIC_SEQ_CST);
		window_hook(v, VTU_HOOK_PARK, 0, 0, 0);
	}
}

/* First block of a thread, or of the program. */
static void begin(struct vcpu *v, const struct run *c, struct guest_env *env)
{
	vcpu_self = v;
	v->env = env;
	if (!vtu.started)
		process_start(v, c, env);
	else if (vtu.inert || vtu.ending)
		v->mode = VCPU_OFF;
	else if (vcpu_attach(v))
		window_hook(v, VTU_HOOK_THREAD_CREATE, 0, 0, 0);
}

static void exec_special(struct vcpu *v, const struct run *c, struct guest_env *env)
{
	uint32_t flags = run_info(c)->flags;

	if (v->mode == VCPU_FRESH)
		begin(v, c, env);
	if (v->mode != VCPU_LIVE)
		return;
	v->env = env;
	if (!(flags & R_HANDLER) || !signals_entry(v, c))
		if (v->in)
			vcpu_retire(v, c->start);
	if (v->block->state != VTU_RUNNING)
		window_set_state(v->block, VTU_RUNNING);
	if (unlikely(__atomic_load_n(&v->block->attention, __ATOMIC_SEQ_CST))) {
		attend(v, c);
		if (v->mode != VCPU_LIVE)
			return;
	}
	if (!v->in && vcpu_tracing(v))
		enter(v, c->start);
	execlog_resume(v, c);
	v->reached = false;
	if (flags & R_KERNEL)
		vcpu_leave(v, c->start, UNIT_INTERRUPT);
	if (!v->in)
		vtu.unit->skip(v, c->ninsn);	/* time passes untraced, too */
	v->prev = v->in ? run_info(c)->front : &vcpu_outside;
}

/* The rest of what exec_slow is called for: seldom. */
static __attribute__((noinline)) void exec_rare(struct vcpu *v, struct run *front,
						struct guest_env *env)
{
	const struct run *p = run_real(v->prev), *c = run_real(front);

	/* A REP that comes back to itself is not retired yet. */
	if (!(run_info(p)->flags & R_LEAVE) && !(run_info(c)->flags & R_ENTER) &&
	    !v->block->attention && vtu.current[v->index] == v && p == c &&
	    p->ninsn == 1 && p->kind == RUN_SEQ)
		return;
	exec_special(v, c, env);
	attended(v);
}

static __attribute__((noinline)) void
exec_slow(unsigned int index, struct run *front, struct guest_env *env)
{
	struct vcpu *v = vtu.vcpus[index];
	const struct run *p = v->prev;
	uint64_t next = front->start;

	if (likely(!(p->flags & R_LEAVE) && next != NO_START && !v->block->attention &&
		   vtu.current[index] == v)) {
		/* prev first: the unit may raise its interrupt. */
		if (pt_unit_may_branch(&v->pt, p, next)) {
			v->prev = front;
			pt_unit_branch(&v->pt, p, next);
			return;
		}
		p = run_real(p);
		if (leads_to(p, next)) {
			v->prev = front;
			pt_unit_run(&v->pt, p, p->ninsn, next);
			return;
		}
	}
	exec_rare(v, front, env);
}

/* Called through the thunks, which add the emulator's state. */
__attribute__((visibility("hidden"), used)) void
vcpu_exec(unsigned int index, struct run *front, struct guest_env *env);
__attribute__((visibility("hidden"), used)) void
vcpu_exec_rep(unsigned int index, struct run *front, struct guest_env *env);
__attribute__((visibility("hidden"), used)) void
vcpu_exec_any(unsigned int index, struct run *front, struct guest_env *env);

/*
 * Called for each block: with its thunk on the same few cache lines, wherever the
 * rest of the plugin comes to lie.
 */
__attribute__((section(".text.exec"), aligned(64))) void
vcpu_exec(unsigned int index, struct run *front, struct guest_env *env)
{
	struct vcpu *v = vtu.current[index];

	if (likely(pt_unit_try(&v->pt, v->prev, front->start)))
		v->prev = front;
	else
		exec_slow(index, front, env);
}

/* A REP that comes back to itself is not retired yet: there is nothing to do. */
void vcpu_exec_rep(unsigned int index, struct run *front, struct guest_env *env)
{
	const struct vcpu *v = vtu.vcpus[index];

	if (likely(v->prev == front && front->start != NO_START && !v->block->attention))
		return;
	vcpu_exec(index, front, env);
}

/* Any unit: what can be told at once is a call, all else as for PT. */
void vcpu_exec_any(unsigned int index, struct run *front, struct guest_env *env)
{
	struct vcpu *v = vtu.current[index];
	const struct run *p = v->prev;

	if (likely(!(p->flags & R_LEAVE) && front->start != NO_START &&
		   !v->block->attention)) {
		p = run_real(p);
		if (leads_to(p, front->start)) {
			v->prev = front;
			vtu.unit->run(v, p, p->ninsn, front->start);
			return;
		}
	}
	exec_rare(vtu.vcpus[index], front, env);
}

EXEC_THUNK(vcpu_exec)
EXEC_THUNK(vcpu_exec_rep)
EXEC_THUNK(vcpu_exec_any)


void vcpu_reached(unsigned int index, void *unused)
{
	vtu.vcpus[index]->reached = true;
}
