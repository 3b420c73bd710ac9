// SPDX-License-Identifier: BSD-2-Clause
/* Many small objects that are freed together. */
#include <stdint.h>
#include <stdlib.h>
#include "analysis_priv.h"

#define ARENA_CHUNK (64u << 10)

struct arena {
	struct arena *next;
	size_t used;
	_Alignas(16) uint8_t bytes[];
};

void *arena_get(struct arena **a, size_t size)
{
	struct arena *fresh;
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (!*a || (*a)->used + size > ARENA_CHUNK) {
		fresh = calloc(1, sizeof(*fresh) +
					  (size > ARENA_CHUNK ? size : ARENA_CHUNK));
		if (!fresh)
			return NULL;
		fresh->next = *a;
		*a = fresh;
	}
	p = (*a)->bytes + (*a)->used;
	(*a)->used += size;
	return p;
}

void arena_free(struct arena *a)
{
	struct arena *next;

	for (; a; a = next) {
		next = a->next;
		free(a);
	}
}
