/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of a target, a reader and the end of its owner, all at once. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

#define NTHREADS	4
#define NMMAPS		10000

struct mapper {
	struct fake_host	*h;
	pthread_t		thread;
	int			tid;
	unsigned long		paused, held;
};

/* mmap (PROT_EXEC) and munmap, each mmap waiting for the reader. */
static void *map_and_wait(void *arg)
{
	struct mapper *m = arg;
	struct hwt_hook_where at = fake_at(PID, m->tid, -1);
	int i, rc;

	for (i = 0; i < NMMAPS; i++) {
		while ((rc = fake_mmap(m->h, PID, m->tid, i, "/lib/some.so")) == -EAGAIN) {
			m->held++;
			hwt_hook_room(m->h->core, PID);
		}
		if (rc & HWT_HOOK_PAUSED) {
			m->paused++;
			hwt_hook_pause_wait(m->h->core, PID, m->tid);
		}
		while (hwt_hook_munmap(m->h->core, &at, i, 1) == -EAGAIN)
			hwt_hook_room(m->h->core, PID);
	}
	return NULL;
}

static void mappers_start(struct fixture *f, struct mapper *m)
{
	int i;

	for (i = 0; i < NTHREADS; i++) {
		m[i] = (struct mapper){.h = f->h, .tid = PID + i};
		pthread_create(&m[i].thread, NULL, map_and_wait, &m[i]);
	}
}

/* What the reader saw of each thread; addresses must come in order. */
struct seen {
	uint64_t	mmaps[NTHREADS], munmaps[NTHREADS];
	uint64_t	lost;
};

static void see(struct seen *seen, const struct hwt_rec *rec)
{
	const struct hwt_rec_mmap *map = (const void *)(rec + 1);
	int i = (int)rec->tid - PID;

	switch (rec->type) {
	case HWT_REC_MMAP:
		assert_int_equal(rec->flags, HWT_REC_PAUSED);
		assert_int_equal(map->addr, seen->mmaps[i]);
		seen->mmaps[i]++;
		break;
	case HWT_REC_MUNMAP:
		seen->munmaps[i]++;
		break;
	case HWT_REC_LOST:
		seen->lost++;
		break;
	}
}

static bool all_seen(const struct seen *seen)
{
	int i;

	for (i = 0; i < NTHREADS; i++)
		if (seen->mmaps[i] < NMMAPS || seen->munmaps[i] < NMMAPS)
			return false;
	return true;
}

/* Takes what there is; wakes at once, by tid or through the first node. */
static void read_and_wake(struct fixture *f, struct seen *seen, bool by_tid)
{
	struct hwt_record_get2 get = {
		.buf = (uintptr_t)f->record,
		.size = sizeof(f->record),
		.flags = HWT_GET_WAIT,
	};
	const struct hwt_rec *rec;
	uint32_t at;

	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_RECORD_GET2, &get), 0);
	for (at = 0; at < get.used; at += rec->size) {
		rec = (const void *)((const char *)f->record + at);
		see(seen, rec);
		if (by_tid && rec->flags & HWT_REC_PAUSED)
			assert_int_equal(fake_wakeup_tid(f->dev, rec->tid), 0);
	}
	if (!by_tid)
		assert_int_equal(fake_simple(f->dev, HWT_IOC_WAKEUP), 0);
}

static void none_is_lost(bool may_hold, bool by_tid)
{
	struct fixture *f = fixture_new(may_hold, NTHREADS);
	struct mapper m[NTHREADS];
	struct seen seen = {.lost = 0};
	int i;

	assert_int_equal(fake_config2(f->dev, HWT_PAUSE_MMAP, true), 0);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), 0);
	mappers_start(f, m);
	while (!all_seen(&seen))
		read_and_wake(f, &seen, by_tid);
	for (i = 0; i < NTHREADS; i++) {
		pthread_join(m[i].thread, NULL);
		assert_int_equal(m[i].paused, NMMAPS);
		assert_int_equal(seen.mmaps[i], NMMAPS);
		assert_false(hwt_hook_is_paused(f->h->core, PID, PID + i));
	}
	assert_int_equal(seen.lost, 0);
	fixture_free(f);
}

static void woken_by_tid(void **state)
{
	none_is_lost(true, true);
}

static void woken_through_the_first_node(void **state)
{
	none_is_lost(false, false);
}

