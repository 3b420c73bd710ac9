/* SPDX-License-Identifier: BSD-2-Clause */
/* hwt(8)'s listing: tab-separated columns by name, a line an event or a sample. */
#ifndef PRESENT_COLUMNS_H
#define PRESENT_COLUMNS_H

#include "out.h"
#include "script.h"

/* At most 16 columns, as -o names them; 0, or -EINVAL with *bad and *bad_len. */
struct columns {
	uint8_t		column[16];
	int		n;
	bool		every;		/* every event; else where the function changes */
};
int columns_parse(struct columns *c, const char *list, const char **bad, int *bad_len);
#define COLUMNS_DEFAULT	"id,image,symbol,pc,event_type"

/* last: of the line before, zero to begin with. */
void columns_event(const struct columns *c, struct out *o,
		   const struct script_thread *thread, const struct trace_event *ev,
		   struct image_symbol *last);
/* A line a sample, and a loss. */
void columns_sample(const struct columns *c, struct out *o,
		    const struct script_thread *thread, const struct spe_event *ev);

#endif
