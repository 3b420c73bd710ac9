/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every packet and its boundaries: what the unit is told, and the bytes that
 * it gives, from the manual (33.4.2).  Each stream is also taken apart by
 * libipt's packet decoder and put together again by its encoder.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <intel-pt.h>
#include "models/pt/pt_feed.h"

#define BASE		0x401000ull
#define KERNEL		0xffffffff81000000ull
#define CR3		0x12345000ull
#define BUFFER		(1u << 20)

enum op {
	END, BITS, JMPI, CALL, CALLI, RET, JCC, JMP, STRAIGHT, FAR, ASYNC, ENTER, BREAK,
	RESUME, TSC, CBR, PAD, OVF, RESOLVE, FLUSH, DEFER, CONTEXT, STOP, START,
};

struct step {
	enum op op;
	uint64_t a, b, c;
	const char *bits;
};

struct row {
	const char *name;
	uint64_t ctl;			/* beside TraceEn, User, BranchEn; ~: alone */
	uint64_t range[2];		/* ADDR0 */
	struct step step[12];
	const char *bytes;		/* hex, of what comes after enabling */
	bool whole;			/* from the first byte on */
};

struct bench {
	struct pt_unit *u;
	struct pt_regs_file regs;
	uint8_t mem[BUFFER];
	uint64_t ip;
	uint64_t ctl;
};

static void *memory(void *ctx, uint64_t addr, uint64_t len)
{
	struct bench *b = ctx;

	return addr < BUFFER && len <= BUFFER - addr ? b->mem + addr : NULL;
}

static size_t offset(const struct bench *b)
{
	return b->regs.msr[MSR_RTIT_OUTPUT_MASK_PTRS - MSR_RTIT_FIRST] >> 32;
}

/* One instruction of two bytes at ip. */
static struct run *one(uint64_t ip, enum run_end kind, uint64_t target)
{
	static union {
		struct run r;
		uint8_t room[sizeof(struct run) + 8];
	} one;
	static const uint8_t len = 2;

	run_init(&one.r, ip, 1, &len, kind, target);
	return &one.r;
}

static void feed(struct bench *b, enum run_end kind, uint64_t target, uint64_t next)
{
	pt_unit_feed(b->u, one(b->ip, kind, target), next);
	b->ip = next;
}

/* T and N of a branch that jumps to itself; after N a jump comes back to it. */
static void bits(struct bench *b, const char *p)
{
	uint64_t ip = b->ip;

	for (; *p; p++) {
		feed(b, RUN_JCC, ip, *p == 'T' ? ip : ip + 2);
		if (*p != 'T')
			feed(b, RUN_JMP, ip, ip);
	}
}

static void straight(struct bench *b, uint64_t n)
{
	while (n--)
		feed(b, RUN_SEQ, 0, b->ip + 2);
}

static void step(struct bench *b, const struct step *s)
{
	switch (s->op) {
	case END: break;
	case BITS: bits(b, s->bits); break;
	case JMPI: feed(b, RUN_JMP_IND, 0, s->a); break;
	case CALL: feed(b, RUN_CALL, s->a, s->a); break;
	case CALLI: feed(b, RUN_CALL_IND, 0, s->a); break;
	case RET: feed(b, RUN_RET, 0, s->a); break;
	case JCC: feed(b, RUN_JCC, s->a, s->b); break;
	case JMP: feed(b, RUN_JMP, s->a, s->a); break;
	case STRAIGHT: straight(b, s->a); break;
	case FAR:
		pt_unit_far(b->u, one(b->ip, RUN_FAR, 0), s->b, s->c ? s->c : CR3, s->a);
		b->ip = s->a;
		break;
	case ASYNC:
		pt_unit_async(b->u, b->ip, s->b, s->c ? s->c : CR3, s->a);
		b->ip = s->a;
		break;
	case ENTER:
		pt_unit_enter(b->u, 3, CR3, s->a);
		b->ip = s->a;
		break;
	case BREAK: pt_unit_break(b->u, b->ip); break;
	case RESUME: pt_unit_resume(b->u, b->ip); break;
	case TSC: pt_unit_set_tsc(b->u, s->a); break;
	case CBR: pt_unit_set_cbr(b->u, s->a); break;
	case PAD: pt_unit_pad(b->u, s->a); break;
	case OVF: pt_unit_overflow_begin(b->u); break;
	case RESOLVE: pt_unit_overflow_end(b->u, b->ip); break;
	case FLUSH: pt_unit_flush(b->u); break;
	case DEFER: pt_unit_set_defer_tips(b->u, s->a); break;
	case CONTEXT: pt_unit_set_context(b->u, s->b, s->c, b->ip); break;
	case STOP: pt_unit_wrmsr(b->u, MSR_RTIT_CTL, 0); break;
	case START: pt_unit_wrmsr(b->u, MSR_RTIT_CTL, b->ctl); break;
	}
}

