/* SPDX-License-Identifier: BSD-2-Clause */
#include "out.h"
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUT_SIZE	(256 * 1024)
#define OUT_ROOM_MAX	4096

int out_init(struct out *o, int fd)
{
	*o = (struct out){ .fd = fd, .size = OUT_SIZE };
	o->buf = malloc(o->size);
	return o->buf ? 0 : -ENOMEM;
}

static void write_all(struct out *o, const char *p, size_t n)
{
	ssize_t done;

	while (n > 0 && !o->err) {
		done = write(o->fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			o->err = -errno;
			return;
		}
		p += done;
		n -= (size_t)done;
	}
}

int out_flush(struct out *o)
{
	write_all(o, o->buf, o->n);
	o->n = 0;
	return o->err;
}

int out_fini(struct out *o)
{
	int err = out_flush(o);

	free(o->buf);
	o->buf = NULL;
	return err;
}

char *out_room(struct out *o, size_t n)
{
	if (o->size - o->n < n)
		out_flush(o);
	return o->buf + o->n;
}

void out_bytes(struct out *o, const void *p, size_t n)
{
	if (o->size - o->n < n) {
		out_flush(o);
		if (n > o->size) {
			write_all(o, p, n);
			return;
		}
	}
	memcpy(o->buf + o->n, p, n);
	o->n += n;
}

void out_str(struct out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

void out_char(struct out *o, char c)
{
	*out_room(o, 1) = c;
	o->n++;
}

size_t out_format_hex(char *p, uint64_t v)
{
	static const char digit[] = "0123456789abcdef";
	size_t n = v ? (size_t)(67 - __builtin_clzll(v)) / 4 : 1, i;

	for (i = n; i-- > 0; v >>= 4)
		p[i] = digit[v & 0xf];
	return n;
}

void out_hex(struct out *o, uint64_t v)
{
	o->n += out_format_hex(out_room(o, 16), v);
}

void out_hex_bytes(struct out *o, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		out_printf(o, "%02x", p[i]);
}

void out_dec(struct out *o, uint64_t v)
{
	char buf[20], *p = buf + sizeof(buf);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	out_bytes(o, p, (size_t)(buf + sizeof(buf) - p));
}

void out_printable(struct out *o, const char *s)
{
	size_t n = strlen(s), size = 4 * n + 1;
	char small[1024], *big;

	if (size <= sizeof(small)) {
		out_str(o, text_printable(small, sizeof(small), s));
		return;
	}
	big = malloc(size);
	if (!big) {
		o->err = o->err ? o->err : -ENOMEM;
		return;
	}
	out_str(o, text_printable(big, size, s));
	free(big);
}

void out_printf(struct out *o, const char *fmt, ...)
{
	char *p = out_room(o, OUT_ROOM_MAX);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(p, OUT_ROOM_MAX, fmt, ap);
	va_end(ap);
	if (n > 0)
		o->n += n < OUT_ROOM_MAX ? (size_t)n : OUT_ROOM_MAX - 1;
}
