/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call trees.  Walked without recursion: a program that dies of deep recursion
 * has a tree as deep.
 */
#include "result.h"
#include "result_flags.h"
#include "text.h"

#define INDENT_MAX	64

static const struct { uint32_t bit; const char *name; } flag_names[] = {
	{ ANALYSIS_UNFINISHED, "unfinished" },
	{ ANALYSIS_CROSSED_GAP, "gap" },
	{ ANALYSIS_NO_BEGIN, "no-begin" },
	{ ANALYSIS_SIGNAL, "signal" },
	{ ANALYSIS_TAIL, "tail" },
	{ ANALYSIS_UNWOUND, "unwound" },
};
#define NFLAGS	(sizeof(flag_names) / sizeof(flag_names[0]))

void result_flags(struct out *o, uint32_t flags)
{
	const char *before = " [";
	size_t i;

	for (i = 0; i < NFLAGS; i++) {
		if (!(flags & flag_names[i].bit))
			continue;
		out_str(o, before);
		out_str(o, flag_names[i].name);
		before = ", ";
	}
	if (before[0] == ',')
		out_char(o, ']');
}

void result_flags_json(struct json *j, uint32_t flags)
{
	size_t i;

	if (!flags)
		return;
	json_array(j, "flags");
	for (i = 0; i < NFLAGS; i++)
		if (flags & flag_names[i].bit)
			json_string(j, NULL, flag_names[i].name);
	json_array_end(j);
}

/* The next node in order, skipping what is under `node` if skip. */
static const struct analysis_node *step(const struct analysis_node *root,
					const struct analysis_node *node, bool skip,
					uint32_t *depth)
{
	if (node->child && !skip) {
		++*depth;
		return node->child;
	}
	while (node != root) {
		if (node->next)
			return node->next;
		node = node->parent;
		--*depth;
	}
	return NULL;
}

static const char *const kind_names[] = {
	[ANALYSIS_NODE_ROOT] = "thread",
	[ANALYSIS_NODE_FUNCTION] = "function",
	[ANALYSIS_NODE_GAP] = "gap",
	[ANALYSIS_NODE_OUTSIDE] = "outside",
};

static void tree_line(struct out *o, const struct analysis_node *node, uint32_t depth,
		      uint64_t (*ns)(void *ctx, uint64_t ticks), void *ctx)
{
	char calls[32], total[32], self[32], time[32] = "-";
	uint32_t i;

	/* Shorter than the time packets are apart: unknown. */
	if (node->has_time && node->ticks)
		text_duration(time, sizeof(time), ns(ctx, node->ticks));
	out_printf(o, "%12s %16s %16s %10s  ", text_count(calls, sizeof(calls), node->calls),
		   node->kind == ANALYSIS_NODE_GAP ? "-" :
		   text_count(total, sizeof(total), node->total),
		   text_count(self, sizeof(self), node->self), time);
	for (i = 1; i < depth && i < INDENT_MAX; i++)
		out_str(o, "  ");
	if (depth > INDENT_MAX)
		out_printf(o, "[%u] ", depth);
	if (node->kind == ANALYSIS_NODE_GAP)
		out_str(o, "-- gap (self: bytes missing)");
	else if (node->kind == ANALYSIS_NODE_OUTSIDE)
		out_str(o, "[outside the filter]");
	else
		out_printable(o, node->function ? node->function->name : "[unknown]");
	result_flags(o, node->flags);
	out_char(o, '\n');
}

void result_tree(struct out *o, const struct analysis_node *root,
		 const struct result_limits *limits,
		 uint64_t (*ns)(void *ctx, uint64_t ticks), void *ctx)
{
	double least = limits->percent * (double)root->total / 100;
	const struct analysis_node *node;
	uint64_t shown = 0, left_out = 0;
	uint32_t depth = 0;
	bool skip = false;

	out_printf(o, "%12s %16s %16s %10s  %s\n", "calls", "instructions", "self", "time",
		   "function");
	for (node = step(root, root, false, &depth); node;
	     node = step(root, node, skip, &depth)) {
		skip = node->kind == ANALYSIS_NODE_FUNCTION && (double)node->total < least;
		if (skip || (limits->rows && shown >= limits->rows)) {
			left_out++;
			continue;
		}
		tree_line(o, node, depth, ns, ctx);
		shown++;
		skip = limits->depth && depth >= limits->depth;
	}
	if (left_out)
		out_printf(o, "# %llu more %s\n", (unsigned long long)left_out,
			   text_form(left_out, "call", "calls"));
}

void result_tree_json(struct json *j, const char *key, const struct analysis_node *root,
		      uint64_t (*ns)(void *ctx, uint64_t ticks), void *ctx)
{
	const struct analysis_node *node;
	uint32_t depth = 0;

	json_array(j, key);
	for (node = step(root, root, false, &depth); node;
	     node = step(root, node, false, &depth)) {
		json_object(j, NULL);
		json_uint(j, "depth", depth);
		json_string(j, "kind", kind_names[node->kind]);
		if (node->function) {
			json_string(j, "function", node->function->name);
			json_string(j, "image", node->function->image);
		}
		json_uint(j, node->kind == ANALYSIS_NODE_GAP ? "gaps" : "calls", node->calls);
		json_uint(j, node->kind == ANALYSIS_NODE_GAP ? "missing_bytes" : "self",
			  node->self);
		if (node->kind != ANALYSIS_NODE_GAP)
			json_uint(j, "total", node->total);
		if (node->has_time)
			json_uint(j, "time_ns", ns(ctx, node->ticks));
		result_flags_json(j, node->flags);
		json_object_end(j);
	}
	json_array_end(j);
}
