/* SPDX-License-Identifier: BSD-2-Clause */
/* The client of hwt(4) on the fake host, with a target of two threads. */
#include <stdio.h>
#include <sys/mman.h>

#include "fixture.h"
#include "freebsd_client.h"
#include "freebsd_shims.h"

static struct fake_host *host;
static struct fake_dev *fds[16];

int shim_open(const char *name)
{
	struct hwt_cred cred = fake_cred(FAKE_OWNER);
	int fd = 0, rc;

	while (fds[fd])
		fd++;
	rc = fake_open(host, name, &cred, &fds[fd]);
	return shim_result(rc ? rc : fd);
}

int shim_ioctl(int fd, unsigned long request, void *arg)
{
	return shim_result(fake_ioctl(fds[fd], request, arg));
}

void *shim_mmap(size_t length, int fd)
{
	struct hwt_pages *pages;
	int rc = hwt_node_mmap(host->core, &fds[fd]->cred, fds[fd]->ctx, fds[fd]->buffer, 0,
			       length, false, &pages);

	return shim_result(rc) ? MAP_FAILED : pages;
}

int shim_munmap(void *addr, size_t length)
{
	return 0;
}

int shim_close(int fd)
{
	fake_close(fds[fd]);
	fds[fd] = NULL;
	return 0;
}

static void step(int rc, int tid)
{
	while (rc == -EAGAIN)
		abort();	/* the queue is never that full here */
	if (rc & HWT_HOOK_PAUSED)
		hwt_hook_pause_wait(host->core, PID, tid);
}

/* exec, libraries, a thread with a library of its own, the end. */
static void *target_main(void *arg)
{
	struct hwt_hook_where at = fake_at(PID, PID, 0), other = fake_at(PID, PID + 1, 1);

	fake_switch_in(host, PID, PID, 0);
	step(fake_mmap(host, PID, PID, 0x1000, "/bin/prog"), PID);
	step(hwt_hook_exec(host->core, &at, PID, "/bin/prog", 0x1000, 0), PID);
	fake_produce(host, 0, 100);
	step(fake_mmap(host, PID, PID, 0x9000, "/lib/libc.so"), PID);
	hwt_hook_thread_create(host->core, &at, PID + 1, 1);
	step(fake_mmap(host, PID, PID + 1, 0xa000, "/lib/plugin.so"), PID + 1);
	fake_produce(host, 1, 10);
	hwt_hook_thread_exit(host->core, &other, 0);
	fake_produce(host, 0, 23);
	fake_target(host, PID)->dead = true;
	hwt_hook_exit(host->core, &at, 0);
	return NULL;
}

static int go(void *arg)
{
	return pthread_create(arg, NULL, target_main, NULL);
}

static void a_whole_run(void **state)
{
	struct fake_config config = {1, 0};
	pthread_t target;
	struct freebsd_client c = {
		.pid = PID,
		.backend = "fake",
		.bufsize = BUFSIZE,
		.config = &config,
		.config_size = sizeof(config),
		.config_version = FAKE_VERSION,
		.go = go,
		.arg = &target,
	};

	host = fake_host_new(true);
	fake_target_add(host, PID, 1);
	if (freebsd_client_run(&c))
		fail_msg("%s: errno %d", c.failed, errno);
	pthread_join(target, NULL);
	assert_int_equal(c.mmaps, 3);
	assert_int_equal(c.execs, 1);
	assert_int_equal(c.threads, 2);
	assert_int_equal(c.wakeups, 4);
	assert_true(c.buffers >= 2);
	assert_int_equal(c.bytes, 123);
	assert_string_equal(c.program, "/bin/prog");
	assert_true(fake_host_free(host));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_whole_run)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
