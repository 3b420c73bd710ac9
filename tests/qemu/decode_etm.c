// SPDX-License-Identifier: BSD-2-Clause
/* Decodes a thread's part of an ETR's frames with OpenCSD, code by position. */
#include "decode.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../decode/etm/etm_decoder.h"
#include "code_image.h"

static size_t read_code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	return code_read(ctx, ip, buf, len);
}

static void note(struct decoded *d, const struct trace_event *e)
{
	uint64_t ip = e->ip;
	uint32_t i;

	switch (e->type) {
	case TRACE_RUN:
		for (i = 0; i < e->ninsn; i++) {
			addresses_add(&d->a, ip);
			ip += 4;
		}
		break;
	case TRACE_GAP:
		d->gaps++;
		/* fall through */
	case TRACE_ERROR:
		if (!d->errors++)
			snprintf(d->first_error, sizeof(d->first_error),
				 "%s at offset %#llx, ip %#llx", trace_gap_text(e->error),
				 (unsigned long long)e->offset, (unsigned long long)ip);
		break;
	default:
		break;
	}
}

static void take(struct etm_decoder *dec, struct decoded *d)
{
	struct trace_event events[64];
	int i, n;

	while ((n = etm_decoder_next(dec, events, 64)) > 0)
		for (i = 0; i < n; i++)
			note(d, &events[i]);
}

/* Where the code of the next generation begins to count; at most end. */
static uint64_t next_mark(const struct stream *s, uint64_t position, uint64_t end)
{
	size_t i;

	for (i = 0; i < s->nmarks; i++)
		if (s->marks[i].position > position)
			return s->marks[i].position < end ? s->marks[i].position : end;
	return end;
}

int decode_etm(const struct owner *w, const struct stream *s, struct decoded *d)
{
	uint64_t at = s->begin, end = s->ended ? s->end : s->sink->size, next;
	struct code code;
	struct etm_decoder_config config = {
		.source = {.traceidr = s->id,
			   .configr = TRCCONFIGR_RES1 | (uint32_t)w->o.ctl},
		.code = read_code,
		.code_ctx = &code,
		.offset = at,
		.formatted = true,
	};
	struct etm_decoder *dec;

	memcpy(config.source.idr, w->window->caps, sizeof(config.source.idr));
	dec = etm_decoder_new(&config);
	if (!dec)
		return -ENOMEM;
	code_begin(&code, s->process);
	for (; at < end; at = next) {
		next = next_mark(s, at, end);
		code_advance(&code, generation_at(s, at));
		etm_decoder_invalidate(dec, 0, UINT64_MAX);
		etm_decoder_feed(dec, s->sink->data + at, next - at);
		take(dec, d);
	}
	etm_decoder_finish(dec);
	take(dec, d);
	etm_decoder_free(dec);
	code_free(&code);
	return 0;
}
