/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream's packets, one by one, without following the flow. */
#ifndef SESSION_PACKETS_H
#define SESSION_PACKETS_H

#include "session.h"

enum hwt_packet_kind {
	HWT_PACKET,		/* text says what */
	HWT_PACKET_BAD,		/* bytes that are no packet, up to the next sync point */
	HWT_PACKET_LOST,	/* bytes that are not in the recording */
	HWT_PACKET_CUT,		/* the stream ends inside a packet */
};

struct hwt_packet {
	enum hwt_packet_kind kind;
	uint64_t	position;	/* absolute bytes in the stream */
	uint64_t	length;		/* bytes */
	const char	*name;		/* "TIP.PGE"; NULL unless HWT_PACKET */
	const char	*text;		/* name and payload, as `hwt dump` shows it */
	const uint8_t	*bytes;		/* HWT_PACKET: length of them */
};

/*
 * Calls fn for each, in order; what fn returns other than 0 ends it and is
 * returned.  0, -ENOMEM, -EOPNOTSUPP (no packet reader for the backend), -errno
 * of reading.
 */
int hwt_stream_packets(struct hwt_session *s, struct hwt_stream *st,
		       int (*fn)(void *ctx, const struct hwt_packet *packet), void *ctx);

/*
 * How many of n bytes of Intel PT, which begin at a packet, are whole packets; the
 * rest is the beginning of one, or none.
 */
size_t hwt_pt_whole_packets(const uint8_t *bytes, size_t n);

#endif
