/* SPDX-License-Identifier: BSD-2-Clause */
#include "json.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

void json_init(struct json *j, struct out *out)
{
	j->out = out;
	j->depth = 0;
	j->first[0] = true;
}

static void escape(struct out *o, unsigned char c)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
	const char *p = memchr(plain, c, sizeof(plain) - 1);

	if (p) {
		out_char(o, '\\');
		out_char(o, letter[p - plain]);
	} else {
		out_printf(o, "\\u%04x", c);
	}
}

static void quoted(struct out *o, const char *text)
{
	const unsigned char *s = (const unsigned char *)text, *start = s;
	size_t n = strlen(text), len;

	out_char(o, '"');
	while (n > 0) {
		len = text_utf8_length(s, n);
		if (len && s[0] >= 0x20 && s[0] != '"' && s[0] != '\\' && s[0] != 0x7f) {
			s += len;
			n -= len;
			continue;
		}
		out_bytes(o, start, (size_t)(s - start));
		if (len)
			escape(o, s[0]);
		else
			out_str(o, "\xef\xbf\xbd");
		start = ++s;
		n--;
	}
	out_bytes(o, start, (size_t)(s - start));
	out_char(o, '"');
}

static void begin(struct json *j, const char *key)
{
	if (!j->first[j->depth] && j->depth > 0)
		out_char(j->out, ',');
	j->first[j->depth] = false;
	if (key) {
		quoted(j->out, key);
		out_char(j->out, ':');
	}
}

static void open_level(struct json *j, const char *key, char c)
{
	begin(j, key);
	out_char(j->out, c);
	if (j->depth < JSON_DEPTH - 1)
		j->depth++;
	j->first[j->depth] = true;
}

static void close_level(struct json *j, char c)
{
	out_char(j->out, c);
	j->depth--;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{');
}

void json_object_end(struct json *j)
{
	close_level(j, '}');
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[');
}

void json_array_end(struct json *j)
{
	close_level(j, ']');
}

void json_uint(struct json *j, const char *key, uint64_t v)
{
	begin(j, key);
	out_dec(j->out, v);
}

void json_int(struct json *j, const char *key, int64_t v)
{
	begin(j, key);
	out_printf(j->out, "%" PRId64, v);
}

void json_hex(struct json *j, const char *key, uint64_t v)
{
	begin(j, key);
	out_char(j->out, '"');
	out_hex(j->out, v);
	out_char(j->out, '"');
}

void json_bytes(struct json *j, const char *key, const uint8_t *p, size_t n)
{
	begin(j, key);
	out_char(j->out, '"');
	out_hex_bytes(j->out, p, n);
	out_char(j->out, '"');
}

void json_bool(struct json *j, const char *key, bool v)
{
	begin(j, key);
	out_str(j->out, v ? "true" : "false");
}

void json_string(struct json *j, const char *key, const char *v)
{
	begin(j, key);
	if (v)
		quoted(j->out, v);
	else
		out_str(j->out, "null");
}

void json_newline(struct json *j)
{
	out_char(j->out, '\n');
	j->first[0] = true;
}
