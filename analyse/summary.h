/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was decoded and what was not: counts of one stream, or of many added
 * up, and the verdict that every command shows.
 */
#ifndef ANALYSE_SUMMARY_H
#define ANALYSE_SUMMARY_H

#include "../decode/event.h"

struct summary {
	uint64_t	instructions;
	uint64_t	branches;	/* executed, conditional ones not taken too */
	uint64_t	samples;	/* of operations */
	bool		sampled;	/* a recording of samples: no instructions are counted */
	uint64_t	events[TRACE_EVENT_MAX];	/* by enum trace_event_type */
	uint64_t	reasons[TRACE_GAP_MAX];	/* gaps and errors, by enum trace_gap */
	uint64_t	gaps;		/* TRACE_GAP events */
	uint64_t	errors;		/* TRACE_ERROR events */
	uint64_t	missing;	/* bytes that gaps call missing or skipped */
	/* The first TRACE_ERROR, valid where errors > 0. */
	enum trace_gap	first_error;
	uint64_t	first_offset, first_ip;
	uint64_t	first_time, last_time;	/* ticks; valid where has_time */
	bool		has_time;
	uint64_t	cycles;		/* as the last event that had them says */
	bool		has_cycles;
	/* The caller fills these from the recording (hwt_stream_info). */
	uint64_t	bytes;		/* of trace in the file */
	uint64_t	lost;		/* bytes that the recording says are missing */
	uint64_t	stops;		/* stops for room that the unit counted */
	bool		cut;		/* the recording ends before its end */
};

void summary_feed(struct summary *s, const struct trace_event *ev, int n);
/* Adds a stream's summary to a total. */
void summary_add(struct summary *total, const struct summary *s);

enum summary_verdict {
	SUMMARY_COMPLETE,	/* every byte accounted for, nothing missing */
	SUMMARY_LOSSES,		/* gaps, each counted, and no error */
	SUMMARY_ERRORS,		/* some trace could not be decoded */
	SUMMARY_NOTHING,	/* not one instruction came out of what there is */
	SUMMARY_IDLE,		/* all accounted for: no instruction was in the filters */
	SUMMARY_UNSAMPLED,	/* all accounted for: no sample fell due and passed the filters */
	SUMMARY_CUT,		/* what there is was decoded: the recording is cut */
};
enum summary_verdict summary_verdict(const struct summary *s);
/* "complete", "complete with counted losses", ... Never NULL. */
const char *summary_verdict_text(enum summary_verdict v);

#endif
