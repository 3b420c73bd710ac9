// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sampled addresses are known beforehand: each n-th instruction of a thread's log, or
 * of a CPU's kernel code.
 */
#include "flow_samples.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_log.h"

#define MAX_STREAMS 256
#define MISSING	    20 /* one in so many */
#define BATCH	    256

struct list {
	uint64_t *ip;
	size_t n, room;
};

static void add(struct list *l, const uint64_t *ip, size_t n)
{
	if (l->room - l->n < n) {
		l->room = 2 * l->room + n;
		l->ip = realloc(l->ip, l->room * sizeof(*l->ip));
		if (!l->ip)
			abort();
	}
	memcpy(l->ip + l->n, ip, n * sizeof(*ip));
	l->n += n;
}

/* Sampled addresses; false: something else than samples (said). */
static bool read_samples(struct hwt_stream *st, const char *who, struct list *l)
{
	struct spe_event e[BATCH];
	int i, n;

	while ((n = hwt_stream_samples(st, e, BATCH)) > 0) {
		for (i = 0; i < n; i++) {
			if (e[i].type != SPE_SAMPLE) {
				printf("%s: %s at offset %#" PRIx64 "\n", who,
				       trace_gap_text(e[i].error), e[i].offset);
				return false;
			}
			add(l, &e[i].sample.addr[SPE_ADDR_PC], 1);
		}
	}
	if (n)
		printf("%s: %s\n", who, strerror(-n));
	return !n;
}

static bool fits(const struct list *samples, const struct list *log, uint64_t each)
{
	size_t i = 0, at, due = log->n / each, missing = 0;

	for (at = 0; at < due; at++) {
		if (i < samples->n && log->ip[(at + 1) * each - 1] == samples->ip[i])
			i++;
		else
			missing++;
	}
	return i == samples->n && missing <= due / MISSING;
}

/* How many samples, from i on, are each `each` instructions from `at` on. */
static size_t agreed(const struct list *samples, size_t i, const struct list *log, size_t at,
		     uint64_t each)
{
	size_t n = 0;

	for (; i + n < samples->n && at < log->n; n++, at += each)
		if (log->ip[at] != samples->ip[i + n])
			break;
	return n;
}

/*
 * The same where the unit stood still: as often as it was counted, with what was executed
 * meanwhile in no interval.  In a loop samples agree from many places: it went on at the
 * one from which they do longest, of those that leave enough instructions for the rest.
 */
static bool fits_with_stops(const struct list *samples, const struct list *log,
			    uint64_t each, uint64_t stops)
{
	size_t i = 0, at = each - 1, from, skip, n, best, spare, missing = 0;

	if (log->n < samples->n * each)
		return false;
	spare = log->n - samples->n * each;
	for (;;) {
		n = agreed(samples, i, log, at, each);
		i += n;
		from = at += n * each;
		if (i == samples->n)
			break;
		for (skip = best = 0; skip <= spare; skip++) {
			n = agreed(samples, i, log, from + skip, each);
			if (n > best) {
				best = n;
				at = from + skip;
			}
		}
		if (!best)
			return false;
		spare -= at - from;
		if ((at - from) % each == 0)
			missing += (at - from) / each;
		else if (!stops--)
			return false;
	}
	return missing + spare / each <= samples->n / MISSING;
}

/*
 * The thread of the log that was sampled: one alone, or behind what the same program
 * did before it had a thread pointer.
 */
static const struct machine_thread *
find(const struct list *samples, const struct machine_log *m, bool *taken, uint64_t each)
{
	struct list log = {0};
	bool found = false;
	size_t i, k;

	for (i = 0; i < m->nthreads && !found; i++) {
		const struct machine_thread *t = &m->threads[i];

		for (k = 0; !taken[i] && k <= m->nthreads && !found; k++) {
			const struct machine_thread *before =
				k < m->nthreads ? &m->threads[k] : NULL;

			if (before && (taken[k] || before->thread || !t->thread ||
				       before->space != t->space))
				continue;
			log.n = 0;
			if (before)
				add(&log, before->ip, before->n);
			add(&log, t->ip, t->n);
			found = fits(samples, &log, each);
			if (found)
				taken[i] = true;
			if (found && before)
				taken[k] = true;
		}
	}
	free(log.ip);
	return found ? &m->threads[i - 1] : NULL;
}

static int check_thread(struct hwt_stream *st, const struct machine_log *m, bool *taken,
			uint64_t each)
{
	const struct hwt_stream_info *info = hwt_stream_info(st);
	const struct machine_thread *t;
	struct list samples = {0};
	char who[64];
	int bad = 1;

	snprintf(who, sizeof(who), "%u/%u", info->pid, info->tid);
	if (read_samples(st, who, &samples)) {
		t = find(&samples, m, taken, each);
		bad = !t;
		if (t)
			printf("%s: %zu samples of %zu instructions\n", who, samples.n,
			       t->n);
		else
			printf("%s: nobody executed what was sampled %zu times\n", who,
			       samples.n);
	}
	free(samples.ip);
	return bad;
}

static int check_threads(struct hwt_session *s, const char *dir, uint64_t each)
{
	struct machine_log *m = machine_log_open(dir);
	bool taken[MAX_STREAMS] = {false};
	int i, bad = 0;
	size_t k;

	if (!m || !m->nthreads || m->nthreads > MAX_STREAMS) {
		printf("%s: no threads in the log, or too many\n", dir);
		return 1;
	}
	for (i = 0; i < hwt_session_nstreams(s); i++)
		bad |= check_thread(hwt_session_stream(s, i), m, taken, each);
	for (k = 0; k < m->nthreads; k++) {
		if (taken[k] || m->threads[k].n < each)
			continue;
		printf("%#" PRIx64 "/%#" PRIx64 ": %zu instructions are in no stream\n",
		       m->threads[k].space, m->threads[k].thread, m->threads[k].n);
		bad = 1;
	}
	machine_log_close(m);
	return bad;
}

static int check_cpu(struct hwt_stream *st, const char *dir, uint64_t each)
{
	uint64_t stops = hwt_stream_info(st)->gaps;
	int cpu = hwt_stream_info(st)->cpu, bad;
	struct source *s = source_cpu(dir, cpu);
	struct list samples = {0}, log = {0};
	uint64_t ip[BATCH];
	char who[32];
	long n;

	if (!s)
		return 1;
	while ((n = s->next(s, ip, BATCH)) > 0)
		add(&log, ip, (size_t)n);
	s->close(s);
	snprintf(who, sizeof(who), "CPU %d", cpu);
	bad = !read_samples(st, who, &samples) ||
	      !fits_with_stops(&samples, &log, each, stops);
	printf("%s: %zu samples of %zu instructions, %" PRIu64 " stops%s\n", who, samples.n,
	       log.n, stops, bad ? ": which are others" : "");
	free(samples.ip);
	free(log.ip);
	return bad;
}

int check_samples(struct hwt_session *s, const char *dir, uint64_t each)
{
	int i, n = hwt_session_nstreams(s), bad = 0;

	if (n && hwt_stream_info(hwt_session_stream(s, 0))->cpu < 0)
		return check_threads(s, dir, each);
	for (i = 0; i < n; i++)
		bad |= check_cpu(hwt_session_stream(s, i), dir, each);
	return bad || !n;
}
