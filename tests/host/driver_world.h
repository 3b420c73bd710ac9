/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests of drivers run them in: a core without targets, buffers at addresses of our
 * choice, and any sequence of switches, interrupts, configurations and service.  The
 * bus is the test's: it holds each access against the manual's rules.
 */
#ifndef TESTS_HOST_DRIVER_WORLD_H
#define TESTS_HOST_DRIVER_WORLD_H

#include "core/hwt_backend.h"
#include "core/hwt_core.h"

#define PAGE		4096ull
#define WORLD_UNITS	3
#define WORLD_BIAS	(1ull << 40)	/* the bus's addresses over the host's */

extern struct driver_world {
	struct hwt_host_ops host_ops;
	bool scattered;			/* no page follows the one before it */
	/* A driver wrote to pages (ToPA tables): the page as the bus has it; or NULL. */
	void (*page_written)(uint64_t addr);
} driver_world;

/* 0, or -1.  Everything above is as it was at first. */
int driver_world_setup(void);
int driver_world_teardown(void);

/* Parts of a bus: a clock that stands, and addresses. */
uint64_t driver_world_now(struct hwt_bus *bus, int unit);
uint64_t driver_world_bus_addr(struct hwt_bus *bus, uint64_t addr);
/* The host's address of a page. */
uint64_t driver_world_page_addr(void *host, struct hwt_pages *p, size_t i);

/*
 * A buffer of thread mode with the backend's save area, in ring mode; of scope context
 * with a mark.
 */
struct hwt_buffer *driver_world_buffer(struct hwt_backend *be, uint64_t size);
/* Another that shares it. */
struct hwt_buffer *driver_world_source(struct hwt_buffer *sink);
/* Sources before their sinks. */
void driver_world_buffer_free(struct hwt_buffer *b);

/* ---- a walk: buffers that come and go on units, by a seed ---- */

struct driver_walk {
	struct hwt_backend *be;
	const uint64_t	*pages;		/* sizes of buffers, ends with 0 */
	int		share;		/* how many share one (scope context); 0: none */
	bool		full_only;	/* no ring mode */
	bool		needs_room;	/* no switch-in without */
	/* Each may draw. */
	void		(*configure)(struct hwt_buffer *b);
	void		(*unit_moves)(struct hwt_buffer *b, int unit);	/* it writes trace */
	/* The driver's op returned: the unit has to be on this buffer, or off. */
	void		(*op_ended)(struct hwt_buffer *b, int unit, bool on);
	/* After each step: the rule that a unit's driver broke, and where; or NULL. */
	const char	*(*broken)(int unit, uint32_t *reg);
};

/* Below n. */
uint64_t driver_walk_draw(uint64_t n);
/* Draws the same from here on. */
void driver_walk_seed(uint64_t seed);
/* Fails the test at the first rule that is broken. */
void driver_walk(const struct driver_walk *walk, uint64_t seed, int steps);

#endif
