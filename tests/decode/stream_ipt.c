/* SPDX-License-Identifier: BSD-2-Clause */
/* The same stream through libipt; apart, since its names are those of ours. */
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <intel-pt.h>

static int read_code(uint8_t *buf, size_t n, const struct pt_asid *asid, uint64_t ip,
		     void *ctx)
{
	struct stream *s = ctx;
	size_t got = s->config.code(s, ip, buf, n);

	return got ? (int)got : -pte_nomap;
}

static int events(struct pt_insn_decoder *d, int status)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending)
		status = pt_insn_event(d, &event, sizeof(event));
	return status;
}

static size_t decode(struct pt_insn_decoder *d, char *text, size_t room, int *status)
{
	struct pt_insn insn;
	size_t n = 0;
	int rc = pt_insn_sync_forward(d);

	for (;;) {
		rc = events(d, rc);
		if (rc < 0)
			break;
		insn.iclass = ptic_error;
		rc = pt_insn_next(d, &insn, sizeof(insn));
		if (insn.iclass != ptic_error && n < room)
			n += snprintf(text + n, room - n, "%s%" PRIx64, n ? " " : "", insn.ip);
		if (rc < 0)
			break;
	}
	*status = rc;
	return n;
}

void stream_ipt_text(struct stream *s, char *text, size_t room)
{
	struct pt_image *image = pt_image_alloc(NULL);
	struct pt_insn_decoder *d;
	struct pt_config config;
	size_t n;
	int rc;

	pt_config_init(&config);
	config.begin = s->b;
	config.end = s->b + s->n;
	pt_image_set_callback(image, read_code, s);
	d = pt_insn_alloc_decoder(&config);
	pt_insn_set_image(d, image);
	text[0] = 0;
	n = decode(d, text, room, &rc);
	if (rc != -pte_eos && n < room)
		snprintf(text + n, room - n, " libipt: %s", pt_errstr(pt_errcode(rc)));
	pt_insn_free_decoder(d);
	pt_image_free(image);
}
