// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pulling a stream: bytes go to the decoder only up to the next position at
 * which the code changes; when the decoder has nothing more to say, the view
 * moves, changed blocks are dropped, and it goes on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session_priv.h"

#define DUMP_CHUNK (256u << 10)
#define WHOLE_MAX  256	/* events decoded at once, to be cut to a filter */

static size_t stream_code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	struct hwt_stream *st = ctx;

	return st->view ? image_view_code(st->view, ip, buf, len) : 0;
}

/* At the first byte, with whatever decoder. 0, -ENOMEM. */
int stream_start(struct hwt_stream *st)
{
	if (!st->buffer) {
		st->buffer_size = st->session->feed_max;
		st->buffer = malloc(st->buffer_size);
	}
	if (!st->buffer)
		return -ENOMEM;
	st->position = st->begin;
	st->done = 0;
	st->chunk = st->next_switch = st->next_cpu = 0;
	st->finished = false;
	st->programs = 0;
	bytime_free(st);
	return 0;
}

static int begin(struct hwt_stream *st)
{
	st->nwhole = st->whole_at = 0;
	st->cut = (struct filter_cut){};
	if (st->session->shown.n && !st->whole) {
		st->whole = calloc(WHOLE_MAX, sizeof(*st->whole));
		if (!st->whole)
			return -ENOMEM;
	}
	st->decoder = st->session->flow->new(st, stream_code, st);
	return st->decoder ? stream_start(st) : -ENOMEM;
}

void hwt_stream_close(struct hwt_stream *st)
{
	if (st->decoder)
		st->session->flow->free(st->decoder);
	bytime_free(st);
	spe_decoder_free(st->samples);
	st->samples = NULL;
	image_view_free(st->view);
	image_view_free(st->ahead);
	free(st->buffer);
	free(st->whole);
	free(st->shown.range);
	st->shown = (struct filter_ranges){};
	st->whole = NULL;
	st->decoder = NULL;
	st->view = NULL;
	st->ahead = NULL;
	st->space = NULL;
	st->buffer = NULL;
	free(st->dump_buffer);
	st->dump_buffer = NULL;
}

int hwt_stream_rewind(struct hwt_stream *st)
{
	hwt_stream_close(st);
	st->dump_chunk = 0;
	st->dump_position = st->begin;
	return st->session->samples ? 0 : begin(st);
}

/* Of blocks that a decoder remembers; samples are remembered by nobody. */
static void drop_blocks(void *stream, uint64_t addr, uint64_t len)
{
	struct hwt_stream *st = stream;

	if (st->decoder)
		st->session->flow->invalidate(st->decoder, addr, len);
}

int stream_move(struct hwt_stream *st, struct image_space *space,
		struct image_moment at)
{
	struct image_view *view;

	if (space == st->space) {
		if (!space ||
		    (at.generation == st->at.generation && at.time == st->at.time))
			return 0;
		image_space_changes(space, st->at, at, drop_blocks, st);
		st->at = at;
		image_view_set(st->view, at);
		return 1;
	}
	st->programs++;
	view = space ? image_view_new(space) : NULL;
	if (space && !view)
		return -ENOMEM;
	image_view_free(st->view);
	st->view = view;
	st->space = space;
	st->at = at;
	if (view)
		image_view_set(view, at);
	drop_blocks(st, 0, UINT64_MAX);
	return 1;
}

static void place(struct hwt_stream *st, const struct filter *f, struct filter_ranges *out)
{
	out->n = 0;
	if (st->view)
		filter_place(f, st->view, out);
	if (st->ahead)
		filter_place(f, st->ahead, out);
}

/* Where the session's filters are, after the views have moved. 0, -ENOMEM. */
static int place_filters(struct hwt_stream *st)
{
	struct filter_ranges traced = {};

	if (!st->decoder || (!st->session->traced.n && !st->session->shown.n))
		return 0;
	place(st, &st->session->shown, &st->shown);
	place(st, &st->session->traced, &traced);
	if (st->session->flow->set_ranges)
		st->session->flow->set_ranges(st->decoder, traced.range, traced.n);
	free(traced.range);
	return traced.failed || st->shown.failed ? -ENOMEM : 0;
}

/* What is mapped by the stretch's end, where nothing is at its beginning. */
static int look_ahead(struct hwt_stream *st, const struct image_space *before,
		      struct image_moment end)
{
	if (st->space != before) {
		image_view_free(st->ahead);
		st->ahead = st->space ? image_view_new(st->space) : NULL;
		if (st->space && !st->ahead)
			return -ENOMEM;
	}
	if (!st->ahead)
		return place_filters(st);
	image_view_set(st->ahead, end);
	image_view_fall_back(st->view, st->ahead);
	return place_filters(st);
}

