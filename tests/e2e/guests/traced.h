/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of functions.S: where each begins and ends, and what a call executes. */
#ifndef TESTS_E2E_TRACED_H
#define TESTS_E2E_TRACED_H

struct traced {
	const char *name;
	void (*call)(int);
	int arg;
	const char *start, *end;	/* end: after the last byte */
	struct {
		const char *at;
		int a_call;		/* executions a call */
	} point[4];
};

/* Ends with a name of NULL. */
extern const struct traced traced[] __attribute__((visibility("default")));

#endif