#define USERONLY	(RTIT_CTL_USER | RTIT_CTL_BRANCHEN)
#define T46		"TNTNTTNTNTTNTNTTNTNTTNTNTTNTNTTNTNTTNTNTTNTNTT"
#define MTC0		(RTIT_CTL_MTCEN | 0ull << RTIT_CTL_MTCFREQ_SHIFT)
#define FILTER0		(RTIT_ADDR_CFG_FILTER << RTIT_CTL_ADDR_CFG_SHIFT(0))
#define STOP0		(RTIT_ADDR_CFG_STOP << RTIT_CTL_ADDR_CFG_SHIFT(0))
#define PSB16		"0282028202820282028202820282 0282 "
#define CBR10		"0203 0a00 "
#define PSBEND		"0223 "

static const struct row rows[] = {
	/* 33.4.2.1 */
	{"TNT 1 taken", 0, {0}, {{BITS, .bits = "T"}, {FLUSH}}, "06"},
	{"TNT 1 not taken", 0, {0}, {{BITS, .bits = "N"}, {FLUSH}}, "04"},
	{"TNT 2", 0, {0}, {{BITS, .bits = "TN"}, {FLUSH}}, "0c"},
	{"TNT 6", 0, {0}, {{BITS, .bits = "TNNTTN"}, {FLUSH}}, "cc"},
	{"TNT 7", 0, {0}, {{BITS, .bits = "TNNTTNT"}, {FLUSH}}, "cc 06"},
	{"TNT 12", 0, {0}, {{BITS, .bits = "TNNTTNTTTTTT"}, {FLUSH}}, "cc fe"},
	{"TNT 46: short ones", 0, {0}, {{BITS, .bits = T46}, {FLUSH}},
	 "d6acdab4ead6ac36"},
	{"TNT 47: long, by itself", 0, {0}, {{BITS, .bits = T46 "N"}},
	 "02a3d65a6badb5d6"},
	{"TNT 47 and one more", 0, {0}, {{BITS, .bits = T46 "TN"}, {FLUSH}},
	 "02a3d75a6badb5d604"},
	{"nothing pending", 0, {0}, {{FLUSH}, {FLUSH}}, ""},

	/* 33.4.2.2: the last IP is BASE, from TIP.PGE */
	{"TIP same IP", 0, {0}, {{JMPI, BASE}}, "2d 0010"},
	{"TIP 16 bits", 0, {0}, {{JMPI, 0x40ffff}}, "2d ffff"},
	{"TIP 32 bits, bit 16 differs", 0, {0}, {{JMPI, 0x411000}}, "4d 00104100"},
	{"TIP 32 bits", 0, {0}, {{JMPI, 0xfffff000}}, "4d 00f0ffff"},
	{"TIP 48 bits", 0, {0}, {{JMPI, 0x100000000}}, "6d 000000000100"},
	{"TIP 48 bits, top user", 0, {0}, {{JMPI, 0x7fffffffffff}}, "6d ffffffffff7f"},
	{"TIP 48 bits sign-extended", 0, {0}, {{JMPI, KERNEL}}, "6d 000000 81ffff"},
	{"TIP 48 bits, lowest kernel", 0, {0}, {{JMPI, 0xffff800000000000}},
	 "6d 000000000080"},
	{"TIP 48-bit update: not a sign", 0, {0}, {{JMPI, 0x0000800000000000}},
	 "8d 000000000080"},
	{"TIP full", 0, {0}, {{JMPI, 0x0100000000401000}}, "cd 0010400000000001"},
	{"TIP 48-bit update", 0, {0},
	 {{JMPI, 0x0100000000401000}, {JMPI, 0x0100123400401000}},
	 "cd 0010400000000001 8d 001040003412"},
	{"TIP 32 bits above a full one", 0, {0},
	 {{JMPI, 0x0100000000401000}, {JMPI, 0x01000000ffff0000}},
	 "cd 0010400000000001 4d 0000ffff"},
	{"TIP full to user", 0, {0}, {{JMPI, 0x0100000000401000}, {JMPI, BASE}},
	 "cd 0010400000000001 6d 001040000000"},
	{"TNT before TIP", 0, {0}, {{BITS, .bits = "TT"}, {JMPI, BASE}}, "0e 2d 0010"},

	/* return compression */
	{"RET compressed", 0, {0}, {{CALL, 0x402000}, {RET, BASE + 2}, {FLUSH}}, "06"},
	{"RET of an indirect call", 0, {0}, {{CALLI, 0x402000}, {RET, BASE + 2}, {FLUSH}},
	 "2d 0020 06"},
	{"RET, compression off", RTIT_CTL_DISRETC, {0},
	 {{CALL, 0x402000}, {RET, BASE + 2}},
	 "2d 0210"},
	{"RET without call", 0, {0}, {{RET, BASE + 2}}, "2d 0210"},
	{"call of the next is no call", 0, {0}, {{CALL, BASE + 2}, {RET, BASE + 2}},
	 "2d 0210"},
	{"RET elsewhere empties the stack", 0, {0},
	 {{CALL, 0x402000}, {CALL, 0x403000}, {RET, 0x404000}, {RET, BASE + 2}},
	 "2d 0040 2d 0210"},
	{"RET across a break", 0, {0},
	 {{CALL, 0x402000}, {BREAK}, {RESUME}, {RET, BASE + 2}},
	 "3d 0020 01 31 0020 2d 0210"},
	{"RET across an event that stays", 0, {0},
	 {{CALL, 0x402000}, {ASYNC, 0x402000, 3}, {RET, BASE + 2}, {FLUSH}},
	 "3d 0020 2d 0020 06"},
	{"RET across a syscall", 0, {0},
	 {{CALL, 0x402000}, {FAR, KERNEL, 0}, {ENTER, 0x402002}, {RET, BASE + 2}},
	 "01 31 0220 2d 0210"},

	/* 33.4.2.3 deferred TIPs */
	{"deferred TIP", 0, {0}, {{DEFER, 1}, {BITS, .bits = "T"}, {JMPI, 0x402000},
	 {BITS, .bits = "N"}, {JMPI, 0x403000}, {BITS, .bits = "T"}, {FLUSH}},
	 "1a 2d 0020 2d 0030"},
	{"deferred TIPs behind 7 bits", 0, {0}, {{DEFER, 1}, {BITS, .bits = "TTTTTTT"},
	 {JMPI, 0x402000}, {FLUSH}}, "02a3 ff0000000000 2d 0020"},
	{"an uncompressed RET defers nothing", 0, {0}, {{DEFER, 1}, {BITS, .bits = "T"},
	 {JMPI, 0x402000}, {RET, 0x403000}, {BITS, .bits = "T"}, {FLUSH}},
	 "06 2d 0020 2d 0030 06"},

	/* far transfers and events (table 33-50) */
	{"syscall", 0, {0}, {{FAR, KERNEL, 0}, {ENTER, BASE + 2}}, "01 31 0210"},
	{"syscall with bits pending", 0, {0}, {{BITS, .bits = "T"}, {FAR, KERNEL, 0}},
	 "06 01"},
	{"far transfer that stays", 0, {0}, {{FAR, 0x402000, 3}}, "2d 0020"},
	{"interrupt", 0, {0}, {{ASYNC, KERNEL, 0}, {ENTER, BASE}}, "3d 0010 01 31 0010"},
	{"event that stays", 0, {0}, {{ASYNC, 0x402000, 3}}, "3d 0010 2d 0020"},
	{"interrupt into a traced kernel", RTIT_CTL_OS, {0}, {{ASYNC, KERNEL, 0}},
	 "3d 0010 6d 00000081ffff"},
	{"syscall with another CR3", RTIT_CTL_OS, {0}, {{FAR, KERNEL, 0, 0x7ffff000}},
	 "0243 00ffff070000 6d 00000081ffff"},
	{"MOV CR3 out of the filter", RTIT_CTL_CR3FILTER, {0}, {{CONTEXT, 0, 3, 0x5000}},
	 "3d 0010 01"},
	{"break and resume", 0, {0}, {{BREAK}, {RESUME}}, "3d 0010 01 31 0010"},
	{"disabled while tracing", 0, {0}, {{BITS, .bits = "N"}, {STOP}}, "04 01"},
	{"next that does not follow", 0, {0},
	 {{JMP, BASE + 0x10}, {JCC, 0x402000, 0x403000}},
	 "04 3d 1210 2d 0030"},

	/* filters (33.2.4.3): the range is [401000, 40100f] */
	{"direct jump out", FILTER0, {BASE, BASE + 15}, {{JMP, 0x402000}}, "21 0020"},
	{"direct call out and RET back", FILTER0, {BASE, BASE + 15},
	 {{CALL, 0x402000}, {STRAIGHT, 3}, {RET, BASE + 2}}, "21 0020 31 0210"},
	{"taken branch out", FILTER0, {BASE, BASE + 15}, {{JCC, 0x402000, 0x402000}},
	 "21 0020"},
	{"not taken, falls out", FILTER0, {BASE, BASE + 1}, {{JCC, BASE, BASE + 2}},
	 "04 3d 0210 21 0210"},
	{"falls out", FILTER0, {BASE, BASE + 3}, {{STRAIGHT, 4}}, "3d 0410 21 0410"},
	{"falls out and in", FILTER0, {BASE, BASE + 3},
	 {{STRAIGHT, 4}, {JMP, BASE - 4}, {STRAIGHT, 3}}, "3d 0410 21 0410 31 0010"},
	{"far transfer out of the range", FILTER0, {BASE, BASE + 15},
	 {{FAR, 0x402000, 3}},
	 "21 0020"},
	{"syscall out of range and context", FILTER0, {BASE, BASE + 15},
	 {{FAR, KERNEL, 0}},
	 "01"},
	{"indirect out", FILTER0, {BASE, BASE + 15},
	 {{BITS, .bits = "T"}, {JMPI, 0x402000}},
	 "06 21 0020"},
	{"TraceStop by a jump", STOP0, {0x402000, 0x402fff},
	 {{JMP, 0x402000}, {JMP, BASE}, {JMPI, BASE}}, "21 0020 0283"},
	{"TraceStop by walking", STOP0, {BASE + 4, BASE + 7}, {{STRAIGHT, 4}},
	 "3d 0410 21 0410 0283"},

	/* OVF (33.4.2.16) */
	{"overflow", 0, {0}, {{BITS, .bits = "TT"}, {OVF}, {JMPI, 0x402000}, {RESOLVE},
	 {BITS, .bits = "T"}, {FLUSH}}, "02f3 7d 002040000000 06"},
	{"overflow resolved out of context", 0, {0}, {{OVF}, {FAR, KERNEL, 0}, {RESOLVE},
	 {ENTER, BASE}}, "02f3 9901 71 001040000000"},
	{"disabled in an overflow", 0, {0}, {{JMPI, 0x402000}, {OVF}, {JMPI, BASE}, {STOP}},
	 "2d 0020 02f3"},
	{"return across an overflow", 0, {0},
	 {{CALL, 0x402000}, {OVF}, {RESOLVE}, {RET, BASE + 2}},
	 "02f3 7d 002040000000 2d 0210"},

	/* time (33.4.2.10 to 33.4.2.14) */
	{"CBR", 0, {0}, {{BITS, .bits = "T"}, {CBR, 34}, {CBR, 34}}, "06 0203 2200"},
	{"TSC", RTIT_CTL_TSCEN, {0},
	 {{BITS, .bits = "T"}, {TSC, 0x0123456789abcd}, {TSC, 5}},
	 "06 19 cdab8967452301"},
	{"TSC off", 0, {0}, {{TSC, 1000}}, ""},
	{"TSC and TMA", RTIT_CTL_TSCEN | MTC0, {0}, {{TSC, 40 * 0x12345 + 7}},
	 "19 cf822d00000000 0273 4523 00 0700"},
	{"MTC each 40 ticks", MTC0, {0}, {{STRAIGHT, 121}}, "5901 5902 5903"},
	{"MTC in the middle of bits", MTC0, {0},
	 {{BITS, .bits = "TTTT"}, {STRAIGHT, 36}, {BITS, .bits = "T"}, {FLUSH}},
	 "3e 5901 06"},
	{"MTCFreq 3", RTIT_CTL_MTCEN | 3 << RTIT_CTL_MTCFREQ_SHIFT, {0},
	 {{STRAIGHT, 641}},
	 "5901 5902"},
	{"CYC before TIP", RTIT_CTL_CYCEN, {0}, {{STRAIGHT, 4}, {JMPI, BASE}},
	 "2b 2d 0010"},
	{"CYC 31", RTIT_CTL_CYCEN, {0}, {{STRAIGHT, 30}, {JMPI, BASE}}, "fb 2d 0010"},
	{"CYC 32: two bytes", RTIT_CTL_CYCEN, {0}, {{STRAIGHT, 31}, {JMPI, BASE}},
	 "0702 2d 0010"},
	{"CYC 4095", RTIT_CTL_CYCEN, {0}, {{STRAIGHT, 4094}, {JMPI, BASE}},
	 "fffe 2d 0010"},
	{"CYC 4096: three bytes", RTIT_CTL_CYCEN, {0}, {{STRAIGHT, 4095}, {JMPI, BASE}},
	 "07 0102 2d 0010"},
	{"CYC of TNT is its first branch's", RTIT_CTL_CYCEN, {0},
	 {{STRAIGHT, 3}, {BITS, .bits = "TTT"}, {FLUSH}}, "23 1e"},
	{"CYC below the threshold",
	 RTIT_CTL_CYCEN | 4ull << RTIT_CTL_CYCTHRESH_SHIFT, {0},
	 {{STRAIGHT, 3}, {JMPI, BASE}, {STRAIGHT, 3}, {JMPI, BASE}},
	 "2d 0010 43 2d 0010"},

	{"PAD", 0, {0}, {{BITS, .bits = "T"}, {PAD, 3}}, "06 000000"},

	/* PSB+ (33.3.7) */
	{"PSB+, PGE", 0, {0}, {{END}}, PSB16 CBR10 PSBEND "9901 51 00104000", true},
	{"PSB+ with TSC", RTIT_CTL_TSCEN, {0}, {{END}},
	 PSB16 "1900000000000000 " CBR10 PSBEND "9901 51 00104000", true},
	{"PSB+ with TMA", RTIT_CTL_TSCEN | RTIT_CTL_MTCEN, {0}, {{END}},
	 PSB16 "1900000000000000 02730000000000 " CBR10 PSBEND "9901 51 00104000", true},
	{"PSB+ with PIP", RTIT_CTL_OS, {0}, {{END}},
	 PSB16 "0243 004523010000 " CBR10 PSBEND "9901 51 00104000", true},
	{"PSB+ out of context", ~(RTIT_CTL_OS | RTIT_CTL_BRANCHEN), {0}, {{END}},
	 PSB16 CBR10 PSBEND, true},
	{"PSB+ without BranchEn", ~(RTIT_CTL_USER | RTIT_CTL_TSCEN), {0},
	 {{JMPI, BASE}, {FAR, KERNEL, 0}}, PSB16 "1900000000000000 " CBR10 PSBEND, true},
	{"restart without PSB", 0, {0}, {{BREAK}, {STOP}, {RESUME}, {START}},
	 "3d 0010 01 0203 0a00 9901 71 001040000000"},
};

