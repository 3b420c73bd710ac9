/* SPDX-License-Identifier: BSD-2-Clause */
/* One line a sample of Arm SPE. */
#include "script_internal.h"

#include <inttypes.h>

const char *script_sample_name(const struct spe_sample *p)
{
	if (p->has & SPE_HAS_EVENTS && p->events >> SPE_EV_NOT_TAKEN & 1)
		return "not-taken";
	if (!(p->has & SPE_HAS_OPERATION))
		return "sample";
	if (p->op_class == SPE_CLASS_BRANCH)
		return "branch";
	if (p->op_class == SPE_CLASS_LDST)
		return p->op & SPE_OP_STORE ? "store" : "load";
	return "other";
}

static const struct {
	unsigned int index;
	const char *text, *json;
} counters[] = {
	{SPE_COUNTER_TOTAL, "lat", "latency"},
	{SPE_COUNTER_ISSUE, "issue", "issue_latency"},
	{SPE_COUNTER_XLAT, "xlat", "translation_latency"},
	{SPE_COUNTER_ALT_ISSUE, "alt", "alternate_issue_latency"},
};
#define NCOUNTERS (sizeof(counters) / sizeof(counters[0]))

static void text_source(struct out *o, const struct spe_sample *p)
{
	const char *name = spe_source_name(p->source);

	if (!(p->has & SPE_HAS_SOURCE))
		return;
	out_printf(o, " source 0x%x", p->source);
	if (name)
		out_printf(o, " (%s)", name);
}

void script_sample_text(struct script *s, const struct spe_sample *p)
{
	struct out *o = s->out;
	unsigned int i;
	char op[128];

	if (s->opt.fields & SCRIPT_ADDR) {
		if (p->has & SPE_HAS_ADDR(SPE_ADDR_DATA_VA))
			out_printf(o, " data %" PRIx64, p->addr[SPE_ADDR_DATA_VA]);
		if (p->has & SPE_HAS_ADDR(SPE_ADDR_DATA_PA))
			out_printf(o, " phys %" PRIx64, p->addr[SPE_ADDR_DATA_PA]);
		text_source(o, p);
	}
	for (i = 0; s->opt.fields & SCRIPT_LAT && i < NCOUNTERS; i++)
		if (p->has & SPE_HAS_COUNTER(counters[i].index))
			out_printf(o, " %s %u", counters[i].text, p->counter[counters[i].index]);
	if (!(s->opt.fields & SCRIPT_EVENTS))
		return;
	if (p->has & SPE_HAS_OPERATION) {
		spe_operation_format(p->op_class, p->op, op, sizeof(op));
		out_printf(o, " [%s]", op);
	}
	for (i = 0; i < 64; i++)
		if (p->events >> i & 1)
			out_printf(o, " %s", spe_event_name(i));
}

static void events_json(struct json *j, const struct spe_sample *p)
{
	unsigned int i;

	json_hex(j, "event_bits", p->events);
	json_array(j, "events");
	for (i = 0; i < 64; i++)
		if (p->events >> i & 1)
			json_string(j, NULL, spe_event_name(i));
	json_array_end(j);
}

void script_sample_json(struct script *s, const struct spe_sample *p)
{
	struct json *j = &s->json;
	unsigned int i;
	char op[128];

	if (p->has & SPE_HAS_OPERATION) {
		spe_operation_format(p->op_class, p->op, op, sizeof(op));
		json_string(j, "operation", op);
	}
	json_uint(j, "level", p->el);
	if (p->has & SPE_HAS_ADDR(SPE_ADDR_DATA_VA))
		json_hex(j, "address", p->addr[SPE_ADDR_DATA_VA]);
	if (p->has & SPE_HAS_ADDR(SPE_ADDR_DATA_PA))
		json_hex(j, "physical_address", p->addr[SPE_ADDR_DATA_PA]);
	if (p->has & SPE_HAS_ADDR(SPE_ADDR_PREV_TARGET))
		json_hex(j, "previous_target", p->addr[SPE_ADDR_PREV_TARGET]);
	for (i = 0; i < 2; i++)
		if (p->has & SPE_HAS_CONTEXT(i))
			json_uint(j, i ? "context_el2" : "context_el1", p->context[i]);
	if (p->has & SPE_HAS_EVENTS)
		events_json(j, p);
	for (i = 0; i < NCOUNTERS; i++)
		if (p->has & SPE_HAS_COUNTER(counters[i].index))
			json_uint(j, counters[i].json, p->counter[counters[i].index]);
	if (!(p->has & SPE_HAS_SOURCE))
		return;
	json_uint(j, "source", p->source);
	if (spe_source_name(p->source))
		json_string(j, "source_name", spe_source_name(p->source));
}

static void sample(struct script *s, const struct spe_event *ev)
{
	const struct spe_sample *p = &ev->sample;
	struct trace_event at = {
		.type = TRACE_OTHER, .offset = ev->offset, .time = p->time,
		.flags = p->has & SPE_HAS_TIME ? TRACE_F_TIME : 0,
	};
	struct row row = {
		.event = script_sample_name(p), .ev = &at, .ip = p->addr[SPE_ADDR_PC],
		.to = p->addr[SPE_ADDR_TARGET], .sample = p,
	};

	/* It goes on behind itself. */
	if (p->has & SPE_HAS_EVENTS && p->events >> SPE_EV_NOT_TAKEN & 1)
		row.to = row.ip + 4;
	script_row(s, &row);
}

static void loss(struct script *s, const struct spe_event *ev)
{
	struct trace_event at = {
		.type = ev->type == SPE_GAP ? TRACE_GAP : TRACE_ERROR,
		.offset = ev->offset, .error = ev->error, .value = ev->bytes,
	};
	struct row row = {
		.event = script_event_name(&at), .ev = &at,
		.note = trace_gap_text(ev->error),
	};

	script_row(s, &row);
}

void script_owner(struct script *s, uint32_t pid, uint32_t tid)
{
	s->thread.pid = pid;
	s->thread.tid = tid;
	s->has_symbol = false;	/* of what that process had then */
}

int script_samples(struct script *s, const struct spe_event *ev, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (ev[i].type == SPE_SAMPLE)
			sample(s, &ev[i]);
		else
			loss(s, &ev[i]);
	}
	return s->out->err;
}
