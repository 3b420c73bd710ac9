/* SPDX-License-Identifier: BSD-2-Clause */
/* A file name for a test's perf.data, and records to put into it. */
#ifndef TESTS_CONTAINER_TEMP_H
#define TESTS_CONTAINER_TEMP_H

#include <stdint.h>
#include "container/perfdata.h"

/* A new empty file below $TMPDIR or /tmp; free with temp_remove. */
char *temp_file(void);
void temp_remove(char *path);

/*
 * A record with this payload and, if text is not NULL, the string behind it.
 * In a buffer of its own, to be freed; time counts up by 1000 from call to call.
 */
struct hwt_rec *make_rec(uint16_t type, uint32_t pid, uint32_t tid, const void *payload,
			 size_t n, const char *text);
/* The parameters that the tests write with. */
extern const struct perfdata_params test_params;
#define TEST_CTL 0xe608ull	/* branch, TSC, MTC, MTC frequency 3, user */

/* Opens what must be a perf.data file. */
struct perfdata *must_open(const char *path);
/* The next event that is none of the skipped ones; fails the test on an error. */
int next_event(struct perfdata *p, struct perfdata_event *ev);

#endif
