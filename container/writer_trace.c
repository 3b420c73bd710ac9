/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace bytes as PERF_RECORD_AUX + PERF_RECORD_AUXTRACE.
 *
 * A recorder hands them over as they were drained, cut anywhere; perf wants an
 * AUXTRACE to end where a packet does (silicon stops at each interrupt and
 * flushes), and its size to be a multiple of 8.  So bytes behind the last whole
 * packet are kept for the next call, and an odd size is filled with PADs (zero
 * bytes, SDM 33.4.2.22), whose number our reader finds in the record.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "writer.h"

#define PSB_SIZE 16
#define KEPT_MAX (64u << 20) /* the longest PSB period (PSBFreq 15) */
static const uint8_t psb[PSB_SIZE] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
				      0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82};
#define NO_PSB SIZE_MAX

/* Of the last PSB; nothing else in a stream looks like it (SDM 33.4.2.17). */
static size_t last_psb(const uint8_t *bytes, size_t n)
{
	size_t i;

	if (n < PSB_SIZE)
		return NO_PSB;
	for (i = n - PSB_SIZE + 1; i-- > 0;)
		if (bytes[i] == psb[0] && bytes[i + 1] == psb[1] &&
		    !memcmp(bytes + i, psb, PSB_SIZE))
			return i;
	return NO_PSB;
}

/* Where to cut bytes that begin at a packet: behind the last whole one. */
static size_t find_cut(const struct perfdata_writer *w, const uint8_t *bytes, size_t n)
{
	size_t at = last_psb(bytes, n), whole;

	if (at == NO_PSB)
		at = 0;
	if (!w->whole_packets)
		return at;
	whole = w->whole_packets(bytes + at, n - at);
	return at + (whole < n - at ? whole : n - at);
}

static uint32_t tid_of(const struct perfdata_writer *w, const struct pdw_stream *s)
{
	return w->per_cpu ? UINT32_MAX : s->id;
}

static void put_aux(struct perfdata_writer *w, const struct pdw_stream *s,
		    uint64_t position, uint64_t n)
{
	uint64_t body[3] = {position, n,
			    (s->truncated ? PERF_AUX_FLAG_TRUNCATED : 0) |
				    (s->collided ? PERF_AUX_FLAG_COLLISION : 0) |
				    (s->wrapped ? PERF_AUX_FLAG_OVERWRITE : 0)};
	size_t start = pdw_begin(w, PERF_RECORD_AUX, PERF_RECORD_MISC_USER);

	pdw_put(w, body, sizeof(body));
	pdw_put_id(w, PDW_TRACE, w->per_cpu ? UINT32_MAX : s->pid, tid_of(w, s), s->time,
		   w->per_cpu ? (int32_t)s->id : -1);
	pdw_end(w, start);
}

static void put_auxtrace(struct perfdata_writer *w, const struct pdw_stream *s,
			 uint64_t position, uint64_t n, uint32_t padding)
{
	struct perf_auxtrace at = {
		.header = {.type = PERF_USER_AUXTRACE, .size = sizeof(at)},
		.size = n + padding,
		.offset = position,
		.reference = w->now,
		.idx = s->idx,
		.tid = tid_of(w, s),
		.cpu = w->per_cpu ? s->id : w->tech->cpu_of_queue ? s->idx : UINT32_MAX,
		.padding = padding,
	};

	pdw_put(w, &at, sizeof(at));
}

void pdw_put_piece(struct perfdata_writer *w, const struct pdw_stream *s,
		   uint64_t position, uint64_t n, struct iovec *end)
{
	static const uint8_t pads[8];
	bool tail = n && w->tech->tail && !(n % w->tech->align);
	uint32_t padding = tail ? w->tech->ntail : (uint32_t)(ALIGN8(n) - n);

	*end = (struct iovec){(void *)(tail ? w->tech->tail : pads), padding};
	/* perf reads as much as the AUX record says, and is to see such padding. */
	put_aux(w, s, position, n + (tail ? padding : 0));
	if (n)
		put_auxtrace(w, s, position, n, padding);
}

/*
 * One AUX + AUXTRACE of what is kept and n more bytes; nothing is kept then.  An AUX
 * alone, as Linux has it, where no bytes are left for a flag.
 */
