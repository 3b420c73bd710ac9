// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events in, functions and trees out.  The loop in analysis_feed is what every
 * block of the trace goes through: it only compares the block's function with
 * the frame's; instructions are handed out when the stack changes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis_priv.h"

struct analysis *analysis_new(const struct analysis_config *config)
{
	struct analysis *a = calloc(1, sizeof(*a));

	if (a)
		a->config = *config;
	return a;
}

void analysis_free(struct analysis *a)
{
	struct analysis_thread *t;

	if (!a)
		return;
	while ((t = a->threads)) {
		a->threads = t->next;
		free(t->frames);
		free(t);
	}
	arena_free(a->arena);
	free(a->functions.slots);
	free(a->nodes.slots);
	free(a->sorted);
	free(a);
}

struct analysis_thread *analysis_thread(struct analysis *a, uint32_t pid, uint32_t tid,
					analysis_symbol_fn symbol, void *ctx)
{
	struct analysis_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	if (a->config.tree) {
		t->root = tree_root(a);
		if (!t->root) {
			free(t);
			return NULL;
		}
	}
	t->a = a;
	t->pid = pid;
	t->tid = tid;
	t->symbol = symbol;
	t->ctx = ctx;
	t->next = a->threads;
	a->threads = t;
	return t;
}

/* Kinds of block ends that leave something open. */
static const uint8_t opens[BLOCK_END_MAX] = {
	[BLOCK_CALL] = EXPECT_CALL,   [BLOCK_CALL_IND] = EXPECT_CALL,
	[BLOCK_RET] = EXPECT_RETURN,  [BLOCK_SYSCALL] = EXPECT_SYSCALL,
	[BLOCK_FAR] = EXPECT_SYSCALL,
};

/* The run ended in a branch that changes the stack. */
static void depart(struct analysis_thread *t, const struct trace_block *b)
{
	/* A call of what follows it only asks for the address (i386's PIC idiom). */
	if (b->kind == BLOCK_CALL && b->target == b->end)
		return;
	t->expect = opens[b->kind];
	t->ret = b->end;
	t->ret2 = b->last;
}

/* Whatever is open is settled by flow's having reached ip. */
static int land(struct analysis_thread *t, uint64_t ip)
{
	uintptr_t place;

	if (!ip || t->expect == EXPECT_FLOW || t->expect == EXPECT_GAP)
		return 0;
	place = function_at(t, ip);
	return place ? stack_arrive(t, ip, place) : -ENOMEM;
}

static int on_async(struct analysis_thread *t, const struct trace_event *ev)
{
	int ret = land(t, ev->ip);

	t->expect = EXPECT_ASYNC;
	t->async_ip = ev->ip;
	return ret;
}

static void on_disabled(struct analysis_thread *t, const struct trace_event *ev)
{
	if (t->expect == EXPECT_FLOW)
		t->expect = EXPECT_RESUME;
	t->disabled = true;
	t->disabled_ip = ev->ip;
}

static int slow(struct analysis_thread *t, const struct trace_event *ev)
{
	switch (ev->type) {
	case TRACE_ASYNC:
		return on_async(t, ev);
	case TRACE_DISABLED:
		on_disabled(t, ev);
		return 0;
	case TRACE_GAP:
		stack_gap(t, ev->error == TRACE_GAP_OVERFLOW ? 0 : ev->value);
		return 0;
	case TRACE_ERROR:
		stack_gap(t, 0);
		return 0;
	default:
		return 0;
	}
}

static void clock_to(struct analysis_thread *t, const struct trace_event *ev)
{
	if (ev->time > t->now)
		t->now = ev->time;
}

/* A run whose block was not seen before, or which the top frame does not expect. */
static int arrive(struct analysis_thread *t, const struct trace_event *ev)
{
	const struct trace_block *b = ev->block;
	uintptr_t place = (uintptr_t)b->user;

	clock_to(t, ev);
	if (!place) {
		place = function_at(t, b->ip);
		if (!place)
			return -ENOMEM;
		/* The block is the decoder's; this field of it is ours. */
		((struct trace_block *)b)->user = (void *)place;
	}
	if (block_function(place) == t->fn && t->expect == EXPECT_FLOW)
		return 0;
	/* A run can begin in the middle of its block. */
	if (ev->ip != b->ip)
		place &= ~(uintptr_t)BLOCK_AT_START;
	return stack_arrive(t, ev->ip, place);
}

int analysis_feed(struct analysis_thread *t, const struct trace_event *ev, int n)
{
	const struct trace_event *end = ev + n;
	const struct trace_block *b;
	int ret;

	if (t->error)
		return t->error;
	for (; ev < end; ev++) {
		if (unlikely(ev->type != TRACE_RUN)) {
			clock_to(t, ev);
			ret = slow(t, ev);
			if (ret)
				goto failed;
			continue;
		}
		b = ev->block;
		if (block_function((uintptr_t)b->user) != t->fn ||
		    t->expect != EXPECT_FLOW || !b->user) {
			ret = arrive(t, ev);
			if (unlikely(ret))
				goto failed;
		}
		t->insns += ev->ninsn;
		if (ev->flags & TRACE_F_BRANCH && opens[b->kind])
			depart(t, b);
	}
	if (n > 0)
		clock_to(t, end - 1);
	return 0;
failed:
	t->error = ret;
	return ret;
}

void analysis_watch(struct analysis_thread *t, analysis_entry_fn fn, void *ctx)
{
	t->entered = fn;
	t->entered_ctx = ctx;
}

void analysis_exec(struct analysis_thread *t)
{
	stack_close(t, ANALYSIS_UNFINISHED);
}

void analysis_thread_end(struct analysis_thread *t)
{
	stack_close(t, ANALYSIS_UNFINISHED);
	if (t->root)
		t->root->pub.total = t->insns;
}

const struct analysis_node *analysis_tree(const struct analysis_thread *t)
{
	return t->root ? &t->root->pub : NULL;
}

uint32_t analysis_max_depth(const struct analysis_thread *t)
{
	return t->max_depth;
}

uint64_t analysis_folded(const struct analysis *a)
{
	return a->folded;
}

uint64_t analysis_instructions(const struct analysis *a)
{
	const struct analysis_thread *t;
	uint64_t n = 0;

	for (t = a->threads; t; t = t->next)
		n += t->insns;
	return n;
}

static int compare(const void *pa, const void *pb)
{
	const struct analysis_function *a = *(const struct analysis_function *const *)pa;
	const struct analysis_function *b = *(const struct analysis_function *const *)pb;
	int c;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	c = strcmp(a->name, b->name);
	if (!c)
		c = strcmp(a->image, b->image);
	return c ? c : a->id < b->id ? -1 : a->id > b->id;
}

long analysis_functions(struct analysis *a, const struct analysis_function *const **out)
{
	size_t n = functions_list(a, NULL);

	free(a->sorted);
	a->sorted = calloc(n + 1, sizeof(*a->sorted));
	if (!a->sorted)
		return -ENOMEM;
	functions_list(a, a->sorted);
	qsort(a->sorted, n, sizeof(*a->sorted), compare);
	*out = a->sorted;
	return (long)n;
}
