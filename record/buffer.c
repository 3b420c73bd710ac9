/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's trace buffer.  Positions are absolute; a byte of position p is at
 * p % bufsize:
 *
 *	        tail            head
 *	|........|###############|........|	one piece
 *
 *	     head                tail
 *	|#####|...................|#######|	two pieces
 *
 * Full mode: what was written is given back by SVC_BUF, and the unit never
 * passes it.  Ring mode: nothing is given back, and only the end is written.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Full mode is what the driver is in once it got a first SVC_BUF. */
static int give_back(struct buffer *b)
{
	union technology_room room;
	struct hwt_svc_buf svc;
	int err;

	if (b->ctx->r->opt->ring)
		return 0;
	b->ctx->r->technology->service((int)b->tid, b->tail, &room, &svc);
	err = hwt_dev_ioctl(b->ctx->dev, HWT_IOC_SVC_BUF, &svc);
	if (err == -EOPNOTSUPP)
		return recorder_fail(b->ctx->r, -EINVAL,
				     "a buffer of %zu bytes is too small to be read while it "
				     "is written: at least two pages, or --ring",
				     b->ctx->r->bufsize);
	/* The thread may be gone, and its buffer with it. */
	return err == -ENOENT || err == -ESRCH ? 0 : err;
}

struct buffer *buffer_find(struct context *ctx, uint32_t tid)
{
	struct buffer *b;

	for (b = ctx->buffers; b && b->tid != tid; b = b->next)
		;
	return b;
}

static void buffer_free(struct buffer *b)
{
	struct buffer **at;

	for (at = &b->ctx->buffers; *at; at = &(*at)->next) {
		if (*at == b) {
			*at = b->next;
			break;
		}
	}
	if (b->map)
		hwt_dev_munmap(b->dev, (void *)(uintptr_t)b->map, b->ctx->r->bufsize);
	if (b->dev)
		hwt_dev_close(b->dev);
	free(b);
}

/* Does the trace of b's thread go to another one's buffer?  -errno. */
static int goes_elsewhere(const struct buffer *b)
{
	int id = (int)b->tid, err;
	struct hwt_bufptr_get get = { .ident = &id };

	if (b->ctx->r->query.scope != HWT_SCOPE_CONTEXT)
		return 0;
	err = hwt_dev_ioctl(b->dev, HWT_IOC_BUFPTR_GET, &get);
	return err ? err : id != (int)b->tid;
}

int buffer_open(struct context *ctx, uint32_t tid)
{
	struct buffer *b;
	char name[64];
	void *map = NULL;
	int err;

	if (buffer_find(ctx, tid))
		return 0;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->ctx = ctx;
	b->tid = tid;
	snprintf(name, sizeof(name), "/dev/hwt_%d_%u", ctx->ident, tid);
	err = hwt_dev_open(ctx->r->opt->host, name, &b->dev);
	if (!err)
		err = goes_elsewhere(b);
	if (err > 0) {
		buffer_free(b);
		sink_thread(&ctx->r->sink, tid);
		ctx->r->result->threads++;
		return 0;
	}
	if (!err)
		err = hwt_dev_mmap(b->dev, ctx->r->bufsize, 0, &map);
	b->map = map;
	if (!err)
		err = give_back(b);
	if (err) {
		buffer_free(b);
		return err;
	}
	b->next = ctx->buffers;
	ctx->buffers = b;
	sink_thread(&ctx->r->sink, tid);
	ctx->r->result->threads++;
	return 0;
}

int buffer_head(struct buffer *b, uint64_t *head)
{
	struct hwt_position_get get = { 0 };
	int err = hwt_dev_ioctl(b->dev, HWT_IOC_POSITION_GET, &get);

	*head = get.head;
	return err;
}

/* Writes [b->tail, head), in two pieces where it wraps. */
static int write_pieces(struct buffer *b, uint64_t head, bool final)
{
	size_t size = b->ctx->r->bufsize, at, n;
	int err;

	do {
		at = (size_t)(b->tail % size);
		n = (size_t)(head - b->tail);
		if (n > size - at)
			n = size - at;
		err = sink_trace(&b->ctx->r->sink, b->ctx->pid, b->tid, b->tail,
				 b->map + at, n, b->gap, final && b->tail + n == head);
		if (err)
			return err;
		b->gap = false;
		b->tail += n;
	} while (b->tail < head);
	return 0;
}

/* Bytes before `oldest` are not in the buffer any more, or not wanted. */
static void skip_to(struct buffer *b, uint64_t oldest)
{
	if (oldest <= b->tail)
		return;
	b->ctx->r->result->lost += oldest - b->tail;
	b->tail = oldest;
	b->gap = true;
}

static uint64_t oldest_of(const struct buffer *b, uint64_t head, uint64_t keep)
{
	uint64_t frame = b->ctx->r->technology->frame;

	return head > keep ? (head - keep + frame - 1) / frame * frame : 0;
}

int buffer_save(struct buffer *b, uint64_t head)
{
	struct recorder *r = b->ctx->r;
	int err;

	if (r->opt->ring || head <= b->tail)
		return 0;
	skip_to(b, oldest_of(b, head, r->bufsize));
	err = write_pieces(b, head, false);
	return err ? err : give_back(b);
}

int buffer_finish(struct buffer *b, uint64_t end)
{
	struct recorder *r = b->ctx->r;
	uint64_t head = 0;
	int err;

	/* The node may have died with its thread; the record then says where. */
	if (buffer_head(b, &head) || head < end)
		head = end;
	if (head < b->tail)
		head = b->tail;
	skip_to(b, oldest_of(b, head, r->opt->ring ? r->opt->ring : r->bufsize));
	err = write_pieces(b, head, true);
	buffer_free(b);
	return err;
}
