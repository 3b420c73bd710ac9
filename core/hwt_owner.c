/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_owner.h"
#include "hwt_context.h"
#include "hwt_ownerhash.h"

bool hwt_owner_add(struct hwt_core *core, struct hwt_context *ctx,
		   struct hwt_owner *spare)
{
	struct hwt_owner *o = hwt_ownerhash_lookup(core, ctx->owner);
	bool used = !o;

	if (used) {
		o = spare;
		o->id = ctx->owner;
		hwt_ownerhash_insert(core, o);
	}
	ctx->owner_next = o->contexts;
	o->contexts = ctx;
	return used;
}

struct hwt_owner *hwt_owner_remove(struct hwt_core *core, struct hwt_context *ctx)
{
	struct hwt_owner *o = hwt_ownerhash_lookup(core, ctx->owner);
	struct hwt_context **p;

	if (!o)
		return NULL;
	for (p = &o->contexts; *p && *p != ctx; p = &(*p)->owner_next)
		;
	if (*p)
		*p = ctx->owner_next;
	if (o->contexts)
		return NULL;
	hwt_ownerhash_remove(core, o);
	return o;
}

/* The owner's next context, with a reference; NULL: it has none left. */
static struct hwt_context *owner_first(struct hwt_core *core, uint64_t id)
{
	struct hwt_context *ctx = NULL;
	struct hwt_owner *o;
	hwt_irqflags_t flags;

	hwt_spin_lock(&core->lock, flags);
	o = hwt_ownerhash_lookup(core, id);
	if (o) {
		ctx = o->contexts;
		hwt_context_get(ctx);
	}
	hwt_spin_unlock(&core->lock, flags);
	return ctx;
}

void hwt_owner_exit(struct hwt_core *core, uint64_t owner)
{
	struct hwt_context *ctx;

	hwt_context_reap(core, false);
	while ((ctx = owner_first(core, owner)) != NULL) {
		hwt_context_kill(ctx);
		hwt_context_put(ctx);
	}
}
