/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the analysis share. */
#ifndef ANALYSE_ANALYSIS_PRIV_H
#define ANALYSE_ANALYSIS_PRIV_H

#include "analysis.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

struct function {
	struct analysis_function pub;
	struct function	*next;		/* in struct analysis */
	uint32_t	depth;		/* frames of it on the stack under way */
	bool		is_setjmp, is_plt;
	uint64_t	entry, time;	/* thread's insns and ticks when depth left 0 */
	struct function	*next_by_name;
};

/*
 * trace_block.user: the block's function, with what is known of its place in
 * the two lowest bits (functions are aligned to 16).
 */
#define BLOCK_AT_START	1u	/* it begins where its symbol does */
#define BLOCK_KNOWN	2u	/* its function's bounds are known */
#define BLOCK_BITS	(BLOCK_AT_START | BLOCK_KNOWN)

static inline struct function *block_function(uintptr_t user)
{
	return (struct function *)(user & ~(uintptr_t)BLOCK_BITS);
}

struct node {
	struct analysis_node pub;
	struct node	*last;		/* child that was asked for last */
	struct node	*tail;		/* youngest child */
};

struct frame {
	struct function	*fn;		/* NULL: code outside the filter */
	struct node	*node;
	uint64_t	ret;		/* return address; 0: unknown */
	uint64_t	entry;		/* thread's instructions when it was entered */
	uint64_t	time;		/* ticks; 0: unknown */
	uint64_t	resume, resume2;	/* SIGNAL: where the flow was interrupted */
	uint64_t	setjmp;		/* where setjmp last returned to in it; 0: never */
	uint32_t	gaps;		/* thread's gap count when it was entered */
	uint16_t	flags;		/* ANALYSIS_* */
	bool		folded;		/* shares its parent's node */
	bool		is_setjmp;	/* it is setjmp, or was entered by its jump */
};

/* What the next run is, seen from the last event. */
enum expect {
	EXPECT_FLOW,		/* the same function, or a jump */
	EXPECT_CALL,		/* callee of a call that returns to t->ret */
	EXPECT_RETURN,
	EXPECT_SYSCALL,		/* t->ret, unless a handler comes first */
	EXPECT_ASYNC,		/* t->async_ip was interrupted */
	EXPECT_RESUME,		/* tracing was off for a while */
	EXPECT_GAP,
};

struct analysis_thread {
	struct analysis	*a;
	struct analysis_thread *next;
	analysis_symbol_fn symbol;
	void		*ctx;
	uint32_t	pid, tid;
	/* The stack; top is frames[n - 1]. */
	struct frame	*frames;
	uint32_t	n, room, max_depth;
	uint32_t	signals;	/* frames with ANALYSIS_SIGNAL */
	uint32_t	gaps;
	bool		setjmps;	/* any frame had one */
	struct function	*fn;		/* of the top frame */
	uint64_t	insns;		/* so far */
	uint64_t	mark;		/* insns up to which the top frame has its share */
	uint64_t	now;		/* ticks; 0: unknown */
	struct node	*root;
	/* What the last event left open. */
	enum expect	expect;
	bool		disabled;	/* with tracing off since */
	uint64_t	ret, ret2;	/* CALL, SYSCALL: address after it, and its own */
	uint64_t	disabled_ip, async_ip;
	uint64_t	ip;		/* where the run begins that is arriving */
	analysis_entry_fn entered;	/* or NULL */
	void		*entered_ctx;
	int		error;
};

struct table {			/* open addressing; never shrinks */
	void		**slots;
	size_t		n, room;
};

struct analysis {
	struct analysis_config config;
	struct analysis_thread *threads;
	struct table	functions;	/* by id */
	struct function	*all;
	struct function	*by_name[1024];	/* (image, name without .cold) */
	struct table	nodes;		/* by parent and function */
	uint64_t	nnodes, folded;
	bool		no_memory;	/* for a node or a name: the next push says so */
	const struct analysis_function **sorted;
	struct arena	*arena;
};

/* arena.c: memory that goes with the analysis; zeroed; NULL: none left. */
void *arena_get(struct arena **a, size_t size);
void arena_free(struct arena *a);

/* functions.c */
/* The function at ip, with BLOCK_* bits; 0: no memory. */
uintptr_t function_at(struct analysis_thread *t, uint64_t ip);
/* Fills list (NULL: counts only) with all functions; how many. */
size_t functions_list(const struct analysis *a, const struct analysis_function **list);

/* tree.c */
struct node *tree_root(struct analysis *a);
/* The child of that kind; NULL: there is no room for one more. */
struct node *tree_child(struct analysis *a, struct node *parent, struct function *fn,
			enum analysis_node_kind kind);

/* stack.c */
/* The next run begins at ip; place: function_at's answer for it. */
int stack_arrive(struct analysis_thread *t, uint64_t ip, uintptr_t place);
/* Flow is lost here: `missing` bytes. */
void stack_gap(struct analysis_thread *t, uint64_t missing);
/* Closes all frames, each with `flags` more. */
void stack_close(struct analysis_thread *t, uint32_t flags);

static inline uint64_t hash64(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

#endif
