/* SPDX-License-Identifier: BSD-2-Clause */
#include "sink.h"
#include "container/output.h"
#include "container/perfdata.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE	(128u << 10)	/* bytes of trace written at once */

static int open_raw(struct sink *s, const struct record_options *opt)
{
	s->raw_fd = output_open(opt->raw, O_WRONLY, 0666);
	s->raw_thread = opt->raw_thread;
	return s->raw_fd < 0 ? s->raw_fd : 0;
}

int sink_open(struct sink *s, const struct record_options *opt,
	      const struct hwt_query *query, uint64_t rtit_ctl)
{
	struct perfdata_params params = {
		.backend = query->name,
		.argv = opt->cmdline,
		.rtit_ctl = rtit_ctl,
		.spe = &opt->spe,
		.coresight = &opt->coresight,
		.caps = query->caps,
		.ncaps = query->ncaps,
		.time_hz = query->time_hz,
		.host = query->host,
		.per_cpu = opt->cpus != NULL,
		.shared = query->scope == HWT_SCOPE_CONTEXT,
		.build_id = opt->images.build_id,
		.build_id_ctx = opt->images.ctx,
		.whole_packets = opt->images.whole_packets,
		.written = &s->bytes,
	};
	struct stat st;
	int err = 0;

	*s = (struct sink){ .path = opt->raw ? opt->raw : opt->output, .raw_fd = -1 };
	s->is_new = s->path && lstat(s->path, &st) && errno == ENOENT;
	if (opt->raw)
		err = open_raw(s, opt);
	else if (opt->output)
		err = perfdata_create(opt->output, &params, &s->perf);
	if (err == -EBUSY)	/* whoever writes it has made it meanwhile */
		s->is_new = false;
	return err;
}

void sink_thread(struct sink *s, uint32_t tid)
{
	if (!s->raw_found && (s->raw_thread == s->threads || s->raw_thread == tid)) {
		s->raw_tid = tid;
		s->raw_found = true;
	}
	s->threads++;
}

int sink_record(struct sink *s, const struct hwt_rec *rec)
{
	int err = s->perf ? perfdata_write_record(s->perf, rec) : 0;

	/* The queue's own records are well-formed; a malformed one is not written. */
	return err == -EINVAL ? 0 : err;
}

static int write_raw(struct sink *s, const uint8_t *p, size_t n)
{
	ssize_t done;

	while (n > 0) {
		done = write(s->raw_fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
		s->bytes += (uint64_t)done;
	}
	return 0;
}

/* In pieces, so that a full disk keeps those before. */
static int write_perf(struct sink *s, uint32_t pid, uint32_t tid, uint64_t position,
		      const uint8_t *p, size_t n, bool gap, bool final)
{
	size_t piece;
	int err;

	do {
		piece = n < PIECE ? n : PIECE;
		n -= piece;
		err = perfdata_write_trace(s->perf, pid, tid, position, p, piece, gap,
					   final && !n);
		p += piece;
		position += piece;
		gap = false;
	} while (!err && n);
	return err;
}

int sink_trace(struct sink *s, uint32_t pid, uint32_t tid, uint64_t position,
	       const void *bytes, size_t n, bool gap, bool final)
{
	if (s->perf)
		return write_perf(s, pid, tid, position, bytes, n, gap, final);
	if (s->raw_fd < 0)
		s->bytes += n;
	else if (s->raw_found && tid == s->raw_tid)
		return write_raw(s, bytes, n);
	return 0;
}

int sink_symbols(struct sink *s, const char *text, size_t n)
{
	return s->perf ? perfdata_write_symbols(s->perf, text, n) : 0;
}

int sink_filter(struct sink *s, const char *text)
{
	int err = s->perf ? perfdata_set_filter(s->perf, text) : 0;

	/* CoreSight's trace says itself where a range was left. */
	return err == -EOPNOTSUPP ? 0 : err;
}

int sink_shown(struct sink *s, const char *text)
{
	return s->perf ? perfdata_set_shown(s->perf, text) : 0;
}

int sink_flush(struct sink *s)
{
	return s->perf ? perfdata_flush(s->perf) : 0;
}

int sink_close(struct sink *s)
{
	int err = 0;

	if (s->perf)
		err = perfdata_close(s->perf);
	if (s->raw_fd >= 0 && close(s->raw_fd))
		err = -errno;
	s->perf = NULL;
	s->raw_fd = -1;
	return err;
}

void sink_discard(struct sink *s)
{
	/* In this order: once it is closed the file may be another hwt's. */
	if (s->is_new)
		unlink(s->path);
	sink_close(s);
}
