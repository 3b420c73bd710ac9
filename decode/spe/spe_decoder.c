/* SPDX-License-Identifier: BSD-2-Clause */
#include "spe_decoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ALIGN	64
#define QUEUE		8	/* events that one step, or lost and finish together, can make */

struct spe_decoder {
	uint64_t	align;
	uint64_t	position;	/* of the next byte to look at */
	const uint8_t	*bytes;		/* borrowed */
	size_t		n;

	uint8_t		carry[SPE_PACKET_LENGTH_MAX];	/* of a packet that was cut */
	unsigned int	ncarry;

	bool		skipping;	/* to the next multiple of align: a gap */
	bool		in_record;
	uint64_t	start;		/* of the record, or of the gap */
	uint16_t	reason;		/* of the gap */
	uint64_t	aligning;	/* bytes of an Alignment packet still to skip */
	struct spe_sample sample;

	struct spe_event queue[QUEUE];
	unsigned int	nqueue, taken;
};

struct spe_decoder *spe_decoder_new(const struct spe_decoder_config *config)
{
	uint32_t align = config->align ? config->align : DEFAULT_ALIGN;
	struct spe_decoder *d;

	if (align & (align - 1) || align > SPE_RECORD_MAX)
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->align = align;
	d->position = config->offset;
	return d;
}

void spe_decoder_free(struct spe_decoder *d)
{
	free(d);
}

int spe_decoder_feed(struct spe_decoder *d, const uint8_t *bytes, size_t n)
{
	if (d->n)
		return -EBUSY;
	d->bytes = bytes;
	d->n = n;
	return 0;
}

static struct spe_event *push(struct spe_decoder *d, enum spe_event_type type,
			      uint16_t error, uint64_t offset, uint64_t bytes)
{
	struct spe_event *ev = &d->queue[d->nqueue++];

	memset(ev, 0, sizeof(*ev));
	ev->type = type;
	ev->error = error;
	ev->offset = offset;
	ev->bytes = bytes;
	return ev;
}

/* n: -1 takes back the byte that was taken last. */
static void advance(struct spe_decoder *d, ptrdiff_t n)
{
	d->bytes += n;
	d->n -= (size_t)n;
	d->position += (uint64_t)n;
}

/* A record that ends at `end` without having been whole, or any other gap. */
static void end_gap(struct spe_decoder *d, uint64_t end)
{
	if (end > d->start)
		push(d, SPE_GAP, d->reason, d->start, end - d->start);
	d->skipping = false;
	d->in_record = false;
}

/* Nothing is known up to the next place where a record may begin. */
static void resync(struct spe_decoder *d, uint16_t error, uint64_t at)
{
	push(d, SPE_ERROR, error, at, 0);
	if (!d->in_record)
		d->start = at;
	d->reason = TRACE_GAP_NO_SYNC;
	d->in_record = false;
	d->skipping = true;
	d->aligning = 0;
}

static bool addr_is_instruction(unsigned int index)
{
	return index == SPE_ADDR_PC || index == SPE_ADDR_TARGET ||
	       index == SPE_ADDR_PREV_TARGET;
}

/* Bits 63:56 of an instruction's address hold other things: bit 55 goes there. */
static uint64_t instruction(uint64_t payload)
{
	return (uint64_t)((int64_t)(payload << 8) >> 8);
}

static void take_address(struct spe_sample *s, const struct spe_packet *pkt)
{
	uint64_t v = pkt->payload;

	if (pkt->index == SPE_ADDR_PC) {
		s->el = (uint8_t)((v & SPE_ADDR_EL_MASK) >> SPE_ADDR_EL_SHIFT);
		s->ns = v >> 63;
	}
	if (addr_is_instruction(pkt->index))
		v = instruction(v);
	else if (pkt->index == SPE_ADDR_DATA_PA)
		v &= SPE_ADDR_MASK;
	s->addr[pkt->index] = v;
}

