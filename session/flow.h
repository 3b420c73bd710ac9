/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoders of flow behind one table, whatever the technology of the trace. */
#ifndef SESSION_FLOW_H
#define SESSION_FLOW_H

#include "../decode/event.h"

struct hwt_session;
struct hwt_stream;
struct hwt_packet;
struct perfdata_event;
struct perfdata_info;
struct filter_range;

struct flow_ops {
	const char *backend; /* as recordings name it */
	/* What a perf.data file lacks to be decoded, in words, or NULL.  NULL: nothing. */
	const char *(*lacks)(const struct perfdata_info *info);
	/*
	 * Once all of a perf.data file was read: what it says of its units, and which
	 * streams are in its buffers.  0, -errno.  NULL: a buffer is a stream.
	 */
	int (*index)(struct hwt_session *s);
	/* PERFDATA_HW_ID came.  0, -EINVAL, -ENOMEM. */
	int (*unit_id)(struct hwt_session *s, const struct perfdata_event *ev);
	/* A decoder for st; code by `code`.  NULL: no memory, or see `refusal`. */
	void *(*new)(struct hwt_stream *st, trace_code_fn code, void *code_ctx);
	/* As pt_decoder's functions of these names (decode/pt/pt_decoder.h). */
	void (*free)(void *d);
	int (*feed)(void *d, const uint8_t *bytes, size_t n);
	void (*finish)(void *d);
	void (*lost)(void *d, uint64_t n);
	int (*next)(void *d, struct trace_event *ev, int max);
	void (*invalidate)(void *d, uint64_t addr, uint64_t len);
	uint32_t (*nblocks)(const void *d);
	/* Bytes so far of what the decoder is for, in a buffer with that of others. */
	uint64_t (*taken)(const void *d);
	/*
	 * Where the unit's filter is: more ranges than a unit has, if they are those
	 * of several times.  NULL: no use.
	 */
	void (*set_ranges)(void *d, const struct filter_range *range, size_t n);
	/*
	 * Times, read ahead of the decoder.  scan: takes n bytes that are at `position`
	 * in the stream, up to and with the first time; of how many it is done (*used;
	 * a cut packet waits, unless these are the `last` before a hole or the end).
	 * true: one was found; a cut at *at is where it begins to hold.  What is not
	 * behind the bytes before is behind a hole.  new: NULL: none can be told.
	 */
	void *(*times_new)(struct hwt_stream *st);
	void (*times_free)(void *t);
	bool (*times_scan)(void *t, uint64_t position, const uint8_t *bytes, size_t n,
			   bool last, size_t *used, uint64_t *at, uint64_t *ticks);
	/* hwt_stream_packets for a stream of this kind. */
	int (*packets)(struct hwt_stream *st,
		       int (*fn)(void *ctx, const struct hwt_packet *packet), void *ctx);
};

extern const struct flow_ops flow_pt;
#ifdef HAVE_OPENCSD
extern const struct flow_ops flow_etm;
#endif
/* By a recording's backend; NULL: it is not decoded here. */
const struct flow_ops *flow_find(const char *backend);

#endif
