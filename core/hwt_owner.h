/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owners: processes that have contexts.  All under core->lock. */
#ifndef HWT_OWNER_H
#define HWT_OWNER_H

#include "hwt_var.h"

struct hwt_owner {
	struct hwt_owner	*next;		/* ownerhash */
	uint64_t		id;
	struct hwt_context	*contexts;
};

/* `spare` becomes the owner if there is none yet; true: it was used. */
bool hwt_owner_add(struct hwt_core *core, struct hwt_context *ctx,
		   struct hwt_owner *spare);
/* Returns the owner if that was its last context: to be freed. */
struct hwt_owner *hwt_owner_remove(struct hwt_core *core, struct hwt_context *ctx);

#endif
