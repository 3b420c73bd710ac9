// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a parked vCPU says, handed to core.  The window is shared with the
 * guest's own address space: everything read from it is copied first and
 * bounded, as a device driver would.
 */
#include "embedded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A hook in the service thread's own memory. */
struct hook {
	struct embedded		*e;
	struct block		*b;
	struct vtu_block	*w;
	struct hwt_hook_where	at;
	uint32_t		type;	/* read once: the guest can write the window */
	uint64_t		args[6];
	union {
		struct vtu_hook_attach	attach;
		struct vtu_hook_exec	exec;
		struct vtu_hook_mmap	mmap;
		uint8_t			code[VTU_PAYLOAD];
		char			name[16];
		char			path[4096];
	} p;
};

/*
 * A handler returns core's bits (HWT_HOOK_*), -EAGAIN (room), or HOLD_ANSWER +
 * a hold of its own.
 */
#define HOLD_ANSWER	0x100

static int hook_exec(struct hook *h)
{
	h->p.exec.path[sizeof(h->p.exec.path) - 1] = 0;
	return hwt_hook_exec(h->e->core, &h->at, h->b->old_tid, h->p.exec.path,
			     h->p.exec.addr, h->p.exec.base);
}

static int hook_mmap(struct hook *h)
{
	struct vtu_hook_mmap *m = &h->p.mmap;
	struct hwt_hook_map map = {
		.addr = m->addr, .len = m->len, .pgoff = m->pgoff, .ino = m->ino,
		.dev_major = m->dev_major, .dev_minor = m->dev_minor, .prot = m->prot,
		.mapflags = m->mapflags, .path = m->path,
	};

	m->path[sizeof(m->path) - 1] = 0;
	return hwt_hook_mmap(h->e->core, &h->at, &map);
}

static int hook_munmap(struct hook *h)
{
	return hwt_hook_munmap(h->e->core, &h->at, h->args[0], h->args[1]);
}

static int hook_mprotect(struct hook *h)
{
	return hwt_hook_mprotect(h->e->core, &h->at, h->args[0], h->args[1],
				 (uint32_t)h->args[2]);
}

static int hook_thread_create(struct hook *h)
{
	return hwt_hook_thread_create(h->e->core, &h->at, h->b->tid, h->b->unit);
}

static int hook_thread_exit(struct hook *h)
{
	int err;

	hwt_hook_switch_out(h->e->core, h->b->pid, h->b->tid, h->b->unit);
	err = hwt_hook_thread_exit(h->e->core, &h->at, (int)h->args[0]);
	h->b->exited = err != -EAGAIN;
	return err;
}

static int hook_thread_name(struct hook *h)
{
	h->p.name[sizeof(h->p.name) - 1] = 0;
	return hwt_hook_thread_name(h->e->core, &h->at, h->p.name);
}

/* exit_group: the others still run; core is told when the process is gone. */
static int hook_exit(struct hook *h)
{
	pthread_mutex_lock(&h->e->lock);
	h->b->target->status = (int)h->args[0];
	h->b->target->know_status = true;
	pthread_mutex_unlock(&h->e->lock);
	target_set_native(h->b->target, NULL, 0, 0);
	return 0;
}

static int hook_irq(struct hook *h)
{
	hwt_hook_irq(h->e->core, h->b->pid, h->b->tid, h->b->unit);
	return 0;	/* finish() asks whether there is room to go on */
}

static int hook_park(struct hook *h)
{
	return 0;	/* hook_handle reconciles after every hook */
}

/*
 * The pieces belong to generation args[2], which may be older than the vCPU's.
 * `next` remembers how far it came when the queue was full in between.
 */
static int hook_code(struct hook *h)
{
	uint64_t size = h->args[1] < VTU_PAYLOAD ? h->args[1] : VTU_PAYLOAD;
	uint64_t at = h->b->code_next;
	struct vtu_hook_code piece;
	int r = 0;

	h->at.generation = (uint32_t)h->args[2];
	while (at + sizeof(piece) <= size) {
		memcpy(&piece, h->p.code + at, sizeof(piece));
		if (piece.len > size - at - sizeof(piece))
			break;
		r = hwt_hook_code(h->e->core, &h->at, piece.addr,
				  h->p.code + at + sizeof(piece), piece.len);
		if (r == -EAGAIN)
			break;
		at += VTU_CODE_SPAN(piece.len);
	}
	h->b->code_next = r == -EAGAIN ? (uint32_t)at : 0;
	return r;
}

