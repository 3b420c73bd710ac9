/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The accelerator.  Most of a trace is TNT and TIP packets that go along blocks
 * that are known: this takes them from the bytes until anything else turns up
 * (another packet, a block to decode, an error, a full array), and leaves that
 * to pt_walk.c and pt_flow.c, at the very place.  It decides nothing that they
 * would not decide alike; bytes that come one by one never get here.
 */
#include "pt_run.h"

struct fast {
	struct trace_event *ev, *end;
	struct pt_block	*b;		/* pt_block_none: not looked up */
	struct pt_block	*prev;		/* b is its succ[way]; NULL: b is at ip */
	uint64_t	ip;
	uint64_t	flags;		/* for the next run */
	unsigned int	way;
	bool		stop;		/* the rest of the packet is not for here */
};

/* Follows a link that was not followed yet.  False: that is not for here. */
static inline bool fast_link(struct pt_decoder *d, struct fast *f)
{
	struct pt_block *b;
	int error;

	if (f->b->op > PT_OP_DEAD)
		return f->b->op != PT_OP_UNCHECKED;
	if (f->prev)
		b = pt_walk_follow(d, f->prev, f->way, &error);
	else
		b = pt_blocks_find(d->blocks, f->ip, d->mode);
	if (!b)
		return false;
	f->b = b;
	return b->op != PT_OP_UNCHECKED;
}

/*
 * Conditional branches in a row: nothing but the chain of blocks.  Uses up to n
 * bits of tnt; returns how many are left.
 */
static inline unsigned int fast_jccs(struct fast *f, const struct run_common *c,
				     uint64_t tnt, unsigned int n)
{
	struct trace_event *ev = f->ev, *const end = f->end;
	struct pt_block *b = f->b, *prev;
	uint64_t flags = f->flags;
	unsigned int way;

	do {
		way = tnt >> --n & 1;
		put(ev++, c, b, b->head[way] | flags, b->to[way]);
		flags = c->flags;
		prev = b;
		b = b->succ[way];
	} while (b->op == PT_OP_JCC && n && ev != end);
	*f = (struct fast){ev, end, b, prev, f->ip, flags, way, f->stop};
	return n;
}

/* Uses up to n bits of tnt; returns how many are left. */
static inline unsigned int fast_tnt(struct pt_decoder *d, struct fast *f,
				    const struct run_common *c, uint64_t tnt, unsigned int n)
{
	struct pt_block *b;

	while (n && f->ev != f->end) {
		b = f->b;
		if (b->op == PT_OP_JCC) {
			n = fast_jccs(f, c, tnt, n);
			continue;
		}
		switch (b->op) {
		case PT_OP_SEQ:
			f->way = 0;
			put(f->ev++, c, b, b->head[0] | f->flags, b->to[0]);
			break;
		case PT_OP_CALL:
			push(d, b);
			/* fall through */
		case PT_OP_JMP:
			f->way = 1;
			put(f->ev++, c, b, b->head[1] | f->flags, b->to[1]);
			break;
		case PT_OP_RET:
			if (unlikely(!(tnt >> (n - 1) & 1) || !d->stack_n))
				return n;
			n--;
			f->prev = pop(d);
			put(f->ev++, c, b, b->head[1] | f->flags, f->prev->to[0]);
			f->way = 0;
			f->flags = c->flags;
			f->b = f->prev->succ[0];
			continue;
		case PT_OP_IND:
			return n;
		default:
			if (!fast_link(d, f))
				return n;
			continue;
		}
		f->flags = c->flags;
		f->prev = b;
		f->b = b->succ[f->way];
	}
	return n;
}

/* Walks to the branch that goes to ip, and over it. */
static inline bool fast_tip(struct pt_decoder *d, struct fast *f,
			    const struct run_common *c, uint64_t ip)
{
	struct pt_block *b;

	while (f->ev != f->end) {
		b = f->b;
		switch (b->op) {
		case PT_OP_IND:
		case PT_OP_RET:
			put(f->ev++, c, b, b->head[1] | f->flags, ip);
			f->flags = c->flags;
			f->b = tip_target(d, b, ip);
			if (!f->b)
				f->b = &pt_block_none;
			f->prev = NULL;
			f->ip = ip;
			return true;
		case PT_OP_SEQ:
			f->way = 0;
			break;
		case PT_OP_CALL:
			push(d, b);
			/* fall through */
		case PT_OP_JMP:
			f->way = 1;
			break;
		case PT_OP_JCC:
			return false;
		default:
			if (!fast_link(d, f))
				return false;
			continue;
		}
		put(f->ev++, c, b, b->head[f->way] | f->flags, b->to[f->way]);
		f->flags = c->flags;
		f->prev = b;
		f->b = b->succ[f->way];
	}
	return false;
}

