/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast the unit takes runs: a recorded path through random blocks of five
 * instructions, fed as the plugin feeds it.  The share of each kind of branch
 * is about that of gzip.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "models/pt/pt_feed.h"

#define NBLOCKS		2048
#define NPATH		(1u << 16)
#define DRAM_SIZE	(64u << 20)
#define NINSN		5

struct mix {
	const char *name;
	unsigned int jcc, seq, jmp, call, ind;	/* of 1000; the rest returns */
};

static const struct mix mixes[] = {
	{"jcc, jmp, call", 700, 150, 100, 50, 0},
	{"gzip-like", 700, 120, 60, 55, 10},
	{"many calls", 400, 100, 100, 180, 40},
	{"indirect", 300, 100, 100, 50, 400},
};

static uint8_t *memory;
static struct run *block[NBLOCKS];
static struct run *path[NPATH + 1];
static uint64_t rng = 1;

static uint32_t rnd(uint32_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (rng >> 20) % n;
}

static void *dram(void *ctx, uint64_t addr, uint64_t len)
{
	return addr < DRAM_SIZE && len <= DRAM_SIZE - addr ? memory + addr : NULL;
}

static uint64_t start_of(uint32_t b)
{
	return 0x401000 + (uint64_t)b * 20;
}

static void make_blocks(const struct mix *m)
{
	static const uint8_t len[NINSN] = {4, 4, 4, 4, 4};
	uint32_t i, p;
	int kind;

	for (i = 0; i < NBLOCKS; i++) {
		p = rnd(1000);
		if (p < m->jcc)
			kind = RUN_JCC;
		else if ((p -= m->jcc) < m->seq)
			kind = RUN_SEQ;
		else if ((p -= m->seq) < m->jmp)
			kind = RUN_JMP;
		else if ((p -= m->jmp) < m->call)
			kind = RUN_CALL;
		else if ((p -= m->call) < m->ind)
			kind = RUN_JMP_IND;
		else
			kind = RUN_RET;
		if (i == NBLOCKS - 1)
			kind = RUN_JMP;
		run_init(block[i], start_of(i), NINSN, len, kind,
			 kind >= RUN_JCC && kind <= RUN_CALL ? start_of(rnd(NBLOCKS))
							     : 0);
	}
}

/* A path with loops of its own, as programs have them. */
static void make_path(const struct mix *m)
{
	static uint32_t stack[1 << 16];
	uint32_t depth = 0, b = 0, i, t;
	struct run *r;

	for (i = 0; i <= NPATH; i++) {
		r = path[i] = block[b];
		t = (r->target - 0x401000) / 20;
		switch (r->kind) {
		case RUN_JCC:
			b = (r->start ^ i >> 4) * 0x9e3779b1u >> 16 & 3 ? b + 1 : t;
			break;
		case RUN_JMP:
			b = t;
			break;
		case RUN_CALL:
			stack[depth++ & 0xffff] = b + 1;
			b = t;
			break;
		case RUN_RET:
			b = depth ? stack[--depth & 0xffff] : rnd(NBLOCKS);
			break;
		case RUN_JMP_IND:
			b = rnd(NBLOCKS);
			break;
		default:
			b++;
		}
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static uint64_t feed_all(struct pt_unit *u, unsigned int rounds)
{
	unsigned int i, n;

	for (n = 0; n < rounds; n++) {
		for (i = 0; i < NPATH; i++)
			pt_unit_feed(u, path[i], path[i + 1]->start);
		/* The path's end joins its beginning by an event. */
		pt_unit_async(u, path[NPATH]->start, 3, 0, path[0]->start);
	}
	return (uint64_t)rounds * NPATH * NINSN;
}

struct how {
	const char *name;
	uint64_t ctl, a, b;		/* and ADDR0's range */
};

#define PSB64K	(RTIT_CTL_TSCEN | 5ull << RTIT_CTL_PSBFREQ_SHIFT)
#define FILTER	(RTIT_ADDR_CFG_FILTER << RTIT_CTL_ADDR_CFG_SHIFT(0))

static const struct how hows[] = {
	{"default", PSB64K, 0, 0},
	{"no return compression", PSB64K | RTIT_CTL_DISRETC, 0, 0},
	{"inside a filter", PSB64K | FILTER, 0x400000, 0x4fffff},
	{"outside a filter", PSB64K | FILTER, 0x10000, 0x1ffff},
	{"MTC each 320 insns", PSB64K | RTIT_CTL_MTCEN | 3 << RTIT_CTL_MTCFREQ_SHIFT, 0,
	 0},
	{"CYC", PSB64K | RTIT_CTL_CYCEN, 0, 0},
};

static void measure(struct pt_unit *u, const struct mix *m, const struct how *how)
{
	static struct pt_regs_file regs;
	const struct pt_unit_host host = {.memory = dram};
	uint64_t insns, bytes;
	double t;

	pt_unit_init(u, &regs, NULL, &host);
	pt_unit_wrmsr(u, MSR_RTIT_OUTPUT_MASK_PTRS, DRAM_SIZE - 1);
	pt_unit_wrmsr(u, MSR_RTIT_ADDR0_A, how->a);
	pt_unit_wrmsr(u, MSR_RTIT_ADDR0_B, how->b);
	pt_unit_set_context(u, 3, 0, path[0]->start);
	pt_unit_wrmsr(u, MSR_RTIT_CTL,
		      how->ctl | RTIT_CTL_TRACEEN | RTIT_CTL_USER | RTIT_CTL_BRANCHEN);
	feed_all(u, 4);
	bytes = regs.msr[1] >> 32;
	t = now();
	insns = feed_all(u, 100);
	t = now() - t;
	printf("%-16s %-22s %7.0f M insns/s  %.4f bytes/insn\n", m->name, how->name,
	       insns / t / 1e6, (double)bytes / (4.0 * NPATH * NINSN));
}

int main(void)
{
	struct pt_unit *u = malloc(pt_unit_size());
	unsigned int i, k;

	memory = malloc(DRAM_SIZE);
	if (!u || !memory)
		return 1;
	memset(memory, 0, DRAM_SIZE);
	for (i = 0; i < NBLOCKS; i++) {
		block[i] = malloc(run_size(NINSN));
		if (!block[i])
			return 1;
	}
	for (i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++) {
		make_blocks(&mixes[i]);
		make_path(&mixes[i]);
		for (k = 0; k < sizeof(hows) / sizeof(hows[0]); k++)
			measure(u, &mixes[i], &hows[k]);
	}
	return 0;
}
