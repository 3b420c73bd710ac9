/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lies between a trace unit and memory: funnel, replicator, and the TMC as ETB, ETF
 * and ETR, each register of which takes what the manual has it take.  Frames themselves
 * are the round trips' (tests/decode/etm_synth_test.c).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "models/coresight/tmc_unit.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define DRAM		0x80000000ull
#define SIZE		256u
#define ID		0x21
#define FORMAT		(TMC_FFCR_ENFT | TMC_FFCR_ENTI)

/* What comes out of a component. */
struct taker {
	uint8_t id, bytes[64];
	size_t n;
	bool full;
};

static struct {
	struct tmc_unit tmc;
	struct cs_regs regs;
	uint8_t memory[SIZE];
	struct taker next;
	unsigned int fulls, flushes;
} f;

static bool take(void *ctx, uint8_t id, const uint8_t *bytes, size_t n)
{
	struct taker *t = ctx;

	if (t->full)
		return false;
	assert_true(t->n + n <= sizeof(t->bytes));
	t->id = id;
	if (n)
		memcpy(t->bytes + t->n, bytes, n);
	t->n += n;
	return true;
}

static void *memory(void *ctx, uint64_t addr, uint64_t len)
{
	return addr == DRAM && len <= SIZE ? f.memory : NULL;
}

static void full(void *ctx)
{
	f.fulls++;
}

/* A source holds one byte back until it is asked. */
static void flush(void *ctx)
{
	static const uint8_t held = 0x77;

	f.flushes++;
	assert_true(tmc_unit_input(&f.tmc, ID, &held, 1));
}

static void power_on(uint32_t config)
{
	const struct tmc_unit_host host = {NULL, memory, full, flush};
	bool ram = config != TMC_CONFIG_ETR;

	memset(&f, 0, sizeof(f));
	tmc_unit_init(&f.tmc, &f.regs, config, ram ? f.memory : NULL, ram ? SIZE : 0,
		      (struct cs_sink){take, &f.next}, &host);
}

static void reg(uint32_t offset, uint32_t value)
{
	assert_int_equal(tmc_unit_write(&f.tmc, offset, value), 0);
}

static uint32_t get(uint32_t offset)
{
	return tmc_unit_read(&f.tmc, offset);
}

/* Unlocked, in that mode, capturing. */
static void capture(uint32_t config, uint32_t mode, uint32_t ffcr)
{
	power_on(config);
	reg(CS_LAR, CS_LAR_KEY);
	if (config == TMC_CONFIG_ETR) {
		reg(TMC_RSZ, SIZE / 4);
		reg(TMC_DBALO, (uint32_t)DRAM);
		reg(TMC_RRP, (uint32_t)DRAM);
		reg(TMC_RWP, (uint32_t)DRAM);
	}
	reg(TMC_MODE, mode);
	reg(TMC_FFCR, ffcr);
	reg(TMC_CTL, TMC_CTL_CAPTURE);
}

/* n bytes that count up from `from`; false: no room. */
static bool input(uint8_t from, size_t n)
{
	uint8_t bytes[SIZE];
	size_t i;

	for (i = 0; i < n; i++)
		bytes[i] = (uint8_t)(from + i);
	return tmc_unit_input(&f.tmc, ID, bytes, n);
}

static void stop(void)
{
	reg(TMC_FFCR, get(TMC_FFCR) | TMC_FFCR_FLUSHMAN | TMC_FFCR_STOPONFL);
}

/* ---- what they say of themselves ---- */

static void identification(void **state)
{
	static const struct {
		uint32_t config, devtype, part;
	} rows[] = {
		{TMC_CONFIG_ETB, CS_DEVTYPE_SINK_BUFFER, 0x9e9},
		{TMC_CONFIG_ETR, CS_DEVTYPE_SINK_BUFFER, 0x9e8},
		{TMC_CONFIG_ETF, CS_DEVTYPE_LINK_FIFO, 0x9ea},
	};
	static const uint8_t cidr[4] = {0x0d, 0x90, 0x05, 0xb1};
	unsigned int i, k;

	for (i = 0; i < COUNT(rows); i++) {
		power_on(rows[i].config);
		assert_int_equal(get(CS_DEVTYPE), rows[i].devtype);
		assert_int_equal((get(CS_DEVID) & TMC_DEVID_CONFIG_MASK) >>
				 TMC_DEVID_CONFIG_SHIFT, rows[i].config);
		assert_int_equal(get(CS_PIDR0) | (get(CS_PIDR1) & 0xf) << 8, rows[i].part);
		for (k = 0; k < 4; k++)
			assert_int_equal(get(CS_CIDR(k)), cidr[k]);
		assert_int_equal(get(TMC_STS), TMC_STS_READY | TMC_STS_FTEMPTY);
		assert_int_equal(get(TMC_RSZ),
				 rows[i].config == TMC_CONFIG_ETR ? 0 : SIZE / 4);
	}
}

