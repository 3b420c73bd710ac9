/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_E2E_FLOW_SAMPLES_H
#define TESTS_E2E_FLOW_SAMPLES_H

#include <stdint.h>

#include "session/session.h"

/*
 * Streams of samples that were recorded in a machine, one each `each` instructions
 * (no jitter), against its independent log in dir: 0, or 1 on any difference (said).
 * A few samples may be missing: another one was in flight.
 */
int check_samples(struct hwt_session *s, const char *dir, uint64_t each);

#endif
