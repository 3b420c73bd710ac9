/* SPDX-License-Identifier: BSD-2-Clause */
/* Intel PT streams. */
#include "packets.h"
#include "session_priv.h"

static void *flow_new(struct hwt_stream *st, trace_code_fn code, void *code_ctx)
{
	struct pt_decoder_config config = st->session->config;

	config.code = code;
	config.code_ctx = code_ctx;
	config.offset = 0;
	return pt_decoder_new(&config);
}

static void flow_free(void *d)
{
	pt_decoder_free(d);
}

static int flow_feed(void *d, const uint8_t *bytes, size_t n)
{
	return pt_decoder_feed(d, bytes, n);
}

static void flow_finish(void *d)
{
	pt_decoder_finish(d);
}

static void flow_lost(void *d, uint64_t n)
{
	pt_decoder_lost(d, n);
}

static int flow_next(void *d, struct trace_event *ev, int max)
{
	return pt_decoder_next(d, ev, max);
}

static void flow_invalidate(void *d, uint64_t addr, uint64_t len)
{
	pt_decoder_invalidate(d, addr, len);
}

static uint32_t flow_nblocks(const void *d)
{
	return pt_decoder_nblocks(d);
}

static void flow_set_ranges(void *d, const struct flow_range *range, uint32_t n)
{
	struct pt_decoder_range to[PT_MAX_RANGES];
	uint32_t i;

	for (i = 0; i < n; i++)
		to[i] = (struct pt_decoder_range){range[i].first, range[i].last};
	pt_decoder_set_ranges(d, to, n);
}

const struct flow_ops flow_pt = {
	.backend = "pt",
	.new = flow_new,
	.free = flow_free,
	.feed = flow_feed,
	.finish = flow_finish,
	.lost = flow_lost,
	.next = flow_next,
	.invalidate = flow_invalidate,
	.nblocks = flow_nblocks,
	.set_ranges = flow_set_ranges,
	.packets = pt_stream_packets,
};
