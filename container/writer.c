/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing perf.data: records are collected in memory, whole ones go out behind
 * what is there, and only then does header.data.size say so.  A writer killed
 * between the two leaves a file that ends at the flush before.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "output.h"
#include "writer.h"

int pdw_pwrite(int fd, const void *bytes, size_t n, uint64_t offset)
{
	const char *from = bytes;
	ssize_t done;

	while (n) {
		done = pwrite(fd, from, n, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -ENOSPC;
		from += done;
		offset += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

/* ---- putting records together ---- */

static void *reserve(struct perfdata_writer *w, size_t n)
{
	size_t cap = w->cap ? w->cap : 2 * PDW_FLUSH_AT;
	uint8_t *bigger;

	while (cap - w->used < n)
		cap *= 2;
	if (cap != w->cap) {
		bigger = realloc(w->buf, cap);
		if (!bigger) {
			w->nomem = true;
			return NULL;
		}
		w->buf = bigger;
		w->cap = cap;
	}
	w->used += n;
	return w->buf + w->used - n;
}

void pdw_put(struct perfdata_writer *w, const void *bytes, size_t n)
{
	void *to = reserve(w, n);

	if (to && n)
		memcpy(to, bytes, n);
}

void pdw_zeros(struct perfdata_writer *w, size_t n)
{
	void *to = reserve(w, n);

	if (to)
		memset(to, 0, n);
}

void pdw_put_string(struct perfdata_writer *w, const char *s)
{
	size_t n = strlen(s) + 1;

	pdw_put(w, s, n);
	pdw_zeros(w, ALIGN8(n) - n);
}

size_t pdw_begin(struct perfdata_writer *w, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc};
	size_t start = w->used;

	pdw_put(w, &h, sizeof(h));
	return start;
}

void pdw_end(struct perfdata_writer *w, size_t start)
{
	uint16_t size = (uint16_t)(w->used - start);

	if (!w->nomem)
		memcpy(w->buf + start + offsetof(struct perf_event_header, size), &size,
		       sizeof(size));
}

void pdw_put_id(struct perfdata_writer *w, enum pdw_event event, uint32_t pid,
		uint32_t tid, uint64_t time, int32_t cpu)
{
	uint64_t id = PDW_FIRST_ID + event, ns = time_conv_ns(&w->tc, time);
	uint32_t task[2] = {pid, tid}, where[2] = {(uint32_t)cpu, 0};

	pdw_put(w, task, sizeof(task));
	pdw_put(w, &ns, sizeof(ns));
	if (w->per_cpu)
		pdw_put(w, where, sizeof(where));
	pdw_put(w, &id, sizeof(id));
}

void pdw_put_part(struct perfdata_writer *w, uint32_t kind, const void *payload,
		  uint32_t total)
{
	const uint32_t most = PERF_RECORD_SIZE_MAX - sizeof(struct hwt_part);
	struct hwt_part part = {
		.header.type = PERF_USER_EVENT_TYPE,
		.magic = HWT_PART_MAGIC,
		.kind = kind,
		.total = total,
	};
	uint32_t n;

	do {
		n = total - part.offset < most ? total - part.offset : most;
		part.header.size = (uint16_t)(sizeof(part) + ALIGN8(n));
		pdw_put(w, &part, sizeof(part));
		pdw_put(w, (const char *)payload + part.offset, n);
		pdw_zeros(w, ALIGN8(n) - n);
		part.offset += n;
	} while (part.offset < total);
}

size_t pdw_mark(struct perfdata_writer *w)
{
	w->nomem = false;
	return w->used;
}

int pdw_commit(struct perfdata_writer *w, size_t mark)
{
	if (w->nomem) {
		w->used = mark;
		return -ENOMEM;
	}
	return w->used >= PDW_FLUSH_AT ? pdw_flush(w) : 0;
}

/* ---- the file ---- */

/* n more bytes of whole records are in the file. */
static int advance(struct perfdata_writer *w, uint64_t n)
{
	uint64_t size = w->data_size + n;

	w->error = pdw_pwrite(w->fd, &size, sizeof(size),
			      offsetof(struct perf_file_header, data.size));
	if (w->error)
		return w->error;
	w->data_size = size;
	if (w->written)
		*w->written += w->unwritten;
	w->unwritten = 0;
	return 0;
}

int pdw_flush(struct perfdata_writer *w)
{
	size_t n = w->used;

	if (w->error || !n)
		return w->error;
	w->used = 0;
	w->error = pdw_pwrite(w->fd, w->buf, n, w->data_offset + w->data_size);
	return w->error ? w->error : advance(w, n);
}

int perfdata_flush(struct perfdata_writer *w)
{
	int err = pdw_flush(w);

	return err ? err : pdw_write_drafts(w);
}

int pdw_write_through(struct perfdata_writer *w, const struct iovec *iov, int n)
{
	uint64_t at = w->data_offset + w->data_size;
	size_t total = w->used;
	int i;

	w->used = 0;
	w->error = pdw_pwrite(w->fd, w->buf, total, at);
	for (i = 0; i < n && !w->error; i++) {
		w->error = pdw_pwrite(w->fd, iov[i].iov_base, iov[i].iov_len, at + total);
		total += iov[i].iov_len;
	}
	return w->error ? w->error : advance(w, total);
}

void pdw_attr(const struct perfdata_writer *w, enum pdw_event event,
	      struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = PDW_ATTR_SIZE;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_IDENTIFIER;
	if (w->per_cpu)
		attr->sample_type |= PERF_SAMPLE_CPU;
	attr->read_format = PERF_FORMAT_ID;
	attr->sample_period = 1;
	attr->exclude_hv = 1;
	attr->sample_id_all = 1;
	attr->type = PDW_PMU_TYPE;
	w->tech->attr(w, attr);
	if (event == PDW_TRACE)
		return;
	attr->sample_period = 1;
	attr->config1 = attr->config2 = 0;
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->mmap = attr->mmap2 = attr->mmap_data = attr->build_id = 1;
	attr->comm = attr->comm_exec = attr->task = 1;
	attr->text_poke = 1;
}

static int write_header(struct perfdata_writer *w)
{
	struct {
		struct perf_file_header header;
		uint64_t ids[PDW_EVENTS];
		struct {
			uint8_t attr[PDW_ATTR_SIZE];
			struct perf_section ids;
		} attrs[PDW_EVENTS];
	} head;
	struct perf_event_attr attr;
	int i;

	memset(&head, 0, sizeof(head));
	head.header.magic = PERF_FILE_MAGIC;
	head.header.size = sizeof(head.header);
	head.header.attr_size = sizeof(head.attrs[0]);
	head.header.attrs.offset = (char *)head.attrs - (char *)&head;
	head.header.attrs.size = sizeof(head.attrs);
	head.header.data.offset = sizeof(head);
	for (i = 0; i < PDW_EVENTS; i++) {
		head.ids[i] = (uint64_t)(PDW_FIRST_ID + i);
		pdw_attr(w, i, &attr);
		memcpy(head.attrs[i].attr, &attr, PDW_ATTR_SIZE);
		head.attrs[i].ids.offset =
			(uint64_t)((char *)&head.ids[i] - (char *)&head);
		head.attrs[i].ids.size = sizeof(head.ids[i]);
	}
	w->data_offset = sizeof(head);
	return pdw_pwrite(w->fd, &head, sizeof(head), 0);
}

static int write_preamble(struct perfdata_writer *w)
{
	struct perf_time_conv conv = {
		.header = {.type = PERF_USER_TIME_CONV, .size = sizeof(conv)},
		.shift = w->tc.shift,
		.mult = w->tc.mult,
		.zero = w->tc.zero,
		.mask = UINT64_MAX,
		.user_time_zero = 1,
	};
	struct hwt_part_info info = {
		.version = HWT_PART_VERSION,
		.ncaps = w->ncaps,
		.rtit_ctl = w->rtit_ctl,
		.time_hz = w->time_hz,
	};
	size_t mark = pdw_mark(w);
	int err;

	strncpy(info.backend, w->backend, sizeof(info.backend) - 1);
	strncpy(info.host, w->host, sizeof(info.host) - 1);
	memcpy(info.caps, w->caps, sizeof(info.caps));
	/* perf wants to know the time of an SPE trace before it hears of it. */
	pdw_put(w, &conv, sizeof(conv));
	w->tech->info(w);
	pdw_put_part(w, HWT_PART_INFO, &info, sizeof(info));
	if (w->tech == &pdw_spe)
		pdw_put_part(w, HWT_PART_SPE, &w->spe, sizeof(w->spe));
	err = pdw_commit(w, mark);
	return err ? err : pdw_flush(w);
}

static int copy_params(struct perfdata_writer *w, const struct perfdata_params *p)
{
	size_t i, n = 0;

	w->rtit_ctl = p->rtit_ctl;
	if (p->spe)
		w->spe = *p->spe;
	w->coresight = (struct coresight_config){.flags = CORESIGHT_USER};
	if (p->coresight)
		w->coresight = *p->coresight;
	w->time_hz = p->time_hz ? p->time_hz : 1000000000;
	w->per_cpu = p->per_cpu;
	w->shared = p->shared;
	w->build_id = p->build_id;
	w->build_id_ctx = p->build_id_ctx;
	w->whole_packets = p->whole_packets;
	w->written = p->written;
	w->ncaps = p->ncaps < 32 ? p->ncaps : 32;
	if (w->ncaps)
		memcpy(w->caps, p->caps, w->ncaps * sizeof(w->caps[0]));
	while (p->argv && p->argv[n])
		n++;
	w->backend = strdup(p->backend);
	w->host = strdup(p->host ? p->host : "");
	w->argv = calloc(n + 1, sizeof(*w->argv));
	if (!w->backend || !w->host || !w->argv)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		w->argv[i] = strdup(p->argv[i]);
		if (!w->argv[i])
			return -ENOMEM;
	}
	return 0;
}

static void free_writer(struct perfdata_writer *w)
{
	size_t i;

	for (i = 0; w->argv && w->argv[i]; i++)
		free(w->argv[i]);
	free(w->argv);
	free(w->backend);
	free(w->host);
	free(w->buf);
	pdw_free_tables(w);
	free(w);
}

static const struct pdw_tech *find_tech(const char *backend)
{
	static const struct pdw_tech *const techs[] = {&pdw_pt, &pdw_coresight, &pdw_spe};
	size_t i;

	for (i = 0; i < sizeof(techs) / sizeof(techs[0]); i++)
		if (!strcmp(techs[i]->backend, backend))
			return techs[i];
	return NULL;
}

int perfdata_create(const char *path, const struct perfdata_params *params,
		    struct perfdata_writer **out)
{
	const struct pdw_tech *tech;
	struct perfdata_writer *w;
	int err;

	if (!path || !params->backend || (params->ncaps && !params->caps))
		return -EINVAL;
	tech = find_tech(params->backend);
	if (!tech)
		return -EOPNOTSUPP;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->tech = tech;
	w->first_time = UINT64_MAX;
	err = copy_params(w, params);
	if (err)
		goto err_writer;
	time_conv_init(&w->tc, w->time_hz);
	/* O_NONBLOCK: a FIFO without a reader is refused, not waited for. */
	w->fd = output_open(path, O_RDWR | O_NONBLOCK, 0600);
	if (w->fd < 0) {
		err = w->fd;
		goto err_writer;
	}
	if (lseek(w->fd, 0, SEEK_CUR) < 0) {
		err = -errno;
		goto err_fd;
	}
	err = write_header(w);
	if (!err)
		err = write_preamble(w);
	if (err)
		goto err_fd;
	*out = w;
	return 0;
err_fd:
	close(w->fd);
err_writer:
	free_writer(w);
	return err;
}

int perfdata_set_filter(struct perfdata_writer *w, const char *filter)
{
	uint64_t n = strlen(filter), none = 0;
	char text[PERFDATA_FILTER_MAX] = "";

	if (n >= sizeof(text))
		return -ENAMETOOLONG;
	if (!w->filter_offset)
		return -EOPNOTSUPP;
	if (w->error)
		return w->error;
	memcpy(text, filter, n);
	/* Without a length there is no text: at no moment is there half of one. */
	w->error = pdw_pwrite(w->fd, &none, sizeof(none), w->filter_offset);
	if (!w->error)
		w->error = pdw_pwrite(w->fd, text, sizeof(text),
				      w->filter_offset + sizeof(n));
	if (!w->error)
		w->error = pdw_pwrite(w->fd, &n, sizeof(n), w->filter_offset);
	return w->error;
}

static int put_text(struct perfdata_writer *w, uint32_t kind, const char *text, size_t n)
{
	size_t mark;

	if (!n || n > HWT_PART_MAX)
		return -EINVAL;
	if (w->error)
		return w->error;
	mark = pdw_mark(w);
	pdw_put_part(w, kind, text, (uint32_t)n);
	return pdw_commit(w, mark);
}

int perfdata_set_shown(struct perfdata_writer *w, const char *shown)
{
	return put_text(w, HWT_PART_SHOWN, shown, strlen(shown) + 1);
}

int perfdata_write_symbols(struct perfdata_writer *w, const char *text, size_t n)
{
	return put_text(w, HWT_PART_SYMBOLS, text, n);
}

/* ---- the end ---- */

static int write_end(struct perfdata_writer *w)
{
	const uint64_t nothing = 0;
	size_t i, mark;
	int err;

	for (i = 0; i < w->nstreams; i++) {
		err = pdw_end_stream(w, &w->streams[i]);
		if (err)
			return err;
	}
	mark = pdw_mark(w);
	for (i = 0; i < w->nthreads; i++)
		pdw_put_exit(w, &w->threads[i], w->now);
	pdw_put_part(w, HWT_PART_END, &nothing, sizeof(nothing));
	err = pdw_commit(w, mark);
	if (!err)
		err = pdw_flush(w);
	return err ? err : pdw_write_features(w);
}

int perfdata_close(struct perfdata_writer *w)
{
	int err = w->error ? w->error : write_end(w);
	int ignored __attribute__((unused));

	/* Half a record may lie behind the data: give its room back. */
	if (err)
		ignored = ftruncate(w->fd, (off_t)(w->data_offset + w->data_size));
	if (close(w->fd) && !err)
		err = -errno;
	free_writer(w);
	return err;
}
