/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drafts: trace in the file that waits for its piece.
 *
 * Pieces of some technologies are to be large (pdw_tech.piece), and yet what a flush
 * found is to be there when the writer is killed.  So each flush writes what came since
 * the last one as a piece of its own, a draft; the bytes are kept on.  When the real
 * piece is in the file its drafts become records that readers skip.  For a moment bytes
 * are there twice, and never not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "writer.h"

#define HOLE_LEAST	(16u << 10)	/* bytes of which the disk is worth a call */

static int note(struct pdw_stream *s, uint64_t at, uint64_t size)
{
	size_t cap = s->drafts_cap ? 2 * s->drafts_cap : 8;
	struct pdw_draft *more;

	if (s->ndrafts == s->drafts_cap) {
		more = realloc(s->drafts, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->drafts = more;
		s->drafts_cap = cap;
	}
	s->drafts[s->ndrafts++] = (struct pdw_draft){at, size};
	return 0;
}

/* Whole records of the trace only: what is left waits for the next flush. */
static size_t undrafted(const struct perfdata_writer *w, const struct pdw_stream *s)
{
	size_t part = (size_t)(s->next % w->tech->align), whole;

	whole = s->nkept > part ? s->nkept - part : 0;
	return whole > s->ndrafted ? whole - s->ndrafted : 0;
}

static int write_draft(struct perfdata_writer *w, struct pdw_stream *s, size_t n)
{
	uint64_t at = w->data_offset + w->data_size;
	struct iovec iov[2] = {{s->kept + s->ndrafted, n}};
	size_t mark = pdw_mark(w);

	pdw_put_piece(w, s, s->next - s->nkept + s->ndrafted, n, &iov[1]);
	/* Without memory it waits on: what the flush is of was written. */
	if (w->nomem || note(s, at, w->used - mark + n + iov[1].iov_len)) {
		w->used = mark;
		return 0;
	}
	s->ndrafted += n;
	w->unwritten += n;
	return pdw_write_through(w, iov, 2);
}

int pdw_write_drafts(struct perfdata_writer *w)
{
	size_t i, n;
	int err = 0;

	for (i = 0; w->tech->piece && i < w->nstreams && !err; i++) {
		n = undrafted(w, &w->streams[i]);
		if (n)
			err = write_draft(w, &w->streams[i], n);
	}
	return err;
}

/*
 * The last header first: with the first one, which makes readers skip, they are all
 * there.  Nobody misses the disk's blocks; where they cannot be given back they stay.
 */
static int drop(struct perfdata_writer *w, const struct pdw_draft *d)
{
	struct perf_event_header h = {.type = PERF_USER_EVENT_TYPE};
	uint64_t left = d->size, n;
	int ignored __attribute__((unused));

	while (left && !w->error) {
		n = (left - 1) % PERF_RECORD_SIZE_MAX + 1;
		left -= n;
		h.size = (uint16_t)n;
		w->error = pdw_pwrite(w->fd, &h, sizeof(h), d->at + left);
		if (n >= HOLE_LEAST)
			ignored = fallocate(
				w->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)(d->at + left + sizeof(h)),
				(off_t)(n - sizeof(h)));
	}
	return w->error;
}

int pdw_drop_drafts(struct perfdata_writer *w, struct pdw_stream *s)
{
	int err = s->ndrafts ? pdw_flush(w) : 0;

	while (s->ndrafts && !err)
		err = drop(w, &s->drafts[--s->ndrafts]);
	s->ndrafted = 0;
	return err;
}
