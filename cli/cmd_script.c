/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"
#include "present/result.h"
#include "present/script.h"
#include "recording.h"

#include <unistd.h>

struct script_values {
	struct recording_values recording;
	int		mode;
	const char	*fields;
};
static const struct script_values defaults = { .recording = RECORDING_DEFAULTS };

#define MODE(text, value_, help_) \
	{ .name = text, .kind = OPTION_FLAG, .value = value_, .help = help_, \
	  .offset = OPTION_AT(struct script_values, mode) }
static const struct option script_opts[] = {
	RECORDING_ROWS(struct script_values, recording),
	MODE("branches", SCRIPT_BRANCHES, "A line a branch (default)"),
	MODE("insns", SCRIPT_INSNS, "A line an instruction"),
	MODE("calls", SCRIPT_CALLS, "A line a call, indented by depth"),
	{ 'F', "fields", "FIELDS", OPTION_STRING, OPTION_AT(struct script_values, fields),
	  .help = "Of: pid,tid,comm,time,cycles,offset,event,ip,sym,image,line,to; "
		  "samples: addr,lat,events" },
	{ 0 }
};

struct listing {
	struct recording rec;
	struct script	*script;
	struct out	out;
	struct hwt_stream *st;		/* whose events come */
};

static bool listing_symbol(void *ctx, uint64_t ip, struct image_symbol *out)
{
	return recording_symbol(((struct listing *)ctx)->st, ip, out);
}

static bool listing_line(void *ctx, uint64_t ip, struct image_line *out)
{
	return recording_line(((struct listing *)ctx)->st, ip, out);
}

static uint64_t listing_ns(void *ctx, uint64_t ticks)
{
	return hwt_session_ns(((struct listing *)ctx)->rec.session, ticks);
}

static int begin(void *ctx, struct hwt_stream *st)
{
	const struct hwt_stream_info *info = hwt_stream_info(st);
	struct listing *l = ctx;
	struct script_thread thread = {
		.pid = info->pid, .tid = info->tid, .cpu = info->cpu, .comm = info->name,
		.ctx = l, .symbol = listing_symbol, .line = listing_line, .ns = listing_ns,
	};

	l->st = st;
	return script_begin(l->script, &thread);
}

static int feed(void *ctx, const struct trace_event *ev, int n)
{
	struct listing *l = ctx;
	int err = script_feed(l->script, ev, n);

	return l->out.err ? 1 : err;
}

static void exec(void *ctx)
{
	script_exec(((struct listing *)ctx)->script);
}

static int end(void *ctx, struct hwt_stream *st, const struct summary *s)
{
	script_end(((struct listing *)ctx)->script);
	return 0;
}

static int samples(void *ctx, const struct spe_event *ev, int n)
{
	struct listing *l = ctx;
	const struct hwt_stream_info *info = hwt_stream_info(l->st);

	script_owner(l->script, info->pid, info->tid);
	return script_samples(l->script, ev, n);
}

/* The last line of JSON output says what all the others are worth. */
static void summary_line(struct listing *l)
{
	struct json j;

	json_init(&j, &l->out);
	json_object(&j, NULL);
	json_string(&j, "type", "summary");
	if (recording_sampled(&l->rec)) {
		json_bool(&j, "modelled", hwt_session_info(l->rec.session)->modelled);
		json_bool(&j, "collisions", recording_collided(&l->rec));
	}
	result_summary_json(&j, "summary", &l->rec.all);
	json_object_end(&j);
	json_newline(&j);
}

static int list(struct listing *l, const struct script_options *options, bool json)
{
	static const struct recording_visitor visitor = {
		.begin = begin, .feed = feed, .exec = exec, .samples = samples, .end = end,
		.listing = true,
	};
	int status, closed;

	if (out_init(&l->out, STDOUT_FILENO))
		return failure("out of memory");
	if (!json)
		recording_note(&l->rec, &l->out);
	l->script = script_new(options, &l->out);
	status = l->script ? recording_visit(&l->rec, &visitor, l) : failure("out of memory");
	if (status == EXIT_OK && json)
		summary_line(l);
	script_free(l->script);
	status = finish_out(&l->out, status);
	closed = recording_close(&l->rec);
	return status ? status : closed;
}

static int script_run(const struct command *self, void *values, int noperands,
		      char **operands)
{
	struct script_values *v = values;
	struct script_options options = { .mode = v->mode, .json = v->recording.json };
	struct listing l = { 0 };
	const char *bad;
	int bad_len, status;

	if (v->fields) {
		options.fields = script_parse_fields(v->fields, &bad, &bad_len);
		if (!options.fields)
			return failure("--fields: '%.*s' is no field; see --help", bad_len, bad);
	}
	status = recording_operand(&v->recording, noperands, operands);
	if (!status)
		status = recording_open(&l.rec, &v->recording);
	if (status)
		return status;
	if (v->recording.raw && !v->recording.maps.n)
		message("a bare stream says nothing of code: pass it by --map ELF[@ADDR]");
	if (recording_sampled(&l.rec)) {
		options.mode = SCRIPT_SAMPLES;
	} else if (options.fields & SCRIPT_OF_SAMPLES) {
		recording_discard(&l.rec);
		return failure("--fields: addr, lat and events are for recordings of samples");
	}
	return list(&l, &options, v->recording.json);
}

const struct command script_cmd = {
	.name = "script",
	.summary = "List branches, instructions, calls or samples in order",
	.operands = "[RECORDING]",
	.max_operands = 1,
	.usage_status = EXIT_FAILED,
	.options = script_opts,
	.defaults = &defaults,
	.size = sizeof(struct script_values),
	.run = script_run,
};
