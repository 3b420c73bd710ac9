/* SPDX-License-Identifier: BSD-2-Clause */
/* [section] / key=value files, as snapshot folders have them. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "snapshot.h"

#define LINE_MAX_BYTES 1024

static char *trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	return s;
}

static void lower(char *s)
{
	for (; *s; s++)
		*s = (char)tolower((unsigned char)*s);
}

/* ';' and '#' begin comments. */
static void strip_comment(char *s)
{
	s[strcspn(s, ";#")] = '\0';
}

struct parsing {
	char section[LINE_MAX_BYTES];
	unsigned int line;
	const struct ini_sink *sink;
};

static int parse_line(struct parsing *p, char *text)
{
	char *eq, *end;

	strip_comment(text);
	text = trim(text);
	if (!*text)
		return 0;
	if (*text == '[') {
		end = strchr(text, ']');
		if (!end || end[1])
			return -EINVAL;
		*end = '\0';
		strcpy(p->section, trim(text + 1));
		lower(p->section);
		return 0;
	}
	eq = strchr(text, '=');
	if (!eq || !p->section[0])
		return -EINVAL;
	*eq = '\0';
	text = trim(text);
	if (!*text)
		return -EINVAL;
	lower(text);
	return p->sink->entry(p->sink->ctx, p->line, p->section, text, trim(eq + 1));
}

int ini_parse(const char *text, size_t n, const struct ini_sink *sink, unsigned int *line)
{
	static const char bom[] = {'\xef', '\xbb', '\xbf'};	/* U+FEFF, of editors */
	struct parsing p = {.sink = sink};
	char buf[LINE_MAX_BYTES];
	size_t at = 0, len;
	const char *nl;
	int ret;

	if (n >= sizeof(bom) && !memcmp(text, bom, sizeof(bom)))
		at = sizeof(bom);
	while (at < n) {
		nl = memchr(text + at, '\n', n - at);
		len = nl ? (size_t)(nl - (text + at)) : n - at;
		*line = ++p.line;
		if (len >= sizeof(buf) || memchr(text + at, '\0', len))
			return -EINVAL;
		memcpy(buf, text + at, len);
		buf[len] = '\0';
		ret = parse_line(&p, buf);
		if (ret)
			return ret;
		at += len + 1;
	}
	return 0;
}
