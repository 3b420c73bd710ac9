/* SPDX-License-Identifier: BSD-2-Clause */
/* hwt(8): finds the subcommand, parses its options, runs it. */
#include "command.h"
#include "commands.h"
#include "version.h"

#include <errno.h>
#include <signal.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct command *const commands[] = {
	&record_cmd, &report_cmd, &calls_cmd, &script_cmd, &dump_cmd, &export_cmd, &info_cmd,
	&list_cmd, &help_cmd, NULL
};

const struct command *command_find(const char *name)
{
	int i;

	for (i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int check_operands(const struct command *c, const struct option_result *r)
{
	if (r->noperands < c->min_operands)
		message("%s is missing; see hwt%s%s --help", c->operands,
			c->name[0] ? " " : "", c->name);
	else if (c->max_operands >= 0 && r->noperands > c->max_operands)
		message("unexpected '%s'", r->operands[c->max_operands]);
	else
		return 0;
	return c->usage_status;
}

static int run_parsed(const struct command *c, void *values, struct option_result *r)
{
	int status;

	if (r->help) {
		help_command(c);
		return finish_stdout();
	}
	status = check_operands(c, r);
	return status ? status : c->run(c, values, r->noperands, r->operands);
}

static int run_command(const struct command *c, int argc, char **argv)
{
	struct option_result result;
	void *values = calloc(1, c->size);
	int err, status;

	if (!values) {
		message("%s", strerror(ENOMEM));
		return c->usage_status;
	}
	if (c->defaults)
		memcpy(values, c->defaults, c->size);
	err = options_parse(c->options, argc, argv, c->in_order, values, &result);
	if (err == -EINVAL) {
		message("%s", result.error);
		status = c->usage_status;
	} else if (err) {
		message("%s", strerror(-err));
		status = c->usage_status;
	} else {
		status = run_parsed(c, values, &result);
	}
	options_free(&result);
	free(values);
	return status;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/*
 * A recording must not come to stand at a descriptor that messages are written to.
 * Read-only, so that output fails as it should; not inherited, so that the target
 * finds closed what was closed.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_CLOEXEC) != fd)
			abort();
}

static char **own_argv;

const char *const *command_line(void)
{
	return (const char *const *)own_argv;
}

static void on_file_size(int sig)
{
	/* The write says EFBIG; a handler, for exec resets it in the program. */
}

/* What is ignored stays ignored, for the program inherits it. */
static void catch_file_size(void)
{
	struct sigaction act = { .sa_handler = on_file_size, .sa_flags = SA_RESTART }, was;

	if (sigaction(SIGXFSZ, NULL, &was) == 0 && was.sa_handler != SIG_IGN)
		sigaction(SIGXFSZ, &act, NULL);
}

int main(int argc, char **argv)
{
	const struct command *c;

	own_argv = argv;
	catch_file_size();
	fill_standard_descriptors();
	if (argc < 2) {
		message("nothing to do; try: hwt record ls, or hwt --help");
		return EXIT_FAILED;
	}
	if (is_one_of(argv[1], "-h", "--help")) {
		help_overview();
		return finish_stdout();
	}
	if (is_one_of(argv[1], "-V", "--version")) {
		printf("hwt %s\n", HWT_VERSION);
		return finish_stdout();
	}
	c = command_find(argv[1]);
	if (!c)
		return run_command(&hwt8_command, argc - 1, argv + 1);
	message_set_command(c->name);
	return run_command(c, argc - 2, argv + 2);
}
