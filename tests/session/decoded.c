// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "decoded.h"

int warnings;
char last_warning[8192];

void warn(void *ctx, const char *text)
{
	warnings++;
	snprintf(last_warning, sizeof(last_warning), "%s", text);
}

struct hwt_session *open_session(const char *path, size_t chunk)
{
	struct hwt_session_options o = {.path = path, .chunk = chunk};
	struct hwt_session *s;
	char *error;
	int ret;

	warnings = 0;
	ret = hwt_session_open(&o, warn, NULL, &s, &error);
	if (ret)
		fail_msg("%d: %s", ret, error);
	return s;
}

struct hwt_stream *stream_of(struct hwt_session *s, uint32_t tid)
{
	int i;

	for (i = 0; i < hwt_session_nstreams(s); i++) {
		if (hwt_stream_info(hwt_session_stream(s, i))->tid == tid)
			return hwt_session_stream(s, i);
	}
	fail_msg("no stream of thread %u", tid);
	return NULL;
}

static void take(struct decoded *d, const struct trace_event *ev)
{
	uint64_t ip = ev->ip;
	const uint8_t *len;
	uint32_t i;

	d->errors += ev->type == TRACE_ERROR;
	if (ev->type == TRACE_GAP) {
		d->gaps++;
		d->missing += ev->value;
	}
	if (ev->type != TRACE_RUN)
		return;
	for (len = ev->block->len; ip > ev->block->ip; ip -= *len++)
		;
	for (i = 0, ip = ev->ip; i < ev->ninsn; i++) {
		if (d->n == d->room) {
			d->room = d->room ? d->room * 2 : 1024;
			d->ip = realloc(d->ip, d->room * sizeof(*d->ip));
		}
		d->ip[d->n++] = ip;
		ip += len[i];
	}
}

void decode(struct hwt_stream *st, struct decoded *d)
{
	struct trace_event ev[64];
	int i, n;

	memset(d, 0, sizeof(*d));
	while ((n = hwt_stream_next(st, ev, 64)) > 0) {
		for (i = 0; i < n; i++)
			take(d, &ev[i]);
	}
	assert_int_equal(n, 0);
}

void decode_away(struct hwt_stream *st)
{
	struct decoded d;

	decode(st, &d);
	free(d.ip);
}

struct hwt_stream *cpu_stream(struct hwt_session *s, int cpu)
{
	int i;

	for (i = 0; i < hwt_session_nstreams(s); i++) {
		if (hwt_stream_info(hwt_session_stream(s, i))->cpu == cpu)
			return hwt_session_stream(s, i);
	}
	fail_msg("no stream of CPU %d", cpu);
	return NULL;
}

/* Decodes the thread whole, in pieces of several sizes, and twice. */
static void check(const char *path, const struct world_thread *t, bool cpu)
{
	static const size_t chunks[] = {0, 1, 17, 4096};
	struct hwt_session *s;
	struct hwt_stream *st;
	struct decoded d;
	size_t i;
	int again;

	for (i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		s = open_session(path, chunks[i]);
		st = cpu ? cpu_stream(s, (int)t->tid) : stream_of(s, t->tid);
		for (again = 0; again < 2; again++) {
			decode(st, &d);
			assert_int_equal(d.gaps, 0);
			assert_int_equal(d.errors, 0);
			assert_int_equal(d.n, t->nip);
			assert_memory_equal(d.ip, t->ip, t->nip * sizeof(*t->ip));
			free(d.ip);
			assert_int_equal(hwt_stream_position(st),
					 hwt_stream_info(st)->bytes);
			assert_int_equal(hwt_stream_rewind(st), 0);
		}
		assert_int_equal(warnings, 0);
		hwt_session_close(s);
	}
}

void check_thread(const char *path, const struct world_thread *t)
{
	check(path, t, false);
}

void check_cpu(const char *path, const struct world_thread *t)
{
	check(path, t, true);
}
