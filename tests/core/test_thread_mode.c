/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts, nodes, threads, start and stop, configuration, children, exec, exit. */
#include "fixture.h"
#include "core/hwt_thread.h"

static struct fake_area *area_of(struct fixture *f, int d)
{
	struct fake_dev *dev;
	struct fake_area *a;

	assert_int_equal(fake_open_node(f->h, f->ident, d, &dev), 0);
	a = fake_area(dev->buffer);
	fake_close(dev);
	return a;
}

static void nodes_of_all_threads(void **state)
{
	struct fixture *f = fixture_new(false, 3);
	struct fake_dev *dev;

	/* One a thread, and the alias. */
	assert_int_equal(fake_node_count(f->h), 4);
	assert_int_equal(fake_open_node(f->h, f->ident, PID, &dev), 0);
	assert_non_null(dev->buffer);
	fake_close(dev);
	assert_int_equal(fake_open_node(f->h, f->ident, PID + 2, &dev), 0);
	fake_close(dev);
	assert_int_equal(fake_open_node(f->h, f->ident, PID + 3, &dev), -ENOENT);
	assert_record(f, HWT_REC_THREAD_CREATE);
	assert_int_equal(head(f)->tid, PID);
	assert_record(f, HWT_REC_THREAD_CREATE);
	assert_record(f, HWT_REC_THREAD_CREATE);
	assert_record(f, 0);
	fixture_free(f);
}

/* The list of threads is read in pieces, and its order does not matter. */
static void many_threads_leader_not_first(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct fake_target *t;

	f->h = fake_host_new(false);
	fake_target_add(f->h, PID, FAKE_THREADS);
	t = fake_target(f->h, PID);
	t->threads[0].tid = PID + 40;
	t->threads[40].tid = PID;
	assert_int_equal(fake_alloc(f->h, PID, BUFSIZE, &f->ident), 0);
	assert_int_equal(fake_node_count(f->h), FAKE_THREADS + 1);
	assert_int_equal(fake_open_node(f->h, f->ident, 0, &f->dev), 0);
	assert_record(f, HWT_REC_THREAD_CREATE);
	assert_int_equal(head(f)->tid, PID);
	fixture_free(f);
}

static void idents_are_reused(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	int second, third;

	fake_target_add(f->h, 200, 1);
	fake_target_add(f->h, 300, 1);
	assert_int_equal(fake_alloc(f->h, 200, BUFSIZE, &second), 0);
	assert_int_equal(f->ident, 0);
	assert_int_equal(second, 1);
	fake_close(f->dev);
	assert_int_equal(fake_alloc(f->h, 300, BUFSIZE, &third), 0);
	assert_int_equal(third, 0);
	f->dev = NULL;
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	fixture_free(f);
}

static void start_reaches_threads_on_their_units(void **state)
{
	struct fixture *f = fixture_new(false, 2);
	struct fake_area *a = area_of(f, PID), *b = area_of(f, PID + 1);

	fake_switch_in(f->h, PID, PID, 0);
	start(f);
	assert_int_equal(a->ins, 1);
	assert_int_equal(a->fresh, 1);
	assert_int_equal(a->programmed, 1);
	assert_int_equal(b->ins, 0);
	fake_switch_in(f->h, PID, PID + 1, 1);
	assert_int_equal(b->ins, 1);
	assert_int_equal(b->fresh, 1);
	/* On and off again is one stretch of the same start. */
	fake_switch_out(f->h, PID, PID + 1);
	fake_switch_in(f->h, PID, PID + 1, 2);
	assert_int_equal(b->ins, 2);
	assert_int_equal(b->outs, 1);
	assert_int_equal(b->fresh, 1);
	/* Twice the same is nothing. */
	fake_switch_in(f->h, PID, PID + 1, 2);
	assert_int_equal(b->ins, 2);
	/*
	 * Nor is a switch elsewhere: exec gives its caller the leader's number, and the
	 * leader, which is on its way out on another CPU, has the caller's until then.
	 */
	hwt_hook_switch_out(f->h->core, PID, PID + 1, 3);
	assert_int_equal(b->outs, 1);
	assert_int_equal(hwt_thread_unit(f->h->units[2].buffer->thr), 2);
	fixture_free(f);
}

