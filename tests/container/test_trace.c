/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace bytes: cut between packets, put together again, gaps and streams told apart. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include "temp.h"

#define STREAM	  300000
#define PSB_EVERY 3001
static uint8_t stream[STREAM];
static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

/* No PSB but at the multiples of PSB_EVERY; not a byte that looks like one. */
static int fill_stream(void **state)
{
	size_t i;

	for (i = 0; i < STREAM; i++)
		stream[i] = (uint8_t)(0x90 + (i * 13 + (i >> 8)) % 64);
	for (i = 0; i + sizeof(psb) <= STREAM; i += PSB_EVERY)
		memcpy(stream + i, psb, sizeof(psb));
	return 0;
}

/* For tests: every packet is five bytes, a PSB sixteen. */
static size_t five_byte_packets(const uint8_t *bytes, size_t n)
{
	size_t at = 0, len;

	for (;; at += len) {
		len = at < n && bytes[at] == psb[0] ? 16 : 5;
		if (n - at < len)
			return at;
	}
}

static struct perfdata_writer *must_create(const char *path, bool whole, bool per_cpu)
{
	struct perfdata_params params = test_params;
	struct perfdata_writer *w = NULL;

	params.whole_packets = whole ? five_byte_packets : NULL;
	params.per_cpu = per_cpu;
	assert_int_equal(perfdata_create(path, &params, &w), 0);
	return w;
}

/* What the file holds of one queue, in out; checks that positions follow. */
static size_t collect(const char *path, uint32_t idx, uint8_t *out, size_t max,
		      unsigned int *chunks)
{
	struct perfdata *p = must_open(path);
	struct perfdata_event ev;
	size_t have = 0;

	*chunks = 0;
	while (next_event(p, &ev)) {
		if (ev.type != PERFDATA_AUXTRACE || ev.auxtrace.idx != idx)
			continue;
		assert_int_equal(ev.auxtrace.offset, have);
		assert_true(ev.auxtrace.size <= max - have);
		assert_int_equal(perfdata_read(p, ev.auxtrace.data_offset, out + have,
					       (size_t)ev.auxtrace.size),
				 ev.auxtrace.size);
		/* Every chunk but the first begins where a packet does. */
		if (have)
			assert_true(
				(have % PSB_EVERY) == 0 ||
				five_byte_packets(stream + have / PSB_EVERY * PSB_EVERY,
						  have % PSB_EVERY) == have % PSB_EVERY);
		have += (size_t)ev.auxtrace.size;
		(*chunks)++;
	}
	perfdata_close_reader(p);
	return have;
}

static void chunked(size_t chunk, bool whole, bool final)
{
	uint8_t *got = malloc(STREAM);
	char *path = temp_file();
	struct perfdata_writer *w = must_create(path, whole, false);
	size_t at, n;
	unsigned int chunks;

	assert_non_null(got);
	for (at = 0; at < STREAM; at += n) {
		n = STREAM - at < chunk ? STREAM - at : chunk;
		assert_int_equal(
			perfdata_write_trace(w, 1, 1, at, stream + at, n, false, false),
			0);
	}
	if (final)
		assert_int_equal(
			perfdata_write_trace(w, 1, 1, STREAM, NULL, 0, false, true), 0);
	assert_int_equal(perfdata_close(w), 0);
	assert_int_equal(collect(path, 0, got, STREAM, &chunks), STREAM);
	assert_memory_equal(got, stream, STREAM);
	if (chunk < PSB_EVERY && !whole)
		assert_in_range(chunks, STREAM / PSB_EVERY - 1, STREAM / PSB_EVERY + 2);
	temp_remove(path);
	free(got);
}

static void test_chunks(void **state)
{
	static const size_t sizes[] = {7, 8, 17, 1000, 3001, 4096, 65536, 70001, STREAM};
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		chunked(sizes[i], false, i & 1);
		chunked(sizes[i], true, !(i & 1));
	}
}

