/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes to OpenCSD: one decode tree a source, so that a damaged one ends no other. */
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
	ocsd_err_t err;

	d->tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
	if (d->tree == C_API_INVALID_TREE_HANDLE)
		return -ENOMEM;
	if (etm_create(d->tree, &d->config.source, OCSD_CREATE_FLG_FULL_DECODER, &id))
		return -EINVAL;
	if (ocsd_dt_set_gen_elem_outfn(d->tree, etm_element, d) != OCSD_OK)
		return -EINVAL;
	err = ocsd_dt_attach_packet_callback(d->tree, id, OCSD_C_API_CB_PKT_MON,
					     etm_monitor, d);
	/* OpenCSD 1.3 has none for ETE: sync points and skipped bytes are not told. */
	if (err != OCSD_OK && !d->config.source.ete)
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

static const struct {
	ocsd_err_t err;
	enum trace_gap gap;
} errors[] = {
	{OCSD_ERR_BAD_PACKET_SEQ, TRACE_ERR_PACKET},
	{OCSD_ERR_INVALID_PCKT_HDR, TRACE_ERR_PACKET},
	{OCSD_ERR_BAD_DECODE_PKT, TRACE_ERR_PACKET},
	{OCSD_ERR_UNSUPP_DECODE_PKT, TRACE_ERR_PACKET},
	{OCSD_ERR_RET_STACK_OVERFLOW, TRACE_ERR_RETURN},
	{OCSD_ERR_COMMIT_PKT_OVERRUN, TRACE_ERR_UNEXPECTED},
	{OCSD_ERR_UNSUPPORTED_ISA, TRACE_ERR_MODE},
	{OCSD_ERR_MEM, TRACE_ERR_OTHER},
};

static enum trace_gap last_error(void)
{
	ocsd_trc_index_t index;
	uint8_t channel;
	char text[512];
	ocsd_err_t err = ocsd_get_last_err(&index, &channel, text, sizeof(text));
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].err == err)
			return errors[i].gap;
	return TRACE_ERR_OTHER;
}

static void reset(struct etm_decoder *d)
{
	uint32_t used;

	ocsd_dt_process_data(d->tree, OCSD_OP_RESET, 0, 0, NULL, &used);
	d->synced = false;
	d->cid_known = false;
	etm_stack_empty(d);
	d->stale = false;
	d->informed = d->addressed = d->address_newest = false;
	d->bad = false;
}

/*
 * At a packet's header, what OpenCSD must not see.  An exception before the first
 * address: it would walk from an address that it never set.  One where it would
 * take a target from its empty return stack: behind ERET there is none; others are
 * damage.  A misprediction behind an address.
 */
static enum trace_gap guard(const struct etm_decoder *d, uint8_t header)
{
	if (!d->at_header)
		return TRACE_GAP_NONE;
	if (d->address_newest && header > ETM4_CANCEL_F1 && header < ETM4_CONDITIONAL)
		return TRACE_ERR_UNEXPECTED;
	if (header != ETM4_EXCEPTION)
		return TRACE_GAP_NONE;
	if (d->synced && !d->addressed)
		return TRACE_ERR_UNEXPECTED;
	if (!etm_pops(d))
		return TRACE_GAP_NONE;
	if (d->unsure && !d->sure)
		return TRACE_GAP_NO_CODE;
	return !d->stack || d->eret_pending ? TRACE_ERR_RETURN : TRACE_GAP_NONE;
}

/* Gives up what was decoded so far, at `offset`; goes on at the next A-sync. */
static void give_up(struct etm_decoder *d, enum trace_gap why, uint64_t offset)
{
	if (why == TRACE_GAP_NO_CODE)
		etm_return_lost(d, offset);
	else
		etm_error(d, why, offset);
	reset(d);
}

/*
 * n bytes of the source, which are at `offset` in what was fed.  One by one, so that
 * each header is seen before OpenCSD takes it; what it does with one costs far more.
 */
static void process(struct etm_decoder *d, uint64_t offset, const uint8_t *bytes, size_t n)
{
	ocsd_datapath_resp_t resp;
	enum trace_gap why;
	uint32_t used, none;

	while (n && !d->nomem) {
		why = guard(d, *bytes);
		if (why != TRACE_GAP_NONE)
			give_up(d, why, offset);
		d->at_header = false;
		used = 0;
		resp = ocsd_dt_process_data(d->tree, OCSD_OP_DATA, offset, 1, bytes, &used);
		if (used > 1)
			used = 1;
		/* Elements were held up behind an indirect branch: the packet's others. */
		while (OCSD_DATA_RESP_IS_WAIT(resp) && !d->stale)
			resp = ocsd_dt_process_data(d->tree, OCSD_OP_FLUSH, 0, 0, NULL,
						    &none);
		if (d->stale)
			give_up(d, TRACE_GAP_NO_CODE, d->stale_at);
		if (d->bad && !OCSD_DATA_RESP_IS_FATAL(resp))
			give_up(d, TRACE_ERR_PACKET, d->bad_at);
		if (OCSD_DATA_RESP_IS_FATAL(resp)) {
			if (d->nomem)
				return;
			give_up(d, last_error(), offset + used);
			/* It may have failed at the first byte. */
			used += !used;
		}
		offset += used;
		bytes += used;
		n -= used;
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
	etm_skipped_out(d);
	etm_flow_end(d);
	if (d->held_gap) {
		d->held_gap = false;
		d->gap.value = (d->config.formatted ? d->frames.offset : d->offset) -
			       d->gap.offset;
		etm_push(d, &d->gap);
	}
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

	etm_flow_end(d);
	etm_push(d, &ev);
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

uint32_t etm_decoder_nblocks(const struct etm_decoder *d)
{
	return d->blocks.n;
}
