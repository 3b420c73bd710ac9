// SPDX-License-Identifier: BSD-2-Clause
/*
 * Addresses by libipt on the same bytes.  Code comes by callback from the view
 * of the moment; the moment changes at the positions where the recording says
 * that a thread went on under new code, and on a kernel with time.
 */
#include "source.h"

#include <inttypes.h>
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>

#define MAX_BLOCK	UINT16_MAX	/* struct pt_block counts in 16 bits */

/* Where tracing is turned on, and the last TSC before. */
struct enable {
	uint64_t		offset, time;
};

struct ipt {
	struct source		s;
	struct hwt_stream	*st;
	uint8_t			*bytes;
	size_t			n;
	uint64_t		base;		/* position of the first byte */
	struct enable		*enable;
	size_t			nenable, next_enable;
	size_t			next_switch;
	struct image_space	*space;
	struct image_moment	at;
	struct image_view	*view;
	struct pt_insn_decoder	*insn;
	struct pt_block_decoder	*blk;
	ZydisDecoder		zydis;
	int			status;		/* libipt's last, pts_ or -pte_ */
	uint64_t		block[MAX_BLOCK];	/* addresses not given out yet */
	size_t			nblock, iblock;
};

static int read_code(uint8_t *buf, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *ctx)
{
	struct ipt *p = ctx;
	size_t n = p->view ? image_view_code(p->view, ip, buf, size) : 0;

	(void)asid;
	return n ? (int)n : -pte_nomap;
}

static int offset_of(struct ipt *p, uint64_t *off)
{
	return p->insn ? pt_insn_get_offset(p->insn, off) : pt_blk_get_offset(p->blk, off);
}

static void use_view(struct ipt *p, struct image_space *space, struct image_moment at)
{
	if (space != p->space) {
		image_view_free(p->view);
		p->view = image_view_new(space);
		p->space = space;
	}
	p->at = at;
	image_view_set(p->view, at);
}

/* The code of what comes next is that of the position; where time orders, of the time. */
static void follow_switches(struct ipt *p, uint64_t off, uint64_t time)
{
	struct hwt_code_switch sw;

	while (hwt_stream_code_switch(p->st, p->next_switch, &sw) &&
	       sw.position <= p->base + off) {
		use_view(p, sw.space, sw.at);
		p->next_switch++;
	}
	if (p->view && time > p->at.time)
		use_view(p, p->space, (struct image_moment){0, time});
}

/* Each event of this kind is one of the packets: libipt itself has read on already. */
static void turned_on(struct ipt *p)
{
	if (p->next_enable == p->nenable)
		return;
	follow_switches(p, p->enable[p->next_enable].offset, p->enable[p->next_enable].time);
	p->next_enable++;
}

static int drain_events(struct ipt *p)
{
	struct pt_event ev;

	while (p->status >= 0 && p->status & pts_event_pending) {
		p->status = p->insn ? pt_insn_event(p->insn, &ev, sizeof(ev)) :
				      pt_blk_event(p->blk, &ev, sizeof(ev));
		if (p->status < 0)
			return p->status;
		if (ev.type == ptev_overflow)
			p->s.gaps++;
		if (ev.type == ptev_enabled)
			turned_on(p);
	}
	return p->status;
}

static int resync(struct ipt *p)
{
	uint64_t off;

	p->status = p->insn ? pt_insn_sync_forward(p->insn) : pt_blk_sync_forward(p->blk);
	if (p->status < 0 || offset_of(p, &off) < 0)
		return p->status;
	while (p->next_enable < p->nenable && p->enable[p->next_enable].offset < off)
		p->next_enable++;
	follow_switches(p, off, p->next_enable ? p->enable[p->next_enable - 1].time : 0);
	return p->status;
}

static void complain(struct ipt *p, int err)
{
	uint64_t off = 0;

	offset_of(p, &off);
	fprintf(stderr, "libipt: offset %#" PRIx64 ": %s\n", off, pt_errstr(pt_errcode(err)));
	p->s.errors++;
}

/* libipt tells a block's first instruction and how many: Zydis their lengths. */
static void spell_block(struct ipt *p, const struct pt_block *b)
{
	ZydisDecodedInstruction zi;
	uint64_t ip = b->ip;
	uint8_t raw[16];
	size_t n;

	while (p->nblock < b->ninsn && p->nblock < MAX_BLOCK) {
		p->block[p->nblock++] = ip;
		n = image_view_code(p->view, ip, raw, sizeof(raw));
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&p->zydis, NULL, raw, n, &zi)))
			break;
		ip += zi.length;
	}
}

