/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intel PT decoder: a pull parser from trace bytes to events (decode/event.h).
 *
 *	pt_decoder_feed(d, bytes, n);
 *	while ((n = pt_decoder_next(d, events, max)) > 0)
 *		...;
 *	// 0: it needs more bytes
 *	pt_decoder_finish(d); and next() again until 0
 *
 * The result does not depend on how the bytes are cut.  It decodes nothing
 * until the first PSB (TRACE_GAP_NO_SYNC tells how much was skipped).
 * Everything that can be known from the bytes fed so far is returned before
 * next() says 0: at a break of the stream (TIP.PGD) nothing is held back, so
 * the caller may change the image there and call pt_decoder_invalidate.
 * Code is fetched when the flow needs it, never ahead, and never at the target
 * of a TIP.PGD.
 *
 * What happens after trouble:
 *   TRACE_ERROR	decoding goes on at the next PSB; the bytes between are
 *			a TRACE_GAP of type TRACE_GAP_NO_SYNC.  Two errors go on
 *			at the next packet with an address instead, since the
 *			packets themselves are in order: TRACE_ERR_DISABLED and
 *			a TIP.PGE while tracing was on.
 *   no code at ip	the flow is lost from there to the next packet with an
 *			address (TIP, FUP, TIP.PGE, PSB+), then goes on: one
 *			TRACE_GAP (NO_CODE, or ERR_RETURN where a compressed
 *			return needs a call that was made inside the gap).
 *   OVF		TRACE_GAP; goes on at the address that follows.
 *   TIP.PGD after FUP	(asynchronous) TRACE_ASYNC, then TRACE_DISABLED.
 * When flow comes back there is a TRACE_ENABLED with the address.
 */
#ifndef DECODE_PT_DECODER_H
#define DECODE_PT_DECODER_H

#include "../event.h"
#include "../../hw/pt.h"

struct pt_decoder;

struct pt_decoder_config {
	trace_code_fn	code;
	void		*code_ctx;
	/*
	 * Time.  tsc_ratio_* is CPUID.15H (TSC = ART * ebx / eax), mtc_freq the
	 * MTCFreq field that was programmed, cbr_max the nominal ratio.
	 * All 0: only TSC packets give time.
	 */
	uint32_t	tsc_ratio_den, tsc_ratio_num;	/* eax, ebx */
	uint32_t	mtc_freq;
	uint32_t	nominal_ratio;		/* core:bus at TSC frequency */
	bool		mtc_enabled, cyc_enabled;
	bool		no_compression;		/* DisRETC was set: RETs have TIPs */
	uint64_t	offset;			/* absolute position of the first byte */
	uint64_t	max_walk;		/* instructions without a packet; 0: 1 << 20 */
	/*
	 * The filter ranges that were programmed (ADDRn_A, ADDRn_B: both belong
	 * to the range), 0 if none or unknown.  Only used where a TIP.PGD has no
	 * address though flow left a range by a direct branch (erratum SKL014).
	 */
	uint32_t	nranges;
	struct pt_decoder_range {
		uint64_t first, last;
	} ranges[PT_MAX_RANGES];
};

/* NULL: no memory.  Both configs are copied. */
struct pt_decoder *pt_decoder_new(const struct pt_decoder_config *config);
void pt_decoder_free(struct pt_decoder *d);
/*
 * Gives n bytes that follow what was fed; borrowed until next() returns 0.
 * May be called again only then.  0, or -EBUSY.
 */
int pt_decoder_feed(struct pt_decoder *d, const uint8_t *bytes, size_t n);
/* No more bytes: what is pending comes out, a cut packet is TRACE_ERR_TRUNCATED. */
void pt_decoder_finish(struct pt_decoder *d);
/* n bytes of trace are missing here (ring wrap, lost): resync at the next PSB. */
void pt_decoder_lost(struct pt_decoder *d, uint64_t n);
/*
 * Fills at most max events; how many, 0: needs more.  -ENOMEM: and from then on
 * always so; free it.
 */
int pt_decoder_next(struct pt_decoder *d, struct trace_event *ev, int max);
/* Code in [addr, addr + len) changed: cached blocks that touch it are dropped. */
void pt_decoder_invalidate(struct pt_decoder *d, uint64_t addr, uint64_t len);
/* The filter ranges from here on (config.ranges); n: at most PT_MAX_RANGES. */
void pt_decoder_set_ranges(struct pt_decoder *d, const struct pt_decoder_range *range,
			   uint32_t n);
/* Blocks decoded so far: trace_block.id < this. */
uint32_t pt_decoder_nblocks(const struct pt_decoder *d);

#endif
