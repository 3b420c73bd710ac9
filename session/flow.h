/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoders of flow behind one table, whatever the technology of the trace. */
#ifndef SESSION_FLOW_H
#define SESSION_FLOW_H

#include "../decode/event.h"

struct hwt_stream;
struct hwt_packet;

struct flow_range {
	uint64_t first, last;		/* both belong to it */
};

struct flow_ops {
	const char *backend;		/* as recordings name it */
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
	/* The filter ranges that the unit had, at most PT_MAX_RANGES; NULL: no use. */
	void (*set_ranges)(void *d, const struct flow_range *range, uint32_t n);
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
