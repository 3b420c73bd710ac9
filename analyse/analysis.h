/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions and calls: who executed how many instructions, and who called
 * whom.  One analysis takes the events of all streams, one stream after the
 * other (for decoding in parallel, make one analysis a stream):
 *
 *	a = analysis_new(&config);
 *	t = analysis_thread(a, pid, tid, symbol_fn, view);
 *	while ((n = hwt_stream_next(st, ev, max)) > 0)
 *		analysis_feed(t, ev, n);
 *	analysis_thread_end(t);			// before the stream is closed
 *	... analysis_functions(a, ...), analysis_tree(t)
 *
 * How a stack is kept (there is no frame pointer to look at, only flow):
 *  - a call pushes a frame; a return pops to the frame whose return address it
 *    goes to, however deep (exceptions, longjmp by return);
 *  - a jump into the middle of a function that is on the stack pops to it
 *    (longjmp, landing pads), also one by way of code outside the filter; a jump
 *    to another function is a tail call: the frame changes its function, and
 *    the depth stays;
 *  - a function's ".cold" part is the function;
 *  - a signal handler is a frame of its own, ended by the flow's coming back to
 *    where it was interrupted;
 *  - after a gap or an error the stack stays, its frames are flagged, and later
 *    returns find their place again;
 *  - a return from the lowest frame begins a new one at depth 0: its caller
 *    began before the trace, or lies outside the filter.
 * Who wants the calls one by one, as they come, has them told (analysis_watch).
 */
#ifndef ANALYSE_ANALYSIS_H
#define ANALYSE_ANALYSIS_H

#include "../decode/event.h"
#include "../image/image.h"
#include "summary.h"

struct analysis;
struct analysis_thread;

/* Fills *out for the code at ip, as image_view_symbol does. */
typedef bool (*analysis_symbol_fn)(void *ctx, uint64_t ip, struct image_symbol *out);

struct analysis_config {
	bool		tree;		/* keep call trees (analysis_tree) */
	/*
	 * Nodes of all trees together; 0: 1 million (some 100 MB).  Beyond it, calls go to
	 * their parent's node and `folded` counts them.
	 */
	uint32_t	max_nodes;
};

struct analysis_function {
	/* Demangled; without a symbol "[0x...]", the file's address, or "[unknown]". */
	const char	*name;
	const char	*raw_name;	/* NULL: no symbol */
	const char	*image;
	uint64_t	id;		/* of its symbol (image.h) */
	uint64_t	self;		/* instructions executed in it */
	uint64_t	total;		/* and in what it called; recursion counts once */
	uint64_t	calls;		/* times that it was entered */
	uint64_t	ticks;		/* time of `total`; valid where has_time */
	uint32_t	flags;		/* ANALYSIS_* that any of its frames had */
	bool		has_time;
};

#define ANALYSIS_UNFINISHED	0x01u	/* never returned: the trace ends inside */
#define ANALYSIS_CROSSED_GAP	0x02u	/* a gap lies inside: counts are a minimum */
#define ANALYSIS_NO_BEGIN	0x04u	/* not seen to begin: before the trace, or by an untraced jump */
#define ANALYSIS_SIGNAL		0x08u	/* entered by an asynchronous event */
#define ANALYSIS_TAIL		0x10u	/* entered by a jump */
#define ANALYSIS_UNWOUND	0x20u	/* left by longjmp or an exception */

enum analysis_node_kind {
	ANALYSIS_NODE_ROOT,	/* the thread; function NULL */
	ANALYSIS_NODE_FUNCTION,
	ANALYSIS_NODE_GAP,	/* a stretch without flow; function NULL */
	ANALYSIS_NODE_OUTSIDE,	/* a call out of the filter, or untraced; function NULL */
};

struct analysis_node {
	const struct analysis_function *function;
	struct analysis_node *parent, *child, *next;	/* in order of first call */
	uint64_t	calls;		/* GAP: gaps */
	uint64_t	self, total;	/* instructions; GAP: self = missing bytes */
	uint64_t	ticks;		/* valid where has_time */
	uint32_t	flags;		/* ANALYSIS_* that any of its calls had */
	uint8_t		kind;		/* enum analysis_node_kind */
	bool		has_time;
};

/* NULL: no memory. */
struct analysis *analysis_new(const struct analysis_config *config);
void analysis_free(struct analysis *a);	/* and its threads, functions, nodes */
/* A new stream.  ctx goes to symbol, which is called once for each block. */
struct analysis_thread *analysis_thread(struct analysis *a, uint32_t pid, uint32_t tid,
					analysis_symbol_fn symbol, void *ctx);
/*
 * Takes the next n events of the stream.  Uses trace_block.user of its blocks.
 * 0, or -ENOMEM (then the thread's numbers stop there).
 */
int analysis_feed(struct analysis_thread *t, const struct trace_event *ev, int n);
/* What follows is another program: exec.  Closes all frames. */
void analysis_exec(struct analysis_thread *t);

enum analysis_way {		/* how the code at `ip` was entered */
	ANALYSIS_BY_CALL,
	ANALYSIS_BY_JUMP,	/* a tail call: at its caller's depth */
	ANALYSIS_BY_SIGNAL,
	ANALYSIS_UNSEEN,	/* flow begins at its start: who called it was not traced */
	ANALYSIS_TO_OUTSIDE,	/* called, and not traced; ip 0: not known */
	ANALYSIS_WAYS
};
struct analysis_entry {
	enum analysis_way way;
	uint32_t	depth;		/* frames below it */
	uint64_t	ip;
};
typedef void (*analysis_entry_fn)(void *ctx, const struct analysis_entry *e);
/*
 * Each entry that the tree's `calls` count is told, while the event that shows
 * it is fed: the first run there; of a call to outside, what comes after it.
 */
void analysis_watch(struct analysis_thread *t, analysis_entry_fn fn, void *ctx);
/* Closes the frames that are still open, flagged unfinished. */
void analysis_thread_end(struct analysis_thread *t);

/* The thread's root node, or NULL without config.tree. */
const struct analysis_node *analysis_tree(const struct analysis_thread *t);
/* Deepest stack that the thread had. */
uint32_t analysis_max_depth(const struct analysis_thread *t);
/* Calls that were folded into their parent's node for want of nodes. */
uint64_t analysis_folded(const struct analysis *a);

/*
 * All functions that were executed, most `self` first (then by name).
 * *out lives until the analysis is fed again or freed.  How many, or -ENOMEM.
 */
long analysis_functions(struct analysis *a, const struct analysis_function *const **out);
/* Instructions of all threads. */
uint64_t analysis_instructions(const struct analysis *a);

#endif