static void stop_and_start_keep_the_position(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct fake_area *a = area_of(f, PID);

	fake_switch_in(f->h, PID, PID, 0);
	start(f);
	assert_int_equal(fake_produce(f->h, 0, 100), 100);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_STOP), 0);
	assert_int_equal(fake_produce(f->h, 0, 100), 0);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), 0);
	assert_int_equal(a->fresh, 2);
	assert_int_equal(fake_produce(f->h, 0, 50), 50);
	assert_int_equal(f->h->units[0].pos, 150);
	fixture_free(f);
}

/* A thread in a system call is not there to be stopped; it is when it returns. */
static void stop_and_start_while_away(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct fake_area *a = area_of(f, PID);

	fake_switch_in(f->h, PID, PID, 0);
	start(f);
	fake_target(f->h, PID)->threads[0].unit = -1;
	assert_int_equal(fake_simple(f->dev, HWT_IOC_STOP), 0);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), 0);
	assert_int_equal(a->ins, 1);
	fake_switch_in(f->h, PID, PID, 0);
	assert_int_equal(a->outs, 1);
	assert_int_equal(a->ins, 2);
	assert_int_equal(a->fresh, 2);
	fixture_free(f);
}

static void config_while_running(void **state)
{
	struct fixture *f = fixture_new(false, 2);
	struct fake_area *a = area_of(f, PID), *b = area_of(f, PID + 1);

	fake_switch_in(f->h, PID, PID, 0);
	start(f);
	assert_int_equal(fake_config(f->dev, 2, 0), 0);
	assert_int_equal(a->programmed, 2);
	assert_int_equal(a->ins, 2);
	assert_int_equal(a->fresh, 1);
	/* The other takes the newest only, when it comes. */
	assert_int_equal(fake_config(f->dev, 3, 0), 0);
	assert_int_equal(b->configs, 0);
	fake_switch_in(f->h, PID, PID + 1, 1);
	assert_int_equal(b->configs, 1);
	assert_int_equal(b->programmed, 3);
	/* A refused one changes nothing. */
	assert_int_equal(fake_config(f->dev, 4, FAKE_LACKS), -EOPNOTSUPP);
	assert_int_equal(a->programmed, 3);
	fixture_free(f);
}

static void new_thread_runs_at_once(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at = fake_at(PID, PID + 9, 3);
	struct fake_area *a;

	start(f);
	drain(f);
	assert_int_equal(hwt_hook_thread_create(f->h->core, &at, PID + 9, 3),
			 HWT_HOOK_TRACED);
	a = area_of(f, PID + 9);
	assert_int_equal(a->ins, 1);
	assert_int_equal(a->fresh, 1);
	assert_record(f, HWT_REC_THREAD_CREATE);
	assert_int_equal(((const struct hwt_rec_thread *)payload(f))->tid, PID + 9);
	/* The same thread again, as ALLOC's list and the hook may both bring it. */
	hwt_hook_thread_create(f->h->core, &at, PID + 9, 3);
	assert_record(f, 0);
	hwt_hook_thread_exit(f->h->core, &at, 0);
	fixture_free(f);
}

/* Preempted between its buffer and its record, and then on another CPU. */
static void switch_newborn(struct fake_host *h)
{
	hwt_hook_switch_out(h->core, PID, PID + 9, 3);
	hwt_hook_switch_in(h->core, PID, PID + 9, 2);
	fake_produce(h, 2, 8);
	hwt_hook_switch_out(h->core, PID, PID + 9, 2);
}

static void nothing_of_a_thread_before_its_record(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at = fake_at(PID, PID + 9, -1);

	start(f);
	drain(f);
	f->h->in_node_create = switch_newborn;
	assert_int_equal(hwt_hook_thread_create(f->h->core, &at, PID + 9, -1),
			 HWT_HOOK_TRACED);
	f->h->in_node_create = NULL;
	assert_record(f, HWT_REC_THREAD_CREATE);
	assert_record(f, 0);
	assert_int_equal(area_of(f, PID + 9)->ins, 0);
	hwt_hook_switch_in(f->h->core, PID, PID + 9, 2);
	assert_int_equal(area_of(f, PID + 9)->ins, 1);
	hwt_hook_thread_exit(f->h->core, &at, 0);
	fixture_free(f);
}

