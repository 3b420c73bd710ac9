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

uint8_t etm_frame_id(const uint8_t frame[CS_FRAME])
{
	int i;

	for (i = CS_FRAME_AUX - 1; i >= 0; i -= 2)
		if (frame[i] & CS_FRAME_ID)
			return frame[i] >> 1;
	return 0;
}

struct unpacking {
	struct etm_segment *out;
	size_t n;			/* segments begun */
	unsigned int begin;		/* byte of the frame where the next one begins */
	bool any, open;			/* it has bytes; they are wanted and in out[n - 1] */
	uint8_t wanted;
};

static void data_byte(struct etm_frames *f, struct unpacking *u, uint8_t byte)
{
	struct etm_segment *s;

	u->any = true;
	if (f->id == ETM_FRAME_NO_ID) {
		f->unknown++;
		return;
	}
	f->seen[f->id] = true;
	if (f->id != u->wanted)
		return;
	if (!u->open) {
		u->open = true;
		u->out[u->n].offset = f->offset + u->begin;
		u->out[u->n++].n = 0;
	}
	s = &u->out[u->n - 1];
	s->bytes[s->n++] = byte;
}

/* The ID in byte i: what follows is a segment of its own, if anything came before. */
static void change_id(struct etm_frames *f, struct unpacking *u, uint8_t id,
		      unsigned int i)
{
	if (id == f->id)
		return;
	f->id = id;
	if (u->any)
		u->begin = i;
	u->any = false;
	u->open = false;
}

static size_t unpack(struct etm_frames *f, uint8_t id, struct etm_segment *out)
{
	struct unpacking u = {.out = out, .wanted = id};
	uint8_t aux = f->frame[CS_FRAME_AUX];
	unsigned int i;

	for (i = 0; i < CS_FRAME_AUX; i += 2, aux >>= 1) {
		uint8_t even = f->frame[i];
		bool is_id = even & CS_FRAME_ID, last = i + 1 == CS_FRAME_AUX;

		if (!is_id)
			data_byte(f, &u, even | (aux & 1));
		/* The auxiliary bit: the byte after an ID is still the old one's. */
		if (is_id && !(aux & 1))
			change_id(f, &u, even >> 1, i);
		if (!last)
			data_byte(f, &u, f->frame[i + 1]);
		if (is_id)
			change_id(f, &u, even >> 1, i);
	}
	return u.n;
}

size_t etm_frames_take(struct etm_frames *f, uint8_t id, const uint8_t *bytes, size_t *n,
		       struct etm_segment *out)
{
	size_t k = CS_FRAME - f->fill < *n ? CS_FRAME - f->fill : *n, got;

	memcpy(f->frame + f->fill, bytes, k);
	f->fill += k;
	*n = k;
	if (f->fill < CS_FRAME)
		return 0;
	got = unpack(f, id, out);
	f->offset += CS_FRAME;
	f->fill = 0;
	return got;
}