static int hook_generation(struct hook *h)
{
	return hwt_hook_generation(h->e->core, &h->at, h->args[0]);
}

/* The unit cannot follow: the trace ends here, if the execve does not fail. */
static int hook_native(struct hook *h)
{
	h->p.path[sizeof(h->p.path) - 1] = 0;
	target_set_native(h->b->target, h->p.path, (uint32_t)h->args[0], h->b->tid);
	return 0;
}

/* A new image under the same pid: all that its earlier blocks stood for is over. */
static void attach_exec(struct hook *h)
{
	struct embedded *e = h->e;
	struct hwt_hook_where at = h->at;
	struct block *b;
	uint32_t i;

	for (i = 0; i < e->high; i++) {
		b = &e->blocks[i];
		if (b == h->b || b->target != h->b->target)
			continue;
		__atomic_store_n(&b->dead, true, __ATOMIC_RELAXED);
		hwt_hook_switch_out(e->core, b->pid, b->tid, b->unit);
		/* The leader's stream goes on under the new image (execve(2)). */
		if (b->tid != h->b->pid && !b->exited) {
			at.tid = b->tid;
			at.unit = -1;
			hwt_hook_thread_exit(e->core, &at, 0);
		}
	}
	/* None is free before all are out: a unit may have used another one's sink. */
	for (i = 0; i < e->high; i++) {
		b = &e->blocks[i];
		if (b == h->b || b->target != h->b->target)
			continue;
		pthread_mutex_lock(&e->lock);
		block_free(e, b);
		target_unref(e, h->b->target);
		pthread_mutex_unlock(&e->lock);
	}
	hwt_hook_switch_in(e->core, h->b->pid, h->b->tid, h->b->unit);
}

/* A child that nobody asked to pause runs on untraced. */
static int attach_fork(struct hook *h)
{
	struct hwt_hook_where at = h->at;
	int bits;

	at.pid = (int)h->p.attach.parent_pid;
	at.tid = (int)h->p.attach.parent_tid;
	at.unit = -1;
	bits = hwt_hook_fork(h->e->core, &at, h->b->pid, h->b->tid);
	if (bits >= 0 && !(bits & HWT_HOOK_PAUSED))
		__atomic_or_fetch(&h->w->attention, VTU_ATTN_DETACH, __ATOMIC_SEQ_CST);
	return bits;
}

static int hook_attach(struct hook *h)
{
	struct embedded *e = h->e;

	switch (h->p.attach.reason) {
	case VTU_ATTACH_START:
		pthread_mutex_lock(&e->lock);
		h->b->target->ready = true;
		h->b->old_tid = h->b->tid;
		pthread_cond_broadcast(&e->cond);
		pthread_mutex_unlock(&e->lock);
		return HOLD_ANSWER + HOLD_ATTACH;
	case VTU_ATTACH_EXEC:
		h->b->old_tid = (int)h->p.attach.parent_tid;
		attach_exec(h);
		return 0;
	case VTU_ATTACH_FORK:
		return attach_fork(h);
	}
	return 0;
}

static const struct {
	int (*handle)(struct hook *h);
	size_t payload;
} hook_table[] = {
	[VTU_HOOK_ATTACH] = {hook_attach, sizeof(struct vtu_hook_attach)},
	[VTU_HOOK_EXEC] = {hook_exec, sizeof(struct vtu_hook_exec)},
	[VTU_HOOK_MMAP] = {hook_mmap, sizeof(struct vtu_hook_mmap)},
	[VTU_HOOK_MUNMAP] = {hook_munmap, 0},
	[VTU_HOOK_MPROTECT] = {hook_mprotect, 0},
	[VTU_HOOK_THREAD_CREATE] = {hook_thread_create, 0},
	[VTU_HOOK_THREAD_EXIT] = {hook_thread_exit, 0},
	[VTU_HOOK_THREAD_NAME] = {hook_thread_name, 16},
	[VTU_HOOK_EXIT] = {hook_exit, 0},
	[VTU_HOOK_IRQ] = {hook_irq, 0},
	[VTU_HOOK_PARK] = {hook_park, 0},
	[VTU_HOOK_CODE] = {hook_code, VTU_PAYLOAD},
	[VTU_HOOK_GENERATION] = {hook_generation, 0},
	[VTU_HOOK_NATIVE] = {hook_native, 4096},
};

