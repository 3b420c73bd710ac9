/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of a program that runs in the guest: a table, a line of output each. */
#ifndef TESTS_KERNEL_CASE_H
#define TESTS_KERNEL_CASE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct kernel_case {
	const char	*name;
	int		(*run)(void);	/* 0, or not, having said why */
};

/* From a case: says what was got instead, and where. */
#define WANT(got, want)                                                                  \
	do {                                                                             \
		long got_ = (long)(got), want_ = (long)(want);                           \
                                                                                         \
		if (got_ != want_) {                                                     \
			printf("%s:%d: %s: %ld instead of %ld\n", __FILE__, __LINE__,    \
			       #got, got_, want_);                                       \
			return 1;                                                        \
		}                                                                        \
	} while (0)

/* The errno of a system call that returned r; 0: none. */
#define ERRNO(r) ((r) < 0 ? errno : 0)

/* argv: names of cases, to run only those. */
static inline int case_wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return 1;
	return argc < 2;
}

static inline int cases_run(const struct kernel_case *cases, size_t n, int argc, char **argv)
{
	int failed = 0, rc;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!case_wanted(cases[i].name, argc, argv))
			continue;
		rc = cases[i].run();
		printf("%s %s\n", rc ? "FAIL" : "ok", cases[i].name);
		fflush(stdout);
		failed += rc != 0;
	}
	return failed ? 1 : 0;
}

#endif