/* What a killed writer leaves: all but the last bytes, fewer with a packet layer. */
static void test_flushed(void **state)
{
	uint8_t *got = malloc(STREAM);
	char *path = temp_file();
	struct perfdata_writer *w;
	unsigned int chunks;
	int whole;
	size_t n;

	assert_non_null(got);
	for (whole = 0; whole < 2; whole++) {
		w = must_create(path, whole, false);
		n = 10 * PSB_EVERY + 1234;
		assert_int_equal(
			perfdata_write_trace(w, 1, 1, 0, stream, n, false, false), 0);
		assert_int_equal(perfdata_flush(w), 0);
		n = collect(path, 0, got, STREAM, &chunks);
		assert_int_equal(n, 10 * PSB_EVERY + (whole ? 16 + 1218 / 5 * 5 : 0));
		assert_memory_equal(got, stream, n);
		assert_int_equal(perfdata_close(w), 0);
	}
	temp_remove(path);
	free(got);
}

static void write_trace(struct perfdata_writer *w, uint32_t id, uint64_t position,
			size_t n, bool truncated)
{
	assert_int_equal(
		perfdata_write_trace(w, 1, id, position, stream, n, truncated, true), 0);
}

struct expected {
	uint64_t offset, size, flags;
	uint32_t idx, tid, cpu;
};

static void expect(struct perfdata *p, const struct expected *e)
{
	struct perfdata_event ev;

	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_AUX);
	assert_int_equal(ev.aux.offset, e->offset);
	assert_int_equal(ev.aux.size, e->size);
	assert_int_equal(ev.aux.flags, e->flags);
	assert_int_equal(ev.tid, e->tid);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_AUXTRACE);
	assert_int_equal(ev.auxtrace.offset, e->offset);
	assert_int_equal(ev.auxtrace.size, e->size);
	assert_int_equal(ev.auxtrace.idx, e->idx);
	assert_int_equal(ev.tid, e->tid);
	assert_int_equal(ev.cpu, e->cpu);
}

static void test_gaps_and_streams(void **state)
{
	static const struct expected es[] = {
		{0, 100, 0, 0, 1, -1u},
		{0, 50, 0, 1, 2, -1u},
		{100, 10, PERF_AUX_FLAG_TRUNCATED, 0, 1, -1u}, /* said so */
		{200, 10, PERF_AUX_FLAG_TRUNCATED, 0, 1, -1u}, /* by its position */
		{210, 3, 0, 0, 1, -1u},
		{0, 5, 0, 2, 1, -1u}, /* a new stream */
	};
	char *path = temp_file();
	struct perfdata_writer *w = must_create(path, false, false);
	struct perfdata *p;
	struct perfdata_event ev;
	size_t i;

	write_trace(w, 1, 0, 100, false);
	write_trace(w, 2, 0, 50, false);
	write_trace(w, 1, 100, 10, true);
	write_trace(w, 1, 200, 10, false);
	write_trace(w, 1, 210, 3, false);
	write_trace(w, 1, 0, 5, false);
	write_trace(w, 1, 5, 0, false);
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	for (i = 0; i < sizeof(es) / sizeof(es[0]); i++)
		expect(p, &es[i]);
	assert_int_equal(next_event(p, &ev), 0);
	perfdata_close_reader(p);
	temp_remove(path);
}

/* A gap while bytes are kept back: they come out before it. */
static void test_gap_after_kept(void **state)
{
	static const struct expected es[] = {
		{0, 13, 0, 0, 1, -1u},
		{40, 9, PERF_AUX_FLAG_TRUNCATED, 0, 1, -1u},
	};
	char *path = temp_file();
	struct perfdata_writer *w = must_create(path, false, false);
	struct perfdata *p;

	assert_int_equal(perfdata_write_trace(w, 1, 1, 0, stream + 16, 13, false, false),
			 0);
	assert_int_equal(perfdata_write_trace(w, 1, 1, 40, stream + 16, 9, true, false),
			 0);
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	expect(p, &es[0]);
	expect(p, &es[1]);
	perfdata_close_reader(p);
	temp_remove(path);
}

