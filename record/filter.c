/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -i IMAGE -f FUNC: address ranges that come and go with the mappings of an
 * image.  The thread that maps stands still until the unit has the ranges.
 *
 *	run-time address = map.addr + (ELF address - ELF address of map.pgoff)
 */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MAX_PARTS	32	/* of one function (implementations of an IFUNC) */

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/*
 * By path, or by the name in its folder, which may be a link to the file that
 * was mapped: libz.so.1 means libz.so.1.2.13.
 */
static bool image_is(const char *image, const char *path)
{
	const char *base = strrchr(path, '/');
	char link[2 * PATH_MAX];

	if (strchr(image, '/'))
		return strcmp(image, path) == 0 || same_file(image, path);
	if (!base)
		return false;
	if (strcmp(image, base + 1) == 0)
		return true;
	snprintf(link, sizeof(link), "%.*s/%s", (int)(base - path), path, image);
	return same_file(link, path);
}

static bool filter_wants(const struct context *ctx, const struct record_filter *filter,
			 const char *path)
{
	if (filter->image)
		return image_is(filter->image, path);
	return strcmp(path, ctx->program) == 0;
}

static int no_range(struct context *ctx, const struct record_filter *f, const char *path,
		    int parts)
{
	uint32_t has = ctx->r->query.nranges < PT_IP_FILTER_MAX_RANGES2 ?
		       ctx->r->query.nranges : PT_IP_FILTER_MAX_RANGES2;
	const char *what = f->function ? f->function : "the code";

	if (parts > 1)
		return recorder_fail(ctx->r, -E2BIG, "%s in %s has %d implementations to choose from; the trace unit has %u address ranges",
				     what, path, parts, has);
	return recorder_fail(ctx->r, -E2BIG, "%s in %s: the %u address ranges of the trace unit are in use",
			     what, path, has);
}

/* One of so many parts of what the filter asks for. */
static int add_range(struct context *ctx, int filter, const struct hwt_rec_mmap *map,
		     uint64_t start, uint64_t end, int parts)
{
	const struct record_filter *f = &ctx->r->opt->filters[filter];
	int i;

	if (start < map->addr || end < start || end - map->addr >= map->len)
		return 0;	/* in another segment's mapping */
	for (i = 0; i < ctx->nranges; i++)
		if (ctx->ranges[i].start == start && ctx->ranges[i].end == end)
			return 0;
	if (ctx->nranges == PT_IP_FILTER_MAX_RANGES2 ||
	    (uint32_t)ctx->nranges >= ctx->r->query.nranges)
		return no_range(ctx, f, map->path, parts);
	ctx->ranges[ctx->nranges++] = (struct range){
		.filter = filter, .start = start, .end = end,
		.map_addr = map->addr, .map_len = map->len,
	};
	ctx->r->filters_met |= 1ull << filter;
	return 1;
}

/* 1: ranges were added, 0: none, -errno. */
static int add_function(struct context *ctx, int filter, const struct hwt_rec_mmap *map)
{
	const struct record_images *images = &ctx->r->opt->images;
	const char *name = ctx->r->opt->filters[filter].function;
	uint64_t start[MAX_PARTS], end[MAX_PARTS], vaddr;
	int n, i, added, any = 0;

	if (!name)
		return add_range(ctx, filter, map, map->addr, map->addr + map->len - 1, 1);
	/* A file that cannot be read has no such function: the filter is missed. */
	n = images->ranges(images->ctx, map->path, name, start, end, MAX_PARTS);
	if (n <= 0 || images->vaddr_of(images->ctx, map->path, map->pgoff, &vaddr))
		return 0;
	for (i = 0; i < n && i < MAX_PARTS; i++) {
		added = add_range(ctx, filter, map, map->addr + (start[i] - vaddr),
				  map->addr + (end[i] - vaddr), n);
		if (added < 0)
			return added;
		any |= added;
	}
	return any;
}

/* "filter 0x1130/0x40@/bin/x,..." with offsets in the file, for decoders. */
static int describe(struct context *ctx, const struct hwt_rec_mmap *map)
{
	char text[HWT_PATH_MAX + 128];
	size_t n = 0;
	int i;

	text[0] = '\0';
	for (i = 0; i < ctx->nranges && n < sizeof(text); i++) {
		const struct range *r = &ctx->ranges[i];

		if (r->map_addr != map->addr)
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%sfilter %#llx/%#llx@%s",
				      n ? "," : "",
				      (unsigned long long)(r->start - map->addr + map->pgoff),
				      (unsigned long long)(r->end - r->start + 1), map->path);
	}
	/* A hint for other programs: without it they decode, too. */
	i = n < sizeof(text) ? sink_filter(&ctx->r->sink, text) : 0;
	return i == -ENAMETOOLONG ? 0 : i;
}

/* No range left must not mean that everything is traced. */
static int apply(struct context *ctx)
{
	char *said = ctx->r->error;
	int err;

	if (ctx->nranges == 0) {
		err = context_stop(ctx);
	} else {
		err = context_configure(ctx);
		if (!err)
			err = context_start(ctx);
	}
	if (err != -ESRCH)
		return err;
	/* Killed meanwhile: its EXIT record comes. */
	if (ctx->r->error != said) {
		free(ctx->r->error);
		ctx->r->error = said;
	}
	return 0;
}

int filter_map(struct context *ctx, const struct hwt_rec_mmap *map)
{
	const struct record_options *opt = ctx->r->opt;
	int i, added, any = 0, err;

	if (opt->nfilters == 0 || !(map->prot & PROT_EXEC) || map->path[0] != '/')
		return 0;
	if (ctx->exec_seen) {
		snprintf(ctx->program, sizeof(ctx->program), "%s", map->path);
		ctx->exec_seen = false;
	}
	for (i = 0; i < opt->nfilters; i++) {
		if (!filter_wants(ctx, &opt->filters[i], map->path))
			continue;
		ctx->r->images_met |= 1ull << i;
		added = add_function(ctx, i, map);
		if (added < 0)
			return added;
		any |= added;
	}
	if (!any)
		return 0;
	err = describe(ctx, map);
	return err ? err : apply(ctx);
}

int filter_unmap(struct context *ctx, uint64_t addr, uint64_t len)
{
	int i, kept = 0;

	for (i = 0; i < ctx->nranges; i++) {
		if (ctx->ranges[i].start >= addr && ctx->ranges[i].start - addr < len)
			continue;
		ctx->ranges[kept++] = ctx->ranges[i];
	}
	if (kept == ctx->nranges)
		return 0;
	ctx->nranges = kept;
	return apply(ctx);
}

int filter_exec(struct context *ctx)
{
	ctx->exec_seen = true;
	if (ctx->nranges == 0)
		return 0;
	ctx->nranges = 0;
	return apply(ctx);
}
