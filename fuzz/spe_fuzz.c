/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SPE packets and records: any bytes.  The first byte chooses alignment and pieces.
 * What is decoded in pieces equals what is decoded at once, every byte is accounted
 * for at most once, and each packet's text fits.
 */
#include "fuzz.h"
#include "decode/spe/spe_decoder.h"

#include <stdlib.h>
#include <string.h>

static void require(int condition)
{
	if (!condition)
		abort();
}

struct result {
	uint64_t hash, events, end;
};

static void take(struct result *r, const struct spe_event *ev)
{
	const uint8_t *p = (const uint8_t *)ev;
	size_t i;

	for (i = 0; i < sizeof(*ev); i++)
		r->hash = (r->hash ^ p[i]) * 0x100000001b3ull;
	r->events++;
	require(ev->type >= SPE_SAMPLE && ev->type <= SPE_ERROR);
	require(ev->error < TRACE_GAP_MAX);
	if (ev->type == SPE_ERROR)
		return;
	/* Samples and gaps follow each other without overlap. */
	require(ev->offset >= r->end && ev->bytes);
	r->end = ev->offset + ev->bytes;
}

static void pull(struct spe_decoder *d, struct result *r)
{
	struct spe_event ev[3];
	int i, n;

	while ((n = spe_decoder_next(d, ev, 3)) > 0)
		for (i = 0; i < n; i++)
			take(r, &ev[i]);
}

static struct result decode(const uint8_t *data, size_t size, uint32_t align, size_t step,
			    size_t hole)
{
	struct spe_decoder_config config = {.align = align};
	struct spe_decoder *d = spe_decoder_new(&config);
	struct result r = {0xcbf29ce484222325ull, 0, 0};
	size_t at, n;

	require(d != NULL);
	for (at = 0; at < size; at += n) {
		n = size - at < step ? size - at : step;
		if (at < hole && at + n > hole)
			n = hole - at;
		require(spe_decoder_feed(d, data + at, n) == 0);
		pull(d, &r);
		if (at + n == hole) {
			spe_decoder_lost(d, 100);
			spe_decoder_lost(d, 7);
			pull(d, &r);
		}
	}
	spe_decoder_finish(d);
	pull(d, &r);
	spe_decoder_free(d);
	require(r.end <= size + 107);
	return r;
}

static void packets(const uint8_t *data, size_t size)
{
	char text[SPE_PACKET_TEXT_MAX];
	struct spe_packet pkt;
	size_t at = 0;
	int n, len;

	while (at < size) {
		n = spe_packet_decode(data + at, size - at, at, &pkt);
		if (!n)
			break;
		require(pkt.length >= 1 && (n < 0 || n == pkt.length));
		len = spe_packet_format(&pkt, text, sizeof(text));
		require(len > 0 && (size_t)len < sizeof(text));
		at += pkt.length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t steps[] = {1, 17, 4096};
	struct result whole, pieces;
	size_t i, hole;
	uint32_t align;

	if (!size)
		return 0;
	align = 1u << (data[0] & 0xf) % 12;
	hole = data[0] & 0x10 ? size / 2 : size + 1;
	data++;
	size--;
	packets(data, size);
	whole = decode(data, size, align, size ? size : 1, hole);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		pieces = decode(data, size, align, steps[i], hole);
		require(!memcmp(&whole, &pieces, sizeof(whole)));
	}
	return 0;
}
