/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ETMv4 and ETE decoder: a pull parser from the bytes of one trace source to events
 * (decode/event.h), over OpenCSD.  Used as decode/pt/pt_decoder.h is:
 *
 *	etm_decoder_feed(d, bytes, n);
 *	while ((n = etm_decoder_next(d, events, max)) > 0)
 *		...;
 *	// 0: it needs more bytes
 *	etm_decoder_finish(d); and next() again until 0
 *
 * The bytes are the source's own, or a sink's formatted frames, of which it takes
 * its source's.  The result does not depend on how they are cut.
 *
 * What becomes of the elements:
 *   instruction range	TRACE_RUN; `to` of an indirect branch is known with what
 *			follows, so it is given then
 *   trace on		TRACE_DISABLED (ip: where flow would have gone on, 0
 *			unknown) where flow was known, then TRACE_ENABLED
 *   exception		a system call ends its run (BLOCK_SYSCALL); others are
 *			TRACE_ASYNC: ip the preferred return address, value the
 *			number (ETM4_EXC_*), `to` the vector where that is traced.
 *			A debug halt is TRACE_DISABLED
 *   no code		TRACE_GAP (NO_CODE), value: bytes of trace without flow
 *   overflow, discard	TRACE_GAP (OVERFLOW)
 *   bad packet, or one that does not fit	TRACE_ERROR; decoding goes on at the
 *			next A-sync, the bytes between are TRACE_GAP (NO_SYNC)
 *   context ID		TRACE_CONTEXT, value: the ID
 * Only AArch64 and A32 code is followed; T32 is TRACE_ERROR (MODE).
 *
 * OpenCSD gets whole packets, of what is committed, and none that it would die of:
 * any bytes are safe.  What is not committed at the end did not happen.
 */
#ifndef DECODE_ETM_DECODER_H
#define DECODE_ETM_DECODER_H

#include "../event.h"
#include "../../hw/etm4.h"

struct etm_decoder;

/* A trace source's registers, as a recording keeps them. */
struct etm_source {
	uint32_t	traceidr;	/* TRCTRACEIDR: the trace ID */
	uint32_t	configr;	/* TRCCONFIGR */
	uint32_t	idr[ETM4_NUM_IDR];
	uint32_t	devarch;	/* ETE: TRCDEVARCH */
	bool		ete;
};

struct etm_decoder_config {
	struct etm_source source;
	trace_code_fn	code;
	void		*code_ctx;
	uint64_t	offset;		/* absolute position of the first byte */
	bool		formatted;	/* frames of a sink, with trace IDs */
	uint8_t		first_id;	/* the ID in force at the first byte; 0: not known */
	uint64_t	max_walk;	/* bytes of code without a packet; 0: 4 MiB */
};

/* NULL: no memory, or OpenCSD refuses the configuration (data trace, ...). */
struct etm_decoder *etm_decoder_new(const struct etm_decoder_config *config);
void etm_decoder_free(struct etm_decoder *d);
/* Borrowed until next() returns 0; again only then.  0, or -EBUSY. */
int etm_decoder_feed(struct etm_decoder *d, const uint8_t *bytes, size_t n);
/* No more bytes: what is pending comes out. */
void etm_decoder_finish(struct etm_decoder *d);
/* n bytes of trace are missing here: goes on at the next A-sync. */
void etm_decoder_lost(struct etm_decoder *d, uint64_t n);
/* Fills at most max events; how many, 0: needs more.  -ENOMEM for good. */
int etm_decoder_next(struct etm_decoder *d, struct trace_event *ev, int max);
/* Code in [addr, addr + len) changed. */
void etm_decoder_invalidate(struct etm_decoder *d, uint64_t addr, uint64_t len);
/* Bytes of the source so far: of frames its own. */
uint64_t etm_decoder_taken(const struct etm_decoder *d);
/* Blocks so far: trace_block.id < this. */
uint32_t etm_decoder_nblocks(const struct etm_decoder *d);

#endif
