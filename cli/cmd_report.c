/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysing.h"
#include "commands.h"
#include "report_samples.h"

struct report_values {
	struct recording_values recording;
	int		by_total;
	int		by;		/* enum samples_group; -1: all */
	uint64_t	rows, percent;
};
static const struct report_values defaults = { .recording = RECORDING_DEFAULTS, .by = -1 };

static const struct option_choice groups[] = {
	{ "function", SAMPLES_FUNCTION }, { "operation", SAMPLES_OPERATION },
	{ "source", SAMPLES_SOURCE }, { "latency", SAMPLES_LATENCY },
	{ "address", SAMPLES_ADDRESS }, { 0 }
};

static const struct option report_opts[] = {
	RECORDING_ROWS(struct report_values, recording),
	{ 0, "children", .kind = OPTION_FLAG, .value = 1,
	  .offset = OPTION_AT(struct report_values, by_total),
	  .help = "Sort by instructions including callees" },
	{ 'n', "rows", "N", OPTION_UINT, OPTION_AT(struct report_values, rows),
	  .help = "At most N functions (default: all); samples: N rows a group (default: 20, with --by all)" },
	{ 0, "percent", "P", OPTION_UINT, OPTION_AT(struct report_values, percent),
	  .help = "Leave out functions below P percent", .max = 100 },
	{ 0, "by", "GROUP", OPTION_CHOICE, OPTION_AT(struct report_values, by),
	  "Samples: by function, operation, source, latency or address (default: all)",
	  .choices = groups },
	{ 0 }
};

static void text(struct analysing *a, const struct report_values *v,
		 const struct analysis_function *const *functions, long n)
{
	struct result_limits limits = { .rows = v->rows, .percent = (double)v->percent };

	result_summary(&a->out, "# ", &a->rec.all);
	result_functions(&a->out, functions, n, analysis_instructions(a->analysis), &limits,
			 v->by_total);
}

static void json(struct analysing *a, const struct analysis_function *const *functions,
		 long n)
{
	struct json j;

	json_init(&j, &a->out);
	json_object(&j, NULL);
	result_summary_json(&j, "summary", &a->rec.all);
	json_bool(&j, "times_are_coarse", analysing_coarse(a) != NULL);
	result_functions_json(&j, "functions", functions, n, analysing_duration, a);
	json_object_end(&j);
	json_newline(&j);
}

static int show(struct analysing *a, const void *values)
{
	const struct report_values *v = values;
	const struct analysis_function *const *functions;
	long n = analysis_functions(a->analysis, &functions);

	if (n < 0)
		return failure("out of memory");
	if (v->recording.json)
		json(a, functions, n);
	else
		text(a, v, functions, n);
	return EXIT_OK;
}

static int report_run(const struct command *self, void *values, int noperands,
		      char **operands)
{
	struct report_values *v = values;
	struct recording rec;
	int status = recording_operand(&v->recording, noperands, operands);

	if (!status)
		status = recording_open(&rec, &v->recording);

	if (status)
		return status;
	if (recording_sampled(&rec))
		return report_samples(&rec, v->by, v->rows);
	if (v->by >= 0) {
		recording_discard(&rec);
		return failure("--by is for recordings of samples");
	}
	return analysing_run(&rec, false, show, v);
}

const struct command report_cmd = {
	.name = "report",
	.summary = "Show functions by instructions, or samples by groups",
	.operands = "[RECORDING]",
	.max_operands = 1,
	.usage_status = EXIT_FAILED,
	.options = report_opts,
	.defaults = &defaults,
	.size = sizeof(struct report_values),
	.run = report_run,
};
