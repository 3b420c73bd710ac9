/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of analyses as text and JSON: what was decoded and what was not,
 * functions, call trees.
 */
#ifndef PRESENT_RESULT_H
#define PRESENT_RESULT_H

#include "../analyse/analysis.h"
#include "json.h"

/* "543,814 instructions, 90,000 branches, ...: complete" and a newline. */
void result_summary(struct out *o, const char *prefix, const struct summary *s);
/* "2 gaps, 1 error (return compression ... at offset 0x20)", for one line; "" if none. */
void result_losses(char *buf, size_t size, const struct summary *s);
/* An object: counts, reasons, verdict. */
void result_summary_json(struct json *j, const char *key, const struct summary *s);

struct result_limits {
	uint64_t	rows;		/* 0: all */
	double		percent;	/* functions and calls below are left out */
	uint32_t	depth;		/* calls; 0: all */
};
/* ns: ticks to nanoseconds; by_total: sorted by self and children. */
void result_functions(struct out *o, const struct analysis_function *const *f, long n,
		      uint64_t instructions, const struct result_limits *limits,
		      bool by_total);
void result_functions_json(struct json *j, const char *key,
			   const struct analysis_function *const *f, long n,
			   uint64_t (*ns)(void *ctx, uint64_t ticks), void *ctx);
/*
 * One thread's tree.  In JSON a list of nodes, parents first, each with its
 * depth (1: called by nobody that is known).
 */
void result_tree(struct out *o, const struct analysis_node *root,
		 const struct result_limits *limits,
		 uint64_t (*ns)(void *ctx, uint64_t ticks), void *ctx);
void result_tree_json(struct json *j, const char *key, const struct analysis_node *root,
		      uint64_t (*ns)(void *ctx, uint64_t ticks), void *ctx);

#endif
