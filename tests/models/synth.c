/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "synth.h"
#include "models/pt/pt_feed.h"

#define KERNEL		0xffffffff81000000ull
#define USER_CR3	0x12345000ull
#define OTHER_CR3	0xabcd56789a000ull
#define CALL_MAX	200
#define DRAM_SIZE	(4u << 20)
#define TABLES		0x1000ull	/* ToPA tables' address in DRAM */
#define BUFFER		0x100000ull
#define REGIONS		256
#define RUN_MAX		32

struct insn {
	uint32_t off;
	uint8_t len;
	uint8_t kind;			/* enum run_end */
	uint8_t fixup;			/* bytes of displacement at the end */
	uint32_t block;			/* direct target */
	uint64_t target;
};

/* What is being built and run. */
struct machine {
	struct synth *s;
	uint64_t rng;
	struct insn *insn;
	uint32_t ninsn, cap_insn;
	uint32_t *block;		/* first instruction of each block */
	uint32_t *at;			/* offset -> instruction + 1 */

	struct pt_unit *unit;
	struct pt_regs_file regs;
	uint8_t *dram;
	uint64_t trace_bytes;
	uint64_t saved_count;

	uint64_t ip;
	unsigned int cpl;
	uint64_t cr3;
	uint64_t calls[CALL_MAX];
	uint32_t depth;
	bool on;			/* between enable and disable, no TraceStop met */
	bool overflow;
	struct run *run;
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

/* Instructions that are no branches, of 1 to 9 bytes. */
static const struct {
	uint8_t len, byte[9];
} fillers[] = {
	{1, {0x90}},
	{2, {0x31, 0xc0}},					/* xor %eax,%eax */
	{3, {0x48, 0x89, 0xd8}},				/* mov %rbx,%rax */
	{4, {0x48, 0x83, 0xc0, 0x01}},				/* add $1,%rax */
	{5, {0xb8, 0x01, 0x02, 0x03, 0x04}},			/* mov $imm,%eax */
	{6, {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
	{7, {0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00}},	/* mov x(%rip),%rax */
	{8, {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}},
	{9, {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}},
};

/* Branches: weight of 100, bytes, displacement bytes at the end. */
static const struct ender {
	uint8_t weight, kind, len, fixup, byte[6];
} enders[] = {
	{20, RUN_SEQ, 0, 0, {0}},				/* falls through */
	{28, RUN_JCC, 6, 4, {0x0f, 0x84}},
	{3, RUN_JCC, 2, 0, {0x75, 0x00}},			/* jne +0 */
	{8, RUN_JMP, 5, 4, {0xe9}},
	{12, RUN_CALL, 5, 4, {0xe8}},
	{1, RUN_CALL, 5, 0, {0xe8}},				/* call +0 */
	{5, RUN_JMP_IND, 2, 0, {0xff, 0xe0}},
	{6, RUN_CALL_IND, 2, 0, {0xff, 0xd1}},
	{13, RUN_RET, 1, 0, {0xc3}},
	{4, RUN_FAR, 2, 0, {0x0f, 0x05}},			/* syscall */
};

static void put_insn(struct machine *m, const uint8_t *byte, uint8_t len, uint8_t kind,
		     uint8_t fixup, uint32_t block)
{
	struct synth *s = m->s;
	struct insn *i = &m->insn[m->ninsn];

	memset(i, 0, sizeof(*i));
	i->off = s->code_len;
	i->len = len;
	i->kind = kind;
	i->fixup = fixup;
	i->block = block;
	memcpy(s->code + s->code_len, byte, len);
	s->code_len += len;
	m->at[i->off] = ++m->ninsn;
}

static void put_block(struct machine *m, uint32_t b)
{
	uint32_t n = m->s->config.nblocks, fill = below(m, 7), pick = below(m, 100),
		 target, k;
	const struct ender *e = enders;

	m->block[b] = m->ninsn;
	while (pick >= e->weight)
		pick -= e++->weight;
	if (e->kind == RUN_FAR && !m->s->config.syscalls)
		e = enders;
	if (b == n - 1)		/* the last one must not fall off the end */
		e = &enders[6];
	if (!e->len && !fill)
		fill = 1;
	while (fill--) {
		k = below(m, sizeof(fillers) / sizeof(fillers[0]));
		put_insn(m, fillers[k].byte, fillers[k].len, RUN_SEQ, 0, 0);
	}
	if (!e->len)
		return;
	/*
	 * Direct jumps and calls only lead forward: a loop without any packet
	 * cannot be told apart from fewer rounds of it.
	 */
	target = e->kind == RUN_JCC ? below(m, n)
				    : b + 1 + below(m, n - b - 1 ? n - b - 1 : 1);
	put_insn(m, e->byte, e->len, e->kind, e->fixup, target);
}

static void link_targets(struct machine *m)
{
	struct synth *s = m->s;
	uint32_t i;
	int32_t disp;

	for (i = 0; i < m->ninsn; i++) {
		struct insn *n = &m->insn[i];

		if (n->kind < RUN_JCC || n->kind > RUN_CALL)
			continue;
		n->target = s->code_base + n->off + n->len;
		if (!n->fixup)
			continue;
		disp = (int32_t)m->insn[m->block[n->block]].off -
		       (int32_t)(n->off + n->len);
		n->target += (int64_t)disp;
		memcpy(s->code + n->off + n->len - 4, &disp, 4);
	}
}

static int build(struct machine *m)
{
	struct synth *s = m->s;
	uint32_t n = s->config.nblocks, b;
	size_t max = (size_t)n * 8 * 9;

	s->code = calloc(1, max);
	m->insn = calloc((size_t)n * 8, sizeof(*m->insn));
	m->block = calloc(n, sizeof(*m->block));
	m->at = calloc(max, sizeof(*m->at));
	if (!s->code || !m->insn || !m->block || !m->at)
		return -ENOMEM;
	for (b = 0; b < n; b++)
		put_block(m, b);
	link_targets(m);
	return 0;
}

/* ---- the independent record of what a decoder must give back ---- */

static bool in_range(const struct synth *s, uint64_t ip, uint8_t cfg, bool *any)
{
	bool in = false;
	uint32_t i;

	for (i = 0; i < s->config.nranges; i++) {
		if (s->config.range[i].cfg != cfg)
			continue;
		*any = true;
		in |= ip >= s->config.range[i].a && ip <= s->config.range[i].b;
	}
	return in;
}

/* Does the configuration trace this privilege level and address space? */
static bool in_context(const struct machine *m)
{
	uint64_t ctl = m->s->config.ctl;

	return (ctl & (m->cpl ? RTIT_CTL_USER : RTIT_CTL_OS)) &&
	       (!(ctl & RTIT_CTL_CR3FILTER) || m->cr3 == USER_CR3);
}

/* Flow stands before the instruction at ip. */
static void stands(struct machine *m, uint64_t ip)
{
	bool any;

	m->ip = ip;
	if (m->on && in_context(m) && in_range(m->s, ip, RTIT_ADDR_CFG_STOP, &any)) {
		m->on = false;
		m->s->stopped = true;
	}
}

static void executed(struct machine *m, uint64_t ip)
{
	struct synth *s = m->s;
	bool any = false, in = in_range(s, ip, RTIT_ADDR_CFG_FILTER, &any);

	s->executed++;
	if (m->on && in_context(m) && (in || !any))
		s->ip[s->nip++] = ip;
}

/* ---- the unit's memory and its driver ---- */

static void *dram(void *ctx, uint64_t addr, uint64_t len)
{
	struct machine *m = ctx;

	return addr < DRAM_SIZE && len <= DRAM_SIZE - addr ? m->dram + addr : NULL;
}

/* Tables of eight entries each, chained, over BUFFER; STOP at the end. */
static void make_tables(struct machine *m)
{
	const struct synth_config *c = &m->s->config;
	uint64_t size = 0x1000ull << c->region_order, addr, table = TABLES, *e;
	uint32_t i = 0, n = 0;

	e = (uint64_t *)(m->dram + table);
	for (addr = BUFFER; addr + size <= DRAM_SIZE && n < REGIONS; addr += size, n++) {
		if (i == 7) {
			table += 0x1000;
			e[i] = table | TOPA_END;
			e = (uint64_t *)(m->dram + table);
			i = 0;
		}
		e[i++] = addr | (uint64_t)c->region_order << TOPA_SIZE_SHIFT |
			 (c->interrupts ? TOPA_INT : 0);
	}
	e[i - 1] |= TOPA_STOP;
}

/* How many bytes were written, from the registers alone. */
static uint64_t written(struct machine *m)
{
	uint64_t base = m->regs.msr[MSR_RTIT_OUTPUT_BASE - MSR_RTIT_FIRST];
	uint64_t ptrs = m->regs.msr[MSR_RTIT_OUTPUT_MASK_PTRS - MSR_RTIT_FIRST];
	uint64_t region = (base - TABLES) / 0x1000 * 7 +
			  ((ptrs & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT);

	return (region * 0x1000 << m->s->config.region_order) + (ptrs >> 32);
}

static uint64_t full_ctl(const struct synth_config *c)
{
	uint64_t ctl = c->ctl | RTIT_CTL_TOPA | RTIT_CTL_TRACEEN;
	uint32_t i;

	for (i = 0; i < c->nranges; i++)
		ctl |= (uint64_t)c->range[i].cfg << RTIT_CTL_ADDR_CFG_SHIFT(i);
	return ctl;
}

static int enable(struct machine *m)
{
	const struct synth_config *c = &m->s->config;
	int err = 0;
	uint32_t i;

	err |= pt_unit_wrmsr(m->unit, MSR_RTIT_OUTPUT_BASE, TABLES);
	err |= pt_unit_wrmsr(m->unit, MSR_RTIT_OUTPUT_MASK_PTRS, RTIT_MASK_LOWER);
	for (i = 0; i < c->nranges; i++) {
		err |= pt_unit_wrmsr(m->unit, MSR_RTIT_ADDRN_A(i), c->range[i].a);
		err |= pt_unit_wrmsr(m->unit, MSR_RTIT_ADDRN_B(i), c->range[i].b);
	}
	if (c->ctl & RTIT_CTL_CR3FILTER)
		err |= pt_unit_wrmsr(m->unit, MSR_RTIT_CR3_MATCH, USER_CR3);
	pt_unit_set_context(m->unit, m->cpl, m->cr3, m->ip);
	err |= pt_unit_wrmsr(m->unit, MSR_RTIT_CTL, full_ctl(c));
	m->on = true;
	stands(m, m->ip);
	return err ? -EIO : 0;
}

/* A driver that stops the unit, looks, and starts it where it was. */
static void interrupt(void *ctx)
{
	struct machine *m = ctx;

	pt_unit_wrmsr(m->unit, MSR_RTIT_CTL, 0);
	pt_unit_wrmsr(m->unit, MSR_RTIT_CTL, full_ctl(&m->s->config));
}

/* ---- execution ---- */

static const struct insn *insn_at(struct machine *m, uint64_t ip)
{
	return &m->insn[m->at[ip - m->s->code_base] - 1];
}

static uint64_t block_ip(struct machine *m, uint32_t b)
{
	return m->s->code_base + m->insn[m->block[b]].off;
}

/* Some instruction's address: where handlers and bad returns go. */
static uint64_t any_ip(struct machine *m)
{
	return m->s->code_base + m->insn[below(m, m->ninsn)].off;
}

/* The run at ip, ended by a branch or cut. */
static const struct insn *make_run(struct machine *m)
{
	uint32_t n = 0, max = chance(m, m->s->config.ncuts) ? 1 + below(m, 4) : RUN_MAX;
	uint64_t ip = m->ip;
	const struct insn *i;
	uint8_t len[RUN_MAX];

	do {
		i = insn_at(m, ip);
		len[n++] = i->len;
		ip += i->len;
	} while (i->kind == RUN_SEQ && n < max);
	run_init(m->run, m->ip, n, len, i->kind, i->target);
	return i;
}

static uint64_t return_target(struct machine *m)
{
	if (!m->depth)
		return any_ip(m);
	m->depth--;
	if (chance(m, m->s->config.nbadrets))
		return any_ip(m);
	return m->calls[m->depth];
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
		return block_ip(m, below(m, m->s->config.nblocks));
	case RUN_JMP_IND:
		return below(m, 3) ? block_ip(m, below(m, m->s->config.nblocks))
				   : any_ip(m);
	case RUN_RET:
		return return_target(m);
	default:
		return r->end;
	}
}

/* n instructions of the run. */
static void execute(struct machine *m, const struct run *r, uint32_t n)
{
	uint64_t ip = r->start;
	uint32_t i;

	for (i = 0; i < n; i++) {
		stands(m, ip);
		executed(m, ip);
		ip += r->len[i];
	}
}

/* Some privilege level and address space, for code that is anywhere. */
static void switch_context(struct machine *m)
{
	m->cpl = below(m, 2) ? 3 : 0;
	m->cr3 = below(m, 3) ? USER_CR3 : OTHER_CR3;
}

/* An event from outside: to the kernel and back, or within user space. */
static void trap(struct machine *m, uint64_t from)
{
	uint64_t to = below(m, 2) ? from : any_ip(m);

	stands(m, from);
	if (m->s->config.privileges) {
		switch_context(m);
		pt_unit_async(m->unit, from, m->cpl, m->cr3, to);
	} else if (below(m, 3)) {
		pt_unit_async(m->unit, from, 0, USER_CR3, KERNEL + below(m, 4096));
		pt_unit_enter(m->unit, 3, USER_CR3, to);
	} else {
		pt_unit_async(m->unit, from, 3, USER_CR3, to);
	}
	stands(m, to);
}

/* The run up to its last instruction, one instruction a run; r becomes the last. */
static void feed_singly(struct machine *m, struct run *r)
{
	union {
		struct run r;
		uint8_t room[sizeof(struct run) + 8];
	} one;
	uint64_t ip = r->start;
	uint32_t i;

	for (i = 0; i + 1 < r->ninsn; i++, ip = one.r.end) {
		run_init(&one.r, ip, 1, &r->len[i], RUN_SEQ, 0);
		pt_unit_feed(m->unit, &one.r, one.r.end);
	}
	run_init(r, ip, 1, &r->len[i], r->kind, r->target);
}

static void feed(struct machine *m, struct run *r, uint64_t next)
{
	bool inlined = below(m, 4);

	if (m->s->config.feeding == SYNTH_SINGLY)
		feed_singly(m, r);
	if (m->s->config.feeding == SYNTH_OUT_OF_LINE || !inlined)
		pt_unit_run(m->unit, r, r->ninsn, next);
	else
		pt_unit_feed(m->unit, r, next);
}

static void disturb(struct machine *m)
{
	const struct synth_config *c = &m->s->config;

	if (chance(m, c->nbreaks)) {
		pt_unit_break(m->unit, m->ip);
		pt_unit_resume(m->unit, m->ip);
	}
	if (chance(m, c->tsc_jumps))
		pt_unit_set_tsc(m->unit, pt_unit_tsc(m->unit) + below(m, 5000));
	if (chance(m, c->cbr_changes))
		pt_unit_set_cbr(m->unit, 8 + below(m, 20));
	if (chance(m, c->noverflows)) {
		if (m->overflow)
			pt_unit_overflow_end(m->unit, m->ip);
		else
			pt_unit_overflow_begin(m->unit);
		m->overflow = !m->overflow;
		m->s->lossy = true;
	}
}

static void step(struct machine *m)
{
	struct run *r = m->run;
	uint64_t next;
	uint32_t n, i;

	make_run(m);
	if (chance(m, m->s->config.ntraps)) {
		n = below(m, r->ninsn);
		execute(m, r, n);
		for (i = 0, next = r->start; i < n; i++)
			next += r->len[i];
		pt_unit_run(m->unit, r, n, next);
		trap(m, next);
		return;
	}
	execute(m, r, r->ninsn);
	next = successor(m, r);
	if (r->kind == RUN_FAR && m->s->config.privileges) {
		switch_context(m);
		next = any_ip(m);
		pt_unit_far(m->unit, r, m->cpl, m->cr3, next);
	} else if (r->kind == RUN_FAR) {
		pt_unit_far(m->unit, r, 0, USER_CR3, KERNEL);
		if (!below(m, 4))
			next = any_ip(m);
		pt_unit_enter(m->unit, 3, USER_CR3, next);
	} else {
		feed(m, r, next);
	}
	stands(m, next);
}

static int execute_all(struct machine *m)
{
	struct synth *s = m->s;
	const struct pt_unit_host host = {
		.ctx = m, .memory = dram, .interrupt = interrupt};
	uint32_t i;
	int err;

	m->ip = s->code_base;
	m->cpl = 3;
	m->cr3 = USER_CR3;
	m->run = malloc(run_size(RUN_MAX));
	m->unit = malloc(pt_unit_size());
	m->dram = calloc(1, DRAM_SIZE);
	s->ip = calloc((size_t)s->config.nsteps * RUN_MAX, sizeof(*s->ip));
	if (!m->run || !m->unit || !m->dram || !s->ip)
		return -ENOMEM;
	make_tables(m);
	pt_unit_init(m->unit, &m->regs, NULL, &host);
	pt_unit_set_fifo(m->unit, s->config.fifo);
	pt_unit_set_defer_tips(m->unit, s->config.defer_tips);
	err = enable(m);
	if (err)
		return err;
	for (i = 0; i < s->config.nsteps; i++) {
		step(m);
		disturb(m);
	}
	if (m->overflow)
		pt_unit_overflow_end(m->unit, m->ip);
	pt_unit_break(m->unit, m->ip);
	pt_unit_wrmsr(m->unit, MSR_RTIT_CTL, 0);
	s->tsc = pt_unit_tsc(m->unit);
	s->trace_len = written(m);
	s->trace = malloc(s->trace_len ? s->trace_len : 1);
	if (!s->trace)
		return -ENOMEM;
	memcpy(s->trace, m->dram + BUFFER, s->trace_len);
	return 0;
}

static void machine_free(struct machine *m)
{
	free(m->insn);
	free(m->block);
	free(m->at);
	free(m->run);
	free(m->unit);
	free(m->dram);
	free(m);
}

int synth_make(struct synth *s, const struct synth_config *c)
{
	struct machine *m = calloc(1, sizeof(*m));
	int err;

	memset(s, 0, sizeof(*s));
	if (!m)
		return -ENOMEM;
	s->config = *c;
	s->config.base = c->base ? c->base : 0x401000;
	s->config.nblocks = c->nblocks ? c->nblocks : 40;
	s->config.nsteps = c->nsteps ? c->nsteps : 400;
	s->config.ctl =
		c->ctl ? c->ctl : RTIT_CTL_USER | RTIT_CTL_BRANCHEN | RTIT_CTL_TSCEN;
	s->lossy = c->fifo != 0;
	s->code_base = s->config.base;
	s->priv = m;
	m->s = s;
	m->rng = c->seed;
	err = build(m);
	if (!err)
		err = execute_all(m);
	if (err)
		synth_free(s);
	return err;
}

void synth_free(struct synth *s)
{
	if (s->priv)
		machine_free(s->priv);
	free(s->code);
	free(s->trace);
	free(s->ip);
	memset(s, 0, sizeof(*s));
}

size_t synth_code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	const struct synth *s = ctx;
	uint64_t off = ip - s->code_base;

	if (off >= s->code_len)
		return 0;
	if (len > s->code_len - off)
		len = s->code_len - off;
	memcpy(buf, s->code + off, len);
	return len;
}

static const struct insn *find(const struct synth *s, uint64_t ip)
{
	const struct machine *m = s->priv;
	uint64_t off = ip - s->code_base;

	return off < s->code_len && m->at[off] ? &m->insn[m->at[off] - 1] : NULL;
}

unsigned int synth_insn_len(const struct synth *s, uint64_t ip)
{
	const struct insn *i = find(s, ip);

	return i ? i->len : 0;
}

uint64_t synth_next(const struct synth *s, uint64_t ip)
{
	const struct insn *i = find(s, ip);

	if (!i)
		return ip;
	return i->kind == RUN_JMP || i->kind == RUN_CALL ? i->target : ip + i->len;
}

void synth_randomise(struct synth_config *c, bool timing, bool filters)
{
	static const uint64_t bases[] = {
		0x401000, 0x555555554000, 0x7ffff7dd1ff0, 0x7fffffff0, 0xfffff000,
		0x7fffffffe000 - 0x20000,
	};
	struct machine m = {.rng = c->seed ^ 0x5eed};
	uint32_t i, span;

	c->base = bases[below(&m, 6)];
	c->nblocks = 5 + below(&m, 60);
	c->nsteps = 50 + below(&m, 800);
	c->ctl = RTIT_CTL_USER | RTIT_CTL_BRANCHEN;
	c->ctl |= below(&m, 2) ? RTIT_CTL_DISRETC : 0;
	c->ctl |= below(&m, 2) ? RTIT_CTL_TSCEN : 0;
	if (timing) {
		c->ctl |= RTIT_CTL_TSCEN;
		c->ctl |= below(&m, 2) ? RTIT_CTL_MTCEN : 0;
		c->ctl |= below(&m, 2) ? RTIT_CTL_CYCEN : 0;
		c->ctl |= (uint64_t)below(&m, 6) << RTIT_CTL_MTCFREQ_SHIFT;
		c->ctl |= (uint64_t)below(&m, 8) << RTIT_CTL_CYCTHRESH_SHIFT;
		c->tsc_jumps = below(&m, 40);
		c->cbr_changes = below(&m, 20);
	}
	c->ntraps = below(&m, 3) * below(&m, 60);
	c->nbreaks = below(&m, 3) * below(&m, 20);
	c->ncuts = below(&m, 400);
	c->nbadrets = below(&m, 200);
	c->syscalls = below(&m, 2);
	c->defer_tips = !below(&m, 3);
	c->interrupts = below(&m, 2);
	span = c->nblocks * 18;
	for (i = 0; filters && i < 1 + below(&m, PT_MAX_RANGES); i++) {
		c->range[i].a = c->base + below(&m, span);
		c->range[i].b = c->range[i].a + below(&m, span / 2);
		c->range[i].cfg =
			below(&m, 6) ? RTIT_ADDR_CFG_FILTER : RTIT_ADDR_CFG_STOP;
		c->nranges = i + 1;
	}
}

void synth_privileges(struct synth_config *c)
{
	struct machine m = {.rng = c->seed ^ 0xc0de};

	c->privileges = true;
	c->syscalls = true;
	c->ctl |= RTIT_CTL_OS;
	if (!below(&m, 3))
		c->ctl &= ~(below(&m, 2) ? RTIT_CTL_OS : RTIT_CTL_USER);
	if (!below(&m, 3))
		c->ctl |= RTIT_CTL_CR3FILTER;
}
