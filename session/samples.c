// SPDX-License-Identifier: BSD-2-Clause
/* Pulling a stream of SPE samples: as stream.c does it for flow. */
#include <errno.h>
#include "session_priv.h"

static int begin(struct hwt_stream *st)
{
	const struct spe_decoder_config config = {.align = st->session->align};
	int ret = stream_start(st);

	if (ret)
		return ret;
	st->samples = spe_decoder_new(&config);
	return st->samples ? 0 : -ENOMEM;
}

/* 1, 0 at the stream's end, -errno. */
static int feed(struct hwt_stream *st)
{
	uint64_t lost;
	ssize_t got = stream_bytes(st, &lost);
	int ret;

	if (got < 0)
		return (int)got;
	if (lost)
		spe_decoder_lost(st->samples, lost);
	if (!got)
		return lost != 0;
	ret = spe_decoder_feed(st->samples, st->buffer, (size_t)got);
	return ret ? ret : 1;
}

int hwt_stream_samples(struct hwt_stream *st, struct spe_event *ev, int max)
{
	int n;

	if (!st->session->samples)
		return -EOPNOTSUPP;
	if (!st->samples) {
		n = begin(st);
		if (n)
			return n;
	}
	for (;;) {
		n = spe_decoder_next(st->samples, ev, max);
		if (n || st->finished)
			return n;
		n = feed(st);
		if (n < 0)
			return n;
		if (!n) {
			spe_decoder_finish(st->samples);
			st->finished = true;
		}
	}
}
