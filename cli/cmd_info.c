/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"
#include "present/result.h"
#include "present/result_samples.h"
#include "present/text.h"
#include "recording.h"
#include "settings.h"

#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

struct info_values {
	struct recording_values recording;
	int		no_decode;
};
static const struct info_values defaults = { .recording = RECORDING_DEFAULTS };

static const struct option info_opts[] = {
	RECORDING_ROWS(struct info_values, recording),
	{ 0, "no-decode", .kind = OPTION_FLAG, .value = 1,
	  .offset = OPTION_AT(struct info_values, no_decode),
	  .help = "Only what the file says, without decoding" },
	{ 0 }
};

struct informing {
	struct recording rec;
	struct out	out;
	struct json	json;
	bool		as_json;
};

static void exit_text(struct informing *f, const struct hwt_stream_info *info)
{
	bool recorded = hwt_session_info(f->rec.session)->ours;	/* perf has none */
	struct out *o = &f->out;

	if (info->revoked)
		out_str(o, ", not traced any more once it executed a more privileged program");
	if (info->native) {
		out_str(o, ", not traced any more once it executed ");
		out_printable(o, info->native);
		out_str(o, ", a program for another machine");
	}
	if (!info->exited)
		return;
	if (info->status == -1)
		out_str(o, recorded ? ", exit status not known" : "");
	else if (WIFSIGNALED(info->status))
		out_printf(o, ", ended by signal %d", WTERMSIG(info->status));
	else
		out_printf(o, ", exit status %d", WEXITSTATUS(info->status));
}

static void thread_text(struct informing *f, const struct hwt_stream_info *info)
{
	if (info->cpu >= 0)
		out_printf(&f->out, "CPU %d", info->cpu);
	else
		out_printf(&f->out, "thread %u of process %u", info->tid, info->pid);
	if (info->name && *info->name) {
		out_str(&f->out, " (");
		out_printable(&f->out, info->name);
		out_char(&f->out, ')');
	}
	exit_text(f, info);
	out_char(&f->out, '\n');
}

static void thread_json(struct informing *f, const struct hwt_stream_info *info)
{
	struct json *j = &f->json;

	json_object(j, NULL);
	json_uint(j, "pid", info->pid);
	json_uint(j, "tid", info->tid);
	if (info->cpu >= 0)
		json_int(j, "cpu", info->cpu);
	json_string(j, "comm", info->name);
	if (info->trace_id)
		json_hex(j, "trace_id", info->trace_id);
	json_uint(j, "lost_bytes", info->lost);
	json_uint(j, "stops", info->gaps);
	if (info->collided)
		json_bool(j, "collisions", true);
	if (info->exited && info->status != -1 && WIFSIGNALED(info->status))
		json_int(j, "signal", WTERMSIG(info->status));
	else if (info->exited && info->status != -1)
		json_int(j, "exit_status", WEXITSTATUS(info->status));
	if (info->revoked)
		json_bool(j, "revoked", true);
	if (info->native)
		json_string(j, "native", info->native);
}

static int begin(void *ctx, struct hwt_stream *st)
{
	struct informing *f = ctx;

	if (f->as_json)
		thread_json(f, hwt_stream_info(st));
	else
		thread_text(f, hwt_stream_info(st));
	return 0;
}

static int end(void *ctx, struct hwt_stream *st, const struct summary *s)
{
	const struct hwt_stream_info *info = hwt_stream_info(st);
	struct informing *f = ctx;
	char losses[512];

	if (f->as_json) {
		json_uint(&f->json, "bytes", s->bytes);
		result_summary_json(&f->json, "summary", s);
		json_object_end(&f->json);
		return 0;
	}
	result_summary(&f->out, "  ", s);
	if (info->trace_id && !s->bytes)
		out_printf(&f->out, "  nothing in its buffer has its trace ID, 0x%x\n",
			   info->trace_id);
	result_losses(losses, sizeof(losses), s);
	if (losses[0])
		out_printf(&f->out, "  %s\n", losses);
	if (info->collided)
		out_str(&f->out, "  " RESULT_COLLIDED "\n");
	return 0;
}

