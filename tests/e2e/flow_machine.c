// SPDX-License-Identifier: BSD-2-Clause
/*
 * A machine's threads: what each stream decodes to is what one thread of the log did
 * after another (the same thread has several while its thread pointer is set, and after
 * exec); each of the log's threads belongs to one stream, and none is left over.
 */
#include "flow_machine.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_log.h"

#define MAX_STREAMS	256
#define BATCH		4096

struct flow {
	uint64_t *ip;
	size_t n;
	uint64_t errors, gaps;
	char who[32];
};

static void decode(struct hwt_stream *st, struct flow *f)
{
	const struct hwt_stream_info *info = hwt_stream_info(st);
	struct source *s = source_ours(st);
	size_t room = 0;
	long k;

	memset(f, 0, sizeof(*f));
	snprintf(f->who, sizeof(f->who), "%u/%u", info->pid, info->tid);
	if (!s)
		abort();
	for (;; f->n += (size_t)k) {
		if (room - f->n < BATCH) {
			room = 2 * room + BATCH;
			f->ip = realloc(f->ip, room * sizeof(*f->ip));
			if (!f->ip)
				abort();
		}
		k = s->next(s, f->ip + f->n, BATCH);
		if (k <= 0)
			break;
	}
	f->errors = s->errors;
	f->gaps = s->gaps;
	s->close(s);
}

/* How far the flow from `at` on is what the thread did. */
static size_t common(const struct flow *f, size_t at, const struct machine_thread *t)
{
	size_t n = 0;

	while (n < t->n && at + n < f->n && f->ip[at + n] == t->ip[n])
		n++;
	return n;
}

static void show(const struct flow *f, size_t at, const struct machine_log *m,
		 const bool *taken)
{
	size_t i, k, n, best = 0, most = 0;
	const struct machine_thread *t;

	for (i = 0; i < m->nthreads; i++) {
		n = taken[i] ? 0 : common(f, at, &m->threads[i]);
		if (n >= most) {
			most = n;
			best = i;
		}
	}
	printf("%s: from instruction %zu of %zu on nobody did what hwt says\n", f->who, at, f->n);
	if (best >= m->nthreads)
		return;
	t = &m->threads[best];
	printf("  nearest: %#" PRIx64 "/%#" PRIx64 ", %zu of its %zu instructions%s\n", t->space,
	       t->thread, most, t->n, taken[best] ? " (taken)" : "");
	for (k = most < 3 ? 0 : most - 3; k < most + 6; k++)
		printf("  %c %#18" PRIx64 " %#18" PRIx64 "\n", k == most ? '>' : ' ',
		       at + k < f->n ? f->ip[at + k] : 0, k < t->n ? t->ip[k] : 0);
}

/* Takes threads of the log until the flow is accounted for; longest first. */
static bool account(const struct flow *f, size_t at, struct machine_log *m, bool *taken,
		    size_t *reached)
{
	bool tried[MAX_STREAMS] = {false};
	size_t i, best;

	if (at > *reached)
		*reached = at;
	if (at == f->n)
		return true;
	for (;;) {
		best = m->nthreads;
		for (i = 0; i < m->nthreads; i++)
			if (!taken[i] && !tried[i] &&
			    common(f, at, &m->threads[i]) == m->threads[i].n &&
			    (best == m->nthreads || m->threads[i].n > m->threads[best].n))
				best = i;
		if (best == m->nthreads)
			return false;
		tried[best] = taken[best] = true;
		if (account(f, at + m->threads[best].n, m, taken, reached))
			return true;
		taken[best] = false;
	}
}

static int check_stream(struct flow *f, struct machine_log *m, bool *taken, uint64_t gaps)
{
	size_t reached = 0;
	int bad = 0;

	if (!account(f, 0, m, taken, &reached)) {
		show(f, reached, m, taken);
		bad = 1;
	}
	if (f->errors || f->gaps > gaps) {
		printf("%s: %" PRIu64 " errors, %" PRIu64 " gaps\n", f->who, f->errors, f->gaps);
		bad = 1;
	}
	if (!bad)
		printf("%s: hwt equals log: %zu instructions\n", f->who, f->n);
	return bad;
}

int check_machine(struct hwt_session *s, const char *dir, uint64_t gaps,
		  bool (*wanted)(const void *ctx, uint64_t ip), const void *ctx)
{
	struct machine_log *m = machine_log_open(dir);
	bool taken[MAX_STREAMS] = {false};
	struct flow f;
	size_t k;
	int i, bad = 0;

	if (m)
		machine_log_cut(m, wanted, ctx);
	if (!m || !m->nthreads || m->nthreads > MAX_STREAMS) {
		printf("%s: no threads in the log, or too many\n", dir);
		return 1;
	}
	for (i = 0; i < hwt_session_nstreams(s); i++) {
		decode(hwt_session_stream(s, i), &f);
		bad |= check_stream(&f, m, taken, gaps);
		free(f.ip);
	}
	for (k = 0; k < m->nthreads; k++) {
		if (taken[k])
			continue;
		printf("%#" PRIx64 "/%#" PRIx64 ": %zu instructions from %#" PRIx64
		       " on are in no stream\n", m->threads[k].space, m->threads[k].thread,
		       m->threads[k].n, m->threads[k].ip[0]);
		bad = 1;
	}
	machine_log_close(m);
	return bad;
}
