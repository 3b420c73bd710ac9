/* SPDX-License-Identifier: BSD-2-Clause */
#include "result.h"
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *plural(uint64_t n)
{
	return text_form(n, "", "s");
}

/* What the recording says is missing turns up as gaps, too, once it is decoded. */
static uint64_t missing_bytes(const struct summary *s)
{
	return s->missing > s->lost ? s->missing : s->lost;
}

void result_summary(struct out *o, const char *prefix, const struct summary *s)
{
	char insns[32], branches[32], bytes[32], lost[32];

	out_str(o, prefix);
	if (s->sampled)
		out_printf(o, "%s sample%s", text_count(insns, sizeof(insns), s->samples),
			   plural(s->samples));
	else
		out_printf(o, "%s instruction%s, %s %s",
			   text_count(insns, sizeof(insns), s->instructions),
			   plural(s->instructions),
			   text_count(branches, sizeof(branches), s->branches),
			   text_form(s->branches, "branch", "branches"));
	out_printf(o, ", %s of trace, %s missing, %" PRIu64 " gap%s, %" PRIu64
		   " error%s: %s\n",
		   text_size(bytes, sizeof(bytes), s->bytes),
		   text_size(lost, sizeof(lost), missing_bytes(s)), s->gaps, plural(s->gaps),
		   s->errors, plural(s->errors), summary_verdict_text(summary_verdict(s)));
}

__attribute__((format(printf, 4, 5)))
static void add(char *buf, size_t size, size_t *n, const char *fmt, ...)
{
	va_list ap;
	int len;

	if (*n >= size)
		return;
	va_start(ap, fmt);
	len = vsnprintf(buf + *n, size - *n, fmt, ap);
	va_end(ap);
	*n += len > 0 ? (size_t)len : 0;
}

void result_losses(char *buf, size_t size, const struct summary *s)
{
	int i, last = s->errors ? TRACE_ERR_PACKET : TRACE_GAP_MAX;
	size_t n = 0;

	buf[0] = '\0';
	if (s->errors)
		add(buf, size, &n, "%" PRIu64 " error%s (the first: %s at offset 0x%" PRIx64
		    ", address %" PRIx64 ")", s->errors, plural(s->errors),
		    trace_gap_text(s->first_error), s->first_offset, s->first_ip);
	if (s->gaps)
		add(buf, size, &n, "%s%" PRIu64 " gap%s", n ? ", " : "", s->gaps,
		    plural(s->gaps));
	/* A gap may have a fault for its reason; among errors they are not told apart. */
	for (i = TRACE_GAP_NONE + 1; i < last && s->gaps; i++)
		if (s->reasons[i])
			add(buf, size, &n, " [%" PRIu64 " x %s]", s->reasons[i],
			    trace_gap_text((enum trace_gap)i));
	if (missing_bytes(s))
		add(buf, size, &n, "%s%" PRIu64 " byte%s of trace missing", n ? ", " : "",
		    missing_bytes(s), plural(missing_bytes(s)));
	if (s->stops)
		add(buf, size, &n, "%sthe buffer was full %" PRIu64 " time%s", n ? ", " : "",
		    s->stops, plural(s->stops));
}

static void reasons_json(struct json *j, const struct summary *s)
{
	int i;

	json_object(j, "reasons");
	for (i = TRACE_GAP_NONE + 1; i < TRACE_GAP_MAX; i++)
		if (s->reasons[i])
			json_uint(j, trace_gap_text((enum trace_gap)i), s->reasons[i]);
	json_object_end(j);
}

void result_summary_json(struct json *j, const char *key, const struct summary *s)
{
	json_object(j, key);
	json_uint(j, "instructions", s->instructions);
	json_uint(j, "branches", s->branches);
	if (s->sampled)
		json_uint(j, "samples", s->samples);
	json_uint(j, "bytes", s->bytes);
	json_uint(j, "lost_bytes", s->lost);
	json_uint(j, "missing_bytes", s->missing);
	json_uint(j, "stops", s->stops);
	json_uint(j, "gaps", s->gaps);
	json_uint(j, "errors", s->errors);
	reasons_json(j, s);
	if (s->errors) {
		json_object(j, "first_error");
		json_string(j, "reason", trace_gap_text(s->first_error));
		json_uint(j, "offset", s->first_offset);
		json_hex(j, "ip", s->first_ip);
		json_object_end(j);
	}
	json_string(j, "verdict", summary_verdict_text(summary_verdict(s)));
	json_object_end(j);
}
