// SPDX-License-Identifier: BSD-2-Clause
/* The call stack, as analysis.h says how it is kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis_priv.h"

/* Programs whose calls never return (coroutines, threaded code) must not grow it. */
#define DEPTH_MAX (1u << 20)

/* What the next run tells. */
struct arrival {
	uint64_t ip;
	struct function *fn;
	bool at_start; /* of fn's symbol */
	bool inside;   /* the symbol is known, and this is not its start */
};

static struct frame *top(struct analysis_thread *t)
{
	return &t->frames[t->n - 1];
}

/* The top frame gets the instructions executed since it became the top. */
static void settle(struct analysis_thread *t)
{
	uint64_t d = t->insns - t->mark;
	struct frame *f;

	t->mark = t->insns;
	if (!t->n || !d)
		return;
	f = top(t);
	if (f->fn)
		f->fn->pub.self += d;
	if (f->node)
		f->node->pub.self += d;
}

/* Its outermost frame ends: recursion has counted once. */
static void end_function(struct analysis_thread *t, struct function *fn)
{
	fn->pub.total += t->insns - fn->entry;
	if (!fn->time || t->now < fn->time)
		return;
	fn->pub.ticks += t->now - fn->time;
	fn->pub.has_time = true;
}

/* Accounts for a frame that ends; it need not be the top one. */
static void end_frame(struct analysis_thread *t, const struct frame *f)
{
	uint64_t insns = t->insns - f->entry, ticks = 0;
	uint32_t flags = f->flags;
	bool timed = f->time && t->now >= f->time;
	struct function *fn = f->fn;

	if (f->gaps != t->gaps)
		flags |= ANALYSIS_CROSSED_GAP;
	if (timed)
		ticks = t->now - f->time;
	if (flags & ANALYSIS_SIGNAL)
		t->signals--;
	if (fn) {
		fn->pub.flags |= flags;
		if (--fn->depth == 0)
			end_function(t, fn);
	}
	if (f->node && !f->folded) {
		f->node->pub.total += insns;
		f->node->pub.ticks += ticks;
		f->node->pub.has_time |= timed;
		f->node->pub.flags |= flags;
	}
}

static void pop(struct analysis_thread *t, uint32_t flags)
{
	settle(t);
	top(t)->flags |= flags;
	end_frame(t, top(t));
	t->n--;
	t->fn = t->n ? top(t)->fn : NULL;
}

/* Pops until n frames are left; those that did not return say so. */
static void pop_to(struct analysis_thread *t, uint32_t n, uint32_t flags)
{
	while (t->n > n)
		pop(t, flags);
}

/* Makes room by ending the older half: nobody returns to it any more. */
static void forget_older(struct analysis_thread *t)
{
	uint32_t half = t->n / 2, i;

	for (i = 0; i < half; i++)
		end_frame(t, &t->frames[i]);
	memmove(t->frames, t->frames + half, (t->n - half) * sizeof(*t->frames));
	t->n -= half;
}

static int reserve(struct analysis_thread *t)
{
	uint32_t room = t->room ? t->room * 2 : 64;
	struct frame *p;

	if (t->n < t->room)
		return 0;
	if (t->n >= DEPTH_MAX) {
		forget_older(t);
		return 0;
	}
	p = realloc(t->frames, room * sizeof(*p));
	if (!p)
		return -ENOMEM;
	t->frames = p;
	t->room = room;
	return 0;
}

static void set_node(struct analysis_thread *t, struct frame *f, bool called)
{
	enum analysis_node_kind kind =
		f->fn ? ANALYSIS_NODE_FUNCTION : ANALYSIS_NODE_OUTSIDE;
	struct node *parent = t->n > 1 ? t->frames[t->n - 2].node : t->root;

	f->node = tree_child(t->a, parent, f->fn, kind);
	f->folded = !f->node;
	if (f->folded) {
		f->node = parent;
		t->a->folded++;
		return;
	}
	f->node->pub.calls += called;
}

static void tell(const struct analysis_thread *t, enum analysis_way way, uint32_t depth)
{
	struct analysis_entry e = {
		.way = way,
		.depth = depth,
		.ip = way == ANALYSIS_TO_OUTSIDE ? t->disabled_ip : t->ip,
	};

	if (t->entered)
		t->entered(t->entered_ctx, &e);
}

