/* SPDX-License-Identifier: BSD-2-Clause */
/* The pull parser: bytes in, events out, whatever pieces they come in. */
#include <stdlib.h>
#include <string.h>

#include "pt_priv.h"

#define DEFAULT_MAX_WALK	(1u << 20)

struct pt_decoder *pt_decoder_new(const struct pt_decoder_config *config)
{
	struct pt_time_config time = {
		.ratio_den = config->tsc_ratio_den,
		.ratio_num = config->tsc_ratio_num,
		.mtc_freq = config->mtc_freq,
		.nominal_ratio = config->nominal_ratio,
	};
	struct pt_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->config = *config;
	if (!d->config.max_walk)
		d->config.max_walk = DEFAULT_MAX_WALK;
	if (d->config.nranges > PT_MAX_RANGES)
		d->config.nranges = PT_MAX_RANGES;
	d->blocks = pt_blocks_new(config->code, config->code_ctx, config->no_compression);
	if (!d->blocks) {
		free(d);
		return NULL;
	}
	pt_walk_init(d);
	pt_time_init(&d->time, &time);
	d->offset = config->offset;
	d->mode = 64;
	d->hungry = true;
	d->feed = d->feed_end = d->carry;
	d->p = d->end = d->carry;
	d->in_carry = true;
	pt_flow_reset(d);
	return d;
}

void pt_decoder_free(struct pt_decoder *d)
{
	if (!d)
		return;
	pt_blocks_free(d->blocks);
	free(d);
}

void pt_decoder_invalidate(struct pt_decoder *d, uint64_t addr, uint64_t len)
{
	pt_blocks_invalidate(d->blocks, addr, len);
}

void pt_decoder_set_ranges(struct pt_decoder *d, const struct pt_decoder_range *range,
			   uint32_t n)
{
	if (n > PT_MAX_RANGES)
		n = PT_MAX_RANGES;
	d->config.nranges = n;
	memcpy(d->config.ranges, range, n * sizeof(*range));
}

uint32_t pt_decoder_nblocks(const struct pt_decoder *d)
{
	return pt_blocks_count(d->blocks);
}

/* --- output ------------------------------------------------------------------ */

struct trace_event *pt_emit(struct pt_decoder *d, enum trace_event_type type)
{
	struct trace_event *ev = &d->queue[(d->queue_head + d->queue_n) % PT_QUEUE];

	/* One packet makes far fewer; the queue is empty before each. */
	if (d->queue_n < PT_QUEUE)
		d->queue_n++;
	memset(ev, 0, sizeof(*ev));
	ev->type = type;
	ev->flags = d->time.known ? TRACE_F_TIME : 0;
	ev->offset = d->at;
	ev->time = d->time.time;
	ev->cycles = d->time.cycles;
	return ev;
}

static void flush(struct pt_decoder *d)
{
	for (; d->queue_n && d->ev != d->ev_end; d->queue_n--)
		*d->ev++ = d->queue[d->queue_head++ % PT_QUEUE];
	if (!d->queue_n)
		d->queue_head = 0;
}

/* --- input ------------------------------------------------------------------- */

int pt_decoder_feed(struct pt_decoder *d, const uint8_t *bytes, size_t n)
{
	if (!d->hungry || d->finished)
		return -EBUSY;
	d->feed = bytes;
	d->feed_end = bytes + n;
	d->carry_taken = 0;
	d->hungry = false;
	return 0;
}

void pt_decoder_finish(struct pt_decoder *d)
{
	d->finished = true;
}

void pt_decoder_lost(struct pt_decoder *d, uint64_t n)
{
	struct trace_event *ev;
	uint64_t left = d->end - d->p;

	d->at = d->offset;
	pt_flow_close_gap(d);
	if (d->state == PT_STATE_SYNC && !d->in_psb) {
		d->offset += left;
		pt_flow_end_skip(d);
		d->offset -= left;
	}
	ev = pt_emit(d, TRACE_GAP);
	ev->error = TRACE_GAP_LOST;
	ev->value = n;
	ev->ip = d->state == PT_STATE_ON ? d->cur_ip : 0;
	d->offset += left + n;
	d->p = d->end = d->carry;
	d->in_carry = true;
	pt_flow_reset(d);
}

/* Once the packet that was cut is decoded, go on in the feed itself. */
static void leave_carry(struct pt_decoder *d)
{
	size_t left = d->end - d->p;

	if (!d->in_carry || !d->carry_taken || left > d->carry_taken)
		return;
	d->p = d->feed - left;
	d->end = d->feed_end;
	d->feed = d->feed_end;
	d->in_carry = false;
	d->carry_taken = 0;
}

