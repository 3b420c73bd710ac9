/* SPDX-License-Identifier: BSD-2-Clause */
/* The record queue, its two views, and what does not fit. */
#include "fixture.h"
#include "core/hwt_record.h"

static void every_field_of_every_record(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at = fake_at(PID, PID, 0);
	const struct hwt_rec_mmap *map;

	at.time = 12345;
	at.generation = 6;
	drain(f);
	fake_mmap(f->h, PID, PID, 0x40000, "/lib/libc.so.6");
	assert_record(f, HWT_REC_MMAP);
	map = payload(f);
	assert_int_equal(head(f)->pid, PID);
	assert_int_equal(head(f)->tid, PID);
	assert_int_equal(head(f)->cpu, -1);
	assert_int_equal(head(f)->size % 8, 0);
	assert_true(head(f)->time > 0);
	assert_int_equal(map->addr, 0x40000);
	assert_int_equal(map->len, 0x3000);
	assert_int_equal(map->pgoff, 0x1000);
	assert_int_equal(map->ino, 7);
	assert_int_equal(map->dev_major, 8);
	assert_int_equal(map->dev_minor, 1);
	assert_int_equal(map->prot, 5);
	assert_int_equal(map->mapflags, 2);
	assert_string_equal(map->path, "/lib/libc.so.6");

	hwt_hook_munmap(f->h->core, &at, 0x1000, 0x2000);
	assert_record(f, HWT_REC_MUNMAP);
	assert_int_equal(head(f)->time, 12345);
	assert_int_equal(head(f)->generation, 6);
	assert_int_equal(((const struct hwt_rec_munmap *)payload(f))->len, 0x2000);
	hwt_hook_mprotect(f->h->core, &at, 0x1000, 0x2000, 4);
	assert_record(f, HWT_REC_MPROTECT);
	assert_int_equal(((const struct hwt_rec_mprotect *)payload(f))->prot, 4);
	hwt_hook_thread_name(f->h->core, &at, "a name longer than fits");
	assert_record(f, HWT_REC_THREAD_NAME);
	assert_string_equal(((const struct hwt_rec_name *)payload(f))->name,
			    "a name longer t");
	hwt_hook_generation(f->h->core, &at, 1ull << 40);
	assert_record(f, HWT_REC_GENERATION);
	assert_int_equal(((const struct hwt_rec_generation *)payload(f))->generation,
			 1ull << 40);
	hwt_hook_native(f->h->core, &at, "/bin/true", 62);
	assert_record(f, HWT_REC_NATIVE);
	assert_int_equal(((const struct hwt_rec_native *)payload(f))->machine, 62);
	assert_string_equal(((const struct hwt_rec_native *)payload(f))->path,
			    "/bin/true");
	hwt_hook_fork(f->h->core, &at, 500, 501);
	assert_record(f, HWT_REC_FORK);
	assert_int_equal(((const struct hwt_rec_fork *)payload(f))->child_tid, 501);
	assert_int_equal(head(f)->flags, 0);
	assert_int_equal(fake_mmap(f->h, 999, 999, 0, "x"), 0);
	assert_record(f, 0);
	fixture_free(f);
}

/* Captures longer than a record come in pieces. */
static void code_of_any_length(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at = fake_at(PID, PID, 0);
	uint8_t bytes[HWT_RECORD_CODE_MAX + 5];
	const struct hwt_rec_code *code;
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * 7;
	drain(f);
	hwt_hook_code(f->h->core, &at, 0x1000, bytes, sizeof(bytes));
	assert_record(f, HWT_REC_CODE);
	code = payload(f);
	assert_int_equal(code->len, HWT_RECORD_CODE_MAX);
	assert_memory_equal(code->bytes, bytes, HWT_RECORD_CODE_MAX);
	assert_record(f, HWT_REC_CODE);
	code = payload(f);
	assert_int_equal(code->addr, 0x1000 + HWT_RECORD_CODE_MAX);
	assert_int_equal(code->len, 5);
	assert_memory_equal(code->bytes, bytes + HWT_RECORD_CODE_MAX, 5);
	fixture_free(f);
}

static void whole_records_in_one_call(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_record_get2 get = {.buf = (uintptr_t)f->record};
	uint32_t one;

	drain(f);
	fake_mmap(f->h, PID, PID, 1, "a");
	fake_mmap(f->h, PID, PID, 2, "a");
	fake_mmap(f->h, PID, PID, 3, "a");
	/* Too small: says how much, takes nothing. */
	get.size = 8;
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_RECORD_GET2, &get), -EINVAL);
	one = get.used;
	get.size = 2 * one + 8;
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_RECORD_GET2, &get), 0);
	assert_int_equal(get.used, 2 * one);
	assert_int_equal(head(f)->size, one);
	assert_int_equal(((const struct hwt_rec_mmap *)payload(f))->addr, 1);
	/* A bad address costs no record. */
	get.buf = 8;
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_RECORD_GET2, &get), -EFAULT);
	assert_record(f, HWT_REC_MMAP);
	assert_int_equal(((const struct hwt_rec_mmap *)payload(f))->addr, 3);
	fixture_free(f);
}

