/* SPDX-License-Identifier: BSD-2-Clause */
/* ETM streams: a trace source's decoder, and its packets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../decode/etm/etm_packet.h"
#include "../hw/coresight.h"
#include "packets.h"
#include "session_priv.h"

static void *flow_new(struct hwt_stream *st, trace_code_fn code, void *code_ctx)
{
	const struct etm_decoder_config config = {
		.source = st->etm,
		.formatted = st->formatted,
		.offset = st->begin,
		.first_id = st->first_id,
		.code = code,
		.code_ctx = code_ctx,
	};

	return etm_decoder_new(&config);
}

static void flow_free(void *d)
{
	etm_decoder_free(d);
}

static int flow_feed(void *d, const uint8_t *bytes, size_t n)
{
	return etm_decoder_feed(d, bytes, n);
}

static void flow_finish(void *d)
{
	etm_decoder_finish(d);
}

static void flow_lost(void *d, uint64_t n)
{
	etm_decoder_lost(d, n);
}

static int flow_next(void *d, struct trace_event *ev, int max)
{
	return etm_decoder_next(d, ev, max);
}

static void flow_invalidate(void *d, uint64_t addr, uint64_t len)
{
	etm_decoder_invalidate(d, addr, len);
}

static uint32_t flow_nblocks(const void *d)
{
	return etm_decoder_nblocks(d);
}

static uint64_t flow_taken(const void *d)
{
	return etm_decoder_taken(d);
}

struct times {
	struct hwt_stream *st;
	struct etm_packets *packets;
	uint64_t next; /* position behind what was scanned */
	uint64_t at, ticks;
	bool found;
};

static void on_time(void *ctx, uint64_t offset, uint64_t ticks)
{
	struct times *t = ctx;

	t->found = true;
	t->at = offset;
	t->ticks = ticks;
}

static void *times_new(struct hwt_stream *st)
{
	struct times *t = calloc(1, sizeof(*t));

	if (t)
		t->st = st;
	return t;
}

static void times_free(void *ctx)
{
	struct times *t = ctx;

	etm_packets_free(t->packets);
	free(t);
}

static bool times_begin(struct times *t, uint64_t position)
{
	if (t->packets && position == t->next)
		return true;
	etm_packets_free(t->packets);
	t->packets = etm_packets_new_times(&t->st->etm, t->st->formatted, position,
					   on_time, t);
	if (t->packets && position == t->st->begin)
		etm_packets_first_id(t->packets, t->st->first_id);
	return t->packets != NULL;
}

/*
 * Timestamps.  In frames a cut is where the frame begins that has the packet's
 * first byte: of a part of one the decoder makes nothing.
 */
static bool times_scan(void *ctx, uint64_t position, const uint8_t *bytes, size_t n,
		       bool last, size_t *used, uint64_t *at, uint64_t *ticks)
{
	struct times *t = ctx;
	size_t part;

	*used = n;
	if (!times_begin(t, position))
		return false;
	t->found = false;
	for (*used = 0; *used < n && !t->found; *used += part) {
		part = n - *used < CS_FRAME ? n - *used : CS_FRAME;
		etm_packets_feed(t->packets, bytes + *used, part);
	}
	t->next = position + *used;
	*at = t->at - (t->st->formatted ? t->at % CS_FRAME : 0);
	*ticks = t->ticks;
	return t->found;
}

struct listing {
	int (*fn)(void *ctx, const struct hwt_packet *packet);
	void *ctx;
	int err;
};

static void list_packet(void *ctx, const struct etm_packet *p)
{
	struct listing *l = ctx;
	char name[64];
	size_t n = strcspn(p->text, " :");
	struct hwt_packet out = {
		.kind = p->bad ? HWT_PACKET_BAD : HWT_PACKET,
		.position = p->offset,
		.length = p->size,
		.text = p->text,
		.bytes = p->bytes,
	};

	if (l->err)
		return;
	n = n < sizeof(name) - 1 ? n : sizeof(name) - 1;
	memcpy(name, p->text, n);
	name[n] = '\0';
	out.name = p->bad ? NULL : name;
	l->err = l->fn(l->ctx, &out);
}

static void list_lost(struct listing *l, uint64_t position, uint64_t lost)
{
	const struct hwt_packet out = {
		.kind = HWT_PACKET_LOST, .position = position - lost, .length = lost};

	if (lost && !l->err)
		l->err = l->fn(l->ctx, &out);
}

static int flow_packets(struct hwt_stream *st,
			int (*fn)(void *ctx, const struct hwt_packet *packet), void *ctx)
{
	struct listing l = {.fn = fn, .ctx = ctx};
	struct etm_packets *p = NULL;
	uint64_t position, lost;
	const uint8_t *bytes;
	size_t n;
	int ret;

	while ((ret = hwt_stream_chunk(st, &bytes, &n, &position, &lost)) > 0 && !l.err) {
		if (lost && p) {
			etm_packets_finish(p);
			etm_packets_free(p);
			p = NULL;
		}
		list_lost(&l, position, lost);
		if (!p)
			p = etm_packets_new(&st->etm, st->formatted, position,
					    list_packet, &l);
		if (!p)
			return -ENOMEM;
		if (position == st->begin)
			etm_packets_first_id(p, st->first_id);
		etm_packets_feed(p, bytes, n);
	}
	if (p)
		etm_packets_finish(p);
	etm_packets_free(p);
	return l.err ? l.err : ret;
}

static const char *lacks(const struct perfdata_info *info)
{
	return info->netm ? NULL : "describes no trace unit that is decoded (ETMv4, ETE)";
}

const struct flow_ops flow_etm = {
	.backend = "coresight",
	.lacks = lacks,
	.index = index_etm,
	.unit_id = index_etm_id,
	.new = flow_new,
	.free = flow_free,
	.feed = flow_feed,
	.finish = flow_finish,
	.lost = flow_lost,
	.next = flow_next,
	.invalidate = flow_invalidate,
	.nblocks = flow_nblocks,
	.taken = flow_taken,
	.times_new = times_new,
	.times_free = times_free,
	.times_scan = times_scan,
	.packets = flow_packets,
};
