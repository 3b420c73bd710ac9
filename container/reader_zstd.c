/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compressed records (perf record -z): one zstd stream goes through all of
 * them, and what comes out is records again, cut anywhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

struct reader_zstd {
	ZSTD_DStream *stream;
	uint8_t *in; /* payload of the record fed last */
	size_t in_at, in_len;
	uint64_t in_offset; /* of that record in the file */
	bool more;	    /* the stream may hold more without input */
	uint8_t *out;	    /* READER_WINDOW bytes */
	size_t out_at, out_len;
};

void reader_zstd_free(struct perfdata *p)
{
	if (!p->zstd)
		return;
	ZSTD_freeDStream(p->zstd->stream);
	free(p->zstd->in);
	free(p->zstd->out);
	free(p->zstd);
	p->zstd = NULL;
}

void reader_zstd_reset(struct perfdata *p)
{
	reader_zstd_free(p);
}

static struct reader_zstd *zstd_of(struct perfdata *p)
{
	struct reader_zstd *z = p->zstd;

	if (z)
		return z;
	z = p->zstd = calloc(1, sizeof(*z));
	if (!z)
		return NULL;
	z->stream = ZSTD_createDStream();
	z->in = malloc(READER_RECORD_MAX);
	z->out = malloc(READER_WINDOW);
	if (!z->stream || !z->in || !z->out ||
	    ZSTD_isError(ZSTD_initDStream(z->stream))) {
		reader_zstd_free(p);
		return NULL;
	}
	return z;
}

int reader_zstd_feed(struct perfdata *p, uint64_t offset)
{
	struct reader_zstd *z = zstd_of(p);
	struct perf_event_header h;
	size_t skip = sizeof(h);
	uint64_t size;

	if (!z)
		return -ENOMEM;
	memcpy(&h, p->record, sizeof(h));
	size = h.size - skip;
	if (h.type == PERF_USER_COMPRESSED2) { /* says how much is not padding */
		if (h.size < sizeof(h) + sizeof(size))
			return -EBADMSG;
		skip += sizeof(size);
		memcpy(&size, p->record + 1, sizeof(size));
		if (size > h.size - skip)
			return -EBADMSG;
	}
	memcpy(z->in, (const char *)p->record + skip, (size_t)size);
	z->in_at = 0;
	z->in_len = (size_t)size;
	z->in_offset = offset;
	return 0;
}

/* Makes room and decompresses more: 1 something came, 0 nothing, -EBADMSG. */
static int refill(struct reader_zstd *z)
{
	ZSTD_inBuffer in = {z->in, z->in_len, z->in_at};
	ZSTD_outBuffer out;
	size_t ret;

	memmove(z->out, z->out + z->out_at, z->out_len - z->out_at);
	z->out_len -= z->out_at;
	z->out_at = 0;
	if (z->in_at == z->in_len && !z->more)
		return 0;
	out = (ZSTD_outBuffer){z->out, READER_WINDOW, z->out_len};
	ret = ZSTD_decompressStream(z->stream, &out, &in);
	if (ZSTD_isError(ret))
		return -EBADMSG;
	z->in_at = in.pos;
	z->more = out.pos == out.size; /* full: there may be more inside */
	ret = out.pos - z->out_len;
	z->out_len = out.pos;
	return ret || z->in_at < z->in_len;
}

int reader_zstd_take(struct perfdata *p, uint64_t *offset)
{
	struct reader_zstd *z = p->zstd;
	struct perf_event_header h;
	size_t have;
	int more;

	if (!z)
		return 0;
	*offset = z->in_offset;
	for (;;) {
		have = z->out_len - z->out_at;
		if (have >= sizeof(h)) {
			memcpy(&h, z->out + z->out_at, sizeof(h));
			if (h.size < sizeof(h))
				return -EBADMSG;
			if (have >= h.size)
				break;
		}
		more = refill(z);
		if (more <= 0)
			return more;
	}
	memcpy(p->record, z->out + z->out_at, h.size);
	z->out_at += h.size;
	return 1;
}

#else

int reader_zstd_feed(struct perfdata *p, uint64_t offset)
{
	return -EOPNOTSUPP;
}

int reader_zstd_take(struct perfdata *p, uint64_t *offset)
{
	return 0;
}

void reader_zstd_reset(struct perfdata *p)
{
}

void reader_zstd_free(struct perfdata *p)
{
}
#endif