/* Locked, nothing is written; tags are set and cleared by those who claim. */
static void lock_and_claim(void **state)
{
	power_on(TMC_CONFIG_ETR);
	assert_int_equal(get(CS_LSR), CS_LSR_SLI | CS_LSR_SLK);
	assert_int_not_equal(tmc_unit_write(&f.tmc, TMC_MODE, TMC_MODE_SWF2), 0);
	assert_int_not_equal(tmc_unit_write(&f.tmc, CS_CLAIMSET, 2), 0);
	assert_int_equal(get(TMC_MODE), TMC_MODE_CB);
	reg(CS_LAR, CS_LAR_KEY);
	assert_int_equal(get(CS_LSR), CS_LSR_SLI);
	reg(CS_CLAIMSET, CS_CLAIM_SELF_HOSTED);
	reg(CS_CLAIMSET, CS_CLAIM_EXTERNAL);
	assert_int_equal(get(CS_CLAIMCLR), CS_CLAIM_SELF_HOSTED | CS_CLAIM_EXTERNAL);
	reg(CS_CLAIMCLR, CS_CLAIM_EXTERNAL);
	assert_int_equal(get(CS_CLAIMCLR), CS_CLAIM_SELF_HOSTED);
	assert_int_equal(get(CS_CLAIMSET), 0xf);
	reg(CS_LAR, 0);
	assert_int_not_equal(tmc_unit_write(&f.tmc, TMC_MODE, TMC_MODE_SWF2), 0);
}

/* ---- registers of the TMC ---- */

static void refused(void **state)
{
	static const struct {
		uint32_t config, offset, value;
	} off[] = {
		{TMC_CONFIG_ETB, TMC_MODE, TMC_MODE_HWF},
		{TMC_CONFIG_ETB, TMC_MODE, TMC_MODE_SWF2},
		{TMC_CONFIG_ETF, TMC_MODE, TMC_MODE_SWF2},
		{TMC_CONFIG_ETR, TMC_MODE, TMC_MODE_SWF1},
		{TMC_CONFIG_ETR, TMC_MODE, TMC_MODE_HWF}, {TMC_CONFIG_ETR, TMC_MODE, 4},
		/* The RAM of these is as large as it is, and has no address. */
		{TMC_CONFIG_ETB, TMC_RSZ, 4}, {TMC_CONFIG_ETF, TMC_RSZ, 4},
		{TMC_CONFIG_ETB, TMC_DBALO, 0}, {TMC_CONFIG_ETF, TMC_RRPHI, 0},
		{TMC_CONFIG_ETB, TMC_AXICTL, 0},
		{TMC_CONFIG_ETR, TMC_DBALO, 8}, {TMC_CONFIG_ETR, TMC_DBAHI, 0x100},
		{TMC_CONFIG_ETR, TMC_RWP, 4}, {TMC_CONFIG_ETR, TMC_RSZ, 1u << 31},
		{TMC_CONFIG_ETR, TMC_CTL, 2}, {TMC_CONFIG_ETR, TMC_FFCR, 1u << 31},
		{TMC_CONFIG_ETR, TMC_STS, 0}, {TMC_CONFIG_ETR, TMC_CBUFLEVEL, 0},
		{TMC_CONFIG_ETR, CS_DEVID, 0}, {TMC_CONFIG_ETR, TMC_RURP, 16},
		{TMC_CONFIG_ETR, 2, 0}, {TMC_CONFIG_ETR, CS_COMPONENT_SIZE, 0},
	}, on[] = {
		{TMC_CONFIG_ETR, TMC_RSZ, 4}, {TMC_CONFIG_ETR, TMC_RWP, (uint32_t)DRAM},
		{TMC_CONFIG_ETR, TMC_MODE, TMC_MODE_CB}, {TMC_CONFIG_ETR, TMC_BUFWM, 1},
		{TMC_CONFIG_ETR, TMC_FFCR, 0}, {TMC_CONFIG_ETR, TMC_RURP, 32},
		{TMC_CONFIG_ETF, TMC_RURP, 16},
	};
	unsigned int i;

	for (i = 0; i < COUNT(off); i++) {
		uint32_t was;

		power_on(off[i].config);
		reg(CS_LAR, CS_LAR_KEY);
		was = get(off[i].offset);
		if (!tmc_unit_write(&f.tmc, off[i].offset, off[i].value))
			fail_msg("row %u was taken", i);
		assert_int_equal(get(off[i].offset), was);
	}
	for (i = 0; i < COUNT(on); i++) {
		capture(on[i].config,
			on[i].config == TMC_CONFIG_ETR ? TMC_MODE_SWF2 : TMC_MODE_SWF1, FORMAT);
		assert_true(input(0, 16));
		if (!tmc_unit_write(&f.tmc, on[i].offset, on[i].value))
			fail_msg("row %u was taken while capturing", i);
	}
}

