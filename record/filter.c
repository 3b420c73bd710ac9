/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -i IMAGE -f FUNC: address ranges that come and go with the mappings of an
 * image.  The thread that maps stands still until the unit has the ranges.  Where
 * more are wanted than the unit has, it gets ranges that cover them, and the
 * recording says what of the trace is to be shown (filter_notes.c).
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

/* Room for one more wanted range. */
static int grow(struct context *ctx)
{
	int room = ctx->wanted_room ? 2 * ctx->wanted_room : 16;
	struct range *p;

	if (ctx->nwanted < ctx->wanted_room)
		return 0;
	p = reallocarray(ctx->wanted, (size_t)room, sizeof(*p));
	if (!p)
		return -ENOMEM;
	ctx->wanted = p;
	ctx->wanted_room = room;
	return 0;
}

/* 1: added, 0: there already, or not in this mapping; -ENOMEM. */
static int add_range(struct context *ctx, int filter, const struct filter_place *map,
		     uint64_t start, uint64_t end)
{
	const struct filter_map *in;
	int i;

	if (start < map->addr || end < start || end - map->addr >= map->len)
		return 0;	/* in another segment's mapping */
	ctx->r->filters_met |= 1ull << filter;
	for (i = 0; i < ctx->nwanted; i++)
		if (ctx->wanted[i].start == start && ctx->wanted[i].end == end)
			return 0;
	in = filter_notes_map(ctx->r, map);
	if (!in || grow(ctx))
		return -ENOMEM;
	ctx->wanted[ctx->nwanted++] = (struct range){ in, start, end };
	return 1;
}

/* A function's n parts, as addresses that `bias` makes run-time ones. */
static int add_parts(struct context *ctx, int filter, const struct filter_place *place,
		     const struct ipf_range *part, int n, uint64_t bias)
{
	int i, added, any = 0;

	if (n > RECORD_MAX_PARTS)
		return recorder_fail(ctx->r, -E2BIG, "%s in %s is in %d places; at most %d can be traced",
				     ctx->r->opt->filters[filter].function,
				     place->path[0] ? place->path : "the kernel", n,
				     RECORD_MAX_PARTS);
	for (i = 0; i < n; i++) {
		added = add_range(ctx, filter, place, part[i].start + bias, part[i].end + bias);
		if (added < 0)
			return added;
		any |= added;
	}
	return any;
}

/* 1: ranges were added, 0: none, -errno. */
static int add_function(struct context *ctx, int filter, const struct hwt_rec_mmap *map)
{
	const struct filter_place place = { map->addr, map->len, map->pgoff, map->path };
	const struct record_images *images = &ctx->r->opt->images;
	const char *name = ctx->r->opt->filters[filter].function;
	struct ipf_range part[RECORD_MAX_PARTS];
	uint64_t vaddr = 0;
	int n, err = 0;

	if (!name)
		return add_range(ctx, filter, &place, map->addr, map->addr + map->len - 1);
	/* A file that cannot be read has no such function: the filter is missed. */
	n = images->ranges(images->ctx, map->path, name, part, RECORD_MAX_PARTS);
	if (n > 0)
		err = images->vaddr_of(images->ctx, map->path, map->pgoff, &vaddr);
	if (n == -ENOMEM || err == -ENOMEM)
		return -ENOMEM;
	if (n <= 0 || err)
		return 0;
	return add_parts(ctx, filter, &place, part, n, map->addr - vaddr);
}

/* Likewise, in an object of the kernel; its offsets are its addresses. */
static int add_kernel_function(struct context *ctx, int filter, const char *module,
			       const struct hwt_rec_kernel *object)
{
	const struct filter_place place = { object->addr, object->len, object->addr, "" };
	const struct record_images *images = &ctx->r->opt->images;
	const char *name = ctx->r->opt->filters[filter].function;
	struct ipf_range part[RECORD_MAX_PARTS];
	int n;

	if (!name)
		return add_range(ctx, filter, &place, object->addr,
				 object->addr + object->len - 1);
	n = images->kernel_ranges(images->ctx, module, name, part, RECORD_MAX_PARTS);
	return n > 0 ? add_parts(ctx, filter, &place, part, n, 0) : 0;
}

