// SPDX-License-Identifier: BSD-2-Clause
/* CoreSight recordings of CPUs or threads that share a buffer: a stream each, by trace IDs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "container/perfdata.h"
#include "decoded.h"
#include "hw/coresight.h"
#include "session/packets.h"

#define CPU_A	2	/* has the buffer */
#define CPU_B	5
#define TID_A	70	/* of threads */
#define TID_B	71
#define ID_A	0x10
#define ID_B	0x11

/* One frame of one source (IHI 0029 D4.2): its ID, an odd number of bytes, then ID 0. */
static void put_frame(uint8_t *f, uint8_t id, const uint8_t *bytes, size_t n)
{
	size_t i;

	memset(f, 0, CS_FRAME);
	f[0] = (uint8_t)(id << 1 | CS_FRAME_ID);
	for (i = 1; i <= n; i++) {
		f[i] = bytes[i - 1];
		if (i % 2 == 0 && f[i] & 1) {
			f[i] &= (uint8_t)~1u;
			f[CS_FRAME_AUX] |= (uint8_t)(1u << i / 2);
		}
	}
	f[n + 1] = CS_FRAME_ID;
}

static void source(struct perfdata_writer *w, int cpu, uint32_t id)
{
	struct {
		struct hwt_rec rec;
		struct hwt_rec_source s;
	} r = {
		.rec = {.size = sizeof(r), .type = HWT_REC_SOURCE, .cpu = cpu},
		.s = {CPU_A, id},
	};

	assert_int_equal(perfdata_write_record(w, &r.rec), 0);
}

/* Both begin with a sync point; then B's unit overflows (IHI 0064 6.4). */
static void record(char *path)
{
	static const uint8_t async[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};
	static const uint8_t info[] = {1, 1, 0}, overflow[] = {0, 5, 4};
	static const uint32_t caps[16] = {0x280002a1, 0x4100f433, 0x90000088};
	const struct perfdata_params p = {
		.backend = "coresight", .caps = caps, .ncaps = 16, .host = "kernel",
		.per_cpu = true, .shared = true,
	};
	struct perfdata_writer *w;
	uint8_t f[5][CS_FRAME];

	close(mkstemp(path));
	assert_int_equal(perfdata_create(path, &p, &w), 0);
	source(w, CPU_A, ID_A);
	source(w, CPU_B, ID_B);
	put_frame(f[0], ID_A, async, sizeof(async));
	put_frame(f[1], ID_B, async, sizeof(async));
	put_frame(f[2], ID_B, info, sizeof(info));
	put_frame(f[3], ID_A, info, sizeof(info));
	put_frame(f[4], ID_B, overflow, sizeof(overflow));
	assert_int_equal(perfdata_write_trace(w, 0, CPU_A, 0, f, sizeof(f), false, true), 0);
	assert_int_equal(perfdata_close(w), 0);
}

static int overflows(struct hwt_stream *st)
{
	struct trace_event ev[16];
	int n, i, found = 0;

	while ((n = hwt_stream_next(st, ev, 16)) > 0)
		for (i = 0; i < n; i++)
			found += ev[i].type == TRACE_GAP && ev[i].error == TRACE_GAP_OVERFLOW;
	assert_int_equal(n, 0);
	return found;
}

static void cpus(void **state)
{
	static const int cpu[] = {CPU_A, CPU_B};
	char path[] = "/tmp/hwt-session-shared-XXXXXX";
	const struct hwt_stream_info *info;
	struct hwt_stream_counts counted;
	struct hwt_session *s;
	int i;

	record(path);
	s = open_session(path, 0);
	assert_int_equal(hwt_session_nstreams(s), 2);
	for (i = 0; i < 2; i++) {
		info = hwt_stream_info(hwt_session_stream(s, i));
		assert_int_equal(info->cpu, cpu[i]);
		assert_int_equal(info->bytes, 5 * CS_FRAME);
		/* Each has all of the buffer, which counts once. */
		counted = hwt_stream_counted(hwt_session_stream(s, i));
		assert_int_equal(counted.bytes, cpu[i] == CPU_A ? 5 * CS_FRAME : 0);
		assert_int_equal(counted.lost, 0);
		assert_int_equal(info->trace_id, i ? ID_B : ID_A);
		assert_int_equal(overflows(hwt_session_stream(s, i)), i);
		assert_int_equal(hwt_stream_own_bytes(hwt_session_stream(s, i)), i ? 19 : 16);
	}
	hwt_session_close(s);
	unlink(path);
}

