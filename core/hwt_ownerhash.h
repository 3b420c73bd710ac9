/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owners by identity.  core->lock is held. */
#ifndef HWT_OWNERHASH_H
#define HWT_OWNERHASH_H

#include "hwt_owner.h"

struct hwt_owner *hwt_ownerhash_lookup(struct hwt_core *core, uint64_t id);
void hwt_ownerhash_insert(struct hwt_core *core, struct hwt_owner *owner);
void hwt_ownerhash_remove(struct hwt_core *core, struct hwt_owner *owner);

#endif