static void file_text(struct informing *f, const struct hwt_session_info *info)
{
	const char *unfinished = recording_unfinished(info);
	struct out *o = &f->out;
	char size[32];

	if (f->rec.opt->raw) {
		out_printf(o, "a bare stream of %s\n\n", info->backend ? info->backend : "?");
		return;
	}
	info_line(o, "command", info->cmdline);
	info_line(o, "written by", info->writer);
	info_line(o, "host", info->host);
	info_line(o, "machine", info->arch);
	info_line(o, "system", info->os_release);
	info_line(o, "cpu", info->cpuid);
	info_line(o, "backend", info->backend);
	settings_text(o, info);
	info_line(o, "size", text_size(size, sizeof(size), info->file_size));
	if (!info->truncated_at)
		out_printf(o, "%-12s%s%s\n", "closed", unfinished ? "no: " : "in good order",
			   unfinished ? unfinished : "");
	if (info->lost_records)
		out_printf(o, "%-12s%" PRIu64 " %s\n", "lost", info->lost_records,
			   text_form(info->lost_records, "record", "records"));
	if (info->truncated_at)
		out_printf(o, "%-12sat offset %" PRIu64 "\n", "cut", info->truncated_at);
	out_char(o, '\n');
}

static void file_json(struct informing *f, const struct hwt_session_info *info)
{
	struct json *j = &f->json;

	json_object(j, "recording");
	json_string(j, "command", info->cmdline);
	json_bool(j, "written_by_hwt", info->ours);
	json_string(j, "host", info->host);
	json_string(j, "machine", info->arch);
	json_string(j, "system", info->os_release);
	json_string(j, "cpu", info->cpuid);
	json_string(j, "backend", info->backend);
	settings_json(j, info);
	json_uint(j, "file_size", info->file_size);
	json_bool(j, "complete", info->complete);
	json_bool(j, "still_recording", info->busy);
	json_uint(j, "lost_records", info->lost_records);
	json_uint(j, "truncated_at", info->truncated_at);
	json_object_end(j);
}

static int threads(struct informing *f, bool decode)
{
	static const struct recording_visitor visitor = { .begin = begin, .end = end };
	const struct hwt_stream_info *info;
	struct hwt_stream *st;
	int i;

	if (decode)
		return recording_visit(&f->rec, &visitor, f);
	for (i = 0; (st = recording_stream(&f->rec, &i)); i++) {
		info = hwt_stream_info(st);
		begin(f, st);
		if (f->as_json) {
			json_uint(&f->json, "bytes", info->bytes);
			json_object_end(&f->json);
			continue;
		}
		out_printf(&f->out, "  %" PRIu64 " %s of trace%s, %" PRIu64 " missing\n",
			   info->bytes, text_form(info->bytes, "byte", "bytes"),
			   info->trace_id ? " with that of others" : "", info->lost);
	}
	return EXIT_OK;
}

static int show(struct informing *f, bool decode)
{
	const struct hwt_session_info *info = hwt_session_info(f->rec.session);
	int status;

	json_init(&f->json, &f->out);
	if (f->as_json) {
		json_object(&f->json, NULL);
		file_json(f, info);
		json_array(&f->json, "threads");
	} else {
		file_text(f, info);
	}
	status = threads(f, decode);
	if (f->as_json) {
		json_array_end(&f->json);
		if (decode)
			result_summary_json(&f->json, "summary", &f->rec.all);
		json_object_end(&f->json);
		json_newline(&f->json);
	} else if (decode && f->rec.streams > 1) {
		result_summary(&f->out, "\nall: ", &f->rec.all);
	}
	return status;
}

static int info_run(const struct command *self, void *values, int noperands,
		    char **operands)
{
	struct info_values *v = values;
	struct informing f = { .as_json = v->recording.json };
	int status, closed;

	status = recording_operand(&v->recording, noperands, operands);
	if (!status)
		status = recording_open(&f.rec, &v->recording);
	if (status)
		return status;
	if (out_init(&f.out, STDOUT_FILENO)) {
		recording_close(&f.rec);
		return failure("out of memory");
	}
	status = finish_out(&f.out, show(&f, !v->no_decode));
	closed = recording_close(&f.rec);
	return status ? status : closed;
}

const struct command info_cmd = {
	.name = "info",
	.summary = "Show what a recording holds, thread by thread",
	.operands = "[RECORDING]",
	.max_operands = 1,
	.usage_status = EXIT_FAILED,
	.options = info_opts,
	.defaults = &defaults,
	.size = sizeof(struct info_values),
	.run = info_run,
};
