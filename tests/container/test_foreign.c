/* SPDX-License-Identifier: BSD-2-Clause */
/* Files as perf record writes them, in all their layouts; and files that are none. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "foreign.h"
#include "temp.h"
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define PMU 9
#define USUAL \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)
static const struct foreign_event usual[2] = {
	{PMU, 0x300e601, USUAL | PERF_SAMPLE_IP, 1, 10},
	{1, 9, USUAL | PERF_SAMPLE_IP, 1, 11}};

static struct perfdata *save_and_open(struct foreign *f, char **path)
{
	*path = temp_file();
	foreign_save(f, *path);
	foreign_free(f);
	return must_open(*path);
}

static void done(struct perfdata *p, char *path)
{
	perfdata_close_reader(p);
	temp_remove(path);
}

static void check_id(const struct perfdata_event *ev, uint64_t sample_type)
{
	assert_int_equal(ev->has_time, !!(sample_type & PERF_SAMPLE_TIME));
	if (ev->has_time)
		assert_true(ev->time == FOREIGN_TIME);
	assert_int_equal(ev->cpu, sample_type & PERF_SAMPLE_CPU ? FOREIGN_CPU : -1u);
}

/* Every layout of the sample id, on and off, on each kind of record. */
static void test_sample_ids(void **state)
{
	static const uint64_t bits[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
					PERF_SAMPLE_ID,	 PERF_SAMPLE_STREAM_ID,
					PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
	struct foreign_event event = {.type = PMU, .id = 77};
	const uint64_t aux[3] = {4096, 512, 1};
	struct perfdata_event ev;
	struct perfdata *p;
	struct foreign f;
	unsigned int mask, i;
	char *path;

	for (mask = 0; mask < 128; mask++) {
		event.sample_type = PERF_SAMPLE_IP;
		event.sample_id_all = mask >= 64;
		for (i = 0; i < 6; i++)
			event.sample_type |= mask & 1u << i ? bits[i] : 0;
		foreign_begin(&f, &event, 1);
		foreign_mmap2(&f, 0x1000, "/bin/eight+");
		foreign_comm(&f, "seven77");
		foreign_record(&f, PERF_RECORD_AUX, 0);
		foreign_put(&f, aux, sizeof(aux));
		foreign_end(&f);
		foreign_record(&f, PERF_RECORD_SWITCH, 1 << 13);
		foreign_end(&f);
		foreign_close(&f);
		p = save_and_open(&f, &path);
		if (!event.sample_id_all)
			event.sample_type = 0;
		assert_int_equal(next_event(p, &ev), 1);
		assert_int_equal(ev.type, PERFDATA_MMAP);
		assert_int_equal(ev.pid, 7);
		assert_string_equal(ev.mmap.path, "/bin/eight+");
		check_id(&ev, event.sample_type);
		assert_int_equal(next_event(p, &ev), 1);
		assert_string_equal(ev.comm.comm, "seven77");
		assert_int_equal(ev.tid, 8);
		check_id(&ev, event.sample_type);
		assert_int_equal(next_event(p, &ev), 1);
		assert_int_equal(ev.aux.offset, 4096);
		assert_int_equal(ev.aux.flags, 1);
		assert_int_equal(ev.tid,
				 event.sample_type & PERF_SAMPLE_TID ? FOREIGN_TID : -1u);
		check_id(&ev, event.sample_type);
		assert_int_equal(next_event(p, &ev), 1);
		assert_int_equal(ev.type, PERFDATA_SWITCH);
		assert_true(ev.sched.out);
		assert_int_equal(next_event(p, &ev), 0);
		done(p, path);
	}
}

/* Two events whose ids are laid out differently: the id says which. */
static void test_two_events(void **state)
{
	static const struct foreign_event events[2] = {
		{PMU, 0, PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER, 1, 500},
		{1, 9, USUAL, 1, 400},
	};
	struct perfdata_event ev;
	struct perfdata *p;
	struct foreign f;
	char *path;

	foreign_begin(&f, events, 2);
	foreign_comm(&f, "first");
	foreign_of(&f, &events[1]);
	foreign_comm(&f, "second");
	f.id = 999; /* nobody's: no id is taken from it */
	foreign_comm(&f, "stray");
	foreign_close(&f);
	p = save_and_open(&f, &path);
	assert_int_equal(next_event(p, &ev), 1);
	assert_false(ev.has_time);
	assert_int_equal(next_event(p, &ev), 1);
	assert_true(ev.has_time && ev.time == FOREIGN_TIME);
	assert_int_equal(ev.cpu, FOREIGN_CPU);
	assert_int_equal(next_event(p, &ev), 1);
	assert_string_equal(ev.comm.comm, "stray");
	assert_false(ev.has_time);
	assert_int_equal(next_event(p, &ev), 0);
	done(p, path);
}

/* Per-CPU buffers, a snapshot, and what the file says of the unit (A21: time). */
static void test_intel_pt(void **state)
{
	const uint64_t snapshot[3] = {0, 64, 2};
	const struct perfdata_info *info;
	struct perfdata_event ev;
	struct perfdata *p;
	struct foreign f;
	uint8_t bytes[64], got[64];
	char *path;

	memset(bytes, 0x5a, sizeof(bytes));
	foreign_begin(&f, usual, 2);
	foreign_pt_info(&f, PMU, 10, 394, 1000000);
	foreign_record(&f, PERF_RECORD_AUX, 0);
	foreign_put(&f, snapshot, sizeof(snapshot));
	foreign_end(&f);
	foreign_auxtrace(&f, 128, bytes, sizeof(bytes), -1u, 2);
	foreign_close(&f);
	p = save_and_open(&f, &path);
	info = perfdata_info(p);
	assert_string_equal(info->backend, "pt");
	assert_false(info->ours);
	assert_true(info->per_cpu && info->has_time_conv);
	/* pt, branch, tsc, mtc, mtc_period 3, psb_period 3; user only */
	assert_true(info->rtit_ctl == 0x300e608);
	assert_int_equal(info->mtc_freq, 3);
	assert_int_equal(info->tsc_ratio_num, 216);
	assert_int_equal(info->tsc_ratio_den, 2);
	assert_int_equal(info->nominal_ratio, 26);
	assert_int_equal(perfdata_time_to_ticks(p, 0), 0);
	assert_int_equal(perfdata_time_to_ticks(p, 999999), 0);
	assert_int_equal(perfdata_time_to_ticks(p, 1000000 + 394), 1024);
	assert_int_equal(perfdata_ticks_to_time(p, 1024), 1000000 + 394);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.aux.flags, 2);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_AUXTRACE);
	assert_int_equal(ev.cpu, 2);
	assert_int_equal(ev.tid, -1u);
	assert_int_equal(ev.auxtrace.offset, 128);
	assert_int_equal(ev.auxtrace.idx, 5);
	assert_int_equal(perfdata_read(p, ev.auxtrace.data_offset, got, 64), 64);
	assert_memory_equal(got, bytes, 64);
	perfdata_rewind(p);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_AUX);
	done(p, path);
}

