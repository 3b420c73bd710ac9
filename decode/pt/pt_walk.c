/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks over blocks: from the packets' bits and addresses to runs.
 *
 * pt_walk_tnt and walk_tip are the fast paths: they emit as they go.  That is
 * safe since a block that needs no packet is emitted only when a look ahead
 * has shown that the way from it is no loop.  The other walks look first
 * whether they get where they must, and emit then.
 */
#include <errno.h>
#include <string.h>

#include "pt_priv.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/* What is the same in all runs that one packet settles. */
struct run_common {
	uint64_t first, flags;		/* to be ored into heads: first run, others */
	uint64_t offset, time, cycles;
};

static inline uint64_t flag_word(const struct pt_decoder *d, uint8_t flags)
{
	return d->flag_words[flags / TRACE_F_ENTRY];
}

static inline struct run_common common(const struct pt_decoder *d)
{
	uint8_t flags = d->time.known ? TRACE_F_TIME : 0;
	uint8_t first = flags;
	struct run_common c;

	if (d->entry)
		first |= TRACE_F_ENTRY;
	if (d->fresh_cyc)
		first |= TRACE_F_CYCLES;
	c.flags = flag_word(d, flags);
	c.first = flag_word(d, first);
	c.offset = d->at;
	c.time = d->time.time;
	c.cycles = d->time.cycles;
	return c;
}

void pt_walk_init(struct pt_decoder *d)
{
	unsigned int i;

	for (i = 0; i < PT_FLAG_WORDS; i++)
		d->flag_words[i] = pt_block_head(0, i * TRACE_F_ENTRY) ^ pt_block_head(0, 0);
}

static inline void put(struct trace_event *ev, const struct run_common *c,
		       const struct pt_block *b, uint64_t head, uint64_t to)
{
	memcpy(ev, &head, sizeof(head));
	ev->ip = b->ip;
	ev->block = &b->b;
	ev->to = to;
	ev->offset = c->offset;
	ev->time = c->time;
	ev->cycles = c->cycles;
}

static inline void push(struct pt_decoder *d, struct pt_block *call)
{
	d->stack[d->stack_top++ % PT_RET_STACK] = call;
	if (d->stack_n < PT_RET_STACK)
		d->stack_n++;
}

static inline struct pt_block *pop(struct pt_decoder *d)
{
	d->stack_n--;
	return d->stack[--d->stack_top % PT_RET_STACK];
}

void pt_stack_clear(struct pt_decoder *d)
{
	d->stack_n = 0;
}

/* The block that follows b (way 0: in memory, 1: its target), or NULL. */
static struct pt_block *follow(struct pt_decoder *d, struct pt_block *b, int way, int *error)
{
	struct pt_block *next = b->succ[way];

	if (next->op > PT_OP_DEAD)
		return next;
	next = pt_blocks_get(d->blocks, b->to[way], b->mode, error);
	if (next)
		b->succ[way] = next;
	return next;
}

/* The block at the current address, or NULL. */
static struct pt_block *here(struct pt_decoder *d, int *error)
{
	if (!d->cur || d->cur->op == PT_OP_DEAD)
		d->cur = pt_blocks_get(d->blocks, d->cur_ip, d->mode, error);
	return d->cur;
}

static bool needs_no_packet(const struct pt_block *b)
{
	return b->checked == PT_OP_SEQ || b->checked == PT_OP_JMP ||
	       b->checked == PT_OP_CALL;
}

static int only_way(const struct pt_block *b)
{
	return b->checked != PT_OP_SEQ;
}

/*
 * Looks along the blocks from b that need no packet.  Fine when they end, be
 * it where there is no code: 0.  The way is determined, so a block met twice
 * is a loop (Brent's way to see it); TRACE_ERR_LOOP.
 */
static int check_chain(struct pt_decoder *d, struct pt_block *b)
{
	struct pt_block *x = b, *mark = b, *next;
	uint64_t insns = 0, steps = 0, power = 1;
	int error = 0;

	while (x->op == PT_OP_UNCHECKED) {
		insns += x->b.ninsn;
		next = follow(d, x, only_way(x), &error);
		if (!next && error == -ENOMEM)
			return error;
		if (!next)
			break;
		x = next;
		if (x == mark || insns > d->config.max_walk)
			return TRACE_ERR_LOOP;
		if (++steps == power) {
			power *= 2;
			steps = 0;
			mark = x;
		}
	}
	for (x = b; x->op == PT_OP_UNCHECKED; x = x->succ[only_way(x)])
		x->op = x->checked;
	return 0;
}