static size_t unhex(const char *p, uint8_t *out)
{
	size_t n = 0;
	unsigned int v;

	for (; *p; p += 2) {
		while (*p == ' ')
			p++;
		if (!*p)
			break;
		assert_int_equal(sscanf(p, "%2x", &v), 1);
		out[n++] = v;
	}
	return n;
}

/* libipt reads the bytes as packets, and writes the same bytes from them. */
static void foreign(const uint8_t *p, size_t n, const char *name)
{
	struct pt_packet_decoder *d;
	struct pt_encoder *e;
	struct pt_config config;
	struct pt_packet pkt;
	uint8_t *copy = calloc(1, n + 64);
	uint64_t at = 0;
	int status;

	pt_config_init(&config);
	config.begin = (uint8_t *)p;
	config.end = (uint8_t *)p + n;
	d = pt_pkt_alloc_decoder(&config);
	config.begin = copy;
	config.end = copy + n + 64;
	e = pt_alloc_encoder(&config);
	pt_pkt_sync_set(d, 0);
	while ((status = pt_pkt_next(d, &pkt, sizeof(pkt))) > 0) {
		status = pt_enc_next(e, &pkt);
		if (status <= 0)
			break;
		at += status;
	}
	if (status != -pte_eos || at != n || memcmp(copy, p, n)) {
		print_error("%s: libipt: %s after %llu of %zu bytes\n", name,
			    pt_errstr(pt_errcode(status)), (unsigned long long)at, n);
		fail();
	}
	pt_pkt_free_decoder(d);
	pt_free_encoder(e);
	free(copy);
}

