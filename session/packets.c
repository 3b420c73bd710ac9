/* SPDX-License-Identifier: BSD-2-Clause */
#include "packets.h"
#include "packets_spe.h"
#include "decode/pt/pt_packet.h"
#include "session_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SYNC_KEEP	(PT_PSB_LENGTH - 1)	/* may be the start of a PSB */

/* Bytes not yet given out: what was left of one chunk, then the next. */
struct window {
	uint8_t		*bytes;
	size_t		n, room;
	uint64_t	position;	/* of bytes[0] */
	bool		synced;		/* bytes[0] begins a packet */
	uint64_t	bad_from;	/* not synced: first byte that was skipped */
	struct pt_packet_state state;
	int (*fn)(void *ctx, const struct hwt_packet *packet);
	void		*ctx;
};

static int add_chunk(struct window *w, const uint8_t *bytes, size_t n)
{
	uint8_t *room;

	if (w->n + n > w->room) {
		room = realloc(w->bytes, w->n + n);
		if (!room)
			return -ENOMEM;
		w->bytes = room;
		w->room = w->n + n;
	}
	memcpy(w->bytes + w->n, bytes, n);
	w->n += n;
	return 0;
}

static void drop(struct window *w, size_t n)
{
	if (n == 0)
		return;
	memmove(w->bytes, w->bytes + n, w->n - n);
	w->n -= n;
	w->position += n;
}

static int say(struct window *w, enum hwt_packet_kind kind, uint64_t position,
	       uint64_t length)
{
	struct hwt_packet packet = { .kind = kind, .position = position, .length = length };

	return length ? w->fn(w->ctx, &packet) : 0;
}

/* Skips to the next sync point, as far as the window goes. */
static int resync(struct window *w)
{
	size_t at = pt_packet_find_psb(w->bytes, w->n);
	int err;

	if (at == w->n) {
		drop(w, w->n > SYNC_KEEP ? w->n - SYNC_KEEP : 0);
		return 0;
	}
	err = say(w, HWT_PACKET_BAD, w->bad_from, w->position + at - w->bad_from);
	drop(w, at);
	memset(&w->state, 0, sizeof(w->state));
	w->synced = true;
	return err;
}

static void lose_sync(struct window *w)
{
	w->synced = false;
	w->bad_from = w->position;
}

static int give_packets(struct window *w)
{
	struct hwt_packet packet = { .kind = HWT_PACKET };
	struct pt_packet pt;
	char text[256];
	size_t at = 0;
	int n = 0, err = 0;

	while (!err && at < w->n) {
		n = pt_packet_decode(w->bytes + at, w->n - at, &w->state, &pt);
		if (n <= 0)
			break;
		pt_packet_format(&pt, text, sizeof(text));
		packet.position = w->position + at;
		packet.length = (uint64_t)n;
		packet.name = pt_packet_name(pt.type);
		packet.text = text;
		packet.bytes = w->bytes + at;
		err = w->fn(w->ctx, &packet);
		at += (size_t)n;
	}
	drop(w, at);
	if (!err && n < 0)
		lose_sync(w);
	return err;
}

static int consume(struct window *w)
{
	int err = 0;
	size_t before;

	/* Each turn drops bytes or changes the state; else more are needed. */
	do {
		before = w->n;
		if (!w->synced)
			err = resync(w);
		if (!err && w->synced)
			err = give_packets(w);
	} while (!err && w->n < before && w->n > 0);
	return err;
}

/* What is left makes no packet: the stream ends, or bytes are missing behind it. */
static int give_rest(struct window *w)
{
	int err = w->synced ? say(w, HWT_PACKET_CUT, w->position, w->n) :
		  say(w, HWT_PACKET_BAD, w->bad_from, w->position + w->n - w->bad_from);

	drop(w, w->n);
	return err;
}

static int begin_piece(struct window *w, uint64_t position, uint64_t lost)
{
	int err = give_rest(w);

	if (!err)
		err = say(w, HWT_PACKET_LOST, position - lost, lost);
	w->position = position;
	lose_sync(w);
	return err;
}

int pt_stream_packets(struct hwt_stream *st,
		      int (*fn)(void *ctx, const struct hwt_packet *packet), void *ctx)
{
	struct window w = { .fn = fn, .ctx = ctx };
	uint64_t position = 0, lost;
	const uint8_t *bytes;
	bool first = true;
	size_t n;
	int err;

	while ((err = hwt_stream_chunk(st, &bytes, &n, &position, &lost)) > 0) {
		err = first || lost ? begin_piece(&w, position, lost) : 0;
		first = false;
		if (!err)
			err = add_chunk(&w, bytes, n);
		if (!err)
			err = consume(&w);
		if (err)
			break;
	}
	if (!err)
		err = give_rest(&w);
	free(w.bytes);
	return err;
}

int hwt_stream_packets(struct hwt_session *s, struct hwt_stream *st,
		       int (*fn)(void *ctx, const struct hwt_packet *packet), void *ctx)
{
	if (s->samples)
		return spe_packets(st, fn, ctx);
	return s->flow ? s->flow->packets(st, fn, ctx) : -EOPNOTSUPP;
}

size_t hwt_pt_whole_packets(const uint8_t *bytes, size_t n)
{
	return pt_packet_whole(bytes, n);
}
