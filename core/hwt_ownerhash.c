/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_ownerhash.h"

static struct hwt_owner **bucket_of(struct hwt_core *core, uint64_t id)
{
	return &core->owners[(id ^ id >> 16) & (HWT_OWNERHASH - 1)];
}

struct hwt_owner *hwt_ownerhash_lookup(struct hwt_core *core, uint64_t id)
{
	struct hwt_owner *o = *bucket_of(core, id);

	while (o && o->id != id)
		o = o->next;
	return o;
}

void hwt_ownerhash_insert(struct hwt_core *core, struct hwt_owner *owner)
{
	struct hwt_owner **p = bucket_of(core, owner->id);

	owner->next = *p;
	*p = owner;
}

void hwt_ownerhash_remove(struct hwt_core *core, struct hwt_owner *owner)
{
	struct hwt_owner **p = bucket_of(core, owner->id);

	while (*p != owner)
		p = &(*p)->next;
	*p = owner->next;
}
