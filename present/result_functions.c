/* SPDX-License-Identifier: BSD-2-Clause */
#include "result.h"
#include "result_flags.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static double percent_of(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "?";
}

static int more_total(const void *a, const void *b)
{
	const struct analysis_function *fa = *(const struct analysis_function *const *)a;
	const struct analysis_function *fb = *(const struct analysis_function *const *)b;

	if (fa->total != fb->total)
		return fa->total < fb->total ? 1 : -1;
	return strcmp(fa->name, fb->name);
}

static void function_line(struct out *o, const struct analysis_function *f, uint64_t all)
{
	char self[32], total[32], calls[32];

	out_printf(o, "%6.2f%% %16s  %6.2f%% %16s  %12s  ", percent_of(f->self, all),
		   text_count(self, sizeof(self), f->self), percent_of(f->total, all),
		   text_count(total, sizeof(total), f->total),
		   text_count(calls, sizeof(calls), f->calls));
	out_printable(o, f->name);
	out_str(o, "  (");
	out_printable(o, base_name(f->image));
	out_char(o, ')');
	result_flags(o, f->flags);
	out_char(o, '\n');
}

void result_functions(struct out *o, const struct analysis_function *const *f, long n,
		      uint64_t instructions, const struct result_limits *limits,
		      bool by_total)
{
	const struct analysis_function **sorted = NULL;
	uint64_t shown = 0, left_out = 0;
	long i;

	if (by_total && n > 0) {
		sorted = malloc((size_t)n * sizeof(*sorted));
		if (!sorted) {
			o->err = o->err ? o->err : -ENOMEM;
			return;
		}
		memcpy(sorted, f, (size_t)n * sizeof(*sorted));
		qsort(sorted, (size_t)n, sizeof(*sorted), more_total);
		f = sorted;
	}
	out_printf(o, "%7s %16s  %7s %16s  %12s  %s\n", "self", "instructions", "total",
		   "with children", "calls", "function");
	for (i = 0; i < n; i++) {
		if ((limits->rows && shown >= limits->rows) ||
		    percent_of(by_total ? f[i]->total : f[i]->self, instructions) <
			    limits->percent) {
			left_out++;
			continue;
		}
		function_line(o, f[i], instructions);
		shown++;
	}
	if (left_out)
		out_printf(o, "# %llu more %s\n", (unsigned long long)left_out,
			   text_form(left_out, "function", "functions"));
	free(sorted);
}

void result_functions_json(struct json *j, const char *key,
			   const struct analysis_function *const *f, long n,
			   uint64_t (*ns)(void *ctx, uint64_t ticks), void *ctx)
{
	long i;

	json_array(j, key);
	for (i = 0; i < n; i++) {
		json_object(j, NULL);
		json_string(j, "name", f[i]->name);
		json_string(j, "raw_name", f[i]->raw_name);
		json_string(j, "image", f[i]->image);
		json_uint(j, "self", f[i]->self);
		json_uint(j, "total", f[i]->total);
		json_uint(j, "calls", f[i]->calls);
		if (f[i]->has_time)
			json_uint(j, "time_ns", ns(ctx, f[i]->ticks));
		result_flags_json(j, f[i]->flags);
		json_object_end(j);
	}
	json_array_end(j);
}
