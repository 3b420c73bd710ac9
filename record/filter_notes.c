/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the recording says of its filters, as bytes of files (in perf's syntax,
 * "filter 0x1130/0x40@/bin/x,..."): decoders ask what the unit let through,
 * where a range was left without an address; and where that is more than was
 * asked for, hwt shows only that.  Without a file they are the kernel's addresses.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct filter_map *filter_notes_map(struct recorder *r, const struct filter_place *map)
{
	size_t size = strlen(map->path) + 1;
	struct filter_map *m;

	/* A library that comes and goes at one address is one map. */
	for (m = r->notes.maps; m; m = m->next)
		if (m->addr == map->addr && m->len == map->len && m->pgoff == map->pgoff &&
		    strcmp(m->path, map->path) == 0)
			return m;
	m = malloc(sizeof(*m) + size);
	if (!m)
		return NULL;
	m->addr = map->addr;
	m->len = map->len;
	m->pgoff = map->pgoff;
	memcpy(m->path, map->path, size);
	m->next = r->notes.maps;
	r->notes.maps = m;
	return m;
}

/* 1: it is new, 0: it was there, -ENOMEM. */
static int add_piece(struct filter_pieces *p, const struct filter_piece *piece)
{
	int i, room = p->room ? 2 * p->room : 16;
	struct filter_piece *item;

	for (i = 0; i < p->n; i++)
		if (p->item[i].offset == piece->offset && p->item[i].len == piece->len &&
		    strcmp(p->item[i].path, piece->path) == 0)
			return 0;
	if (p->n == p->room) {
		item = reallocarray(p->item, (size_t)room, sizeof(*item));
		if (!item)
			return -ENOMEM;
		p->item = item;
		p->room = room;
	}
	p->item[p->n++] = *piece;
	return 1;
}

static int add_range(struct filter_pieces *p, const struct filter_map *map, uint64_t start,
		     uint64_t end)
{
	struct filter_piece piece = {
		map->path, start - map->addr + map->pgoff, end - start + 1
	};

	return add_piece(p, &piece);
}

/* The mapping that a range of the unit lies in, or NULL: in no single one. */
static const struct filter_map *map_of(const struct context *ctx, const struct ipf_range *range)
{
	const struct filter_map *m;
	int i;

	for (i = 0; i < ctx->nwanted; i++) {
		m = ctx->wanted[i].map;
		if (range->start >= m->addr && range->end - m->addr < m->len)
			return m;
	}
	return NULL;
}

static int note_traced(struct context *ctx)
{
	struct filter_notes *notes = &ctx->r->notes;
	const struct filter_map *m;
	int i, added, any = 0;

	for (i = 0; i < ctx->nranges; i++) {
		m = map_of(ctx, &ctx->ranges[i]);
		if (!m) {
			any |= !notes->unplaced;
			notes->unplaced = true;
			continue;
		}
		added = add_range(&notes->traced, m, ctx->ranges[i].start,
				  ctx->ranges[i].end);
		if (added < 0)
			return added;
		any |= added;
	}
	return any;
}

static int note_shown(struct context *ctx)
{
	const struct range *w;
	int i, added, any = 0;

	for (i = 0; i < ctx->nwanted; i++) {
		w = &ctx->wanted[i];
		added = add_range(&ctx->r->notes.shown, w->map, w->start, w->end);
		if (added < 0)
			return added;
		any |= added;
	}
	return any;
}

/* malloc'd; NULL: no memory. */
static char *text_of(const struct filter_pieces *p)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i, bad;

	if (!out)
		return NULL;
	for (i = 0; i < p->n; i++)
		fprintf(out, "%sfilter %#llx/%#llx%s%s", i ? "," : "",
			(unsigned long long)p->item[i].offset,
			(unsigned long long)p->item[i].len,
			p->item[i].path[0] ? "@" : "", p->item[i].path);
	bad = ferror(out);
	if (fclose(out) || bad) {
		free(text);
		return NULL;
	}
	return text;
}

/* Half of the truth would be none: then nothing is said, and decoders decode. */
static int tell_traced(struct recorder *r)
{
	char *text = text_of(&r->notes.traced);
	int err;

	if (!text)
		return -ENOMEM;
	err = sink_filter(&r->sink, r->notes.unplaced ? "" : text);
	if (err == -ENAMETOOLONG)
		err = sink_filter(&r->sink, "");
	free(text);
	return err;
}

static int tell_shown(struct recorder *r)
{
	char *text = text_of(&r->notes.shown);
	int err = text ? sink_shown(&r->sink, text) : -ENOMEM;

	free(text);
	return err;
}

int filter_notes_update(struct context *ctx)
{
	struct recorder *r = ctx->r;
	int traced = note_traced(ctx), shown = note_shown(ctx), err = 0;

	if (traced < 0 || shown < 0)
		return -ENOMEM;
	if (traced)
		err = tell_traced(r);
	if (!err && r->notes.covering && (shown || !r->notes.told_shown)) {
		err = tell_shown(r);
		r->notes.told_shown = true;
	}
	return err;
}

void filter_notes_free(struct recorder *r)
{
	struct filter_map *m, *next;

	for (m = r->notes.maps; m; m = next) {
		next = m->next;
		free(m);
	}
	free(r->notes.traced.item);
	free(r->notes.shown.item);
}