/* Of the trace that follows the record, and of no more; alone if none does. */
static void test_collisions(void **state)
{
	static const struct expected es[] = {
		{0, 100, PERF_AUX_FLAG_COLLISION, 0, 1, -1u},
		{100, 10, 0, 0, 1, -1u},
	};
	const struct hwt_rec_buffer lost = {.buf_id = 1, .flags = HWT_BUF_COLLISION};
	struct hwt_rec *rec = make_rec(HWT_REC_BUFFER, 1, 1, &lost, sizeof(lost), NULL);
	char *path = temp_file();
	struct perfdata_writer *w = must_create(path, false, false);
	struct perfdata_event ev;
	struct perfdata *p;

	assert_int_equal(perfdata_write_record(w, rec), 0);
	write_trace(w, 1, 0, 100, false);
	write_trace(w, 1, 100, 10, false);
	assert_int_equal(perfdata_write_record(w, rec), 0);
	free(rec);
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_HWT);
	expect(p, &es[0]);
	expect(p, &es[1]);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_HWT);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_AUX);
	assert_int_equal(ev.aux.size, 0);
	assert_true(ev.aux.collided);
	assert_int_equal(next_event(p, &ev), 0);
	perfdata_close_reader(p);
	temp_remove(path);
}

static void test_per_cpu_ring(void **state)
{
	static const struct expected es[] = {
		{4096, 100, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_OVERWRITE, 0, -1u, 3},
		{0, 8, 0, 1, -1u, 0},
	};
	const struct hwt_rec_buffer wrapped = {.buf_id = 3, .flags = HWT_BUF_WRAPPED};
	struct hwt_rec *rec =
		make_rec(HWT_REC_BUFFER, 0, 0, &wrapped, sizeof(wrapped), NULL);
	char *path = temp_file();
	struct perfdata_writer *w = must_create(path, false, true);
	struct perfdata_event ev;
	struct perfdata *p;

	rec->cpu = 3;
	assert_int_equal(perfdata_write_record(w, rec), 0);
	free(rec);
	write_trace(w, 3, 4096, 100, false);
	write_trace(w, 0, 0, 8, false);
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	assert_true(perfdata_info(p)->per_cpu);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_HWT);
	assert_int_equal(ev.cpu, 3);
	expect(p, &es[0]);
	expect(p, &es[1]);
	perfdata_close_reader(p);
	temp_remove(path);
}

/* 3000 threads one after another, a few of the numbers used twice. */
static void test_many_threads(void **state)
{
	char *path = temp_file();
	struct perfdata_writer *w = must_create(path, false, false);
	struct perfdata_event ev;
	struct perfdata *p;
	unsigned int n = 0, i;

	for (i = 0; i < 3000; i++)
		write_trace(w, 1 + i % 2900, 0, 24, false);
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	while (next_event(p, &ev)) {
		if (ev.type != PERFDATA_AUXTRACE)
			continue;
		assert_int_equal(ev.auxtrace.idx, n);
		assert_int_equal(ev.tid, 1 + n % 2900);
		n++;
	}
	assert_int_equal(n, 3000);
	perfdata_close_reader(p);
	temp_remove(path);
}

/*
 * CoreSight: few pieces of whole frames, each ended by a frame of no source (ID 0),
 * which is none of the trace.
 */
static void test_frames(void **state)
{
	enum { FRAME = 16, PIECE = 1 << 20, TOTAL = 5 * PIECE / 2, CHUNK = 100003 };
	static const uint8_t tail[FRAME] = {1};
	struct perfdata_params params = test_params;
	uint8_t *bytes = malloc(TOTAL), *got = malloc(TOTAL), after[FRAME];
	char *path = temp_file();
	struct perfdata_writer *w;
	struct perfdata_event ev;
	struct perfdata *p;
	size_t at, n, pieces = 0;

	assert_true(bytes && got);
	for (at = 0; at < TOTAL; at++)
		bytes[at] = (uint8_t)(at * 31 ^ at >> 8);
	params.backend = "coresight";
	assert_int_equal(perfdata_create(path, &params, &w), 0);
	for (at = 0; at < TOTAL; at += n) {
		n = TOTAL - at < CHUNK ? TOTAL - at : CHUNK;
		assert_int_equal(
			perfdata_write_trace(w, 1, 1, at, bytes + at, n, false, false), 0);
	}
	assert_int_equal(perfdata_close(w), 0);
	p = must_open(path);
	for (at = 0; next_event(p, &ev);) {
		if (ev.type != PERFDATA_AUXTRACE)
			continue;
		assert_int_equal(ev.auxtrace.offset, at);
		n = (size_t)ev.auxtrace.size;
		assert_int_equal(n % FRAME, 0);
		assert_true(at + n <= TOTAL && (n >= PIECE || at + n == TOTAL));
		assert_int_equal(perfdata_read(p, ev.auxtrace.data_offset, got + at, n), n);
		assert_int_equal(perfdata_read(p, ev.auxtrace.data_offset + n, after, FRAME),
				 FRAME);
		assert_memory_equal(after, tail, FRAME);
		at += n;
		pieces++;
	}
	assert_int_equal(at, TOTAL);
	assert_int_equal(pieces, 3);
	assert_memory_equal(got, bytes, TOTAL);
	perfdata_close_reader(p);
	temp_remove(path);
	free(bytes);
	free(got);
}

