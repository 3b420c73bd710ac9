/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording.h"
#include "present/result.h"
#include "present/result_samples.h"
#include "present/text.h"
#include "progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define EVENTS	256	/* pulled at once: they stay in the first-level cache */

static void warn(void *ctx, const char *text)
{
	char line[4096];

	message("%s", text_printable(line, sizeof(line), text));
}

/* "ELF@ADDR" with ADDR in hexadecimal; a path may hold '@' itself. */
static int parse_map(struct recording *r, int i, const char *item)
{
	const char *at = strrchr(item, '@');
	char *end;

	r->maps[i] = (struct hwt_raw_map){ .path = item };
	if (!at || at == item)
		return 0;
	errno = 0;
	r->maps[i].addr = strtoull(at + 1, &end, 16);
	if (errno || end == at + 1 || *end != '\0' || at[1] == '-' || at[1] == '+')
		return failure("--map: '%s' is not ELF@ADDR with a hexadecimal address", item);
	r->maps[i].has_addr = true;
	r->map_paths[i] = strndup(item, (size_t)(at - item));
	r->maps[i].path = r->map_paths[i];
	return r->map_paths[i] ? 0 : failure("out of memory");
}

static int parse_maps(struct recording *r)
{
	int i;

	if (r->opt->maps.n && !r->opt->raw)
		return failure("--map goes with --raw: a recording knows its files");
	if (r->opt->raw && r->opt->input)
		return failure("either --input or --raw");
	for (i = 0; i < r->opt->maps.n; i++)
		if (parse_map(r, i, r->opt->maps.item[i]))
			return EXIT_FAILED;
	return EXIT_OK;
}

static void free_maps(struct recording *r)
{
	size_t i;

	for (i = 0; i < sizeof(r->map_paths) / sizeof(r->map_paths[0]); i++)
		free(r->map_paths[i]);
}

static bool is_wanted(const struct recording_values *opt, const struct hwt_stream_info *info)
{
	if (opt->tid != NO_TID && (info->cpu >= 0 || info->tid != opt->tid))
		return false;
	return opt->cpu == NO_TID || (info->cpu >= 0 && (uint64_t)info->cpu == opt->cpu);
}

struct hwt_stream *recording_stream(const struct recording *r, int *index)
{
	struct hwt_stream *st;

	for (; *index < hwt_session_nstreams(r->session); ++*index) {
		st = hwt_session_stream(r->session, *index);
		if (is_wanted(r->opt, hwt_stream_info(st)))
			return st;
	}
	return NULL;
}

static int check_streams(struct recording *r)
{
	const char *path = r->opt->raw ? r->opt->raw :
			   r->opt->input ? r->opt->input : DEFAULT_RECORDING;
	struct hwt_stream *st;
	int i, n = 0;

	for (i = 0; (st = recording_stream(r, &i)); i++) {
		r->total += hwt_stream_info(st)->bytes;
		n++;
	}
	if (n)
		return EXIT_OK;
	if (r->opt->cpu != NO_TID)
		return failure("%s: there is no trace of CPU %" PRIu64 " in it; see hwt info", path,
			       r->opt->cpu);
	if (r->opt->tid != NO_TID)
		return failure("%s: there is no thread %" PRIu64 " in it; see hwt info", path,
			       r->opt->tid);
	if (hwt_session_info(r->session)->truncated_at)
		return failure("%s: ends or is damaged at offset %" PRIu64 ", before any trace",
			       path, hwt_session_info(r->session)->truncated_at);
	return failure("%s: there is no trace in it", path);
}

int recording_operand(struct recording_values *opt, int noperands, char **operands)
{
	if (!noperands)
		return EXIT_OK;
	if (opt->input || opt->raw)
		return failure("'%s': one recording at a time", operands[0]);
	opt->input = operands[0];
	return EXIT_OK;
}

