/* SPDX-License-Identifier: BSD-2-Clause */
/* Pauses end once, by whoever may end them, and never too early or too late. */
#include <unistd.h>

#include "fixture.h"

static struct fixture *pausing(uint32_t pause, int nthreads)
{
	struct fixture *f = fixture_new(false, nthreads);

	assert_int_equal(fake_config2(f->dev, pause, true), 0);
	drain(f);
	return f;
}

static bool paused(struct fixture *f, int tid)
{
	return hwt_hook_is_paused(f->h->core, PID, tid);
}

#define TRACED	HWT_HOOK_TRACED
#define PAUSED	(HWT_HOOK_TRACED | HWT_HOOK_PAUSED)

static void only_what_was_asked_for(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_EXEC, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);

	assert_int_equal(fake_mmap(f->h, PID, PID, 1, "x"), TRACED);
	assert_record(f, HWT_REC_MMAP);
	assert_int_equal(head(f)->flags, 0);
	assert_int_equal(hwt_hook_exec(f->h->core, &at, PID, "x", 0, 0), PAUSED);
	assert_record(f, HWT_REC_EXEC);
	assert_int_equal(head(f)->flags, HWT_REC_PAUSED);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_WAKEUP), 0);
	assert_int_equal(hwt_hook_pause_wait(f->h->core, PID, PID), 0);
	assert_int_equal(fake_config2(f->dev, 0, false), 0);
	assert_int_equal(fake_mmap(f->h, PID, PID, 1, "x"), TRACED);
	fixture_free(f);
}

/* pause_on_mmap of hwt(4) means both. */
static void the_old_condition(void **state)
{
	struct fixture *f = pausing(0, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	struct fake_config config = {0};
	struct hwt_set_config s = {1, &config, sizeof(config), FAKE_VERSION};

	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_SET_CONFIG, &s), 0);
	assert_int_equal(fake_mmap(f->h, PID, PID, 1, "x"), PAUSED);
	assert_int_equal(hwt_hook_exec(f->h->core, &at, PID, "x", 0, 0), PAUSED);
	assert_int_equal(hwt_hook_fork(f->h->core, &at, 500, 500), TRACED);
	assert_int_equal(fake_config(f->dev, 1, 0), 0);
	assert_int_equal(fake_wakeup_tid(f->dev, PID), 0);
	assert_int_equal(fake_mmap(f->h, PID, PID, 1, "x"), TRACED);
	fixture_free(f);
}

/* E03: the answer comes between the record and the sleep. */
static void an_early_wakeup_is_not_lost(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_MMAP, 1);

	assert_int_equal(fake_mmap(f->h, PID, PID, 1, "x"), PAUSED);
	assert_true(paused(f, PID));
	assert_record(f, HWT_REC_MMAP);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_WAKEUP), 0);
	assert_int_equal(hwt_hook_pause_wait(f->h->core, PID, PID), 0);
	fixture_free(f);
}

/* Through the alias: whoever it is, but only if its record was fetched. */
static void the_alias_wakes_what_was_fetched(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_MMAP, 3);

	fake_mmap(f->h, PID, PID + 1, 1, "x");
	fake_mmap(f->h, PID, PID, 1, "x");
	fake_mmap(f->h, PID, PID + 2, 1, "x");
	assert_int_equal(fake_simple(f->dev, HWT_IOC_WAKEUP), 0);
	assert_true(paused(f, PID) && paused(f, PID + 1) && paused(f, PID + 2));
	assert_record(f, HWT_REC_MMAP);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_WAKEUP), 0);
	assert_true(paused(f, PID) && !paused(f, PID + 1) && paused(f, PID + 2));
	drain(f);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_WAKEUP), 0);
	assert_false(paused(f, PID) || paused(f, PID + 2));
	fixture_free(f);
}

static void a_node_wakes_its_thread(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_MMAP, 2);
	struct fake_dev *first, *second;
	unsigned long wakeups;

	fake_open_node(f->h, f->ident, PID, &first);
	fake_open_node(f->h, f->ident, PID + 1, &second);
	fake_mmap(f->h, PID, PID, 1, "x");
	fake_mmap(f->h, PID, PID + 1, 1, "x");
	wakeups = f->h->wakeups;
	assert_int_equal(fake_simple(second, HWT_IOC_WAKEUP), 0);
	assert_true(paused(f, PID) && !paused(f, PID + 1));
	assert_true(f->h->wakeups > wakeups);
	fake_mmap(f->h, PID, PID + 1, 1, "x");
	assert_int_equal(fake_simple(first, HWT_IOC_WAKEUP), 0);
	assert_true(!paused(f, PID) && paused(f, PID + 1));
	fake_close(first);
	fake_close(second);
	fixture_free(f);
}

