/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything that is told from the option tables. */
#include "command.h"

#include <stdio.h>
#include <string.h>

#define HELP_COLUMN	28

/* "[=N]" for optional values, " N" or "=N" for others. */
static void print_option(const struct option *o)
{
	char left[80];
	int n = 0;

	n += snprintf(left + n, sizeof(left) - (size_t)n, "  ");
	if (o->letter)
		n += snprintf(left + n, sizeof(left) - (size_t)n, "-%c", o->letter);
	if (o->name)
		n += snprintf(left + n, sizeof(left) - (size_t)n, "%s--%s",
			      o->letter ? ", " : "    ", o->name);
	if (o->arg)
		n += snprintf(left + n, sizeof(left) - (size_t)n,
			      o->optional ? "[=%s]" : " %s", o->arg);
	if (n >= HELP_COLUMN)
		printf("%s\n%*s%s\n", left, HELP_COLUMN, "", o->help);
	else
		printf("%-*s%s\n", HELP_COLUMN, left, o->help);
}

void help_command(const struct command *c)
{
	const struct option *o;
	const char *name;

	printf("usage: hwt%s%s [options]%s%s\n\n%s.\n\n", c->name[0] ? " " : "", c->name,
	       c->operands[0] ? " " : "", c->operands, c->summary);
	for (o = c->options; !option_is_end(o); o++)
		print_option(o);
	printf("  -h, --help                This text\n");
	/* help itself is in the overview's page. */
	name = strcmp(c->name, "help") ? c->name : "";
	printf("\nManual: man 8 hwt%s%s\n", name[0] ? "-" : "", name);
}

void help_overview(void)
{
	int i;

	printf("usage: hwt SUBCOMMAND [options]\n"
	       "       hwt [-ghr] [-b bufsize] [-c backend] [-f function] [-i image]\n"
	       "           [-o format] [-P pid] [-R fsroot] [-s cpus] [-t thread]\n"
	       "           [-w file] [program [argument ...]]\n\n"
	       "Records what a program executes, branch by branch, and shows it.\n\n");
	for (i = 0; commands[i]; i++)
		printf("  %-12s%s\n", commands[i]->name, commands[i]->summary);
	printf("\n`hwt SUBCOMMAND --help` lists options; the manual is hwt(8).\n");
}

static void table_rows(const struct command *c, const char *name)
{
	const struct option *o;

	for (o = c->options; !option_is_end(o); o++)
		printf("%s\t%c\t%s\t%s%s\n", name, o->letter ? o->letter : '-',
		       o->name ? o->name : "-", o->arg ? o->arg : "-",
		       o->optional ? "?" : "");
}

void help_table(void)
{
	int i;

	table_rows(&hwt8_command, "-");
	for (i = 0; commands[i]; i++)
		table_rows(commands[i], commands[i]->name);
}

static void bash_case(const struct command *c)
{
	const struct option *o;
	const struct option_choice *choice;

	printf("\t%s)\n\t\topts='", c->name);
	for (o = c->options; !option_is_end(o); o++) {
		if (o->letter)
			printf("-%c ", o->letter);
		if (o->name)
			printf("--%s%s ", o->name, o->arg && o->optional ? "=" : "");
	}
	printf("--help'\n\t\tcase $prev in\n");
	for (o = c->options; !option_is_end(o); o++) {
		if (!o->arg || o->optional)
			continue;
		printf("\t\t");
		if (o->letter)
			printf("-%c", o->letter);
		if (o->name)
			printf("%s--%s", o->letter ? "|" : "", o->name);
		if (o->kind == OPTION_CHOICE) {
			printf(") opts='");
			for (choice = o->choices; choice->name; choice++)
				printf("%s ", choice->name);
			printf("' words=1 ;;\n");
		} else {
			printf(") opts= words=1 ;;\n");
		}
	}
	printf("\t\tesac ;;\n");
}

void help_bash(void)
{
	int i;

	printf("# bash completion of hwt, made from its option tables\n"
	       "_hwt()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	       "\tlocal opts= words=\n\tCOMPREPLY=()\n"
	       "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -c -W '");
	for (i = 0; commands[i]; i++)
		printf("%s ", commands[i]->name);
	printf("' -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	for (i = 0; commands[i]; i++)
		bash_case(commands[i]);
	printf("\tesac\n"
	       "\tif [ -n \"$words\" ] || [ \"${cur#-}\" != \"$cur\" ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$opts\" -- \"$cur\"))\n\tfi\n"
	       "}\ncomplete -o default -F _hwt hwt\n");
}
