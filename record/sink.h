/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a recording goes: a perf.data file, a bare trace, or nowhere. */
#ifndef RECORD_SINK_H
#define RECORD_SINK_H

#include "record.h"

struct perfdata_writer;

struct sink {
	const char	*path;		/* for messages; NULL: nowhere */
	bool		is_new;		/* there was no file of that name */
	struct perfdata_writer *perf;
	int		raw_fd;		/* -1: none */
	uint32_t	raw_thread;	/* index or tid (CPU) */
	uint32_t	raw_tid;
	bool		raw_found;	/* raw_tid is known */
	uint32_t	threads;	/* seen so far */
	uint64_t	bytes;		/* of trace that are where it goes */
};

/* 0 or -errno. */
int sink_open(struct sink *s, const struct record_options *opt,
	      const struct hwt_query *query, uint64_t rtit_ctl);
/* A thread's buffer came to be (bare trace: is it the one that is wanted?). */
void sink_thread(struct sink *s, uint32_t tid);
int sink_record(struct sink *s, const struct hwt_rec *rec);
int sink_trace(struct sink *s, uint32_t pid, uint32_t tid, uint64_t position,
	       const void *bytes, size_t n, bool gap, bool final);
/* Lines of /proc/kallsyms. */
int sink_symbols(struct sink *s, const char *text, size_t n);
/* Address filters as perf writes them: of the units, and what is to be shown. */
int sink_filter(struct sink *s, const char *text);
int sink_shown(struct sink *s, const char *text);
int sink_flush(struct sink *s);
/* 0 or the first error. */
int sink_close(struct sink *s);
/* It came to nothing: closes, and leaves no file behind that was not there. */
void sink_discard(struct sink *s);

#endif
