/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that came from outside (names of symbols, files, threads, arguments) on
 * its way to a terminal or a line-oriented reader.
 */
#ifndef PRESENT_TEXT_H
#define PRESENT_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies src, at most size - 1 bytes, with control bytes and bytes that are not
 * UTF-8 as \n, \t, \xHH, and backslashes as \\: one line, harmless, reversible.
 * Cuts between characters.  Returns dst.
 */
char *text_printable(char *dst, size_t size, const char *src);
/* Bytes of the UTF-8 character at s (n bytes are there), 0: it is none. */
size_t text_utf8_length(const unsigned char *s, size_t n);

/* "1.5 MiB", "312 B"; buf of at least 16 bytes. */
const char *text_size(char *buf, size_t size, uint64_t bytes);
/* "1,234,567"; buf of at least 28 bytes. */
const char *text_count(char *buf, size_t size, uint64_t n);
/* The form of a word that goes with the count n. */
static inline const char *text_form(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}
/* Nanoseconds as "1.234 s", "56.7 ms", "890 ns"; buf of at least 24 bytes. */
const char *text_duration(char *buf, size_t size, uint64_t ns);

#endif