/* One instruction, or one block, into p->block; libipt's status. */
static int step(struct ipt *p)
{
	struct pt_insn in = {0};
	struct pt_block b = {0};

	p->nblock = p->iblock = 0;
	if (p->insn) {
		p->status = pt_insn_next(p->insn, &in, sizeof(in));
		if (p->status >= 0 || in.iclass != ptic_error)
			p->block[p->nblock++] = in.ip;
	} else {
		p->status = pt_blk_next(p->blk, &b, sizeof(b));
		spell_block(p, &b);
	}
	return p->status;
}

static long ipt_next(struct source *s, uint64_t *ip, size_t n)
{
	struct ipt *p = (struct ipt *)s;
	size_t k = 0, m;
	int err;

	while (k < n) {
		if (p->iblock < p->nblock) {
			m = p->nblock - p->iblock < n - k ? p->nblock - p->iblock : n - k;
			memcpy(ip + k, p->block + p->iblock, m * sizeof(*ip));
			p->iblock += m;
			k += m;
			continue;
		}
		err = drain_events(p);
		if (err >= 0)
			err = step(p);
		if (err >= 0)
			continue;
		if (err != -pte_eos)
			complain(p, err);
		if (p->iblock < p->nblock)
			continue;
		if (err == -pte_eos || resync(p) < 0)
			break;
	}
	return (long)k;
}

static void ipt_close(struct source *s)
{
	struct ipt *p = (struct ipt *)s;

	if (p->insn)
		pt_insn_free_decoder(p->insn);
	if (p->blk)
		pt_blk_free_decoder(p->blk);
	image_view_free(p->view);
	free(p->enable);
	free(p->bytes);
	free(p);
}

/* The whole stream in one piece; lost bytes would need segments: refused. */
static int load_bytes(struct ipt *p)
{
	const struct hwt_stream_info *info = hwt_stream_info(p->st);
	uint64_t position, lost;
	const uint8_t *bytes;
	size_t n;

	p->bytes = malloc(info->bytes + 1);
	if (!p->bytes)
		return -1;
	hwt_stream_rewind(p->st);
	while (hwt_stream_chunk(p->st, &bytes, &n, &position, &lost) > 0) {
		if (lost) {
			fprintf(stderr, "libipt: bytes are missing before %#" PRIx64 "\n",
				position);
			return -1;
		}
		if (p->n + n > info->bytes)
			return -1;
		if (!p->n)
			p->base = position;
		memcpy(p->bytes + p->n, bytes, n);
		p->n += n;
	}
	return 0;
}

static int add_enable(struct ipt *p, uint64_t offset, uint64_t time)
{
	struct enable *room = p->enable;

	if (!(p->nenable & (p->nenable - 1)))
		room = realloc(room, (2 * p->nenable + 1) * sizeof(*room));
	if (!room)
		return -1;
	p->enable = room;
	p->enable[p->nenable++] = (struct enable){offset, time};
	return 0;
}

static int find_enables(struct ipt *p, const struct pt_config *config)
{
	struct pt_packet_decoder *d = pt_pkt_alloc_decoder(config);
	struct pt_packet pkt;
	uint64_t off, time = 0;
	int err = d ? 0 : -1;

	while (!err && pt_pkt_sync_forward(d) >= 0) {
		while (!err && pt_pkt_get_offset(d, &off) >= 0 &&
		       pt_pkt_next(d, &pkt, sizeof(pkt)) > 0) {
			if (pkt.type == ppt_tsc)
				time = pkt.payload.tsc.tsc;
			else if (pkt.type == ppt_tip_pge)
				err = add_enable(p, off, time);
		}
	}
	if (d)
		pt_pkt_free_decoder(d);
	return err;
}

static int make_decoder(struct ipt *p, int blocks)
{
	struct pt_image *image = NULL;
	struct pt_config config;

	pt_config_init(&config);
	config.begin = p->bytes;
	config.end = p->bytes + p->n;
	if (find_enables(p, &config))
		return -1;
	/* Blocks of straight code only, so that they can be spelled out. */
	config.flags.variant.block.end_on_call = 1;
	config.flags.variant.block.end_on_jump = 1;
	if (blocks) {
		p->blk = pt_blk_alloc_decoder(&config);
		image = p->blk ? pt_blk_get_image(p->blk) : NULL;
	} else {
		p->insn = pt_insn_alloc_decoder(&config);
		image = p->insn ? pt_insn_get_image(p->insn) : NULL;
	}
	return image ? pt_image_set_callback(image, read_code, p) : -1;
}

struct source *source_ipt(struct hwt_stream *st, int blocks)
{
	struct ipt *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->s.name = blocks ? "libipt (blocks)" : "libipt";
	p->s.next = ipt_next;
	p->s.close = ipt_close;
	p->st = st;
	ZydisDecoderInit(&p->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (load_bytes(p) || make_decoder(p, blocks)) {
		ipt_close(&p->s);
		return NULL;
	}
	resync(p);
	return &p->s;
}
