/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SPE decoder: a pull parser from trace bytes to samples.
 *
 *	spe_decoder_feed(d, bytes, n);
 *	while ((n = spe_decoder_next(d, events, max)) > 0)
 *		...;
 *	// 0: it needs more bytes
 *	spe_decoder_finish(d); and next() again until 0
 *
 * The result does not depend on how the bytes are cut.  Only whole records
 * become samples: one that ends with an End or Timestamp packet, has the address
 * of its instruction, and has no packet twice (a record that was cut, followed
 * by the next one).  Records carry no sync pattern, but each begins at a
 * multiple of the buffer's alignment (PMBIDR_EL1.Align): after trouble decoding
 * goes on at the next one, and the bytes between are a gap.
 */
#ifndef DECODE_SPE_DECODER_H
#define DECODE_SPE_DECODER_H

#include <stdbool.h>
#include "../event.h"
#include "spe_packet.h"

/* struct spe_sample.has; SPE_HAS_ADDR(SPE_ADDR_*), SPE_HAS_COUNTER(SPE_COUNTER_*). */
#define SPE_HAS_ADDR(i)		(1u << (i))
#define SPE_HAS_COUNTER(i)	(1u << (8 + (i)))
#define SPE_HAS_CONTEXT(i)	(1u << (16 + (i)))
#define SPE_HAS_OPERATION	(1u << 20)
#define SPE_HAS_EVENTS		(1u << 21)
#define SPE_HAS_SOURCE		(1u << 22)
#define SPE_HAS_TIME		(1u << 23)

/* One sampled operation.  What `has` does not say is 0. */
struct spe_sample {
	uint32_t	has;
	uint8_t		op_class;	/* SPE_CLASS_* */
	uint8_t		op;		/* Operation Type's payload */
	uint8_t		el;		/* exception level of the instruction */
	bool		ns;		/* it was in Non-secure state */
	/*
	 * Addresses, without the bits that are none: instructions' with the top
	 * byte as bit 55, data with the tag of its top byte.
	 */
	uint64_t	addr[SPE_ADDR_COUNT];
	uint64_t	events;		/* bits SPE_EV_* */
	uint64_t	time;		/* ticks of the timestamp's counter */
	uint16_t	counter[SPE_COUNTER_COUNT];	/* cycles */
	uint32_t	context[2];	/* CONTEXTIDR_EL1, _EL2 */
	uint16_t	source;		/* raw */
};

enum spe_event_type {
	SPE_SAMPLE = 1,		/* sample; offset: its first byte, bytes: all of it */
	SPE_GAP,		/* bytes that gave no sample: error says why */
	SPE_ERROR,		/* at offset: error */
};

struct spe_event {
	uint8_t		type;		/* enum spe_event_type */
	uint16_t	error;		/* enum trace_gap: GAP, ERROR */
	uint64_t	offset;		/* absolute, in the stream */
	uint64_t	bytes;		/* SAMPLE, GAP */
	struct spe_sample sample;	/* SAMPLE */
};

struct spe_decoder;

struct spe_decoder_config {
	uint64_t	offset;		/* absolute position of the first byte */
	/*
	 * What records' beginnings are multiples of, bytes, a power of two; 0:
	 * not known, 64 is taken (a smaller one only makes a gap longer).
	 */
	uint32_t	align;
};

/* NULL: no memory, or align is no power of two up to SPE_RECORD_MAX. */
struct spe_decoder *spe_decoder_new(const struct spe_decoder_config *config);
void spe_decoder_free(struct spe_decoder *d);
/* As pt_decoder_feed: borrowed until next() returns 0.  0, or -EBUSY. */
int spe_decoder_feed(struct spe_decoder *d, const uint8_t *bytes, size_t n);
/* No more bytes: a record that was cut is TRACE_ERR_TRUNCATED and a gap. */
void spe_decoder_finish(struct spe_decoder *d);
/*
 * n bytes are missing here, once next() has returned 0: TRACE_GAP_LOST.  A record
 * that they cut is TRACE_ERR_TRUNCATED and a gap.
 */
void spe_decoder_lost(struct spe_decoder *d, uint64_t n);
/* Fills at most max events; how many, 0: needs more. */
int spe_decoder_next(struct spe_decoder *d, struct spe_event *ev, int max);

#endif
