/* SPDX-License-Identifier: BSD-2-Clause */
/* What the ETM writes, byte by byte: a row for each packet form and boundary. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "models/coresight/etm4_feed.h"

#define BASE	0x400000ull

struct fixture {
	struct etm_unit *u;
	struct cs_regs regs;
	uint8_t out[1 << 16];
	size_t n;
	bool refuse;
	unsigned int stalls;
	uint64_t later;		/* time of the unit's clock after a stall */
	uint64_t clock;
};

static struct fixture f;

static bool output(void *ctx, uint8_t id, const uint8_t *bytes, size_t n)
{
	if (f.refuse)
		return false;
	assert_int_equal(id, n ? 0x21 : 0);
	if (n)
		memcpy(f.out + f.n, bytes, n);
	f.n += n;
	return true;
}

static bool stall(void *ctx)
{
	f.stalls++;
	f.refuse = false;
	if (f.later)
		etm_unit_set_clock(f.u, f.later);
	return true;
}

static uint64_t host_clock(void *ctx)
{
	return f.clock;
}

static void reg(uint32_t offset, uint64_t value)
{
	assert_int_equal(etm_unit_write(f.u, offset, value), 0);
}

/* Unlocked and set up to trace EL0; not enabled. */
static void power_on(uint32_t configr, bool clock)
{
	const struct etm_unit_host host = {
		.output = output, .stall = stall, .clock = clock ? host_clock : NULL};

	if (!f.u)
		f.u = malloc(etm_unit_size());
	f.n = 0;
	f.refuse = false;
	etm_unit_init(f.u, &f.regs, &host);
	reg(CS_LAR, CS_LAR_KEY);
	reg(TRCOSLAR, 0);
	reg(TRCCONFIGR, TRCCONFIGR_RES1 | configr);
	reg(TRCTRACEIDR, 0x21);
	reg(TRCVICTLR, TRCVICTLR_EVENT_TRUE | TRCVICTLR_SSSTATUS |
			       2u << TRCVICTLR_EXLEVEL_NS_SHIFT);
}

static void enable(uint64_t ip)
{
	etm_unit_set_context(f.u, 0, 0x1234, ip);
	reg(TRCPRGCTLR, TRCPRGCTLR_EN);
	etm_unit_flush(f.u);
	f.n = 0;
}

static void expect(const char *hex, const char *what)
{
	char got[1 << 12] = "";
	size_t i;

	etm_unit_flush(f.u);
	for (i = 0; i < f.n && i < 1000; i++)
		sprintf(got + strlen(got), "%s%02x", i ? " " : "", f.out[i]);
	if (strcmp(got, hex)) {
		print_error("%s: %s, not %s\n", what, got, hex);
		fail();
	}
	f.n = 0;
}

static void run(uint64_t start, uint32_t ninsn, enum run_end kind, uint64_t target,
		uint64_t next)
{
	union {
		struct run r;
		uint8_t room[sizeof(struct run) + 64];
	} one;
	uint8_t len[64];

	memset(len, 4, sizeof(len));
	run_init(&one.r, start, ninsn, len, kind, target);
	if (kind == RUN_FAR || kind == RUN_ERET)
		etm_unit_far(f.u, &one.r, kind == RUN_FAR, 0x1234, next);
	else
		etm_unit_feed(f.u, &one.r, next);
}

/* A loop at BASE, whose branch is taken for each E. */
static void atoms(const char *en)
{
	for (; *en; en++)
		run(BASE, 1, RUN_JCC, BASE, *en == 'E' ? BASE : BASE + 4);
}

static void begin(uint32_t configr)
{
	power_on(configr, false);
	enable(BASE);
	/* The first block's beginning is not what is looked at. */
	run(BASE, 1, RUN_JMP, BASE, BASE);
	etm_unit_flush(f.u);
	f.n = 0;
}

static void sync_point(void **state)
{
	power_on(0, false);
	etm_unit_set_context(f.u, 0, 0x1234, BASE);
	reg(TRCPRGCTLR, TRCPRGCTLR_EN);
	expect("00 00 00 00 00 00 00 00 00 00 00 80 01 01 00", "A-sync, Trace Info");
	run(BASE, 1, RUN_JMP, BASE, BASE);
	expect("04 85 00 00 40 00 00 00 00 00 30 f7", "Trace On, address and context");

	power_on(TRCCONFIGR_CCI | TRCCONFIGR_CID, false);
	reg(TRCCCCTLR, 0x104);
	etm_unit_set_context(f.u, 0, 0x12345678, BASE);
	reg(TRCPRGCTLR, TRCPRGCTLR_EN);
	expect("00 00 00 00 00 00 00 00 00 00 00 80 01 09 01 84 02", "with a threshold");
	run(BASE, 1, RUN_JMP, BASE, BASE);
	expect("04 85 00 00 40 00 00 00 00 00 b0 78 56 34 12 f7", "with a context ID");
}