/* G01: trace bytes that look like records are no records. */
static void test_bytes_like_records(void **state)
{
	struct foreign f, inner;
	struct perfdata_event ev;
	struct perfdata *p;
	char *path;

	foreign_begin(&inner, usual, 1);
	foreign_comm(&inner, "inner");
	foreign_begin(&f, usual, 1);
	foreign_auxtrace(&f, 0, inner.bytes + inner.data, inner.n - inner.data, 1, -1u);
	foreign_comm(&f, "outer");
	foreign_close(&f);
	foreign_free(&inner);
	p = save_and_open(&f, &path);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(ev.type, PERFDATA_AUXTRACE);
	assert_int_equal(next_event(p, &ev), 1);
	assert_string_equal(ev.comm.comm, "outer");
	assert_int_equal(next_event(p, &ev), 0);
	done(p, path);
}

/* G03: an unknown type is skipped; a size of 0 is an error with its place. */
static void test_unknown_and_zero(void **state)
{
	static const uint32_t types[] = {22, 63,  64,  68,  80,
					 99, 127, 128, 200, UINT32_MAX};
	const uint8_t body[56] = {1};
	struct perfdata_event ev;
	struct perfdata *p;
	struct foreign f;
	size_t i, zero;
	char *path;

	foreign_begin(&f, usual, 1);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		foreign_record(&f, types[i], 0);
		foreign_put(&f, body, sizeof(body));
		foreign_end_without_id(&f);
	}
	foreign_comm(&f, "known");
	zero = f.n;
	foreign_record(&f, PERF_RECORD_COMM, 0);
	foreign_comm(&f, "beyond");
	foreign_close(&f);
	p = save_and_open(&f, &path);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		assert_int_equal(perfdata_next(p, &ev), 1);
		assert_int_equal(ev.type, PERFDATA_SKIPPED);
		assert_int_equal(ev.raw_type, types[i]);
	}
	assert_int_equal(perfdata_next(p, &ev), 1);
	assert_string_equal(ev.comm.comm, "known");
	for (i = 0; i < 3; i++) {
		assert_int_equal(perfdata_next(p, &ev), -EBADMSG);
		assert_int_equal(ev.file_offset, zero);
	}
	assert_int_equal(perfdata_info(p)->truncated_at, zero);
	done(p, path);
}

