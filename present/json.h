/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A JSON writer (RFC 8259) over struct out.  It keeps track of commas; whoever
 * calls it keeps track of nesting (at most JSON_DEPTH deep).
 *
 * Strings may hold any bytes: what is not UTF-8 becomes U+FFFD, so that every
 * output parses.  64-bit addresses are written as strings of hexadecimal
 * digits, because readers that keep numbers as doubles would round them.
 */
#ifndef PRESENT_JSON_H
#define PRESENT_JSON_H

#include <stdbool.h>
#include "out.h"

#define JSON_DEPTH	32

struct json {
	struct out	*out;
	int		depth;
	bool		first[JSON_DEPTH];	/* no member written yet at this depth */
};

void json_init(struct json *j, struct out *out);
/* key: NULL inside arrays and at the top. */
void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);
void json_uint(struct json *j, const char *key, uint64_t v);
void json_int(struct json *j, const char *key, int64_t v);
void json_hex(struct json *j, const char *key, uint64_t v);
/* A string of two digits a byte. */
void json_bytes(struct json *j, const char *key, const uint8_t *p, size_t n);
void json_bool(struct json *j, const char *key, bool v);
/* v == NULL: null. */
void json_string(struct json *j, const char *key, const char *v);
/* Ends a line (JSON Lines): at depth 0. */
void json_newline(struct json *j);

#endif