static void thread_exit_ends_its_stream(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at = fake_at(PID, PID, 0);
	const struct hwt_rec_buffer *buf;

	fake_switch_in(f->h, PID, PID, 0);
	start(f);
	drain(f);
	fake_produce(f->h, 0, 77);
	hwt_hook_thread_exit(f->h->core, &at, 5);
	assert_record(f, HWT_REC_THREAD_EXIT);
	assert_int_equal(head(f)->position, 77);
	assert_int_equal(((const struct hwt_rec_thread *)payload(f))->status, 5);
	assert_record(f, HWT_REC_BUFFER);
	buf = payload(f);
	assert_int_equal(buf->flags, HWT_BUF_FINAL);
	assert_int_equal(buf->head, 77);
	/* The unit is free for another. */
	assert_null(f->h->units[0].buffer);
	hwt_hook_switch_in(f->h->core, PID, PID, 0);
	assert_null(f->h->units[0].buffer);
	fixture_free(f);
}

/* A dead tid that is given to a new thread goes on in the same buffer. */
static void tid_comes_again(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at = fake_at(PID, PID + 1, 1);
	struct fake_area *a;

	start(f);
	hwt_hook_thread_create(f->h->core, &at, PID + 1, 1);
	fake_produce(f->h, 1, 10);
	hwt_hook_thread_exit(f->h->core, &at, 0);
	drain(f);
	hwt_hook_thread_create(f->h->core, &at, PID + 1, 1);
	assert_record(f, HWT_REC_THREAD_CREATE);
	a = area_of(f, PID + 1);
	assert_int_equal(a->fresh, 2);
	assert_int_equal(f->h->units[1].pos, 10);
	hwt_hook_thread_exit(f->h->core, &at, 0);
	fixture_free(f);
}

static void idle_buffers_of_dead_threads_are_given_back(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at;
	struct fake_dev *dev;
	int i;

	start(f);
	for (i = 1; i <= 5000; i++) {
		at = fake_at(PID, PID + i, 1);
		hwt_hook_thread_create(f->h->core, &at, PID + i, 1);
		assert_int_equal(fake_open_node(f->h, f->ident, PID + i, &dev), 0);
		fake_produce(f->h, 1, 8);
		hwt_hook_thread_exit(f->h->core, &at, 0);
		drain(f);
		assert_int_equal(fake_service(f->dev, PID + i, 8), 0);
		hwt_buffer_idle(f->h->core, dev->ctx, dev->buffer);
		fake_close(dev);
		assert_int_equal(fake_service(f->dev, PID + i, 8), -ENOENT);
		assert_int_equal(f->h->pages, 1);
	}
	assert_int_equal(fake_node_count(f->h), 2);
	fixture_free(f);
}

static void death_ends_with_exit(void **state)
{
	struct fixture *f = fixture_new(false, 2);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	uint64_t data = 0;
	vm_offset_t offset = 0;
	struct hwt_bufptr_get ptr = {.offset = &offset, .data = &data};
	struct hwt_record_get2 wait = {.flags = HWT_GET_WAIT};

	fake_switch_in(f->h, PID, PID, 0);
	fake_switch_in(f->h, PID, PID + 1, 1);
	start(f);
	drain(f);
	fake_produce(f->h, 0, BUFSIZE + 11);
	fake_target(f->h, PID)->dead = true;
	/* Right after the death, before anyone told core. */
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_BUFPTR_GET, &ptr), 0);
	assert_int_equal(data, BUFSIZE + 11);
	hwt_hook_exit(f->h->core, &at, 9);
	assert_null(f->h->units[0].buffer);
	assert_null(f->h->units[1].buffer);
	assert_record(f, HWT_REC_BUFFER);
	assert_record(f, HWT_REC_BUFFER);
	assert_record(f, HWT_REC_EXIT);
	assert_int_equal(((const struct hwt_rec_exit *)payload(f))->status, 9);
	assert_record(f, 0);
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_RECORD_GET2, &wait), -ESRCH);
	offset = data = 0;
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_BUFPTR_GET, &ptr), 0);
	assert_int_equal(data, BUFSIZE + 11);
	assert_int_equal(offset, 11);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), -ESRCH);
	assert_int_equal(fake_config(f->dev, 1, 0), -ESRCH);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_STOP), 0);
	fixture_free(f);
}