static void atom_packets(void **state)
{
	static const struct {
		const char *atoms, *bytes;
	} rows[] = {
		{"N", "f6"}, {"E", "f7"},
		{"NN", "d8"}, {"EN", "d9"}, {"NE", "da"}, {"EE", "db"},
		{"NNN", "f8"}, {"ENN", "f9"}, {"NEN", "fa"}, {"EEN", "fb"},
		{"NNE", "fc"}, {"ENE", "fd"}, {"NEE", "fe"}, {"EEE", "ff"},
		{"NEEE", "dc"}, {"NNNN", "dd"}, {"NENE", "de"}, {"ENEN", "df"},
		{"NEEEE", "f5"}, {"NNNNN", "d5"}, {"NENEN", "d6"}, {"ENENE", "d7"},
		{"EEEE", "c0"}, {"EEEN", "e0"}, {"EEEEE", "c1"},
		{"EEEEEEEEEEEEEEEEEEEEEEEE", "d4"},
		{"EEEEEEEEEEEEEEEEEEEEEEEN", "f4"},
		{"EEEEEEEEEEEEEEEEEEEEEEEEE", "d4 f7"},
		{"NNNNNNNNNNNNNNNNNNNNNNNNN", "d5 d5 d5 d5 d5"},
		{"NNEE", "fc f7"}, {"ENNE", "f9 f7"}, {"EENEE", "fb db"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(0);
		atoms(rows[i].atoms);
		expect(rows[i].bytes, rows[i].atoms);
	}
}

static void addresses(void **state)
{
	/* One after the other: each leans on those before. */
	static const struct {
		uint64_t ip;
		const char *bytes;
	} rows[] = {
		{BASE + 0x1fc, "f7 95 7f"},
		{BASE + 0x200, "f7 95 80 01"},
		{BASE + 0x1fffc, "f7 95 ff ff"},
		{BASE + 0x1fffc, "f7 90"},
		{BASE + 0x200, "f7 92"},
		{BASE + 0x1fffc, "f7 91"},
		{BASE + 0x1fe04, "f7 95 01"},
		{BASE + 0x20000, "f7 9a 00 00 42 00"},
		{0xffffffff, "f7 9a 7f 7f ff ff"},
		{0x100000000, "f7 9d 00 00 00 00 01 00 00 00"},
		{0xffff800008010204, "f7 9d 01 01 01 08 00 80 ff ff"},
	};
	uint64_t at = BASE;
	size_t i;

	begin(0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t to = rows[i].ip & ~3ull;

		run(at, 1, RUN_JMP_IND, 0, to);
		expect(rows[i].bytes, "address");
		at = to;
	}
}

static void return_stack(void **state)
{
	begin(TRCCONFIGR_RS);
	run(BASE, 1, RUN_CALL, BASE + 0x100, BASE + 0x100);
	run(BASE + 0x100, 1, RUN_RET, 0, BASE + 4);
	expect("db", "predicted");
	run(BASE + 4, 1, RUN_RET, 0, BASE + 0x100);
	expect("f7 95 40", "empty stack");
	run(BASE + 0x100, 1, RUN_CALL, BASE, BASE);
	run(BASE, 1, RUN_RET, 0, BASE + 0x108);
	expect("db 95 42", "another target");
	run(BASE + 0x108, 1, RUN_JMP_IND, 0, BASE + 0x104);
	expect("f7", "any indirect branch");
	run(BASE + 0x104, 1, RUN_CALL, BASE + 0x108, BASE + 0x108);
	run(BASE + 0x108, 1, RUN_CALL_IND, 0, BASE + 0x108);
	expect("db 90", "BLR is never predicted");
	begin(0);
	run(BASE, 1, RUN_CALL, BASE + 0x100, BASE + 0x100);
	run(BASE + 0x100, 1, RUN_RET, 0, BASE + 4);
	expect("db 95 01", "without a return stack");
}

static void exceptions(void **state)
{
	begin(0);
	run(BASE, 2, RUN_FAR, 0, 0xffff800008010000);
	expect("06 05 95 02", "call, to a level that is not traced");
	etm_unit_set_context(f.u, 0, 0x1234, BASE + 8);
	run(BASE + 8, 1, RUN_JMP, BASE, BASE);
	expect("04 82 02 00 40 00 30 f7", "trace on behind it");
	etm_unit_exception(f.u, ETM4_EXC_IRQ, BASE, 0, 0x1234, BASE + 0x40);
	expect("06 1d 92 95 10", "interrupt, the vector is traced");
	etm_unit_exception(f.u, 0x3ff, BASE + 0x40, 1, 0x1234, 0);
	expect("06 bf 1f 90", "the largest number");
	begin(0);
	etm_unit_break(f.u, BASE);
	expect("06 03 90", "debug halt");
	etm_unit_resume(f.u, BASE);
	run(BASE, 1, RUN_ISB, 0, BASE + 4);
	expect("04 82 00 00 40 00 30 f7", "resumed");
	run(BASE + 4, 1, RUN_ERET, 0, BASE + 0x80);
	expect("f7 07 95 20", "exception return");
}

/* Written in straight code: told behind the next P0 element, and no flow is lost. */
static void context_ids(void **state)
{
	begin(TRCCONFIGR_CID);
	run(BASE, 2, RUN_SEQ, 0, BASE + 8);
	etm_unit_set_cid(f.u, 0x5678);
	run(BASE + 8, 1, RUN_ISB, 0, BASE + 0xc);
	expect("f7 82 03 00 40 00 b0 78 56 00 00", "written");
	etm_unit_set_cid(f.u, 0x5678);
	run(BASE + 0xc, 1, RUN_JMP, BASE, BASE);
	expect("f7", "the same again");
	etm_unit_set_cid(f.u, 0x9a);
	etm_unit_exception(f.u, ETM4_EXC_IRQ, BASE, 0, 0x9a, BASE + 0x40);
	expect("06 1d 82 00 00 40 00 b0 9a 00 00 00 95 10", "an exception first");
	begin(0);
	etm_unit_set_cid(f.u, 0x5678);
	run(BASE, 1, RUN_ISB, 0, BASE + 4);
	expect("f7", "without context IDs");
}

static void broadcast(void **state)
{
	begin(TRCCONFIGR_BB);
	run(BASE, 1, RUN_JMP, BASE + 0x10, BASE + 0x10);
	run(BASE + 0x10, 1, RUN_JCC, BASE + 0x20, BASE + 0x14);
	run(BASE + 0x14, 1, RUN_ISB, 0, BASE + 0x18);
	expect("f7 95 04 da", "all taken branches");
	power_on(TRCCONFIGR_BB, false);
	reg(TRCACVR(2), BASE);
	reg(TRCACVR(3), BASE + 0xf);
	reg(TRCBBCTLR, TRCBBCTLR_INCLUDE | 1u << 1);
	enable(BASE);
	run(BASE, 1, RUN_JMP, BASE + 0x10, BASE + 0x10);
	run(BASE + 0x10, 1, RUN_JMP, BASE, BASE);
	expect("04 85 00 00 40 00 00 00 00 00 30 f7 95 04 f7", "in a range");
}

static void cycles(void **state)
{
	static const struct {
		uint32_t insns;
		const char *bytes;
	} rows[] = {
		{4, "f7 10"}, {7, "f7 13"}, {8, "f7 0c 04"}, {19, "f7 0c 0f"},
		{20, "f7 0e 10"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		power_on(TRCCONFIGR_CCI, false);
		reg(TRCCCCTLR, 4);
		enable(BASE);
		run(BASE, 4, RUN_JMP, BASE, BASE);
		etm_unit_flush(f.u);
		f.n = 0;
		run(BASE, rows[i].insns, RUN_JMP, BASE, BASE);
		expect(rows[i].bytes, "cycle count");
	}
	run(BASE, 3, RUN_JMP, BASE, BASE);
	expect("f7", "below the threshold");
	run(BASE, 2, RUN_JMP, BASE, BASE);
	expect("f7 11", "adds up");
}

static void timestamps(void **state)
{
	static const struct {
		uint64_t ts;
		const char *bytes;
	} rows[] = {
		{0x7fffffffffffffff, "02 ff ff ff ff ff ff ff ff 7f"},
		{0x8000000000000000, "02 80 80 80 80 80 80 80 80 80"},
		{0xffffffffffffffff, "02 ff ff ff ff ff ff ff ff ff"},
		{0xffffffffffffff80, "02 00"},
		{0xffffffffffffffff, "02 7f"},
		{0xfffffffffffff07f, "02 ff 60"},
	};
	uint64_t jump = 0;
	size_t i;

	power_on(TRCCONFIGR_TS, true);
	f.clock = 0;
	enable(BASE);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f.clock = rows[i].ts;
		etm_unit_set_clock(f.u, jump += 1000);
		expect(rows[i].bytes, "timestamp");
	}
	power_on(TRCCONFIGR_TS | TRCCONFIGR_CCI, false);
	reg(TRCCCCTLR, 0xfff);
	enable(BASE);
	run(BASE, 5, RUN_JMP, BASE, BASE);
	etm_unit_flush(f.u);
	f.n = 0;
	run(BASE, 5, RUN_JMP, BASE, BASE);
	etm_unit_set_clock(f.u, 0x1000);
	expect("f7 03 80 20 05", "with the cycles since the last count");
}

static void overflow(void **state)
{
	static const char resumed[] =
		"00 05 00 00 00 00 00 00 00 00 00 00 00 80 01 01 00 "
		"04 85 00 00 40 00 00 00 00 00 30 f7";

	begin(0);
	etm_unit_overflow_begin(f.u);
	atoms("EE");
	expect("", "nothing");
	etm_unit_overflow_end(f.u);
	run(BASE, 1, RUN_JMP, BASE, BASE);
	expect(resumed, "overflow, and all anew");
	f.refuse = true;
	atoms("E");
	etm_unit_flush(f.u);
	f.refuse = false;
	run(BASE, 2, RUN_JMP, BASE, BASE);
	expect("", "room is asked for now and then");
	f.u->asked -= 1024;
	run(BASE, 2, RUN_JMP, BASE, BASE);
	expect(resumed, "there is room again");
}

static void stalling(void **state)
{
	power_on(0, false);
	reg(TRCSTALLCTLR, TRCSTALLCTLR_ISTALL);
	enable(BASE);
	f.refuse = true;
	f.stalls = 0;
	run(BASE, 1, RUN_JMP, BASE, BASE);
	expect("04 85 00 00 40 00 00 00 00 00 30 f7", "waits instead of losing");
	assert_int_equal(f.stalls, 1);
}

/* Time passes for a unit in the middle of output: told behind what it was about to say. */
static void time_while_stalling(void **state)
{
	power_on(TRCCONFIGR_TS, false);
	reg(TRCSTALLCTLR, TRCSTALLCTLR_ISTALL);
	enable(BASE);
	run(BASE, 1, RUN_JMP, BASE, BASE);
	etm_unit_flush(f.u);
	f.n = 0;
	f.refuse = true;
	f.later = 0x3000;
	run(BASE, 1, RUN_JCC, BASE, BASE + 4);
	expect("f6 02 80 60", "what was there, then the time");
	f.later = 0;
}

/* Registers: what is refused, and that nothing changes then. */
static void registers(void **state)
{
	static const struct {
		uint32_t offset;
		uint64_t value;
	} refused[] = {
		{TRCCONFIGR, TRCCONFIGR_COND_MASK}, {TRCCONFIGR, TRCCONFIGR_DA},
		{TRCCONFIGR, TRCCONFIGR_VMID}, {TRCCONFIGR, TRCCONFIGR_QE_MASK},
		{TRCEVENTCTL0R, 1}, {TRCTSCTLR, 1},
		{TRCSYNCPR, 7}, {TRCSYNCPR, 21}, {TRCCCCTLR, 3}, {TRCCCCTLR, 0x1000},
		{TRCTRACEIDR, 0}, {TRCTRACEIDR, 0x70}, {TRCVICTLR, 2},
		{TRCVICTLR, 8u << TRCVICTLR_EXLEVEL_NS_SHIFT},
		{TRCVIIECTLR, TRCVIIECTLR_INCLUDE(4)}, {TRCVISSCTLR, TRCVISSCTLR_STOP(8)},
		{TRCACVR(8), BASE}, {TRCACVR(0) + 4, BASE}, {TRCACATR(0), 1},
		{TRCACATR(8), 0}, {TRCSTALLCTLR, TRCSTALLCTLR_NOOVERFLOW},
		{TRCIDR(0), 0}, {TRCSTATR, 0}, {TRCRSCTLR(2), 1}, {TRCCIDCVR(0), 1},
		{TRCCNTRLDVR(0), 1}, {CS_DEVTYPE, 0}, {0x1000, 0}, {2, 0},
		{TRCPRGCTLR, 3}, {TRCCONFIGR, 1ull << 32},
	};
	const struct etm_unit_host host = {.output = output};
	size_t i;

	power_on(0, false);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		uint64_t was = etm_unit_read(f.u, refused[i].offset);

		if (!etm_unit_write(f.u, refused[i].offset, refused[i].value)) {
			print_error("row %zu was taken\n", i);
			fail();
		}
		assert_int_equal(etm_unit_read(f.u, refused[i].offset), was);
	}
	assert_int_equal(etm_unit_read(f.u, TRCSTATR), TRCSTATR_IDLE | TRCSTATR_PMSTABLE);
	enable(BASE);
	assert_int_equal(etm_unit_read(f.u, TRCSTATR), 0);
	assert_int_not_equal(etm_unit_write(f.u, TRCCONFIGR, 1), 0);
	reg(CS_CLAIMSET, CS_CLAIM_SELF_HOSTED);
	assert_int_equal(etm_unit_read(f.u, CS_CLAIMCLR), CS_CLAIM_SELF_HOSTED);
	reg(CS_CLAIMCLR, CS_CLAIM_SELF_HOSTED);
	assert_int_equal(etm_unit_read(f.u, CS_CLAIMCLR), 0);
	reg(CS_LAR, 0);
	assert_int_not_equal(etm_unit_write(f.u, TRCPRGCTLR, 0), 0);
	reg(CS_LAR, CS_LAR_KEY);
	reg(TRCPRGCTLR, 0);
	etm_unit_init(f.u, &f.regs, &host);
	assert_int_not_equal(etm_unit_write(f.u, TRCCONFIGR, 1), 0);
	reg(CS_LAR, CS_LAR_KEY);
	reg(TRCTRACEIDR, 1);
	/* The OS Lock is set. */
	assert_int_not_equal(etm_unit_write(f.u, TRCPRGCTLR, 1), 0);
}

