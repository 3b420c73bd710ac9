/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions: any file as a recording, opened, decoded to its end and analysed.
 * Positions never go back, what was decoded in pieces of 13 bytes is what was
 * decoded at once, and all instructions are some function's own.
 */
#include "fuzz.h"
#include "analyse/analysis.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENTS	   64
#define EVENTS_MAX 200000

static void require(int condition)
{
	if (!condition)
		abort();
}

static void warn(void *ctx, const char *text)
{
	require(text && *text);
}

static bool symbol(void *stream, uint64_t ip, struct image_symbol *out)
{
	struct image_view *v = hwt_stream_view(stream);

	require(v != NULL);
	return image_view_symbol(v, ip, out);
}

static uint64_t mix(uint64_t hash, const struct trace_event *ev)
{
	const uint64_t parts[] = {ev->type, ev->error, ev->ip, ev->to, ev->ninsn};
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		hash = (hash ^ parts[i]) * 1099511628211ull;
	return hash;
}

/* A hash of all events; *n counts them. */
static uint64_t run_stream(struct hwt_stream *st, struct analysis *a, long *n)
{
	const struct hwt_stream_info *info = hwt_stream_info(st);
	struct analysis_thread *t = analysis_thread(a, info->pid, info->tid, symbol, st);
	struct trace_event ev[EVENTS];
	uint64_t hash = 0, position = 0;
	int got, i;

	require(t && info->name);
	while (*n < EVENTS_MAX && (got = hwt_stream_next(st, ev, EVENTS)) > 0) {
		require(!analysis_feed(t, ev, got));
		for (i = 0; i < got; i++)
			hash = mix(hash, &ev[i]);
		*n += got;
		require(hwt_stream_position(st) >= position);
		position = hwt_stream_position(st);
		require(position <= info->bytes);
	}
	analysis_thread_end(t);
	hwt_stream_close(st);
	return hash;
}

static uint64_t run_session(struct hwt_session *s, long *n)
{
	struct analysis_config config = {.tree = true, .max_nodes = 1000};
	const struct analysis_function *const *list;
	struct analysis *a = analysis_new(&config);
	uint64_t hash = 0, sum = 0;
	long k, nlist;
	int i;

	*n = 0;
	for (i = 0; i < hwt_session_nstreams(s) && *n < EVENTS_MAX; i++)
		hash = hash * 31 + run_stream(hwt_session_stream(s, i), a, n);
	nlist = analysis_functions(a, &list);
	for (k = 0; k < nlist; k++)
		sum += list[k]->self;
	require(sum == analysis_instructions(a));
	analysis_free(a);
	return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwt_session_options o = {0};
	uint64_t hash[2] = {0};
	struct hwt_session *s;
	char path[64], *error;
	int fd = memfd_create("session", MFD_CLOEXEC), i;
	long n[2] = {0};

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = path;
	for (i = 0; i < 2; i++) {
		o.chunk = i ? 13 : 0;
		if (hwt_session_open(&o, warn, NULL, &s, &error)) {
			require(error && *error);
			free(error);
			break;
		}
		hash[i] = run_session(s, &n[i]);
		hwt_session_close(s);
	}
	if (i == 2 && n[0] < EVENTS_MAX && n[1] < EVENTS_MAX)
		require(n[0] == n[1] && hash[0] == hash[1]);
	close(fd);
	return 0;
}