/* By time: a CPU's code, or that of a process in a recording made elsewhere. */
static int follow_time(struct hwt_stream *st, uint64_t *limit)
{
	const struct image_space *before = st->space;
	struct session_process *p = st->process;
	bool cpu = st->info.cpu >= 0;
	struct image_moment begin, end;
	struct image_space *space;
	int ret;

	*limit = bytime_cut(st, cpu ? bytime_cpu_changes(st) : p ? p->last_change : 0,
			    &begin, &end);
	space = cpu ? bytime_cpu(st, begin.time) : p ? p->space : NULL;
	ret = stream_move(st, space, begin);
	return ret < 0 ? ret : look_ahead(st, before, end);
}

/* The last switch of the thread's own at st->position; *limit: the next one. */
static void own_switches(struct hwt_stream *st, struct image_space **space,
			 struct image_moment *at, uint64_t *limit)
{
	while (st->next_switch < st->nswitches &&
	       st->switches[st->next_switch].is.position <= st->position) {
		*space = st->switches[st->next_switch].is.space;
		*at = st->switches[st->next_switch].is.at;
		st->next_switch++;
	}
	*limit = st->next_switch < st->nswitches
			 ? st->switches[st->next_switch].is.position
			 : UINT64_MAX;
}

/*
 * A thread on a kernel: where its own changes are in its stream is known, and when
 * the others' were.
 */
static int follow_both(struct hwt_stream *st, uint64_t *limit)
{
	const struct image_space *before = st->space;
	struct image_space *space = st->space;
	struct image_moment at = st->at, begin, end;
	uint64_t cut;
	int ret;

	own_switches(st, &space, &at, limit);
	cut = bytime_cut(st, st->process ? st->process->last_change : 0, &begin, &end);
	if (cut < *limit)
		*limit = cut;
	ret = stream_move(st, space, begin.time > at.time ? begin : at);
	return ret < 0 ? ret : look_ahead(st, before, end);
}

bool stream_by_sample(const struct hwt_stream *st)
{
	return st->session->samples && st->session->file &&
	       (st->info.cpu >= 0 || !st->session->info.ours);
}

/* Moves the view to what holds at st->position; *limit: up to where. */
static int follow_image(struct hwt_stream *st, uint64_t *limit)
{
	struct image_space *space = st->space;
	struct image_moment at = st->at;
	int ret;

	if (stream_by_sample(st)) {
		*limit = UINT64_MAX;
		return 0;
	}
	if (st->session->file && (st->info.cpu >= 0 || !st->session->info.ours))
		return follow_time(st, limit);
	if (st->session->by_time)
		return follow_both(st, limit);
	own_switches(st, &space, &at, limit);
	ret = stream_move(st, space, at);
	return ret > 0 ? place_filters(st) : ret;
}

uint64_t stream_chunk_end(const struct hwt_stream *st, const struct stream_chunk *c)
{
	uint64_t end = c->position + c->size;

	return st->sink && st->end && st->end < end ? st->end : end;
}

ssize_t stream_bytes(struct hwt_stream *st, uint64_t *lost)
{
	const struct stream_chunk *c;
	uint64_t limit, n;
	ssize_t got;
	int ret;

	*lost = 0;
	while (st->chunk < st->nchunks &&
	       st->position >= stream_chunk_end(st, &st->chunks[st->chunk]))
		st->chunk++;
	if (st->chunk == st->nchunks)
		return 0;
	c = &st->chunks[st->chunk];
	if (st->position < c->position) {
		*lost = c->position - st->position;
		st->position = c->position;
		return 0;
	}
	ret = follow_image(st, &limit);
	if (ret)
		return ret;
	n = stream_chunk_end(st, c) - st->position;
	if (n > limit - st->position)
		n = limit - st->position;
	if (n > st->buffer_size)
		n = st->buffer_size;
	got = stream_read(st, c->data_offset + (st->position - c->position),
			   st->buffer, (size_t)n);
	if (got < 0)
		return got;
	if (!got) {
		/* The file is shorter than its records say. */
		*lost = stream_chunk_end(st, c) - st->position;
		st->position = stream_chunk_end(st, c);
		return 0;
	}
	st->position += (uint64_t)got;
	st->done += (uint64_t)got;
	return got;
}

