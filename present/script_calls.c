/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line a call, indented by depth: what `hwt calls` counts, by the same
 * stack (analyse/analysis.h), one by one.
 */
#include "script_internal.h"

#include <errno.h>

static const char *const ways[ANALYSIS_WAYS] = {
	[ANALYSIS_BY_CALL] = "call",
	[ANALYSIS_BY_JUMP] = "tail",
	[ANALYSIS_BY_SIGNAL] = "async",
	[ANALYSIS_UNSEEN] = "enabled",
	[ANALYSIS_TO_OUTSIDE] = "outside",
};

/* The instruction that flow left for the callee. */
static uint64_t left_at(const struct trace_event *left)
{
	if (left->type == TRACE_RUN && left->flags & TRACE_F_BRANCH)
		return left->block->last;
	return left->ip;
}

static void entered(void *ctx, const struct analysis_entry *e)
{
	struct script *s = ctx;
	bool seen = e->way != ANALYSIS_UNSEEN;
	/* A handler begins when it does, not when what it interrupted was left. */
	bool late = !seen || e->way == ANALYSIS_BY_SIGNAL;
	struct row row = {
		.event = ways[e->way], .ev = late ? s->event : &s->left,
		.ip = seen ? left_at(&s->left) : 0, .to = e->ip, .depth = e->depth,
		.way = e->way,
	};

	script_row(s, &row);
}

int script_calls_begin(struct script *s)
{
	static const struct analysis_config config = { .tree = false };

	if (!s->analysis)
		s->analysis = analysis_new(&config);
	if (!s->analysis)
		return -ENOMEM;
	s->calls = analysis_thread(s->analysis, s->thread.pid, s->thread.tid,
				   s->thread.symbol, s->thread.ctx);
	if (!s->calls)
		return -ENOMEM;
	s->left = (struct trace_event){ 0 };
	s->event = &s->left;
	analysis_watch(s->calls, entered, s);
	return 0;
}

int script_calls(struct script *s, const struct trace_event *ev)
{
	int err;

	s->event = ev;
	err = analysis_feed(s->calls, ev, 1);
	if (ev->type == TRACE_RUN || ev->type == TRACE_ASYNC)
		s->left = *ev;
	s->event = &s->left;
	return err;
}
