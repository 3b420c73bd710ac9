/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes in, events out: one decode tree a source, so that a damaged one ends no other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "etm_priv.h"

/*
 * The last address that it may ask for: its cache takes sums behind the very last one,
 * and copies from there.  No system has code so far up.
 */
#define CODE_END	(~0ull - 0x10000)
#define CHUNK		256u		/* bytes; an atom byte may be 24 runs */
#define WALK_DEFAULT	(4ull << 20)
/*
 * Where OpenCSD 1.3 resets itself at an error it goes on with what it freed: it ends
 * there instead, and is reset by reset().
 */
#define DECODES		(OCSD_CREATE_FLG_FULL_DECODER | OCSD_OPFLG_PKTDEC_COMMON)

/*
 * OpenCSD asks for code that it has not asked for before; bounded, so that a
 * damaged address does not lead it through all of memory.
 */
static uint32_t read_code(const void *ctx, const ocsd_vaddr_t ip,
			  const ocsd_mem_space_acc_t space, const uint32_t n,
			  uint8_t *buf)
{
	struct etm_decoder *d = (struct etm_decoder *)ctx;

	if (d->walked > d->config.max_walk)
		return 0;
	d->walked += n;
	return d->config.code(d->config.code_ctx, ip, buf, n);
}

static int attach_code(struct etm_decoder *d)
{
	ocsd_err_t err = ocsd_dt_add_callback_mem_acc(d->tree, 0, CODE_END,
						      OCSD_MEM_SPACE_ANY, read_code, d);

	return err == OCSD_OK ? 0 : -ENOMEM;
}

static int open_tree(struct etm_decoder *d)
{
	unsigned char id = 0;

	d->tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
	if (d->tree == C_API_INVALID_TREE_HANDLE)
		return -ENOMEM;
	if (etm_create(d->tree, &d->config.source, DECODES, &id))
		return -EINVAL;
	if (ocsd_dt_set_gen_elem_outfn(d->tree, etm_element, d) != OCSD_OK)
		return -EINVAL;
	return attach_code(d);
}

struct etm_decoder *etm_decoder_new(const struct etm_decoder_config *config)
{
	struct etm_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->config = *config;
	if (!d->config.max_walk)
		d->config.max_walk = WALK_DEFAULT;
	d->offset = config->offset;
	etm_frames_init(&d->frames, config->offset);
	if (config->first_id)
		d->frames.id = config->first_id;
	etm_scan_init(&d->scan, &config->source);
	etm_spec_init(&d->spec, &config->source);
	if (open_tree(d)) {
		etm_decoder_free(d);
		return NULL;
	}
	return d;
}

void etm_decoder_free(struct etm_decoder *d)
{
	if (!d)
		return;
	if (d->tree)
		ocsd_destroy_dcd_tree(d->tree);
	etm_blocks_free(&d->blocks);
	etm_spec_free(&d->spec);
	free(d->queue);
	free(d);
}

int etm_decoder_feed(struct etm_decoder *d, const uint8_t *bytes, size_t n)
{
	if (d->nbytes)
		return -EBUSY;
	d->bytes = bytes;
	d->nbytes = n;
	return 0;
}

static void reset(struct etm_decoder *d)
{
	uint32_t used;

	ocsd_dt_process_data(d->tree, OCSD_OP_RESET, 0, 0, NULL, &used);
	d->state = ETM_WAITS_ASYNC;
	d->cid_known = false;
	d->addressed = d->contexted = false;
	d->lost = d->astray = false;
	d->waiting = 0;
	etm_stack_empty(d);
	etm_spec_reset(&d->spec);
}

void etm_give_up(struct etm_decoder *d, enum trace_gap why, uint64_t offset)
{
	etm_error(d, why, offset);
	reset(d);
}

static void packet(struct etm_decoder *d, const struct etm_piece *p)
{
	etm_now(d, p);
	switch (p->kind) {
	case ETM_NONE:
		return;
	case ETM_BAD:
		etm_give_up(d, TRACE_ERR_PACKET, p->offset);
		return;
	case ETM_ASYNC:
		etm_synced(d, p->offset);
		if (d->state == ETM_WAITS_ASYNC)
			d->state = ETM_WAITS_INFO;
		etm_feed(d, p);
		return;
	}
	if (d->state == ETM_WAITS_ASYNC)
		return;
	if (d->state == ETM_DECODES || p->kind == ETM_TRACE_INFO)
		etm_spec_packet(d, p);
	else if (p->kind == ETM_TIMESTAMP)	/* an ETE's events may come before */
		etm_feed(d, p);
}

