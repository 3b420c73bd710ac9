/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each allocation fails once: -ENOMEM comes back, what was written stays readable,
 * and the call that failed can be made again.  Linked with --wrap.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "temp.h"

static unsigned long countdown;	/* 0: none fails; 1: the next one */

static int fails(void)
{
	return countdown && !--countdown;
}

/* NAME(arguments) as the program sees it: may fail, else does what it does. */
#define WRAP(type, name, params, args)        \
	type __real_##name params;            \
	type __wrap_##name params;            \
	type __wrap_##name params             \
	{                                     \
		if (fails()) {                \
			errno = ENOMEM;       \
			return NULL;          \
		}                             \
		return __real_##name args;    \
	}
WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

static struct hwt_rec *recs[4];
static uint8_t bytes[200000];

/* Until it is done: one failure is all that there is, so the second try works. */
static int again(int err)
{
	assert_true(!err || err == -ENOMEM);
	return err;
}

static int write_file(const char *path)
{
	struct perfdata_writer *w = NULL;
	size_t i;
	int err;

	err = again(perfdata_create(path, &test_params, &w));
	if (err) {
		assert_null(w);
		return err;
	}
	for (i = 0; i < 4; i++)
		if (again(perfdata_write_record(w, recs[i])))
			assert_int_equal(perfdata_write_record(w, recs[i]), 0);
	/* Kept back, then more of it, then through. */
	for (i = 0; i < 3; i++)
		if (again(perfdata_write_trace(w, 1, 1, i * 100, bytes + i * 100, 100, false,
					       false)))
			assert_int_equal(perfdata_write_trace(w, 1, 1, i * 100,
							      bytes + i * 100, 100, false,
							      false), 0);
	if (again(perfdata_write_trace(w, 1, 1, 300, bytes + 300, sizeof(bytes) - 300, false,
				       true)))
		assert_int_equal(perfdata_write_trace(w, 1, 1, 300, bytes + 300,
						      sizeof(bytes) - 300, false, true), 0);
	err = again(perfdata_flush(w));
	assert_int_equal(err, 0);
	again(perfdata_close(w));
	return 0;
}

/* All four records and every byte. */
static int read_file(const char *path)
{
	enum perfdata_kind kind;
	struct perfdata_event ev;
	struct perfdata *p = NULL;
	unsigned int nrecs = 0;
	uint64_t next = 0;
	int more, err = again(perfdata_open(path, &p, &kind));

	if (err) {
		assert_null(p);
		return err;
	}
	do {
		more = perfdata_next(p, &ev);
		if (more == -ENOMEM)
			more = perfdata_next(p, &ev);
		assert_true(more >= 0);
		if (more && ev.type == PERFDATA_HWT)
			assert_memory_equal(ev.rec, recs[nrecs], recs[nrecs]->size);
		nrecs += more && ev.type == PERFDATA_HWT;
		if (more && ev.type == PERFDATA_AUXTRACE) {
			assert_int_equal(ev.auxtrace.offset, next);
			next += ev.auxtrace.size;
		}
	} while (more);
	assert_int_equal(nrecs, 4);
	assert_int_equal(next, sizeof(bytes));
	perfdata_close_reader(p);
	return 0;
}

static void test_each_allocation(void **state)
{
	char *path = temp_file();
	unsigned long n;
	int err;

	for (n = 1;; n++) {
		countdown = n;
		err = write_file(path);
		if (!err)
			err = read_file(path);
		if (countdown) {	/* there were not that many */
			assert_int_equal(err, 0);
			break;
		}
		countdown = 0;
		if (!err)
			assert_int_equal(read_file(path), 0);
	}
	countdown = 0;
	assert_true(n > 30);
	temp_remove(path);
}

static int make_recs(void **state)
{
	const struct hwt_rec_mmap map = {.len = 0x1000, .prot = PROT_READ | PROT_EXEC};
	const struct hwt_rec_thread thread = {.tid = 2};
	const struct hwt_rec_code code = {.len = 100000};
	void *buf = calloc(1, sizeof(code) + code.len);

	memcpy(buf, &code, sizeof(code));
	recs[0] = make_rec(HWT_REC_MMAP, 1, 1, &map, sizeof(map), "/lib/libc.so.6");
	recs[1] = make_rec(HWT_REC_THREAD_CREATE, 1, 1, &thread, sizeof(thread), NULL);
	recs[2] = make_rec(HWT_REC_CODE, 1, 1, buf, sizeof(code) + code.len, NULL);
	recs[3] = make_rec(HWT_REC_MMAP, 1, 2, &map, sizeof(map), "/lib/other.so");
	free(buf);
	memset(bytes, 0x55, sizeof(bytes));
	return 0;
}

static int free_recs(void **state)
{
	int i;

	for (i = 0; i < 4; i++)
		free(recs[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};

	return cmocka_run_group_tests(tests, make_recs, free_recs);
}
