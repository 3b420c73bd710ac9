/* SPDX-License-Identifier: BSD-2-Clause */
/* One line: its fields in a fixed order, as text or as a JSON object. */
#include "script_internal.h"
#include "text.h"

#include <string.h>

#define INDENT_MAX	64	/* levels; deeper calls stay there and say their depth */

static bool wants(const struct script *s, uint32_t field)
{
	return (s->opt.fields & field) != 0;
}

/* Names of neighbouring instructions are mostly the same. */
static bool symbol_at(struct script *s, uint64_t ip, struct image_symbol *out)
{
	if (s->has_symbol && s->symbol.name && ip >= s->symbol.start && ip < s->symbol.end) {
		*out = s->symbol;
		return true;
	}
	memset(out, 0, sizeof(*out));
	if (!s->thread.symbol)
		return false;
	s->has_symbol = s->thread.symbol(s->thread.ctx, ip, out);
	s->symbol = *out;
	return s->has_symbol;
}

/* Of a register, or of what the program wrote. */
static bool has_value(const struct trace_event *ev)
{
	return ev->type == TRACE_PTWRITE || ev->type == TRACE_CBR || ev->type == TRACE_MODE ||
	       ev->type == TRACE_PIP || ev->type == TRACE_CONTEXT;
}

/* Which exception it was. */
static bool has_number(const struct trace_event *ev)
{
	return ev->type == TRACE_ASYNC && ev->flags & TRACE_F_NUMBER;
}

/* None were counted where the trace holds no cycles, or not yet. */
static bool has_cycles(const struct trace_event *ev)
{
	return ev->cycles || ev->flags & TRACE_F_CYCLES;
}

/* ---- text ---- */

static void pad_hex(struct out *o, uint64_t v, size_t width)
{
	char digits[16];
	size_t n = out_format_hex(digits, v);

	for (; width > n; width--)
		out_char(o, ' ');
	out_bytes(o, digits, n);
}

static void text_symbol(struct script *s, uint64_t ip)
{
	struct image_symbol sym;
	bool found = symbol_at(s, ip, &sym);

	out_char(s->out, ' ');
	if (found && sym.name) {
		out_printable(s->out, sym.name);
		if (ip != sym.start) {
			out_str(s->out, "+0x");
			out_hex(s->out, ip - sym.start);
		}
	} else if (sym.image && sym.image[0] == '/' && !wants(s, SCRIPT_IMAGE)) {
		/* No name: at least where to look for it. */
		out_char(s->out, '[');
		out_printable(s->out, strrchr(sym.image, '/') + 1);
		out_str(s->out, "+0x");
		out_hex(s->out, ip - sym.image_base);
		out_char(s->out, ']');
	} else {
		out_str(s->out, "[unknown]");
	}
	if (wants(s, SCRIPT_IMAGE)) {
		out_str(s->out, " (");
		out_printable(s->out, sym.image ? sym.image : "?");
		out_char(s->out, ')');
	}
}

static void text_line(struct script *s, uint64_t ip)
{
	struct image_line line;

	if (!s->thread.line || !s->thread.line(s->thread.ctx, ip, &line) || !line.file)
		return;
	out_char(s->out, ' ');
	out_printable(s->out, line.file);
	out_printf(s->out, ":%d", line.line);
}

static void text_time(struct script *s, const struct trace_event *ev)
{
	uint64_t ns;

	if (!(ev->flags & TRACE_F_TIME) || !s->thread.ns) {
		out_str(s->out, "               - ");
		return;
	}
	ns = s->thread.ns(s->thread.ctx, ev->time);
	out_printf(s->out, "%6llu.%09llu ", (unsigned long long)(ns / 1000000000),
		   (unsigned long long)(ns % 1000000000));
}

