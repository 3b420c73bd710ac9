/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening perf.data and taking records from it, whoever wrote them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "output.h"
#include "reader.h"

/* Records looked at for AUXTRACE_INFO: perf puts it before all events. */
#define SCAN_MAX 65536

static const char *const kinds[] = {
	[PERFDATA_FILE] = "a perf.data file",
	[PERFDATA_PIPE] = "a pipe, or perf.data in pipe mode (perf record -o -)",
	[PERFDATA_OTHER_ENDIAN] = "perf.data of a machine of the other byte order",
	[PERFDATA_RAW_PT] = "a bare Intel PT stream without perf.data around it",
	[PERFDATA_EMPTY] = "an empty file",
	[PERFDATA_ELF] = "an ELF file",
	[PERFDATA_DIRECTORY] = "a directory",
	[PERFDATA_UNKNOWN] = "no perf.data file",
};

const char *perfdata_kind_text(enum perfdata_kind kind)
{
	return (unsigned int)kind <= PERFDATA_UNKNOWN ? kinds[kind] : "unknown";
}

ssize_t perfdata_read(struct perfdata *p, uint64_t data_offset, void *buf, size_t n)
{
	size_t have = 0;
	ssize_t done;

	if (data_offset > INT64_MAX - n)
		return 0;
	while (have < n) {
		done = pread(p->fd, (char *)buf + have, n - have,
			     (off_t)(data_offset + have));
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (!done)
			break;
		have += (size_t)done;
	}
	return (ssize_t)have;
}

int reader_pread(struct perfdata *p, void *buf, size_t n, uint64_t offset)
{
	ssize_t have = perfdata_read(p, offset, buf, n);

	if (have < 0)
		return (int)have;
	return (size_t)have == n ? 0 : -ENODATA;
}

/* ---- records ---- */

/* n bytes at p->next through the window; NULL: the file ends before, or *err. */
static const uint8_t *window(struct perfdata *p, size_t n, int *err)
{
	ssize_t have;
	size_t want = READER_WINDOW;

	*err = 0;
	if (n > p->data_end - p->next)
		return NULL;
	if (p->next >= p->window_at && p->window_at + p->window_len >= p->next + n)
		return p->window + (p->next - p->window_at);
	if (want > p->data_end - p->next)
		want = (size_t)(p->data_end - p->next);
	have = perfdata_read(p, p->next, p->window, want);
	p->window_at = p->next;
	p->window_len = have < 0 ? 0 : (size_t)have;
	if (have < 0)
		*err = (int)have;
	return have >= 0 && (size_t)have >= n ? p->window : NULL;
}

/* The data end here, before they should. */
static int cut_at(struct perfdata *p, uint64_t offset)
{
	p->info.truncated_at = offset;
	p->next = p->data_end = offset;
	return 0;
}

int reader_raw(struct perfdata *p, uint64_t *offset)
{
	struct perf_event_header h;
	const uint8_t *at;
	int err;

	*offset = p->next;
	if (p->next >= p->data_end) {
		if (p->header.data.size &&
		    p->data_end - p->data_start < p->header.data.size)
			p->info.truncated_at = p->data_end;
		return 0;
	}
	at = window(p, sizeof(h), &err);
	if (!at)
		return err ? err : cut_at(p, p->next);
	memcpy(&h, at, sizeof(h));
	if (h.size < sizeof(h)) {
		/* Behind the data of an open-ended file nothing was promised. */
		if (!p->header.data.size)
			return cut_at(p, p->next);
		p->info.truncated_at = p->next;
		return -EBADMSG;
	}
	at = window(p, h.size, &err);
	if (!at)
		return err ? err : cut_at(p, p->next);
	memcpy(p->record, at, h.size);
	p->next += h.size;
	return 1;
}

void perfdata_rewind(struct perfdata *p)
{
	p->next = p->data_start;
	p->part_have = p->part_total = 0;
	reader_zstd_reset(p);
}

/* ---- opening ---- */

static bool looks_like_pt(struct perfdata *p)
{
	static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	ssize_t n = perfdata_read(p, 0, p->window, READER_WINDOW);

	return n > 0 && memmem(p->window, (size_t)n, psb, sizeof(psb));
}

static enum perfdata_kind kind_of(struct perfdata *p, const struct stat *st)
{
	uint64_t head[2] = {0};
	ssize_t n;

