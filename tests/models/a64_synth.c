/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "a64_synth.h"
#include "models/coresight/etm4_feed.h"

#define KERNEL		0xffff800008010000ull
#define DRAM_BASE	0x80000000ull
#define CALL_MAX	100
#define RUN_MAX		32

struct insn {
	uint32_t op;
	uint8_t kind;
	uint64_t target;
};

struct seen {
	uint64_t ip;
	bool view;
};

struct machine {
	struct a64_synth *s;
	uint64_t rng;
	struct insn *insn;
	uint32_t *block;
	struct etm_unit *unit;
	struct cs_regs regs;
	uint64_t ip;
	unsigned int el;
	uint32_t cid;
	uint64_t calls[CALL_MAX];
	uint32_t depth;
	bool overflow;
	struct run *run;

	/* The independent account: the block since the last P0 element. */
	struct seen *blk;
	size_t nblk, room;
	bool traced, started;
};

static uint64_t rnd(struct machine *m)
{
	uint64_t z = m->rng += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static uint32_t below(struct machine *m, uint32_t n)
{
	return rnd(m) % n;
}

static bool chance(struct machine *m, uint32_t of_1000)
{
	return of_1000 && below(m, 1000) < of_1000;
}

/* ---- code ---- */

static const uint32_t fillers[] = {
	0xd503201f,	/* nop */
	0x8b020020,	/* add x0, x1, x2 */
	0xd2800540,	/* mov x0, #42 */
	0xf9400020,	/* ldr x0, [x1] */
	0xa9bf7bfd,	/* stp x29, x30, [sp, #-16]! */
	0xd5033bbf,	/* dmb ish */
	0x9ac10c00,	/* sdiv x0, x0, x1 */
};

enum { IMM26, IMM19, IMM14, NONE };

static const struct ender {
	uint8_t weight, kind, imm;
	uint32_t op;
} enders[] = {
	{14, RUN_SEQ, NONE, 0},
	{14, RUN_JCC, IMM19, 0x54000000},	/* b.eq */
	{8, RUN_JCC, IMM19, 0xb5000000},	/* cbnz x0 */
	{6, RUN_JCC, IMM14, 0x37000000},	/* tbnz w0, #0 */
	{2, RUN_JCC, NONE, 0x54000021},		/* b.ne +4 */
	{8, RUN_JMP, IMM26, 0x14000000},
	{12, RUN_CALL, IMM26, 0x94000000},
	{1, RUN_CALL, NONE, 0x94000001},	/* bl +4 */
	{4, RUN_JMP_IND, NONE, 0xd61f0200},	/* br x16 */
	{1, RUN_JMP_IND, NONE, 0xd71f0a11},	/* braa x16, x17 */
	{5, RUN_CALL_IND, NONE, 0xd63f0100},	/* blr x8 */
	{1, RUN_CALL_IND, NONE, 0xd63f081f},	/* blraaz x0 */
	{14, RUN_RET, NONE, 0xd65f03c0},
	{1, RUN_RET, NONE, 0xd65f0bff},		/* retaa */
	{3, RUN_ISB, NONE, 0xd5033fdf},
	{1, RUN_WFX, NONE, 0xd503205f},		/* wfe */
	{5, RUN_FAR, NONE, 0xd4000001},		/* svc #0 */
};

static void put(struct machine *m, uint32_t op, uint8_t kind, uint64_t target)
{
	struct a64_synth *s = m->s;

	m->insn[s->ninsns] = (struct insn){op, kind, target};
	s->code[s->ninsns++] = op;
}

static void put_block(struct machine *m, uint32_t b)
{
	uint32_t n = m->s->config.nblocks, fill = below(m, 7), pick = below(m, 100), to;
	const struct ender *e = enders;

	m->block[b] = m->s->ninsns;
	while (pick >= e->weight)
		pick -= e++->weight;
	if (e->kind == RUN_FAR && !m->s->config.syscalls)
		e = enders;
	if (b == n - 1)
		e = &enders[8];
	if (e->kind == RUN_SEQ && !fill)
		fill = 1;
	while (fill--)
		put(m, fillers[below(m, 7)], RUN_SEQ, 0);
	if (e->kind == RUN_SEQ)
		return;
	to = e->kind == RUN_JCC ? below(m, n) : b + 1 + below(m, n - b - 1 ? n - b - 1 : 1);
	put(m, e->op, e->kind, e->imm == NONE ? 0 : to + 1);
}

static void link_targets(struct machine *m)
{
	struct a64_synth *s = m->s;
	size_t i;
	int32_t d;

	for (i = 0; i < s->ninsns; i++) {
		struct insn *n = &m->insn[i];

		if (n->kind < RUN_JCC || n->kind > RUN_CALL)
			continue;
		d = n->target ? (int32_t)m->block[n->target - 1] - (int32_t)i : 1;
		if (n->target && n->kind == RUN_JCC && (n->op >> 24 == 0x37))
			n->op |= (d & 0x3fff) << 5;
		else if (n->target && n->kind == RUN_JCC)
			n->op |= (d & 0x7ffff) << 5;
		else if (n->target)
			n->op |= d & 0x3ffffff;
		n->target = s->code_base + 4 * i + 4 * (int64_t)d;
		s->code[i] = n->op;
	}
}

static int build(struct machine *m)
{
	struct a64_synth *s = m->s;
	uint32_t n = s->config.nblocks, b;

	s->code = calloc((size_t)n * 8, 4);
	m->insn = calloc((size_t)n * 8, sizeof(*m->insn));
	m->block = calloc(n, sizeof(*m->block));
	m->run = malloc(run_size(RUN_MAX));
	m->unit = malloc(etm_unit_size());
	s->ip = calloc((size_t)s->config.nsteps * RUN_MAX + RUN_MAX, sizeof(*s->ip));
	if (!s->code || !m->insn || !m->block || !m->run || !m->unit || !s->ip)
		return -ENOMEM;
	for (b = 0; b < n; b++)
		put_block(m, b);
	link_targets(m);
	return 0;
}

size_t a64_code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	const struct a64_synth *s = ctx;
	uint64_t off = ip - s->code_base, size = 4 * s->ninsns;

	if (off >= size)
		return 0;
	if (len > size - off)
		len = size - off;
	memcpy(buf, (const uint8_t *)s->code + off, len);
	return len;
}