static void text_head(struct script *s, const struct row *row)
{
	struct out *o = s->out;

	if (wants(s, SCRIPT_COMM)) {
		out_printable(o, s->thread.comm ? s->thread.comm : "?");
		out_char(o, ' ');
	}
	if (wants(s, SCRIPT_PID))
		out_printf(o, "%7u ", s->thread.pid);
	if (wants(s, SCRIPT_TID) && s->thread.cpu < 0)
		out_printf(o, "%7u ", s->thread.tid);
	else if (wants(s, SCRIPT_TID))
		out_printf(o, "cpu%4d ", s->thread.cpu);
	if (wants(s, SCRIPT_TID) && s->thread.cpu >= 0 && s->thread.tid)
		out_printf(o, "%7u ", s->thread.tid);
	if (wants(s, SCRIPT_TIME))
		text_time(s, row->ev);
	if (wants(s, SCRIPT_CYCLES) && has_cycles(row->ev))
		out_printf(o, "%12llu ", (unsigned long long)row->ev->cycles);
	else if (wants(s, SCRIPT_CYCLES))
		out_printf(o, "%12s ", "-");
	if (wants(s, SCRIPT_OFFSET))
		out_printf(o, "%10llx ", (unsigned long long)row->ev->offset);
}

/* Where a loss is said in words, with what helps to find it. */
static void text_loss(struct script *s, const struct row *row)
{
	const struct trace_event *ev = row->ev;

	out_printf(s->out, "-- %s: %s at offset 0x%llx", row->event, row->note,
		   (unsigned long long)ev->offset);
	if (ev->ip)
		out_printf(s->out, ", address %llx", (unsigned long long)ev->ip);
	if (ev->type == TRACE_GAP && ev->value)
		out_printf(s->out, ", %llu %s", (unsigned long long)ev->value,
			   text_form(ev->value, "byte", "bytes"));
}

static void text_address(struct script *s, uint64_t ip)
{
	if (wants(s, SCRIPT_IP) && ip)
		pad_hex(s->out, ip, 16);
	else if (wants(s, SCRIPT_IP))
		out_printf(s->out, "%16s", "-");
}

/* As hwt calls has them. */
static const char *const words[ANALYSIS_WAYS] = {
	[ANALYSIS_BY_JUMP] = "tail",
	[ANALYSIS_BY_SIGNAL] = "signal",
	[ANALYSIS_TO_OUTSIDE] = "outside",
};

static void text_call(struct script *s, const struct row *row)
{
	uint32_t i, depth = row->depth < INDENT_MAX ? row->depth : INDENT_MAX;

	for (i = 0; i < depth; i++)
		out_str(s->out, "  ");
	if (row->depth > INDENT_MAX)
		out_printf(s->out, "[%u] ", row->depth);
	text_address(s, row->ip);
	if (row->to && wants(s, SCRIPT_SYM))
		text_symbol(s, row->to);
	if (words[row->way])
		out_printf(s->out, " [%s]", words[row->way]);
	if (row->to && wants(s, SCRIPT_LINE))
		text_line(s, row->to);
	if (wants(s, SCRIPT_TO))
		out_printf(s->out, " %llx", (unsigned long long)row->to);
}

static void text_exception(struct out *o, uint64_t number)
{
	const char *name = trace_exception_text(number);

	out_printf(o, " exception %llu", (unsigned long long)number);
	if (name)
		out_printf(o, " (%s)", name);
}

static void text_flow(struct script *s, const struct row *row)
{
	struct out *o = s->out;

	if (wants(s, SCRIPT_EVENT))
		out_printf(o, "%-10s", row->event);
	text_address(s, row->ip);
	if (row->ip && (wants(s, SCRIPT_SYM) || wants(s, SCRIPT_IMAGE)))
		text_symbol(s, row->ip);
	if (row->ip && wants(s, SCRIPT_LINE))
		text_line(s, row->ip);
	if (has_value(row->ev))
		out_printf(o, " value 0x%llx", (unsigned long long)row->ev->value);
	if (has_number(row->ev))
		text_exception(o, row->ev->value);
	if (wants(s, SCRIPT_TO) && row->to) {
		out_str(o, " => ");
		out_hex(o, row->to);
		if (wants(s, SCRIPT_SYM))
			text_symbol(s, row->to);
	}
	if (row->sample)
		script_sample_text(s, row->sample);
}

