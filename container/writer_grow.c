/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The piece of trace at the end of the file, which grows there.
 *
 * Pieces of some technologies are to be large (pdw_tech.piece), and yet a flush is to put
 * what waits for one into the file.  So the piece is there from the first flush on, each
 * further one adds bytes, and its two records are written anew.  What is to come before
 * it, all other records, goes into a room that is left in front of it: a record of a
 * type that readers skip.  At no moment is there half of anything: what a reader would
 * see changes with eight bytes, written last, or by a size beyond the end of the data.
 */
#include <errno.h>
#include <string.h>
#include "writer.h"

/*
 * For records; full, the piece is left as it is.  A program that starts much goes on so:
 * many times the bytes that there were before.
 */
#define ROOM_LEAST (128u << 10)
#define ROOM_MOST  (1u << 20)
#define ROOM_TIMES 16
#define HEADER_SIZE sizeof(struct perf_event_header)

static uint64_t data_end(const struct perfdata_writer *w)
{
	return w->data_offset + w->data_size;
}

/*
 * Skipped records from there on, so many bytes of them, the last one first: with each,
 * those that were there before lead to the same end.
 */
static int put_fillers(struct perfdata_writer *w, uint64_t at, uint64_t size)
{
	struct perf_event_header h = { .type = PERF_USER_EVENT_TYPE };
	uint64_t n;

	while (size && !w->error) {
		n = (size - 1) % PERF_RECORD_SIZE_MAX + 1;
		size -= n;
		h.size = (uint16_t)n;
		w->error = pdw_pwrite(w->fd, &h, sizeof(h), at + size);
	}
	return w->error;
}

bool pdw_grows(const struct perfdata_writer *w, const struct pdw_stream *s)
{
	return w->grown.open && w->grown.stream == (size_t)(s - w->streams);
}

void pdw_leave_grown(struct perfdata_writer *w)
{
	if (w->grown.open)
		w->streams[w->grown.stream].truncated = false;
	w->grown.open = false;
}

bool pdw_room_for(const struct perfdata_writer *w, size_t n)
{
	/* Trace has told where it will stand: behind all that is there. */
	return w->grown.open && !w->unwritten &&
	       (n == w->grown.room || n + HEADER_SIZE <= w->grown.room);
}

/* Bytes of whole records from there on, no more than the first skipped one may have. */
static size_t some_records(const struct perfdata_writer *w, size_t from)
{
	struct perf_event_header h;
	size_t n = 0;

	while (from + n < w->used) {
		memcpy(&h, w->buf + from + n, sizeof(h));
		if (n + h.size > PERF_RECORD_SIZE_MAX)
			break;
		n += h.size;
	}
	return n;
}

int pdw_fill_room(struct perfdata_writer *w)
{
	struct pdw_grown *g = &w->grown;
	size_t from, n;
	uint64_t at;

	for (from = 0; from < w->used && !w->error; from += n) {
		n = some_records(w, from);
		at = g->at - g->room;
		g->room -= n;
		w->error = pdw_pwrite(w->fd, w->buf + from + HEADER_SIZE, n - HEADER_SIZE,
				      at + HEADER_SIZE);
		/* The header of the first skipped record: with it all are there. */
		if (!w->error && !put_fillers(w, at + n, g->room))
			w->error = pdw_pwrite(w->fd, w->buf + from, HEADER_SIZE, at);
	}
	w->used = 0;
	return w->error;
}

/* The stream whose bytes wait; NULL: none. */
static struct pdw_stream *waiting(const struct perfdata_writer *w)
{
	size_t i;

	if (w->grown.open)
		return w->streams + w->grown.stream;
	for (i = 0; i < w->nstreams; i++)
		if (w->streams[i].nkept >= w->tech->align)
			return w->streams + i;
	return NULL;
}

static uint64_t room_before(const struct perfdata_writer *w)
{
	uint64_t n = w->data_size * ROOM_TIMES;

	return n < ROOM_LEAST ? ROOM_LEAST : n < ROOM_MOST ? n : ROOM_MOST;
}

/* Behind what is in the file, which does not say so yet. */
static int open_piece(struct perfdata_writer *w, const struct pdw_stream *s)
{
	uint64_t room = room_before(w);

	w->grown = (struct pdw_grown){ .open = true,
				       .stream = (size_t)(s - w->streams),
				       .at = data_end(w) + room,
				       .room = room };
	return put_fillers(w, data_end(w), room);
}

/* The first n bytes kept of the stream, and what ends a piece; nothing to see of it yet. */
static int put_bytes(struct perfdata_writer *w, const struct pdw_stream *s, size_t n,
		     uint64_t at, const void *end, size_t nend)
{
	w->error = pdw_pwrite(w->fd, s->kept, n, at);
	if (!w->error)
		w->error = pdw_pwrite(w->fd, end, nend, at + n);
	return w->error;
}

/* Both records of the piece, of w->buf; the AUX record, which perf goes by, is second. */
static int put_records(struct perfdata_writer *w, size_t n)
{
	const size_t size = sizeof(struct perf_auxtrace);
	uint64_t at = w->grown.at;

	w->error = pdw_pwrite(w->fd, w->buf + n - size, size, at + n - size);
	if (!w->error)
		w->error = pdw_pwrite(w->fd, w->buf, n - size, at);
	return w->error;
}

/* The piece has n more bytes, those of the stream that were kept first. */
static int grow(struct perfdata_writer *w, struct pdw_stream *s, size_t n)
{
	struct pdw_grown *g = &w->grown;
	bool opened = !g->open;
	uint64_t size = (opened ? 0 : g->size) + n, start;
	uint32_t padding;
	const uint8_t *end = pdw_padding(w, size, &padding);
	size_t records;

	w->nomem = false;
	pdw_put_aux(w, s, s->next - s->nkept - (size - n), size, padding);
	records = w->used;
	w->used = 0;
	if (opened && !w->nomem)
		pdw_note_trace(w, data_end(w) + room_before(w) + records -
					  sizeof(struct perf_auxtrace));
	if (w->nomem)
		return -ENOMEM;
	if (opened && open_piece(w, s))
		return w->error;
	start = g->at + records;
	if (put_bytes(w, s, n, start + g->size, end, padding) || put_records(w, records))
		return w->error;
	g->size = size;
	w->unwritten += n;
	s->nkept -= n;
	memmove(s->kept, s->kept + n, s->nkept);
	return pdw_advance(w, start + size + padding - data_end(w));
}

int pdw_grow(struct perfdata_writer *w)
{
	struct pdw_stream *s = w->tech->piece ? waiting(w) : NULL;
	size_t n;
	int err;

	if (!s)
		return 0;
	n = (size_t)(s->next % w->tech->align);
	n = s->nkept > n ? s->nkept - n : 0;
	err = n ? grow(w, s, n) : 0;
	/* Then it waits on: what the flush is of was written. */
	if (err == -ENOMEM)
		return 0;
	if (!err && w->grown.size >= pdw_piece(w))
		pdw_leave_grown(w);
	return err;
}