/* The pid of a dead target may come again while its context is still read. */
static void pid_comes_again(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	int ident;

	fake_target(f->h, PID)->dead = true;
	hwt_hook_exit(f->h->core, &at, 0);
	fake_target(f->h, PID)->dead = false;
	assert_int_equal(fake_alloc(f->h, PID, BUFSIZE, &ident), 0);
	assert_int_equal(ident, 1);
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	fixture_free(f);
}

/* Pids of one bucket of the hash, and one that comes and goes between them. */
static void pids_that_collide(void **state)
{
	static const int pids[] = {PID + 256, PID + 512, PID + 768};
	struct fixture *f = fixture_new(false, 1);
	struct hwt_hook_where at;
	int ident[3], i;

	for (i = 0; i < 3; i++) {
		fake_target_add(f->h, pids[i], 1);
		assert_int_equal(fake_alloc(f->h, pids[i], BUFSIZE, &ident[i]), 0);
	}
	at = fake_at(pids[1], pids[1], -1);
	assert_int_equal(hwt_hook_exit(f->h->core, &at, 0), HWT_HOOK_TRACED);
	assert_int_equal(fake_mmap(f->h, pids[0], pids[0], 1, "x"), HWT_HOOK_TRACED);
	assert_int_equal(fake_mmap(f->h, pids[1], pids[1], 1, "x"), 0);
	assert_int_equal(fake_mmap(f->h, pids[2], pids[2], 1, "x"), HWT_HOOK_TRACED);
	assert_int_equal(fake_mmap(f->h, PID, PID, 1, "x"), HWT_HOOK_TRACED);
	assert_int_equal(fake_alloc(f->h, pids[2], BUFSIZE, &i), -EEXIST);
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	fixture_free(f);
}

static void owners_that_collide(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_cred cred = fake_cred(FAKE_OWNER + 64);
	int ident;
	struct hwt_alloc al = {
		.bufsize = BUFSIZE,
		.mode = HWT_MODE_THREAD,
		.pid = 200,
		.backend_name = "fake",
		.ident = &ident,
		.kqueue_fd = -1,
	};

	fake_target_add(f->h, 200, 1);
	assert_int_equal(hwt_ioctl(f->h->core, &cred, NULL, NULL, HWT_IOC_ALLOC, &al), 0);
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	assert_int_equal(fake_mmap(f->h, PID, PID, 1, "x"), 0);
	assert_int_equal(fake_mmap(f->h, 200, 200, 1, "x"), HWT_HOOK_TRACED);
	hwt_owner_exit(f->h->core, FAKE_OWNER + 64);
	assert_int_equal(fake_mmap(f->h, 200, 200, 1, "x"), 0);
	fixture_free(f);
}

/* An owner in a pid namespace, whose numbers are 1000 less than the host's. */
static int from_namespace(void *host, const struct hwt_cred *cred, int pid)
{
	return pid == 77 ? -1 : pid + 1000;
}

static int to_namespace(void *host, void *target, int pid)
{
	return pid - 1000;
}