static void by_tid(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_MMAP, 2);
	struct hwt_wakeup_tid w = {.tid = PID, .reserved = 1};

	fake_mmap(f->h, PID, PID + 1, 1, "x");
	assert_int_equal(fake_wakeup_tid(f->dev, PID + 7), -ESRCH);
	assert_int_equal(fake_wakeup_tid(f->dev, 0), -ESRCH);
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_WAKEUP_TID, &w), -EINVAL);
	assert_int_equal(fake_wakeup_tid(f->dev, PID), 0);
	assert_true(paused(f, PID + 1));
	assert_int_equal(fake_wakeup_tid(f->dev, PID + 1), 0);
	assert_false(paused(f, PID + 1));
	fixture_free(f);
}

static void death_of_the_owner_ends_it(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_ALL, 2);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	unsigned long wakeups;

	fake_mmap(f->h, PID, PID + 1, 1, "x");
	assert_int_equal(hwt_hook_fork(f->h->core, &at, 500, 500), PAUSED);
	assert_true(hwt_hook_is_paused(f->h->core, 500, 500));
	wakeups = f->h->wakeups;
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	assert_true(f->h->wakeups > wakeups);
	assert_int_equal(hwt_hook_pause_wait(f->h->core, PID, PID + 1), 0);
	assert_int_equal(hwt_hook_pause_wait(f->h->core, 500, 500), 0);
	fixture_free(f);
}

/* A record that found no room announces no pause: nobody would end it. */
static void a_lost_record_pauses_nobody(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_MMAP, 1);
	int i;

	for (i = 0; fake_mmap(f->h, PID, PID, i, "some path") == PAUSED; i++)
		assert_int_equal(fake_wakeup_tid(f->dev, PID), 0);
	assert_true(i > 100);
	assert_false(paused(f, PID));
	fixture_free(f);
}

static void a_child_waits_in_its_parents_context(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_FORK, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);

	assert_int_equal(hwt_hook_fork(f->h->core, &at, 500, 500), PAUSED);
	assert_int_equal(hwt_hook_fork(f->h->core, &at, 600, 600), PAUSED);
	assert_false(paused(f, PID));
	assert_record(f, HWT_REC_FORK);
	assert_int_equal(head(f)->flags, HWT_REC_PAUSED);
	/* The alias: the one whose record was fetched. */
	assert_int_equal(fake_simple(f->dev, HWT_IOC_WAKEUP), 0);
	assert_false(hwt_hook_is_paused(f->h->core, 500, 500));
	assert_true(hwt_hook_is_paused(f->h->core, 600, 600));
	assert_int_equal(fake_wakeup_tid(f->dev, 600), 0);
	assert_false(hwt_hook_is_paused(f->h->core, 600, 600));
	assert_int_equal(fake_wakeup_tid(f->dev, 600), -ESRCH);
	fixture_free(f);
}

/* Held: the record of a refused fork announces nothing, the next try does. */
static void a_child_and_a_full_queue(void **state)
{
	struct fixture *f = fixture_new(true, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	int i = 0;

	assert_int_equal(fake_config2(f->dev, HWT_PAUSE_FORK, true), 0);
	while (fake_mmap(f->h, PID, PID, i, "x") >= 0)
		i++;
	while (hwt_hook_mprotect(f->h->core, &at, 0, 1, 2) >= 0)
		;
	assert_int_equal(hwt_hook_fork(f->h->core, &at, 500, 500), -EAGAIN);
	assert_false(hwt_hook_is_paused(f->h->core, 500, 500));
	drain(f);
	assert_int_equal(hwt_hook_fork(f->h->core, &at, 500, 500), PAUSED);
	assert_true(hwt_hook_is_paused(f->h->core, 500, 500));
	fixture_free(f);
}

static void a_child_gets_a_context_of_its_own(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_FORK, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	struct fake_dev *child;
	int ident;

	hwt_hook_fork(f->h->core, &at, 500, 500);
	fake_target_add(f->h, 500, 1);
	assert_int_equal(fake_alloc(f->h, 500, BUFSIZE, &ident), 0);
	assert_int_equal(fake_open_node(f->h, ident, 0, &child), 0);
	assert_int_equal(fake_config(child, 3, 0), 0);
	assert_int_equal(fake_simple(child, HWT_IOC_START), 0);
	assert_true(hwt_hook_is_paused(f->h->core, 500, 500));
	assert_int_equal(fake_simple(child, HWT_IOC_WAKEUP), 0);
	assert_false(hwt_hook_is_paused(f->h->core, 500, 500));
	fake_close(child);
	fixture_free(f);
}

static void a_child_dies_while_paused(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_FORK, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);

	hwt_hook_fork(f->h->core, &at, 500, 500);
	at = fake_at(500, 500, -1);
	assert_int_equal(hwt_hook_exit(f->h->core, &at, 9), 0);
	assert_false(hwt_hook_is_paused(f->h->core, 500, 500));
	fixture_free(f);
}