/* An ETR whose memory is none, or whose pointers lead out of it: said, nothing is taken. */
static void memory_error(void **state)
{
	static const struct {
		uint32_t offset, value;
	} rows[] = {
		{TMC_DBALO, (uint32_t)DRAM + 0x1000}, {TMC_DBAHI, 1}, {TMC_RSZ, SIZE / 4 + 4},
		{TMC_RSZ, 0}, {TMC_RSZ, 3}, {TMC_RWP, (uint32_t)DRAM + SIZE},
		{TMC_RRP, (uint32_t)DRAM - 16}, {TMC_RWPHI, 1},
	};
	unsigned int i;

	for (i = 0; i < COUNT(rows); i++) {
		capture(TMC_CONFIG_ETR, TMC_MODE_SWF2, FORMAT);
		reg(TMC_CTL, 0);
		assert_false(get(TMC_STS) & TMC_STS_MEMERR);
		reg(rows[i].offset, rows[i].value);
		reg(TMC_CTL, TMC_CTL_CAPTURE);
		if (!(get(TMC_STS) & TMC_STS_MEMERR))
			fail_msg("row %u: no error", i);
		assert_true(input(1, 100));
		assert_int_equal(f.memory[0], 0);
	}
}

/* ---- what becomes of trace ---- */

static void flush_stops(void **state)
{
	capture(TMC_CONFIG_ETR, TMC_MODE_SWF2, FORMAT);
	assert_int_equal(get(TMC_STS), TMC_STS_EMPTY);
	assert_true(input(0x10, 3));
	/* All of it is in the formatter: no frame is whole. */
	assert_int_equal(get(TMC_RWP), DRAM);
	reg(TMC_FFCR, FORMAT | TMC_FFCR_FLUSHMAN);
	assert_int_equal(f.flushes, 1);
	assert_int_equal(get(TMC_FFCR), FORMAT);
	assert_int_equal(get(TMC_RWP), DRAM + CS_FRAME);
	assert_int_equal(get(TMC_CBUFLEVEL), CS_FRAME / 4);
	/* The ID, three bytes, padding's ID, ahead of which is what the source held back. */
	assert_int_equal(f.memory[0], ID << 1 | CS_FRAME_ID);
	assert_memory_equal(f.memory + 1, "\x10\x10\x12\x01\x77\0\0\0\0\0\0\0\0\0\x06", 15);
	assert_false(get(TMC_FFSR) & TMC_FFSR_STOPPED);
	assert_true(input(0x20, 1));
	stop();
	assert_true(get(TMC_FFSR) & TMC_FFSR_STOPPED);
	assert_true(get(TMC_STS) & TMC_STS_READY);
	assert_int_equal(get(TMC_RWP), DRAM + 2 * CS_FRAME);
	/* Thrown away, as is a flush. */
	assert_true(input(0x30, 100));
	stop();
	assert_int_equal(get(TMC_RWP), DRAM + 2 * CS_FRAME);
	assert_int_equal(f.flushes, 2);
	/* Without a flush what the formatter had is gone. */
	capture(TMC_CONFIG_ETR, TMC_MODE_SWF2, FORMAT);
	assert_true(input(0x10, 3));
	reg(TMC_CTL, 0);
	assert_true(get(TMC_STS) & TMC_STS_READY);
	assert_int_equal(get(TMC_RWP), DRAM);
}

