/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The "pt" backend: Intel Processor Trace.
 *
 *   pt_backend.c  ops: save area, switch in and out, positions, service
 *   pt_config.c   a client's configuration against the unit's capabilities
 *   pt_topa.c     tables of physical addresses over a buffer
 *
 * The unit writes through a ring of ToPA entries.  The buffer is cut into
 * granules; the last entry of each raises the interrupt, so that positions can
 * be told without an interrupt a page.
 *
 *        granule 0     granule 1     granule 2     granule 3
 *      |-----------*|-----------*|-----------*|-----------*|  * = INT
 *       ^tail           ^head
 *
 * Ring mode: the unit goes round and overwrites.  Full mode (after the first
 * SVC_BUF): a granule that still holds unread bytes is never entered; where the
 * host cannot hold the CPU, STOP is set at the end of the last free granule; where
 * it can, the CPU is held at the interrupt until there is room: nothing is lost.
 */
#ifndef BACKENDS_PT_BACKEND_H
#define BACKENDS_PT_BACKEND_H

#include "../../core/hwt_backend.h"
#include "../../hw/pt.h"
#include <hwt/pt.h>

/* A configuration that passed pt_config_check. */
struct pt_config {
	uint64_t ctl;			/* IA32_RTIT_CTL without TraceEn */
	uint64_t cr3_match;
	uint64_t addr[2 * PT_MAX_RANGES];
	int	 nranges;
};

/* -EINVAL, -EOPNOTSUPP or -EPERM as hwt_backend_ops.config_check; *out owned. */
int pt_config_check(struct hwt_backend *be, int mode, const struct hwt_cred *cred,
		    const void *config, size_t size, int version, void **out);
/* IP filtering ranges of the unit (CPUID.14H). */
uint32_t pt_config_ranges(struct hwt_backend *be);
/* What runs when no SET_CONFIG was given: branches, TSC, return compression. */
void pt_config_default(int mode, struct pt_config *out);

struct pt_topa {
	struct hwt_pages *tables;
	uint64_t ntables;
	uint64_t nentries;		/* without the END links */
	uint32_t per_table;		/* entries a table, without its END link */
	uint64_t granule;		/* bytes, page multiple */
	uint64_t ngranules;
	uint64_t *entry_end;		/* offset in the buffer where entry i ends */
	uint64_t stop_entry;		/* entry with STOP, or ~0 */
};

/* 0, -ENOMEM, -EINVAL (more than the unit can address). May sleep. */
int pt_topa_init(struct pt_topa *t, struct hwt_buffer *b, bool multi_entry);
void pt_topa_fini(struct pt_topa *t, struct hwt_buffer *b);
/* The unit's address of the first table. */
uint64_t pt_topa_base(const struct pt_topa *t, const struct hwt_buffer *b);
/*
 * Offset in the buffer that (OUTPUT_BASE, OUTPUT_MASK_PTRS) stand for; bufsize
 * never: the end is 0.  ~0 if they lie outside the tables.
 */
uint64_t pt_topa_offset(const struct pt_topa *t, const struct hwt_buffer *b,
			uint64_t base, uint64_t mask_ptrs);
/* Sets STOP at the end of granule g and clears the old one; g ~0: none. */
void pt_topa_set_stop(struct pt_topa *t, struct hwt_buffer *b, uint64_t g);

/* Fills in `be` for the units behind `bus`; call before hwt_backend_register. */
void pt_backend_init(struct hwt_backend *be, struct hwt_bus *bus);

#endif
