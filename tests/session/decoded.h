/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoding a recording of the made-up world, and holding it against what was executed. */
#ifndef TESTS_SESSION_DECODED_H
#define TESTS_SESSION_DECODED_H

#include "session/session.h"
#include "world.h"

/* Since the last open_session. */
extern int warnings;
extern char last_warning[8192];
void warn(void *ctx, const char *text);

/* These fail the test where there is none. */
struct hwt_session *open_session(const char *path, size_t chunk);
struct hwt_stream *stream_of(struct hwt_session *s, uint32_t tid);
struct hwt_stream *cpu_stream(struct hwt_session *s, int cpu);

struct decoded {
	uint64_t *ip;
	size_t n, room, gaps, errors;
	uint64_t missing;
};

/* d->ip is the caller's. */
void decode(struct hwt_stream *st, struct decoded *d);
/* To the end, for the names that hold there. */
void decode_away(struct hwt_stream *st);

/* Whole, in pieces of several sizes, and twice; no gap, no error, no warning. */
void check_thread(const char *path, const struct world_thread *t);
void check_cpu(const char *path, const struct world_thread *t);

#endif
