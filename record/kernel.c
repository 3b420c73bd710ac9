/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU mode: what the kernel is made of goes into the recording, for the machine that
 * decodes it has another kernel, and ours patches itself.  Each KERNEL record is
 * followed by its object's code as it is now; patches made since ALLOC come as
 * TEXT_POKE records.  Names are those of /proc/kallsyms.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK	(1u << 20)	/* bytes of code a record */
#define SYMBOLS_MAX	(15u << 20)	/* bytes of text */

/* ---- code ---- */

struct code_record {
	struct hwt_rec		rec;
	struct hwt_rec_code	code;
	uint8_t			bytes[CHUNK];
};

static int put_code(struct context *ctx, const struct hwt_rec *like, struct code_record *c,
		    uint64_t addr, uint64_t n)
{
	c->rec = *like;
	c->rec.type = HWT_REC_CODE;
	c->rec.flags = 0;
	c->rec.size = (uint32_t)(offsetof(struct code_record, bytes) + (n + 7) / 8 * 8);
	c->code = (struct hwt_rec_code){ .addr = addr, .len = (uint32_t)n };
	memset(c->bytes + n, 0, (8 - n % 8) % 8);
	return sink_record(&ctx->r->sink, &c->rec);
}

/* What cannot be read (a module on its way out) is left out: it did not run either. */
static int save_code(struct context *ctx, const struct hwt_rec *like,
		     const struct hwt_rec_kernel *object)
{
	uint64_t addr = object->addr, left = object->len;
	struct code_record *c = malloc(sizeof(*c));
	struct hwt_kernel_read read;
	int err = 0;

	if (!c)
		return -ENOMEM;
	while (left && !err) {
		read = (struct hwt_kernel_read){
			.addr = addr, .len = left < CHUNK ? left : CHUNK,
			.buf = (uintptr_t)c->bytes,
		};
		err = hwt_dev_ioctl(ctx->dev, HWT_IOC_KERNEL_READ, &read);
		if (err == -ENOENT || (!err && !read.done)) {
			err = 0;
			break;
		}
		if (err) {
			err = recorder_fail(ctx->r, err, "reading the code of %s: %s",
					    object->path, strerror(-err));
			break;
		}
		err = put_code(ctx, like, c, addr, read.done);
		addr += read.done;
		left -= read.done;
	}
	free(c);
	return err;
}

int kernel_object(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_kernel *object = (const struct hwt_rec_kernel *)(rec + 1);
	int err;

	ctx->r->kernel_objects++;
	err = ctx->r->opt->output ? save_code(ctx, rec, object) : 0;
	return err ? err : filter_kernel(ctx, object);
}

/* ---- names ---- */

/* "address type name [module]": those of code, where addresses are shown at all. */
static bool wanted(const char *line)
{
	const char *type = strchr(line, ' ');

	return type && strchr("tTwW", type[1]) && type[2] == ' ' &&
	       strspn(line, "0") < (size_t)(type - line);
}

int kernel_symbols(struct recorder *r)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	char *text = malloc(SYMBOLS_MAX), *line = NULL;
	size_t used = 0, room = 0;
	ssize_t n;
	int err = 0;

	while (in && text && (n = getline(&line, &room, in)) > 0) {
		if (!wanted(line) || used + (size_t)n > SYMBOLS_MAX)
			continue;
		memcpy(text + used, line, (size_t)n);
		used += (size_t)n;
	}
	if (!text)
		err = -ENOMEM;
	else if (used)
		err = sink_symbols(&r->sink, text, used);
	r->result->no_symbols = !used;
	r->symbols_of = r->kernel_objects;
	free(line);
	free(text);
	if (in)
		fclose(in);
	return err;
}