/* A FIFO in memory: full at the watermark, and what is read makes room. */
static void fifo_in_memory(void **state)
{
	capture(TMC_CONFIG_ETR, TMC_MODE_SWF2, FORMAT);
	reg(TMC_CTL, 0);
	reg(TMC_BUFWM, SIZE / 2 / 4);
	reg(TMC_CTL, TMC_CTL_CAPTURE);
	while (!f.fulls)
		assert_true(input(0, 5));
	assert_int_equal(get(TMC_CBUFLEVEL), SIZE / 2 / 4);
	assert_true(get(TMC_STS) & TMC_STS_FULL);
	while (input(0, 5))
		;
	assert_int_equal(f.fulls, 1);
	assert_in_range(get(TMC_CBUFLEVEL) * 4, SIZE - 5 * CS_FRAME, SIZE - CS_FRAME);
	reg(TMC_RURP, SIZE / 2);
	assert_int_equal(get(TMC_RRP), DRAM + SIZE / 2);
	assert_false(get(TMC_STS) & TMC_STS_FULL);
	assert_true(input(0, 5));
	while (f.fulls == 1)
		assert_true(input(0, 5));
	assert_true(get(TMC_RWP) >= DRAM && get(TMC_RWP) < DRAM + SIZE);
}

/* Without the formatter memory has the source's bytes, read word by word. */
static void ring_by_words(void **state)
{
	unsigned int i, k;

	capture(TMC_CONFIG_ETB, TMC_MODE_CB, 0);
	for (i = 0; i < 5; i++)
		assert_true(input((uint8_t)(SIZE / 4 * i), SIZE / 4));
	/* It went round; nothing is read before it has stopped. */
	assert_int_equal(f.fulls, 1);
	assert_true(get(TMC_STS) & TMC_STS_FULL);
	assert_int_equal(get(TMC_RRD), TMC_RRD_EMPTY);
	f.tmc.host.flush = NULL;
	stop();
	assert_int_equal(get(TMC_RRP), SIZE / 4);
	assert_int_equal(get(TMC_RWP), SIZE / 4);
	for (i = 0; i < SIZE / 4; i++) {
		uint32_t word = get(TMC_RRD);

		for (k = 0; k < 4; k++)
			assert_int_equal(word >> 8 * k & 0xff, (SIZE / 4 + 4 * i + k) & 0xff);
	}
	assert_int_equal(get(TMC_RRD), TMC_RRD_EMPTY);
	assert_true(get(TMC_STS) & TMC_STS_EMPTY);
}

/* Software drains it while it runs; who brings more waits meanwhile. */
static void fifo_by_words(void **state)
{
	unsigned int n = 0, read = 0, most, k;
	uint32_t word;

	capture(TMC_CONFIG_ETF, TMC_MODE_SWF1, 0);
	assert_int_equal(get(TMC_RRD), TMC_RRD_EMPTY);
	for (; input((uint8_t)n, 16); n += 16)
		;
	assert_in_range(n, SIZE / 2, SIZE);
	most = get(TMC_LBUFLEVEL);
	assert_int_equal(most, n / 4);
	for (; read < 3 * SIZE; read += 4) {
		word = get(TMC_RRD);
		for (k = 0; k < 4; k++)
			assert_int_equal(word >> 8 * k & 0xff, (read + k) & 0xff);
		if (input((uint8_t)n, 16))
			n += 16;
	}
	assert_in_range(n, 3 * SIZE, 4 * SIZE);
	/* The highest level since it was read, not of all time. */
	while (get(TMC_RRD) != TMC_RRD_EMPTY)
		;
	get(TMC_LBUFLEVEL);
	assert_int_equal(get(TMC_LBUFLEVEL), 0);
	assert_true(get(TMC_STS) & TMC_STS_EMPTY);
}

/* An ETF in the way holds nothing back, and is as open as what is behind it. */
static void fifo_in_hardware(void **state)
{
	capture(TMC_CONFIG_ETF, TMC_MODE_HWF, FORMAT);
	assert_true(input(0x40, 5));
	assert_int_equal(f.next.id, ID);
	assert_int_equal(f.next.n, 5);
	assert_memory_equal(f.next.bytes, "\x40\x41\x42\x43\x44", 5);
	f.next.full = true;
	assert_false(input(0x50, 1));
	f.next.full = false;
	reg(TMC_CTL, 0);
	assert_true(input(0x60, 1));
	assert_int_equal(f.next.n, 5);
}

