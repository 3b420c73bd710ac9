/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

#include <stdio.h>

struct help_values {
	int	table, bash;
};

static const struct option help_options[] = {
	{ .name = "completion", .kind = OPTION_FLAG, .value = 1,
	  .offset = OPTION_AT(struct help_values, bash),
	  .help = "Print a completion script for bash" },
	{ .name = "table", .kind = OPTION_FLAG, .value = 1,
	  .offset = OPTION_AT(struct help_values, table),
	  .help = "Print all options as a table, for scripts" },
	{ 0 }
};

static int help_run(const struct command *self, void *values, int noperands,
		    char **operands)
{
	const struct help_values *v = values;
	const struct command *c;

	if (v->table) {
		help_table();
	} else if (v->bash) {
		help_bash();
	} else if (noperands == 0) {
		help_overview();
	} else {
		c = command_find(operands[0]);
		if (!c)
			return failure("there is no subcommand '%s'", operands[0]);
		help_command(c);
	}
	return finish_stdout();
}

const struct command help_cmd = {
	.name = "help",
	.summary = "Explain a subcommand",
	.operands = "[SUBCOMMAND]",
	.max_operands = 1,
	.usage_status = EXIT_FAILED,
	.options = help_options,
	.size = sizeof(struct help_values),
	.run = help_run,
};
