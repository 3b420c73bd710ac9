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

#define SYMBOLS_MAX	(15u << 20)	/* bytes of text */

/* A module on its way out cannot be read: it did not run either. */
static ssize_t read_kernel(void *from, uint64_t addr, void *out, size_t n)
{
	const struct context *ctx = from;
	struct hwt_kernel_read read = { .addr = addr, .len = n, .buf = (uintptr_t)out };
	int err = hwt_dev_ioctl(ctx->dev, HWT_IOC_KERNEL_READ, &read);

	if (err == -ENOENT)
		return 0;
	return err ? err : (ssize_t)read.done;
}

int kernel_object(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_kernel *object = (const struct hwt_rec_kernel *)(rec + 1);
	int err = 0;

	ctx->r->kernel_objects++;
	if (ctx->r->opt->output)
		err = code_save(ctx->r, rec, object->addr, object->len, read_kernel, ctx);
	if (err)
		return recorder_fail(ctx->r, err, "reading the code of %s: %s", object->path,
				     strerror(-err));
	return filter_kernel(ctx, object);
}

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