static void numbers_are_the_owners(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct hwt_hook_where at = fake_at(1100, 1101, -1);

	f->h = fake_host_new(false);
	f->h->ops.pid_from_user = from_namespace;
	f->h->ops.pid_to_user = to_namespace;
	fake_target_add(f->h, 1100, 2);
	assert_int_equal(fake_alloc(f->h, 77, BUFSIZE, &f->ident), -ESRCH);
	assert_int_equal(fake_alloc(f->h, 1100, BUFSIZE, &f->ident), -ESRCH);
	assert_int_equal(fake_alloc(f->h, 100, BUFSIZE, &f->ident), 0);
	assert_int_equal(fake_open_node(f->h, f->ident, 100, &f->dev), 0);
	assert_int_equal(fake_config2(f->dev, HWT_PAUSE_ALL, true), 0);
	drain(f);
	assert_int_equal(fake_mmap(f->h, 1100, 1101, 1, "x"),
			 HWT_HOOK_TRACED | HWT_HOOK_PAUSED);
	assert_record(f, HWT_REC_MMAP);
	assert_int_equal(head(f)->pid, 100);
	assert_int_equal(head(f)->tid, 101);
	assert_int_equal(fake_wakeup_tid(f->dev, 1101), -ESRCH);
	assert_int_equal(fake_wakeup_tid(f->dev, 101), 0);
	assert_false(hwt_hook_is_paused(f->h->core, 1100, 1101));
	hwt_hook_fork(f->h->core, &at, 1500, 1501);
	assert_record(f, HWT_REC_FORK);
	assert_int_equal(((const struct hwt_rec_fork *)payload(f))->child_pid, 500);
	assert_true(hwt_hook_is_paused(f->h->core, 1500, 1501));
	assert_int_equal(fake_wakeup_tid(f->dev, 501), 0);
	assert_false(hwt_hook_is_paused(f->h->core, 1500, 1501));
	assert_int_equal(fake_service(f->dev, 101, 0), 0);
	fixture_free(f);
}

static void exec_by_another_thread(void **state)
{
	struct fixture *f = fixture_new(false, 5);
	struct hwt_hook_where at = fake_at(PID, PID, 7);
	struct fake_area *leader = area_of(f, PID);
	const struct hwt_rec_exec *exec;
	int i, ended = 0;

	fake_switch_in(f->h, PID, PID, 0);
	fake_switch_in(f->h, PID, PID + 3, 7);
	assert_int_equal(fake_config2(f->dev, HWT_PAUSE_EXEC, true), 0);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), 0);
	drain(f);
	fake_produce(f->h, 7, 5);
	assert_int_equal(hwt_hook_exec(f->h->core, &at, PID + 3, "/bin/stage2", 0x1000, 0),
			 HWT_HOOK_TRACED | HWT_HOOK_PAUSED);
	for (i = fake_record(f->dev, f->record, sizeof(f->record)); i != HWT_REC_EXEC;
	     i = fake_record(f->dev, f->record, sizeof(f->record))) {
		assert_true(i > 0);
		ended += i == HWT_REC_THREAD_EXIT;
	}
	assert_int_equal(ended, 4);
	exec = payload(f);
	assert_int_equal(head(f)->tid, PID);
	assert_int_equal(exec->old_tid, PID + 3);
	assert_string_equal(exec->path, "/bin/stage2");
	/* The leader's stream goes on where the other one stood. */
	assert_ptr_equal(fake_area(f->h->units[7].buffer), leader);
	assert_int_equal(leader->fresh, 2);
	assert_null(f->h->units[0].buffer);
	assert_true(hwt_hook_is_paused(f->h->core, PID, PID));
	assert_int_equal(fake_wakeup_tid(f->dev, PID + 3), -ESRCH);
	assert_int_equal(fake_wakeup_tid(f->dev, PID), 0);
	assert_false(hwt_hook_is_paused(f->h->core, PID, PID));
	fixture_free(f);
}

/* The leader ended first; its buffer is taken up again by the new image. */
/* A program that its owner may not look into: the process runs on. */
static void exec_beyond_the_owner(void **state)
{
	struct fixture *f = fixture_new(false, 2);
	struct hwt_hook_where at = fake_at(PID, PID, 3);
	int type;

	fake_switch_in(f->h, PID, PID, 3);
	assert_int_equal(fake_config2(f->dev, HWT_PAUSE_EXEC, true), 0);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), 0);
	drain(f);
	f->h->forbid = true;
	assert_int_equal(hwt_hook_exec(f->h->core, &at, PID, "su", 0, 0),
			 HWT_HOOK_TRACED);
	assert_null(f->h->units[3].buffer);
	assert_false(hwt_hook_is_paused(f->h->core, PID, PID));
	do
		type = fake_record(f->dev, f->record, sizeof(f->record));
	while (type == HWT_REC_THREAD_EXIT || type == HWT_REC_BUFFER);
	assert_int_equal(type, HWT_REC_EXEC);
	assert_int_equal(head(f)->flags, HWT_REC_REVOKED);
	do
		type = fake_record(f->dev, f->record, sizeof(f->record));
	while (type == HWT_REC_BUFFER);
	assert_int_equal(type, HWT_REC_EXIT);
	assert_int_equal(head(f)->flags, HWT_REC_REVOKED);
	assert_int_equal(fake_mmap(f->h, PID, PID, 1, "x"), 0);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), -ESRCH);
	fixture_free(f);
}

