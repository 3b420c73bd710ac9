/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"
#include "present/json.h"
#include "present/text.h"
#include "progress.h"
#include "recording.h"
#include "session/packets.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct dump_values {
	struct recording_values recording;
	int		bytes;
};
static const struct dump_values defaults = { .recording = RECORDING_DEFAULTS };

static const struct option dump_opts[] = {
	RECORDING_ROWS(struct dump_values, recording),
	{ 0, "bytes", .kind = OPTION_FLAG, .value = 1,
	  .offset = OPTION_AT(struct dump_values, bytes),
	  .help = "Show each packet's bytes, too" },
	{ 0 }
};

struct dumping {
	struct recording rec;
	struct out	out;
	struct json	json;
	const struct dump_values *opt;
	uint32_t	tid;
	int32_t		cpu;		/* -1: a thread's */
	uint64_t	packets, bad, lost;	/* bytes for the last two */
};

static const char *const kind_text[] = {
	[HWT_PACKET_BAD] = "no packet", [HWT_PACKET_LOST] = "missing from the recording",
	[HWT_PACKET_CUT] = "cut off inside a packet",
};
static const char *const kind_name[] = {
	[HWT_PACKET] = "packet", [HWT_PACKET_BAD] = "bad", [HWT_PACKET_LOST] = "lost",
	[HWT_PACKET_CUT] = "cut",
};

static void packet_text(struct dumping *d, const struct hwt_packet *p)
{
	char digits[16];
	size_t n = out_format_hex(digits, p->position), i;

	for (i = n; i < 8; i++)
		out_char(&d->out, '0');
	out_bytes(&d->out, digits, n);
	out_str(&d->out, "  ");
	if (p->kind == HWT_PACKET) {
		if (d->opt->bytes) {
			out_hex_bytes(&d->out, p->bytes, p->length);
			for (i = p->length; i < 16; i++)
				out_str(&d->out, "  ");
			out_str(&d->out, "  ");
		}
		out_str(&d->out, p->text);
	} else {
		out_printf(&d->out, "-- %llu %s %s", (unsigned long long)p->length,
			   text_form(p->length, "byte", "bytes"), kind_text[p->kind]);
	}
	out_char(&d->out, '\n');
}

static void packet_json(struct dumping *d, const struct hwt_packet *p)
{
	json_object(&d->json, NULL);
	json_string(&d->json, "type", kind_name[p->kind]);
	json_uint(&d->json, "tid", d->tid);
	if (d->cpu >= 0)
		json_int(&d->json, "cpu", d->cpu);
	json_uint(&d->json, "offset", p->position);
	json_uint(&d->json, "length", p->length);
	if (hwt_session_info(d->rec.session)->modelled)
		json_bool(&d->json, "modelled", true);
	if (p->kind == HWT_PACKET) {
		json_string(&d->json, "name", p->name);
		json_string(&d->json, "text", p->text);
		if (d->opt->bytes)
			json_bytes(&d->json, "bytes", p->bytes, p->length);
	}
	json_object_end(&d->json);
	json_newline(&d->json);
}

static int packet(void *ctx, const struct hwt_packet *p)
{
	struct dumping *d = ctx;

	if (p->kind == HWT_PACKET)
		d->packets++;
	else if (p->kind == HWT_PACKET_LOST)
		d->lost += p->length;
	else
		d->bad += p->length;
	if (d->opt->recording.json)
		packet_json(d, p);
	else
		packet_text(d, p);
	progress_at(d->rec.done + p->position);
	return d->out.err;
}

static int dump_streams(struct dumping *d)
{
	const struct hwt_stream_info *info;
	struct hwt_stream *st;
	int i, err = 0;

	progress_start("reading packets", d->rec.total, true);
	for (i = 0; !err && (st = recording_stream(&d->rec, &i)); i++) {
		info = hwt_stream_info(st);
		d->tid = info->tid;
		d->cpu = info->cpu;
		if (!d->opt->recording.json && info->cpu >= 0)
			out_printf(&d->out, "# CPU %d\n", info->cpu);
		else if (!d->opt->recording.json)
			out_printf(&d->out, "# thread %u of process %u\n", info->tid,
				   info->pid);
		err = hwt_stream_packets(d->rec.session, st, packet, d);
		d->rec.done += info->bytes;
	}
	progress_end();
	if (err == -EOPNOTSUPP)
		return failure("packets of '%s' cannot be read here",
			       hwt_session_info(d->rec.session)->backend);
	if (err && !d->out.err)
		return failure("reading packets: %s", strerror(-err));
	return EXIT_OK;
}

/* Nothing was listed: EXIT_* as other commands have it, and why. */
static int nothing(const struct dumping *d)
{
	if (recording_sampled(&d->rec)) {
		message(RECORDING_UNSAMPLED);
		return EXIT_OK;
	}
	message("there is not one packet in its trace");
	return EXIT_WITH_ERRORS;
}

static int dump_run(const struct command *self, void *values, int noperands,
		    char **operands)
{
	struct dump_values *v = values;
	struct dumping d = { .opt = v };
	int status, closed;

	status = recording_operand(&v->recording, noperands, operands);
	if (!status)
		status = recording_open(&d.rec, &v->recording);
	if (status)
		return status;
	if (out_init(&d.out, STDOUT_FILENO)) {
		recording_close(&d.rec);
		return failure("out of memory");
	}
	json_init(&d.json, &d.out);
	if (!d.opt->recording.json)
		recording_note(&d.rec, &d.out);
	status = finish_out(&d.out, dump_streams(&d));
	if (d.bad || d.lost)
		message("%llu %s no packets, %llu %s missing", (unsigned long long)d.bad,
			text_form(d.bad, "byte is", "bytes are"),
			(unsigned long long)d.lost,
			text_form(d.lost, "byte is", "bytes are"));
	if (status == EXIT_OK && (d.bad || d.lost))
		status = EXIT_WITH_ERRORS;
	else if (status == EXIT_OK && !d.packets)
		status = nothing(&d);
	closed = recording_close(&d.rec);
	return status ? status : closed;
}

const struct command dump_cmd = {
	.name = "dump",
	.summary = "List trace packets with their offsets",
	.operands = "[RECORDING]",
	.max_operands = 1,
	.usage_status = EXIT_FAILED,
	.options = dump_opts,
	.defaults = &defaults,
	.size = sizeof(struct dump_values),
	.run = dump_run,
};