/* ---- the independent account ---- */

static bool level_traced(const struct machine *m)
{
	return !(m->s->config.not_levels >> m->el & 1);
}

static bool in_view(struct machine *m, uint64_t ip, bool started)
{
	const struct a64_config *c = &m->s->config;
	bool any = false, in = false;
	uint32_t i;

	if (!level_traced(m))
		return false;
	for (i = 0; i < c->nranges; i++) {
		bool hit = ip >= c->range[i].a && ip <= c->range[i].b;

		if (c->range[i].exclude && hit)
			return false;
		if (c->range[i].exclude)
			continue;
		any = true;
		in |= hit;
	}
	return (in || !any) && (started || !c->start);
}

static void executed(struct machine *m, uint64_t ip)
{
	const struct a64_config *c = &m->s->config;
	bool start = level_traced(m) && c->start && ip == c->start;

	m->s->executed++;
	if (m->nblk == m->room) {
		m->room = m->room ? 2 * m->room : 64;
		m->blk = realloc(m->blk, m->room * sizeof(*m->blk));
	}
	m->started |= start;
	m->blk[m->nblk++] = (struct seen){ip, in_view(m, ip, m->started)};
	if (level_traced(m) && c->start && ip == c->stop)
		m->started = false;
}

/* The block ends; with a P0 element of its own, or by an exception. */
static bool block_end(struct machine *m, bool by_exception)
{
	bool any = by_exception && !m->nblk && m->traced && level_traced(m);
	size_t i, first = m->nblk;

	for (i = m->nblk; i--;)
		if (m->blk[i].view) {
			first = i;
			any = true;
		}
	if (any && m->traced)
		first = 0;
	for (i = first; any && i < m->nblk; i++)
		m->s->ip[m->s->nip++] = m->blk[i].ip;
	m->nblk = 0;
	m->traced = any;
	return any;
}

/* An exception, after which flow is at `ip` in the new context. */
static void exception_end(struct machine *m, bool by_exception, unsigned int el,
			  uint32_t cid, uint64_t ip)
{
	bool known = block_end(m, by_exception);

	m->el = el;
	m->cid = cid;
	m->traced = known && in_view(m, ip, m->started || ip == m->s->config.start);
	m->s->nexceptions += by_exception && known;
}

/* ---- the unit ---- */

static bool tee(void *ctx, uint8_t id, const uint8_t *bytes, size_t n)
{
	struct machine *m = ctx;
	struct a64_synth *s = m->s;

	if (s->to.input && !s->to.input(s->to.ctx, id, bytes, n)) {
		s->lossy = true;
		return false;
	}
	if (s->raw_len + n > s->raw_room) {
		s->raw_room = 2 * (s->raw_len + n);
		s->raw = realloc(s->raw, s->raw_room);
	}
	if (n)
		memcpy(s->raw + s->raw_len, bytes, n);
	s->raw_len += n;
	return true;
}