/* Cut at every byte: what came before is there, and no error. */
static void test_truncated(void **state)
{
	const uint8_t bytes[40] = {0};
	size_t first, second, third, n;
	struct perfdata_event ev;
	struct perfdata *p;
	struct foreign f;
	char *path = temp_file();
	int more;

	foreign_begin(&f, usual, 1);
	foreign_comm(&f, "first");
	first = f.n;
	foreign_auxtrace(&f, 0, bytes, sizeof(bytes), 1, -1u);
	second = f.n;
	foreign_comm(&f, "third");
	foreign_close(&f);
	third = f.n;
	for (n = f.data; n <= third; n++) {
		f.n = n;
		foreign_save(&f, path);
		p = must_open(path);
		assert_int_equal(more = next_event(p, &ev), n >= first);
		if (more)
			assert_string_equal(ev.comm.comm, "first");
		if (more && (more = next_event(p, &ev))) {
			assert_int_equal(ev.type, PERFDATA_AUXTRACE);
			assert_int_equal(ev.auxtrace.size,
					 n < second ? n - ev.auxtrace.data_offset : 40);
		}
		if (more && (more = next_event(p, &ev)))
			assert_string_equal(ev.comm.comm, "third");
		assert_int_equal(more, n == third);
		assert_int_equal(!!perfdata_info(p)->truncated_at, n < third);
		assert_int_equal(perfdata_info(p)->complete, n == third);
		perfdata_close_reader(p);
	}
	f.n = third;
	foreign_free(&f);
	temp_remove(path);
}

/* A recorder that was killed never said how much there is. */
static void test_size_zero(void **state)
{
	struct perfdata_event ev;
	struct perfdata *p;
	struct foreign f;
	char *path;

	foreign_begin(&f, usual, 1);
	foreign_comm(&f, "one");
	foreign_comm(&f, "two");
	foreign_put(&f, "rubbish that is no record at all", 32);
	p = save_and_open(&f, &path);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(next_event(p, &ev), 1);
	assert_string_equal(ev.comm.comm, "two");
	assert_int_equal(next_event(p, &ev), 0);
	assert_true(perfdata_info(p)->truncated_at);
	assert_false(perfdata_info(p)->complete);
	done(p, path);
	foreign_begin(&f, usual, 1);
	p = save_and_open(&f, &path);
	assert_int_equal(next_event(p, &ev), 0);
	assert_int_equal(perfdata_info(p)->truncated_at, 0);
	assert_null(perfdata_info(p)->backend);
	done(p, path);
}

/* The file shrinks between two reads: an early end, no SIGBUS. */
static void test_shrinks(void **state)
{
	uint8_t *bytes = calloc(1, 1 << 20), got[16];
	struct perfdata_event ev;
	struct perfdata *p;
	struct foreign f;
	char *path;

	assert_non_null(bytes);
	foreign_begin(&f, usual, 1);
	foreign_auxtrace(&f, 0, bytes, 1 << 20, 1, -1u);
	foreign_comm(&f, "gone");
	foreign_close(&f);
	free(bytes);
	p = save_and_open(&f, &path);
	assert_int_equal(next_event(p, &ev), 1);
	assert_int_equal(truncate(path, 4096), 0);
	assert_int_equal(perfdata_read(p, ev.auxtrace.data_offset + 8192, got, 16), 0);
	assert_int_equal(perfdata_read(p, 4090, got, 16), 6);
	assert_int_equal(perfdata_read(p, UINT64_MAX - 3, got, 16), 0);
	assert_int_equal(next_event(p, &ev), 0);
	assert_true(perfdata_info(p)->truncated_at);
	done(p, path);
}

