/* SPDX-License-Identifier: BSD-2-Clause */
/* Scope context: threads or CPUs that share a buffer, and what tells their trace apart. */
#include "fixture.h"

/* A context whose backend shares buffers. */
static struct fixture *shared_new(bool may_hold, int nthreads)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->h = fake_host_new(may_hold);
	assert_non_null(f->h);
	f->h->be.scope = HWT_SCOPE_CONTEXT;
	fake_target_add(f->h, PID, nthreads);
	assert_int_equal(fake_alloc(f->h, PID, BUFSIZE, &f->ident), 0);
	assert_int_equal(fake_open_node(f->h, f->ident, 0, &f->dev), 0);
	return f;
}

static struct hwt_hook_where at(int tid)
{
	return (struct hwt_hook_where){.pid = PID, .tid = tid, .unit = -1};
}

static void expect_source(struct fixture *f, int tid, int buf_id, int source, uint64_t position)
{
	const struct hwt_rec_source *s;

	assert_record(f, HWT_REC_SOURCE);
	s = payload(f);
	assert_int_equal(head(f)->tid, tid);
	assert_int_equal(head(f)->position, position);
	assert_int_equal(s->buf_id, buf_id);
	assert_int_equal(s->source, source);
}

static void expect_thread(struct fixture *f, int tid, int buf_id, int source, uint64_t position)
{
	const struct hwt_rec_thread *t;

	assert_record(f, HWT_REC_THREAD_CREATE);
	t = payload(f);
	assert_int_equal(t->tid, tid);
	expect_source(f, tid, buf_id, source, position);
}

static void create(struct fixture *f, int tid, int unit)
{
	struct hwt_hook_where where = at(PID);

	assert_int_equal(hwt_hook_thread_create(f->h->core, &where, tid, unit),
			 HWT_HOOK_TRACED);
}

static void end(struct fixture *f, int tid)
{
	struct hwt_hook_where where = at(tid);

	hwt_hook_thread_exit(f->h->core, &where, 0);
}

/* Off their units, those that may still be on one. */
static void shared_free(struct fixture *f)
{
	int tid;

	for (tid = PID; tid < PID + 5; tid++)
		end(f, tid);
	fixture_free(f);
}

/* What the thread's node says: whose buffer it is, and where that stands. */
static void expect_node(struct fixture *f, int tid, int buf_id, uint64_t position)
{
	struct hwt_position_get where = {0};
	struct hwt_bufptr_get ptr = {0};
	struct fake_dev *dev;
	int id = -1;

	ptr.ident = &id;
	assert_int_equal(fake_open_node(f->h, f->ident, tid, &dev), 0);
	assert_int_equal(fake_ioctl(dev, HWT_IOC_BUFPTR_GET, &ptr), 0);
	assert_int_equal(id, buf_id);
	assert_int_equal(fake_ioctl(dev, HWT_IOC_POSITION_GET, &where), 0);
	assert_int_equal(where.head, position);
	fake_close(dev);
}

/* As many as there are marks share one; the next begins another. */
static void threads_share(void **state)
{
	struct fixture *f = shared_new(false, 1);

	expect_thread(f, PID, PID, 1, 0);
	start(f);
	create(f, PID + 1, 1);
	create(f, PID + 2, 2);
	create(f, PID + 3, 3);
	create(f, PID + 4, 4);
	expect_thread(f, PID + 1, PID, 2, 0);
	expect_thread(f, PID + 2, PID, 3, 0);
	expect_thread(f, PID + 3, PID + 3, 1, 0);
	expect_thread(f, PID + 4, PID + 3, 2, 0);
	fake_produce(f->h, 1, 100);
	fake_produce(f->h, 2, 10);
	fake_produce(f->h, 4, 5);
	assert_int_equal(hwt_hook_irq(f->h->core, PID, PID + 1, 1), HWT_IRQ_PROGRESS);
	assert_int_equal(hwt_hook_irq(f->h->core, PID, PID + 2, 2), HWT_IRQ_PROGRESS);
	assert_int_equal(hwt_hook_irq(f->h->core, PID, PID + 4, 4), HWT_IRQ_PROGRESS);
	expect_node(f, PID, PID, 110);
	expect_node(f, PID + 2, PID, 110);
	expect_node(f, PID + 4, PID + 3, 5);
	shared_free(f);
}

/* A mark is another thread's when its owner has ended; the record says from where on. */
static void marks_come_again(void **state)
{
	struct fixture *f = shared_new(false, 1);
	const struct hwt_rec_buffer *b;

	start(f);
	drain(f);
	create(f, PID + 1, 1);
	expect_thread(f, PID + 1, PID, 2, 0);
	fake_produce(f->h, 1, 50);
	end(f, PID + 1);
	assert_record(f, HWT_REC_THREAD_EXIT);
	assert_int_equal(head(f)->position, 50);
	/* Of the buffer, and not its last: others go on. */
	assert_record(f, HWT_REC_BUFFER);
	b = payload(f);
	assert_int_equal(b->buf_id, PID);
	assert_int_equal(b->head, 50);
	assert_int_equal(b->flags & HWT_BUF_FINAL, 0);
	create(f, PID + 2, 1);
	expect_thread(f, PID + 2, PID, 2, 50);
	/* The same thread number again. */
	end(f, PID + 2);
	drain(f);
	create(f, PID + 1, 1);
	expect_thread(f, PID + 1, PID, 2, 50);
	shared_free(f);
}

