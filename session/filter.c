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

static bool number(const char **at, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(*at, &end, 0);
	if (errno || end == *at)
		return false;
	*at = end;
	return true;
}

/* "@path", with *at behind it then; or nothing: 0. */
static int parse_path(const char **at, char **path)
{
	const char *end = *at;

	*path = NULL;
	if (**at == '@') {
		end = strstr(*at, NEXT);
		if (!end)
			end = *at + strlen(*at);
		*path = strndup(*at + 1, (size_t)(end - *at - 1));
		if (!*path)
			return -ENOMEM;
	}
	*at = *end == ',' ? end + 1 : end;
	return 0;
}

/* One piece at *at, which goes behind it: 1, 0: it is no such thing, -ENOMEM. */
static int parse_piece(struct filter *f, const char **at)
{
	struct filter_piece piece = {};
	int ret;

	if (strncmp(*at, WORD, strlen(WORD)))
		return 0;
	*at += strlen(WORD);
	if (!number(at, &piece.offset) || *(*at)++ != '/' || !number(at, &piece.len) ||
	    (**at && **at != '@' && **at != ','))
		return 0;
	ret = session_grow((void **)&f->piece, f->n, &f->room, sizeof(*f->piece));
	if (ret)
		return ret;
	ret = parse_path(at, &piece.path);
	if (ret)
		return ret;
	f->piece[f->n++] = piece;
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

	for (i = 0; i < f->n; i++) {
		if (f->piece[i].path)
			image_view_places(v, f->piece[i].path, f->piece[i].offset,
					  f->piece[i].len, add, out);
		else if (f->piece[i].len)
			add(out, f->piece[i].offset, f->piece[i].len);
	}
}
