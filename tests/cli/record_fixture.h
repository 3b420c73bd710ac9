/* SPDX-License-Identifier: BSD-2-Clause */
/* Running the recorder against a scripted host, with a writer that looks at each byte. */
#ifndef TESTS_CLI_RECORD_FIXTURE_H
#define TESTS_CLI_RECORD_FIXTURE_H

#include "fake_host.h"
#include "fake_perfdata.h"
#include "record/record.h"

#define KIB	1024u
#define PID	FAKE_PID
#define T(n)	(FAKE_PID + (n))
#define KERNEL_TEXT	0xffffffff81000000ull	/* has schedule */
#define KERNEL_MOD	0xffffffffc0000000ull	/* "mod" has hello */

struct recorder_run {
	struct record_options opt;
	struct record_result result;
	struct fake_facts facts;
	char	error[512];
	int	err;
};

/* The program is /bin/prog; /lib/a.so has functions f, g, many and elsewhere. */
struct record_options recorder_defaults(void);
/* Fills all but opt; whatever comes, no device stays open. */
void run_recorder(struct recorder_run *t, const struct fake_options *fake);
/* The whole stream of a thread came, in order, and was ended once. */
void expect_stream(uint32_t tid, size_t bytes, size_t gaps);
/* Set-up of each test. */
int fresh_file(void **state);

#endif
