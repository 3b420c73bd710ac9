// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recordings of which only time tells which code stood where: those made elsewhere,
 * the kernel's code, and processes that a kernel ran.  The stream is cut at its TSC
 * packets (in every PSB+, and where tracing is enabled).  A stretch between two of
 * them is decoded with what was mapped at its beginning; where nothing was, with what
 * is mapped by its end, for new code goes to empty places far more often than it
 * replaces other code.  A CPU's process is the one that it ran at the stretch's
 * beginning.  So a process switch or a replaced mapping inside a stretch takes effect
 * at its end; what ran in between may decode with errors, never unsaid.
 */
#include <string.h>
#include "session_priv.h"

#define TSC_MASK ((1ull << 56) - 1) /* of the packet's payload (33.4.2.11) */

static bool clock_fill(struct hwt_stream *st, uint8_t *buf, size_t size, size_t *n)
{
	struct stream_clock *c = &st->clock;
	const struct stream_chunk *ch;
	ssize_t got;

	while (c->chunk < st->nchunks &&
	       c->position >= st->chunks[c->chunk].position + st->chunks[c->chunk].size)
		c->chunk++;
	if (c->chunk == st->nchunks)
		return false;
	ch = &st->chunks[c->chunk];
	if (c->position < ch->position) {
		c->position = ch->position;
		c->synced = false;
	}
	*n = size;
	if (ch->position + ch->size - c->position < size)
		*n = (size_t)(ch->position + ch->size - c->position);
	got = session_read(st->session, ch->data_offset + (c->position - ch->position),
			   buf, *n);
	*n = got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* Looks through buf; true: a TSC packet, c->cut and c->tsc are set. */
static bool clock_scan(struct stream_clock *c, const uint8_t *buf, size_t n, bool last)
{
	struct pt_packet pkt;
	size_t at = 0, skip;
	int len;

	while (at < n) {
		if (!c->synced) {
			skip = pt_packet_find_psb(buf + at, n - at);
			if (skip == n - at) {
				/* A PSB may begin in the last bytes. */
				at = last || n < 16 ? n : n - 15;
				break;
			}
			at += skip;
			c->synced = true;
			memset(&c->state, 0, sizeof(c->state));
		}
		len = pt_packet_decode(buf + at, n - at, &c->state, &pkt);
		if (len < 0) {
			c->synced = false;
			at++;
			continue;
		}
		if (!len) {
			if (last) {
				c->synced = false;
				at = n;
			}
			break;
		}
		if (pkt.type == PT_TSC) {
			c->cut = c->position + at;
			c->tsc = pkt.payload & TSC_MASK;
			c->position += at + (size_t)len;
			return true;
		}
		at += (size_t)len;
	}
	c->position += at;
	return false;
}

static void next_tsc(struct hwt_stream *st)
{
	struct stream_clock *c = &st->clock;
	uint8_t buf[16384];
	uint64_t before;
	size_t n;

	while (clock_fill(st, buf, sizeof(buf), &n)) {
		before = c->position;
		if (clock_scan(c, buf, n, n < sizeof(buf)))
			return;
		if (c->position == before)
			c->position += n;
	}
	c->ended = true;
	c->cut = UINT64_MAX;
	c->tsc = UINT64_MAX;
}

struct image_space *bytime_cpu(struct hwt_stream *st, uint64_t time)
{
	while (st->next_cpu < st->ncpus && st->cpus[st->next_cpu].time <= time)
		st->next_cpu++;
	if (st->next_cpu)
		return st->cpus[st->next_cpu - 1].process->space;
	return st->ncpus ? st->cpus[0].process->space : st->session->kernel;
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
		c->begin = c->tsc;
		/* Nothing changes any more: no need to look at packets. */
		if (c->begin >= changes) {
			c->ended = true;
			c->cut = c->tsc = UINT64_MAX;
		} else {
			next_tsc(st);
		}
	}
	*begin = (struct image_moment){0, c->begin};
	*end = (struct image_moment){0, c->tsc};
	return c->cut;
}