/* Most packets are atoms that nothing keeps from being fed. */
static bool plain_atoms(const struct etm_decoder *d, uint8_t header)
{
	return header >= ETM4_ATOMS && d->state == ETM_DECODES && !d->spec.depth &&
	       !d->spec.open && !d->unsure && !d->scan.n;
}

/* n bytes of the source, which are at `offset` in what was fed. */
static void process(struct etm_decoder *d, uint64_t offset, const uint8_t *bytes, size_t n)
{
	struct etm_piece p = {0};
	size_t used;

	for (; n && !d->nomem; bytes += used, offset += used, n -= used) {
		if (plain_atoms(d, *bytes)) {
			p = (struct etm_piece){offset, bytes, 1, ETM_ATOMS, d->taken++};
			used = 1;
			etm_feed(d, &p);
			continue;
		}
		used = etm_scan(&d->scan, offset, bytes, n, &p);
		d->taken += used;
		p.before = d->taken - p.n;
		packet(d, &p);
	}
}

/* Some of what was fed. */
static void step(struct etm_decoder *d)
{
	uint8_t id = d->config.source.traceidr & TRCTRACEIDR_MASK;
	size_t n = d->nbytes < CHUNK ? d->nbytes : CHUNK, got, i;
	struct etm_segment seg[ETM_FRAME_SEGMENTS];
	const uint8_t *bytes = d->bytes;

	if (d->config.formatted) {
		got = etm_frames_take(&d->frames, id, bytes, &n, seg);
		d->bytes += n;
		d->nbytes -= n;
		for (i = 0; i < got; i++)
			process(d, seg[i].offset, seg[i].bytes, seg[i].n);
		return;
	}
	d->bytes += n;
	d->nbytes -= n;
	d->offset += n;
	process(d, d->offset - n, bytes, n);
}

static void end(struct etm_decoder *d)
{
	uint32_t used;

	d->ended = true;
	if (OCSD_DATA_RESP_IS_FATAL(ocsd_dt_process_data(d->tree, OCSD_OP_EOT, 0, 0, NULL,
							 &used)))
		etm_error(d, TRACE_ERR_TRUNCATED, d->offset);
	etm_scan_end(&d->scan);
	etm_skipped_out(d);
	etm_flow_end(d);
	etm_last_gap_out(d);
}

int etm_decoder_next(struct etm_decoder *d, struct trace_event *ev, int max)
{
	uint32_t n;

	if (d->head == d->n)
		d->head = d->n = 0;
	while (d->head == d->n && !d->nomem) {
		if (d->nbytes)
			step(d);
		else if (d->finishing && !d->ended)
			end(d);
		else
			break;
	}
	if (d->nomem)
		return -ENOMEM;
	n = d->n - d->head < (uint32_t)max ? d->n - d->head : (uint32_t)max;
	if (!n)
		return 0;
	memcpy(ev, d->queue + d->head, n * sizeof(*ev));
	d->head += n;
	return n;
}

void etm_decoder_finish(struct etm_decoder *d)
{
	d->finishing = true;
}

void etm_decoder_lost(struct etm_decoder *d, uint64_t n)
{
	uint64_t at = d->config.formatted ? d->frames.offset + d->frames.fill : d->offset;
	const struct trace_event ev = {
		.type = TRACE_GAP, .error = TRACE_GAP_LOST, .value = n, .offset = at};

	etm_scan_end(&d->scan);
	etm_skipped_out(d);
	etm_flow_end(d);
	etm_push(d, &ev);
	etm_scan_lost(&d->scan);
	reset(d);
	etm_frames_reset(&d->frames, at + n);
	d->offset = at + n;
}

void etm_decoder_invalidate(struct etm_decoder *d, uint64_t addr, uint64_t len)
{
	etm_blocks_drop(&d->blocks, addr, len);
	/* OpenCSD keeps code that it read with the accessor. */
	ocsd_dt_remove_mem_acc(d->tree, 0, OCSD_MEM_SPACE_ANY);
	if (attach_code(d))
		d->nomem = true;
}

uint64_t etm_decoder_taken(const struct etm_decoder *d)
{
	return d->taken;
}

uint32_t etm_decoder_nblocks(const struct etm_decoder *d)
{
	return d->blocks.n;
}
