/* SPDX-License-Identifier: BSD-2-Clause */
/* Full and ring mode, interrupts, a unit that waits for room. */
#include <unistd.h>
#include "fixture.h"

static const struct hwt_rec_buffer *buffer_record(struct fixture *f)
{
	assert_record(f, HWT_REC_BUFFER);
	return payload(f);
}

static int irq(struct fixture *f)
{
	return hwt_hook_irq(f->h->core, PID, PID, 0);
}

static int resume(struct fixture *f)
{
	return hwt_hook_irq_resume(f->h->core, PID, PID, 0);
}

static void running(struct fixture *f, bool full)
{
	fake_switch_in(f->h, PID, PID, 0);
	if (full)
		assert_int_equal(fake_service(f->dev, PID, 0), 0);
	start(f);
	drain(f);
}

static void a_ring_overwrites_and_counts(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	const struct hwt_rec_buffer *b;

	running(f, false);
	assert_int_equal(fake_produce(f->h, 0, BUFSIZE + 100), BUFSIZE + 100);
	assert_int_equal(irq(f), HWT_IRQ_PROGRESS);
	b = buffer_record(f);
	assert_int_equal(b->head, BUFSIZE + 100);
	assert_int_equal(b->tail, 100);
	assert_int_equal(b->lost, 100);
	assert_int_equal(b->flags, HWT_BUF_WRAPPED);
	assert_int_equal(irq(f), HWT_IRQ_NONE);
	fixture_free(f);
}

static void full_and_held(void **state)
{
	struct fixture *f = fixture_new(true, 1);
	const struct hwt_rec_buffer *b;

	running(f, true);
	assert_int_equal(fake_produce(f->h, 0, BUFSIZE + 100), BUFSIZE);
	assert_int_equal(irq(f), HWT_IRQ_PROGRESS | HWT_IRQ_FULL);
	b = buffer_record(f);
	assert_int_equal(b->head, BUFSIZE);
	/* Held, so nothing is missing. */
	assert_int_equal(b->flags, 0);
	assert_int_equal(b->lost, 0);
	assert_int_equal(resume(f), -EAGAIN);
	/* A little room is not worth a restart. */
	assert_int_equal(fake_service(f->dev, PID, 1), 0);
	assert_int_equal(resume(f), -EAGAIN);
	assert_int_equal(fake_service(f->dev, PID, BUFSIZE), 0);
	assert_int_equal(resume(f), 0);
	assert_int_equal(resume(f), 0);
	assert_int_equal(fake_produce(f->h, 0, 60), 60);
	fixture_free(f);
}

static void full_and_not_held(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	const struct hwt_rec_buffer *b;

	running(f, true);
	fake_produce(f->h, 0, BUFSIZE);
	irq(f);
	b = buffer_record(f);
	assert_int_equal(b->flags, HWT_BUF_FULL);
	assert_int_equal(b->lost, 1);
	/* Coming and going does not start it while there is no room. */
	fake_switch_out(f->h, PID, PID);
	fake_switch_in(f->h, PID, PID, 0);
	assert_int_equal(fake_produce(f->h, 0, 1), 0);
	/* SVC_BUF starts it on the CPU where it stands. */
	assert_int_equal(fake_service(f->dev, PID, BUFSIZE), 0);
	assert_int_equal(fake_produce(f->h, 0, 10), 10);
	fixture_free(f);
}

/* A switch may be what finds the buffer full; the host asks before going on. */
static void full_at_a_switch(void **state)
{
	struct fixture *f = fixture_new(true, 1);

	running(f, true);
	fake_produce(f->h, 0, BUFSIZE);
	fake_switch_out(f->h, PID, PID);
	fake_switch_in(f->h, PID, PID, 0);
	assert_int_equal(resume(f), -EAGAIN);
	assert_int_equal(fake_service(f->dev, PID, BUFSIZE), 0);
	assert_int_equal(resume(f), 0);
	assert_int_equal(fake_produce(f->h, 0, 10), 10);
	fixture_free(f);
}

static struct fixture *reading;
static pthread_t reader;

