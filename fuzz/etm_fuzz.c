/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ETM streams and formatted frames: any bytes over code that has every branch.
 * The first byte chooses: frames or one source, ETE, return stack, cycle counts,
 * speculation, pieces; or that the source's registers are the next bytes.  What is
 * decoded in pieces equals what is decoded at once.
 */
#include "fuzz.h"
#include "decode/etm/etm_decoder.h"
#include "decode/etm/etm_packet.h"

#include <stdlib.h>
#include <string.h>

#define CODE_BASE	0x400000ull
#define CODE_SIZE	0x10000ull

static void require(int condition)
{
	if (!condition)
		abort();
}

/* A branch of each kind, now and then; nothing at all beyond CODE_SIZE. */
static size_t code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	static const uint32_t insns[16] = {
		0xd503201f, 0x8b020020, 0x54000040, 0xd503201f, 0x17fffffe, 0x94000010,
		0xd65f03c0, 0xd61f0200, 0xd63f0100, 0xd5033fdf, 0xd503205f, 0xd4000001,
		0x37000060, 0xb5fffee0, 0xd69f03e0, 0xd503201f,
	};
	size_t i;

	if (ip - CODE_BASE >= CODE_SIZE)
		return 0;
	if (len > CODE_SIZE - (ip - CODE_BASE))
		len = CODE_SIZE - (ip - CODE_BASE);
	for (i = 0; i < len; i++)
		buf[i] = insns[(ip + i) / 4 % 16] >> 8 * ((ip + i) % 4);
	return len;
}

struct result {
	uint64_t hash, events;
};

static void mix(struct result *r, uint64_t v)
{
	r->hash = (r->hash ^ v) * 0x100000001b3ull;
}

static void take(struct result *r, const struct trace_event *ev)
{
	r->events++;
	require(ev->type >= TRACE_RUN && ev->type < TRACE_EVENT_MAX);
	require(ev->error < TRACE_GAP_MAX);
	mix(r, ev->type | ev->flags << 8 | ev->error << 16);
	mix(r, ev->ip);
	mix(r, ev->to);
	mix(r, ev->offset);
	mix(r, ev->time);
	mix(r, ev->cycles);
	if (ev->type != TRACE_RUN) {
		mix(r, ev->value);
		return;
	}
	require(ev->ninsn && ev->ninsn == ev->block->ninsn);
	require(ev->block->end - ev->block->ip == 4ull * ev->ninsn);
	mix(r, ev->block->kind | (uint64_t)ev->ninsn << 8);
}

static void pull(struct etm_decoder *d, struct result *r)
{
	struct trace_event ev[5];
	int i, n;

	while ((n = etm_decoder_next(d, ev, 5)) > 0)
		for (i = 0; i < n; i++)
			take(r, &ev[i]);
	require(n == 0);
}

static struct etm_source source_of(uint8_t choice)
{
	struct etm_source s = {
		.traceidr = 0x10,
		.configr = TRCCONFIGR_RES1,
		.idr = {0x280002a1, 0x4100f433, 0x90000088},
		.devarch = 0x47705a13,
		.ete = choice & 2,
	};

	if (choice & 4)
		s.configr |= TRCCONFIGR_RS;
	if (choice & 8)
		s.configr |= TRCCONFIGR_CCI;
	if (choice & 16)
		s.configr |= TRCCONFIGR_CID | TRCCONFIGR_TS;
	if (choice & 32)
		s.idr[8] = 4;		/* speculation */
	return s;
}

/* TRCCONFIGR, TRCDEVARCH, TRCIDR0 to 2 and TRCIDR8, if they are there: how many bytes. */
static size_t registers(struct etm_source *s, const uint8_t *data, size_t size)
{
	uint32_t *const to[] = {&s->configr, &s->devarch, &s->idr[0],
				&s->idr[1],  &s->idr[2],  &s->idr[8]};
	size_t i, n = sizeof(to) / sizeof(to[0]);

	if (size < 4 * n)
		return 0;
	for (i = 0; i < n; i++)
		memcpy(to[i], data + 4 * i, 4);
	return 4 * n;
}

static struct result decode(const struct etm_source *source, uint8_t choice,
			    const uint8_t *data, size_t size, size_t step)
{
	const struct etm_decoder_config config = {
		.source = *source,
		.code = code,
		.formatted = choice & 1,
		.max_walk = 1 << 16,
	};
	struct etm_decoder *d = etm_decoder_new(&config);
	struct result r = {0};
	size_t at, n;

	require(d || choice & 128);
	if (!d)
		return r;
	for (at = 0; at < size; at += n) {
		n = size - at < step ? size - at : step;
		require(!etm_decoder_feed(d, data + at, n));
		pull(d, &r);
		if (at > 4000 && at - n <= 4000)
			etm_decoder_invalidate(d, CODE_BASE, 64);
	}
	etm_decoder_finish(d);
	pull(d, &r);
	etm_decoder_free(d);
	return r;
}

static void packet(void *ctx, const struct etm_packet *p)
{
	size_t *bytes = ctx;

	require(p->text && strlen(p->text) < 1000);
	*bytes += p->size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct etm_source source;
	struct etm_packets *p;
	struct result a, b;
	size_t bytes = 0, n;
	uint8_t choice;

	if (!size || size > 8192)
		return 0;
	choice = *data++;
	size--;
	source = source_of(choice);
	if (choice & 128) {
		n = registers(&source, data, size);
		data += n;
		size -= n;
	}
	a = decode(&source, choice, data, size, 4096);
	b = decode(&source, choice, data, size, choice & 64 ? 1 : 17);
	require(a.hash == b.hash && a.events == b.events);
	p = etm_packets_new(&source, choice & 1, 0, packet, &bytes);
	require(p || choice & 128);
	if (!p)
		return 0;
	etm_packets_feed(p, data, size);
	etm_packets_finish(p);
	etm_packets_free(p);
	require(bytes <= size);
	return 0;
}