/* ---- links ---- */

static void funnel(void **state)
{
	static const struct {
		uint32_t offset, value;
	} refused[] = {
		{CSTF_CTRL, 1u << 4}, {CSTF_CTRL, 1u << 12}, {CSTF_PRIORITY, 1u << 24},
		{8, 0}, {CS_DEVID, 0},
	};
	const uint8_t byte = 0x55;
	struct taker out = {0};
	struct cs_funnel fu;
	struct cs_regs regs;
	unsigned int i;

	cs_funnel_init(&fu, &regs, 4, (struct cs_sink){take, &out});
	assert_int_equal(*cs_reg(&regs, CS_DEVTYPE), CS_DEVTYPE_LINK_MERGE);
	assert_int_equal(*cs_reg(&regs, CS_DEVID) & CSTF_DEVID_PORTS_MASK, 4);
	assert_int_not_equal(cs_funnel_write(&fu, CSTF_CTRL, 1), 0);
	assert_int_equal(cs_funnel_write(&fu, CS_LAR, CS_LAR_KEY), 0);
	for (i = 0; i < COUNT(refused); i++)
		assert_int_not_equal(
			cs_funnel_write(&fu, refused[i].offset, refused[i].value), 0);
	assert_int_equal(cs_funnel_write(&fu, CSTF_CTRL, CSTF_CTRL_ENS(2)), 0);
	for (i = 0; i < 6; i++)
		assert_int_equal(cs_funnel_input(&fu, i, (uint8_t)(ID + i), &byte, 1), i == 2);
	assert_int_equal(out.id, ID + 2);
	assert_int_equal(out.n, 1);
	out.full = true;
	assert_false(cs_funnel_input(&fu, 2, ID, &byte, 1));
}

/* Each output drops the groups of 16 IDs that its filter names. */
static void replicator(void **state)
{
	struct taker out[CSTR_OUTPUTS] = {0};
	struct cs_replicator r;
	struct cs_regs regs;

	cs_replicator_init(&r, &regs, (struct cs_sink){take, &out[0]},
			   (struct cs_sink){take, &out[1]});
	assert_int_equal(*cs_reg(&regs, CS_DEVTYPE), CS_DEVTYPE_LINK_SPLIT);
	assert_int_not_equal(cs_replicator_write(&r, CSTR_IDFILTER(0), 0), 0);
	assert_int_equal(cs_replicator_write(&r, CS_LAR, CS_LAR_KEY), 0);
	assert_int_not_equal(cs_replicator_write(&r, CSTR_IDFILTER(0), 0x100), 0);
	assert_int_not_equal(cs_replicator_write(&r, CSTR_IDFILTER(2), 0), 0);
	assert_true(cs_replicator_input(&r, 0x21, (uint8_t *)"ab", 2));
	assert_int_equal(out[0].n, 2);
	assert_int_equal(out[1].n, 2);
	assert_int_equal(cs_replicator_write(&r, CSTR_IDFILTER(1), CSTR_IDFILTER_DROP(0x21)),
			 0);
	assert_true(cs_replicator_input(&r, 0x2f, (uint8_t *)"c", 1));
	assert_true(cs_replicator_input(&r, 0x30, (uint8_t *)"d", 1));
	assert_int_equal(out[0].n, 4);
	assert_int_equal(out[1].n, 3);
	assert_int_equal(out[1].id, 0x30);
	/* What is behind an output that drops an ID may be full; behind another not. */
	out[1].full = true;
	assert_true(cs_replicator_input(&r, 0x20, (uint8_t *)"e", 1));
	assert_false(cs_replicator_input(&r, 0x30, (uint8_t *)"f", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identification),
		cmocka_unit_test(lock_and_claim),
		cmocka_unit_test(refused),
		cmocka_unit_test(memory_error),
		cmocka_unit_test(flush_stops),
		cmocka_unit_test(fifo_in_memory),
		cmocka_unit_test(ring_by_words),
		cmocka_unit_test(fifo_by_words),
		cmocka_unit_test(fifo_in_hardware),
		cmocka_unit_test(funnel),
		cmocka_unit_test(replicator),
	};

	return cmocka_run_group_tests_name("cs_parts", tests, NULL, NULL);
}