static void exec_after_the_leader_ended(void **state)
{
	struct fixture *f = fixture_new(false, 2);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	struct fake_area *leader = area_of(f, PID);

	start(f);
	hwt_hook_thread_exit(f->h->core, &at, 0);
	at.unit = 2;
	assert_int_equal(hwt_hook_exec(f->h->core, &at, PID + 1, "x", 0, 0),
			 HWT_HOOK_TRACED);
	assert_int_equal(leader->ins, 1);
	assert_ptr_equal(fake_area(f->h->units[2].buffer), leader);
	hwt_hook_switch_out(f->h->core, PID, PID, 2);
	fixture_free(f);
}

/* All read and closed: still there when it is taken up again. */
static void exec_after_the_leader_was_read(void **state)
{
	struct fixture *f = fixture_new(false, 2);
	struct hwt_hook_where at = fake_at(PID, PID, -1);
	struct fake_dev *dev;

	start(f);
	assert_int_equal(fake_open_node(f->h, f->ident, PID, &dev), 0);
	hwt_hook_thread_exit(f->h->core, &at, 0);
	drain(f);
	hwt_buffer_idle(f->h->core, dev->ctx, dev->buffer);
	fake_close(dev);
	at.unit = 2;
	hwt_hook_exec(f->h->core, &at, PID + 1, "x", 0, 0);
	assert_int_equal(fake_produce(f->h, 2, 5), 5);
	hwt_hook_switch_out(f->h->core, PID, PID, 2);
	fixture_free(f);
}

/* The leader had ended before ALLOC: the caller's own stream goes on. */
static void exec_without_a_leader(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct hwt_hook_where at = fake_at(PID, PID, 3);

	f->h = fake_host_new(false);
	fake_target_add(f->h, PID, 3);
	fake_target(f->h, PID)->threads[0].tid = PID + 9;
	assert_int_equal(fake_alloc(f->h, PID, BUFSIZE, &f->ident), 0);
	assert_int_equal(fake_open_node(f->h, f->ident, 0, &f->dev), 0);
	assert_int_equal(fake_config2(f->dev, HWT_PAUSE_EXEC, true), 0);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), 0);
	assert_int_equal(hwt_hook_exec(f->h->core, &at, PID + 2, "x", 0, 0),
			 HWT_HOOK_TRACED | HWT_HOOK_PAUSED);
	assert_int_equal(f->h->units[3].buffer->buf_id, PID + 2);
	assert_true(hwt_hook_is_paused(f->h->core, PID, PID));
	assert_int_equal(fake_wakeup_tid(f->dev, PID + 2), 0);
	assert_false(hwt_hook_is_paused(f->h->core, PID, PID));
	hwt_hook_switch_out(f->h->core, PID, PID, 3);
	assert_null(f->h->units[3].buffer);
	fixture_free(f);
}

static void owner_leaves_everything(void **state)
{
	struct fixture *f = fixture_new(false, 2);
	struct hwt_rec rec;

	fake_switch_in(f->h, PID, PID, 0);
	start(f);
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	assert_int_equal(fake_node_count(f->h), 0);
	assert_null(f->h->units[0].buffer);
	/* A descriptor that outlived the owner is harmless. */
	assert_int_equal(fake_simple(f->dev, HWT_IOC_STOP), -ENXIO);
	assert_int_equal(fake_record(f->dev, &rec, sizeof(rec)), -ENXIO);
	assert_int_equal(fake_mmap(f->h, PID, PID, 0x1000, "x"), 0);
	fixture_free(f);
}

