/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source's bytes to whole packets, of ETMv4 (IHI 0064 6.4) and of ETE: a header says
 * how long its packet is.  The result does not depend on how the bytes are cut.
 */
#ifndef DECODE_ETM_SCAN_H
#define DECODE_ETM_SCAN_H

#include "etm_decoder.h"

enum etm_kind {
	ETM_NONE,		/* no packet is complete yet */
	ETM_BAD,		/* no packet: an unknown header, or one that does not end */
	ETM_ASYNC,
	ETM_DISCARD,		/* or overflow */
	ETM_TRACE_INFO,
	ETM_TRACE_ON,
	ETM_TIMESTAMP,		/* ...markers, and events: what no speculation cancels */
	ETM_CYCLES,
	ETM_EXCEPTION,
	ETM_RETURN,		/* exception return, PE reset; how a transaction ended */
	ETM_TRANSACTION,	/* its start */
	ETM_COMMIT,
	ETM_CANCEL,		/* and mispredictions */
	ETM_CONTEXT,
	ETM_ADDRESS_CONTEXT,
	ETM_ADDRESS,
	ETM_SOURCE,		/* ETE's source address */
	ETM_Q,
	ETM_ATOMS,
	ETM_KIND_MAX
};

#define ETM_PACKET_MAX	32	/* bytes */

struct etm_piece {
	uint64_t	offset;		/* of its first byte */
	const uint8_t	*bytes;		/* valid until the next scan */
	uint8_t		n;
	uint8_t		kind;		/* enum etm_kind */
	uint64_t	before;		/* bytes of the source before it; the decoder's own */
};

struct etm_scan {
	uint8_t		version;	/* major in the upper half; ETE is from 0x50 on */
	uint8_t		cid, vmid;	/* bytes of each in a context */
	bool		q;		/* Q elements */
	bool		commits;	/* cycle counts have commits */
	bool		synced;
	uint8_t		zeros;		/* of what may be an A-sync, before that */
	uint64_t	skipped;	/* bytes before it that are none */
	uint64_t	skipped_at;	/* offset of the first */
	uint64_t	at;		/* of bytes[0], and of the A-sync's first zero */
	uint8_t		n;		/* of a packet that is not complete */
	uint8_t		bytes[ETM_PACKET_MAX];
};

/* Major version in the upper half, minor in the lower one. */
uint8_t etm_version(const struct etm_source *source);
void etm_scan_init(struct etm_scan *s, const struct etm_source *source);
/* What follows is no packet until the next A-sync. */
void etm_scan_lost(struct etm_scan *s);
/*
 * Takes some of n bytes, and returns how many: up to the end of a packet (*p, a kind
 * but ETM_NONE), or all.  Behind a packet that is ETM_BAD it looks for an A-sync.
 */
size_t etm_scan(struct etm_scan *s, uint64_t offset, const uint8_t *bytes, size_t n,
		struct etm_piece *p);
/* No more bytes: what may have become an A-sync was skipped, too. */
void etm_scan_end(struct etm_scan *s);
/* A number of seven bits a byte (6.2), of at most max bytes: how many it has. */
uint8_t etm_number(const uint8_t *bytes, uint8_t max, uint32_t *value);

#endif
