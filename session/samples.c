// SPDX-License-Identifier: BSD-2-Clause
/* Pulling a stream of SPE samples: as stream.c does it for flow. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session_priv.h"

static int begin(struct hwt_stream *st)
{
	const struct spe_decoder_config config = {.align = st->session->align};
	int ret = stream_start(st);

	if (ret)
		return ret;
	st->samples = spe_decoder_new(&config);
	return st->samples ? 0 : -ENOMEM;
}

/* 1, 0 at the stream's end, -errno. */
static int feed(struct hwt_stream *st)
{
	uint64_t lost;
	ssize_t got = stream_bytes(st, &lost);
	int ret;

	if (got < 0)
		return (int)got;
	if (lost)
		spe_decoder_lost(st->samples, lost);
	if (!got)
		return lost != 0;
	ret = spe_decoder_feed(st->samples, st->buffer, (size_t)got);
	return ret ? ret : 1;
}

int threads_index(struct hwt_session *s)
{
	struct session_thread *t;
	size_t i;

	for (i = 0; i < s->nstreams; i++) {
		const struct hwt_stream *st = s->streams[i];

		if (st->info.cpu >= 0)
			continue;
		t = calloc(1, sizeof(*t));
		if (!t || idmap_put(&s->threads, st->info.tid, t)) {
			free(t);
			return -ENOMEM;
		}
		*t = (struct session_thread){s->thread_list, st->info.pid, st->info.tid,
					     st->process, ""};
		memcpy(t->name, st->name, sizeof(t->name));
		s->thread_list = t;
	}
	return 0;
}

void threads_free(struct hwt_session *s)
{
	struct session_thread *t;

	while ((t = s->thread_list)) {
		s->thread_list = t->next;
		free(t);
	}
	idmap_free(&s->threads);
}

/*
 * A thread by its id: what Linux keeps in CONTEXTIDR (CONFIG_PID_IN_CONTEXTIDR), of EL2
 * on a host with VHE.
 */
static const struct session_thread *by_context(struct hwt_stream *st,
					       const struct spe_sample *p)
{
	int i = p->has & SPE_HAS_CONTEXT(0) ? 0 : 1;

	return p->has & SPE_HAS_CONTEXT(i) ? idmap_get(&st->session->threads, p->context[i]) :
					     NULL;
}

/* Of a CPU's sample: whose it is by its context, else who ran there at its time. */
static struct session_process *owner(struct hwt_stream *st, const struct spe_sample *p)
{
	const struct session_thread *thread = by_context(st, p);
	struct session_process *process;

	if (thread) {
		st->info.pid = thread->pid;
		st->info.tid = thread->tid;
		memcpy(st->name, thread->name, sizeof(st->name));
		return thread->process;
	}
	process = p->has & SPE_HAS_TIME ? bytime_cpu_process(st, p->time) : NULL;
	st->info.pid = st->info.tid = process ? process->pid : 0;
	st->name[0] = '\0';
	return process;
}

/* Names are those of the moment that the sample was taken at. */
static int follow(struct hwt_stream *st, const struct spe_sample *p)
{
	struct session_process *process = st->info.cpu < 0 ? st->process : owner(st, p);
	struct image_moment at = {0, p->has & SPE_HAS_TIME ? p->time : UINT64_MAX};

	/* Nothing changes any more: all later moments are one. */
	if (process && at.time > process->last_change)
		at.time = process->last_change;
	return stream_move(st, process ? process->space : st->session->kernel, at);
}

int hwt_stream_samples(struct hwt_stream *st, struct spe_event *ev, int max)
{
	bool alone;
	int n;

	if (!st->session->samples)
		return -EOPNOTSUPP;
	if (!st->samples) {
		n = begin(st);
		if (n)
			return n;
	}
	alone = stream_by_sample(st);
	for (;;) {
		n = spe_decoder_next(st->samples, ev, alone ? 1 : max);
		if (n > 0 && alone && ev->type == SPE_SAMPLE) {
			int ret = follow(st, &ev->sample);

			return ret < 0 ? ret : n;
		}
		if (n || st->finished)
			return n;
		n = feed(st);
		if (n < 0)
			return n;
		if (!n) {
			spe_decoder_finish(st->samples);
			st->finished = true;
		}
	}
}
