/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffered output to a descriptor, for results that may have 100 million lines.
 * Errors stick: writing goes on as a no-op and out_flush tells.
 */
#ifndef PRESENT_OUT_H
#define PRESENT_OUT_H

#include <stddef.h>
#include <stdint.h>

struct out {
	int	fd;
	int	err;		/* first -errno of a write, 0: none */
	size_t	n;		/* bytes in buf */
	size_t	size;
	char	*buf;
};

/* -ENOMEM. */
int out_init(struct out *o, int fd);
/* Flushes and frees; 0 or the first -errno.  fd stays open. */
int out_fini(struct out *o);
/* 0 or the first -errno. */
int out_flush(struct out *o);

/* Makes room for n bytes (n <= 4096) and returns where they go; out_took then says how many were used. */
char *out_room(struct out *o, size_t n);
static inline void out_took(struct out *o, size_t n)
{
	o->n += n;
}

void out_bytes(struct out *o, const void *p, size_t n);
void out_str(struct out *o, const char *s);
void out_char(struct out *o, char c);
/* Lower-case hexadecimal, no prefix, no leading zeros. */
void out_hex(struct out *o, uint64_t v);
/* Two digits a byte. */
void out_hex_bytes(struct out *o, const uint8_t *p, size_t n);
void out_dec(struct out *o, uint64_t v);
/* As text_printable: outside text without control bytes. */
void out_printable(struct out *o, const char *s);
__attribute__((format(printf, 2, 3)))
void out_printf(struct out *o, const char *fmt, ...);

/* Digits of v in hexadecimal, written at p (16 bytes of room): how many. */
size_t out_format_hex(char *p, uint64_t v);

#endif
