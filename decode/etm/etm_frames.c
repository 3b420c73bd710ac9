/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "etm_frames.h"

void etm_frames_init(struct etm_frames *f, uint64_t offset)
{
	memset(f, 0, sizeof(*f));
	etm_frames_reset(f, offset);
}

void etm_frames_reset(struct etm_frames *f, uint64_t offset)
{
	f->offset = offset;
	f->fill = 0;
	f->id = ETM_FRAME_NO_ID;
}

struct unpacking {
	uint8_t *out;
	size_t n;
	uint8_t wanted;
};

static void data_byte(struct etm_frames *f, struct unpacking *u, uint8_t byte)
{
	if (f->id == ETM_FRAME_NO_ID) {
		f->unknown++;
		return;
	}
	f->seen[f->id] = true;
	if (f->id == u->wanted)
		u->out[u->n++] = byte;
}

static size_t unpack(struct etm_frames *f, uint8_t id, uint8_t *out)
{
	struct unpacking u = {.out = out, .wanted = id};
	uint8_t aux = f->frame[CS_FRAME_AUX];
	unsigned int i;

	for (i = 0; i < CS_FRAME_AUX; i += 2, aux >>= 1) {
		uint8_t even = f->frame[i], new_id = even >> 1;
		bool is_id = even & CS_FRAME_ID, last = i + 1 == CS_FRAME_AUX;

		if (!is_id)
			data_byte(f, &u, even | (aux & 1));
		/* The auxiliary bit: the byte after an ID is still the old one's. */
		if (is_id && !(aux & 1))
			f->id = new_id;
		if (!last)
			data_byte(f, &u, f->frame[i + 1]);
		if (is_id)
			f->id = new_id;
	}
	return u.n;
}

size_t etm_frames_take(struct etm_frames *f, uint8_t id, const uint8_t *bytes, size_t *n,
		       uint8_t *out, uint64_t *at)
{
	size_t k = CS_FRAME - f->fill < *n ? CS_FRAME - f->fill : *n;

	memcpy(f->frame + f->fill, bytes, k);
	f->fill += k;
	*n = k;
	if (f->fill < CS_FRAME)
		return 0;
	*at = f->offset;
	f->offset += CS_FRAME;
	f->fill = 0;
	return unpack(f, id, out);
}
