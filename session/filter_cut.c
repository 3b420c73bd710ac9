// SPDX-License-Identifier: BSD-2-Clause
/* Runs cut to a filter's ranges. */
#include "filter.h"

/* Is ip in a range; and up to which address is it the same as for ip? */
static bool inside(const struct filter_ranges *r, uint64_t ip, uint64_t *until)
{
	size_t i;

	*until = UINT64_MAX;
	for (i = 0; i < r->n; i++) {
		if (ip > r->range[i].last)
			continue;
		if (ip >= r->range[i].first) {
			*until = r->range[i].last;
			return true;
		}
		if (r->range[i].first - 1 < *until)
			*until = r->range[i].first - 1;
	}
	return false;
}

/* What the unit would have told of where a run crosses a border. */
static struct trace_event border(const struct trace_event *run, bool in, uint64_t ip)
{
	struct trace_event ev = *run;

	ev.type = in ? TRACE_ENABLED : TRACE_DISABLED;
	ev.flags &= TRACE_F_TIME;
	ev.ninsn = 0;
	ev.ip = ip;
	ev.value = 0;
	ev.to = 0;
	return ev;
}

/* Passes over the run's instructions from c->done on up to address `until`. */
static void pass(struct filter_cut *c, const struct trace_event *run, uint64_t until)
{
	const struct trace_block *b = run->block;
	const uint8_t *len = b->len;
	uint64_t ip;

	if (until >= b->end - 1) {
		c->done = run->ninsn;
		return;
	}
	/* The block may begin before the run. */
	for (ip = b->ip; ip < c->ip; len++)
		ip += *len;
	for (; c->done < run->ninsn && c->ip <= until; c->done++)
		c->ip += *len++;
}

/* One step through a run; false: it makes no event. */
static bool cut_run(struct filter_cut *c, const struct filter_ranges *r,
		    const struct trace_event *run, struct trace_event *out)
{
	uint32_t done = c->done;
	uint64_t ip, until;
	bool in;

	if (!done)
		c->ip = run->ip;
	ip = c->ip;
	in = inside(r, ip, &until);
	if (in != c->on) {
		*out = border(run, in, ip);
		c->on = c->entry = in;
		return true;
	}
	pass(c, run, until);
	*out = *run;
	out->ip = ip;
	out->ninsn = c->done - done;
	if (done)
		out->flags &= (uint8_t)~TRACE_F_ENTRY;
	if (c->entry)
		out->flags |= TRACE_F_ENTRY;
	if (c->done < run->ninsn) {
		out->flags &= (uint8_t)~(TRACE_F_BRANCH | TRACE_F_TAKEN);
		out->to = c->ip;
	}
	c->entry = false;
	return in;
}

/* Is an event that is no run one of the flow inside? */
static bool keep(struct filter_cut *c, const struct filter_ranges *r,
		 const struct trace_event *ev)
{
	bool was = c->on;
	uint64_t until;

	switch (ev->type) {
	case TRACE_ENABLED:
		c->on = inside(r, ev->ip, &until);
		c->entry = false;
		return c->on;
	case TRACE_DISABLED:
		c->on = false;
		return was;
	case TRACE_ASYNC:
		return was;
	case TRACE_GAP:
	case TRACE_ERROR:
		c->on = false;
		return true;
	default:
		return true;
	}
}

int filter_cut(struct filter_cut *c, const struct filter_ranges *ranges,
	       const struct trace_event *in, int nin, struct trace_event *out, int max,
	       int *nout)
{
	int i = 0, n = 0;

	while (i < nin && n < max) {
		if (in[i].type != TRACE_RUN) {
			if (keep(c, ranges, &in[i]))
				out[n++] = in[i];
			i++;
			continue;
		}
		n += cut_run(c, ranges, &in[i], &out[n]);
		if (c->done == in[i].ninsn) {
			c->done = 0;
			i++;
		}
	}
	*nout = n;
	return i;
}
