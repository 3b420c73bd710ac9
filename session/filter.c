// SPDX-License-Identifier: BSD-2-Clause
/* A filter's text, and its addresses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "filter.h"
#include "session_priv.h"

#define WORD	"filter "
#define NEXT	"," WORD

void filter_free(struct filter *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		free(f->piece[i].path);
	free(f->piece);
	*f = (struct filter){};
}

/* A number and the character behind it; false: that is not what is there. */
static bool number(const char **at, char behind, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(*at, &end, 0);
	if (errno || end == *at || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

/* One piece at *at, which goes behind it: 1, 0: it is no such thing, -ENOMEM. */
static int parse_piece(struct filter *f, const char **at)
{
	struct filter_piece piece = {};
	const char *end;
	int ret;

	if (strncmp(*at, WORD, strlen(WORD)))
		return 0;
	*at += strlen(WORD);
	if (!number(at, '/', &piece.offset) || !number(at, '@', &piece.len))
		return 0;
	end = strstr(*at, NEXT);
	if (!end)
		end = *at + strlen(*at);
	ret = session_grow((void **)&f->piece, f->n, &f->room, sizeof(*f->piece));
	if (ret)
		return ret;
	piece.path = strndup(*at, (size_t)(end - *at));
	if (!piece.path)
		return -ENOMEM;
	f->piece[f->n++] = piece;
	*at = *end ? end + 1 : end;
	return 1;
}

int filter_parse(struct filter *f, const char *text)
{
	int ret = 1;

	*f = (struct filter){};
	while (ret > 0 && *text)
		ret = parse_piece(f, &text);
	if (ret <= 0)
		filter_free(f);
	return ret < 0 ? ret : 0;
}

static void add(void *ctx, uint64_t addr, uint64_t len)
{
	struct filter_ranges *out = ctx;
	size_t i;

	/* Two views of two moments mostly agree. */
	for (i = 0; i < out->n; i++)
		if (out->range[i].first == addr && out->range[i].last == addr + (len - 1))
			return;
	if (session_grow((void **)&out->range, out->n, &out->room, sizeof(*out->range)))
		out->failed = true;
	else
		out->range[out->n++] = (struct filter_range){addr, addr + (len - 1)};
}

void filter_place(const struct filter *f, struct image_view *v, struct filter_ranges *out)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		image_view_places(v, f->piece[i].path, f->piece[i].offset, f->piece[i].len,
				  add, out);
}
