/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams of records: whole, cut, damaged, with bytes missing; fed in any pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "decode/spe/spe_decoder.h"

#define MAX_EVENTS	4096
#define RECORD		64	/* a record's slot */

struct events {
	struct spe_event ev[MAX_EVENTS];
	int n;
};

static void pull(struct spe_decoder *d, struct events *out)
{
	int n;

	while ((n = spe_decoder_next(d, out->ev + out->n, MAX_EVENTS - out->n)) > 0)
		out->n += n;
	assert_int_equal(n, 0);
	assert_true(out->n < MAX_EVENTS);
}

static struct events *decode(const uint8_t *bytes, size_t n, size_t step, uint64_t offset)
{
	struct spe_decoder_config config = {.offset = offset, .align = RECORD};
	struct spe_decoder *d = spe_decoder_new(&config);
	struct events *out = calloc(1, sizeof(*out));
	uint8_t *piece;
	size_t at, k;

	assert_non_null(d);
	assert_non_null(out);
	for (at = 0; at < n; at += k) {
		k = n - at < step ? n - at : step;
		/* Exact copies: a sanitizer sees reads beyond a piece. */
		piece = malloc(k);
		assert_non_null(piece);
		memcpy(piece, bytes + at, k);
		assert_int_equal(spe_decoder_feed(d, piece, k), 0);
		pull(d, out);
		free(piece);
	}
	spe_decoder_finish(d);
	pull(d, out);
	spe_decoder_free(d);
	return out;
}

static void same(const struct events *a, const struct events *b)
{
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->ev, b->ev, (size_t)a->n * sizeof(a->ev[0]));
}

/* Decodes in pieces of 1, 17 and 4096 bytes: the same. The caller frees. */
static struct events *decode_all_ways(const uint8_t *bytes, size_t n, uint64_t offset)
{
	static const size_t steps[] = {1, 17, 4096};
	struct events *whole = decode(bytes, n, n ? n : 1, offset), *pieces;
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		pieces = decode(bytes, n, steps[i], offset);
		same(whole, pieces);
		free(pieces);
	}
	return whole;
}

static uint8_t *put64(uint8_t *p, uint8_t hdr, uint64_t v)
{
	*p++ = hdr;
	memcpy(p, &v, 8);
	return p + 8;
}

static uint8_t *put(uint8_t *p, uint8_t hdr, unsigned int bytes, uint32_t v)
{
	*p++ = hdr;
	memcpy(p, &v, bytes);
	return p + bytes;
}

/* A load as silicon writes it; its length without padding. */
static size_t load_record(uint8_t slot[RECORD], uint64_t pc, uint64_t time)
{
	uint8_t *p = slot;

	memset(slot, 0, RECORD);
	p = put64(p, 0xb0, pc | SPE_ADDR_NS);
	p = put(p, 0x65, 4, 4321);
	p = put(p, 0x49, 1, 0);
	p = put(p, 0x52, 2, 0x16);
	p = put(p, 0x99, 2, 2);
	p = put(p, 0x98, 2, 7);
	p = put64(p, 0xb2, 0xaa00ffff00001000 + pc);
	p = put(p, 0x9a, 2, 1);
	p = put(p, 0x43, 1, 8);
	p = put64(p, 0x71, time);
	return (size_t)(p - slot);
}

#define COUNT 20
static size_t stream(uint8_t *out)
{
	size_t i, n = 0;

	for (i = 0; i < COUNT; i++)
		n = load_record(out + i * RECORD, 0x400000 + 4 * i, 1000 + i);
	return n;
}