static void the_host_cannot_hold_it(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_MMAP | HWT_PAUSE_FORK, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);

	assert_int_equal(fake_mmap(f->h, PID, PID, 1, "x"), PAUSED);
	assert_int_equal(hwt_hook_fork(f->h->core, &at, 500, 500), PAUSED);
	hwt_hook_pause_cancel(f->h->core, PID, PID);
	assert_false(paused(f, PID));
	hwt_hook_pause_cancel(f->h->core, 500, 500);
	assert_false(hwt_hook_is_paused(f->h->core, 500, 500));
	hwt_hook_pause_cancel(f->h->core, 77, 77);
	fixture_free(f);
}

/* Without memory for it the child runs on, and the record says so. */
static void no_memory_for_a_child(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_FORK, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);

	hwt_fault_arm(1);
	assert_int_equal(hwt_hook_fork(f->h->core, &at, 500, 500), TRACED);
	hwt_fault_arm(0);
	assert_record(f, HWT_REC_FORK);
	assert_int_equal(head(f)->flags, 0);
	fixture_free(f);
}

struct sleeper {
	struct fixture	*f;
	pthread_t	thread;
	int		pid, tid, rc;
};

static void *sleep_in_pause(void *arg)
{
	struct sleeper *s = arg;

	s->rc = hwt_hook_pause_wait(s->f->h->core, s->pid, s->tid);
	return NULL;
}

static void sleepers_are_woken(void **state)
{
	struct fixture *f = pausing(HWT_PAUSE_ALL, 2);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	struct sleeper s[3] = {
		{f, 0, PID, PID, -1}, {f, 0, PID, PID + 1, -1}, {f, 0, 500, 500, -1},
	};
	int i;

	fake_mmap(f->h, PID, PID, 1, "x");
	fake_mmap(f->h, PID, PID + 1, 1, "x");
	hwt_hook_fork(f->h->core, &at, 500, 500);
	for (i = 0; i < 3; i++)
		pthread_create(&s[i].thread, NULL, sleep_in_pause, &s[i]);
	usleep(20000);
	assert_int_equal(fake_wakeup_tid(f->dev, PID), 0);
	assert_int_equal(fake_wakeup_tid(f->dev, 500), 0);
	pthread_join(s[0].thread, NULL);
	pthread_join(s[2].thread, NULL);
	/* The last one by its owner's death, with the descriptor still open. */
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	pthread_join(s[1].thread, NULL);
	for (i = 0; i < 3; i++)
		assert_int_equal(s[i].rc, 0);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_was_asked_for),
		cmocka_unit_test(the_old_condition),
		cmocka_unit_test(an_early_wakeup_is_not_lost),
		cmocka_unit_test(the_alias_wakes_what_was_fetched),
		cmocka_unit_test(a_node_wakes_its_thread),
		cmocka_unit_test(by_tid),
		cmocka_unit_test(death_of_the_owner_ends_it),
		cmocka_unit_test(a_lost_record_pauses_nobody),
		cmocka_unit_test(a_child_waits_in_its_parents_context),
		cmocka_unit_test(a_child_and_a_full_queue),
		cmocka_unit_test(a_child_gets_a_context_of_its_own),
		cmocka_unit_test(a_child_dies_while_paused),
		cmocka_unit_test(the_host_cannot_hold_it),
		cmocka_unit_test(no_memory_for_a_child),
		cmocka_unit_test(sleepers_are_woken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
