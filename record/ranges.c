/* SPDX-License-Identifier: BSD-2-Clause */
/* Many ranges into the few that a unit has. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static int by_start(const void *pa, const void *pb)
{
	const struct ipf_range *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Joins range i and the one behind it. */
static void join(struct ipf_range *range, int n, int i)
{
	if (range[i].end < range[i + 1].end)
		range[i].end = range[i + 1].end;
	memmove(&range[i + 1], &range[i + 2], (size_t)(n - i - 2) * sizeof(*range));
}

/* The range whose successor is nearest. */
static int nearest(const struct ipf_range *range, int n)
{
	int i, best = 0;

	for (i = 1; i + 1 < n; i++)
		if (range[i + 1].start - range[i].end <
		    range[best + 1].start - range[best].end)
			best = i;
	return best;
}

int ranges_fit(struct ipf_range *range, int n, int max, bool *covering)
{
	int i = 0;

	qsort(range, (size_t)n, sizeof(*range), by_start);
	while (i + 1 < n) {
		/* Ordered by start: a difference of 1 touches, less overlaps. */
		if (range[i + 1].start <= range[i].end ||
		    range[i + 1].start - range[i].end == 1)
			join(range, n--, i);
		else
			i++;
	}
	*covering = n > max;
	while (n > max) {
		join(range, n, nearest(range, n));
		n--;
	}
	return n;
}