static bool takes(uint32_t offset, uint64_t value)
{
	uint64_t was = etm_unit_read(f.u, offset);

	if (etm_unit_write(f.u, offset, value))
		return false;
	reg(offset, was);
	return true;
}

/* What the ID registers say, and nothing else, can be asked for (7.3.28 and on). */
static void identification(void **state)
{
	static const struct {
		uint32_t n, field, offset;
		uint32_t value;
	} rows[] = {
		{0, 3u << 3, TRCCONFIGR, TRCCONFIGR_DA},		/* TRCDATA */
		{0, 3u << 1, TRCCONFIGR, TRCCONFIGR_INSTP0_MASK},	/* INSTP0 */
		{0, TRCIDR0_TRCBB, TRCCONFIGR, TRCCONFIGR_BB},
		{0, TRCIDR0_TRCBB, TRCBBCTLR, 1},
		{0, 1u << 6, TRCCONFIGR, TRCCONFIGR_COND_MASK},		/* TRCCOND */
		{0, TRCIDR0_TRCCCI, TRCCONFIGR, TRCCONFIGR_CCI},
		{0, TRCIDR0_TRCCCI, TRCCCCTLR, 100},
		{0, TRCIDR0_RETSTACK, TRCCONFIGR, TRCCONFIGR_RS},
		{0, TRCIDR0_QSUPP_MASK, TRCCONFIGR, 1u << 13},
		{0, TRCIDR0_TSSIZE_MASK, TRCCONFIGR, TRCCONFIGR_TS},
		{2, TRCIDR2_CIDSIZE_MASK, TRCCONFIGR, TRCCONFIGR_CID},
		{2, TRCIDR2_VMIDSIZE_MASK, TRCCONFIGR, TRCCONFIGR_VMID},
		{3, TRCIDR3_TRCERR, TRCVICTLR, TRCVICTLR_EVENT_TRUE | TRCVICTLR_TRCERR},
		{3, TRCIDR3_STALLCTL, TRCSTALLCTLR, TRCSTALLCTLR_ISTALL},
		{3, TRCIDR3_NOOVERFLOW, TRCSTALLCTLR, TRCSTALLCTLR_NOOVERFLOW},
		{4, 0xfu << 12, TRCVIPCSSCTLR, 1},			/* NUMPC */
		{4, 0xfu << 16, TRCRSCTLR(2), 1},			/* NUMRSPAIR */
		{4, 0xfu << 16, TRCVICTLR, 2},
		{4, 0xfu << TRCIDR4_NUMCIDC_SHIFT, TRCCIDCVR(0), 1},
		{4, 0xfu << 28, TRCVMIDCVR(0), 1},			/* NUMVMIDC */
		{5, TRCIDR5_TRACEIDSIZE_MASK, TRCTRACEIDR, CS_ID_LAST},
		{5, 1u << 22, TRCEVENTCTL1R, 1u << 11},			/* ATBTRIG */
		{5, 1u << 23, TRCEVENTCTL1R, 1u << 12},			/* LPOVERRIDE */
		{5, 7u << 28, TRCCNTRLDVR(0), 1},			/* NUMCNTR */
	};
	static const uint16_t none[] = {TRCIDR8,  TRCIDR9,  TRCIDR10,	TRCIDR11,
					TRCIDR12, TRCIDR13, TRCIDR(6), TRCIDR(7)};
	uint32_t pairs, levels, i, least;

	power_on(0, false);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!(etm_unit_read(f.u, TRCIDR(rows[i].n)) & rows[i].field) !=
		    !takes(rows[i].offset, rows[i].value))
			fail_msg("row %u: TRCIDR%u", i, rows[i].n);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(etm_unit_read(f.u, none[i]), 0);
	pairs = etm_unit_read(f.u, TRCIDR(4)) & TRCIDR4_NUMACPAIRS_MASK;
	for (i = 0; i < ETM4_MAX_PAIRS; i++) {
		assert_int_equal(takes(TRCACVR(2 * i), BASE), i < pairs);
		assert_int_equal(takes(TRCACVR(2 * i + 1), BASE), i < pairs);
		assert_int_equal(takes(TRCVIIECTLR, TRCVIIECTLR_EXCLUDE(i)), i < pairs);
		assert_int_equal(takes(TRCVISSCTLR, TRCVISSCTLR_START(2 * i + 1)), i < pairs);
	}
	/* Non-secure trace, nothing that changes what runs. */
	assert_int_equal(etm_unit_read(f.u, CS_AUTHSTATUS), CS_AUTH_NSNID);
	levels = etm_unit_read(f.u, TRCIDR(3)) & TRCVICTLR_EXLEVEL_MASK;
	assert_int_equal(levels, 7u << TRCIDR3_EXLEVEL_NS_SHIFT);
	/* A bit a level, where the registers have it, too. */
	for (i = 0; i < 8; i++) {
		bool is = levels >> (16 + i) & 1;

		assert_int_equal(takes(TRCVICTLR, TRCVICTLR_EVENT_TRUE | 1u << (16 + i)), is);
		assert_int_equal(takes(TRCACATR(0), 1u << (8 + i)), is);
	}
	least = etm_unit_read(f.u, TRCIDR(3)) & TRCIDR3_CCITMIN_MASK;
	assert_true(takes(TRCCCCTLR, least) && !takes(TRCCCCTLR, least - 1));
	/* Its version is told twice. */
	assert_int_equal(etm_unit_read(f.u, TRCIDR(1)) >> TRCIDR1_MINOR_SHIFT & 0xf,
			 etm_unit_read(f.u, CS_DEVARCH) >> TRCDEVARCH_REVISION_SHIFT & 0xf);
}