/* Which SPE_HAS_* a packet stands for; 0: a kind that has no place in a sample. */
static uint32_t has_bit(const struct spe_packet *pkt)
{
	switch (pkt->type) {
	case SPE_ADDRESS:
		return pkt->index < SPE_ADDR_COUNT ? SPE_HAS_ADDR(pkt->index) : 0;
	case SPE_COUNTER:
		return pkt->index < SPE_COUNTER_COUNT ? SPE_HAS_COUNTER(pkt->index) : 0;
	case SPE_CONTEXT:
		return pkt->index < 2 ? SPE_HAS_CONTEXT(pkt->index) : 0;
	case SPE_OPERATION:
		return SPE_HAS_OPERATION;
	case SPE_EVENTS:
		return SPE_HAS_EVENTS;
	case SPE_SOURCE:
		return SPE_HAS_SOURCE;
	case SPE_TIMESTAMP:
		return SPE_HAS_TIME;
	default:
		return 0;
	}
}

static void take(struct spe_sample *s, const struct spe_packet *pkt)
{
	switch (pkt->type) {
	case SPE_ADDRESS:
		take_address(s, pkt);
		break;
	case SPE_COUNTER:
		s->counter[pkt->index] = (uint16_t)pkt->payload;
		break;
	case SPE_CONTEXT:
		s->context[pkt->index] = (uint32_t)pkt->payload;
		break;
	case SPE_OPERATION:
		s->op_class = pkt->index;
		s->op = (uint8_t)pkt->payload;
		break;
	case SPE_EVENTS:
		s->events = pkt->payload;
		break;
	case SPE_SOURCE:
		s->source = (uint16_t)pkt->payload;
		break;
	case SPE_TIMESTAMP:
		s->time = pkt->payload;
		break;
	}
}

static void begin_record(struct spe_decoder *d, uint64_t at)
{
	d->in_record = true;
	d->start = at;
	memset(&d->sample, 0, sizeof(d->sample));
}

/* The record ended at `end`. */
static void end_record(struct spe_decoder *d, uint64_t end)
{
	if (!(d->sample.has & SPE_HAS_ADDR(SPE_ADDR_PC))) {
		resync(d, TRACE_ERR_UNEXPECTED, d->start);
		return;
	}
	push(d, SPE_SAMPLE, 0, d->start, end - d->start)->sample = d->sample;
	d->in_record = false;
}

/* One packet other than padding, which begins at `at`. */
static void packet(struct spe_decoder *d, const struct spe_packet *pkt, uint64_t at)
{
	uint32_t bit = has_bit(pkt);

	if (d->in_record && (d->sample.has & bit)) {
		/* The one before was cut: this may be the next one's beginning. */
		resync(d, TRACE_ERR_UNEXPECTED, d->start);
		if (at % d->align)
			return;
		end_gap(d, at);
	}
	if (!d->in_record)
		begin_record(d, at);
	d->sample.has |= bit;
	if (bit)
		take(&d->sample, pkt);
	if (pkt->type == SPE_END || pkt->type == SPE_TIMESTAMP)
		end_record(d, at + pkt->length);
}

/* Runs of padding are most of what there is between records. */
static bool skip_padding(struct spe_decoder *d)
{
	size_t n = 0, max = d->n;

	/* Within a record it counts, as far as the record may go. */
	if (d->in_record && d->start + SPE_RECORD_MAX + 1 - d->position < max)
		max = (size_t)(d->start + SPE_RECORD_MAX + 1 - d->position);
	while (n < max && d->bytes[n] == SPE_HDR_PADDING)
		n++;
	advance(d, n);
	return n > 0;
}