static void *read_all(void *arg)
{
	assert_int_equal(fake_service(reading->dev, PID, BUFSIZE), 0);
	return arg;
}

/* The reader gives everything back, and gets as far as it can before the unit's word. */
static void read_meanwhile(struct fake_host *h, struct hwt_buffer *b)
{
	hwt_irqflags_t flags;
	uint64_t tail = 0;

	h->in_irq = NULL;
	assert_int_equal(pthread_create(&reader, NULL, read_all, NULL), 0);
	while (tail < BUFSIZE) {
		hwt_spin_lock(&b->lock, flags);
		tail = b->tail;
		hwt_spin_unlock(&b->lock, flags);
	}
	usleep(20000);
}

/* Room that was made while the unit said that it had none: nobody makes it again. */
static void room_made_meanwhile(void **state)
{
	struct fixture *f = fixture_new(true, 1);

	running(f, true);
	reading = f;
	fake_produce(f->h, 0, BUFSIZE);
	f->h->in_irq = read_meanwhile;
	irq(f);
	assert_int_equal(pthread_join(reader, NULL), 0);
	assert_int_equal(resume(f), 0);
	assert_int_equal(fake_produce(f->h, 0, 10), 10);
	fixture_free(f);
}

/* Whoever is held for room goes on when there is nothing left to wait for. */
static void held_until_stopped(void **state)
{
	struct fixture *f = fixture_new(true, 1);
	unsigned long wakeups;

	running(f, true);
	fake_produce(f->h, 0, BUFSIZE);
	irq(f);
	assert_int_equal(resume(f), -EAGAIN);
	wakeups = f->h->wakeups;
	assert_int_equal(fake_simple(f->dev, HWT_IOC_STOP), 0);
	assert_true(f->h->wakeups > wakeups);
	assert_int_equal(resume(f), 0);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), 0);
	assert_int_equal(resume(f), -EAGAIN);
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	assert_int_equal(resume(f), 0);
	fixture_free(f);
}

static void threads_born_later_are_full_too(void **state)
{
	struct fixture *f = fixture_new(true, 1);
	struct hwt_hook_where at = fake_at(PID, PID + 1, 1);

	running(f, true);
	hwt_hook_thread_create(f->h->core, &at, PID + 1, 1);
	assert_int_equal(fake_produce(f->h, 1, 2 * BUFSIZE), BUFSIZE);
	hwt_hook_thread_exit(f->h->core, &at, 0);
	fixture_free(f);
}

static void tails_are_checked(void **state)
{
	struct fixture *f = fixture_new(true, 1);

	running(f, true);
	fake_produce(f->h, 0, 100);
	irq(f);
	assert_int_equal(fake_service(f->dev, PID, 101), -EINVAL);
	assert_int_equal(fake_service(f->dev, PID, 50), 0);
	assert_int_equal(fake_service(f->dev, PID, 49), -EINVAL);
	assert_int_equal(fake_service(f->dev, 9999, 50), -ENOENT);
	fixture_free(f);
}

static void foreign_interrupts(void **state)
{
	struct fixture *f = fixture_new(true, 1);

	running(f, false);
	fake_produce(f->h, 0, 8);
	assert_int_equal(hwt_hook_irq(f->h->core, PID, PID, 1), HWT_IRQ_NONE);
	assert_int_equal(hwt_hook_irq(f->h->core, PID, 5, 0), HWT_IRQ_NONE);
	assert_int_equal(hwt_hook_irq(f->h->core, 5, 5, 0), HWT_IRQ_NONE);
	assert_int_equal(hwt_hook_irq_resume(f->h->core, 5, 5, 0), 0);
	fake_switch_out(f->h, PID, PID);
	assert_int_equal(irq(f), HWT_IRQ_NONE);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_overwrites_and_counts),
		cmocka_unit_test(full_and_held),
		cmocka_unit_test(full_and_not_held),
		cmocka_unit_test(full_at_a_switch),
		cmocka_unit_test(held_until_stopped),
		cmocka_unit_test(room_made_meanwhile),
		cmocka_unit_test(threads_born_later_are_full_too),
		cmocka_unit_test(tails_are_checked),
		cmocka_unit_test(foreign_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