/* The unit's ranges: what is wanted, or a few that cover it. */
static int fit(struct context *ctx)
{
	uint32_t has = ctx->r->query.nranges < PT_IP_FILTER_MAX_RANGES2 ?
		       ctx->r->query.nranges : PT_IP_FILTER_MAX_RANGES2;
	struct ipf_range *all;
	bool covering;
	int i;

	ctx->nranges = 0;
	if (ctx->nwanted == 0)
		return 0;
	if (!has)
		return recorder_fail(ctx->r, -EOPNOTSUPP, "the trace unit (%s) has no address ranges, which -f and -i need",
				     ctx->r->query.unit);
	all = reallocarray(NULL, (size_t)ctx->nwanted, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (i = 0; i < ctx->nwanted; i++)
		all[i] = (struct ipf_range){ ctx->wanted[i].start, ctx->wanted[i].end };
	ctx->nranges = ranges_fit(all, ctx->nwanted, (int)has, &covering);
	memcpy(ctx->ranges, all, (size_t)ctx->nranges * sizeof(*all));
	ctx->r->notes.covering |= covering;
	free(all);
	return 0;
}

/* No range left must not mean that everything is traced. */
static int apply(struct context *ctx)
{
	char *said = ctx->r->error;
	int err;

	err = fit(ctx);
	if (!err)
		err = filter_notes_update(ctx);
	if (err)
		return err;
	if (ctx->nranges == 0) {
		err = context_stop(ctx);
	} else {
		err = context_configure(ctx);
		if (!err)
			err = context_start(ctx);
	}
	return recorder_unless_gone(ctx->r, err, said);
}

int filter_map(struct context *ctx, const struct hwt_rec_mmap *map)
{
	const struct record_options *opt = ctx->r->opt;
	int i, added, any = 0;

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
	return any ? apply(ctx) : 0;
}

int filter_kernel(struct context *ctx, const struct hwt_rec_kernel *object)
{
	const struct record_options *opt = ctx->r->opt;
	char module[64] = "";
	const char *wants;
	int i, added, any = 0;

	/* "[ext4]": a module; the kernel itself has no brackets. */
	if (object->path[0] == '[')
		snprintf(module, sizeof(module), "%.*s", (int)strcspn(object->path + 1, "]"),
			 object->path + 1);
	for (i = 0; i < opt->nfilters; i++) {
		wants = opt->filters[i].image ? opt->filters[i].image : "kernel";
		if (strcmp(wants, module[0] ? module : object->path))
			continue;
		ctx->r->images_met |= 1ull << i;
		added = add_kernel_function(ctx, i, module[0] ? module : NULL, object);
		if (added < 0)
			return added;
		any |= added;
	}
	return any ? apply(ctx) : 0;
}

int filter_unmap(struct context *ctx, uint64_t addr, uint64_t len)
{
	int i, kept = 0;

	for (i = 0; i < ctx->nwanted; i++) {
		if (ctx->wanted[i].start >= addr && ctx->wanted[i].start - addr < len)
			continue;
		ctx->wanted[kept++] = ctx->wanted[i];
	}
	if (kept == ctx->nwanted)
		return 0;
	ctx->nwanted = kept;
	return apply(ctx);
}

int filter_exec(struct context *ctx)
{
	ctx->exec_seen = true;
	if (ctx->nwanted == 0)
		return 0;
	ctx->nwanted = 0;
	return apply(ctx);
}

int filter_inherit(struct context *ctx, const struct context *parent)
{
	if (parent->nwanted == 0)
		return 0;
	ctx->wanted = reallocarray(NULL, (size_t)parent->nwanted, sizeof(*ctx->wanted));
	if (!ctx->wanted)
		return -ENOMEM;
	memcpy(ctx->wanted, parent->wanted, (size_t)parent->nwanted * sizeof(*ctx->wanted));
	ctx->nwanted = ctx->wanted_room = parent->nwanted;
	memcpy(ctx->ranges, parent->ranges, sizeof(ctx->ranges));
	ctx->nranges = parent->nranges;
	return 0;
}
