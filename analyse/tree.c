// SPDX-License-Identifier: BSD-2-Clause
/* Call trees: a node for every path of calls. */
#include <stdlib.h>
#include "analysis_priv.h"

#define NODES_DEFAULT (1u << 20)

static struct node **slot_of(const struct table *t, const struct node *parent,
			     const struct function *fn, enum analysis_node_kind kind)
{
	uint64_t key = hash64((uintptr_t)parent) + hash64((uintptr_t)fn + kind);
	struct node **slots = (struct node **)t->slots;
	size_t i = hash64(key) & (t->room - 1);
	const struct analysis_function *pub = fn ? &fn->pub : NULL;

	while (slots[i] && (slots[i]->pub.parent != &parent->pub ||
			    slots[i]->pub.function != pub || slots[i]->pub.kind != kind))
		i = (i + 1) & (t->room - 1);
	return &slots[i];
}

static int grow(struct table *t)
{
	struct table bigger = {.room = t->room ? t->room * 2 : 1024, .n = t->n};
	struct node *n;
	size_t i;

	bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (i = 0; i < t->room; i++) {
		n = t->slots[i];
		if (n)
			*slot_of(&bigger, (struct node *)n->pub.parent,
				 (struct function *)n->pub.function, n->pub.kind) = n;
	}
	free(t->slots);
	*t = bigger;
	return 0;
}

static struct node *node_new(struct analysis *a)
{
	uint64_t max = a->config.max_nodes ? a->config.max_nodes : NODES_DEFAULT;
	struct node *n;

	if (a->nnodes >= max)
		return NULL;
	n = arena_get(&a->arena, sizeof(*n));
	if (n)
		a->nnodes++;
	else
		a->no_memory = true;
	return n;
}

struct node *tree_root(struct analysis *a)
{
	struct node *n = arena_get(&a->arena, sizeof(*n));

	if (n)
		n->pub.kind = ANALYSIS_NODE_ROOT;
	return n;
}

static bool is(const struct node *n, const struct function *fn,
	       enum analysis_node_kind kind)
{
	return n->pub.kind == kind && n->pub.function == (fn ? &fn->pub : NULL);
}

struct node *tree_child(struct analysis *a, struct node *parent, struct function *fn,
			enum analysis_node_kind kind)
{
	struct node *n = parent->last, **slot;

	if (n && is(n, fn, kind))
		return n;
	if (a->nodes.n * 2 >= a->nodes.room && grow(&a->nodes)) {
		a->no_memory = true;
		return NULL;
	}
	slot = slot_of(&a->nodes, parent, fn, kind);
	if (!*slot) {
		n = node_new(a);
		if (!n)
			return NULL;
		n->pub.kind = kind;
		n->pub.function = fn ? &fn->pub : NULL;
		n->pub.parent = &parent->pub;
		if (parent->tail)
			parent->tail->pub.next = &n->pub;
		else
			parent->pub.child = &n->pub;
		parent->tail = n;
		*slot = n;
		a->nodes.n++;
	}
	parent->last = *slot;
	return *slot;
}
