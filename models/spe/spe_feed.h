/* SPDX-License-Identifier: BSD-2-Clause */
/* The fast path: operations of which none is sampled, inline. */
#ifndef MODELS_SPE_FEED_H
#define MODELS_SPE_FEED_H

#include "spe_unit_priv.h"

/* n operations were executed, unless one of them is to be sampled: then false. */
static inline bool spe_unit_try(struct spe_unit *u, uint64_t n)
{
	if (__builtin_expect(n >= u->until, 0))
		return false;
	u->until -= n;
	u->ops += n;
	return true;
}

#endif