static enum analysis_way way_into(const struct frame *f)
{
	if (!f->fn)
		return ANALYSIS_TO_OUTSIDE;
	if (f->flags & ANALYSIS_TAIL)
		return ANALYSIS_BY_JUMP;
	if (f->flags & ANALYSIS_SIGNAL)
		return ANALYSIS_BY_SIGNAL;
	return f->ret ? ANALYSIS_BY_CALL : ANALYSIS_UNSEEN;
}

static int push(struct analysis_thread *t, struct function *fn, uint64_t ret,
		uint32_t flags, bool called)
{
	struct frame *f;
	int ret_code;

	settle(t);
	ret_code = reserve(t);
	if (ret_code)
		return ret_code;
	f = &t->frames[t->n++];
	*f = (struct frame){
		.fn = fn,
		.ret = ret,
		.entry = t->insns,
		.time = t->now,
		.gaps = t->gaps,
		.flags = (uint16_t)flags,
		.is_setjmp = fn && fn->is_setjmp,
	};
	if (flags & ANALYSIS_SIGNAL)
		t->signals++;
	if (fn) {
		if (!fn->depth++) {
			fn->entry = t->insns;
			fn->time = t->now;
		}
		fn->pub.calls += called;
	}
	if (t->root)
		set_node(t, f, called);
	t->fn = fn;
	if (t->n > t->max_depth)
		t->max_depth = t->n;
	if (called)
		tell(t, way_into(f), t->n - 1);
	return t->a->no_memory ? -ENOMEM : 0;
}

/* The top frame goes on as another function: a tail call. */
static int replace(struct analysis_thread *t, struct function *fn, bool called)
{
	struct frame old = *top(t);
	uint32_t flags = old.flags & ANALYSIS_SIGNAL;
	int ret;

	pop(t, 0);
	/* A table's entry stands for the function: that was a call. */
	if (!old.fn || !old.fn->is_plt)
		flags |= ANALYSIS_TAIL;
	ret = push(t, fn, old.ret, flags, called);
	if (!ret) {
		top(t)->resume = old.resume;
		top(t)->resume2 = old.resume2;
		top(t)->setjmp = old.setjmp;
		top(t)->is_setjmp |= old.is_setjmp;
	}
	return ret;
}

/* Index + 1 of the youngest frame that returns to ip; 0: none. */
static uint32_t find_return(const struct analysis_thread *t, uint64_t ip)
{
	uint32_t i = t->n;

	while (i > 0 && t->frames[i - 1].ret != ip)
		i--;
	return i;
}

static uint32_t find_function(const struct analysis_thread *t, const struct function *fn)
{
	uint32_t i = fn->depth ? t->n : 0;

	while (i > 0 && t->frames[i - 1].fn != fn)
		i--;
	return i;
}

static uint32_t find_setjmp(const struct analysis_thread *t, uint64_t ip)
{
	uint32_t i = t->n;

	while (i > 0 && t->frames[i - 1].setjmp != ip)
		i--;
	return i;
}

/* The youngest handler that interrupted ip. */
static uint32_t find_interrupted(const struct analysis_thread *t, uint64_t ip)
{
	uint32_t i = t->signals ? t->n : 0;

	while (i > 0 &&
	       !(t->frames[i - 1].flags & ANALYSIS_SIGNAL &&
		 (t->frames[i - 1].resume == ip || t->frames[i - 1].resume2 == ip)))
		i--;
	return i;
}

/* Flow goes on inside a function that the top frame is not. */
static int into_middle(struct analysis_thread *t, const struct arrival *at,
		       uint32_t flags)
{
	uint32_t i = t->setjmps ? find_setjmp(t, at->ip) : 0;

	if (!i && at->inside)
		i = find_function(t, at->fn);
	if (!i)
		return replace(t, at->fn, false);
	pop_to(t, i, flags);
	return 0;
}

static int arrive_by_jump(struct analysis_thread *t, const struct arrival *at)
{
	if (at->fn == t->fn)
		return 0;
	if (!at->at_start)
		return into_middle(t, at, ANALYSIS_UNWOUND);
	return replace(t, at->fn, true);
}

/* Back in a frame, which can have gone on as another function meanwhile. */
static int back_in_frame(struct analysis_thread *t, const struct arrival *at)
{
	if (!t->n)
		return push(t, at->fn, 0, ANALYSIS_NO_BEGIN, false);
	return t->fn == at->fn ? 0 : into_middle(t, at, ANALYSIS_UNWOUND);
}