static void start(struct bench *b, const struct row *row)
{
	static const struct pt_unit_host host = {.memory = memory};
	struct pt_unit_host h = host;

	memset(b->mem, 0xee, sizeof(b->mem));
	h.ctx = b;
	b->ip = BASE;
	b->ctl = RTIT_CTL_TRACEEN | (row->ctl >> 63 ? ~row->ctl : row->ctl | USERONLY);
	pt_unit_init(b->u, &b->regs, NULL, &h);
	pt_unit_wrmsr(b->u, MSR_RTIT_OUTPUT_MASK_PTRS, BUFFER - 1);
	pt_unit_wrmsr(b->u, MSR_RTIT_CR3_MATCH, CR3);
	pt_unit_wrmsr(b->u, MSR_RTIT_ADDR0_A, row->range[0]);
	pt_unit_wrmsr(b->u, MSR_RTIT_ADDR0_B, row->range[1]);
	pt_unit_set_context(b->u, 3, CR3, BASE);
	assert_int_equal(pt_unit_wrmsr(b->u, MSR_RTIT_CTL, b->ctl), 0);
}

static void show(const char *what, const uint8_t *p, size_t n)
{
	char line[200];
	size_t i;

	for (i = 0; i < n && i < 60; i++)
		snprintf(line + 3 * i, sizeof(line) - 3 * i, " %02x", p[i]);
	line[3 * i] = 0;
	print_error("  %s:%s\n", what, line);
}

