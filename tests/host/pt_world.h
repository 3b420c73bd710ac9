/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the PT driver's tests run it in: two units behind a bus that records and
 * holds every access against the manual's rules, and pages at addresses of
 * our choice.  The units write no trace; a test moves them by hand.
 */
#ifndef TESTS_HOST_PT_WORLD_H
#define TESTS_HOST_PT_WORLD_H

#include "backends/pt/pt_backend.h"
#include "core/hwt_core.h"
#include "pt_rules.h"

#define PAGE		4096ull
#define PT_WORLD_UNITS	2
#define PT_WORLD_BIAS	(1ull << 40)	/* the bus's addresses over the host's */

struct pt_access {
	uint32_t msr;
	uint64_t value;
	bool barrier;
};

extern struct pt_world {
	uint32_t caps[PT_CAP_COUNT];
	struct pt_rules unit[PT_WORLD_UNITS];
	struct pt_access log[64];	/* the first writes and barriers, of all units */
	int nlog;
	bool scattered;			/* no page follows the one before it */
	struct hwt_backend be;
	struct hwt_bus bus;
	struct hwt_host_ops host_ops;
} pt_world;

/* For cmocka's setup and teardown: 0, or -1. */
int pt_world_setup(void);
int pt_world_teardown(void);

/* A buffer of thread mode with the backend's save area, in ring mode. */
struct hwt_buffer *pt_world_buffer(uint64_t size);
void pt_world_buffer_free(struct hwt_buffer *b);
/* The host's address of a page; what the tables hold lies PT_WORLD_BIAS above. */
uint64_t pt_world_page_addr(void *host, struct hwt_pages *p, size_t i);

#endif
