/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysing.h"
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int begin(void *ctx, struct hwt_stream *st)
{
	const struct hwt_stream_info *info = hwt_stream_info(st);
	struct analysing *a = ctx;
	struct analysed_thread *thread;

	thread = realloc(a->thread, (size_t)(a->nthreads + 1) * sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	a->thread = thread;
	thread += a->nthreads;
	*thread = (struct analysed_thread){
		.pid = info->pid, .tid = info->tid, .cpu = info->cpu,
	};
	thread->name = strdup(info->name ? info->name : "?");
	thread->thread = analysis_thread(a->analysis, info->pid, info->tid,
					 recording_symbol, st);
	if (!thread->name || !thread->thread) {
		free(thread->name);
		return -ENOMEM;
	}
	a->nthreads++;
	return 0;
}

static int feed(void *ctx, const struct trace_event *ev, int n)
{
	struct analysing *a = ctx;

	return analysis_feed(a->thread[a->nthreads - 1].thread, ev, n);
}

static void exec(void *ctx)
{
	struct analysing *a = ctx;

	analysis_exec(a->thread[a->nthreads - 1].thread);
}

static int end(void *ctx, struct hwt_stream *st, const struct summary *s)
{
	struct analysing *a = ctx;
	struct analysed_thread *thread = &a->thread[a->nthreads - 1];

	if (s->has_time && (!a->base || s->first_time < a->base))
		a->base = s->first_time;
	thread->summary = *s;
	analysis_thread_end(thread->thread);
	return 0;
}

uint64_t analysing_duration(void *ctx, uint64_t ticks)
{
	struct analysing *a = ctx;

	return hwt_session_ns(a->rec.session, a->base + ticks) -
	       hwt_session_ns(a->rec.session, a->base);
}

const char *analysing_coarse(const struct analysing *a)
{
	return settings_coarse(hwt_session_info(a->rec.session));
}

static void free_all(struct analysing *a)
{
	int i;

	for (i = 0; i < a->nthreads; i++)
		free(a->thread[i].name);
	free(a->thread);
	analysis_free(a->analysis);
}

int analysing_run(const struct recording *rec, bool tree,
		  int (*show)(struct analysing *a, const void *values), const void *values)
{
	static const struct recording_visitor visitor = {
		.begin = begin, .feed = feed, .exec = exec, .end = end,
	};
	struct analysis_config config = { .tree = tree };
	struct analysing a = { .rec = *rec };
	int status, closed;

	a.analysis = analysis_new(&config);
	if (!a.analysis || out_init(&a.out, STDOUT_FILENO)) {
		analysis_free(a.analysis);
		recording_close(&a.rec);
		return failure("out of memory");
	}
	status = recording_visit(&a.rec, &visitor, &a);
	if (status == EXIT_OK)
		status = show(&a, values);
	status = finish_out(&a.out, status);
	free_all(&a);
	closed = recording_close(&a.rec);
	return status ? status : closed;
}