/* A bit at a RET: 0 if it may return to the top of the stack. */
static int check_return(const struct pt_decoder *d, uint64_t bit)
{
	if (likely(bit && d->stack_n))
		return 0;
	return bit && d->gap_calls ? PT_STUCK_CALL : TRACE_ERR_RETURN;
}

/*
 * A return that cannot be followed.  If only its call is unknown it was
 * executed; if its bit is wrong nothing is said of it, only of what is before.
 */
static int put_lost_return(struct trace_event *ev, const struct run_common *c,
			   const struct pt_block *b, uint64_t flags, int error)
{
	if (error == PT_STUCK_CALL)
		put(ev, c, b, b->head[1] | flags, 0);
	else if (b->b.ninsn > 1)
		put(ev, c, b, pt_block_head(b->b.ninsn - 1, 0) | flags, b->b.last);
	else
		return 0;
	return 1;
}

/* A walk pauses or is over: ev is the next free event, ip where flow stands. */
static void leave(struct pt_decoder *d, struct trace_event *ev, struct pt_block *b,
		  uint64_t ip)
{
	if (ev != d->ev)
		d->entry = d->fresh_cyc = false;
	d->ev = ev;
	d->cur = b && b->op > PT_OP_DEAD ? b : NULL;
	d->cur_ip = ip;
}

void pt_walk_tnt(struct pt_decoder *d)
{
	struct run_common c = common(d);
	struct trace_event *ev = d->ev, *const end = d->ev_end;
	struct pt_block *b, *prev = NULL;
	uint64_t tnt = d->tnt, flags = c.first, bit;
	unsigned int n = d->tnt_n;
	int way = 0, error = 0;

	b = here(d, &error);
	if (!b) {
		pt_flow_stuck(d, error, d->cur_ip);
		return;
	}
	while (n && ev != end) {
		switch (b->op) {
		case PT_OP_JCC:
			way = tnt >> --n & 1;
			put(ev++, &c, b, b->head[way] | flags, b->to[way]);
			break;
		case PT_OP_SEQ:
			way = 0;
			put(ev++, &c, b, b->head[0] | flags, b->to[0]);
			break;
		case PT_OP_CALL:
			push(d, b);
			/* fall through */
		case PT_OP_JMP:
			way = 1;
			put(ev++, &c, b, b->head[1] | flags, b->to[1]);
			break;
		case PT_OP_RET:
			bit = tnt >> --n & 1;
			error = check_return(d, bit);
			if (unlikely(error)) {
				ev += put_lost_return(ev, &c, b, flags, error);
				goto stuck;
			}
			prev = pop(d);
			put(ev++, &c, b, b->head[1] | flags, prev->to[0]);
			flags = c.flags;
			way = 0;
			b = prev->succ[0];
			continue;
		case PT_OP_IND:
			d->tnt_wait = true;
			d->stuck_ip = b->b.last;
			goto out;
		case PT_OP_UNCHECKED:
			error = check_chain(d, b);
			if (unlikely(error))
				goto stuck;
			continue;
		default:
			b = follow(d, prev, way, &error);
			if (unlikely(!b))
				goto stuck;
			continue;
		}
		flags = c.flags;
		prev = b;
		b = b->succ[way];
	}
out:
	leave(d, ev, b, prev ? prev->to[way] : d->cur_ip);
	d->tnt_n = n;
	return;
stuck:
	leave(d, ev, b, prev ? prev->to[way] : d->cur_ip);
	d->tnt_n = 0;
	pt_flow_stuck(d, error, error == TRACE_ERR_RETURN || error == PT_STUCK_CALL ?
					b->b.last : d->cur_ip);
}

/* b ended in a branch that went to ip: the block there, or NULL: not looked up. */
static inline struct pt_block *tip_target(struct pt_decoder *d, struct pt_block *b,
					  uint64_t ip)
{
	if (b->b.kind == BLOCK_CALL_IND)
		push(d, b);
	if (unlikely(b->ind_ip != ip || b->ind->op <= PT_OP_DEAD)) {
		b->ind_ip = ip;
		b->ind = pt_blocks_find(d->blocks, ip, d->mode);
		if (!b->ind)
			b->ind = &pt_block_none;
	}
	return b->ind->op > PT_OP_DEAD && b->ind->mode == d->mode ? b->ind : NULL;
}