static void hook_fill(struct hook *h, struct embedded *e, struct block *b)
{
	memset(h, 0, offsetof(struct hook, p));
	h->e = e;
	h->b = b;
	h->w = block_window(e, b);
	h->at = (struct hwt_hook_where){
		.pid = b->pid, .tid = b->tid, .unit = b->unit, .time = b->time,
		.generation = (uint32_t)h->w->generation,
	};
	memcpy(h->args, h->w->hook_args, sizeof(h->args));
	h->type = __atomic_load_n(&h->w->hook_type, __ATOMIC_RELAXED);
	if (h->type < sizeof(hook_table) / sizeof(hook_table[0]))
		memcpy(&h->p, h->w->payload, hook_table[h->type].payload);
}

/* START, STOP or SET_CONFIG that waited for the vCPU to come out of a call. */
static void reconcile(struct embedded *e, struct block *b)
{
	bool due;

	pthread_mutex_lock(&e->lock);
	due = b->deferred;
	b->deferred = false;
	pthread_mutex_unlock(&e->lock);
	if (due && !b->exited)
		hwt_hook_switch_in(e->core, b->pid, b->tid, b->unit);
}

/* Its hook is done: the vCPU goes on unless something else holds it. */
static void finish(struct embedded *e, struct block *b)
{
	reconcile(e, b);
	block_hold(b, HOLD_NONE);
	/* Any switch, not only the interrupt, may have found the buffer full. */
	if (!b->exited && hwt_hook_irq_resume(e->core, b->pid, b->tid, b->unit) == -EAGAIN)
		block_hold(b, HOLD_IRQ);
	else if (!block_release(e, b))
		block_hold(b, HOLD_PIN);
}

static struct hook h;	/* 16 KiB; only the service thread is here */

bool hook_turn_away(struct embedded *e, struct block *b)
{
	hook_fill(&h, e, b);
	if (h.type == VTU_HOOK_ATTACH && h.p.attach.reason == VTU_ATTACH_FORK &&
	    attach_fork(&h) == -EAGAIN) {
		pthread_mutex_lock(&e->lock);
		b->parked = false;
		pthread_mutex_unlock(&e->lock);
		return false;
	}
	b->turned_away = true;
	__atomic_or_fetch(&h.w->attention, VTU_ATTN_DETACH, __ATOMIC_SEQ_CST);
	block_release(e, b);
	return true;
}

void hook_handle(struct embedded *e, struct block *b)
{
	int r = 0;

	block_hold(b, HOLD_NONE);
	hook_fill(&h, e, b);
	if (b->tid == b->target->native_tid)
		target_set_native(b->target, NULL, 0, 0);
	if (h.type < sizeof(hook_table) / sizeof(hook_table[0]) && hook_table[h.type].handle)
		r = hook_table[h.type].handle(&h);
	if (r == -EAGAIN)
		block_hold(b, HOLD_ROOM);
	else if (r >= HOLD_ANSWER)
		block_hold(b, (enum hold)(r - HOLD_ANSWER));
	else if (r > 0 && r & HWT_HOOK_PAUSED)
		block_hold(b, HOLD_PAUSE);
	if (b->hold == HOLD_NONE)
		finish(e, b);
	else if (b->hold == HOLD_PAUSE)
		block_keep(e, b);
}

void hook_recheck(struct embedded *e, struct block *b)
{
	bool on = true;

	switch (b->hold) {
	case HOLD_NONE:
		return;
	case HOLD_ATTACH:
		pthread_mutex_lock(&e->lock);
		on = b->target->run;
		pthread_mutex_unlock(&e->lock);
		break;
	case HOLD_PAUSE:
		on = !hwt_hook_is_paused(e->core, b->pid, b->tid);
		break;
	case HOLD_ROOM:
		hook_handle(e, b);
		return;
	case HOLD_IRQ:
	case HOLD_PIN:
		break;
	}
	if (on)
		finish(e, b);
}