static void row_text(struct script *s, const struct row *row)
{
	/* Bare addresses stay bare: losses are then told at the end only. */
	if (row->note && s->opt.fields == SCRIPT_IP)
		return;
	text_head(s, row);
	if (row->note)
		text_loss(s, row);
	else if (s->opt.mode == SCRIPT_CALLS)
		text_call(s, row);
	else
		text_flow(s, row);
	out_char(s->out, '\n');
}

/* ---- JSON ---- */

static void json_place(struct script *s, const char *key, uint64_t ip)
{
	struct json *j = &s->json;
	struct image_symbol sym;
	struct image_line line;

	json_object(j, key);
	json_hex(j, "ip", ip);
	if (wants(s, SCRIPT_SYM) || wants(s, SCRIPT_IMAGE)) {
		if (symbol_at(s, ip, &sym) && sym.name) {
			json_string(j, "symbol", sym.name);
			json_uint(j, "symbol_offset", ip - sym.start);
		}
		json_string(j, "image", sym.image ? sym.image : "?");
	}
	if (wants(s, SCRIPT_LINE) && s->thread.line &&
	    s->thread.line(s->thread.ctx, ip, &line) && line.file) {
		json_string(j, "file", line.file);
		json_int(j, "line", line.line);
	}
	json_object_end(j);
}

static void json_loss(struct json *j, const struct row *row)
{
	json_string(j, "reason", row->note);
	json_uint(j, "offset", row->ev->offset);
	if (row->ev->type == TRACE_GAP)
		json_uint(j, "bytes", row->ev->value);
}

static void json_exception(struct json *j, uint64_t number)
{
	const char *name = trace_exception_text(number);

	json_uint(j, "exception", number);
	if (name)
		json_string(j, "exception_name", name);
}

static void row_json(struct script *s, const struct row *row)
{
	const struct trace_event *ev = row->ev;
	struct json *j = &s->json;

	json_object(j, NULL);
	json_string(j, "type", row->event);
	json_uint(j, "pid", s->thread.pid);
	json_uint(j, "tid", s->thread.tid);
	if (s->thread.cpu >= 0)
		json_int(j, "cpu", s->thread.cpu);
	if (wants(s, SCRIPT_COMM))
		json_string(j, "comm", s->thread.comm);
	if ((ev->flags & TRACE_F_TIME) && wants(s, SCRIPT_TIME) && s->thread.ns)
		json_uint(j, "time_ns", s->thread.ns(s->thread.ctx, ev->time));
	if (wants(s, SCRIPT_CYCLES) && has_cycles(ev))
		json_uint(j, "cycles", ev->cycles);
	if (wants(s, SCRIPT_OFFSET) && !row->note)
		json_uint(j, "offset", ev->offset);
	if (row->note)
		json_loss(j, row);
	if (s->opt.mode == SCRIPT_CALLS && !row->note)
		json_uint(j, "depth", row->depth);
	if (row->ip)
		json_place(s, "at", row->ip);
	if (row->to && (wants(s, SCRIPT_TO) || s->opt.mode == SCRIPT_CALLS))
		json_place(s, "to", row->to);
	if (has_value(ev))
		json_hex(j, "value", ev->value);
	if (has_number(ev))
		json_exception(j, ev->value);
	if (row->sample)
		script_sample_json(s, row->sample);
	json_object_end(j);
	json_newline(j);
}

void script_row(struct script *s, const struct row *row)
{
	if (s->opt.json)
		row_json(s, row);
	else
		row_text(s, row);
}
