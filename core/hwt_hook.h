/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the hooks share; the hooks themselves are in hwt_core.h. */
#ifndef HWT_HOOK_H
#define HWT_HOOK_H

#include "hwt_thread.h"

/* Fills the header of a record of this type; thr may be NULL. */
void hwt_hook_header(struct hwt_context *ctx, struct hwt_thread *thr,
		     const struct hwt_hook_where *at, int type, struct hwt_rec *rec);
/* Turns hwt_record_put's answer into a hook's result, and tells the readers. */
int hwt_hook_result(struct hwt_context *ctx, int rc, bool paused);

#endif
