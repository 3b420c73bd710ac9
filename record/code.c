/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code goes into the recording where no file holds it: as CODE records, in pieces.
 */
#include "internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

struct code_record {
	struct hwt_rec		rec;
	struct hwt_rec_code	code;
	uint8_t			bytes[CODE_PIECE];
};

static int put(struct recorder *r, const struct hwt_rec *like, struct code_record *c,
	       uint64_t addr, uint64_t n)
{
	c->rec = *like;
	c->rec.type = HWT_REC_CODE;
	c->rec.flags = 0;
	c->rec.size = (uint32_t)(offsetof(struct code_record, bytes) + (n + 7) / 8 * 8);
	c->code = (struct hwt_rec_code){ .addr = addr, .len = (uint32_t)n };
	memset(c->bytes + n, 0, (8 - n % 8) % 8);
	return sink_record(&r->sink, &c->rec);
}

int code_save(struct recorder *r, const struct hwt_rec *like, uint64_t addr, uint64_t len,
	      code_read_fn read, void *from)
{
	struct code_record *c = malloc(sizeof(*c));
	ssize_t n = 0;
	int err = c ? 0 : -ENOMEM;

	while (len && !err) {
		n = read(from, addr, c->bytes, len < CODE_PIECE ? len : CODE_PIECE);
		if (n <= 0)
			break;
		err = put(r, like, c, addr, (uint64_t)n);
		addr += (uint64_t)n;
		len -= (uint64_t)n;
	}
	free(c);
	return !err && n < 0 ? (int)n : err;
}

/* What may not be read, or has gone, is left out: decoding says what is missing. */
static ssize_t read_process(void *from, uint64_t addr, void *out, size_t n)
{
	const struct context *ctx = from;
	struct iovec to = { out, n }, there = { (void *)(uintptr_t)addr, n };
	ssize_t got = process_vm_readv((pid_t)ctx->pid, &to, 1, &there, 1, 0);

	return got > 0 ? got : 0;
}

int code_of_process(struct context *ctx, const struct hwt_rec *like,
		    const struct hwt_rec_mmap *map)
{
	uint64_t len = map->len < CODE_OF_PROCESS_MAX ? map->len : CODE_OF_PROCESS_MAX;

	return code_save(ctx->r, like, map->addr, len, read_process, ctx);
}
