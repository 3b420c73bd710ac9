/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of a program that runs in the guest: a table, a line of output each. */
#ifndef TESTS_KERNEL_CASE_H
#define TESTS_KERNEL_CASE_H

#include <errno.h>
#include <stddef.h>

/* Ends the program with a line that says where, and what was got instead. */
void fail(const char *file, int line, const char *what, long value)
	__attribute__((noreturn));
#define CHECK(condition) \
	((condition) ? (void)0 : fail(__FILE__, __LINE__, #condition, 0))
#define CHECK_EQ(got, want)                                                              \
	do {                                                                             \
		long check_got_ = (long)(got), check_want_ = (long)(want);               \
                                                                                         \
		if (check_got_ != check_want_)                                           \
			fail(__FILE__, __LINE__, #got " == " #want, check_got_);         \
	} while (0)

/* The errno of a system call that returned r; 0: none. */
#define ERRNO(r) ((r) < 0 ? errno : 0)

struct test_case {
	const char	*name;
	void		(*run)(void);
};

/*
 * Runs all cases, or those that argv names; each in a process of its own, so that
 * none finds what another left.  The program's exit status.
 */
int cases_run(const struct test_case *cases, size_t n, int argc, char **argv);

#endif