static void check_load(const struct spe_event *ev, size_t i)
{
	const struct spe_sample *s = &ev->sample;

	assert_int_equal(ev->type, SPE_SAMPLE);
	assert_int_equal(ev->offset, i * RECORD);
	assert_true(s->addr[SPE_ADDR_PC] == 0x400000 + 4 * i);
	assert_true(s->addr[SPE_ADDR_DATA_VA] == 0xaa00ffff00401000 + 4 * i);
	assert_int_equal(s->el, 0);
	assert_true(s->ns);
	assert_int_equal(s->has, SPE_HAS_ADDR(SPE_ADDR_PC) | SPE_HAS_ADDR(SPE_ADDR_DATA_VA) |
			 SPE_HAS_CONTEXT(1) | SPE_HAS_OPERATION | SPE_HAS_EVENTS |
			 SPE_HAS_SOURCE | SPE_HAS_TIME | SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) |
			 SPE_HAS_COUNTER(SPE_COUNTER_ISSUE) |
			 SPE_HAS_COUNTER(SPE_COUNTER_XLAT));
	assert_int_equal(s->context[1], 4321);
	assert_int_equal(s->events, 0x16);
	assert_int_equal(s->counter[SPE_COUNTER_TOTAL], 7);
	assert_int_equal(s->counter[SPE_COUNTER_ISSUE], 2);
	assert_int_equal(s->counter[SPE_COUNTER_XLAT], 1);
	assert_int_equal(s->source, 8);
	assert_int_equal(s->time, 1000 + i);
	assert_int_equal(s->op_class, SPE_CLASS_LDST);
}

static void test_records(void **state)
{
	uint8_t bytes[COUNT * RECORD];
	struct events *e;
	int i;

	stream(bytes);
	e = decode_all_ways(bytes, sizeof(bytes), 0);
	assert_int_equal(e->n, COUNT);
	for (i = 0; i < COUNT; i++)
		check_load(&e->ev[i], (size_t)i);
	free(e);
}

/* A not-taken branch has its flag, and goes on at the next instruction. */
static void test_branch(void **state)
{
	uint8_t bytes[RECORD] = {0}, *p = bytes;
	struct events *e;

	p = put64(p, 0xb0, 0xffff000010000000 >> 8 | SPE_ADDR_NS | 1ull << SPE_ADDR_EL_SHIFT);
	p = put64(p, 0xb1, 0xff800000000010ull | SPE_ADDR_NS | 1ull << SPE_ADDR_EL_SHIFT);
	p = put(p, 0x4a, 1, SPE_OP_COND);
	p = put(p, 0x42, 1, 1u << SPE_EV_NOT_TAKEN | 1u << SPE_EV_RETIRED);
	*p = 0x01;
	e = decode_all_ways(bytes, sizeof(bytes), 0);
	assert_int_equal(e->n, 1);
	assert_int_equal(e->ev[0].type, SPE_SAMPLE);
	assert_int_equal(e->ev[0].sample.op_class, SPE_CLASS_BRANCH);
	assert_int_equal(e->ev[0].sample.el, 1);
	assert_true(e->ev[0].sample.events & 1u << SPE_EV_NOT_TAKEN);
	/* An address of the upper half is whole again. */
	assert_true(e->ev[0].sample.addr[SPE_ADDR_TARGET] == 0xffff800000000010);
	assert_false(e->ev[0].sample.has & SPE_HAS_TIME);
	free(e);
}

/* Cut at each of the last 64 bytes: whole records only, the partial one is told. */
static void test_cut(void **state)
{
	uint8_t bytes[COUNT * RECORD];
	size_t used = stream(bytes), cut, left;
	struct events *e;
	int i;

	for (cut = 1; cut <= RECORD; cut++) {
		left = RECORD - cut;
		e = decode_all_ways(bytes, sizeof(bytes) - cut, 0);
		for (i = 0; i < COUNT - 1; i++)
			check_load(&e->ev[i], (size_t)i);
		if (left >= used) {
			assert_int_equal(e->n, COUNT);
			check_load(&e->ev[COUNT - 1], COUNT - 1);
		} else if (left == 0) {
			assert_int_equal(e->n, COUNT - 1);
		} else {
			assert_int_equal(e->n, COUNT + 1);
			assert_int_equal(e->ev[COUNT - 1].type, SPE_ERROR);
			assert_int_equal(e->ev[COUNT - 1].error, TRACE_ERR_TRUNCATED);
			assert_int_equal(e->ev[COUNT - 1].offset, (COUNT - 1) * RECORD);
			assert_int_equal(e->ev[COUNT].type, SPE_GAP);
			assert_int_equal(e->ev[COUNT].bytes, left);
		}
		free(e);
	}
}