/* The TNT packet at p, of which eight bytes are there: its length, or 0. */
static inline unsigned int fast_tnt_packet(const uint8_t *p, uint64_t *tnt, unsigned int *n)
{
	uint64_t bits = p[0] >> 1;
	unsigned int i, length = 1;

	if (p[0] == PT_PKT_EXT) {
		if (p[1] != PT_EXT_LONG_TNT)
			return 0;
		for (bits = 0, i = 7; i > 1; i--)
			bits = bits << 8 | p[i];
		length = 8;
	}
	if (bits < 2)
		return 0;
	*n = 63 - __builtin_clzll(bits);
	*tnt = bits ^ 1ull << *n;
	return length;
}

/* Time changed, or a CYC goes before the next packet: other runs from here. */
static inline void fast_common(struct pt_decoder *d, struct fast *f, struct run_common *c)
{
	d->entry = d->entry && f->ev == d->ev;
	*c = common(d);
	f->flags = c->first;
}

/* MTC and CYC: what pt_flow.c does with them while tracing is on. */
static unsigned int fast_time(struct pt_decoder *d, const uint8_t *p)
{
	struct pt_packet pkt;
	int length = pt_packet_decode(p, PT_FAST_BYTES, &d->packets, &pkt);

	if (length <= 0)
		return 0;
	if (pkt.type == PT_MTC) {
		pt_time_mtc(&d->time, pkt.payload);
	} else {
		pt_time_cyc(&d->time, pkt.payload, true);
		d->cyc = true;
	}
	return length;
}

/* A flow packet is certain: the CYC before it, if any, is that of its first run. */
static inline void fast_begin(struct pt_decoder *d, struct fast *f, struct run_common *c,
			      uint64_t offset)
{
	if (unlikely(d->cyc | d->fresh_cyc)) {
		d->fresh_cyc = d->cyc;
		d->cyc = false;
		fast_common(d, f, c);
	}
	c->offset = offset;
	d->at = offset;
	d->after_cr3 = false;
}

static inline unsigned int fast_flow_tnt(struct pt_decoder *d, struct fast *f,
					 struct run_common *c, const uint8_t *p)
{
	unsigned int length, n;
	uint64_t tnt;

	length = fast_tnt_packet(p, &tnt, &n);
	if (!length)
		return 0;
	fast_begin(d, f, c, d->offset + (p - d->p));
	n = fast_tnt(d, f, c, tnt, n);
	d->tnt = tnt;
	d->tnt_n = n;
	f->stop = n;
	return length;
}

static inline unsigned int fast_flow_tip(struct pt_decoder *d, struct fast *f,
					 struct run_common *c, const uint8_t *p)
{
	struct pt_packet pkt;
	int length = pt_packet_decode(p, PT_FAST_BYTES, &d->packets, &pkt);

	if (!pkt.ip_bytes)
		return 0;
	fast_begin(d, f, c, d->offset + (p - d->p));
	if (unlikely(!fast_tip(d, f, c, pkt.payload))) {
		d->tip = pkt.payload;
		pt_walk_start(d, PT_WALK_TIP, 0, pt_flow_then_tip);
		f->stop = true;
	}
	return length;
}

/* One packet at p: its length, or 0 if it is not for here. */
static inline unsigned int fast_packet(struct pt_decoder *d, struct fast *f,
				       struct run_common *c, const uint8_t *p)
{
	unsigned int length;

	if (!(p[0] & 1)) {
		length = fast_flow_tnt(d, f, c, p);
	} else if ((p[0] & PT_PKT_IP_MASK) == PT_PKT_TIP) {
		length = fast_flow_tip(d, f, c, p);
	} else if ((p[0] & 3) == PT_PKT_CYC || p[0] == PT_PKT_MTC) {
		length = fast_time(d, p);
		fast_common(d, f, c);
		return length;
	} else {
		return 0;
	}
	/* If all of it went well, its first run has told of the CYC. */
	if (length && !f->stop)
		d->fresh_cyc = false;
	return length;
}

bool pt_walk_fast(struct pt_decoder *d)
{
	struct fast f = {.ev = d->ev, .end = d->ev_end, 
			 .b = d->cur ? d->cur : &pt_block_none, .ip = d->cur_ip};
	const uint8_t *p = d->p, *const last = d->end - PT_FAST_BYTES;
	struct run_common c;
	bool fresh, entry;
	unsigned int length;

	fast_common(d, &f, &c);
	while (p <= last && f.ev != f.end && !f.stop) {
		length = fast_packet(d, &f, &c, p);
		if (!length)
			break;
		p += length;
	}
	/* What the next run still has to say, wherever it is made. */
	fresh = d->fresh_cyc && (!f.stop || f.flags != c.flags);
	entry = d->entry && f.ev == d->ev;
	pt_walk_leave(d, f.ev, f.b, f.prev ? f.prev->to[f.way] : f.ip);
	d->fresh_cyc = fresh;
	d->entry = entry;
	if (p == d->p)
		return false;
	d->offset += p - d->p;
	d->p = p;
	return true;
}
