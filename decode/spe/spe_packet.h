/* SPDX-License-Identifier: BSD-2-Clause */
/* Packet layer of the SPE decoder: bytes to packets (DDI 0487, D10.2). */
#ifndef DECODE_SPE_PACKET_H
#define DECODE_SPE_PACKET_H

#include <stddef.h>
#include <stdint.h>
#include "../../hw/spe.h"

enum spe_packet_type {
	SPE_BAD, SPE_PADDING, SPE_ALIGNMENT, SPE_END, SPE_TIMESTAMP, SPE_ADDRESS,
	SPE_COUNTER, SPE_CONTEXT, SPE_OPERATION, SPE_EVENTS, SPE_SOURCE,
	SPE_PACKET_MAX
};

struct spe_packet {
	uint8_t		type;		/* enum spe_packet_type */
	uint8_t		length;		/* bytes; ALIGNMENT: with all that it skips */
	uint8_t		index;		/* ADDRESS COUNTER CONTEXT; OPERATION: the class */
	uint8_t		size;		/* bytes of payload, 0: none */
	uint64_t	payload;
};
#define SPE_PACKET_LENGTH_MAX	16	/* an alignment's; any other has at most 10 */
#define SPE_PACKET_TEXT_MAX	1200	/* all 64 events by name */

/*
 * Decodes the packet at p (n bytes are there), which is at `position` in its
 * buffer: alignment counts from there.  > 0: its length, *pkt filled; for an
 * alignment more than n perhaps.  0: needs more bytes.  -EINVAL: unknown
 * (pkt->type SPE_BAD, length 1).
 */
int spe_packet_decode(const uint8_t *p, size_t n, uint64_t position,
		      struct spe_packet *pkt);
/* As perf names them: "ADDR", "LAT", "EVENTS" ...; never NULL. */
const char *spe_packet_name(enum spe_packet_type type);
/*
 * One line without newline, as `perf report -D` words it: bytes written, as
 * snprintf; buf of SPE_PACKET_TEXT_MAX holds any.
 */
int spe_packet_format(const struct spe_packet *pkt, char *buf, size_t n);

/*
 * Name of an event bit, 0..63.  Bits without an architected meaning are
 * "EVENT-n".  Never NULL.
 */
const char *spe_event_name(unsigned int bit);
/*
 * Words for an operation: "LD GP-REG", "B COND IND", "OTHER"; as snprintf.
 */
int spe_operation_format(unsigned int class, uint8_t payload, char *buf, size_t n);
/* Name of a data source by Neoverse's encoding; NULL: none is known. */
const char *spe_source_name(uint64_t source);

#endif