/* The owner dies at any moment, also with all of them paused: they run on. */
static void the_owner_dies(void **state)
{
	struct timespec delay = {0, 0};
	struct seen seen = {.lost = 0};
	struct mapper m[NTHREADS];
	struct fixture *f;
	int round, i, reads;

	for (round = 0; round < 20; round++) {
		f = fixture_new(true, NTHREADS);
		memset(&seen, 0, sizeof(seen));
		assert_int_equal(fake_config2(f->dev, HWT_PAUSE_MMAP, true), 0);
		assert_int_equal(fake_simple(f->dev, HWT_IOC_START), 0);
		mappers_start(f, m);
		for (reads = 0; reads < round * 10; reads++)
			read_and_wake(f, &seen, true);
		delay.tv_nsec = round % 4 * 1000000;
		nanosleep(&delay, NULL);
		hwt_owner_exit(f->h->core, FAKE_OWNER);
		for (i = 0; i < NTHREADS; i++)
			pthread_join(m[i].thread, NULL);
		fixture_free(f);
	}
}

/* Hooks of every kind against ioctls of every kind. */
struct churn {
	struct fixture	*f;
	pthread_t	thread;
	int		unit;
	bool		*stop;
	void		(*step)(struct churn *c, int i);
};

static void *churn(void *arg)
{
	struct churn *c = arg;
	int i;

	for (i = 0; !__atomic_load_n(c->stop, __ATOMIC_RELAXED); i++)
		c->step(c, i);
	return NULL;
}

static void scheduler(struct churn *c, int i)
{
	struct fake_host *h = c->f->h;
	int tid = PID + c->unit;

	hwt_hook_switch_in(h->core, PID, tid, c->unit);
	fake_produce(h, c->unit, 8);
	hwt_hook_irq(h->core, PID, tid, c->unit);
	hwt_hook_irq_resume(h->core, PID, tid, c->unit);
	hwt_hook_switch_out(h->core, PID, tid, c->unit);
}

static void births_and_deaths(struct churn *c, int i)
{
	struct hwt_hook_where at = fake_at(PID, PID + 50 + i % 7, c->unit);
	struct fake_host *h = c->f->h;

	hwt_hook_thread_create(h->core, &at, at.tid, c->unit);
	fake_produce(h, c->unit, 8);
	fake_mmap(h, PID, at.tid, i, "x");
	hwt_hook_fork(h->core, &at, 500 + i % 5, 500 + i % 5);
	hwt_hook_is_paused(h->core, 500, 500);
	hwt_hook_thread_exit(h->core, &at, 0);
	at = fake_at(PID, PID, -1);
	if (i % 50 == 0)
		hwt_hook_exec(h->core, &at, PID + 50 + i % 7, "next", 0, 0);
}

static void client(struct churn *c, int i)
{
	struct fake_dev *dev = c->f->dev;
	uint64_t record[600];
	uint64_t data;
	struct hwt_bufptr_get ptr = {.data = &data};

	switch (i % 8) {
	case 0:
		fake_simple(dev, HWT_IOC_START);
		break;
	case 1:
		fake_config2(dev, i & HWT_PAUSE_ALL, true);
		break;
	case 2:
		fake_simple(dev, HWT_IOC_STOP);
		break;
	case 3:
		fake_ioctl(dev, HWT_IOC_BUFPTR_GET, &ptr);
		fake_service(dev, PID, 0);
		break;
	default:
		fake_record(dev, record, sizeof(record));
		fake_simple(dev, HWT_IOC_WAKEUP);
		break;
	}
}

static void everything_at_once(bool may_hold)
{
	void (*const steps[])(struct churn *, int) = {
		scheduler, scheduler, births_and_deaths, client, client,
	};
	struct fixture *f = fixture_new(may_hold, 2);
	bool stop = false;
	struct churn c[5];
	int i;

	for (i = 0; i < 5; i++) {
		c[i] = (struct churn){f, 0, i, &stop, steps[i]};
		pthread_create(&c[i].thread, NULL, churn, &c[i]);
	}
	usleep(500000);
	/* The owner goes while all of it is under way. */
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	usleep(50000);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 5; i++)
		pthread_join(c[i].thread, NULL);
	fixture_free(f);
}

static void all_hooks_against_all_ioctls(void **state)
{
	everything_at_once(false);
	everything_at_once(true);
}

/* E14: the position is all there the moment the target is dead. */
static void bufptr_right_after_death(void **state)
{
	struct hwt_hook_where at = fake_at(PID, PID, 0);
	uint64_t data, produced;
	struct hwt_bufptr_get ptr = {.data = &data};
	struct fixture *f;
	int i;

	for (i = 0; i < 1000; i++) {
		f = fixture_new(true, 1);
		fake_switch_in(f->h, PID, PID, 0);
		start(f);
		produced = fake_produce(f->h, 0, 1000 + i);
		hwt_hook_exit(f->h->core, &at, 9);
		assert_int_equal(fake_ioctl(f->dev, HWT_IOC_BUFPTR_GET, &ptr), 0);
		assert_int_equal(data, produced);
		fixture_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(woken_by_tid),
		cmocka_unit_test(woken_through_the_first_node),
		cmocka_unit_test(the_owner_dies),
		cmocka_unit_test(all_hooks_against_all_ioctls),
		cmocka_unit_test(bufptr_right_after_death),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