static void end_walk(struct pt_decoder *d, int error)
{
	void (*then)(struct pt_decoder *, int) = d->walk.then;

	d->walk.kind = PT_WALK_NONE;
	then(d, error);
}

static void walk_tip(struct pt_decoder *d)
{
	struct run_common c = common(d);
	struct trace_event *ev = d->ev, *const end = d->ev_end;
	struct pt_block *b, *prev = NULL;
	uint64_t flags = c.first;
	int way = 0, error = 0;

	b = here(d, &error);
	if (!b) {
		end_walk(d, error);
		return;
	}
	while (ev != end) {
		switch (b->op) {
		case PT_OP_IND:
		case PT_OP_RET:
			put(ev++, &c, b, b->head[1] | flags, d->tip);
			leave(d, ev, tip_target(d, b, d->tip), d->tip);
			end_walk(d, 0);
			return;
		case PT_OP_JCC:
			error = TRACE_ERR_UNEXPECTED;
			d->stuck_ip = b->b.last;
			break;
		case PT_OP_UNCHECKED:
			error = check_chain(d, b);
			break;
		case PT_OP_NONE:
		case PT_OP_DEAD:
			b = follow(d, prev, way, &error);
			break;
		default:
			way = only_way(b);
			if (b->op == PT_OP_CALL)
				push(d, b);
			put(ev++, &c, b, b->head[way] | flags, b->to[way]);
			flags = c.flags;
			prev = b;
			b = b->succ[way];
		}
		if (unlikely(error))
			break;
	}
	leave(d, ev, b, prev ? prev->to[way] : d->cur_ip);
	if (error)
		end_walk(d, error);
}

/* How far a careful walk goes in one block. */
struct step {
	uint32_t	ninsn;
	bool		branch;		/* the block's own end was executed */
	bool		taken;		/* ... of a conditional branch */
	bool		done;		/* the walk ends here */
	int		way;		/* else, or if not indirect: where it goes on */
	int		error;
};

static bool in_ranges(const struct pt_decoder *d, uint64_t ip)
{
	uint32_t i;

	for (i = 0; i < d->config.nranges; i++)
		if (ip >= d->config.ranges[i].first && ip <= d->config.ranges[i].last)
			return true;
	return false;
}

static bool left_ranges(const struct pt_decoder *d, uint64_t ip)
{
	return d->config.nranges && !in_ranges(d, ip);
}

/* TIP.PGD instead of the TNT bit: the way that went there, or -1. */
static int pgd_jcc_way(const struct pt_decoder *d, const struct pt_block *b)
{
	bool out[2];

	if (d->walk.kind == PT_WALK_PGD_IP)
		return b->to[1] == d->walk.ip ? 1 : b->to[0] == d->walk.ip ? 0 : -1;
	out[0] = left_ranges(d, b->to[0]);
	out[1] = left_ranges(d, b->to[1]);
	return out[0] == out[1] ? -1 : out[1];
}

static struct step step_branch(const struct pt_decoder *d, const struct pt_block *b)
{
	struct step s = {.ninsn = b->b.ninsn, .branch = true, .done = true};
	bool pgd = d->walk.kind == PT_WALK_PGD || d->walk.kind == PT_WALK_PGD_IP;

	if (!pgd)
		s.error = d->walk.kind == PT_WALK_IP ? TRACE_ERR_FUP : TRACE_ERR_UNEXPECTED;
	else if (b->checked == PT_OP_JCC) {
		s.way = pgd_jcc_way(d, b);
		if (s.way < 0)
			s.error = TRACE_ERR_UNEXPECTED;
		s.taken = s.way == 1;
	}
	return s;
}

/* Where inside b a straight walk leaves the ranges: instructions before it. */
static int index_out_of_ranges(const struct pt_decoder *d, const struct pt_block *b)
{
	uint64_t ip = b->b.ip;
	uint32_t i;

	if (!d->config.nranges || (in_ranges(d, b->b.ip) && in_ranges(d, b->b.last)))
		return -1;
	for (i = 0; i < b->b.ninsn; i++) {
		if (i && !in_ranges(d, ip))
			return i;
		ip += b->b.len[i];
	}
	return -1;
}

