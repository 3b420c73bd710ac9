/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet layer: any bytes.  A packet decodes the same when nothing follows it,
 * a prefix of it asks for more, and its text fits.
 */
#include "fuzz.h"
#include "decode/pt/pt_packet.h"

#include <stdlib.h>
#include <string.h>

static void require(int condition)
{
	if (!condition)
		abort();
}

static void check(const uint8_t *p, size_t n, struct pt_packet_state before,
		  struct pt_packet_state after, const struct pt_packet *pkt)
{
	struct pt_packet_state state = before;
	struct pt_packet again;
	uint8_t exact[32];
	char text[128];
	int len;

	require(n >= pkt->length && pkt->length <= PT_PSB_LENGTH);
	memcpy(exact, p, pkt->length);
	require(pt_packet_decode(exact, pkt->length, &state, &again) == pkt->length);
	require(!memcmp(&again, pkt, sizeof(again)));
	require(state.last_ip == after.last_ip && state.in_block == after.in_block);
	state = before;
	require(!pt_packet_decode(exact, pkt->length - 1, &state, &again));
	require(state.last_ip == before.last_ip && state.in_block == before.in_block);
	len = pt_packet_format(pkt, text, sizeof(text));
	require(len > 0 && (size_t)len < sizeof(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pt_packet_state state = {0}, before;
	struct pt_packet pkt;
	size_t at = 0, psb;
	int n;

	psb = pt_packet_find_psb(data, size);
	require(psb == size || (size - psb >= PT_PSB_LENGTH && data[psb] == PT_PKT_EXT));
	while (at < size) {
		before = state;
		n = pt_packet_decode(data + at, size - at, &state, &pkt);
		if (!n)
			break;
		if (n > 0)
			check(data + at, size - at, before, state, &pkt);
		else
			require(pkt.type == PT_BAD && pkt.length == 1);
		at += pkt.length;
	}
	return 0;
}