/* Bytes of a thread's trace in the file as it is, which are those at `bytes`. */
static size_t trace_now(const char *path, uint32_t tid, const uint8_t *bytes, size_t *pieces,
			size_t *recs)
{
	struct perfdata *p = must_open(path);
	struct perfdata_event ev;
	size_t at = 0, n;
	uint8_t *got;

	*pieces = *recs = 0;
	while (next_event(p, &ev)) {
		*recs += ev.type == PERFDATA_HWT;
		if (ev.type != PERFDATA_AUXTRACE || ev.tid != tid)
			continue;
		n = (size_t)ev.auxtrace.size;
		got = malloc(n);
		assert_non_null(got);
		assert_int_equal(ev.auxtrace.offset, at);
		assert_int_equal(perfdata_read(p, ev.auxtrace.data_offset, got, n), n);
		assert_memory_equal(got, bytes + at, n);
		free(got);
		at += n;
		++*pieces;
	}
	assert_int_equal(perfdata_info(p)->truncated_at, 0);
	perfdata_close_reader(p);
	return at;
}

static void put_records(struct perfdata_writer *w, size_t n)
{
	struct hwt_rec_generation payload = {1};
	struct hwt_rec *rec;

	while (n--) {
		rec = make_rec(HWT_REC_GENERATION, 1, 1, &payload, sizeof(payload), NULL);
		assert_int_equal(perfdata_write_record(w, rec), 0);
		free(rec);
	}
}

/*
 * What waits for a piece is in the file after each flush, whole frames of it; and once
 * only when the piece is there.
 */
static void test_drafts(void **state)
{
	enum { FRAME = 16, TOTAL = 3 << 19, CHUNK = 200011, PIECES = 2 };
	struct perfdata_params params = test_params;
	size_t at, n, pieces, recs, written = 0;
	uint8_t *bytes = malloc(TOTAL);
	char *path = temp_file();
	struct perfdata_writer *w;
	uint32_t tid;

	assert_non_null(bytes);
	for (at = 0; at < TOTAL; at++)
		bytes[at] = (uint8_t)(at * 29 ^ at >> 8);
	params.backend = "coresight";
	assert_int_equal(perfdata_create(path, &params, &w), 0);
	for (at = 0; at < TOTAL; at += n) {
		n = TOTAL - at < CHUNK ? TOTAL - at : CHUNK;
		for (tid = 1; tid <= 2; tid++)
			assert_int_equal(perfdata_write_trace(w, 1, tid, at, bytes + at, n,
							      false, false),
					 0);
		put_records(w, 5);
		written += 5;
		assert_int_equal(perfdata_flush(w), 0);
		for (tid = 1; tid <= 2; tid++)
			assert_int_equal(trace_now(path, tid, bytes, &pieces, &recs),
					 (at + n) / FRAME * FRAME);
		assert_int_equal(recs, written);
	}
	assert_true(pieces > PIECES);
	assert_int_equal(perfdata_close(w), 0);
	for (tid = 1; tid <= 2; tid++) {
		assert_int_equal(trace_now(path, tid, bytes, &pieces, &recs), TOTAL);
		assert_int_equal(pieces, PIECES);
	}
	assert_int_equal(recs, written);
	temp_remove(path);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_flushed),
		cmocka_unit_test(test_gaps_and_streams),
		cmocka_unit_test(test_gap_after_kept),
		cmocka_unit_test(test_collisions),
		cmocka_unit_test(test_per_cpu_ring),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_drafts),
	};

	return cmocka_run_group_tests(tests, fill_stream, NULL);
}