/* The unit of a thread in a system call still points at the buffer. */
static void buffers_outlive_their_units(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	int ident;

	fake_switch_in(f->h, PID, PID, 0);
	start(f);
	fake_target(f->h, PID)->threads[0].unit = -1;
	fake_close(f->dev);
	f->dev = NULL;
	assert_int_equal(f->h->pages, 1);
	assert_int_equal(fake_node_count(f->h), 0);
	assert_int_equal(fake_alloc(f->h, PID, BUFSIZE, &ident), -EEXIST);
	fake_switch_in(f->h, PID, PID, 0);
	assert_null(f->h->units[0].buffer);
	assert_int_equal(fake_alloc(f->h, PID, BUFSIZE, &ident), 0);
	assert_int_equal(f->h->pages, 1);
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	fixture_free(f);
}

static void context_ends_with_its_last_descriptor(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_cred other = fake_cred(2000);
	struct fake_dev *dev, *foreign;

	assert_int_equal(fake_open_node(f->h, f->ident, PID, &dev), 0);
	assert_int_equal(fake_open(f->h, "/dev/hwt_0_0", &other, &foreign), 0);
	assert_int_equal(fake_simple(foreign, HWT_IOC_STOP), -EPERM);
	fake_close(f->dev);
	f->dev = NULL;
	assert_int_equal(fake_config(dev, 1, 0), 0);
	fake_close(dev);
	assert_int_equal(fake_node_count(f->h), 0);
	assert_int_equal(hwt_unload(f->h->core), -EBUSY);
	fake_close(foreign);
	fixture_free(f);
}

static void nodes_are_the_users(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_cred cred = fake_cred(2000);
	struct hwt_pages *pages;
	struct fake_dev *dev;

	cred.uid = 2;
	assert_int_equal(fake_open(f->h, "/dev/hwt_0_0", &cred, &dev), -EACCES);
	cred = fake_cred(FAKE_OWNER);
#define MAP(off, len, w) \
	hwt_node_mmap(f->h->core, &cred, f->dev->ctx, NULL, off, len, w, &pages)
	assert_int_equal(MAP(0, BUFSIZE, false), 0);
	assert_int_equal(MAP(FAKE_PAGE, 1, false), 0);
	assert_int_equal(MAP(0, BUFSIZE, true), -EACCES);
	assert_int_equal(MAP(0, 0, false), -EINVAL);
	assert_int_equal(MAP(1, 1, false), -EINVAL);
	assert_int_equal(MAP(0, BUFSIZE + 1, false), -EINVAL);
	assert_int_equal(MAP(BUFSIZE, 1, false), -EINVAL);
	assert_int_equal(MAP(FAKE_PAGE, UINT64_MAX, false), -EINVAL);
	cred.owner = 2000;
	assert_int_equal(MAP(0, BUFSIZE, false), -EACCES);
#undef MAP
	assert_int_equal(hwt_node_mmap(f->h->core, &cred, NULL, NULL, 0, 1, false, &pages),
			 -EINVAL);
	fixture_free(f);
}

static void backends_are_named_once(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_backend twin = f->h->be, bad = f->h->be;
	struct hwt_query q = {.index = 0};
	int ident;
	struct hwt_alloc al = {
		.bufsize = BUFSIZE,
		.mode = HWT_MODE_THREAD,
		.pid = PID,
		.ident = &ident,
		.kqueue_fd = -1,
	};
	struct hwt_cred cred = fake_cred(FAKE_OWNER);

	bad.ops = NULL;
	assert_int_equal(hwt_backend_register(f->h->core, &twin), -EEXIST);
	assert_int_equal(hwt_backend_register(f->h->core, &bad), -EINVAL);
	assert_int_equal(hwt_backend_unregister(f->h->core, &twin), -ENOENT);
	assert_int_equal(hwt_backend_unregister(f->h->core, &f->h->be), -EBUSY);
	assert_int_equal(hwt_ioctl(f->h->core, &cred, NULL, NULL, HWT_IOC_QUERY, &q), 0);
	assert_string_equal(q.name, "fake");
	assert_string_equal(q.host, "fake");
	assert_string_equal(q.unit, "counting unit");
	assert_int_equal(q.ncaps, 3);
	assert_int_equal(q.caps[2], 0x102);
	assert_int_equal(q.time_hz, 1000000000);
	assert_int_equal(q.flags, HWT_QUERY_RING);
	assert_int_equal(q.modes, 1u << HWT_MODE_THREAD | 1u << HWT_MODE_CPU);
	/* A host without CPUs to trace, as the embedded one. */
	f->h->core->ncpus = 0;
	assert_int_equal(hwt_ioctl(f->h->core, &cred, NULL, NULL, HWT_IOC_QUERY, &q), 0);
	assert_int_equal(q.modes, 1u << HWT_MODE_THREAD);
	/* One without a unit is named, but cannot be used. */
	twin.name = "without";
	twin.bus = NULL;
	assert_int_equal(hwt_backend_register(f->h->core, &twin), 0);
	q.index = 1;
	assert_int_equal(hwt_ioctl(f->h->core, &cred, NULL, NULL, HWT_IOC_QUERY, &q),
			 -ENXIO);
	assert_string_equal(q.name, "without");
	al.backend_name = "without";
	assert_int_equal(hwt_ioctl(f->h->core, &cred, NULL, NULL, HWT_IOC_ALLOC, &al),
			 -ENXIO);
	q.index = 2;
	assert_int_equal(hwt_ioctl(f->h->core, &cred, NULL, NULL, HWT_IOC_QUERY, &q),
			 -ENOENT);
	assert_int_equal(hwt_backend_unregister(f->h->core, &twin), 0);
	fixture_free(f);
}

