/* SPDX-License-Identifier: BSD-2-Clause */
#include "script_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct script_field script_fields[] = {
	{ "pid", SCRIPT_PID }, { "tid", SCRIPT_TID }, { "comm", SCRIPT_COMM },
	{ "time", SCRIPT_TIME }, { "cycles", SCRIPT_CYCLES }, { "offset", SCRIPT_OFFSET },
	{ "event", SCRIPT_EVENT }, { "ip", SCRIPT_IP }, { "sym", SCRIPT_SYM },
	{ "image", SCRIPT_IMAGE }, { "line", SCRIPT_LINE }, { "to", SCRIPT_TO },
	{ "addr", SCRIPT_ADDR }, { "lat", SCRIPT_LAT }, { "events", SCRIPT_EVENTS },
	{ NULL, 0 }
};

static const uint32_t default_fields[] = {
	[SCRIPT_BRANCHES] = SCRIPT_TID | SCRIPT_TIME | SCRIPT_EVENT | SCRIPT_IP |
			    SCRIPT_SYM | SCRIPT_TO,
	[SCRIPT_INSNS] = SCRIPT_TID | SCRIPT_IP | SCRIPT_SYM,
	[SCRIPT_CALLS] = SCRIPT_TID | SCRIPT_TIME | SCRIPT_SYM,
	[SCRIPT_SAMPLES] = SCRIPT_TID | SCRIPT_TIME | SCRIPT_EVENT | SCRIPT_IP |
			   SCRIPT_SYM | SCRIPT_TO | SCRIPT_ADDR | SCRIPT_LAT | SCRIPT_EVENTS,
};

uint32_t script_default_fields(enum script_mode mode)
{
	return default_fields[mode];
}

uint32_t script_parse_fields(const char *list, const char **bad, int *bad_len)
{
	const struct script_field *f;
	uint32_t bits = 0;
	size_t n;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		for (f = script_fields; f->name; f++)
			if (strlen(f->name) == n && memcmp(f->name, list, n) == 0)
				break;
		if (!f->name) {
			*bad = list;
			*bad_len = (int)n;
			return 0;
		}
		bits |= f->bit;
		if (list[n] == '\0')
			return bits;
	}
}

struct script *script_new(const struct script_options *options, struct out *out)
{
	struct script *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->opt = *options;
	if (!s->opt.fields)
		s->opt.fields = default_fields[s->opt.mode];
	s->out = out;
	json_init(&s->json, out);
	return s;
}

void script_free(struct script *s)
{
	if (!s)
		return;
	script_insns_reset(s);
	analysis_free(s->analysis);
	free(s);
}

int script_begin(struct script *s, const struct script_thread *thread)
{
	script_insns_reset(s);
	s->thread = *thread;
	s->has_symbol = false;
	return s->opt.mode == SCRIPT_CALLS ? script_calls_begin(s) : 0;
}

void script_exec(struct script *s)
{
	if (s->calls)
		analysis_exec(s->calls);
	s->has_symbol = false;
}

void script_end(struct script *s)
{
	if (s->calls)
		analysis_thread_end(s->calls);
	s->calls = NULL;
}

static const char *const branch_names[BLOCK_END_MAX] = {
	[BLOCK_SEQ] = "seq",
	[BLOCK_JCC] = "jcc",
	[BLOCK_JMP] = "jmp",
	[BLOCK_CALL] = "call",
	[BLOCK_JMP_IND] = "jmp-ind",
	[BLOCK_CALL_IND] = "call-ind",
	[BLOCK_RET] = "ret",
	[BLOCK_SYSCALL] = "syscall",
	[BLOCK_FAR] = "far",
};

static void branch(struct script *s, const struct trace_event *ev)
{
	const struct trace_block *b = ev->block;
	struct row row = { .event = "?", .ev = ev, .ip = b->last, .to = ev->to };

	if (!(ev->flags & TRACE_F_BRANCH))
		return;
	if (b->kind < BLOCK_END_MAX)
		row.event = branch_names[b->kind];
	if (b->kind == BLOCK_JCC && !(ev->flags & TRACE_F_TAKEN))
		row.event = "not-taken";
	script_row(s, &row);
}

static const char *const event_names[TRACE_EVENT_MAX] = {
	[TRACE_RUN] = "run",
	[TRACE_SYNC] = "sync",
	[TRACE_OTHER] = "other",
	[TRACE_ENABLED] = "enabled",
	[TRACE_DISABLED] = "disabled",
	[TRACE_ASYNC] = "async",
	[TRACE_GAP] = "gap",
	[TRACE_ERROR] = "error",
	[TRACE_CBR] = "cbr",
	[TRACE_MODE] = "mode",
	[TRACE_PIP] = "cr3",
	[TRACE_CONTEXT] = "contextidr",
	[TRACE_PTWRITE] = "ptwrite",
	[TRACE_STOPPED] = "stopped",
};

const char *script_event_name(const struct trace_event *ev)
{
	return ev->type && ev->type < TRACE_EVENT_MAX ? event_names[ev->type] : "?";
}

static bool is_loss(const struct trace_event *ev)
{
	return ev->type == TRACE_GAP || ev->type == TRACE_ERROR;
}

static void other(struct script *s, const struct trace_event *ev)
{
	struct row row = { .ev = ev, .ip = ev->ip, .to = ev->to };

	/* Of no interest in a listing, or unknown. */
	if (ev->type == TRACE_SYNC || ev->type >= TRACE_OTHER)
		return;
	/* Lists of instructions and calls hold only those, and what is missing. */
	if (s->opt.mode != SCRIPT_BRANCHES && !is_loss(ev))
		return;
	row.event = script_event_name(ev);
	if (is_loss(ev))
		row.note = trace_gap_text(ev->error);
	script_row(s, &row);
}

static int feed_one(struct script *s, const struct trace_event *ev)
{
	int err = 0;

	if (s->opt.mode == SCRIPT_CALLS)
		err = script_calls(s, ev);
	if (ev->type != TRACE_RUN)
		other(s, ev);
	else if (s->opt.mode == SCRIPT_INSNS)
		err = script_insns(s, ev);
	else if (s->opt.mode == SCRIPT_BRANCHES)
		branch(s, ev);
	return err;
}

int script_feed(struct script *s, const struct trace_event *ev, int n)
{
	int i, err = 0;

	for (i = 0; i < n && !err; i++)
		err = feed_one(s, &ev[i]);
	return err ? err : s->out->err;
}