static int program_filters(struct machine *m)
{
	const struct a64_config *c = &m->s->config;
	uint32_t vi = TRCVICTLR_EVENT_TRUE | c->not_levels << TRCVICTLR_EXLEVEL_NS_SHIFT;
	uint32_t ie = 0, i;
	int err = 0;

	for (i = 0; i < c->nranges; i++) {
		err |= etm_unit_write(m->unit, TRCACVR(2 * i), c->range[i].a);
		err |= etm_unit_write(m->unit, TRCACVR(2 * i + 1), c->range[i].b);
		ie |= c->range[i].exclude ? TRCVIIECTLR_EXCLUDE(i) : TRCVIIECTLR_INCLUDE(i);
	}
	err |= etm_unit_write(m->unit, TRCVIIECTLR, ie);
	if (c->start) {
		err |= etm_unit_write(m->unit, TRCACVR(6), c->start);
		err |= etm_unit_write(m->unit, TRCACVR(7), c->stop);
		err |= etm_unit_write(m->unit, TRCVISSCTLR,
				      TRCVISSCTLR_START(6) | TRCVISSCTLR_STOP(7));
	} else {
		vi |= TRCVICTLR_SSSTATUS;
	}
	return err | etm_unit_write(m->unit, TRCVICTLR, vi);
}

static int enable(struct machine *m)
{
	const struct a64_config *c = &m->s->config;
	struct etm_source *src = &m->s->source;
	int err = 0;
	unsigned int i;

	err |= etm_unit_write(m->unit, CS_LAR, CS_LAR_KEY);
	err |= etm_unit_write(m->unit, TRCOSLAR, 0);
	err |= etm_unit_write(m->unit, TRCCONFIGR, TRCCONFIGR_RES1 | c->configr);
	err |= etm_unit_write(m->unit, TRCTRACEIDR, c->id);
	err |= etm_unit_write(m->unit, TRCSYNCPR, c->syncpr);
	err |= etm_unit_write(m->unit, TRCCCCTLR, c->cc_threshold);
	err |= program_filters(m);
	etm_unit_set_context(m->unit, m->el, m->cid, m->ip);
	err |= etm_unit_write(m->unit, TRCPRGCTLR, TRCPRGCTLR_EN);
	src->traceidr = c->id;
	src->configr = etm_unit_read(m->unit, TRCCONFIGR);
	for (i = 0; i < ETM4_NUM_IDR; i++)
		src->idr[i] = etm_unit_read(m->unit, TRCIDR(i));
	return err ? -EIO : 0;
}

/* ---- execution ---- */

static const struct insn *insn_at(struct machine *m, uint64_t ip)
{
	return &m->insn[(ip - m->s->code_base) / 4];
}

static uint64_t any_ip(struct machine *m)
{
	return m->s->code_base + 4 * (uint64_t)below(m, m->s->ninsns);
}

static uint64_t block_ip(struct machine *m)
{
	return m->s->code_base + 4 * (uint64_t)m->block[below(m, m->s->config.nblocks)];
}

static void make_run(struct machine *m)
{
	uint32_t n = 0, max = chance(m, m->s->config.ncuts) ? 1 + below(m, 4) : RUN_MAX;
	uint64_t ip = m->ip;
	const struct insn *i;
	uint8_t len[RUN_MAX];

	do {
		i = insn_at(m, ip);
		len[n++] = 4;
		ip += 4;
	} while (i->kind == RUN_SEQ && n < max);
	run_init(m->run, m->ip, n, len, i->kind, i->target);
}

static void call(struct machine *m, uint64_t ret)
{
	if (m->depth == CALL_MAX) {
		memmove(m->calls, m->calls + 1, sizeof(m->calls) - 8);
		m->depth--;
	}
	m->calls[m->depth++] = ret;
}

static uint64_t successor(struct machine *m, const struct run *r)
{
	switch (r->kind) {
	case RUN_JCC:
		return below(m, 2) ? r->target : r->end;
	case RUN_JMP:
		return r->target;
	case RUN_CALL:
		call(m, r->end);
		return r->target;
	case RUN_CALL_IND:
		call(m, r->end);
		return block_ip(m);
	case RUN_JMP_IND:
		return below(m, 3) ? block_ip(m) : any_ip(m);
	case RUN_RET:
		if (!m->depth || chance(m, m->s->config.nbadrets))
			return any_ip(m);
		return m->calls[--m->depth];
	default:
		return r->end;
	}
}