/* Whose buffer it is may end before others that write to it, in the one piece there is. */
static void owner_ends_first(void **state)
{
	static const struct perfdata_params p = {.backend = "coresight", .shared = true};
	struct {
		struct hwt_rec rec;
		union {
			struct hwt_rec_source source;
			struct hwt_rec_thread thread;
		} u;
	} r = {.rec = {.size = sizeof(r), .pid = TID_A, .tid = TID_A, .cpu = -1}};
	char path[] = "/tmp/hwt-session-shared-XXXXXX";
	static const uint8_t frames[5 * CS_FRAME];
	struct perfdata_writer *w;
	struct hwt_session *s;

	close(mkstemp(path));
	assert_int_equal(perfdata_create(path, &p, &w), 0);
	r.rec.type = HWT_REC_SOURCE;
	r.u.source = (struct hwt_rec_source){TID_A, ID_A};
	assert_int_equal(perfdata_write_record(w, &r.rec), 0);
	r.rec.tid = TID_B;
	r.u.source.source = ID_B;
	assert_int_equal(perfdata_write_record(w, &r.rec), 0);
	r.rec.type = HWT_REC_THREAD_EXIT;
	r.rec.tid = TID_A;
	r.rec.position = 3 * CS_FRAME;
	r.u.thread = (struct hwt_rec_thread){.tid = TID_A};
	assert_int_equal(perfdata_write_record(w, &r.rec), 0);
	assert_int_equal(perfdata_write_trace(w, TID_A, TID_A, 0, frames, sizeof(frames), false,
					      true), 0);
	assert_int_equal(perfdata_close(w), 0);
	s = open_session(path, 0);
	assert_int_equal(hwt_session_nstreams(s), 2);
	assert_int_equal(hwt_stream_info(hwt_session_stream(s, 0))->bytes, 3 * CS_FRAME);
	assert_int_equal(hwt_stream_info(hwt_session_stream(s, 1))->bytes, 5 * CS_FRAME);
	assert_int_equal(hwt_stream_counted(hwt_session_stream(s, 0)).bytes, 5 * CS_FRAME);
	hwt_session_close(s);
	unlink(path);
}

/* A frame without an ID: fifteen bytes of whose it was. */
static void put_more(uint8_t *f, const uint8_t *bytes)
{
	size_t i;

	memset(f, 0, CS_FRAME);
	for (i = 0; i < CS_FRAME_AUX; i++) {
		f[i] = i % 2 ? bytes[i] : bytes[i] & (uint8_t)~1u;
		if (i % 2 == 0 && bytes[i] & 1)
			f[CS_FRAME_AUX] |= (uint8_t)(1u << i / 2);
	}
}

static void put_source(struct perfdata_writer *w, uint32_t tid, uint32_t id, uint64_t position)
{
	struct {
		struct hwt_rec rec;
		struct hwt_rec_source source;
	} r = {
		.rec = {.size = sizeof(r), .type = HWT_REC_SOURCE, .pid = TID_A, .tid = tid,
			.cpu = -1, .position = position},
		.source = {TID_A, id},
	};

	assert_int_equal(perfdata_write_record(w, &r.rec), 0);
}

/* Packets of a stream, and how many of them are none. */
static int bad_packets(void *ctx, const struct hwt_packet *p)
{
	int *bad = ctx;

	*bad += p->kind != HWT_PACKET;
	return 0;
}

