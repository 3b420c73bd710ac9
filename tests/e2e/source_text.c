// SPDX-License-Identifier: BSD-2-Clause
/* Addresses as hexadecimal text, one a line. */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>

struct text {
	struct source	s;
	FILE		*f;
	char		*line;
	size_t		room;
};

static long text_next(struct source *s, uint64_t *ip, size_t n)
{
	struct text *t = (struct text *)s;
	size_t k = 0;
	char *end;

	while (k < n && getline(&t->line, &t->room, t->f) > 0) {
		ip[k] = strtoull(t->line, &end, 16);
		if (end != t->line)
			k++;
	}
	return (long)k;
}

static void text_close(struct source *s)
{
	struct text *t = (struct text *)s;

	fclose(t->f);
	free(t->line);
	free(t);
}

struct source *source_text(int fd)
{
	struct text *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->s.name = "text";
	t->s.next = text_next;
	t->s.close = text_close;
	t->f = fdopen(fd, "r");
	if (!t->f) {
		free(t);
		return NULL;
	}
	return &t->s;
}