/* Each record one u64 too short for its type, and strings without an end. */
static void test_short_records(void **state)
{
	static const struct {
		uint32_t type;
		size_t n;
	} rows[] = {
		{PERF_RECORD_MMAP, 32},	    {PERF_RECORD_MMAP2, 64},
		{PERF_RECORD_COMM, 8},	    {PERF_RECORD_FORK, 16},
		{PERF_RECORD_EXIT, 16},	    {PERF_RECORD_LOST, 8},
		{PERF_RECORD_AUX, 16},	    {PERF_RECORD_ITRACE_START, 0},
		{PERF_RECORD_TEXT_POKE, 8}, {PERF_USER_AUXTRACE, 32},
		{PERF_RECORD_AUX_OUTPUT_HW_ID, 0},
	};
	static const struct foreign_event bare = {PMU, 0, 0, 0, 1};
	struct perfdata_event ev;
	struct perfdata *p;
	uint8_t body[64];
	struct foreign f;
	char *path;
	size_t i;

	memset(body, 0xff, sizeof(body));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		foreign_begin(&f, &bare, 1);
		foreign_record(&f, rows[i].type, 0);
		foreign_put(&f, body, rows[i].n);
		foreign_end(&f);
		foreign_close(&f);
		p = save_and_open(&f, &path);
		assert_int_equal(perfdata_next(p, &ev), -EBADMSG);
		done(p, path);
	}
}

static void expect_kind(const char *path, enum perfdata_kind expected)
{
	enum perfdata_kind kind = PERFDATA_FILE;
	struct perfdata *p = NULL;

	assert_int_equal(perfdata_open(path, &p, &kind), -EINVAL);
	assert_int_equal(kind, expected);
	assert_null(p);
}

static void put_file(const char *path, const void *bytes, size_t n)
{
	struct foreign f = {.bytes = (void *)bytes, .n = n};

	foreign_save(&f, path);
}

/* G06: what else may be given instead of a perf.data file. */
static void test_kinds(void **state)
{
	const uint64_t pipe_header[2] = {PERF_FILE_MAGIC, 16};
	const char *texts[PERFDATA_UNKNOWN + 1];
	uint8_t pt[200] = {0x40, 0x41};
	char *path = temp_file();
	enum perfdata_kind kind;
	struct perfdata *p;
	int i, k;

	expect_kind(path, PERFDATA_EMPTY);
	expect_kind("/", PERFDATA_DIRECTORY);
	expect_kind("/proc/self/exe", PERFDATA_ELF);
	expect_kind("/dev/null", PERFDATA_UNKNOWN);
	put_file(path, "x", 1);
	expect_kind(path, PERFDATA_UNKNOWN);
	put_file(path, "2ELIFREP and more", 17);
	expect_kind(path, PERFDATA_OTHER_ENDIAN);
	put_file(path, pipe_header, sizeof(pipe_header));
	expect_kind(path, PERFDATA_PIPE);
	for (i = 0; i < 16; i += 2)
		memcpy(pt + 100 + i, "\x02\x82", 2);
	put_file(path, pt, sizeof(pt));
	expect_kind(path, PERFDATA_RAW_PT);
	put_file(path, "PERFILE2", 8);
	expect_kind(path, PERFDATA_UNKNOWN);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_kind(path, PERFDATA_PIPE);
	temp_remove(path);
	assert_int_equal(perfdata_open("/no/such/file", &p, &kind), -ENOENT);
	for (i = 0; i <= PERFDATA_UNKNOWN; i++) {
		texts[i] = perfdata_kind_text(i);
		for (k = 0; k < i; k++)
			assert_string_not_equal(texts[k], texts[i]);
	}
	assert_non_null(strstr(texts[PERFDATA_OTHER_ENDIAN], "byte order"));
}

/* Each field of the header that can lie. */
static void test_bad_headers(void **state)
{
	static const struct {
		size_t offset;
		uint64_t value;
	} rows[] = {
		{8, 17},	  {8, 96},	    {16, 0}, {16, 79}, {16, 1ull << 40},
		{24, 1ull << 50}, {32, 1ull << 50}, {32, 1}, {40, 0},  {40, UINT64_MAX},
	};
	char *path = temp_file();
	enum perfdata_kind kind;
	struct perfdata *p;
	struct foreign f;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		foreign_begin(&f, usual, 2);
		foreign_comm(&f, "x");
		foreign_close(&f);
		memcpy(f.bytes + rows[i].offset, &rows[i].value, 8);
		foreign_save(&f, path);
		foreign_free(&f);
		assert_int_equal(perfdata_open(path, &p, &kind), -EINVAL);
		assert_int_equal(kind, PERFDATA_FILE);
	}
	temp_remove(path);
}

