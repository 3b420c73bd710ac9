/* SPDX-License-Identifier: BSD-2-Clause */
#include "report_samples.h"
#include "present/result.h"
#include "present/result_samples.h"

#include <unistd.h>

#define DEFAULT_ROWS	20

struct reporting {
	struct recording *rec;
	struct samples	*samples;
	struct hwt_stream *st;
	struct out	out;
	struct json	json;
};

static int begin(void *ctx, struct hwt_stream *st)
{
	((struct reporting *)ctx)->st = st;
	return 0;
}

static int feed(void *ctx, const struct spe_event *ev, int n)
{
	struct reporting *r = ctx;

	return samples_feed(r->samples, ev, n, recording_symbol, r->st);
}

static int show_group(struct reporting *r, enum samples_group group, uint64_t rows)
{
	const struct samples_row *const *list;
	long n = samples_rows(r->samples, group, &list);

	if (n < 0)
		return failure("out of memory");
	if (!r->rec->opt->json) {
		result_samples(&r->out, group, list, n, samples_total(r->samples), rows);
		return EXIT_OK;
	}
	if (rows && (uint64_t)n > rows)
		n = (long)rows;
	result_samples_json(&r->json, group, list, n);
	return EXIT_OK;
}

static int show(struct reporting *r, int group, uint64_t rows)
{
	bool json = r->rec->opt->json;
	int i, status = EXIT_OK;

	if (json) {
		json_init(&r->json, &r->out);
		json_object(&r->json, NULL);
		result_summary_json(&r->json, "summary", &r->rec->all);
		json_bool(&r->json, "modelled", hwt_session_info(r->rec->session)->modelled);
		json_bool(&r->json, "collisions", recording_collided(r->rec));
	} else {
		result_summary(&r->out, "# ", &r->rec->all);
		recording_note(r->rec, &r->out);
		if (!rows && group < 0)
			rows = DEFAULT_ROWS;
	}
	for (i = 0; i < SAMPLES_GROUPS && status == EXIT_OK; i++)
		if (group < 0 || group == i)
			status = show_group(r, (enum samples_group)i, rows);
	if (json) {
		json_object_end(&r->json);
		json_newline(&r->json);
	}
	return status;
}

int report_samples(struct recording *rec, int group, uint64_t rows)
{
	static const struct recording_visitor visitor = { .begin = begin, .samples = feed };
	struct reporting r = { .rec = rec, .samples = samples_new() };
	int status, closed;

	if (!r.samples || out_init(&r.out, STDOUT_FILENO)) {
		samples_free(r.samples);
		recording_discard(rec);
		return failure("out of memory");
	}
	status = recording_visit(rec, &visitor, &r);
	if (status == EXIT_OK)
		status = show(&r, group, rows);
	status = finish_out(&r.out, status);
	samples_free(r.samples);
	closed = recording_close(rec);
	return status ? status : closed;
}
