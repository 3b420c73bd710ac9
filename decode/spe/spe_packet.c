/* SPDX-License-Identifier: BSD-2-Clause */
#include "spe_packet.h"

#include <errno.h>
#include <string.h>

static uint64_t little_endian(const uint8_t *p, unsigned int size)
{
	uint64_t v = 0;

	while (size--)
		v = v << 8 | p[size];
	return v;
}

/* Payload behind a header of `header` bytes. */
static int payload(const uint8_t *p, size_t n, unsigned int header, struct spe_packet *pkt)
{
	pkt->size = (uint8_t)SPE_HDR_SIZE(p[header - 1]);
	pkt->length = (uint8_t)(header + pkt->size);
	if (n < pkt->length)
		return 0;
	pkt->payload = little_endian(p + header, pkt->size);
	return pkt->length;
}

static int bad(struct spe_packet *pkt)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->length = 1;
	return -EINVAL;
}

static int single(struct spe_packet *pkt, enum spe_packet_type type)
{
	pkt->type = type;
	pkt->length = 1;
	return 1;
}

static int alignment(uint8_t hdr, uint64_t position, struct spe_packet *pkt)
{
	unsigned int to = 2u << (hdr & 3);

	pkt->type = SPE_ALIGNMENT;
	pkt->length = (uint8_t)(to - (position & (to - 1)));
	/* The packet itself has two bytes. */
	if (pkt->length < 2)
		pkt->length = (uint8_t)(pkt->length + to);
	return pkt->length;
}

/* Types that share an index in their lowest three bits, also behind an extension. */
static int indexed(const uint8_t *p, size_t n, uint64_t position, struct spe_packet *pkt)
{
	unsigned int header = (p[0] & SPE_HDR_CLASS_MASK) == SPE_HDR_EXTENDED ? 2 : 1;
	uint8_t hdr;

	if (n < header)
		return 0;
	hdr = p[header - 1];
	if (header == 2 && hdr == SPE_HDR1_ALIGNMENT)
		return alignment(p[0], position, pkt);
	pkt->index = hdr & 7;
	if (header == 2)
		pkt->index |= (uint8_t)((p[0] & 3) << 3);
	if ((hdr & SPE_HDR_INDEX_MASK) == SPE_HDR_ADDRESS)
		pkt->type = SPE_ADDRESS;
	else if ((hdr & SPE_HDR_INDEX_MASK) == SPE_HDR_COUNTER)
		pkt->type = SPE_COUNTER;
	else
		return bad(pkt);
	return payload(p, n, header, pkt);
}

static const struct {
	uint8_t mask, value, type, index_mask;
} plain[] = {
	{0xff, SPE_HDR_TIMESTAMP, SPE_TIMESTAMP, 0},
	{SPE_HDR_SIZED_MASK, SPE_HDR_EVENTS, SPE_EVENTS, 0},
	{SPE_HDR_SIZED_MASK, SPE_HDR_SOURCE, SPE_SOURCE, 0},
	{SPE_HDR_CLASS_MASK, SPE_HDR_CONTEXT, SPE_CONTEXT, 3},
	{SPE_HDR_CLASS_MASK, SPE_HDR_OPERATION, SPE_OPERATION, 3},
};

int spe_packet_decode(const uint8_t *p, size_t n, uint64_t position,
		      struct spe_packet *pkt)
{
	size_t i;

	memset(pkt, 0, sizeof(*pkt));
	if (!n)
		return 0;
	if (p[0] == SPE_HDR_PADDING)
		return single(pkt, SPE_PADDING);
	if (p[0] == SPE_HDR_END)
		return single(pkt, SPE_END);
	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if ((p[0] & plain[i].mask) != plain[i].value)
			continue;
		pkt->type = plain[i].type;
		pkt->index = p[0] & plain[i].index_mask;
		return payload(p, n, 1, pkt);
	}
	return indexed(p, n, position, pkt);
}
