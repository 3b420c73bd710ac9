// SPDX-License-Identifier: BSD-2-Clause
/*
 * Something to trace where no program of Debian's is at hand (another machine's):
 * sorts, compresses and hashes text.  work ROUNDS, some 10 million instructions each.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE	(64u << 10)
#define WORDS	(SIZE / 8)

static uint8_t text[SIZE], packed[2 * SIZE];
static uint64_t words[WORDS];

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

static uint32_t crc(const uint8_t *p, size_t n)
{
	uint32_t sum = ~0u;
	int bit;

	while (n--) {
		sum ^= *p++;
		for (bit = 0; bit < 8; bit++)
			sum = sum & 1 ? sum >> 1 ^ 0xedb88320u : sum >> 1;
	}
	return ~sum;
}

/* Pairs of a length and a distance, or a byte; the last place of three bytes' hash. */
static size_t pack(void)
{
	static uint32_t last[4096];
	size_t i = 0, n = 0, len;
	uint32_t hash, at;

	memset(last, 0, sizeof(last));
	while (i + 3 < SIZE) {
		hash = (text[i] * 31u + text[i + 1]) * 31u + text[i + 2];
		at = last[hash % 4096];
		last[hash % 4096] = (uint32_t)i;
		for (len = 0; at < i && i + len < SIZE && len < 255 && text[at + len] == text[i + len];)
			len++;
		packed[n++] = (uint8_t)len;
		if (len >= 3) {
			packed[n++] = (uint8_t)(i - at);
			i += len;
		} else {
			packed[n++] = text[i++];
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	int i, rounds = argc > 1 ? atoi(argv[1]) : 1;
	uint32_t state = 1, sum = 0;
	size_t at;

	for (i = 0; i < rounds; i++) {
		for (at = 0; at < SIZE; at++)
			text[at] = (uint8_t)("etaoin shrdlu"[next_random(&state) % 13]);
		sum += (uint32_t)pack();
		for (at = 0; at < WORDS; at++)
			words[at] = (uint64_t)next_random(&state) << 24 ^ next_random(&state);
		qsort(words, WORDS, sizeof(words[0]), by_value);
		sum ^= crc(packed, SIZE);
	}
	printf("%08x\n", sum);
	return 0;
}
