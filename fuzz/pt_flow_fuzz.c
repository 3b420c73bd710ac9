/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole PT decoder: any code, any trace.
 *
 *	byte 0	options (OPT_*)		byte 1	code bytes / 2
 *	the code, at CODE_ADDR; then the trace
 *
 * Whole, in pieces of one byte with one event at a time, and with all code
 * invalidated at each turn, the events are the same, and they make sense.
 */
#include "fuzz.h"
#include "decode/pt/pt_decoder.h"

#include <stdlib.h>
#include <string.h>

#define CODE_ADDR	0x1000
#define MAX_TRACE	4096
#define MAX_WALK	600
#define EVENTS		64

enum {
	OPT_SYNC = 1,		/* a PSB+ at CODE_ADDR goes before the trace */
	OPT_NO_COMPRESSION = 2,
	OPT_RANGE = 4,
	OPT_TIME = 8,
	OPT_HIGH = 16,		/* code at the top of memory */
};

struct input {
	const uint8_t	*code;
	size_t		ncode;
	uint64_t	addr;
	uint8_t		trace[MAX_TRACE + 32];
	size_t		ntrace;
	uint8_t		options;
};

struct way {
	size_t		piece;
	int		events;
	bool		invalidate;
};

static void require(int condition)
{
	if (!condition)
		abort();
}

static size_t read_code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	const struct input *in = ctx;
	uint64_t at = ip - in->addr;

	require(len && (ip + len > ip || ip + len == 0));
	if (at >= in->ncode)
		return 0;
	if (len > in->ncode - at)
		len = in->ncode - at;
	memcpy(buf, in->code + at, len);
	return len;
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static uint64_t take(uint64_t hash, const struct trace_event *ev, uint64_t *time)
{
	uint64_t value;

	require(ev->type > 0 && ev->type < TRACE_EVENT_MAX && ev->error < TRACE_GAP_MAX);
	require(ev->time >= *time);
	*time = ev->time;
	if (ev->type == TRACE_RUN) {
		require(ev->ninsn && ev->ninsn <= ev->block->ninsn);
		require(ev->ip == ev->block->ip && ev->block->kind < BLOCK_END_MAX);
		require(!(ev->flags & TRACE_F_BRANCH) || ev->ninsn == ev->block->ninsn);
		value = ev->block->end;
	} else {
		value = ev->value;
	}
	require((ev->type == TRACE_ERROR || ev->type == TRACE_GAP) == (ev->error != 0));
	hash = mix(hash, ev->type | ev->flags << 8 | ev->error << 16 |
			 (uint64_t)ev->ninsn << 32);
	hash = mix(mix(hash, ev->ip), mix(value, ev->to));
	return mix(mix(hash, ev->offset), mix(ev->time, ev->cycles));
}

static uint64_t decode(struct input *in, struct way way)
{
	struct pt_decoder_config config = {
		.code = read_code,
		.code_ctx = in,
		.no_compression = in->options & OPT_NO_COMPRESSION,
		.max_walk = MAX_WALK,
	};
	struct trace_event ev[EVENTS];
	struct pt_decoder *d;
	uint64_t hash = 0, time = 0;
	size_t at, len;
	int i, n;

	if (in->options & OPT_RANGE) {
		config.nranges = 1;
		config.ranges[0].first = in->addr;
		config.ranges[0].last = in->addr + in->ncode / 2;
	}
	if (in->options & OPT_TIME) {
		config.tsc_ratio_den = 2;
		config.tsc_ratio_num = 84;
		config.mtc_freq = 3;
		config.nominal_ratio = 20;
	}
	d = pt_decoder_new(&config);
	require(d != NULL);
	for (at = 0;; at += len) {
		len = in->ntrace - at < way.piece ? in->ntrace - at : way.piece;
		if (len)
			require(!pt_decoder_feed(d, in->trace + at, len));
		else
			pt_decoder_finish(d);
		while ((n = pt_decoder_next(d, ev, way.events)) > 0) {
			for (i = 0; i < n; i++)
				hash = take(hash, &ev[i], &time);
			if (way.invalidate)
				pt_decoder_invalidate(d, in->addr, in->ncode + 1);
		}
		require(n == 0);
		if (!len)
			break;
	}
	pt_decoder_free(d);
	return hash;
}

static void put_sync(struct input *in)
{
	static const uint8_t sync[] = {
		2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
		0x99, 1, 0x7d, 0, 0, 0, 0, 0, 0, 2, 0x23,
	};
	unsigned int i;

	memcpy(in->trace, sync, sizeof(sync));
	for (i = 0; i < 6; i++)
		in->trace[19 + i] = in->addr >> 8 * i;
	in->ntrace = sizeof(sync);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct input in;
	uint64_t hash;

	if (size < 2)
		return 0;
	in.options = data[0];
	in.ncode = data[1] * 2u;
	data += 2;
	size -= 2;
	if (in.ncode > size)
		in.ncode = size;
	in.code = data;
	in.addr = in.options & OPT_HIGH ? -(uint64_t)in.ncode : CODE_ADDR;
	in.ntrace = 0;
	if (in.options & OPT_SYNC)
		put_sync(&in);
	data += in.ncode;
	size -= in.ncode;
	if (size > MAX_TRACE)
		size = MAX_TRACE;
	memcpy(in.trace + in.ntrace, data, size);
	in.ntrace += size;
	hash = decode(&in, (struct way){sizeof(in.trace), EVENTS, false});
	require(decode(&in, (struct way){1, 1, false}) == hash);
	require(decode(&in, (struct way){17, 3, true}) == hash);
	return 0;
}
