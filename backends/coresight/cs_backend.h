/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The "coresight" backend: an ETMv4 beside each CPU, a funnel, and an ETR that
 * writes the formatter's frames into the buffer.
 *
 *   cs_backend.c  ops: save area, switch in and out, positions, service
 *   cs_path.c     the components on the way, programmed and stopped in order
 *   cs_config.c   a client's configuration against the ID registers
 *
 * The ETR runs as a FIFO (MODE.SWF2).  What the reader gave back is freed by RURP;
 * at the watermark, half of the buffer, it interrupts:
 *
 *	|.......####################|........................|
 *	        ^tail, RRP          ^head, RWP       half free: interrupt
 *
 * Ring mode: at the interrupt the driver frees what was written, so that the
 * oldest bytes are overwritten and none is missed in counting.  Full mode: where
 * the reader has left less than half free, the unit stops, or its CPU is held,
 * until there is room.
 *
 * Where the path says so, one ETR takes the trace of all threads or CPUs of a context:
 * each has a trace ID of its own, the ETR is programmed with the first one that is
 * switched in, at that one's unit or at another whose is free, and stopped with the last
 * one.
 */
#ifndef BACKENDS_CS_BACKEND_H
#define BACKENDS_CS_BACKEND_H

#include "../../core/hwt_backend.h"
#include "../../hw/etm4.h"
#include "../../hw/tmc.h"
#include <hwt/coresight.h>

/*
 * Where a CPU's components are among the bus's registers, from the source to the
 * sink; a register's number is its component's base and its offset.
 */
struct cs_path {
	uint32_t etm, funnel, etr;
	/*
	 * Not 0: units can share an ETR.  A register that takes the number of the unit
	 * whose funnel and ETR this unit's ETM feeds, and its writes to those go to.
	 */
	uint32_t route;
};

/* A configuration that passed cs_config_check: registers as they are written. */
struct cs_config {
	uint32_t configr, syncpr, ccctlr, victlr;
	uint32_t nranges;
	uint64_t range[2 * CORESIGHT_MAX_RANGES];
};

/* -EINVAL, -EOPNOTSUPP or -EPERM as hwt_backend_ops.config_check; *out owned. */
int cs_config_check(struct hwt_backend *be, int mode, const struct hwt_cred *cred,
		    const void *config, size_t size, int version, void **out);
/* What runs when no SET_CONFIG was given: timestamps, return stack, sync points. */
void cs_config_default(struct hwt_backend *be, int mode, struct cs_config *out);
/* Address range comparators of the unit (TRCIDR4). */
uint32_t cs_config_ranges(struct hwt_backend *be);

/* ---- cs_path.c: one CPU's components ---- */

struct cs_unit { /* what the functions below are about */
	struct hwt_bus *bus;
	const struct cs_path *path;
	int unit;
	int etr; /* the unit at which funnel and ETR are read */
};

struct cs_window { /* the ETR's memory: bus addresses */
	uint64_t base, size, rrp, rwp;
};

/* The unit, which is off, reaches its sink from now on; before all else. */
void cs_path_attach(const struct cs_unit *u);
/*
 * Sink first (w NULL: others feed it already), then what leads to it, the source last,
 * with this trace ID.  false: a component did not become idle to be set up, or did not
 * begin: all that was to be started is off.
 */
bool cs_path_start(const struct cs_unit *u, const struct cs_config *c,
		   const struct cs_window *w, uint32_t id);
/*
 * Source off, what is on its way out; last: the sink stops behind it.  false: a
 * component did not become idle (its trace may lack its end).
 */
bool cs_path_stop(const struct cs_unit *u, bool last);
/* The sink off, once it is known where it stopped. */
void cs_path_close(const struct cs_unit *u);
/* Bytes in the FIFO between RRP and RWP. */
uint64_t cs_path_level(const struct cs_unit *u);
/* Gives n bytes back to the FIFO. */
void cs_path_free(const struct cs_unit *u, uint64_t n);

struct cs_backend {
	struct hwt_backend be;
	const struct cs_path *path;
};

/*
 * Fills in `cb` for the units behind `bus`; call before hwt_backend_register of
 * cb->be.  path: the caller's, of the life of `cb`.
 */
void cs_backend_init(struct cs_backend *cb, struct hwt_bus *bus,
		     const struct cs_path *path);

#endif
