/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Option tables: one table a subcommand describes its options once; parsing,
 * --help, the completion and the check of the manual page come from it.
 *
 * A value lands in the subcommand's own structure, at the row's offset.
 * Understood: -x, -xyz, -xVALUE, -x VALUE, --name, --name=VALUE, --name VALUE,
 * and "--" as the end of options.  An option with an optional value takes it
 * only as --name=VALUE.  Flags that set one member to different values exclude
 * each other, except for --no-name; a string has one value.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG,		/* int: the row's `value` */
	OPTION_SIZE,		/* uint64_t, bytes: digits and K, M or G */
	OPTION_UINT,		/* uint64_t: decimal or 0x hexadecimal */
	OPTION_STRING,		/* const char *: not empty */
	OPTION_CHOICE,		/* int: the value of the choice */
	OPTION_LIST,		/* struct option_list: every occurrence */
};

struct option_choice {
	const char	*name;
	int		value;
};

struct option_list {
	const char	*item[16];
	int		n;
};

struct option {
	char		letter;		/* 0: none */
	const char	*name;		/* NULL: none */
	const char	*arg;		/* word for the value; NULL: takes none */
	enum option_kind kind;
	size_t		offset;
	const char	*help;
	/* FLAG: stored.  Others, if the value is optional: stored without one. */
	uint64_t	value;
	bool		optional;	/* the value may be left out */
	uint64_t	min, max;	/* SIZE, UINT; max 0: no limit */
	uint64_t	multiple;	/* SIZE: of this; 0: any */
	const struct option_choice *choices;	/* ends with name NULL */
};
/* A table ends with a row that has neither letter nor name. */
bool option_is_end(const struct option *o);

#define OPTION_AT(type, member)	offsetof(type, member)

struct option_result {
	char		**operands;	/* malloc'd array; strings are argv's */
	int		noperands;
	bool		help;		/* -h or --help was met */
	char		error[256];	/* one line, printable, if parsing failed */
};

/*
 * Parses argv[0..argc) (no program name) into `values`, which holds the
 * defaults.  in_order: the first operand ends the options, as for commands
 * that take another command.  0; -EINVAL with result->error; -ENOMEM.
 * result->operands is freed by options_free in any case.
 */
int options_parse(const struct option *table, int argc, char *const argv[],
		  bool in_order, void *values, struct option_result *result);
void options_free(struct option_result *result);

/* Digits with an optional K, M, G (powers of 1024). 0, -EINVAL, -ERANGE. */
int options_parse_size(const char *text, uint64_t *out);

#endif
