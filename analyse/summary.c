// SPDX-License-Identifier: BSD-2-Clause
#include "summary.h"

static void not_a_run(struct summary *s, const struct trace_event *ev)
{
	if (ev->type == TRACE_GAP) {
		s->gaps++;
		if (ev->error != TRACE_GAP_OVERFLOW)
			s->missing += ev->value;
	} else if (ev->type == TRACE_ERROR) {
		if (!s->errors++) {
			s->first_error = ev->error;
			s->first_offset = ev->offset;
			s->first_ip = ev->ip;
		}
	} else {
		return;
	}
	if (ev->error < TRACE_GAP_MAX)
		s->reasons[ev->error]++;
}

static void time_of(struct summary *s, const struct trace_event *ev)
{
	if (ev->flags & TRACE_F_TIME) {
		if (!s->has_time)
			s->first_time = ev->time;
		s->has_time = true;
		if (ev->time > s->last_time)
			s->last_time = ev->time;
	}
	if (ev->flags & TRACE_F_CYCLES) {
		s->has_cycles = true;
		s->cycles = ev->cycles;
	}
}

/*
 * Time does not go back: the first event and the last ones tell all of it.  flags:
 * of all events, for most batches have no time, and are not searched for one.
 */
static void times_of(struct summary *s, const struct trace_event *ev, int n, uint8_t flags)
{
	uint8_t missing = flags & (TRACE_F_TIME | TRACE_F_CYCLES);
	int i;

	for (i = 0; i < n && missing && !s->has_time; i++)
		time_of(s, &ev[i]);
	for (i = n; i > 0 && missing; i--) {
		if (ev[i - 1].flags & missing)
			time_of(s, &ev[i - 1]);
		missing &= ~ev[i - 1].flags;
	}
}

void summary_feed(struct summary *s, const struct trace_event *ev, int n)
{
	uint64_t instructions = 0, branches = 0;
	int i, others = 0;
	uint8_t flags = 0;

	for (i = 0; i < n; i++) {
		flags |= ev[i].flags;
		if (ev[i].type != TRACE_RUN) {
			others++;
			if (ev[i].type >= TRACE_EVENT_MAX)
				continue;
			s->events[ev[i].type]++;
			not_a_run(s, &ev[i]);
			continue;
		}
		instructions += ev[i].ninsn;
		branches += ev[i].flags / TRACE_F_BRANCH & 1;
	}
	times_of(s, ev, n, flags);
	s->events[TRACE_RUN] += (uint64_t)(n - others);
	s->instructions += instructions;
	s->branches += branches;
}

void summary_add(struct summary *total, const struct summary *s)
{
	int i;

	total->instructions += s->instructions;
	total->branches += s->branches;
	total->samples += s->samples;
	total->sampled |= s->sampled;
	for (i = 0; i < TRACE_EVENT_MAX; i++)
		total->events[i] += s->events[i];
	for (i = 0; i < TRACE_GAP_MAX; i++)
		total->reasons[i] += s->reasons[i];
	if (s->errors && !total->errors) {
		total->first_error = s->first_error;
		total->first_offset = s->first_offset;
		total->first_ip = s->first_ip;
	}
	if (s->has_time && (!total->has_time || s->first_time < total->first_time))
		total->first_time = s->first_time;
	if (s->has_time && s->last_time > total->last_time)
		total->last_time = s->last_time;
	total->has_time |= s->has_time;
	total->has_cycles |= s->has_cycles;
	total->cycles += s->cycles;
	total->gaps += s->gaps;
	total->errors += s->errors;
	total->missing += s->missing;
	total->bytes += s->bytes;
	total->lost += s->lost;
	total->stops += s->stops;
	total->cut |= s->cut;
}

/* A function that was never called: the unit was on, and flow never began. */
static bool idle(const struct summary *s)
{
	if (s->gaps || s->lost || s->stops || s->cut)
		return false;
	/* Too short for a sample, or none passed the filters. */
	if (s->sampled)
		return !s->bytes;
	return s->events[TRACE_SYNC] && !s->events[TRACE_ENABLED];
}

enum summary_verdict summary_verdict(const struct summary *s)
{
	if (s->errors)
		return SUMMARY_ERRORS;
	if (!s->instructions && !s->samples && !idle(s))
		return SUMMARY_NOTHING;
	if (!s->instructions && !s->samples)
		return s->sampled ? SUMMARY_UNSAMPLED : SUMMARY_IDLE;
	if (s->cut)
		return SUMMARY_CUT;
	return s->gaps || s->lost || s->stops ? SUMMARY_LOSSES : SUMMARY_COMPLETE;
}

const char *summary_verdict_text(enum summary_verdict v)
{
	static const char *const texts[] = {
		[SUMMARY_COMPLETE] = "complete",
		[SUMMARY_LOSSES] = "complete with counted losses",
		[SUMMARY_ERRORS] = "decoded with errors",
		[SUMMARY_NOTHING] = "nothing decoded",
		[SUMMARY_IDLE] = "complete, nothing was executed in what was traced",
		[SUMMARY_UNSAMPLED] = "complete, no operation was sampled or passed the filters",
		[SUMMARY_CUT] = "cut",
	};

	return (unsigned int)v < sizeof(texts) / sizeof(texts[0]) ? texts[v] : "unknown";
}