static struct step careful_step(const struct pt_decoder *d, const struct pt_block *b)
{
	struct step s = {.ninsn = b->b.ninsn, .branch = b->b.kind != BLOCK_SEQ};
	uint8_t kind = d->walk.kind;
	int inside = -1;
	uint64_t to;

	if (kind == PT_WALK_IP || kind == PT_WALK_PGD_IP)
		inside = pt_block_index(b, d->walk.ip);
	else if (kind == PT_WALK_PGD)
		inside = index_out_of_ranges(d, b);
	if (inside > 0) {
		s.ninsn = inside;
		s.branch = false;
		s.done = true;
		return s;
	}
	if (!needs_no_packet(b))
		return step_branch(d, b);
	s.way = only_way(b);
	to = b->to[s.way];
	switch (kind) {
	case PT_WALK_IP:
	case PT_WALK_PGD_IP:
		s.done = to == d->walk.ip;
		break;
	case PT_WALK_PGD:
		s.done = b->special == PT_SPECIAL_CR3 || left_ranges(d, to);
		break;
	case PT_WALK_SPECIAL:
		s.done = b->special == d->walk.special;
		break;
	}
	return s;
}

/*
 * Does the walk get there?  0: yes, or there is no code on the way and all
 * before it was executed; else an enum trace_gap, and nothing is emitted.
 */
static int look_ahead(struct pt_decoder *d, struct pt_block *b)
{
	struct pt_block *mark = b;
	uint64_t insns = 0, steps = 0, power = 1;
	struct step s;
	int error = 0;

	for (;;) {
		s = careful_step(d, b);
		if (s.error == TRACE_ERR_UNEXPECTED)
			d->stuck_ip = b->b.last;
		if (s.done)
			return s.error;
		insns += s.ninsn;
		b = follow(d, b, s.way, &error);
		if (!b)
			return d->walk.kind == PT_WALK_SPECIAL ? error : 0;
		if (b == mark || insns > d->config.max_walk)
			return TRACE_ERR_LOOP;
		if (++steps == power) {
			power *= 2;
			steps = 0;
			mark = b;
		}
	}
}

static uint64_t step_to(const struct pt_decoder *d, const struct pt_block *b,
			const struct step *s)
{
	uint64_t ip = b->b.ip;
	uint32_t i;

	if (s->ninsn < b->b.ninsn) {
		for (i = 0; i < s->ninsn; i++)
			ip += b->b.len[i];
		return ip;
	}
	if (needs_no_packet(b) || b->checked == PT_OP_JCC)
		return b->to[s->way];
	return d->walk.kind == PT_WALK_PGD_IP ? d->walk.ip : 0;
}

/* Emits one step. */
static void careful_emit(struct pt_decoder *d, struct pt_block *b, const struct step *s)
{
	struct run_common c = common(d);
	uint64_t to = step_to(d, b, s), head;

	head = pt_block_head(s->ninsn, (s->branch ? TRACE_F_BRANCH : 0) |
					       (s->taken ? TRACE_F_TAKEN : 0));
	if (s->branch && b->checked == PT_OP_CALL)
		push(d, b);
	put(d->ev, &c, b, head | c.first, to);
	d->last_insn = b->b.last;
	leave(d, d->ev + 1, NULL, to);
}

static void walk_careful(struct pt_decoder *d)
{
	bool to_ip = d->walk.kind == PT_WALK_IP || d->walk.kind == PT_WALK_PGD_IP;
	struct pt_block *b;
	struct step s;
	int error = 0;

	if ((to_ip && d->cur_ip == d->walk.ip) ||
	    (d->walk.kind == PT_WALK_PGD && left_ranges(d, d->cur_ip))) {
		end_walk(d, 0);
		return;
	}
	b = here(d, &error);
	if (b && !d->walk.sure) {
		error = look_ahead(d, b);
		d->walk.sure = true;
	}
	while (!error && d->ev != d->ev_end) {
		b = here(d, &error);
		if (!b)
			break;
		s = careful_step(d, b);
		careful_emit(d, b, &s);
		if (s.done) {
			end_walk(d, 0);
			return;
		}
	}
	if (error)
		end_walk(d, error);
}