static void packets(void **state)
{
	struct bench *b = *state;
	uint8_t expected[256];
	size_t i, n, from, wrong = 0;
	unsigned int k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(b, &rows[i]);
		from = rows[i].whole ? 0 : offset(b);
		for (k = 0; k < 12; k++)
			step(b, &rows[i].step[k]);
		n = unhex(rows[i].bytes, expected);
		if (offset(b) - from != n || memcmp(b->mem + from, expected, n)) {
			print_error("%s:\n", rows[i].name);
			show("expected", expected, n);
			show("got", b->mem + from, offset(b) - from);
			wrong++;
		}
		assert_int_equal(b->mem[offset(b)], 0xee);
		foreign(b->mem, offset(b), rows[i].name);
	}
	assert_int_equal(wrong, 0);
}

/* Short TNTs of six bits, oldest first, then the rest; 47 bits are one long TNT. */
static void tnt_of_each_length(void **state)
{
	struct bench *b = *state;
	struct row row = {.name = "TNT"};
	unsigned int n, round, i, k, len;
	uint64_t rng = 1, payload;
	uint8_t expected[9];
	char p[48];
	size_t from;

	for (n = 1; n <= 47; n++) {
		for (round = 0; round < 8; round++) {
			rng = rng * 6364136223846793005ull + 1442695040888963407ull;
			for (i = 0; i < n; i++)
				p[i] = rng >> (63 - i) & 1 ? 'T' : 'N';
			p[n] = 0;
			for (i = 0, len = 0; i < n && n < 47; i = k) {
				payload = 1;
				for (k = i; k < n && k < i + 6; k++)
					payload = payload << 1 | (p[k] == 'T');
				expected[len++] = payload << 1;
			}
			if (n == 47) {
				payload = 1ull << 47 | rng >> 17;
				memcpy(expected, "\x02\xa3", 2);
				memcpy(expected + 2, &payload, 6);
				len = 8;
			}
			start(b, &row);
			from = offset(b);
			bits(b, p);
			pt_unit_flush(b->u);
			assert_int_equal(offset(b) - from, len);
			assert_memory_equal(b->mem + from, expected, len);
			foreign(b->mem, offset(b), row.name);
		}
	}
}

