// SPDX-License-Identifier: BSD-2-Clause
/*
 * QEMU tells a plugin nothing of signals.  What is known: where handlers are
 * (rt_sigaction), and what the frame looks like that the kernel, here QEMU,
 * makes for one.
 */
#include "signals.h"

#include <stdlib.h>

#include "block.h"

#define MAX_NESTED	64	/* that arrive before the first one's handler ran */

/* Addresses ever seen; few. vtu.lock */
struct address_set {
	uint64_t *v;
	size_t n, room;
};
static struct address_set handlers, restorers;

static bool contains(const struct address_set *s, uint64_t a)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i] == a)
			return true;
	return false;
}

static void add(struct address_set *s, uint64_t a)
{
	uint64_t *v;

	if (contains(s, a))
		return;
	if (s->n == s->room) {
		v = realloc(s->v, (s->room + 32) * sizeof(*v));
		if (!v) {
			plugin_warn("no memory to remember a signal handler");
			return;
		}
		s->v = v;
		s->room += 32;
	}
	s->v[s->n++] = a;
}

void signals_action(uint64_t act)
{
	struct guest_sigaction sa;

	if (!act || !guest_read(act, &sa, sizeof(sa)) || sa.handler < 2)
		return;
	pthread_mutex_lock(&vtu.lock);
	add(&handlers, sa.handler);
	if (sa.flags & GUEST_SA_RESTORER)
		add(&restorers, sa.restorer);
	block_mark_handler(sa.handler);
	pthread_mutex_unlock(&vtu.lock);
}

bool signals_is_handler(uint64_t ip)
{
	return contains(&handlers, ip);
}

static bool is_restorer(uint64_t at)
{
	return !at || contains(&restorers, at);
}

/* The frame of the signal that interrupted the program itself. */
static bool find_frame(struct vcpu *v, struct guest_sigframe *f)
{
	struct guest_sigframe outer;
	bool found;
	int depth;

	pthread_mutex_lock(&vtu.lock);
	found = vtu.guest->sigframe(v->env, f) && is_restorer(f->restorer);
	for (depth = 0; found && depth < MAX_NESTED; depth++) {
		if (!contains(&handlers, f->ip))
			break;
		outer = *f;
		if (!vtu.guest->sigframe_outer(&outer) ||
		    !is_restorer(outer.restorer))
			break;
		*f = outer;
	}
	pthread_mutex_unlock(&vtu.lock);
	return found;
}

bool signals_entry(struct vcpu *v, const struct run *c)
{
	const struct run *p = run_real(v->prev);
	struct guest_sigframe f;
	int i;

	if (!find_frame(v, &f))
		return false;
	if (!v->in)
		return true;
	i = f.fault ? vcpu_index_of(p, f.ip) : -1;
	if (i > 0)
		vcpu_feed(v, p, (uint32_t)i, f.ip);
	else if (i < 0)
		vcpu_retire(v, f.ip);
	vcpu_leave(v, f.ip, f.fault ? UNIT_FAULT : UNIT_INTERRUPT);
	return true;
}
