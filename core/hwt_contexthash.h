/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contexts in thread mode by the target's pid: what every hook asks first. */
#ifndef HWT_CONTEXTHASH_H
#define HWT_CONTEXTHASH_H

#include "hwt_var.h"

void hwt_contexthash_load(struct hwt_core *core);
/* -EEXIST: the pid is traced already. */
int hwt_contexthash_insert(struct hwt_context *ctx);
void hwt_contexthash_remove(struct hwt_context *ctx);
/* Any context; NULL: not traced.  Give back by hwt_context_leave. */
struct hwt_context *hwt_contexthash_lookup(struct hwt_core *core, int pid);

#endif