/* A file of code stays open: there may be more of them than the usual limit. */
static void lift_descriptors(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

int recording_open(struct recording *r, const struct recording_values *opt)
{
	struct hwt_session_options options = { .sysroot = opt->sysroot, .raw_path = opt->raw };
	char line[4096], *error = NULL;
	int err, status;

	*r = (struct recording){ .opt = opt };
	lift_descriptors();
	status = parse_maps(r);
	if (status == EXIT_OK) {
		options.maps = r->maps;
		options.nmaps = opt->maps.n;
		if (!opt->raw)
			options.path = opt->input ? opt->input : DEFAULT_RECORDING;
		err = hwt_session_open(&options, warn, NULL, &r->session, &error);
		if (err)
			status = failure("%s", error ? text_printable(line, sizeof(line), error) :
					 strerror(-err));
		free(error);
	}
	if (status == EXIT_OK)
		status = check_streams(r);
	if (status != EXIT_OK) {
		if (r->session)
			hwt_session_close(r->session);
		free_maps(r);
	}
	return status;
}

static int pull(struct recording *r, struct hwt_stream *st,
		const struct recording_visitor *v, void *ctx, struct summary *sum,
		struct trace_event *events)
{
	uint32_t programs = 0;
	int n, err;

	while ((n = hwt_stream_next(st, events, EVENTS)) > 0) {
		summary_feed(sum, events, n);
		if (hwt_stream_programs(st) != programs && v->exec)
			v->exec(ctx);
		programs = hwt_stream_programs(st);
		err = v->feed ? v->feed(ctx, events, n) : 0;
		if (err)
			return err;
		progress_at(r->done + hwt_stream_position(st));
	}
	return n;
}

static int pull_samples(struct recording *r, struct hwt_stream *st,
			const struct recording_visitor *v, void *ctx, struct summary *sum,
			struct spe_event *events)
{
	int n, err;

	sum->sampled = true;
	while ((n = hwt_stream_samples(st, events, EVENTS)) > 0) {
		summary_feed_samples(sum, events, n);
		err = v->samples ? v->samples(ctx, events, n) : 0;
		if (err)
			return err;
		progress_at(r->done + hwt_stream_position(st));
	}
	return n;
}

/* Of all streams a buffer that they share counts once. */
static void add_up(struct recording *r, const struct hwt_stream *st, struct summary *sum)
{
	struct hwt_stream_counts counted = hwt_stream_counted(st);
	uint64_t elsewhere = sum->lost > counted.lost ? sum->lost - counted.lost : 0;

	if (r->opt->tid == NO_TID && r->opt->cpu == NO_TID) {
		/* The gaps that the buffer's losses are to each of the streams. */
		sum->missing -= elsewhere < sum->missing ? elsewhere : sum->missing;
		sum->bytes = counted.bytes;
		sum->lost = counted.lost;
		sum->stops = counted.gaps;
	}
	summary_add(&r->all, sum);
}

const char *recording_unfinished(const struct hwt_session_info *info)
{
	if (info->complete || info->truncated_at)
		return NULL;
	return info->busy ? "it is still being recorded" :
			    "its writer was killed, or could not write";
}

static bool is_cut(const struct hwt_session_info *info)
{
	return info->truncated_at || recording_unfinished(info);
}

static int visit_one(struct recording *r, struct hwt_stream *st,
		     const struct recording_visitor *v, void *ctx,
		     void *events)
{
	const struct hwt_stream_info *info = hwt_stream_info(st);
	struct summary sum = { 0 };
	int err;

	progress_clear();
	err = v->begin ? v->begin(ctx, st) : 0;
	if (!err)
		err = recording_sampled(r) ? pull_samples(r, st, v, ctx, &sum, events) :
		      pull(r, st, v, ctx, &sum, events);
	progress_clear();
	sum.bytes = hwt_stream_own_bytes(st);
	sum.lost = info->lost;
	sum.stops = info->gaps;
	sum.cut = is_cut(hwt_session_info(r->session));
	if (!err && v->end)
		err = v->end(ctx, st, &sum);
	add_up(r, st, &sum);
	r->done += info->bytes;
	r->streams++;
	hwt_stream_close(st);
	return err;
}

int recording_visit(struct recording *r, const struct recording_visitor *v, void *ctx)
{
	size_t size = recording_sampled(r) ? sizeof(struct spe_event) :
		      sizeof(struct trace_event);
	void *events = malloc(EVENTS * size);
	struct hwt_stream *st;
	int i, err = 0;

	if (recording_sampled(r) && v->feed && !v->samples) {
		free(events);
		return failure("the recording holds samples, which tell no flow; see hwt script "
			       "and hwt report");
	}
	if (!events)
		return failure("out of memory");
	progress_start("decoding", r->total, v->listing);
	for (i = 0; !err && (st = recording_stream(r, &i)); i++)
		err = visit_one(r, st, v, ctx, events);
	progress_end();
	free(events);
	return err < 0 ? failure("decoding: %s", strerror(-err)) : EXIT_OK;
}

bool recording_sampled(const struct recording *r)
{
	return hwt_session_info(r->session)->samples;
}

bool recording_collided(const struct recording *r)
{
	struct hwt_stream *st;
	int i;

	for (i = 0; (st = recording_stream(r, &i)); i++)
		if (hwt_stream_info(st)->collided)
			return true;
	return false;
}

void recording_note(const struct recording *r, struct out *o)
{
	if (hwt_session_info(r->session)->modelled)
		out_str(o, "# " RESULT_MODELLED "\n");
	if (recording_collided(r))
		out_str(o, "# " RESULT_COLLIDED "\n");
}

/* Losses that no stream knows of. */
static bool recording_losses(struct recording *r)
{
	const struct hwt_session_info *info = hwt_session_info(r->session);

	if (info->truncated_at)
		message("the file ends or is damaged at offset %" PRIu64
			"; what follows is missing", info->truncated_at);
	if (info->lost_records)
		message("%" PRIu64
			" %s lost while recording: mappings and threads may be unknown",
			info->lost_records,
			text_form(info->lost_records, "record was", "records were"));
	if (recording_unfinished(info))
		message("%s: what came after its last flush is missing",
			recording_unfinished(info));
	return info->lost_records || is_cut(info);
}

int recording_close(struct recording *r)
{
	enum summary_verdict verdict = summary_verdict(&r->all);
	char text[512];
	bool losses = recording_losses(r);

	result_losses(text, sizeof(text), &r->all);
	if (text[0])
		message("%s", text);
	else if (r->streams && verdict == SUMMARY_UNSAMPLED)
		message(RECORDING_UNSAMPLED);
	else if (r->streams && verdict == SUMMARY_IDLE)
		message("not one instruction was executed in what was traced");
	else if (r->streams && r->all.instructions == 0 && r->all.samples == 0)
		message("not one %s came out of %" PRIu64 " %s of trace",
			r->all.sampled ? "sample" : "instruction", r->all.bytes,
			text_form(r->all.bytes, "byte", "bytes"));
	losses = losses || (r->streams && verdict != SUMMARY_COMPLETE &&
			    verdict != SUMMARY_IDLE && verdict != SUMMARY_UNSAMPLED);
	recording_discard(r);
	return losses ? EXIT_WITH_ERRORS : EXIT_OK;
}

void recording_discard(struct recording *r)
{
	hwt_session_close(r->session);
	free_maps(r);
}

bool recording_symbol(void *ctx, uint64_t ip, struct image_symbol *out)
{
	return image_view_symbol(hwt_stream_view(ctx), ip, out);
}

bool recording_line(void *ctx, uint64_t ip, struct image_line *out)
{
	return image_view_line(hwt_stream_view(ctx), ip, out);
}

int finish_file(struct out *o, const char *name, int status)
{
	int err = out_fini(o);

	if (err && status != EXIT_FAILED)
		return failure("%s: %s", name, strerror(-err));
	return status;
}

int finish_out(struct out *o, int status)
{
	return finish_file(o, "standard output", status);
}
