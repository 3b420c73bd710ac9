// SPDX-License-Identifier: BSD-2-Clause
/* Opening a recording, and what it says of itself. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../hw/spe.h"
#include "session_priv.h"

#define FEED_DEFAULT   (256u << 10)
/* A JIT's names are written while it runs: a later file is another process's. */
#define PERF_MAP_SLACK 10
#define WITHOUT_OPENCSD "are not decoded here: this hwt was built without OpenCSD"

void session_warn(struct hwt_session *s, const char *fmt, ...)
{
	char *text;
	va_list ap;

	if (!s->warn)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0) {
		s->warn(s->warn_ctx, text);
		free(text);
	}
	va_end(ap);
}

int session_grow(void **array, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 16;
	void *p;

	if (n < *room)
		return 0;
	p = reallocarray(*array, more, size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*room = more;
	return 0;
}

static ssize_t read_fd(int fd, uint64_t offset, void *buf, size_t n)
{
	size_t done = 0;
	ssize_t got;

	while (done < n) {
		got = pread(fd, (uint8_t *)buf + done, n - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

ssize_t session_read(struct hwt_session *s, uint64_t data_offset, void *buf, size_t n)
{
	return s->file ? perfdata_read(s->file, data_offset, buf, n)
		       : read_fd(s->raw_fd, data_offset, buf, n);
}

ssize_t stream_read(struct hwt_stream *st, uint64_t data_offset, void *buf, size_t n)
{
	return st->fd >= 0 ? read_fd(st->fd, data_offset, buf, n)
			   : session_read(st->session, data_offset, buf, n);
}

static void on_problem(void *ctx, const char *path, enum image_problem problem, bool kept,
		       int err)
{
	struct hwt_session *s = ctx;
	const char *then = s->samples ? "samples in it have no names" :
			   kept	      ? "its code is in the recording, but not its names" :
					"what ran in it is left out";

	if (problem == IMAGE_CHANGED)
		session_warn(s, "%s: %s; its %s used all the same", path,
			     image_problem_text(problem), kept ? "names are" : "code is");
	else if (problem == IMAGE_NAMELESS)
		session_warn(s, "%s: %s: %s", path, image_problem_text(problem), strerror(-err));
	else if (problem == IMAGE_UNREADABLE)
		session_warn(s, "%s: %s (%s); %s", path, image_problem_text(problem),
			     strerror(-err), then);
	else
		session_warn(s, "%s: %s; %s", path, image_problem_text(problem), then);
}

static bool perf_map_is_ours(const struct hwt_session *s, uint32_t pid)
{
	char path[64];
	struct stat sb;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	return pid && !stat(path, &sb) && sb.st_mtime <= s->written.tv_sec + PERF_MAP_SLACK;
}

struct image_space *session_add_space(struct hwt_session *s, struct image_space *space,
				      uint32_t pid)
{
	struct session_space *e = space ? calloc(1, sizeof(*e)) : NULL;

	if (!e) {
		image_space_free(space);
		return NULL;
	}
	e->space = space;
	e->next = s->spaces;
	s->spaces = e;
	image_space_on_problem(space, on_problem, s);
	if (perf_map_is_ours(s, pid))
		image_space_set_pid(space, pid);
	return space;
}

static int open_error(const char *path, int ret, enum perfdata_kind kind, char **error)
{
	const char *what = perfdata_kind_text(kind), *then = "";

	if (ret != -EINVAL)
		what = strerror(-ret);
	else if (kind == PERFDATA_RAW_PT)
		then = "; decode it with --raw FILE --map ELF[@ADDRESS]";
	else if (kind == PERFDATA_FILE)
		what = "a perf.data file with a damaged header";
	if (asprintf(error, "%s: %s%s%s", path, ret == -EINVAL ? "is " : "", what, then) <
	    0)
		*error = NULL;
	return ret;
}

static void take_info(struct hwt_session *s)
{
	const struct perfdata_info *i = perfdata_info(s->file);

	s->info.backend = i->backend;
	s->info.host = i->host;
	s->info.cmdline = i->cmdline;
	s->info.cpuid = i->cpuid;
	s->info.arch = i->arch;
	s->info.os_release = i->os_release;
	s->info.ours = i->ours;
	s->info.writer = i->ours ? "hwt" : "perf";
	s->by_time = i->ours && i->host && strcmp(i->host, "kernel") == 0;
	s->info.complete = i->complete;
	s->info.busy = i->busy && !i->complete;
	s->info.rtit_ctl = i->rtit_ctl;
	s->info.trcconfigr = i->netm ? i->etm[0].configr : 0;
}

/* What is not known of a foreign file stays 0. */
static void take_spe(struct hwt_session *s)
{
	const struct perfdata_info *i = perfdata_info(s->file);
	const struct arm_spe_config2 *c = &i->spe;
	uint32_t pmbidr = i->ncaps > SPE_CAP_PMBIDR ? i->caps[SPE_CAP_PMBIDR] : 0;

	if (i->ncaps > SPE_CAP_PMBIDR)
		s->align = 1u << (pmbidr & PMBIDR_ALIGN_MASK);
	/* No silicon has physical addresses only. */
	s->info.modelled = i->ours && (pmbidr & PMBIDR_ADDRMODE_MASK) >> PMBIDR_ADDRMODE_SHIFT ==
				      PMBIDR_ADDRMODE_PA;
	s->info.spe.interval = c->first.interval;
	s->info.spe.jitter = !(c->flags & ARM_SPE_NO_JITTER);
	s->info.spe.time = !(c->flags & ARM_SPE_NO_TIME);
	s->info.spe.user = c->first.level != ARM_SPE_KERNEL_ONLY;
	s->info.spe.kernel = c->first.level != ARM_SPE_USER_ONLY;
	s->info.spe.pmsfcr = c->pmsfcr;
	s->info.spe.pmsevfr = c->pmsevfr;
	s->info.spe.pmsnevfr = c->pmsnevfr;
	s->info.spe.pmslatfr = c->pmslatfr;
}

/* Known once all was read: they are told while images come. */
static int take_filters(struct hwt_session *s)
{
	const struct perfdata_info *i = perfdata_info(s->file);
	int ret = i->filter ? filter_parse(&s->traced, i->filter) : 0;

	return !ret && i->shown ? filter_parse(&s->shown, i->shown) : ret;
}

static int folder_open(struct hwt_session *s, const char *path, char **error)
{
	s->flow = flow_find("coresight");
	if (s->flow)
		return snapshot_session(s, path, error);
	if (asprintf(error, "%s: is a directory; snapshots of CoreSight " WITHOUT_OPENCSD,
		     path) < 0)
		*error = NULL;
	return -ENOTSUP;
}

/* false: *error says why not. */
static bool can_decode(const struct hwt_session *s, const char *path, char **error)
{
	const char *lacks;
	int n;

	if (!s->flow && s->info.backend && !strcmp(s->info.backend, "coresight")) {
		n = asprintf(error, "%s: traces of coresight " WITHOUT_OPENCSD, path);
	} else if (!s->flow) {
		n = asprintf(error, "%s: holds %s%s; that is not decoded here", path,
			     s->info.backend ? "a trace of " : "no hardware trace",
			     s->info.backend ? s->info.backend : "");
	} else {
		lacks = s->flow->lacks ? s->flow->lacks(perfdata_info(s->file)) : NULL;
		if (!lacks)
			return true;
		n = asprintf(error, "%s: %s", path, lacks);
	}
	if (n < 0)
		*error = NULL;
	return false;
}

static int recording_open(struct hwt_session *s, const struct hwt_session_options *o,
			  char **error)
{
	enum perfdata_kind kind = PERFDATA_UNKNOWN;
	struct stat sb;
	int ret;

	if (!stat(o->path, &sb) && S_ISDIR(sb.st_mode))
		return folder_open(s, o->path, error);
	ret = perfdata_open(o->path, &s->file, &kind);
	if (ret)
		return open_error(o->path, ret, kind, error);
	if (!stat(o->path, &sb)) {
		s->written = sb.st_mtim;
		image_store_set_written(s->store, sb.st_mtim);
		s->info.file_size = (uint64_t)sb.st_size;
	}
	take_info(s);
	s->samples = s->info.samples = s->info.backend && !strcmp(s->info.backend, "spe");
	if (s->samples)
		take_spe(s);
	else
		s->flow = flow_find(s->info.backend);
	if (!s->samples && !can_decode(s, o->path, error))
		return -ENOTSUP;
	ret = index_file(s);
	return ret ? ret : take_filters(s);
}

int hwt_session_open(const struct hwt_session_options *options,
		     void (*warn)(void *ctx, const char *text), void *warn_ctx,
		     struct hwt_session **out, char **error)
{
	struct hwt_session *s = calloc(1, sizeof(*s));
	const char *path = options->raw_path ? options->raw_path : options->path;
	int ret = -ENOMEM;

	*error = NULL;
	*out = NULL;
	if (!s)
		goto no_session;
	s->raw_fd = -1;
	s->warn = warn;
	s->warn_ctx = warn_ctx;
	s->first_time = UINT64_MAX;
	s->feed_max = options->chunk ? options->chunk : FEED_DEFAULT;
	s->store = image_store_new(options->sysroot);
	if (!s->store)
		goto free_session;
	s->nowhere = session_add_space(s, image_space_new(s->store), 0);
	if (!s->nowhere)
		goto free_session;
	ret = options->raw_path ? raw_open(s, options, error)
				: recording_open(s, options, error);
	if (ret)
		goto free_session;
	*out = s;
	return 0;
free_session:
	hwt_session_close(s);
no_session:
	if (!*error &&
	    asprintf(error, "%s: %s", path ? path : "no file", strerror(-ret)) < 0)
		*error = NULL;
	return ret;
}

static void stream_free(struct hwt_stream *st)
{
	hwt_stream_close(st);
	if (st->fd >= 0)
		close(st->fd);
	if (!st->lent)
		free(st->chunks);
	free(st->switches);
	free(st->cpus);
	free(st->native);
	free(st);
}

void hwt_session_close(struct hwt_session *s)
{
	struct session_process *p;
	struct session_space *e;
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->nstreams; i++)
		stream_free(s->streams[i]);
	free(s->streams);
	while ((p = s->processes)) {
		s->processes = p->next;
		free(p);
	}
	while ((e = s->spaces)) {
		s->spaces = e->next;
		image_space_free(e->space);
		free(e);
	}
	threads_free(s);
	free(s->etm);
	idmap_free(&s->pids);
	idmap_free(&s->tids);
	idmap_free(&s->queues);
	idmap_free(&s->cpus);
	idmap_free(&s->units);
	filter_free(&s->traced);
	filter_free(&s->shown);
	image_store_free(s->store);
	if (s->file)
		perfdata_close_reader(s->file);
	if (s->raw_fd >= 0)
		close(s->raw_fd);
	free(s);
}

struct hwt_stream_counts hwt_stream_counted(const struct hwt_stream *st)
{
	if (st->lent || st->shares)
		return (struct hwt_stream_counts){0};
	if (st->sink == st)
		return (struct hwt_stream_counts){st->sink_bytes, st->sink_lost, st->info.gaps};
	return (struct hwt_stream_counts){st->info.bytes, st->info.lost, st->info.gaps};
}

int hwt_session_nstreams(const struct hwt_session *s)
{
	return (int)s->nstreams;
}

struct hwt_stream *hwt_session_stream(struct hwt_session *s, int index)
{
	return index >= 0 && (size_t)index < s->nstreams ? s->streams[index] : NULL;
}

uint64_t hwt_session_ns(const struct hwt_session *s, uint64_t ticks)
{
	uint64_t now, first;

	if (!s->file)
		return ticks;
	now = perfdata_ticks_to_time(s->file, ticks);
	first = s->first_time == UINT64_MAX
			? 0
			: perfdata_ticks_to_time(s->file, s->first_time);
	return now > first ? now - first : 0;
}

const struct hwt_session_info *hwt_session_info(const struct hwt_session *s)
{
	return &s->info;
}
