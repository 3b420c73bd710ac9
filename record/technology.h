/* SPDX-License-Identifier: BSD-2-Clause */
/* What differs between trace units for the recorder: a table, a row a backend. */
#ifndef RECORD_TECHNOLOGY_H
#define RECORD_TECHNOLOGY_H

#include "record.h"

struct context;
struct recorder;

/* Where a row puts what goes with a request. */
union technology_room {
	struct pt_cpu_config2 pt;
	struct coresight_config coresight;
	struct arm_spe_config2 spe;
	struct pt_svc_buf pt_svc;
	struct coresight_svc_buf coresight_svc;
	struct arm_spe_svc_buf2 spe_svc;
};

struct technology {
	const char	*backend;
	bool		filters;	/* by address */
	size_t		pages;		/* a buffer is a multiple of so many */
	size_t		frame;		/* bytes: old trace can be let go between two */
	/* HWT_IOC_SET_CONFIG2's configuration: the options', and the context's ranges. */
	void		(*configure)(const struct context *ctx, union technology_room *room,
				     struct hwt_set_config2 *set);
	/* HWT_IOC_SVC_BUF: everything before `tail` was read. */
	void		(*service)(int buf_id, uint64_t tail, union technology_room *room,
				   struct hwt_svc_buf *svc);
};

/*
 * r->technology and r->query: the backend that the options name, else the first of the
 * table that has a unit (on the embedded host that of the program's machine).  -errno, said.
 */
int technology_choose(struct recorder *r);

#endif