/* Every byte belongs to a sample, to padding, or to a gap that is told. */
static uint64_t accounted(const struct events *e, size_t *samples)
{
	uint64_t bytes = 0;
	int i;

	*samples = 0;
	for (i = 0; i < e->n; i++) {
		bytes += e->ev[i].bytes;
		*samples += e->ev[i].type == SPE_SAMPLE;
	}
	return bytes;
}

/* A record that was cut in a half of the buffer, then the next half's. */
static void test_straddle(void **state)
{
	uint8_t bytes[COUNT * RECORD];
	size_t used = stream(bytes), keep, samples;
	struct events *e;

	for (keep = 1; keep < used; keep++) {
		stream(bytes);
		memset(bytes + 5 * RECORD + keep, 0, RECORD - keep);
		e = decode_all_ways(bytes, sizeof(bytes), 0);
		accounted(e, &samples);
		/* The cut one may end in zeros that are its timestamp's. */
		if (samples == COUNT) {
			assert_true(keep >= used - 8);
		} else {
			assert_int_equal(samples, COUNT - 1);
			assert_int_equal(e->ev[5].type, SPE_ERROR);
			assert_int_equal(e->ev[5].offset, 5 * RECORD);
			check_load(&e->ev[7], 6);
		}
		free(e);
	}
}

/* A byte that begins no packet: the records around it stay. */
static void test_bad_byte(void **state)
{
	uint8_t bytes[COUNT * RECORD];
	struct events *e;
	size_t samples;

	stream(bytes);
	bytes[3 * RECORD + 9] = 0xff;
	e = decode_all_ways(bytes, sizeof(bytes), 0);
	accounted(e, &samples);
	assert_int_equal(samples, COUNT - 1);
	assert_int_equal(e->ev[3].type, SPE_ERROR);
	assert_int_equal(e->ev[3].error, TRACE_ERR_PACKET);
	assert_int_equal(e->ev[3].offset, 3 * RECORD + 9);
	assert_int_equal(e->ev[4].type, SPE_GAP);
	assert_int_equal(e->ev[4].offset, 3 * RECORD);
	assert_int_equal(e->ev[4].bytes, RECORD);
	check_load(&e->ev[5], 4);
	free(e);
}

/* A record without the address of its instruction is none. */
static void test_no_pc(void **state)
{
	uint8_t bytes[2 * RECORD];
	struct events *e;

	load_record(bytes + RECORD, 0x400004, 1001);
	memset(bytes, 0, RECORD);
	put64(put(bytes, 0x49, 1, 0), 0x71, 5);
	e = decode_all_ways(bytes, sizeof(bytes), 0);
	assert_int_equal(e->n, 3);
	assert_int_equal(e->ev[0].type, SPE_ERROR);
	assert_int_equal(e->ev[0].error, TRACE_ERR_UNEXPECTED);
	assert_int_equal(e->ev[1].type, SPE_GAP);
	check_load(&e->ev[2], 1);
	free(e);
}

/* A record that never ends is given up where no record can be larger. */
static void test_endless(void **state)
{
	uint8_t bytes[8192] = {0};
	struct events *e;

	put64(bytes, 0xb0, 0x400000);
	load_record(bytes + 4096, 0x400000 + 4 * (4096 / RECORD), 1000 + 4096 / RECORD);
	e = decode_all_ways(bytes, sizeof(bytes), 0);
	assert_int_equal(e->n, 3);
	assert_int_equal(e->ev[0].error, TRACE_ERR_UNEXPECTED);
	assert_int_equal(e->ev[0].offset, 0);
	assert_int_equal(e->ev[1].type, SPE_GAP);
	assert_in_range(e->ev[1].bytes, SPE_RECORD_MAX, SPE_RECORD_MAX + RECORD);
	check_load(&e->ev[2], 4096 / RECORD);
	free(e);
}

static struct spe_decoder *new_decoder(uint64_t offset)
{
	struct spe_decoder_config config = {.offset = offset, .align = RECORD};
	struct spe_decoder *d = spe_decoder_new(&config);

