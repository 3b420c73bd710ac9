/* SPDX-License-Identifier: BSD-2-Clause */
/* The packets of a trace source as a list, for `hwt dump`. */
#ifndef DECODE_ETM_PACKET_H
#define DECODE_ETM_PACKET_H

#include "etm_decoder.h"

struct etm_packet {
	uint64_t	offset;		/* absolute, of the bytes it began in */
	uint32_t	size;		/* bytes */
	const uint8_t	*bytes;
	bool		bad;		/* no packet: not synchronised, or undecodable */
	const char	*text;		/* name and fields, one line */
};

struct etm_packets;

/*
 * `packet` is called from feed and finish; what it gets is valid in it only.
 * NULL: no memory, or OpenCSD refuses the configuration.
 */
struct etm_packets *etm_packets_new(const struct etm_source *source, bool formatted,
				    uint64_t offset,
				    void (*packet)(void *ctx, const struct etm_packet *p),
				    void *ctx);
/* The same, told of timestamps alone: offset of the packet, the time that it makes. */
struct etm_packets *etm_packets_new_times(const struct etm_source *source, bool formatted,
					  uint64_t offset,
					  void (*time)(void *ctx, uint64_t offset,
						       uint64_t ticks),
					  void *ctx);
void etm_packets_free(struct etm_packets *p);
/* Of frames, before the first byte: the ID in force there; 0: not known. */
void etm_packets_first_id(struct etm_packets *p, uint8_t id);
void etm_packets_feed(struct etm_packets *p, const uint8_t *bytes, size_t n);
/* A packet that is not complete is told as bad. */
void etm_packets_finish(struct etm_packets *p);

#endif
