/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder: drives hwt(4)'s ioctls and writes the recording while the
 * target runs.  Knows hosts only through libhwt's devices; decodes nothing.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <hwt/libhwt.h>

struct record_filter {		/* -i IMAGE -f FUNC */
	const char	*image;		/* file name or path; NULL: the program */
	const char	*function;
};

struct record_options {
	struct hwt_host	*host;
	const char	*backend;	/* "pt" */
	const char	*output;	/* perf.data path; NULL: none */
	const char	*raw;		/* hwt(8) -r -w: bare trace, no perf.data */
	size_t		bufsize;	/* bytes a thread; 0: default */
	size_t		ring;		/* bytes kept a thread at the end; 0: all */
	bool		follow;
	int		ready_fd;	/* a byte once START took effect; -1 none */
	const struct record_filter *filters;
	int		nfilters;
	struct pt_cpu_config config;	/* without ranges */
	/*
	 * Finds a function's ranges in an image file (run-time independent;
	 * image_function_ranges), so that the recorder needs no ELF reader.
	 */
	int (*resolve)(void *ctx, const char *path, const char *function,
		       uint64_t *start, uint64_t *end, int max);
	int (*vaddr_of)(void *ctx, const char *path, uint64_t pgoff, uint64_t *vaddr);
	void		*ctx;
	const char	*path;		/* program */
	char *const	*argv;
	const char *const *cmdline;	/* of hwt itself, for the header */
};

struct record_result {
	int		status;		/* target's, as wait(2) gives it */
	uint64_t	bytes;		/* of trace written */
	uint64_t	lost;		/* bytes overwritten or not kept */
	uint64_t	gaps;
	uint64_t	lost_records;
	uint32_t	threads, processes;
	uint64_t	started_ns, ended_ns;	/* CLOCK_MONOTONIC */
	bool		filter_missed;	/* a filter's image or function never came */
};

/* 0, or -errno with *error a malloc'd sentence. */
int record_run(const struct record_options *options, struct record_result *result,
	       char **error);

#endif