static void long_paths_are_terminated(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_record_user_entry *e = calloc(1, sizeof(*e));
	struct hwt_record_get get = {.records = e};
	const struct hwt_rec_mmap *map;
	char path[5001];
	int n = 1, i;
	static const int lengths[] = {0, 1, 7, 8, 4094, 4095, 4096, 5000};

	get.nentries = &n;
	memset(path, 'p', sizeof(path));
	drain(f);
	for (i = 0; i < (int)(sizeof(lengths) / sizeof(lengths[0])); i++) {
		int expected = lengths[i] < 4095 ? lengths[i] : 4095;

		path[lengths[i]] = 0;
		fake_mmap(f->h, PID, PID, 1, path);
		assert_record(f, HWT_REC_MMAP);
		map = payload(f);
		assert_int_equal(strlen(map->path), expected);
		assert_true(head(f)->size >= sizeof(*head(f)) + sizeof(*map) + expected + 1);
		fake_mmap(f->h, PID, PID, 1, path);
		memset(e, 'x', sizeof(*e));
		n = 1;
		assert_int_equal(fake_ioctl(f->dev, HWT_IOC_RECORD_GET, &get), 0);
		assert_int_equal(n, 1);
		assert_int_equal(strlen(e->fullpath), expected);
		path[lengths[i]] = 'p';
	}
	fake_mmap(f->h, PID, PID, 1, NULL);
	assert_record(f, HWT_REC_MMAP);
	assert_string_equal(((const struct hwt_rec_mmap *)payload(f))->path, "");
	free(e);
	fixture_free(f);
}

static void the_old_view(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at = fake_at(PID, PID, 0);
	struct hwt_record_user_entry *e = calloc(16, sizeof(*e));
	int n = 16;
	struct hwt_record_get get = {.records = e, .nentries = &n};

	fake_switch_in(f->h, PID, PID, 0);
	start(f);
	fake_mmap(f->h, PID, PID, 0x40000, "lib");
	hwt_hook_mprotect(f->h->core, &at, 1, 2, 3);
	hwt_hook_generation(f->h->core, &at, 3);
	hwt_hook_exec(f->h->core, &at, PID, "prog", 0x5000, 0x4000);
	hwt_hook_munmap(f->h->core, &at, 0x7000, 1);
	hwt_hook_thread_name(f->h->core, &at, "n");
	fake_produce(f->h, 0, BUFSIZE + FAKE_PAGE + 3);
	fake_switch_out(f->h, PID, PID);
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_RECORD_GET, &get), 0);
	assert_int_equal(n, 6);
	assert_int_equal(e[0].record_type, HWT_RECORD_THREAD_CREATE);
	assert_int_equal(e[0].thread_id, PID);
	assert_int_equal(e[1].record_type, HWT_RECORD_MMAP);
	assert_int_equal(e[1].addr, 0x40000);
	assert_int_equal(e[1].baseaddr, 0x3f000);
	assert_string_equal(e[1].fullpath, "lib");
	assert_int_equal(e[2].record_type, HWT_RECORD_EXECUTABLE);
	assert_int_equal(e[2].baseaddr, 0x4000);
	assert_int_equal(e[3].record_type, HWT_RECORD_MUNMAP);
	assert_int_equal(e[3].addr, 0x7000);
	assert_int_equal(e[4].record_type, HWT_RECORD_THREAD_SET_NAME);
	assert_int_equal(e[5].record_type, HWT_RECORD_BUFFER);
	assert_int_equal(e[5].buf_id, PID);
	assert_int_equal(e[5].curpage, 1);
	assert_int_equal(e[5].offset, 3);
	n = 16;
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_RECORD_GET, &get), 0);
	assert_int_equal(n, 0);
	free(e);
	fixture_free(f);
}

/* One BUFFER record a buffer, however long nobody reads. */
static void buffer_records_coalesce(void **state)
{
	struct fixture *f = fixture_new(false, 2);
	const struct hwt_rec_buffer *b;
	int i;

	start(f);
	drain(f);
	for (i = 0; i < 100000; i++) {
		fake_switch_in(f->h, PID, PID, 0);
		fake_produce(f->h, 0, 8);
		fake_switch_out(f->h, PID, PID);
		if (i == 500)
			fake_mmap(f->h, PID, PID, 1, "between");
	}
	fake_switch_in(f->h, PID, PID + 1, 1);
	fake_produce(f->h, 1, 8);
	fake_switch_out(f->h, PID, PID + 1);
	assert_record(f, HWT_REC_BUFFER);
	b = payload(f);
	assert_int_equal(b->buf_id, PID);
	assert_int_equal(b->head, 800000);
	assert_int_equal(b->tail, 800000 - BUFSIZE);
	assert_int_equal(b->lost, 800000 - BUFSIZE);
	assert_int_equal(b->flags, HWT_BUF_WRAPPED);
	assert_record(f, HWT_REC_MMAP);
	assert_record(f, HWT_REC_BUFFER);
	assert_int_equal(((const struct hwt_rec_buffer *)payload(f))->buf_id, PID + 1);
	assert_record(f, 0);
	fixture_free(f);
}