#ifdef HAVE_ZSTD
/* G02: one zstd stream over many records, cut where records are not. */
static void compressed(uint32_t type, size_t piece)
{
	ZSTD_CStream *z = ZSTD_createCStream();
	struct foreign f, inner;
	struct perfdata_event ev;
	struct perfdata *p;
	uint8_t out[4096];
	ZSTD_outBuffer to;
	ZSTD_inBuffer from;
	uint64_t size;
	char name[16], *path;
	int i;

	foreign_begin(&inner, usual, 1);
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "comm%d", i);
		foreign_comm(&inner, name);
	}
	foreign_begin(&f, usual, 1);
	ZSTD_initCStream(z, 1);
	from = (ZSTD_inBuffer){inner.bytes + inner.data, 0, 0};
	while (from.size < inner.n - inner.data) {
		from.size += piece;
		if (from.size > inner.n - inner.data)
			from.size = inner.n - inner.data;
		to = (ZSTD_outBuffer){out, sizeof(out), 0};
		assert_false(ZSTD_isError(ZSTD_compressStream(z, &to, &from)));
		assert_int_equal(ZSTD_flushStream(z, &to), 0);
		foreign_record(&f, type, 0);
		size = to.pos;
		if (type == PERF_USER_COMPRESSED2)
			foreign_put(&f, &size, sizeof(size));
		foreign_put(&f, out, to.pos);
		if (type == PERF_USER_COMPRESSED2)
			foreign_put(&f, "padding", ALIGN8(size) - size);
		foreign_end_without_id(&f);
		if (from.size == piece) /* an uncompressed one in between */
			foreign_auxtrace(&f, 0, "12345678", 8, 1, -1u);
	}
	foreign_comm(&f, "last");
	foreign_close(&f);
	foreign_free(&inner);
	ZSTD_freeCStream(z);
	p = save_and_open(&f, &path);
	for (i = 0; i < 5000;) {
		assert_int_equal(next_event(p, &ev), 1);
		if (ev.type == PERFDATA_AUXTRACE)
			continue;
		snprintf(name, sizeof(name), "comm%d", i++);
		assert_string_equal(ev.comm.comm, name);
		check_id(&ev, USUAL);
		if (i == 3000 && piece == 1000) { /* and all over again */
			perfdata_rewind(p);
			i = 0;
			piece++;
		}
	}
	assert_int_equal(next_event(p, &ev), 1);
	assert_string_equal(ev.comm.comm, "last");
	assert_int_equal(next_event(p, &ev), 0);
	done(p, path);
}

static void test_compressed(void **state)
{
	const uint32_t types[2] = {PERF_USER_COMPRESSED, PERF_USER_COMPRESSED2};
	int i;

	for (i = 0; i < 2; i++) {
		compressed(types[i], 1000);
		compressed(types[i], 4001);
	}
}
#endif

static void test_bad_compressed(void **state)
{
	struct perfdata_event ev;
	struct perfdata *p;
	struct foreign f;
	size_t start;
	char *path;

	foreign_begin(&f, usual, 1);
	start = f.n;
	foreign_record(&f, PERF_USER_COMPRESSED, 0);
	foreign_put(&f, "this is no zstd frame...", 24);
	foreign_end_without_id(&f);
	foreign_close(&f);
	p = save_and_open(&f, &path);
#ifdef HAVE_ZSTD
	assert_int_equal(perfdata_next(p, &ev), -EBADMSG);
#else
	assert_int_equal(perfdata_next(p, &ev), -EOPNOTSUPP);
#endif
	assert_int_equal(ev.file_offset, start);
	done(p, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_ids),
		cmocka_unit_test(test_two_events),
		cmocka_unit_test(test_intel_pt),
		cmocka_unit_test(test_bytes_like_records),
		cmocka_unit_test(test_unknown_and_zero),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_size_zero),
		cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_short_records),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_bad_headers),
#ifdef HAVE_ZSTD
		cmocka_unit_test(test_compressed),
#endif
		cmocka_unit_test(test_bad_compressed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
