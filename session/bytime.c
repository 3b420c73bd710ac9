// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recordings of which only time tells which code stood where: those made elsewhere,
 * the kernel's code, and processes that a kernel ran.  The stream is cut at its TSC
 * packets (in every PSB+, and where tracing is enabled).  A stretch between two of
 * them is decoded with what was mapped at its beginning; where nothing was, with what
 * is mapped by its end, for new code goes to empty places far more often than it
 * replaces other code.  A CPU's process is the one that it ran at the stretch's
 * beginning.  So a process switch or a replaced mapping inside a stretch takes effect
 * at its end; what ran in between may decode with errors.  A patched instruction may
 * even make another flow without one: when within the stretch it came nobody knows, nor
 * whether the CPU still was in the kernel by then.
 */
#include "session_priv.h"

#define SCAN_BYTES 16384

/*
 * Up to n bytes from c->position on, over as many chunks as follow each other: how
 * many.  *last: a hole or the end is behind them.
 */
static size_t clock_fill(struct hwt_stream *st, uint8_t *buf, size_t n, bool *last)
{
	struct stream_clock *c = &st->clock;
	const struct stream_chunk *ch;
	uint64_t at;
	size_t i, done = 0, part;
	ssize_t got;

	while (c->chunk < st->nchunks &&
	       c->position >= stream_chunk_end(st, &st->chunks[c->chunk]))
		c->chunk++;
	*last = true;
	if (c->chunk == st->nchunks)
		return 0;
	if (c->position < st->chunks[c->chunk].position)
		c->position = st->chunks[c->chunk].position;
	for (i = c->chunk; i < st->nchunks && done < n; i++) {
		ch = &st->chunks[i];
		at = c->position + done;
		if (ch->position != at && done)
			return done;
		part = stream_chunk_end(st, ch) - at < n - done
			       ? (size_t)(stream_chunk_end(st, ch) - at)
			       : n - done;
		got = stream_read(st, ch->data_offset + (at - ch->position), buf + done,
				  part);
		if (got > 0)
			done += (size_t)got;
		if (got < (ssize_t)part)
			return done;
	}
	*last = done < n;
	return done;
}

/* Moves c->cut and c->ticks to the next time in the stream. */
static void next_time(struct hwt_stream *st)
{
	const struct flow_ops *flow = st->session->flow;
	struct stream_clock *c = &st->clock;
	uint8_t buf[SCAN_BYTES];
	size_t n, used;
	bool last, found;

	if (!c->reader && flow->times_new)
		c->reader = flow->times_new(st);
	while (c->reader && (n = clock_fill(st, buf, sizeof(buf), &last))) {
		found = flow->times_scan(c->reader, c->position, buf, n, last, &used,
					 &c->cut, &c->ticks);
		/* It waits for nothing that long. */
		c->position += found || used ? used : n;
		if (found)
			return;
	}
	c->ended = true;
	c->cut = UINT64_MAX;
	c->ticks = UINT64_MAX;
}

void bytime_free(struct hwt_stream *st)
{
	if (st->clock.reader)
		st->session->flow->times_free(st->clock.reader);
	st->clock = (struct stream_clock){};
}

struct session_process *bytime_cpu_process(struct hwt_stream *st, uint64_t time)
{
	while (st->next_cpu < st->ncpus && st->cpus[st->next_cpu].time <= time)
		st->next_cpu++;
	/* A sample may be older than the one before it. */
	while (st->next_cpu && st->cpus[st->next_cpu - 1].time > time)
		st->next_cpu--;
	return st->ncpus ? st->cpus[st->next_cpu ? st->next_cpu - 1 : 0].process : NULL;
}

struct image_space *bytime_cpu(struct hwt_stream *st, uint64_t time)
{
	struct session_process *p = bytime_cpu_process(st, time);

	return p ? p->space : st->session->kernel;
}

uint64_t bytime_cpu_changes(const struct hwt_stream *st)
{
	return st->ncpus ? UINT64_MAX : st->session->kernel_change;
}

uint64_t bytime_cut(struct hwt_stream *st, uint64_t changes, struct image_moment *begin,
		    struct image_moment *end)
{
	struct stream_clock *c = &st->clock;

	/* Samples carry times, not the stream: names are those of the end. */
	if (st->session->samples) {
		*begin = *end = (struct image_moment){0, UINT64_MAX};
		return UINT64_MAX;
	}
	while (c->cut <= st->position && !c->ended) {
		c->begin = c->ticks;
		/* Nothing changes any more: no need to look at packets. */
		if (c->begin >= changes) {
			c->ended = true;
			c->cut = c->ticks = UINT64_MAX;
		} else {
			next_time(st);
		}
	}
	*begin = (struct image_moment){0, c->begin};
	*end = (struct image_moment){0, c->ticks};
	return c->cut;
}