/* A thread has the ID of one that wrote last before it: no frame says the ID again. */
static void id_of_another(void **state)
{
	static const struct perfdata_params p = {.backend = "coresight", .shared = true};
	uint8_t on[CS_FRAME_AUX]; /* Trace On, which may be repeated (IHI 0064 6.4) */
	/* A sync point, an overflow. */
	static const uint8_t bytes[2 * CS_FRAME_AUX] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 1, 0, 0, 5, 4,
		4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
	};
	char path[] = "/tmp/hwt-session-shared-XXXXXX";
	struct perfdata_writer *w;
	uint8_t f[5][CS_FRAME];
	struct hwt_session *s;
	struct hwt_stream *st;
	int bad = 0;

	memset(on, 4, sizeof(on));
	put_frame(f[0], ID_B, on, CS_FRAME_AUX - 2);
	f[0][CS_FRAME_AUX - 1] = ID_B << 1 | CS_FRAME_ID; /* not ID 0: it goes on */
	put_more(f[1], on);
	put_more(f[2], on);
	put_more(f[3], bytes);
	put_more(f[4], bytes + CS_FRAME_AUX);
	close(mkstemp(path));
	assert_int_equal(perfdata_create(path, &p, &w), 0);
	put_source(w, TID_A, ID_A, 0);
	put_source(w, TID_B, ID_B, 0);
	put_source(w, TID_B + 1, ID_B, 3 * CS_FRAME);
	assert_int_equal(perfdata_write_trace(w, TID_A, TID_A, 0, f, sizeof(f), false, true), 0);
	assert_int_equal(perfdata_close(w), 0);
	s = open_session(path, 0);
	assert_int_equal(hwt_session_nstreams(s), 3);
	st = stream_of(s, TID_B + 1);
	assert_int_equal(overflows(st), 1);
	assert_int_equal(hwt_stream_rewind(st), 0);
	assert_int_equal(hwt_stream_packets(s, st, bad_packets, &bad), 0);
	assert_int_equal(bad, 0);
	hwt_session_close(s);
	unlink(path);
}

static size_t read_all(const char *path, uint8_t *bytes, size_t max)
{
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(bytes, 1, max, f);
	fclose(f);
	return n;
}

enum { PIECE = 8 << 20, DRAFTS = 3, PART = PIECE / (DRAFTS + 1), HEAD = 1 << 10 };

/*
 * What a recorder leaves that is killed behind a piece of trace and before its drafts were
 * dropped: the file as it is at the end, with the drafts as they were before; but inside,
 * two of them are records to be skipped already.
 */
static void kill_among_drafts(const char *path, const uint8_t *trace)
{
	static const struct perfdata_params p = {.backend = "coresight", .shared = true};
	static uint8_t drafts[PIECE];
	struct {
		struct hwt_rec rec;
		struct hwt_rec_source source;
	} r = {
		.rec = {.size = sizeof(r), .type = HWT_REC_SOURCE, .pid = 70, .tid = 70,
			.cpu = -1},
		.source = {70, 0x10},
	};
	struct perfdata_writer *w;
	size_t i, n = 0;
	FILE *f;

	assert_int_equal(perfdata_create(path, &p, &w), 0);
	assert_int_equal(perfdata_write_record(w, &r.rec), 0);
	for (i = 0; i < PIECE; i += PART) {
		if (i == PIECE - PART)
			n = read_all(path, drafts, sizeof(drafts));
		assert_int_equal(perfdata_write_trace(w, 70, 70, i, trace + i, PART, false,
						      false), 0);
		assert_int_equal(perfdata_flush(w), 0);
	}
	assert_int_equal(perfdata_close(w), 0);
	assert_in_range(n, DRAFTS * PART, sizeof(drafts) - 1);
	memset(drafts + n / 8, 0, 8);
	memset(drafts + n / 2, 0, 8);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, HEAD, SEEK_SET), 0);
	assert_int_equal(fwrite(drafts + HEAD, 1, n - HEAD, f), n - HEAD);
	fclose(f);
}

static void killed_among_drafts(void **state)
{
	static uint8_t trace[PIECE];
	char path[] = "/tmp/hwt-session-drafts-XXXXXX";
	const uint8_t *bytes;
	uint64_t position, lost;
	struct hwt_session *s;
	struct hwt_stream *st;
	size_t at, n;

	for (at = 0; at < PIECE; at++)
		trace[at] = (uint8_t)(at * 29 ^ at >> 8);
	close(mkstemp(path));
	kill_among_drafts(path, trace);
	s = open_session(path, 0);
	assert_int_equal(hwt_session_nstreams(s), 1);
	st = hwt_session_stream(s, 0);
	assert_int_equal(hwt_stream_counted(st).bytes, PIECE);
	assert_int_equal(hwt_stream_counted(st).lost, 0);
	for (at = 0; hwt_stream_chunk(st, &bytes, &n, &position, &lost) > 0; at += n) {
		assert_int_equal(position, at);
		assert_memory_equal(bytes, trace + at, n);
	}
	assert_int_equal(at, PIECE);
	hwt_session_close(s);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus), cmocka_unit_test(owner_ends_first),
		cmocka_unit_test(id_of_another),
		cmocka_unit_test(killed_among_drafts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
