/* SPDX-License-Identifier: BSD-2-Clause */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Well-formed UTF-8 as the Unicode standard's table 3-7 has it. */
size_t text_utf8_length(const unsigned char *s, size_t n)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t len, i;

	if (n == 0)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (n < len)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < len; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return len;
}

/* The printable form of what stands at s; sets *used. */
static size_t printable_piece(char out[8], const unsigned char *s, size_t n, size_t *used)
{
	static const char plain[] = "\n\t\r\\", letter[] = "ntr\\";
	const char *p;
	size_t len = text_utf8_length(s, n);

	*used = 1;
	p = memchr(plain, s[0], sizeof(plain) - 1);
	if (p) {
		out[0] = '\\';
		out[1] = letter[p - plain];
		return 2;
	}
	/* C1 controls (U+0080..U+009F) move a terminal's cursor, too. */
	if (len == 0 || s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0))
		return (size_t)snprintf(out, 8, "\\x%02x", s[0]);
	memcpy(out, s, len);
	*used = len;
	return len;
}

char *text_printable(char *dst, size_t size, const char *src)
{
	size_t n = strlen(src), at = 0, used, len;
	char piece[8];

	while (n > 0) {
		len = printable_piece(piece, (const unsigned char *)src, n, &used);
		if (at + len >= size)
			break;
		memcpy(dst + at, piece, len);
		at += len;
		src += used;
		n -= used;
	}
	if (size)
		dst[at] = '\0';
	return dst;
}

const char *text_size(char *buf, size_t size, uint64_t bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes;
	int i = 0;

	for (; value >= 1024 && i < 6; i++)
		value /= 1024;
	snprintf(buf, size, "%.*f %s", i == 0 ? 0 : 1, value, unit[i]);
	return buf;
}

const char *text_count(char *buf, size_t size, uint64_t n)
{
	char digits[24];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n), i, at = 0;

	for (i = 0; i < len && at + 2 < size; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

const char *text_duration(char *buf, size_t size, uint64_t ns)
{
	if (ns < 1000)
		snprintf(buf, size, "%u ns", (unsigned int)ns);
	else if (ns < 1000000)
		snprintf(buf, size, "%.3g us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(buf, size, "%.3g ms", (double)ns / 1e6);
	else
		snprintf(buf, size, "%.3f s", (double)ns / 1e9);
	return buf;
}
