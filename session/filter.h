/* SPDX-License-Identifier: BSD-2-Clause */
/* Address filters of a recording: bytes of files, and where they are mapped. */
#ifndef SESSION_FILTER_H
#define SESSION_FILTER_H

#include "../decode/event.h"
#include "../image/image.h"

struct filter_piece {
	char		*path;		/* NULL: offset is an address of the kernel */
	uint64_t	offset, len;
};
/* "filter 0x1130/0x40@/bin/x,filter 0xffffffff81000000/0x40,..." taken apart. */
struct filter {
	struct filter_piece *piece;
	size_t		n, room;
};
/*
 * 0, or -ENOMEM.  Text with anything else in it (start and stop filters) gives no pieces: it does not say which addresses were traced.
 */
int filter_parse(struct filter *f, const char *text);
void filter_free(struct filter *f);

struct filter_range {
	uint64_t	first, last;
};
/* A filter's addresses at one moment. */
struct filter_ranges {
	struct filter_range *range;
	size_t		n, room;
	bool		failed;		/* no memory */
};
/* Adds where v has f's pieces. */
void filter_place(const struct filter *f, struct image_view *v, struct filter_ranges *out);

/*
 * Shows what lies in ranges as if the unit had been filtered by them: runs are
 * cut, and flow is enabled and disabled at their borders.
 */
struct filter_cut {
	bool		on;		/* the flow is inside */
	bool		entry;		/* the next run is the first inside */
	uint32_t	done;		/* instructions of the run at work */
	uint64_t	ip;		/* ... and the one after them, if done */
};
/*
 * Turns in[0..nin) into out[0..max): how many of in are used up; *nout: how many
 * of out are filled.  What is left of in comes first in the next call.
 */
int filter_cut(struct filter_cut *c, const struct filter_ranges *ranges,
	       const struct trace_event *in, int nin, struct trace_event *out, int max,
	       int *nout);

#endif