/* Gives the decoder its next bytes: 1, 0 at the stream's end, -errno. */
static int feed(struct hwt_stream *st)
{
	uint64_t lost;
	ssize_t got = stream_bytes(st, &lost);
	int ret;

	if (got < 0)
		return (int)got;
	if (lost)
		st->session->flow->lost(st->decoder, lost);
	if (!got)
		return lost != 0;
	ret = st->session->flow->feed(st->decoder, st->buffer, (size_t)got);
	return ret ? ret : 1;
}

static int decode(struct hwt_stream *st, struct trace_event *ev, int max)
{
	int n;

	for (;;) {
		n = st->session->flow->next(st->decoder, ev, max);
		if (n || st->finished)
			return n;
		n = feed(st);
		if (n < 0)
			return n;
		if (!n) {
			st->session->flow->finish(st->decoder);
			st->finished = true;
		}
	}
}

/* Decodes no further than what it had was used up: the view stays what it was. */
static int decode_shown(struct hwt_stream *st, struct trace_event *ev, int max)
{
	int n = 0;

	while (!n) {
		if (st->whole_at == st->nwhole) {
			st->whole_at = 0;
			st->nwhole = decode(st, st->whole, WHOLE_MAX);
			if (st->nwhole <= 0) {
				n = st->nwhole;
				st->nwhole = 0;
				return n;
			}
		}
		st->whole_at += filter_cut(&st->cut, &st->shown, st->whole + st->whole_at,
					   st->nwhole - st->whole_at, ev, max, &n);
	}
	return n;
}

int hwt_stream_next(struct hwt_stream *st, struct trace_event *ev, int max)
{
	int ret;

	if (st->session->samples)
		return -EOPNOTSUPP;
	if (!st->decoder) {
		ret = begin(st);
		if (ret)
			return ret;
	}
	return st->whole ? decode_shown(st, ev, max) : decode(st, ev, max);
}

const struct hwt_stream_info *hwt_stream_info(const struct hwt_stream *st)
{
	return &st->info;
}

struct image_view *hwt_stream_view(struct hwt_stream *st)
{
	/* Code that nothing is known of has names too: "?". */
	if (!st->view)
		st->view = image_view_new(st->session->nowhere);
	return st->view;
}

uint32_t hwt_stream_nblocks(const struct hwt_stream *st)
{
	return st->decoder ? st->session->flow->nblocks(st->decoder) : 0;
}

uint32_t hwt_stream_programs(const struct hwt_stream *st)
{
	return st->programs;
}

uint64_t hwt_stream_position(const struct hwt_stream *st)
{
	return st->done;
}

uint64_t hwt_stream_own_bytes(const struct hwt_stream *st)
{
	if (!st->info.trace_id)
		return st->info.bytes;
	return st->decoder ? st->session->flow->taken(st->decoder) : 0;
}

int hwt_stream_chunk(struct hwt_stream *st, const uint8_t **bytes, size_t *n,
		     uint64_t *position, uint64_t *lost_before)
{
	const struct stream_chunk *c;
	uint64_t at, want;
	ssize_t got;

	if (!st->dump_buffer) {
		st->dump_buffer = malloc(DUMP_CHUNK);
		if (!st->dump_buffer)
			return -ENOMEM;
	}
	for (;;) {
		if (st->dump_chunk == st->nchunks)
			return 0;
		c = &st->chunks[st->dump_chunk];
		at = st->dump_position > c->position ? st->dump_position : c->position;
		if (at >= stream_chunk_end(st, c)) {
			st->dump_chunk++;
			continue;
		}
		*lost_before = at - st->dump_position;
		want = stream_chunk_end(st, c) - at;
		got = stream_read(st, c->data_offset + (at - c->position),
				   st->dump_buffer,
				   want < DUMP_CHUNK ? want : DUMP_CHUNK);
		if (got < 0)
			return (int)got;
		if (!got) {
			st->dump_chunk++;
			continue;
		}
		*bytes = st->dump_buffer;
		*n = (size_t)got;
		*position = at;
		st->dump_position = at + (uint64_t)got;
		return 1;
	}
}

int hwt_stream_code_switch(const struct hwt_stream *st, size_t index,
			   struct hwt_code_switch *out)
{
	/* A CPU of ours runs the kernel's code, from the beginning. */
	if (st->info.cpu >= 0 && st->session->kernel && !index) {
		*out = (struct hwt_code_switch){.space = st->session->kernel};
		return 1;
	}
	if (index >= st->nswitches)
		return 0;
	*out = st->switches[index].is;
	return 1;
}
