/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source of executed addresses, one thread's, in order: our decoder, the
 * unit's independent log, libipt.  flow_check compares two of them.
 */
#ifndef TESTS_E2E_SOURCE_H
#define TESTS_E2E_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/* Layout of the log (qemu/execlog.h), told here a second time on purpose. */
#define LOG_MAGIC	0x31474f4c54574875ull
#define LOG_DATA	4096u
/* The log of a machine's CPU (machine_log.h). */
#define MACHINE_LOG_MAGIC 0x31534c4754574875ull

struct source {
	const char *name;
	/* Fills at most n addresses: how many, 0 the end, -1 an error (said). */
	long (*next)(struct source *s, uint64_t *ip, size_t n);
	void (*close)(struct source *s);
	uint64_t errors;	/* decode errors so far */
	uint64_t gaps;		/* stretches said to be missing */
};

/* Each NULL: could not be made (said on stderr). */
struct source *source_ours(struct hwt_stream *st);
struct source *source_log(const char *dir, uint32_t pid, uint32_t tid);
/* blocks: libipt's block decoder, else its instruction decoder. */
/* A file of addresses in the layout of the log. */
struct source *source_file(const char *name, const char *path);
/* The same with another magic. */
struct source *source_log_file(const char *name, const char *path, uint64_t magic);
struct source *source_ipt(struct hwt_stream *st, int blocks);
/* Decodes `file` by perf, a file a thread or CPU into dir: 0, -1 (said). Then each one. */
int perf_decode(const char *file, const char *dir, bool cpus);
struct source *source_perf(const char *dir, uint32_t tid);

#endif
