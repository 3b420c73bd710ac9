/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"
#include "progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *current;

void message_set_command(const char *name)
{
	current = name;
}

static void print_message(const char *fmt, va_list ap)
{
	progress_clear();
	fflush(stdout);
	if (current)
		fprintf(stderr, "hwt %s: ", current);
	else
		fputs("hwt: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void message(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
}

int failure(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
	return EXIT_FAILED;
}

int finish_stdout(void)
{
	int failed = ferror(stdout);

	if (fflush(stdout) == 0 && !failed)
		return EXIT_OK;
	return failure("standard output: %s", strerror(errno));
}