/* Who has the buffer may end first: it stays, for those that are there and to come. */
static void owner_ends_first(void **state)
{
	struct fixture *f = shared_new(false, 1);

	start(f);
	create(f, PID + 1, 1);
	end(f, PID);
	drain(f);
	fake_produce(f->h, 1, 30);
	hwt_hook_irq(f->h->core, PID, PID + 1, 1);
	expect_node(f, PID, PID, 30);
	create(f, PID + 2, 2);
	assert_record(f, HWT_REC_BUFFER);
	expect_thread(f, PID + 2, PID, 1, 30);
	end(f, PID + 1);
	end(f, PID + 2);
	drain(f);
	shared_free(f);
}

/* exec leaves the leader's number; what it writes to is told if it had ended. */
static void exec_goes_on(void **state)
{
	struct hwt_hook_where where = at(PID);
	struct fixture *f = shared_new(false, 1);

	start(f);
	create(f, PID + 1, 1);
	end(f, PID);
	create(f, PID + 2, 2);
	drain(f);
	where.unit = 3;
	hwt_hook_exec(f->h->core, &where, PID + 1, "/bin/x", 0x1000, 0);
	while (fake_record(f->dev, f->record, sizeof(f->record)) != HWT_REC_SOURCE)
		;
	assert_int_equal(head(f)->tid, PID);
	assert_record(f, HWT_REC_EXEC);
	assert_int_equal(fake_produce(f->h, 3, 7), 7);
	shared_free(f);
}

/* Room that is given back lets all go on that waited for it. */
static void all_wait_for_room(void **state)
{
	struct fixture *f = shared_new(true, 1);

	fake_switch_in(f->h, PID, PID, 0);
	assert_int_equal(fake_service(f->dev, PID, 0), 0);
	start(f);
	create(f, PID + 1, 1);
	drain(f);
	fake_produce(f->h, 0, BUFSIZE);
	assert_int_equal(hwt_hook_irq(f->h->core, PID, PID, 0),
			 HWT_IRQ_PROGRESS | HWT_IRQ_FULL);
	assert_int_equal(fake_produce(f->h, 1, 10), 0);
	assert_int_equal(hwt_hook_irq(f->h->core, PID, PID + 1, 1), HWT_IRQ_FULL);
	assert_int_equal(hwt_hook_irq_resume(f->h->core, PID, PID, 0), -EAGAIN);
	assert_int_equal(hwt_hook_irq_resume(f->h->core, PID, PID + 1, 1), -EAGAIN);
	/* By whatever thread's number. */
	assert_int_equal(fake_service(f->dev, PID + 1, BUFSIZE), 0);
	assert_int_equal(hwt_hook_irq_resume(f->h->core, PID, PID, 0), 0);
	assert_int_equal(hwt_hook_irq_resume(f->h->core, PID, PID + 1, 1), 0);
	assert_int_equal(fake_produce(f->h, 1, 10), 10);
	shared_free(f);
}

/* A context for the CPUs of `set`, opened at CPU 0. */
static struct fixture *shared_cpus_new(unsigned long set)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->h = fake_host_new(false);
	f->h->be.scope = HWT_SCOPE_CONTEXT;
	assert_int_equal(fake_alloc_cpus(f->h, set, &f->ident), 0);
	assert_int_equal(fake_open_node(f->h, f->ident, 0, &f->dev), 0);
	return f;
}

static void expect_cpu(struct fixture *f, int cpu, int buf_id, int source)
{
	expect_source(f, 0, buf_id, source, 0);
	assert_int_equal(head(f)->cpu, cpu);
}

/* As many CPUs as there are marks, too; told before any other record. */
static void cpus_share(void **state)
{
	struct fixture *f = shared_cpus_new(0xf);
	const struct hwt_rec_buffer *b;

	expect_cpu(f, 0, 0, 1);
	expect_cpu(f, 1, 0, 2);
	expect_cpu(f, 2, 0, 3);
	expect_cpu(f, 3, 3, 1);
	assert_record(f, 0);
	start(f);
	fake_produce(f->h, 1, 100);
	fake_produce(f->h, 2, 10);
	fake_produce(f->h, 3, 5);
	assert_int_equal(hwt_hook_irq(f->h->core, 1, 1, 1), HWT_IRQ_PROGRESS);
	assert_int_equal(hwt_hook_irq(f->h->core, 1, 1, 2), HWT_IRQ_PROGRESS);
	assert_int_equal(hwt_hook_irq(f->h->core, 1, 1, 3), HWT_IRQ_PROGRESS);
	assert_record(f, HWT_REC_BUFFER);
	b = payload(f);
	assert_int_equal(head(f)->cpu, 0);
	assert_int_equal(b->buf_id, 0);
	assert_int_equal(b->head, 110);
	expect_node(f, 0, 0, 110);
	expect_node(f, 2, 0, 110);
	expect_node(f, 3, 3, 5);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_STOP), 0);
	fixture_free(f);
}

