/* SPDX-License-Identifier: BSD-2-Clause */
#include "internal.h"
#include "container/output.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_MS	100	/* trace bytes are in the file after this */
#define RECORDS_SIZE	(2 * RECORD_LARGEST)

int recorder_fail(struct recorder *r, int err, const char *fmt, ...)
{
	va_list ap;

	if (r->error)
		return err;
	va_start(ap, fmt);
	if (vasprintf(&r->error, fmt, ap) < 0)
		r->error = NULL;
	va_end(ap);
	return err;
}

int recorder_unless_gone(struct recorder *r, int err, char *said)
{
	if (err != -ESRCH)
		return err;
	if (r->error != said) {
		free(r->error);
		r->error = said;
	}
	return 0;
}

uint64_t recorder_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t rtit_ctl_of(const struct pt_cpu_config *c)
{
	uint64_t ctl = c->rtit_ctl;

	if (ctl & PT_CTL_MTCEN)
		ctl |= (uint64_t)c->mtc_freq << PT_CTL_MTCFREQ_SHIFT;
	if (ctl & PT_CTL_CYCEN)
		ctl |= (uint64_t)c->cyc_thresh << PT_CTL_CYCTHRESH_SHIFT;
	return ctl | (uint64_t)c->psb_freq << PT_CTL_PSBFREQ_SHIFT;
}

static int setup(struct recorder *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int err;

	r->bufsize = r->opt->bufsize ? r->opt->bufsize : RECORD_DEFAULT_BUFSIZE;
	if (r->bufsize < r->opt->ring)
		r->bufsize = (r->opt->ring + page - 1) / page * page;
	r->records_size = RECORDS_SIZE;
	r->records = malloc(r->records_size);
	r->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!r->records || r->event_fd < 0)
		return recorder_fail(r, -ENOMEM, "out of memory or descriptors");
	err = hwt_dev_open(r->opt->host, "/dev/hwt", &r->hwt);
	return err ? recorder_fail(r, err, "/dev/hwt: %s", strerror(-err)) : 0;
}

int recorder_output(struct recorder *r)
{
	int err;

	if (r->output_open)
		return 0;
	err = sink_open(&r->sink, r->opt, &r->query, rtit_ctl_of(&r->opt->config));
	if (err) {
		sink_discard(&r->sink);
		return recorder_fail(r, err, "%s: %s", r->sink.path, output_error(err));
	}
	r->output_open = true;
	return 0;
}

static void wait_for_events(struct recorder *r, int timeout_ms)
{
	struct pollfd fds[2] = {
		{ .fd = r->event_fd, .events = POLLIN },
		{ .fd = target_fd(r), .events = POLLIN },
	};
	uint64_t count;

	if (poll(fds, 2, timeout_ms) > 0 && (fds[0].revents & POLLIN) &&
	    read(r->event_fd, &count, sizeof(count)) < 0)
		return;	/* another reader was faster; the queues tell */
}

/* Contexts may be added at the list's head meanwhile; those have their turn next. */
static int drain_all(struct recorder *r)
{
	struct context *ctx, *next;
	int err;

	for (ctx = r->contexts; ctx; ctx = next) {
		err = events_drain(ctx);
		next = ctx->next;
		if (!err && ctx->ended)
			err = context_finish(ctx);
		if (err)
			return err;
	}
	return 0;
}

static int save_all(struct recorder *r)
{
	struct context *ctx;
	struct buffer *b;
	uint64_t head;
	int err = 0;

	for (ctx = r->contexts; ctx && !err; ctx = ctx->next)
		for (b = ctx->buffers; b && !err; b = b->next)
			if (buffer_head(b, &head) == 0)
				err = buffer_save(b, head);
	return err ? err : sink_flush(&r->sink);
}

static int record_events(struct recorder *r)
{
	uint64_t saved = recorder_now(), now;
	int err;

	while (!target_finished(r)) {
		wait_for_events(r, r->ended && target_context_open(r) ? 10 : FLUSH_MS);
		err = target_look(r);
		if (!err)
			err = drain_all(r);
		if (err)
			return err;
		now = recorder_now();
		if (now - saved < FLUSH_MS * 1000000ull)
			continue;
		saved = now;
		err = save_all(r);
		if (err)
			return err;
	}
	return 0;
}

/* What does not end by itself is stopped, so that its last bytes are its last. */
static int stop_all(struct recorder *r)
{
	struct context *ctx;
	int err;

	if (r->opt->path && !r->opt->cpus)
		return 0;
	for (ctx = r->contexts; ctx; ctx = ctx->next) {
		err = context_stop(ctx);
		if (err && err != -ESRCH)
			return err;
	}
	err = drain_all(r);
	/* A module that was loaded meanwhile has names, too. */
	if (!err && r->symbols_of != r->kernel_objects)
		err = kernel_symbols(r);
	return err;
}

static int finish_all(struct recorder *r)
{
	int err = stop_all(r), each;

	while (r->contexts) {
		each = context_finish(r->contexts);
		err = err ? err : each;
	}
	return err;
}

static int run_target(struct recorder *r)
{
	int err, closed;

	/* A virtual unit exists, and tells what it can do, once its CPU does. */
	err = technology_choose(r);
	if (!err)
		err = r->opt->cpus ? context_open_cpus(r) :
				     context_open(r, (uint32_t)r->pid, NULL);
	if (!err)
		err = target_release(r);
	if (err) {
		while (r->contexts)
			context_abandon(r->contexts);
		target_kill_held(r);
		if (r->output_open)
			sink_discard(&r->sink);
		return err;
	}
	err = record_events(r);
	if (!err)
		err = finish_all(r);
	if (!err)
		err = keep_save(r);
	/* Closed first, so that the file is whole however long the target lasts. */
	if (r->result->spawn_failed)
		sink_discard(&r->sink);
	closed = sink_close(&r->sink);
	err = err ? err : closed;
	if (err)
		recorder_fail(r, err, "%s: %s; what was written up to there is kept",
			      r->sink.path ? r->sink.path : "recording", strerror(-err));
	target_let_run(r);
	return err;
}

static void teardown(struct recorder *r)
{
	uint64_t all = (1ull << r->opt->nfilters) - 1;

	r->result->bytes = r->sink.bytes;
	if (!r->result->ended_ns)	/* what was traced goes on */
		r->result->ended_ns = recorder_now();
	r->result->images_missed = all & ~r->images_met;
	r->result->filters_missed = all & ~r->filters_met;
	if (r->hwt)
		hwt_dev_close(r->hwt);
	if (r->event_fd >= 0)
		close(r->event_fd);
	free(r->records);
	filter_notes_free(r);
	keep_free(&r->keep);
}

int record_run(const struct record_options *options, struct record_result *result,
	       char **error)
{
	struct recorder r = {
		.opt = options, .result = result, .event_fd = -1, .sink.raw_fd = -1,
	};
	int err;

	*result = (struct record_result){ .status = -1 };
	*error = NULL;
	if (options->nfilters > 63 || (options->path && options->pid) ||
	    (options->cpus ? options->pid : !options->path && !options->pid))
		return -EINVAL;
	err = setup(&r);
	if (!err) {
		err = target_begin(&r);
		if (!err)
			err = run_target(&r);
	}
	teardown(&r);
	if (err && !r.error)
		recorder_fail(&r, err, "%s", strerror(-err));
	if (!err) {
		free(r.error);
		r.error = NULL;
	}
	*error = r.error;
	return err;
}
