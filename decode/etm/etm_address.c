/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses are told by what changed since those before (IHI 0064 6.4.12).  Of these
 * OpenCSD does not see what was cancelled, so it gets whole ones.
 */
#include <string.h>
#include "etm_priv.h"

static void push(struct etm_addresses *s, uint64_t address, uint8_t is)
{
	memmove(s->address + 1, s->address, 2 * sizeof(s->address[0]));
	memmove(s->is + 1, s->is, 2 * sizeof(s->is[0]));
	s->address[0] = address;
	s->is[0] = is;
}

/* Two bytes (of seven bits, but the second of IS1), then whole ones. */
static uint64_t address_bytes(const uint8_t *b, uint8_t n, uint8_t is)
{
	uint64_t v = (uint64_t)(b[0] & 0x7f) << (2 - is);
	uint8_t i;

	if (n > 1)
		v |= (uint64_t)(n == 2 || is ? b[1] : b[1] & 0x7f) << (9 - is);
	for (i = 2; i < n; i++)
		v |= (uint64_t)b[i] << 8 * i;
	return v;
}

static uint64_t merge(uint64_t old, uint64_t new, uint8_t bits)
{
	uint64_t mask = bits < 64 ? (1ull << bits) - 1 : ~0ull;

	return (old & ~mask) | (new & mask);
}

/* Others are matches, and have in their header which of the three before it is. */
static const struct {
	uint8_t header;			/* of IS0; the next one is that of IS1 */
	uint8_t n;			/* bytes; 1: one or two */
} address_packets[] = {
	{ETM4_ADDR_CTX_32_IS0, 4}, {ETM4_ADDR_CTX_64_IS0, 8},
	{ETM4_ADDR_SHORT_IS0, 1}, {ETM4_ADDR_32_IS0, 4}, {ETM4_ADDR_64_IS0, 8},
	{ETM4_Q_SHORT_IS0, 1}, {ETM4_Q_32_IS0, 4},
	{ETE_SOURCE_SHORT_IS0, 1}, {ETE_SOURCE_32_IS0, 4}, {ETE_SOURCE_64_IS0, 8},
};

#define ADDRESS_PACKETS	(sizeof(address_packets) / sizeof(address_packets[0]))

uint8_t etm_address_take(struct etm_addresses *s, const uint8_t *b)
{
	uint8_t is, n, bits;
	uint64_t v;
	size_t i;

	for (i = 0; i < ADDRESS_PACKETS; i++)
		if ((b[0] - address_packets[i].header) >> 1 == 0)
			break;
	if (i == ADDRESS_PACKETS) {
		push(s, s->address[b[0] & 3], s->is[b[0] & 3]);
		return 1;
	}
	is = b[0] - address_packets[i].header;
	n = address_packets[i].n == 1 ? 1 + (b[1] >> 7) : address_packets[i].n;
	bits = n <= 2 ? 1 + 8 * n - is : n == 4 && !s->sf ? 64 : 8 * n;
	v = address_bytes(b + 1, n, is);
	push(s, merge(s->address[0], v, bits), is);
	return 1 + n;
}

void etm_address_put(const struct etm_addresses *s, uint8_t header, uint8_t *b)
{
	uint8_t is = s->is[0], i;

	b[0] = header + is;
	b[1] = s->address[0] >> (2 - is) & 0x7f;
	b[2] = s->address[0] >> (9 - is) & (is ? 0xff : 0x7f);
	for (i = 2; i < 8; i++)
		b[1 + i] = s->address[0] >> 8 * i;
}

void etm_address_context(struct etm_addresses *s, uint8_t info)
{
	s->sf = info & ETM4_CTX_SF;
}

void etm_address_restart(struct etm_addresses *s)
{
	memset(s->address, 0, sizeof(s->address));
	memset(s->is, 0, sizeof(s->is));
}
