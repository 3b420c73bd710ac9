/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysing.h"
#include "commands.h"
#include "present/text.h"

#include <inttypes.h>

struct calls_values {
	struct recording_values recording;
	uint64_t	rows, percent, depth;
};
static const struct calls_values defaults = { .recording = RECORDING_DEFAULTS };

static const struct option calls_opts[] = {
	RECORDING_ROWS(struct calls_values, recording),
	{ 'n', "rows", "N", OPTION_UINT, OPTION_AT(struct calls_values, rows),
	  .help = "At most N lines a thread (default: all)" },
	{ 0, "depth", "N", OPTION_UINT, OPTION_AT(struct calls_values, depth),
	  .help = "At most N levels (default: all)", .min = 1, .max = UINT32_MAX },
	{ 0, "percent", "P", OPTION_UINT, OPTION_AT(struct calls_values, percent),
	  .help = "Leave out calls below P percent of their thread", .max = 100 },
	{ 0 }
};

static void whose(struct analysing *a, const struct analysed_thread *t)
{
	if (t->cpu >= 0) {
		out_printf(&a->out, "CPU %d", t->cpu);
		return;
	}
	out_printf(&a->out, "thread %u of process %u ", t->tid, t->pid);
	out_printable(&a->out, t->name);
}

static void text(struct analysing *a, const struct calls_values *v)
{
	struct result_limits limits = {
		.rows = v->rows, .percent = (double)v->percent, .depth = (uint32_t)v->depth,
	};
	uint64_t folded = analysis_folded(a->analysis);
	int i;

	for (i = 0; i < a->nthreads; i++) {
		out_printf(&a->out, "%s# ", i ? "\n" : "");
		whose(a, &a->thread[i]);
		out_printf(&a->out, ", deepest stack %u\n",
			   analysis_max_depth(a->thread[i].thread));
		result_summary(&a->out, "# ", &a->thread[i].summary);
		if (analysing_coarse(a))
			out_printf(&a->out, "# %s\n", analysing_coarse(a));
		result_tree(&a->out, analysis_tree(a->thread[i].thread), &limits,
			    analysing_duration, a);
	}
	if (folded)
		out_printf(&a->out,
			   "# %" PRIu64 " %s at their callers: the tree is too large\n",
			   folded,
			   text_form(folded, "call is counted", "calls are counted"));
}

static void json(struct analysing *a)
{
	struct json j;
	int i;

	json_init(&j, &a->out);
	json_object(&j, NULL);
	result_summary_json(&j, "summary", &a->rec.all);
	json_bool(&j, "times_are_coarse", analysing_coarse(a) != NULL);
	json_uint(&j, "folded_calls", analysis_folded(a->analysis));
	json_array(&j, "threads");
	for (i = 0; i < a->nthreads; i++) {
		json_object(&j, NULL);
		json_uint(&j, "pid", a->thread[i].pid);
		json_uint(&j, "tid", a->thread[i].tid);
		if (a->thread[i].cpu >= 0)
			json_int(&j, "cpu", a->thread[i].cpu);
		json_string(&j, "comm", a->thread[i].name);
		json_uint(&j, "max_depth", analysis_max_depth(a->thread[i].thread));
		result_summary_json(&j, "summary", &a->thread[i].summary);
		result_tree_json(&j, "calls", analysis_tree(a->thread[i].thread),
				 analysing_duration, a);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	json_newline(&j);
}

static int show(struct analysing *a, const void *values)
{
	const struct calls_values *v = values;

	if (v->recording.json)
		json(a);
	else
		text(a, v);
	return EXIT_OK;
}

static int calls_run(const struct command *self, void *values, int noperands,
		     char **operands)
{
	struct calls_values *v = values;
	struct recording rec;
	int status = recording_operand(&v->recording, noperands, operands);

	if (!status)
		status = recording_open(&rec, &v->recording);

	return status ? status : analysing_run(&rec, true, show, v);
}

const struct command calls_cmd = {
	.name = "calls",
	.summary = "Show the call tree with counts and time",
	.operands = "[RECORDING]",
	.max_operands = 1,
	.usage_status = EXIT_FAILED,
	.options = calls_opts,
	.defaults = &defaults,
	.size = sizeof(struct calls_values),
	.run = calls_run,
};
