/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the PT driver's tests run it in: two units behind a bus that records and
 * holds every access against the manual's rules.  The units write no trace; a test
 * moves them by hand.
 */
#ifndef TESTS_HOST_PT_WORLD_H
#define TESTS_HOST_PT_WORLD_H

#include "backends/pt/pt_backend.h"
#include "driver_world.h"
#include "pt_rules.h"

struct pt_access {
	uint32_t msr;
	uint64_t value;
	bool barrier;
};

extern struct pt_world {
	uint32_t caps[PT_CAP_COUNT];
	struct pt_rules unit[WORLD_UNITS];
	struct pt_access log[64];	/* the first writes and barriers, of all units */
	int nlog;
	struct hwt_backend be;
	struct hwt_bus bus;
} pt_world;

/* For cmocka's setup and teardown: 0, or -1. */
int pt_world_setup(void);
int pt_world_teardown(void);

#endif
