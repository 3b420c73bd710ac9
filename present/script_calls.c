/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line a call, indented by depth.  The depth comes from return addresses: a
 * return goes back to the call that it matches, however deep (longjmp,
 * exceptions); one that matches none leaves the depth as it is.
 */
#include "script_internal.h"

#include <errno.h>
#include <stdlib.h>

#define SEARCH_DEPTH	4096	/* frames that one return may leave */

static int push(struct script *s, uint64_t address)
{
	uint32_t room = s->room ? 2 * s->room : 256;
	uint64_t *returns;

	if (s->depth == s->room) {
		returns = realloc(s->returns, room * sizeof(*returns));
		if (!returns)
			return -ENOMEM;
		s->returns = returns;
		s->room = room;
	}
	s->returns[s->depth++] = address;
	return 0;
}

static void pop_to(struct script *s, uint64_t address)
{
	uint32_t i, end = s->depth > SEARCH_DEPTH ? s->depth - SEARCH_DEPTH : 0;

	for (i = s->depth; i > end; i--) {
		if (s->returns[i - 1] == address) {
			s->depth = i - 1;
			return;
		}
	}
}

static int enter(struct script *s, const struct trace_event *ev, const char *event,
		 uint64_t from, uint64_t back)
{
	struct row row = {
		.event = event, .ev = ev, .ip = from, .to = ev->to, .depth = s->depth,
	};

	script_row(s, &row);
	return push(s, back);
}

int script_calls(struct script *s, const struct trace_event *ev)
{
	const struct trace_block *b;

	if (ev->type == TRACE_ASYNC) {
		/* A handler; not its end, which comes back to where it was called. */
		if (ev->to == 0)
			return 0;
		return enter(s, ev, "async", ev->ip, ev->ip);
	}
	b = ev->block;
	if (!(ev->flags & TRACE_F_BRANCH))
		return 0;
	if (b->kind == BLOCK_CALL || b->kind == BLOCK_CALL_IND)
		return enter(s, ev, "call", b->last, b->end);
	if (b->kind == BLOCK_RET && ev->to)
		pop_to(s, ev->to);
	return 0;
}
