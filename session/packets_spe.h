/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_PACKETS_SPE_H
#define SESSION_PACKETS_SPE_H

#include "packets.h"

/* As hwt_stream_packets.  A run of Padding packets is one; align: of records. */
int spe_packets(struct hwt_stream *st,
		int (*fn)(void *ctx, const struct hwt_packet *packet), void *ctx);

#endif
