// SPDX-License-Identifier: BSD-2-Clause
/* Addresses of our own decoder: runs spelled out. */
#include "source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH	256

struct ours {
	struct source		s;
	struct hwt_stream	*st;
	struct trace_event	ev[BATCH];
	int			n, i;
	uint32_t		done;	/* instructions of ev[i] given out */
	uint64_t		ip;
};

static uint32_t first_insn(const struct trace_event *e)
{
	uint64_t ip = e->block->ip;
	uint32_t i = 0;

	while (ip != e->ip && i < e->block->ninsn)
		ip += e->block->len[i++];
	return i;
}

static size_t spell(struct ours *o, const struct trace_event *e, uint64_t *ip, size_t n)
{
	uint32_t first = first_insn(e);
	size_t k = 0;

	if (!o->done)
		o->ip = e->ip;
	while (k < n && o->done < e->ninsn) {
		ip[k++] = o->ip;
		o->ip += e->block->len[first + o->done++];
	}
	return k;
}

static void note(struct ours *o, const struct trace_event *e)
{
	if (e->type == TRACE_ERROR) {
		o->s.errors++;
		fprintf(stderr, "ours: offset %#" PRIx64 " ip %#" PRIx64 ": %s\n", e->offset,
			e->ip, trace_gap_text(e->error));
	} else if (e->type == TRACE_GAP) {
		o->s.gaps++;
		fprintf(stderr, "ours: gap at offset %#" PRIx64 " ip %#" PRIx64 ": %s\n",
			e->offset, e->ip, trace_gap_text(e->error));
	}
}

static long ours_next(struct source *s, uint64_t *ip, size_t n)
{
	struct ours *o = (struct ours *)s;
	const struct trace_event *e;
	size_t k = 0;

	while (k < n) {
		if (o->i == o->n) {
			o->n = hwt_stream_next(o->st, o->ev, BATCH);
			o->i = 0;
			if (o->n < 0) {
				fprintf(stderr, "ours: error %d\n", o->n);
				return -1;
			}
			if (!o->n)
				break;
		}
		e = &o->ev[o->i];
		if (e->type == TRACE_RUN)
			k += spell(o, e, ip + k, n - k);
		else
			note(o, e);
		if (e->type != TRACE_RUN || o->done == e->ninsn) {
			o->i++;
			o->done = 0;
		}
	}
	return (long)k;
}

static void ours_close(struct source *s)
{
	hwt_stream_close(((struct ours *)s)->st);
	free(s);
}

struct source *source_ours(struct hwt_stream *st)
{
	struct ours *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->s.name = "hwt";
	o->s.next = ours_next;
	o->s.close = ours_close;
	o->st = st;
	hwt_stream_rewind(st);
	return &o->s;
}
