/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks over blocks: from the packets' bits and addresses to runs.
 *
 * pt_walk_tnt and walk_tip emit as they go.  That is safe since a block that
 * needs no packet is emitted only when a look ahead has shown that the way
 * from it is no loop.  The other walks look first whether they get where they
 * must, and emit then.
 */
#include <errno.h>
#include <string.h>

#include "pt_run.h"

void pt_walk_init(struct pt_decoder *d)
{
	unsigned int i;

	for (i = 0; i < PT_FLAG_WORDS; i++)
		d->flag_words[i] = pt_block_head(0, i * TRACE_F_ENTRY) ^ pt_block_head(0, 0);
}

void pt_stack_clear(struct pt_decoder *d)
{
	d->stack_n = 0;
}

struct pt_block *pt_walk_follow(struct pt_decoder *d, struct pt_block *b, int way, int *error)
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
		next = pt_walk_follow(d, x, only_way(x), &error);
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

void pt_walk_leave(struct pt_decoder *d, struct trace_event *ev, struct pt_block *b,
		   uint64_t ip)
{
	if (ev != d->ev)
		d->entry = d->fresh_cyc = false;
	d->ev = ev;
	d->cur = b && b->op > PT_OP_DEAD ? b : NULL;
	d->cur_ip = ip;
}

/* A return with its bit: 0, and *call is the block that called; or an error. */
static inline int put_return(struct pt_decoder *d, struct trace_event **ev,
			     const struct run_common *c, const struct pt_block *b,
			     uint64_t flags, uint64_t bit, struct pt_block **call)
{
	int error = check_return(d, bit);

	if (unlikely(error)) {
		*ev += put_lost_return(*ev, c, b, flags, error);
		return error;
	}
	*call = pop(d);
	put((*ev)++, c, b, b->head[1] | flags, (*call)->to[0]);
	return 0;
}

void pt_walk_tnt(struct pt_decoder *d)
{
	struct run_common c = common(d);
	struct trace_event *ev = d->ev, *const end = d->ev_end;
	struct pt_block *b, *prev = NULL;
	uint64_t tnt = d->tnt, flags = c.first;
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
			error = put_return(d, &ev, &c, b, flags, tnt >> --n & 1, &prev);
			if (unlikely(error))
				goto out;
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
				goto out;
			continue;
		default:
			b = pt_walk_follow(d, prev, way, &error);
			if (unlikely(!b))
				goto out;
			continue;
		}
		flags = c.flags;
		prev = b;
		b = b->succ[way];
	}
out:
	pt_walk_leave(d, ev, b, prev ? prev->to[way] : d->cur_ip);
	d->tnt_n = error ? 0 : n;
	if (error)
		pt_flow_stuck(d, error, error == TRACE_ERR_RETURN ||
						error == PT_STUCK_CALL ?
					b->b.last : d->cur_ip);
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
			pt_walk_leave(d, ev, tip_target(d, b, d->tip), d->tip);
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
			b = pt_walk_follow(d, prev, way, &error);
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
	pt_walk_leave(d, ev, b, prev ? prev->to[way] : d->cur_ip);
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

/*
 * TIP.PGD without an address: the CPU left the context, by a far transfer, or a
 * range, where silicon forgets the address (SKL014).
 */
static bool may_leave_unsaid(const struct pt_decoder *d, const struct pt_block *b)
{
	return b->b.kind == BLOCK_SYSCALL || b->b.kind == BLOCK_FAR || d->config.nranges;
}

static struct step step_branch(const struct pt_decoder *d, const struct pt_block *b)
{
	struct step s = {.ninsn = b->b.ninsn, .branch = true, .done = true};

	switch (d->walk.kind) {
	case PT_WALK_PGD:
	case PT_WALK_PGD_IP:
		if (b->checked == PT_OP_JCC) {
			s.way = pgd_jcc_way(d, b);
			s.taken = s.way == 1;
			if (s.way < 0)
				s.error = TRACE_ERR_UNEXPECTED;
		} else if (d->walk.kind == PT_WALK_PGD && !may_leave_unsaid(d, b)) {
			s.error = TRACE_ERR_UNEXPECTED;
		}
		break;
	case PT_WALK_IP:
		s.error = TRACE_ERR_FUP;
		break;
	default:
		s.error = TRACE_ERR_UNEXPECTED;
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
		b = pt_walk_follow(d, b, s.way, &error);
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

bool pt_walk_returns(struct pt_decoder *d, uint64_t ip)
{
	int error = 0, steps = PT_LOOP_BLOCKS;
	struct pt_block *b = pt_blocks_get(d->blocks, ip, d->mode, &error);

	while (b && steps-- && needs_no_packet(b)) {
		if (b->to[only_way(b)] == ip)
			return true;
		b = pt_walk_follow(d, b, only_way(b), &error);
		if (b && pt_block_index(b, ip) > 0)
			return true;
	}
	return false;
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
	pt_walk_leave(d, d->ev + 1, NULL, to);
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
