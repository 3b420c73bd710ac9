/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_E2E_FLOW_MACHINE_H
#define TESTS_E2E_FLOW_MACHINE_H

#include <stdbool.h>

#include "session/session.h"

/*
 * Thread streams of a recording made in a machine against its independent log in
 * dir: 0, or 1 on any difference (said).  At most `gaps` gaps a stream are right.  Of
 * the log only what is wanted counts.
 */
int check_machine(struct hwt_session *s, const char *dir, uint64_t gaps,
		  bool (*wanted)(const void *ctx, uint64_t ip), const void *ctx);

#endif
