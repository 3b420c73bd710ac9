/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that decode all streams into one analysis and show what came of it. */
#ifndef CLI_ANALYSING_H
#define CLI_ANALYSING_H

#include "present/result.h"
#include "recording.h"

struct analysing {
	struct recording rec;
	struct analysis	*analysis;
	struct out	out;
	struct analysed_thread {
		struct analysis_thread *thread;
		uint32_t	pid, tid;
	int32_t		cpu;		/* -1: a thread's */
		char		*name;
		struct summary	summary;
	} *thread;
	int		nthreads;
	uint64_t	base;		/* ticks of the first event */
};

/* Takes an open recording over.  EXIT_*: decodes, calls show, tells what is missing. */
int analysing_run(const struct recording *rec, bool tree,
		  int (*show)(struct analysing *a, const void *values), const void *values);
/* Ticks of a stretch of time to nanoseconds; ctx is the struct analysing. */
uint64_t analysing_duration(void *ctx, uint64_t ticks);
/* Why times of calls can be none at all: settings_coarse. */
const char *analysing_coarse(const struct analysing *a);

#endif
