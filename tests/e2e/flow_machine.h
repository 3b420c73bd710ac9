/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_E2E_FLOW_MACHINE_H
#define TESTS_E2E_FLOW_MACHINE_H

#include "session/session.h"

/*
 * Thread streams of a recording made in a machine against its independent log in
 * dir: 0, or 1 on any difference (said).  At most `gaps` gaps a stream are right.
 */
int check_machine(struct hwt_session *s, const char *dir, uint64_t gaps);

#endif