/* The top frame returns to where it was called. */
static int plain_return(struct analysis_thread *t, const struct arrival *at)
{
	bool is_setjmp = top(t)->is_setjmp;

	pop(t, 0);
	if (is_setjmp && t->n) {
		top(t)->setjmp = at->ip;
		t->setjmps = true;
	}
	return back_in_frame(t, at);
}

/* The top frame was entered before the trace, after a gap, or from outside. */
static int return_to_unknown(struct analysis_thread *t, const struct arrival *at)
{
	uint32_t i;

	pop(t, 0);
	i = at->at_start ? 0 : find_function(t, at->fn);
	if (!i)
		return push(t, at->fn, 0, at->at_start ? 0 : ANALYSIS_NO_BEGIN,
			    at->at_start);
	pop_to(t, i, ANALYSIS_UNWOUND);
	return 0;
}

static int arrive_by_return(struct analysis_thread *t, const struct arrival *at)
{
	uint32_t i;

	if (top(t)->ret == at->ip)
		return plain_return(t, at);
	if (!top(t)->ret && !(top(t)->flags & ANALYSIS_SIGNAL))
		return return_to_unknown(t, at);
	i = find_return(t, at->ip);
	if (i) {
		pop_to(t, i, ANALYSIS_UNWOUND);
		return plain_return(t, at);
	}
	i = at->at_start ? 0 : find_function(t, at->fn);
	if (i) {
		pop_to(t, i, ANALYSIS_UNWOUND);
		return 0;
	}
	if (!t->disabled || !at->at_start)
		return replace(t, at->fn, at->at_start);
	/* Back to code outside the filter, which called anew. */
	pop(t, 0);
	return push(t, at->fn, 0, 0, true);
}

static int push_handler(struct analysis_thread *t, const struct arrival *at,
			uint64_t resume, uint64_t resume2)
{
	int ret = push(t, at->fn, 0, ANALYSIS_SIGNAL, true);

	if (!ret) {
		top(t)->resume = resume;
		top(t)->resume2 = resume2;
	}
	return ret;
}

static int arrive_by_syscall(struct analysis_thread *t, const struct arrival *at)
{
	uint32_t i;

	if (at->ip == t->ret)
		return arrive_by_jump(t, at);
	/* sigreturn; or a system call begun again after its handler. */
	i = find_interrupted(t, at->ip);
	if (i) {
		pop_to(t, i - 1, 0);
		return back_in_frame(t, at);
	}
	if (at->at_start || !at->fn->depth)
		return push_handler(t, at, t->ret, t->ret2);
	return into_middle(t, at, ANALYSIS_UNWOUND);
}

static int arrive_by_async(struct analysis_thread *t, const struct arrival *at)
{
	if (at->ip == t->async_ip)
		return arrive_by_jump(t, at);
	if (!at->inside || !at->fn->depth)
		return push_handler(t, at, t->async_ip, t->async_ip);
	return into_middle(t, at, ANALYSIS_UNWOUND);
}

/* Functions that go on in another frame than their caller's: unlike qsort, say. */
static bool never_returns(const struct analysis_thread *t, uint64_t ip)
{
	static const char *const names[] = {"longjmp", "_Unwind_R", "__cxa_throw",
					    "__cxa_rethrow"};
	struct image_symbol sym = {0};
	size_t i;

	if (!ip || !t->symbol(t->ctx, ip, &sym) || !sym.raw_name)
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(sym.raw_name, names[i]))
			return true;
	return false;
}

static void pop_to_outside(struct analysis_thread *t)
{
	uint32_t n = t->n;

	while (n > 0 && t->frames[n - 1].fn)
		n--;
	pop_to(t, n, ANALYSIS_UNWOUND);
}

/* Code outside was called, and flow comes back elsewhere than behind that call. */
static int back_elsewhere(struct analysis_thread *t, const struct arrival *at)
{
	int ret = push(t, NULL, t->ret, 0, true);

	if (ret)
		return ret;
	/* It jumped into a frame further down. */
	if (at->inside && at->fn->depth)
		return into_middle(t, at, ANALYSIS_UNWOUND);
	/* Or to code outside further down, which called; else it called back itself. */
	if (never_returns(t, t->disabled_ip)) {
		pop(t, ANALYSIS_UNWOUND);
		pop_to_outside(t);
	}
	return push(t, at->fn, 0, at->at_start ? 0 : ANALYSIS_NO_BEGIN, at->at_start);
}

