/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SPE packets, one by one.  There is no sync point to look for: behind a byte that
 * begins no packet the next record begins at the next multiple of the alignment.
 */
#include "packets_spe.h"
#include "session_priv.h"

#include <string.h>

#define ALIGN_UNKNOWN	64

struct reader {
	int (*fn)(void *ctx, const struct hwt_packet *packet);
	void		*ctx;
	uint64_t	align;
	uint64_t	position;	/* of the next byte */
	uint8_t		carry[SPE_PACKET_LENGTH_MAX];
	unsigned int	ncarry;		/* bytes of a packet that was cut, before position */
	uint64_t	padding;	/* bytes of padding so far, before position */
	uint64_t	skip;		/* bytes of an alignment to come */
	bool		seeking;	/* to where the next record begins */
	uint64_t	bad;		/* bytes that are no packet so far */
};

static int say(struct reader *r, enum hwt_packet_kind kind, uint64_t position,
	       uint64_t length)
{
	struct hwt_packet p = {.kind = kind, .position = position, .length = length};

	return length ? r->fn(r->ctx, &p) : 0;
}

static int end_padding(struct reader *r)
{
	static const uint8_t zeros[16];
	struct hwt_packet p = {
		.kind = HWT_PACKET, .position = r->position - r->padding,
		.length = r->padding, .name = spe_packet_name(SPE_PADDING),
		.text = spe_packet_name(SPE_PADDING), .bytes = zeros,
	};
	int err = 0;

	/* As many bytes as there are zeros here to show. */
	while (!err && r->padding) {
		p.length = r->padding < sizeof(zeros) ? r->padding : sizeof(zeros);
		p.position = r->position - r->padding;
		err = r->fn(r->ctx, &p);
		r->padding -= p.length;
	}
	return err;
}

static int end_bad(struct reader *r)
{
	int err = say(r, HWT_PACKET_BAD, r->position - r->bad, r->bad);

	r->bad = 0;
	return err;
}

static int give(struct reader *r, const struct spe_packet *pkt, const uint8_t *bytes)
{
	char text[SPE_PACKET_TEXT_MAX];
	struct hwt_packet p = {
		.kind = HWT_PACKET, .position = r->position, .length = pkt->length,
		.name = spe_packet_name(pkt->type), .text = text, .bytes = bytes,
	};

	spe_packet_format(pkt, text, sizeof(text));
	return r->fn(r->ctx, &p);
}

/* One packet from n bytes at p: how many of them were used, or what fn said (< 0). */
static int one(struct reader *r, const uint8_t *p, size_t n)
{
	uint8_t joined[2 * SPE_PACKET_LENGTH_MAX];
	struct spe_packet pkt;
	size_t have = n < SPE_PACKET_LENGTH_MAX ? n : SPE_PACKET_LENGTH_MAX;
	int len, used, err;

	memcpy(joined, r->carry, r->ncarry);
	memcpy(joined + r->ncarry, p, have);
	r->position -= r->ncarry;
	len = spe_packet_decode(joined, r->ncarry + have, r->position, &pkt);
	if (!len) {	/* all of it is kept */
		memcpy(r->carry + r->ncarry, p, n);
		r->ncarry += (unsigned int)n;
		r->position += r->ncarry;
		return (int)n;
	}
	used = (int)pkt.length - (int)r->ncarry;
	r->ncarry = 0;
	if (len < 0) {
		r->seeking = true;
		r->bad = pkt.length;
		r->position += pkt.length;
		return used;
	}
	/* Of an alignment, the packet itself; what it skips is padding. */
	if (pkt.type == SPE_ALIGNMENT) {
		r->skip = pkt.length - 2u;
		used -= (int)r->skip;
		pkt.length = 2;
	}
	err = give(r, &pkt, joined);
	r->position += pkt.length;
	return err < 0 ? err : used;
}

/* Bytes up to the next record's place, or of an alignment: how many were taken. */
static size_t pass(struct reader *r, size_t n)
{
	uint64_t left = r->skip ? r->skip :
			(r->align - r->position % r->align) % r->align;

	if (left > n)
		left = n;
	if (r->skip) {
		r->skip -= left;
		r->padding += left;
	} else {
		r->bad += left;
	}
	r->position += left;
	return (size_t)left;
}

static int consume(struct reader *r, const uint8_t *p, size_t n)
{
	int used, err = 0;

	while (!err && n) {
		used = 1;
		if (r->skip || (r->seeking && r->position % r->align)) {
			used = (int)pass(r, n);
		} else if (r->seeking) {
			r->seeking = false;
			err = end_bad(r);
			used = 0;
		} else if (!r->ncarry && *p == SPE_HDR_PADDING) {
			r->padding++;
			r->position++;
		} else {
			err = end_padding(r);
			used = err ? 0 : one(r, p, n);
			if (used < 0)
				err = used;
		}
		if (used > 0) {
			p += used;
			n -= (size_t)used;
		}
	}
	return err;
}

/* What is under way ends here. */
static int rest(struct reader *r)
{
	int err = end_padding(r);

	if (!err)
		err = end_bad(r);
	if (!err)
		err = say(r, HWT_PACKET_CUT, r->position - r->ncarry, r->ncarry);
	r->ncarry = 0;
	r->skip = 0;
	r->seeking = false;
	return err;
}

int spe_packets(struct hwt_stream *st,
		int (*fn)(void *ctx, const struct hwt_packet *packet), void *ctx)
{
	struct reader r = {.fn = fn, .ctx = ctx};
	uint64_t position, lost;
	const uint8_t *bytes;
	size_t n;
	int err;

	r.align = st->session->align ? st->session->align : ALIGN_UNKNOWN;
	while ((err = hwt_stream_chunk(st, &bytes, &n, &position, &lost)) > 0) {
		err = 0;
		if (lost) {
			err = rest(&r);
			if (!err)
				err = say(&r, HWT_PACKET_LOST, position - lost, lost);
			r.position = position;
			/* The rest of a record whose beginning is missing. */
			r.seeking = position % r.align != 0;
		}
		if (!err)
			err = consume(&r, bytes, n);
		if (err)
			return err;
	}
	return err ? err : rest(&r);
}