/* The next packet, put together again if it was cut: as spe_packet_decode. */
static int get_packet(struct spe_decoder *d, struct spe_packet *pkt, uint64_t *at)
{
	const uint8_t *p = d->bytes;
	size_t n = d->n;
	int len;

	*at = d->position - d->ncarry;
	if (!d->ncarry) {
		len = spe_packet_decode(p, n, *at, pkt);
		if (len) {
			size_t whole = len < 0 ? 1 : (size_t)len;

			advance(d, whole < n ? whole : n);
			d->aligning = whole > n ? whole - n : 0;
			return len;
		}
	}
	while (d->n) {
		d->carry[d->ncarry++] = d->bytes[0];
		advance(d, 1);
		len = spe_packet_decode(d->carry, d->ncarry, *at, pkt);
		/* A record may begin with the byte behind a bad extension. */
		if (len < 0 && d->ncarry > 1)
			advance(d, -1);
		if (len) {
			d->aligning = len > (int)d->ncarry ? (size_t)len - d->ncarry : 0;
			d->ncarry = 0;
			return len;
		}
	}
	return 0;
}

static void skip_to_alignment(struct spe_decoder *d)
{
	uint64_t to = (d->position + d->align - 1) & ~(d->align - 1);
	size_t n = to - d->position < d->n ? (size_t)(to - d->position) : d->n;

	advance(d, n);
	if (d->position == to)
		end_gap(d, to);
}

static void step(struct spe_decoder *d)
{
	struct spe_packet pkt;
	uint64_t at;
	size_t n;
	int len;

	if (d->skipping) {
		skip_to_alignment(d);
		return;
	}
	if (d->aligning) {
		n = d->aligning < d->n ? (size_t)d->aligning : d->n;
		d->aligning -= n;
		advance(d, n);
		return;
	}
	if (!d->ncarry && d->in_record && d->position - d->start > SPE_RECORD_MAX) {
		resync(d, TRACE_ERR_UNEXPECTED, d->start);
		return;
	}
	if (!d->ncarry && skip_padding(d))
		return;
	len = get_packet(d, &pkt, &at);
	if (len < 0)
		resync(d, TRACE_ERR_PACKET, at);
	else if (len && pkt.type != SPE_PADDING && pkt.type != SPE_ALIGNMENT)
		packet(d, &pkt, at);
}

/* Ends what is under way: at the stream's end, or where bytes are missing. */
static void cut(struct spe_decoder *d)
{
	if (d->ncarry && !d->in_record) {
		d->in_record = true;
		d->start = d->position - d->ncarry;
	}
	if (d->in_record) {
		d->reason = TRACE_ERR_TRUNCATED;
		push(d, SPE_ERROR, TRACE_ERR_TRUNCATED, d->start, 0);
	}
	if (d->in_record || d->skipping)
		end_gap(d, d->position);
	d->ncarry = 0;
	d->aligning = 0;
}

void spe_decoder_finish(struct spe_decoder *d)
{
	cut(d);
}

/* Several in a row are one gap. */
static void add_lost(struct spe_decoder *d, uint64_t n)
{
	struct spe_event *last = d->taken < d->nqueue ? &d->queue[d->nqueue - 1] : NULL;

	if (last && last->type == SPE_GAP && last->error == TRACE_GAP_LOST &&
	    last->offset + last->bytes == d->position)
		last->bytes += n;
	else
		push(d, SPE_GAP, TRACE_GAP_LOST, d->position, n);
}

void spe_decoder_lost(struct spe_decoder *d, uint64_t n)
{
	cut(d);
	if (!n)
		return;
	add_lost(d, n);
	d->position += n;
	if (d->position % d->align == 0)
		return;
	d->skipping = true;
	d->start = d->position;
	d->reason = TRACE_GAP_NO_SYNC;
}

int spe_decoder_next(struct spe_decoder *d, struct spe_event *ev, int max)
{
	int n = 0;

	while (n < max) {
		if (d->taken < d->nqueue) {
			ev[n++] = d->queue[d->taken++];
			continue;
		}
		d->nqueue = d->taken = 0;
		if (!d->n)
			break;
		step(d);
	}
	return n;
}