/* Whether the PE can be stalled is up to what is behind the bus. */
static void who_stalls(void **state)
{
	const struct etm_unit_host patient = {.output = output, .stall = stall},
				   deaf = {.output = output};

	power_on(0, false);
	etm_unit_init(f.u, &f.regs, &patient);
	assert_true(etm_unit_read(f.u, TRCIDR(3)) & TRCIDR3_SYSSTALL);
	etm_unit_init(f.u, &f.regs, &deaf);
	assert_false(etm_unit_read(f.u, TRCIDR(3)) & TRCIDR3_SYSSTALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sync_point),
		cmocka_unit_test(atom_packets),
		cmocka_unit_test(addresses),
		cmocka_unit_test(return_stack),
		cmocka_unit_test(exceptions),
		cmocka_unit_test(context_ids),
		cmocka_unit_test(broadcast),
		cmocka_unit_test(cycles),
		cmocka_unit_test(timestamps),
		cmocka_unit_test(overflow),
		cmocka_unit_test(stalling),
		cmocka_unit_test(time_while_stalling),
		cmocka_unit_test(registers),
		cmocka_unit_test(identification),
		cmocka_unit_test(who_stalls),
	};

	return cmocka_run_group_tests_name("etm4_packets", tests, NULL, NULL);
}
