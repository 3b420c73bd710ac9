/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <intel-pt.h>
#include "ipt.h"
#include "models/pt/pt_unit.h"

static int read_code(uint8_t *buf, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *ctx)
{
	size_t n = synth_code(ctx, ip, buf, size);

	return n ? (int)n : -pte_nomap;
}

static void configure(struct pt_config *c, const struct synth *s)
{
	pt_config_init(c);
	c->begin = s->trace;
	c->end = s->trace + s->trace_len;
	c->mtc_freq = (s->config.ctl & RTIT_CTL_MTCFREQ_MASK) >> RTIT_CTL_MTCFREQ_SHIFT;
	c->nom_freq = 10;
	c->cpuid_0x15_eax = pt_unit_default_caps[PT_CAP_15_EAX];
	c->cpuid_0x15_ebx = pt_unit_default_caps[PT_CAP_15_EBX];
}

static void event(struct ipt_result *r, const struct pt_event *ev)
{
	r->overflows += ev->type == ptev_overflow;
	if (!ev->has_tsc)
		return;
	r->time_back |= ev->tsc < r->time;
	r->time = ev->tsc;
}

static void begin(struct ipt_result *r, size_t max)
{
	memset(r, 0, sizeof(*r));
	r->ip = malloc(max * sizeof(*r->ip));
	if (!r->ip)
		abort();
}

void ipt_insns(struct ipt_result *r, const struct synth *s, size_t max)
{
	struct pt_insn_decoder *d;
	struct pt_image *image = pt_image_alloc(NULL);
	struct pt_config config;
	struct pt_event ev;
	struct pt_insn insn;
	int status;

	begin(r, max);
	configure(&config, s);
	d = pt_insn_alloc_decoder(&config);
	pt_image_set_callback(image, read_code, (void *)s);
	pt_insn_set_image(d, image);
	status = pt_insn_sync_forward(d);
	while (status >= 0 && r->n < max) {
		while (status >= 0 && (status & pts_event_pending)) {
			status = pt_insn_event(d, &ev, sizeof(ev));
			if (status >= 0)
				event(r, &ev);
		}
		if (status < 0 || (status & pts_eos))
			break;
		status = pt_insn_next(d, &insn, sizeof(insn));
		if (insn.iclass != ptic_error && (status >= 0 || status == -pte_eos))
			r->ip[r->n++] = insn.ip;
	}
	if (status < 0 && status != -pte_eos)
		r->error = status;
	pt_insn_time(d, &r->time, NULL, NULL);
	pt_insn_get_offset(d, &r->offset);
	pt_insn_free_decoder(d);
	pt_image_free(image);
}

static void unfold(struct ipt_result *r, const struct synth *s, const struct pt_block *b,
		   size_t max)
{
	uint64_t ip = b->ip;
	unsigned int i;

	for (i = 0; i < b->ninsn && r->n < max; i++) {
		r->ip[r->n++] = ip;
		/* Blocks follow direct jumps and calls. */
		ip = synth_next(s, ip);
	}
}

void ipt_blocks(struct ipt_result *r, const struct synth *s, size_t max)
{
	struct pt_block_decoder *d;
	struct pt_image *image = pt_image_alloc(NULL);
	struct pt_config config;
	struct pt_event ev;
	struct pt_block block;
	int status;

	begin(r, max);
	configure(&config, s);
	d = pt_blk_alloc_decoder(&config);
	pt_image_set_callback(image, read_code, (void *)s);
	pt_blk_set_image(d, image);
	status = pt_blk_sync_forward(d);
	while (status >= 0 && r->n < max) {
		while (status >= 0 && (status & pts_event_pending)) {
			status = pt_blk_event(d, &ev, sizeof(ev));
			if (status >= 0)
				event(r, &ev);
		}
		if (status < 0 || (status & pts_eos))
			break;
		memset(&block, 0, sizeof(block));
		status = pt_blk_next(d, &block, sizeof(block));
		unfold(r, s, &block, max);
	}
	if (status < 0 && status != -pte_eos)
		r->error = status;
	pt_blk_get_offset(d, &r->offset);
	pt_blk_free_decoder(d);
	pt_image_free(image);
}

void ipt_free(struct ipt_result *r)
{
	free(r->ip);
	memset(r, 0, sizeof(*r));
}

const char *ipt_error(int error)
{
	return error ? pt_errstr(pt_errcode(error)) : "no error";
}
