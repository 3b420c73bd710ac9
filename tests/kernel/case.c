/* SPDX-License-Identifier: BSD-2-Clause */
#include "case.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void fail(const char *file, int line, const char *what, long value)
{
	fprintf(stderr, "%s:%d: %s fails (%ld, %#lx)\n", file, line, what, value, value);
	exit(1);
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

static bool passes(const struct test_case *c)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		c->run();
		exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

int cases_run(const struct test_case *cases, size_t n, int argc, char **argv)
{
	int failed = 0, ran = 0;
	bool fine;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!wanted(cases[i].name, argc, argv))
			continue;
		fine = passes(&cases[i]);
		printf("%s %s\n", fine ? "ok" : "FAIL", cases[i].name);
		failed += !fine;
		ran++;
	}
	return failed || !ran;
}