/* Whose buffer it is may go offline: the others go on, and it comes back to it. */
static void a_sinks_cpu_goes_offline(void **state)
{
	struct fixture *f = shared_cpus_new(0x3);

	start(f);
	fake_produce(f->h, 0, 24);
	hwt_hook_cpu_offline(f->h->core, 0);
	f->h->online[0] = false;
	assert_null(f->h->units[0].buffer);
	assert_int_equal(fake_produce(f->h, 1, 10), 10);
	assert_int_equal(hwt_hook_irq(f->h->core, 1, 1, 1), HWT_IRQ_PROGRESS);
	expect_node(f, 1, 0, 34);
	f->h->online[0] = true;
	hwt_hook_cpu_online(f->h->core, 0);
	assert_int_equal(fake_produce(f->h, 0, 6), 6);
	assert_int_equal(hwt_hook_irq(f->h->core, 1, 1, 0), HWT_IRQ_PROGRESS);
	expect_node(f, 1, 0, 40);
	fixture_free(f);
}

static void cpus_wait_for_room(void **state)
{
	struct fixture *f = shared_cpus_new(0x3);

	assert_int_equal(fake_service(f->dev, 0, 0), 0);
	start(f);
	fake_produce(f->h, 0, BUFSIZE);
	assert_int_equal(hwt_hook_irq(f->h->core, 1, 1, 0), HWT_IRQ_PROGRESS | HWT_IRQ_FULL);
	assert_int_equal(hwt_hook_irq(f->h->core, 1, 1, 1), HWT_IRQ_FULL);
	assert_null(f->h->units[0].buffer);
	assert_null(f->h->units[1].buffer);
	/* By whatever CPU's number. */
	assert_int_equal(fake_service(f->dev, 1, BUFSIZE), 0);
	assert_int_equal(fake_produce(f->h, 0, 9), 9);
	assert_int_equal(fake_produce(f->h, 1, 9), 9);
	fixture_free(f);
}

static bool has_room(struct hwt_buffer *b)
{
	return b->sink->head - b->sink->tail < b->sink->bufsize;
}

/* Nobody asks a CPU again that was switched in where others have left no room. */
static void a_cpu_comes_to_a_full_buffer(void **state)
{
	struct fixture *f = shared_cpus_new(0x3);
	struct hwt_backend_ops ops = *f->h->be.ops;
	const struct hwt_rec_buffer *b;

	ops.room = has_room;
	f->h->be.ops = &ops;
	assert_int_equal(fake_service(f->dev, 0, 0), 0);
	start(f);
	hwt_hook_cpu_offline(f->h->core, 1);
	f->h->online[1] = false;
	fake_produce(f->h, 0, BUFSIZE);
	assert_int_equal(hwt_hook_irq(f->h->core, 1, 1, 0), HWT_IRQ_PROGRESS | HWT_IRQ_FULL);
	f->h->online[1] = true;
	hwt_hook_cpu_online(f->h->core, 1);
	assert_null(f->h->units[1].buffer);
	/* CPU 0's stop, and that CPU 1 did not begin. */
	assert_true(fake_record_of(f->dev, HWT_REC_BUFFER, f->record, sizeof(f->record)));
	b = payload(f);
	assert_int_equal(b->flags & HWT_BUF_FULL, HWT_BUF_FULL);
	assert_int_equal(b->lost, 2);
	assert_int_equal(fake_service(f->dev, 0, BUFSIZE), 0);
	assert_int_equal(fake_produce(f->h, 0, 9), 9);
	assert_int_equal(fake_produce(f->h, 1, 9), 9);
	fixture_free(f);
}

/* A backend that cannot tell sources apart cannot share. */
static void needs_marks(void **state)
{
	struct fixture *f = shared_new(false, 1);
	struct hwt_backend_ops ops = *f->h->be.ops;
	struct hwt_backend be = f->h->be;

	ops.source_get = NULL;
	be.name = "other";
	be.ops = &ops;
	assert_int_equal(hwt_backend_register(f->h->core, &be), -EINVAL);
	shared_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share),    cmocka_unit_test(marks_come_again),
		cmocka_unit_test(owner_ends_first), cmocka_unit_test(exec_goes_on),
		cmocka_unit_test(all_wait_for_room), cmocka_unit_test(cpus_share),
		cmocka_unit_test(a_sinks_cpu_goes_offline),
		cmocka_unit_test(cpus_wait_for_room),
		cmocka_unit_test(a_cpu_comes_to_a_full_buffer), cmocka_unit_test(needs_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