void pt_walk_on(struct pt_decoder *d)
{
	if (d->walk.kind == PT_WALK_TIP)
		walk_tip(d);
	else
		walk_careful(d);
}

void pt_walk_start(struct pt_decoder *d, enum pt_walk_kind kind, uint64_t ip,
		   void (*then)(struct pt_decoder *d, int error))
{
	d->walk.kind = kind;
	d->walk.ip = ip;
	d->walk.sure = false;
	d->walk.then = then;
}

/*
 * The accelerator.  Most of a trace is TNT and TIP packets that go along blocks
 * that are known: this takes them from the bytes until anything else turns up
 * (another packet, a block to decode, an error, a full array), and leaves that
 * to the functions above, at the very place.  It decides nothing that they
 * would not decide alike; bytes that come one by one never get here.
 */
struct fast {
	struct trace_event *ev, *end;
	struct pt_block	*b;		/* NULL: not looked up */
	struct pt_block	*prev;		/* b is its succ[way]; NULL: b is at ip */
	uint64_t	ip;
	uint64_t	flags;		/* for the next run */
	int		way;
};

/* Follows a link that was not followed yet.  False: that is not for here. */
static inline bool fast_link(struct pt_decoder *d, struct fast *f)
{
	struct pt_block *b;
	int error;

	if (f->b && f->b->op > PT_OP_DEAD)
		return f->b->op != PT_OP_UNCHECKED;
	if (f->prev)
		b = follow(d, f->prev, f->way, &error);
	else
		b = pt_blocks_find(d->blocks, f->ip, d->mode);
	if (!b)
		return false;
	f->b = b;
	return b->op != PT_OP_UNCHECKED;
}

/* Uses up to n bits of tnt; returns how many are left. */
static inline unsigned int fast_tnt(struct pt_decoder *d, struct fast *f,
				    const struct run_common *c, uint64_t tnt, unsigned int n)
{
	struct pt_block *b;

	while (n && f->ev != f->end) {
		b = f->b;
		switch (b ? b->op : PT_OP_NONE) {
		case PT_OP_JCC:
			f->way = tnt >> --n & 1;
			put(f->ev++, c, b, b->head[f->way] | f->flags, b->to[f->way]);
			break;
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
		switch (b ? b->op : PT_OP_NONE) {
		case PT_OP_IND:
		case PT_OP_RET:
			put(f->ev++, c, b, b->head[1] | f->flags, ip);
			f->flags = c->flags;
			f->b = tip_target(d, b, ip);
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

bool pt_walk_fast(struct pt_decoder *d)
{
	struct fast f = {d->ev, d->ev_end, d->cur, NULL, d->cur_ip, 0, 0};
	const uint8_t *p = d->p, *const last = d->end - PT_FAST_BYTES;
	struct run_common c;
	struct pt_packet pkt;
	uint64_t tnt;
	unsigned int n = 0, length;

	d->fresh_cyc = false;
	c = common(d);
	f.flags = c.first;
	while (p <= last && f.ev != f.end) {
		c.offset = d->offset + (p - d->p);
		if (!(p[0] & 1)) {
			length = fast_tnt_packet(p, &tnt, &n);
			if (!length)
				break;
			p += length;
			n = fast_tnt(d, &f, &c, tnt, n);
			d->at = c.offset;
			if (unlikely(n)) {
				d->tnt = tnt;
				d->tnt_n = n;
				break;
			}
		} else if ((p[0] & PT_PKT_IP_MASK) == PT_PKT_TIP) {
			length = pt_packet_decode(p, PT_FAST_BYTES, &d->packets, &pkt);
			if (!pkt.ip_bytes)
				break;
			p += length;
			d->at = c.offset;
			if (unlikely(!fast_tip(d, &f, &c, pkt.payload))) {
				d->tip = pkt.payload;
				pt_walk_start(d, PT_WALK_TIP, 0, pt_flow_then_tip);
				break;
			}
		} else {
			break;
		}
	}
	leave(d, f.ev, f.b, f.prev ? f.prev->to[f.way] : f.ip);
	if (p == d->p)
		return false;
	d->after_cr3 = false;
	d->offset += p - d->p;
	d->p = p;
	return true;
}