static void execute(struct machine *m, const struct run *r, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		executed(m, r->start + 4 * (uint64_t)i);
}

static void random_context(struct machine *m, unsigned int *el, uint32_t *cid)
{
	*el = below(m, 2);
	*cid = below(m, 3) ? 0x1000 : 0x87654321;
}

/* An interrupt or a fault: within the code, or to an untraced kernel and back. */
static void trap(struct machine *m, uint64_t from)
{
	static const uint16_t types[] = {ETM4_EXC_IRQ, ETM4_EXC_DATA_FAULT, ETM4_EXC_TRAP,
					 0x3ff, 0x20, ETM4_EXC_FIQ};
	uint64_t to = below(m, 2) ? from : any_ip(m);
	unsigned int el = m->el, type = types[below(m, 6)];
	uint32_t cid = m->cid;

	if (m->s->config.privileges) {
		random_context(m, &el, &cid);
		etm_unit_exception(m->unit, type, from, el, cid, to);
		exception_end(m, true, el, cid, to);
	} else if (below(m, 3) && m->s->config.not_levels & 2) {
		etm_unit_exception(m->unit, type, from, 1, cid, KERNEL);
		exception_end(m, true, 1, cid, KERNEL);
		etm_unit_set_context(m->unit, el, cid, to);
		m->el = el;
		m->traced = false;
	} else {
		etm_unit_exception(m->unit, type, from, el, cid, to);
		exception_end(m, true, el, cid, to);
	}
	m->ip = to;
}

static void system_call(struct machine *m, const struct run *r)
{
	uint64_t next = below(m, 4) ? r->end : any_ip(m);
	unsigned int el = m->el;
	uint32_t cid = m->cid;

	if (m->s->config.privileges) {
		random_context(m, &el, &cid);
		etm_unit_far(m->unit, r, el, cid, next);
		exception_end(m, true, el, cid, next);
	} else {
		etm_unit_far(m->unit, r, 1, cid, KERNEL);
		exception_end(m, true, 1, cid, KERNEL);
		etm_unit_set_context(m->unit, el, cid, next);
		m->el = el;
		m->traced = false;
	}
	m->ip = next;
}

static void feed_singly(struct machine *m, struct run *r)
{
	union {
		struct run r;
		uint8_t room[sizeof(struct run) + 8];
	} one;
	uint64_t ip = r->start, target = r->target;
	uint32_t i, n = r->ninsn;
	uint8_t four = 4, kind = r->kind;

	for (i = 0; i + 1 < n; i++, ip = one.r.end) {
		run_init(&one.r, ip, 1, &four, RUN_SEQ, 0);
		etm_unit_feed(m->unit, &one.r, one.r.end);
	}
	run_init(r, ip, 1, &four, kind, target);
}

static void feed(struct machine *m, struct run *r, uint64_t next)
{
	bool inlined = below(m, 4);

	if (m->s->config.feeding == A64_SINGLY)
		feed_singly(m, r);
	if (m->s->config.feeding == A64_OUT_OF_LINE || !inlined)
		etm_unit_run(m->unit, r, r->ninsn, next);
	else
		etm_unit_feed(m->unit, r, next);
}

static void do_break(struct machine *m)
{
	etm_unit_break(m->unit, m->ip);
	block_end(m, true);
	etm_unit_resume(m->unit, m->ip);
	m->traced = false;
}

static void disturb(struct machine *m)
{
	const struct a64_config *c = &m->s->config;

	if (chance(m, c->nbreaks))
		do_break(m);
	if (chance(m, c->clock_jumps))
		etm_unit_set_clock(m->unit, etm_unit_clock(m->unit) + below(m, 5000));
	if (chance(m, c->noverflows)) {
		if (m->overflow)
			etm_unit_overflow_end(m->unit);
		else
			etm_unit_overflow_begin(m->unit);
		m->overflow = !m->overflow;
		m->s->lossy = true;
	}
}