static int arrive_by_call(struct analysis_thread *t, const struct arrival *at)
{
	struct node *n;

	if (!t->disabled)
		return push(t, at->fn, t->ret, 0, true);
	if (at->ip != t->ret)
		return back_elsewhere(t, at);
	/* Called outside and came back: nothing of it was traced. */
	tell(t, ANALYSIS_TO_OUTSIDE, t->n);
	if (t->root) {
		n = tree_child(t->a, top(t)->node, NULL, ANALYSIS_NODE_OUTSIDE);
		if (n)
			n->pub.calls++;
	}
	return back_in_frame(t, at);
}

/* Tracing was off, and not for a call, a return or a system call. */
static int arrive_resumed(struct analysis_thread *t, const struct arrival *at)
{
	uint32_t i;

	if (!at->at_start && at->fn == t->fn)
		return 0;
	i = find_return(t, at->ip);
	if (i) {
		pop_to(t, i - 1, 0);
		return back_in_frame(t, at);
	}
	if (!at->at_start)
		return into_middle(t, at, 0);
	/* The function was left for code outside, which called this one. */
	if (t->fn)
		pop(t, 0);
	return push(t, at->fn, 0, 0, true);
}

static int arrive_after_gap(struct analysis_thread *t, const struct arrival *at)
{
	uint32_t i;

	if (at->fn == t->fn)
		return 0;
	i = find_function(t, at->fn);
	if (i) {
		pop_to(t, i, ANALYSIS_UNWOUND);
		return 0;
	}
	return push(t, at->fn, 0,
		    ANALYSIS_CROSSED_GAP | (at->at_start ? 0 : ANALYSIS_NO_BEGIN),
		    at->at_start);
}

static int (*const arrive[])(struct analysis_thread *t, const struct arrival *at) = {
	[EXPECT_FLOW] = arrive_by_jump,	    [EXPECT_CALL] = arrive_by_call,
	[EXPECT_RETURN] = arrive_by_return, [EXPECT_SYSCALL] = arrive_by_syscall,
	[EXPECT_ASYNC] = arrive_by_async,   [EXPECT_RESUME] = arrive_resumed,
	[EXPECT_GAP] = arrive_after_gap,
};

int stack_arrive(struct analysis_thread *t, uint64_t ip, uintptr_t place)
{
	struct arrival at = {
		.ip = ip,
		.fn = block_function(place),
		.at_start = place & BLOCK_AT_START,
		.inside = (place & BLOCK_BITS) == BLOCK_KNOWN,
	};
	enum expect expect = t->expect;
	int ret;

	t->ip = ip;
	/* Off and on again at one place: as if nothing had been. */
	if (t->disabled && ip == t->disabled_ip) {
		t->disabled = false;
		if (expect == EXPECT_RESUME)
			expect = EXPECT_FLOW;
	}
	if (t->n)
		ret = arrive[expect](t, &at);
	else
		ret = push(t, at.fn, 0, at.at_start ? 0 : ANALYSIS_NO_BEGIN, at.at_start);
	t->expect = EXPECT_FLOW;
	t->disabled = false;
	return ret;
}

void stack_gap(struct analysis_thread *t, uint64_t missing)
{
	struct node *parent, *n;

	settle(t);
	t->gaps++;
	t->expect = EXPECT_GAP;
	t->disabled = false;
	if (!t->root)
		return;
	parent = t->n ? top(t)->node : t->root;
	n = tree_child(t->a, parent, NULL, ANALYSIS_NODE_GAP);
	if (n) {
		n->pub.calls++;
		n->pub.self += missing;
	}
}

void stack_close(struct analysis_thread *t, uint32_t flags)
{
	settle(t);
	/* The last thing that it did was to return; or to call code outside. */
	if (t->n && t->expect == EXPECT_RETURN)
		pop(t, 0);
	if (t->n && t->expect == EXPECT_CALL && t->disabled)
		(void)push(t, NULL, t->ret, 0, true); /* no room: it is not counted */
	while (t->n)
		pop(t, flags);
	t->expect = EXPECT_FLOW;
	t->disabled = false;
}
