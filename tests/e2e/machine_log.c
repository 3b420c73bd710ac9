// SPDX-License-Identifier: BSD-2-Clause
#include "machine_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK		(1ull << 63)	/* and three words: number, space, thread */
#define MARK_WORDS	3
#define MAX_CPUS	64
#define SPACE_MASK	(~0x1fffull)	/* CR3: PCID and the half for user mode */

/* What one CPU did for one thread, between two marks. */
struct slice {
	uint64_t number;	/* in the order of all CPUs' marks */
	uint64_t space, thread;
	const uint64_t *ip;
	size_t n;
};

struct cpu_source {
	struct source s;
	struct source *file;
	uint64_t word[4096];
	long n, i;
	int skip;		/* words of a mark that follow */
};

static int is_mark(uint64_t word)
{
	return word >> 48 == MARK >> 48;
}

static long cpu_next(struct source *s, uint64_t *ip, size_t n)
{
	struct cpu_source *c = (struct cpu_source *)s;
	size_t k = 0;

	while (k < n) {
		if (c->i == c->n) {
			c->n = c->file->next(c->file, c->word, 4096);
			c->i = 0;
			if (c->n <= 0)
				break;
		}
		if (c->skip)
			c->skip--;
		else if (is_mark(c->word[c->i]))
			c->skip = MARK_WORDS;
		else if (c->word[c->i] >> 63)
			ip[k++] = c->word[c->i];
		c->i++;
	}
	return (long)k;
}

static void cpu_close(struct source *s)
{
	struct cpu_source *c = (struct cpu_source *)s;

	c->file->close(c->file);
	free(c);
}

struct source *source_cpu(const char *dir, int cpu)
{
	struct cpu_source *c = calloc(1, sizeof(*c));
	char path[4200];

	snprintf(path, sizeof(path), "%s/log.cpu%d", dir, cpu);
	if (!c)
		return NULL;
	c->s.name = "log";
	c->s.next = cpu_next;
	c->s.close = cpu_close;
	c->file = source_log_file("log", path, MACHINE_LOG_MAGIC);
	if (!c->file) {
		free(c);
		return NULL;
	}
	return &c->s;
}

/* All words of a file; NULL: there is none. */
static uint64_t *read_words(const char *path, size_t *n)
{
	struct source *s = source_log_file("log", path, MACHINE_LOG_MAGIC);
	uint64_t *w = NULL, *more;
	size_t room = 0;
	long k = 0;

	if (!s)
		return NULL;
	for (*n = 0;; *n += (size_t)k) {
		if (room - *n < 65536) {
			room = 2 * room + 65536;
			more = realloc(w, room * sizeof(*w));
			if (!more)
				abort();
			w = more;
		}
		k = s->next(s, w + *n, room - *n);
		if (k <= 0)
			break;
	}
	s->close(s);
	return w;
}

struct slices {
	struct slice *v;
	size_t n, room;
};

static void add_slice(struct slices *all, const struct slice *s)
{
	struct slice *v;

	if (all->n == all->room) {
		all->room = 2 * all->room + 256;
		v = realloc(all->v, all->room * sizeof(*v));
		if (!v)
			abort();
		all->v = v;
	}
	all->v[all->n++] = *s;
}

/* Cuts a CPU's words into slices; what comes before the first mark is none. */
static void cut(const uint64_t *w, size_t n, struct slices *all)
{
	struct slice s = {0};
	size_t i = 0;

	while (i < n) {
		if (is_mark(w[i])) {
			if (i + MARK_WORDS >= n)
				return;
			s.number = w[i + 1];
			s.space = w[i + 2] & SPACE_MASK;
			s.thread = w[i + 3];
			i += 1 + MARK_WORDS;
			continue;
		}
		s.ip = w + i;
		while (i < n && !is_mark(w[i]))
			i++;
		s.n = (size_t)(w + i - s.ip);
		if (s.number)
			add_slice(all, &s);
	}
}

static int by_number(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static struct machine_thread *thread_of(struct machine_log *m, const struct slice *s)
{
	struct machine_thread *t;
	size_t i;

	for (i = 0; i < m->nthreads; i++) {
		t = &m->threads[i];
		if (t->space == s->space && t->thread == s->thread)
			return t;
	}
	t = realloc(m->threads, (m->nthreads + 1) * sizeof(*t));
	if (!t)
		abort();
	m->threads = t;
	t += m->nthreads++;
	*t = (struct machine_thread){.space = s->space, .thread = s->thread};
	return t;
}

/* The slice's user addresses, to its thread. */
static void deal(struct machine_log *m, const struct slice *s)
{
	struct machine_thread *t = NULL;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->ip[i] >> 63)
			continue;
		if (!t)
			t = thread_of(m, s);
		if (t->n == t->room) {
			t->room = 2 * t->room + 4096;
			t->ip = realloc(t->ip, t->room * sizeof(*t->ip));
			if (!t->ip)
				abort();
		}
		t->ip[t->n++] = s->ip[i];
	}
}

struct machine_log *machine_log_open(const char *dir)
{
	struct machine_log *m = calloc(1, sizeof(*m));
	struct slices all = {0};
	uint64_t *words[MAX_CPUS];
	char path[4200];
	size_t i, n;
	int cpus;

	for (cpus = 0; cpus < MAX_CPUS; cpus++) {
		snprintf(path, sizeof(path), "%s/log.cpu%d", dir, cpus);
		/* One that was never traced has none. */
		words[cpus] = access(path, F_OK) ? NULL : read_words(path, &n);
		if (words[cpus])
			cut(words[cpus], n, &all);
	}
	qsort(all.v, all.n, sizeof(*all.v), by_number);
	for (i = 0; m && i < all.n; i++)
		deal(m, &all.v[i]);
	free(all.v);
	while (cpus)
		free(words[--cpus]);
	return m;
}

void machine_log_cut(struct machine_log *m, bool (*wanted)(const void *ctx, uint64_t ip),
		     const void *ctx)
{
	size_t i, k, n, kept = 0;

	for (i = 0; i < m->nthreads; i++) {
		struct machine_thread t = m->threads[i];

		for (n = k = 0; k < t.n; k++)
			if (wanted(ctx, t.ip[k]))
				t.ip[n++] = t.ip[k];
		t.n = n;
		if (n)
			m->threads[kept++] = t;
		else
			free(t.ip);
	}
	m->nthreads = kept;
}

void machine_log_close(struct machine_log *m)
{
	size_t i;

	for (i = 0; i < m->nthreads; i++)
		free(m->threads[i].ip);
	free(m->threads);
	free(m);
}