/*
 * p..end is too short.  Its bytes go to carry, and as many of the feed as fit
 * behind them.  False: nothing was left in the feed.
 */
static bool more_input(struct pt_decoder *d)
{
	size_t left = d->end - d->p;
	size_t fresh = d->feed_end - d->feed;

	if (!left && fresh) {
		d->p = d->feed;
		d->end = d->feed = d->feed_end;
		d->in_carry = false;
		return true;
	}
	if (fresh > PT_CARRY - left)
		fresh = PT_CARRY - left;
	if (left)
		memmove(d->carry, d->p, left);
	if (fresh)
		memcpy(d->carry + left, d->feed, fresh);
	d->feed += fresh;
	if (!d->in_carry)
		d->carry_taken = 0;
	d->carry_taken += fresh;
	d->p = d->carry;
	d->end = d->carry + left + fresh;
	d->in_carry = true;
	return fresh != 0;
}

static void skip(struct pt_decoder *d, size_t n)
{
	size_t i;

	for (i = 0; i < n && !d->skip_nonzero; i++)
		d->skip_nonzero = d->p[i] != PT_PKT_PAD;
	d->p += n;
	d->offset += n;
	leave_carry(d);
}

/* Looks for a PSB; false: not in what there is. */
static bool find_sync(struct pt_decoder *d)
{
	size_t n = d->end - d->p, at;

	while ((at = pt_packet_find_psb(d->p, n)) == n) {
		skip(d, n < PT_PSB_LENGTH ? 0 : n - (PT_PSB_LENGTH - 1));
		/* Behind the carry there is the rest of the feed to look through. */
		n = d->end - d->p;
		if (n < PT_PSB_LENGTH)
			return false;
	}
	skip(d, at);
	pt_flow_end_skip(d);
	return true;
}

/* The stream is over: tells what is left. */
static void end_stream(struct pt_decoder *d)
{
	size_t left = d->end - d->p;
	bool searching = d->state == PT_STATE_SYNC && !d->in_psb;

	d->over = true;
	d->at = d->offset;
	pt_flow_close_gap(d);
	if (searching) {
		skip(d, left);
		pt_flow_end_skip(d);
		return;
	}
	if (d->in_psb)
		d->at = d->psb_at;
	if (!left && !d->in_psb && !d->tnt_n && !d->async_sure)
		return;
	/* A packet, a PSB+ or a compound of packets is cut. */
	pt_emit(d, TRACE_ERROR)->error = TRACE_ERR_TRUNCATED;
	d->queue[(d->queue_head + d->queue_n - 1) % PT_QUEUE].ip =
		d->state == PT_STATE_ON ? d->cur_ip : 0;
	d->offset += left;
	d->p = d->end;
}

static bool starve(struct pt_decoder *d)
{
	if (more_input(d))
		return true;
	d->hungry = true;
	if (!d->finished || d->over)
		return false;
	end_stream(d);
	return true;
}

/* One packet, or a search; false: more bytes are needed. */
static bool step(struct pt_decoder *d)
{
	struct pt_packet pkt;
	int n;

	if (d->state == PT_STATE_SYNC && !d->in_psb && !find_sync(d))
		return starve(d);
	n = pt_packet_decode(d->p, d->end - d->p, &d->packets, &pkt);
	if (!n)
		return starve(d);
	d->at = d->offset;
	d->p += pkt.length;
	d->offset += pkt.length;
	leave_carry(d);
	if (n < 0)
		pt_flow_error(d, TRACE_ERR_PACKET, d->state == PT_STATE_ON ? d->cur_ip : 0);
	else
		pt_flow_packet(d, &pkt);
	return true;
}

/* Only plain flow, and whole packets in the feed itself. */
static bool may_go_fast(const struct pt_decoder *d)
{
	return d->state == PT_STATE_ON && d->end - d->p >= PT_FAST_BYTES && !d->in_carry &&
	       !d->in_psb && !d->async && !d->tnt_n && !d->bind && !d->bound_n &&
	       !d->mode_next && !d->packets.in_block;
}

int pt_decoder_next(struct pt_decoder *d, struct trace_event *ev, int max)
{
	d->ev = ev;
	d->ev_end = ev + (max > 0 ? max : 0);
	for (;;) {
		flush(d);
		if (d->ev == d->ev_end)
			break;
		if (d->fault)
			break;
		if (d->walk.kind)
			pt_walk_on(d);
		else if (d->tnt_n && !d->tnt_wait)
			pt_walk_tnt(d);
		else if (may_go_fast(d) && pt_walk_fast(d))
			continue;
		else if (!step(d) && !d->queue_n)
			break;
	}
	if (d->fault && d->ev == ev)
		return d->fault;
	return d->ev - ev;
}