static void step(struct machine *m)
{
	struct run *r = m->run;
	uint64_t next;
	uint32_t n;

	make_run(m);
	if (chance(m, m->s->config.ntraps)) {
		n = below(m, r->ninsn);
		execute(m, r, n);
		next = r->start + 4 * (uint64_t)n;
		etm_unit_run(m->unit, r, n, next);
		trap(m, next);
		return;
	}
	execute(m, r, r->ninsn);
	if (r->kind == RUN_FAR) {
		system_call(m, r);
		return;
	}
	next = successor(m, r);
	feed(m, r, next);
	if (r->kind != RUN_SEQ)
		block_end(m, false);
	m->ip = next;
}

static int start(struct machine *m, const struct a64_config *c)
{
	const struct etm_unit_host host = {.ctx = m, .output = tee};
	struct a64_synth *s = m->s;
	int err;

	s->config = *c;
	s->config.base = c->base ? c->base : 0x400000;
	s->config.nblocks = c->nblocks ? c->nblocks : 40;
	s->config.nsteps = c->nsteps ? c->nsteps : 400;
	s->config.id = c->id ? c->id : 0x10;
	s->code_base = s->config.base;
	m->rng = c->seed;
	m->ip = s->code_base;
	m->cid = 0x1000;
	err = build(m);
	if (err)
		return err;
	etm_unit_init(m->unit, &m->regs, &host);
	return enable(m);
}

static void finish(struct machine *m)
{
	if (m->overflow)
		etm_unit_overflow_end(m->unit);
	etm_unit_break(m->unit, m->ip);
	block_end(m, true);
	etm_unit_write(m->unit, TRCPRGCTLR, 0);
	m->s->clock = etm_unit_clock(m->unit);
}

static void machine_free(struct machine *m)
{
	if (!m)
		return;
	free(m->insn);
	free(m->block);
	free(m->run);
	free(m->unit);
	free(m->blk);
	free(m);
}

static bool to_port(void *ctx, uint8_t id, const uint8_t *bytes, size_t n)
{
	struct a64_sink *k = ctx;
	bool taken = cs_funnel_input(&k->funnel, id % CSTF_PORTS, id, bytes, n);

	k->refused += !taken;
	return taken;
}

int a64_make(struct a64_synth *s, const struct a64_config *c, unsigned int n,
	     struct a64_sink *sink)
{
	struct machine *m;
	unsigned int i, live = n;
	uint32_t k;
	int err = 0;

	memset(s, 0, n * sizeof(*s));
	for (i = 0; i < n && !err; i++) {
		m = calloc(1, sizeof(*m));
		if (!m)
			return -ENOMEM;
		s[i].priv = m;
		m->s = &s[i];
		if (sink)
			s[i].to = (struct cs_sink){to_port, sink};
		err = start(m, &c[i]);
	}
	if (err)
		return err;
	for (k = 0; live; k++) {
		for (i = 0, live = 0; i < n; i++) {
			if (k < s[i].config.nsteps) {
				step(s[i].priv);
				disturb(s[i].priv);
				live++;
			}
		}
	}
	for (i = 0; i < n; i++)
		finish(s[i].priv);
	return sink ? tmc_unit_write(&sink->etr, TMC_FFCR,
				     *cs_reg(&sink->etr_regs, TMC_FFCR) |
					     TMC_FFCR_FLUSHMAN | TMC_FFCR_STOPONFL)
		    : 0;
}

void a64_free(struct a64_synth *s, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		machine_free(s[i].priv);
		free(s[i].code);
		free(s[i].ip);
		free(s[i].raw);
	}
}

/* ---- the sink ---- */

static void *etr_memory(void *ctx, uint64_t addr, uint64_t len)
{
	struct a64_sink *k = ctx;

	return addr >= DRAM_BASE && len <= k->size && addr - DRAM_BASE <= k->size - len
		       ? k->dram + (addr - DRAM_BASE)
		       : NULL;
}

static void etr_full(void *ctx)
{
	((struct a64_sink *)ctx)->fulls++;
}

static bool into_etr(void *ctx, uint8_t id, const uint8_t *bytes, size_t n)
{
	return tmc_unit_input(ctx, id, bytes, n);
}

static bool into_replicator(void *ctx, uint8_t id, const uint8_t *bytes, size_t n)
{
	return cs_replicator_input(ctx, id, bytes, n);
}

