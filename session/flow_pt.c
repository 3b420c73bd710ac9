/* SPDX-License-Identifier: BSD-2-Clause */
/* Intel PT streams. */
#include <stdlib.h>
#include <string.h>
#include "../decode/pt/pt_decoder.h"
#include "../decode/pt/pt_packet.h"
#include "packets.h"
#include "session_priv.h"

#define TSC_MASK ((1ull << 56) - 1) /* of the packet's payload (33.4.2.11) */

static void *flow_new(struct hwt_stream *st, trace_code_fn code, void *code_ctx)
{
	struct pt_decoder_config config = {.code = code, .code_ctx = code_ctx};
	const struct perfdata_info *i;

	/* Of a bare stream nothing is known. */
	if (st->session->file) {
		i = perfdata_info(st->session->file);
		config.tsc_ratio_den = i->tsc_ratio_den;
		config.tsc_ratio_num = i->tsc_ratio_num;
		config.mtc_freq = i->mtc_freq;
		config.nominal_ratio = i->nominal_ratio;
		config.mtc_enabled = i->rtit_ctl & RTIT_CTL_MTCEN;
		config.cyc_enabled = i->rtit_ctl & RTIT_CTL_CYCEN;
		config.no_compression = i->rtit_ctl & RTIT_CTL_DISRETC;
	}
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

static void flow_set_ranges(void *d, const struct filter_range *range, size_t n)
{
	struct pt_decoder_range to[PT_MAX_RANGES];
	size_t i;

	/* None is better than some. */
	if (n > PT_MAX_RANGES)
		n = 0;
	for (i = 0; i < n; i++)
		to[i] = (struct pt_decoder_range){range[i].first, range[i].last};
	pt_decoder_set_ranges(d, to, (uint32_t)n);
}

struct times {
	struct pt_packet_state state;
	uint64_t next; /* position behind what was scanned */
	bool synced;
};

static void *times_new(struct hwt_stream *st)
{
	return calloc(1, sizeof(struct times));
}

/* Moves *at to the next PSB in n bytes; false: there is none. */
static bool times_sync(struct times *t, const uint8_t *bytes, size_t n, bool last,
		       size_t *at)
{
	size_t skip = pt_packet_find_psb(bytes + *at, n - *at);

	if (skip == n - *at) {
		/* A PSB may begin in the last bytes. */
		if (last || n - *at < PT_PSB_LENGTH)
			*at = last ? n : *at;
		else
			*at = n - (PT_PSB_LENGTH - 1);
		return false;
	}
	*at += skip;
	t->synced = true;
	memset(&t->state, 0, sizeof(t->state));
	return true;
}

/* TSC packets. */
static bool times_scan(void *ctx, uint64_t position, const uint8_t *bytes, size_t n,
		       bool last, size_t *used, uint64_t *cut, uint64_t *ticks)
{
	struct times *t = ctx;
	struct pt_packet pkt;
	bool found = false;
	size_t at = 0;
	int len;

	t->synced &= position == t->next;
	while (at < n && !found) {
		if (!t->synced && !times_sync(t, bytes, n, last, &at))
			break;
		len = pt_packet_decode(bytes + at, n - at, &t->state, &pkt);
		if (!len) {
			if (last)
				at = n;
			break;
		}
		found = len > 0 && pkt.type == PT_TSC;
		if (found) {
			*cut = position + at;
			*ticks = pkt.payload & TSC_MASK;
		}
		t->synced = len > 0;
		at += len > 0 ? (size_t)len : 1;
	}
	*used = at;
	t->next = position + at;
	return found;
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
	.times_new = times_new,
	.times_free = free,
	.times_scan = times_scan,
	.packets = pt_stream_packets,
};
