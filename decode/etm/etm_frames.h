/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The formatter's 16-byte frames back to the bytes of one source (IHI 0029 D4.2).
 * The result does not depend on how the bytes are cut.
 */
#ifndef DECODE_ETM_FRAMES_H
#define DECODE_ETM_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../hw/coresight.h"

struct etm_frames {
	uint64_t	offset;		/* absolute position of frame[0] */
	uint8_t		frame[CS_FRAME];
	uint8_t		fill;		/* bytes of it that are there */
	uint8_t		id;		/* of the next data byte; 0xff: not known yet */
	bool		seen[128];	/* IDs that had data */
	uint64_t	unknown;	/* data bytes before the first ID */
};

#define ETM_FRAME_NO_ID		0xff

/* `offset`: absolute position of the first byte. */
void etm_frames_init(struct etm_frames *f, uint64_t offset);
/* Bytes are missing, or what follows belongs to another recording. */
void etm_frames_reset(struct etm_frames *f, uint64_t offset);
/* The last ID in a frame, in force behind it; 0: it has none. */
uint8_t etm_frame_id(const uint8_t frame[CS_FRAME]);
/* Bytes of one source that follow each other in a frame. */
struct etm_segment {
	uint64_t	offset;		/* absolute, where the segment begins */
	uint8_t		n;
	uint8_t		bytes[CS_FRAME];
};
#define ETM_FRAME_SEGMENTS	8	/* at most, in a frame */

/*
 * Takes bytes (at most *n, which becomes how many it took) until a frame is
 * complete.  Returns how many segments of source `id` are in it, in out[]; a frame
 * that is not complete gives 0.
 */
size_t etm_frames_take(struct etm_frames *f, uint8_t id, const uint8_t *bytes, size_t *n,
		       struct etm_segment *out);

#endif