static int put_trace(struct perfdata_writer *w, struct pdw_stream *s, const void *bytes,
		     size_t n)
{
	uint64_t size = s->nkept + n;
	struct iovec iov[3] = {{s->kept, s->nkept}, {(void *)bytes, n}};
	bool direct = size >= PDW_FLUSH_AT;
	size_t mark, ntraces = w->ntraces, i;
	int err;

	if (!size && !s->collided)
		return 0;
	mark = pdw_mark(w);
	pdw_put_piece(w, s, s->next - s->nkept, size, &iov[2]);
	if (size)
		pdw_note_trace(w, w->data_offset + w->data_size + w->used -
					  sizeof(struct perf_auxtrace));
	for (i = 0; i < 3 && !direct; i++)
		pdw_put(w, iov[i].iov_base, iov[i].iov_len);
	if (w->nomem) {
		w->ntraces = ntraces;
		return pdw_commit(w, mark);
	}
	s->next += n;
	s->nkept = 0;
	s->truncated = s->collided = false;
	w->unwritten += size - s->ndrafted;
	err = direct ? pdw_write_through(w, iov, 3) : pdw_commit(w, mark);
	return err ? err : pdw_drop_drafts(w, s);
}

int pdw_end_stream(struct perfdata_writer *w, struct pdw_stream *s)
{
	return put_trace(w, s, NULL, 0);
}

static int keep(struct pdw_stream *s, const void *bytes, size_t n)
{
	size_t cap = s->cap ? s->cap : 64;
	uint8_t *bigger;

	if (!n)
		return 0;
	while (cap - s->nkept < n)
		cap *= 2;
	if (cap != s->cap) {
		bigger = realloc(s->kept, cap);
		if (!bigger)
			return -ENOMEM;
		s->kept = bigger;
		s->cap = cap;
	}
	memcpy(s->kept + s->nkept, bytes, n);
	s->nkept += n;
	s->next += n;
	return 0;
}

/* Writes kept[0, cut) and goes on with what is behind it. */
static int cut_kept(struct perfdata_writer *w, struct pdw_stream *s, size_t cut)
{
	size_t rest = s->nkept - cut;
	int err;

	if (!cut)
		return 0;
	s->nkept = cut;
	s->next -= rest;
	err = put_trace(w, s, NULL, 0);
	if (err) { /* no memory: all is still there */
		s->nkept = cut + rest;
		s->next += rest;
		return err;
	}
	memmove(s->kept, s->kept + cut, rest);
	s->nkept = rest;
	s->next += rest;
	return 0;
}

/* Bytes without a PSB of their own: where packets begin is known from kept[] only. */
static int append_to_kept(struct perfdata_writer *w, struct pdw_stream *s,
			  const uint8_t *bytes, size_t n)
{
	size_t old = s->nkept, from, cut;
	int err = keep(s, bytes, n);

	if (err)
		return err;
	from = old < PSB_SIZE ? 0 : old - (PSB_SIZE - 1);
	cut = last_psb(s->kept + from, s->nkept - from);
	cut = cut == NO_PSB ? 0 : from + cut;
	if (w->whole_packets)
		cut += find_cut(w, s->kept + cut, s->nkept - cut);
	return cut_kept(w, s, s->nkept > KEPT_MAX ? s->nkept : cut);
}

/* Where every multiple of `align` begins a record: up to the last one, if it is enough. */
static int append_aligned(struct perfdata_writer *w, struct pdw_stream *s,
			  const uint8_t *bytes, size_t n)
{
	uint64_t end = (s->next + n) & ~(uint64_t)(w->tech->align - 1);
	size_t cut = end > s->next ? (size_t)(end - s->next) : 0;
	int err;

	if (s->nkept + cut < (w->shared ? w->tech->shared_piece : w->tech->piece))
		cut = 0;
	err = cut ? put_trace(w, s, bytes, cut) : 0;

	return err ? err : keep(s, bytes + cut, n - cut);
}

/* Bytes that continue the stream. */
static int append(struct perfdata_writer *w, struct pdw_stream *s, const uint8_t *bytes,
		  size_t n)
{
	size_t at, cut;
	int err;

	if (w->tech->align)
		return append_aligned(w, s, bytes, n);
	at = s->nkept ? last_psb(bytes, n) : 0;
	if (at == NO_PSB)
		return append_to_kept(w, s, bytes, n);
	cut = at + find_cut(w, bytes + at, n - at);
	err = put_trace(w, s, bytes, cut);
	return err ? err : keep(s, bytes + cut, n - cut);
}

int perfdata_write_trace(struct perfdata_writer *w, uint32_t pid, uint32_t buf_id,
			 uint64_t position, const void *bytes, size_t n, bool truncated,
			 bool final)
{
	struct pdw_stream *s;
	int err = w->error;

	if (err)
		return err;
	s = pdw_stream(w, pid, buf_id);
	if (!s)
		return -ENOMEM;
	if (position != s->next || truncated) {
		err = pdw_end_stream(w, s);
		if (err)
			return err;
		if (position < s->next)
			s->idx = w->nqueues++;
		s->truncated |= truncated || position > s->next;
		s->next = position;
	}
	return final ? put_trace(w, s, bytes, n) : append(w, s, bytes, n);
}