	assert_non_null(d);
	return d;
}

static void test_lost(void **state)
{
	struct events *e = calloc(1, sizeof(*e));
	struct spe_decoder *d = new_decoder(0);
	uint8_t bytes[COUNT * RECORD];

	assert_non_null(e);
	stream(bytes);
	/* Three records, ten bytes of the next; on goes it inside record 6. */
	spe_decoder_feed(d, bytes, 3 * RECORD + 10);
	pull(d, e);
	spe_decoder_lost(d, 3 * RECORD);
	spe_decoder_feed(d, bytes + 6 * RECORD + 10, 2 * RECORD - 10);
	pull(d, e);
	spe_decoder_finish(d);
	pull(d, e);
	assert_int_equal(e->n, 8);
	assert_int_equal(e->ev[3].type, SPE_ERROR);
	assert_int_equal(e->ev[3].error, TRACE_ERR_TRUNCATED);
	assert_int_equal(e->ev[4].type, SPE_GAP);
	assert_int_equal(e->ev[4].bytes, 10);
	assert_int_equal(e->ev[5].type, SPE_GAP);
	assert_int_equal(e->ev[5].error, TRACE_GAP_LOST);
	assert_int_equal(e->ev[5].bytes, 3 * RECORD);
	assert_int_equal(e->ev[6].type, SPE_GAP);
	assert_int_equal(e->ev[6].error, TRACE_GAP_NO_SYNC);
	assert_int_equal(e->ev[6].bytes, RECORD - 10);
	check_load(&e->ev[7], 7);
	spe_decoder_free(d);
	free(e);
}

/* Records may be smaller than 64 bytes, and begin at smaller multiples. */
static void test_small_alignment(void **state)
{
	struct spe_decoder_config config = {.align = 1};
	struct spe_decoder *d = spe_decoder_new(&config);
	struct events *e = calloc(1, sizeof(*e));
	uint8_t bytes[COUNT * RECORD], slot[RECORD];
	size_t n = 0, used;
	int i;

	assert_non_null(d);
	assert_non_null(e);
	for (i = 0; i < COUNT; i++) {
		used = load_record(slot, 0x400000 + 4 * (uint64_t)i, 1000);
		memcpy(bytes + n, slot, used);
		n += used;
	}
	spe_decoder_feed(d, bytes, n);
	pull(d, e);
	assert_int_equal(e->n, COUNT);
	for (i = 0; i < COUNT; i++)
		assert_true(e->ev[i].sample.addr[SPE_ADDR_PC] == 0x400000 + 4 * (uint64_t)i);
	spe_decoder_free(d);
	free(e);
}

/* An Alignment packet skips whatever is behind it, in pieces too. */
static void test_alignment_packet(void **state)
{
	uint8_t bytes[2 * RECORD];
	struct events *e;
	size_t used;

	used = load_record(bytes, 0x400000, 1000);
	load_record(bytes + RECORD, 0x400004, 1001);
	memset(bytes + used, 0xff, RECORD - used);
	bytes[used] = 0x23;
	bytes[used + 1] = 0x00;
	assert_true(RECORD - used <= 16);
	e = decode_all_ways(bytes, sizeof(bytes), 0);
	assert_int_equal(e->n, 2);
	check_load(&e->ev[0], 0);
	check_load(&e->ev[1], 1);
	free(e);
}

static void test_refused(void **state)
{
	struct spe_decoder_config config = {.align = 3};
	struct spe_decoder *d;
	uint8_t byte = 1;

	assert_null(spe_decoder_new(&config));
	config.align = 2 * SPE_RECORD_MAX;
	assert_null(spe_decoder_new(&config));
	d = new_decoder(0);
	assert_int_equal(spe_decoder_feed(d, &byte, 1), 0);
	assert_int_equal(spe_decoder_feed(d, &byte, 1), -EBUSY);
	spe_decoder_free(d);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_branch),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_straddle),
		cmocka_unit_test(test_bad_byte),
		cmocka_unit_test(test_no_pc),
		cmocka_unit_test(test_endless),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_small_alignment),
		cmocka_unit_test(test_alignment_packet),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