	if (S_ISDIR(st->st_mode))
		return PERFDATA_DIRECTORY;
	if (S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
		return PERFDATA_PIPE;
	if (!S_ISREG(st->st_mode))
		return PERFDATA_UNKNOWN;
	if (!st->st_size)
		return PERFDATA_EMPTY;
	n = perfdata_read(p, 0, head, sizeof(head));
	if (n == sizeof(head) && head[0] == PERF_FILE_MAGIC)
		return head[1] == PERF_PIPE_HEADER_SIZE ? PERFDATA_PIPE : PERFDATA_FILE;
	if (n == sizeof(head) && head[0] == PERF_FILE_MAGIC_SWAPPED)
		return PERFDATA_OTHER_ENDIAN;
	if (n >= 4 && !memcmp(head, "\177ELF", 4))
		return PERFDATA_ELF;
	return looks_like_pt(p) ? PERFDATA_RAW_PT : PERFDATA_UNKNOWN;
}

static int load_header(struct perfdata *p)
{
	struct perf_file_header *h = &p->header;
	int err = reader_pread(p, h, sizeof(*h), 0);

	/* Only now: of what a writer that goes on has promised, all is there. */
	p->file_size = (uint64_t)lseek(p->fd, 0, SEEK_END);
	if (err == -ENODATA || (!err && h->size != sizeof(*h)))
		return -EINVAL;
	if (err)
		return err;
	if (h->data.offset < sizeof(*h) || h->data.offset > INT64_MAX)
		return -EINVAL;
	p->data_start = h->data.offset;
	p->data_end = p->file_size;
	/* A size of 0: the writer never got to say; whole records to the end. */
	if (h->data.size && h->data.size <= UINT64_MAX - h->data.offset &&
	    h->data.offset + h->data.size < p->file_size)
		p->data_end = h->data.offset + h->data.size;
	if (p->data_end < p->data_start)
		p->data_end = p->data_start;
	p->info.complete = h->data.size && p->data_end - p->data_start == h->data.size;
	return 0;
}

/* hwt writes features last of all; what others write may have none. */
static void check_end(struct perfdata *p)
{
	const uint64_t *f = p->header.features;

	if (p->info.ours && !(f[0] | f[1] | f[2] | f[3]))
		p->info.complete = false;
}

/* Takes what the records before the first trace bytes say of the whole. */
static int scan(struct perfdata *p)
{
	struct perfdata_event ev;
	int n, err = 0;

	perfdata_rewind(p);
	for (n = 0; n < SCAN_MAX; n++) {
		err = perfdata_next(p, &ev);
		if (err <= 0 || ev.type == PERFDATA_AUXTRACE)
			break;
	}
	perfdata_rewind(p);
	/* A bad record is reported where it stands, by perfdata_next. */
	return err == -ENOMEM ? err : 0;
}

int perfdata_open(const char *path, struct perfdata **out, enum perfdata_kind *kind)
{
	struct perfdata *p = calloc(1, sizeof(*p));
	struct stat st;
	int err = -ENOMEM;

	if (!p)
		return -ENOMEM;
	p->fd = -1;
	p->window = malloc(READER_WINDOW);
	p->record = malloc(READER_RECORD_MAX);
	if (!p->window || !p->record)
		goto err_reader;
	/* O_NONBLOCK: a FIFO without a writer is named, not waited for. */
	p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (p->fd < 0 || fstat(p->fd, &st)) {
		err = -errno;
		goto err_reader;
	}
	*kind = kind_of(p, &st);
	err = -EINVAL;
	if (*kind != PERFDATA_FILE)
		goto err_reader;
	/* First: a writer that ends meanwhile has not been interrupted. */
	p->info.busy = output_is_busy(p->fd);
	err = load_header(p);
	if (!err)
		err = reader_load_attrs(p);
	if (!err)
		err = reader_load_features(p);
	if (!err)
		err = scan(p);
	if (err)
		goto err_reader;
	check_end(p);
	*out = p;
	return 0;
err_reader:
	perfdata_close_reader(p);
	return err;
}

void perfdata_close_reader(struct perfdata *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < sizeof(p->features) / sizeof(p->features[0]); i++)
		free(p->features[i]);
	reader_zstd_free(p);
	free(p->filter);
	free(p->etm);
	free(p->shown);
	free(p->part);
	free(p->attrs);
	free(p->ids);
	free(p->window);
	free(p->record);
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}