/* PSB each 2K << n bytes, with the IP while tracing, without outside. */
static void psb_frequency(void **state)
{
	struct bench *b = *state;
	uint8_t expected[64];
	struct row row = {.name = "PSB"};
	unsigned int freq;
	size_t n, at;

	for (freq = 0; freq < 6; freq++) {
		row.ctl = (uint64_t)freq << RTIT_CTL_PSBFREQ_SHIFT;
		start(b, &row);
		at = offset(b);
		while (offset(b) < (2048u << freq)) {
			at = offset(b);
			feed(b, RUN_JMP_IND, 0, at & 8 ? 0x402000 : BASE);
		}
		/* The TIP that crossed the border, then PSB+ at once. */
		n = unhex(PSB16 CBR10 "9901 7d 000000000000" PSBEND, expected);
		memcpy(expected + 23, &b->ip, 4);
		assert_int_equal(offset(b), at + 3 + n);
		assert_memory_equal(b->mem + at + 3, expected, n);
		foreign(b->mem, offset(b), row.name);
	}
}

/* What a block loads into CR3 at its end is told before a PSB+ that is due there. */
static void psb_behind_the_load_of_cr3(void **state)
{
	struct bench *b = *state;
	struct row row = {.name = "PSB behind PIP", .ctl = RTIT_CTL_OS | MTC0};
	uint8_t expected[32];
	size_t n, at;

	start(b, &row);
	/* MTCs fill it up. */
	while (offset(b) < 2048)
		straight(b, 1);
	at = offset(b);
	pt_unit_set_context(b->u, 3, CR3 + 0x1000, b->ip);
	n = unhex("0243 004623010000 " PSB16, expected);
	assert_memory_equal(b->mem + at, expected, n);
	foreign(b->mem, offset(b), row.name);
}

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	if (b)
		b->u = malloc(pt_unit_size());
	*state = b;
	return b && b->u ? 0 : -1;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	free(b->u);
	free(b);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets),
		cmocka_unit_test(tnt_of_each_length),
		cmocka_unit_test(psb_frequency),
		cmocka_unit_test(psb_behind_the_load_of_cr3),
	};

	return cmocka_run_group_tests_name("pt_packets", tests, setup, teardown);
}