int a64_sink_init(struct a64_sink *k, uint64_t size, uint32_t mode)
{
	const struct tmc_unit_host host = {
		.ctx = k, .memory = etr_memory, .full = etr_full};
	const struct cs_sink none = {0};
	int err = 0;

	memset(k, 0, sizeof(*k));
	k->size = size;
	k->dram = calloc(1, size);
	if (!k->dram)
		return -ENOMEM;
	tmc_unit_init(&k->etr, &k->etr_regs, TMC_CONFIG_ETR, NULL, 0, none, &host);
	cs_replicator_init(&k->replicator, &k->replicator_regs,
			   (struct cs_sink){into_etr, &k->etr}, none);
	cs_funnel_init(&k->funnel, &k->funnel_regs, CSTF_PORTS,
		       (struct cs_sink){into_replicator, &k->replicator});
	err |= cs_funnel_write(&k->funnel, CS_LAR, CS_LAR_KEY);
	err |= cs_funnel_write(&k->funnel, CSTF_CTRL, CSTF_CTRL_ENS_MASK);
	err |= tmc_unit_write(&k->etr, CS_LAR, CS_LAR_KEY);
	err |= tmc_unit_write(&k->etr, TMC_RSZ, size / 4);
	err |= tmc_unit_write(&k->etr, TMC_DBALO, (uint32_t)DRAM_BASE);
	err |= tmc_unit_write(&k->etr, TMC_RRP, (uint32_t)DRAM_BASE);
	err |= tmc_unit_write(&k->etr, TMC_RWP, (uint32_t)DRAM_BASE);
	err |= tmc_unit_write(&k->etr, TMC_MODE, mode);
	err |= tmc_unit_write(&k->etr, TMC_FFCR, TMC_FFCR_ENFT | TMC_FFCR_ENTI);
	err |= tmc_unit_write(&k->etr, TMC_CTL, TMC_CTL_CAPTURE);
	return err ? -EIO : 0;
}

void a64_sink_free(struct a64_sink *k)
{
	free(k->dram);
}

size_t a64_sink_bytes(struct a64_sink *k, uint8_t *out)
{
	uint64_t wp = *cs_reg(&k->etr_regs, TMC_RWP) - DRAM_BASE;
	bool wrapped = *cs_reg(&k->etr_regs, TMC_STS) & TMC_STS_FULL;

	if (!wrapped) {
		memcpy(out, k->dram, wp);
		return wp;
	}
	memcpy(out, k->dram + wp, k->size - wp);
	memcpy(out + k->size - wp, k->dram, wp);
	return k->size;
}

/* ---- configurations ---- */

static void randomise_filters(struct machine *m, struct a64_config *c)
{
	uint64_t size = 4ull * 5 * (c->nblocks ? c->nblocks : 40), base;
	uint32_t i;

	base = c->base ? c->base : 0x400000;
	c->nranges = below(m, 4);
	for (i = 0; i < c->nranges; i++) {
		c->range[i].a = base + 4 * (rnd(m) % (size / 4));
		c->range[i].b = c->range[i].a + 4 * below(m, 60) + 3;
		c->range[i].exclude = !below(m, 3);
	}
	if (!c->nranges || !below(m, 3)) {
		c->start = base + 4 * (rnd(m) % (size / 4));
		c->stop = base + 4 * (rnd(m) % (size / 4));
	}
}

void a64_randomise(struct a64_config *c, bool timing, bool filters)
{
	struct machine m = {.rng = c->seed ^ 0xa64};

	if (below(&m, 2))
		c->configr |= TRCCONFIGR_RS;
	if (!below(&m, 3))
		c->configr |= TRCCONFIGR_CID;
	if (!below(&m, 4))
		c->configr |= TRCCONFIGR_BB;
	if (timing && below(&m, 3))
		c->configr |= TRCCONFIGR_TS;
	if (timing && below(&m, 2)) {
		c->configr |= TRCCONFIGR_CCI;
		c->cc_threshold = below(&m, 2) ? 4 + below(&m, 60) : 4;
	}
	c->syncpr = below(&m, 2) ? 8 + below(&m, 4) : 0;
	c->base = below(&m, 3) ? 0x400000 : below(&m, 2) ? 0xffff8000090f0000ull
							  : 0xaaaad5550000ull;
	c->nblocks = 4 + below(&m, 60);
	c->ntraps = below(&m, 2) ? below(&m, 60) : 0;
	c->nbreaks = below(&m, 2) ? below(&m, 40) : 0;
	c->ncuts = below(&m, 2) ? below(&m, 200) : 0;
	c->nbadrets = below(&m, 100);
	c->clock_jumps = timing ? below(&m, 50) : 0;
	c->syscalls = below(&m, 2);
	c->not_levels = 2;
	if (!below(&m, 4)) {
		c->privileges = true;
		c->not_levels = below(&m, 3);
	}
	if (filters)
		randomise_filters(&m, c);
}
