// SPDX-License-Identifier: BSD-2-Clause
/*
 * The service thread: the only one that answers hooks.  It never waits for a
 * client: a vCPU that has to wait is held and looked at again.
 */
#include "embedded.h"

#include <errno.h>
#include <signal.h>

#define TICK_MS		50	/* how late a death without a word may be noticed */
#define EXIT_TICK_MS	1	/* after an exit_group, until the process is gone */

/* Adopts a block that a vCPU claimed, at its first hook. Lock held. */
static void adopt(struct embedded *e, struct block *b, struct vtu_block *w)
{
	struct target *t = target_find(e, w->pid);

	if (!t || t->exited)
		t = target_add(e, w->pid, false);
	if (t)
		t->refs++;
	b->target = t;
	b->pid = w->pid;
	b->tid = w->tid;
	if ((uint32_t)b->unit >= e->high)
		e->high = (uint32_t)b->unit + 1;
}

/* Not now: it is looked at again with the next, or after a tick. */
static void put_off(struct embedded *e, uint32_t unit)
{
	__atomic_or_fetch(&e->window->pending[unit / 64], 1ull << unit % 64, __ATOMIC_SEQ_CST);
}

static void take_hook(struct embedded *e, uint32_t unit)
{
	struct block *b = &e->blocks[unit];
	struct vtu_block *w = block_window(e, b);
	bool ok;

	pthread_mutex_lock(&e->lock);
	ok = __atomic_load_n(&w->state, __ATOMIC_SEQ_CST) == VTU_HOOK && !b->parked &&
	     w->hook_seq != w->hook_done;
	if (ok && !b->target)
		adopt(e, b, w);
	if (ok) {
		b->parked = true;
		b->time = __atomic_load_n(&w->clock, __ATOMIC_ACQUIRE);
		pthread_cond_broadcast(&e->cond);
	}
	pthread_mutex_unlock(&e->lock);
	if (!ok)
		return;
	if (b->target)
		hook_handle(e, b);
	else if (!hook_turn_away(e, b))
		put_off(e, unit);
}

static void take_pending(struct embedded *e)
{
	uint64_t bits;
	uint32_t word, bit;

	for (word = 0; word < VTU_MAX_BLOCKS / 64; word++) {
		if (!__atomic_load_n(&e->window->pending[word], __ATOMIC_RELAXED))
			continue;
		bits = __atomic_exchange_n(&e->window->pending[word], 0, __ATOMIC_SEQ_CST);
		for (; bits; bits &= bits - 1) {
			bit = (uint32_t)__builtin_ctzll(bits);
			take_hook(e, word * 64 + bit);
		}
	}
}

/* Once it runs on untraced, or is gone. */
static void forget_turned_away(struct embedded *e, struct block *b)
{
	if (__atomic_load_n(&block_window(e, b)->state, __ATOMIC_SEQ_CST) != VTU_GONE &&
	    (!kill(b->pid, 0) || errno != ESRCH))
		return;
	pthread_mutex_lock(&e->lock);
	block_free(e, b);
	pthread_mutex_unlock(&e->lock);
}

/* Held vCPUs that may go on, blocks that can be freed; true: an exit is near. */
static bool look_at_blocks(struct embedded *e, bool recheck)
{
	struct block *b;
	bool exiting = false;
	uint32_t i;

	for (i = 0; i < e->high; i++) {
		b = &e->blocks[i];
		if (b->turned_away)
			forget_turned_away(e, b);
		if (!b->target)
			continue;
		if (b->hold != HOLD_NONE && recheck)
			hook_recheck(e, b);
		pthread_mutex_lock(&e->lock);
		exiting |= b->target->know_status;
		if (b->exited && !b->pins &&
		    !__atomic_load_n(&b->users, __ATOMIC_SEQ_CST) &&
		    __atomic_load_n(&block_window(e, b)->state, __ATOMIC_SEQ_CST) ==
			    VTU_GONE) {
			target_unref(e, b->target);
			block_free(e, b);
		}
		pthread_mutex_unlock(&e->lock);
	}
	return exiting;
}

static void *service_main(void *arg)
{
	struct embedded *e = arg;
	bool exiting;
	uint32_t seq;

	while (!atomic_load(&e->stopping)) {
		seq = __atomic_load_n(&e->window->service, __ATOMIC_SEQ_CST);
		take_pending(e);
		exiting = look_at_blocks(e, atomic_exchange(&e->recheck, false));
		targets_reap(e);
		futex_wait(&e->window->service, seq, exiting ? EXIT_TICK_MS : TICK_MS);
	}
	return NULL;
}

int service_start(struct embedded *e)
{
	sigset_t all, old;
	int err;

	/* Signals are the command's business. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&e->service, NULL, service_main, e);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

void service_stop(struct embedded *e)
{
	atomic_store(&e->stopping, true);
	service_kick(e);
	pthread_join(e->service, NULL);
}
