/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subcommand: one file that holds its name, usage, options and entry point.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdarg.h>
#include "options.h"

/* Exit statuses of everything but `record` (whose is the target's). */
#define EXIT_OK			0
#define EXIT_FAILED		1	/* usage, files, the system */
#define EXIT_WITH_ERRORS	3	/* done, but the trace has losses, gaps or errors */
/* `record`, when it could not do its own part (as env(1) and timeout(1)). */
#define EXIT_RECORD_FAILED	125
#define EXIT_NOT_EXECUTABLE	126
#define EXIT_NOT_FOUND		127

struct command {
	const char	*name;
	const char	*summary;	/* one line, imperative, no full stop */
	const char	*operands;	/* for the usage line, "" for none */
	int		min_operands, max_operands;	/* max -1: any number */
	bool		in_order;	/* the first operand ends the options */
	int		usage_status;	/* for mistakes in the command line */
	const struct option *options;
	const void	*defaults;	/* of the options' structure */
	size_t		size;		/* of that structure */
	int (*run)(const struct command *self, void *values, int noperands,
		   char **operands);
};

/* In the order of the help page; ends with NULL. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);
/* hwt(8)'s own form: `hwt [options] [program args]`; its name is empty. */
extern const struct command hwt8_command;

/* hwt's own argv, NULL-terminated. */
const char *const *command_line(void);

/* "hwt: ..." or "hwt SUBCOMMAND: ..." and newline on stderr. */
__attribute__((format(printf, 1, 2)))
void message(const char *fmt, ...);
void message_set_command(const char *name);
/* As message, then returns EXIT_FAILED. */
__attribute__((format(printf, 1, 2)))
int failure(const char *fmt, ...);

/* On stdout. */
void help_overview(void);
void help_command(const struct command *c);
/* "command letter name arg" lines, tabs between, "-" for none: for tests. */
void help_table(void);
/* A completion script for bash. */
void help_bash(void);
/* 0, or EXIT_FAILED with a message if stdout could not be written. */
int finish_stdout(void);

#endif
