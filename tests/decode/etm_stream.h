/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hand-made ETM streams over hand-made A64 code.  What the decoder says is one line of
 * text:
 *
 *	4000 4004	addresses of executed instructions, in hexadecimal
 *	[on IP] [off IP] [exc NUMBER IP to TO] [gap WHY] [error WHY] [ctx ID] [time N]
 */
#ifndef TESTS_DECODE_ETM_STREAM_H
#define TESTS_DECODE_ETM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "decode/etm/etm_decoder.h"

#define BASE	0x4000u
#define SYNC	"0000000000000000000000 80 01 01 00"
/* Trace On, then where the code begins: AArch64, EL0, non-secure. */
#define ON	"04 85 00 20 00 00 00 00 00 00 30"

/* The stream that is being made. */
extern struct etm_stream {
	uint8_t		b[65536];
	size_t		n;
	struct etm_source source;
	bool		formatted;
	size_t		lost_at;	/* seven bytes are missing there; 0: none */
} s;
extern bool nops;	/* instead of the code there are nops, everywhere */

/* Empties it; the source is that of a plain ETMv4. */
void begin(void);
/* Appends bytes in hexadecimal. */
void put(const char *hex);
/* What the decoder says of it. */
const char *text_of(void);
/* It says this, however the bytes are cut.  The last time, 0 for none. */
uint64_t expect(const char *want);

#endif