static void lost_records_are_counted_in_place(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	int put = 0, got = 0, lost = 0, i, type;

	drain(f);
	for (i = 0; i < 10000; i++, put++)
		fake_mmap(f->h, PID, PID, i, "a path that takes some room in the queue");
	/* Room again: the LOST record stands before what comes after it. */
	for (i = 0; i < 100; i++, got++)
		assert_record(f, HWT_REC_MMAP);
	fake_mmap(f->h, PID, PID, 77777, "after");
	put++;
	hwt_hook_exit(f->h->core, &at, 0);
	while ((type = fake_record(f->dev, f->record, sizeof(f->record))) == HWT_REC_MMAP)
		got++;
	assert_int_equal(type, HWT_REC_LOST);
	lost = ((const struct hwt_rec_lost *)payload(f))->count;
	assert_record(f, HWT_REC_MMAP);
	got++;
	assert_int_equal(((const struct hwt_rec_mmap *)payload(f))->addr, 77777);
	assert_true(lost > 0);
	assert_int_equal(got + lost, put);
	assert_record(f, HWT_REC_BUFFER);
	assert_record(f, HWT_REC_EXIT);
	fixture_free(f);
}

/* Nothing after it, and no room to put it in: the count is told all the same. */
static void lost_at_the_end(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	int put = 0, got = 0, type;

	drain(f);
	for (; put < 10000; put++)
		fake_mmap(f->h, PID, PID, put, "p");
	while ((type = fake_record(f->dev, f->record, sizeof(f->record))) == HWT_REC_MMAP)
		got++;
	assert_int_equal(type, HWT_REC_LOST);
	assert_int_equal(((const struct hwt_rec_lost *)payload(f))->count, put - got);
	assert_record(f, 0);
	fixture_free(f);
}

static void a_host_that_holds_loses_nothing(void **state)
{
	struct fixture *f = fixture_new(true, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	unsigned long wakeups;
	uint64_t next = 0, i = 0;
	int rc;

	drain(f);
	while (i < 20000) {
		rc = fake_mmap(f->h, PID, PID, i, "some path");
		if (rc >= 0) {
			i++;
			continue;
		}
		assert_int_equal(rc, -EAGAIN);
		wakeups = f->h->wakeups;
		assert_record(f, HWT_REC_MMAP);
		assert_int_equal(((const struct hwt_rec_mmap *)payload(f))->addr, next++);
		assert_true(f->h->wakeups > wakeups);
		assert_int_equal(hwt_hook_room(f->h->core, PID), 0);
	}
	/* The end of a thread is refused too, and asked for again. */
	while ((rc = fake_mmap(f->h, PID, PID, i, "some path")) >= 0)
		i++;
	while ((rc = hwt_hook_mprotect(f->h->core, &at, 0, 1, 2)) >= 0)
		;
	assert_int_equal(hwt_hook_thread_exit(f->h->core, &at, 0), -EAGAIN);
	assert_int_equal(hwt_hook_thread_exit(f->h->core, &at, 0), -EAGAIN);
	for (; next < i; next++) {
		assert_record(f, HWT_REC_MMAP);
		assert_int_equal(((const struct hwt_rec_mmap *)payload(f))->addr, next);
	}
	assert_int_equal(hwt_hook_thread_exit(f->h->core, &at, 0),
			 HWT_HOOK_TRACED | HWT_HOOK_LAST);
	while ((rc = fake_record(f->dev, f->record, sizeof(f->record))) == HWT_REC_MPROTECT)
		;
	assert_int_equal(rc, HWT_REC_THREAD_EXIT);
	assert_record(f, HWT_REC_BUFFER);
	assert_record(f, 0);
	fixture_free(f);
}

static void poll_and_eventfd(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	unsigned long signals;
	struct hwt_wait *w;

	assert_true(hwt_node_poll(f->dev->ctx, &w));
	drain(f);
	assert_false(hwt_node_poll(f->dev->ctx, &w));
	signals = f->h->signals;
	fake_mmap(f->h, PID, PID, 1, "x");
	assert_int_equal(f->h->signals, signals + 1);
	assert_true(hwt_node_poll(f->dev->ctx, &w));
	drain(f);
	hwt_hook_exit(f->h->core, &at, 0);
	drain(f);
	/* Nothing will come: poll says so, as for an end of file. */
	assert_true(hwt_node_poll(f->dev->ctx, &w));
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_every_record),
		cmocka_unit_test(code_of_any_length),
		cmocka_unit_test(whole_records_in_one_call),
		cmocka_unit_test(long_paths_are_terminated),
		cmocka_unit_test(the_old_view),
		cmocka_unit_test(buffer_records_coalesce),
		cmocka_unit_test(lost_records_are_counted_in_place),
		cmocka_unit_test(lost_at_the_end),
		cmocka_unit_test(a_host_that_holds_loses_nothing),
		cmocka_unit_test(poll_and_eventfd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
