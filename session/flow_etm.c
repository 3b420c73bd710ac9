/* SPDX-License-Identifier: BSD-2-Clause */
/* ETM streams: a trace source's decoder, and its packets. */
#include <errno.h>
#include <string.h>
#include "../decode/etm/etm_packet.h"
#include "packets.h"
#include "session_priv.h"

static void *flow_new(struct hwt_stream *st, trace_code_fn code, void *code_ctx)
{
	const struct etm_decoder_config config = {
		.source = st->etm,
		.formatted = st->formatted,
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
		/* OpenCSD 1.3 lists no packets of an ETE. */
		if (!p)
			return st->etm.ete ? -EOPNOTSUPP : -ENOMEM;
		etm_packets_feed(p, bytes, n);
	}
	if (p)
		etm_packets_finish(p);
	etm_packets_free(p);
	return l.err ? l.err : ret;
}

const struct flow_ops flow_etm = {
	.backend = "coresight",
	.new = flow_new,
	.free = flow_free,
	.feed = flow_feed,
	.finish = flow_finish,
	.lost = flow_lost,
	.next = flow_next,
	.invalidate = flow_invalidate,
	.nblocks = flow_nblocks,
	.packets = flow_packets,
};