/*
 * On the embedded host the service of hooks goes on while thread_call waits:
 * none of them may need a lock that START holds.
 */
static void hooks_during_thread_call(struct fake_host *h)
{
	struct hwt_hook_where at = fake_at(PID, PID + 9, 9);

	h->in_thread_call = NULL;
	fake_mmap(h, PID, PID, 0x1000, "lib");
	hwt_hook_thread_create(h->core, &at, PID + 9, 9);
	hwt_hook_irq(h->core, PID, PID, 0);
	hwt_hook_switch_in(h->core, PID, PID, 0);
	hwt_hook_thread_exit(h->core, &at, 0);
	hwt_hook_is_paused(h->core, PID, PID);
}

static void hooks_need_no_lock_of_ioctls(void **state)
{
	struct fixture *f = fixture_new(true, 1);

	fake_switch_in(f->h, PID, PID, 0);
	f->h->in_thread_call = hooks_during_thread_call;
	start(f);
	assert_null(f->h->in_thread_call);
	f->h->in_thread_call = hooks_during_thread_call;
	assert_int_equal(fake_config(f->dev, 2, 0), 0);
	f->h->in_thread_call = hooks_during_thread_call;
	fake_close(f->dev);
	f->dev = NULL;
	assert_null(f->h->in_thread_call);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_of_all_threads),
		cmocka_unit_test(many_threads_leader_not_first),
		cmocka_unit_test(idents_are_reused),
		cmocka_unit_test(start_reaches_threads_on_their_units),
		cmocka_unit_test(stop_and_start_keep_the_position),
		cmocka_unit_test(stop_and_start_while_away),
		cmocka_unit_test(config_while_running),
		cmocka_unit_test(new_thread_runs_at_once),
		cmocka_unit_test(nothing_of_a_thread_before_its_record),
		cmocka_unit_test(thread_exit_ends_its_stream),
		cmocka_unit_test(tid_comes_again),
		cmocka_unit_test(idle_buffers_of_dead_threads_are_given_back),
		cmocka_unit_test(death_ends_with_exit),
		cmocka_unit_test(pid_comes_again),
		cmocka_unit_test(pids_that_collide),
		cmocka_unit_test(owners_that_collide),
		cmocka_unit_test(numbers_are_the_owners),
		cmocka_unit_test(exec_by_another_thread),
		cmocka_unit_test(exec_beyond_the_owner),
		cmocka_unit_test(exec_after_the_leader_ended),
		cmocka_unit_test(exec_after_the_leader_was_read),
		cmocka_unit_test(exec_without_a_leader),
		cmocka_unit_test(owner_leaves_everything),
		cmocka_unit_test(buffers_outlive_their_units),
		cmocka_unit_test(context_ends_with_its_last_descriptor),
		cmocka_unit_test(nodes_are_the_users),
		cmocka_unit_test(backends_are_named_once),
		cmocka_unit_test(hooks_need_no_lock_of_ioctls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
