/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract's table and the client of hwt(4) on the embedded host, with
 * programs under the emulated Intel PT unit.  argv[1]: the plugin; argv[2]:
 * the guest that makes mappings.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <hwt/libhwt.h>
#include "hw/pt.h"
#include "freebsd_calls.h"
#include "freebsd_client.h"
#include "ioctl_table.h"

static struct hwt_host *host;
static const char *guest;
static int null_fd;

/* Targets must not write into the test's report. */
static int spawn(const char *path, char *const argv[], pid_t *pid)
{
	int saved = dup(1), rc;
	char *error = NULL;

	dup2(null_fd, 1);
	rc = hwt_target_spawn(host, path, argv, pid, &error);
	dup2(saved, 1);
	close(saved);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", path, error ? error : strerror(-rc));
	free(error);
	return rc < 0 ? rc : 0;
}

static int t_open(void *arg, const char *name, void **dev)
{
	struct hwt_dev *d = NULL;
	int rc = hwt_dev_open(host, name, &d);

	*dev = d;
	return rc;
}

static int t_ioctl(void *arg, void *dev, unsigned long request, void *data)
{
	return hwt_dev_ioctl(dev, request, data);
}

static void t_close(void *arg, void *dev)
{
	hwt_dev_close(dev);
}

static int t_spawn(void *arg, int *pid)
{
	char *const argv[] = {(char *)"true", NULL};

	return spawn("/bin/true", argv, pid);
}

static int t_kill(void *arg, int pid)
{
	int status;

	kill(pid, SIGKILL);
	return hwt_target_wait(host, pid, 10000, &status) == 1 ? 0 : -ETIMEDOUT;
}

static size_t t_service(void *data, int buf_id, uint64_t tail)
{
	struct pt_svc_buf svc = {.buf_id = buf_id, .tail = tail};

	memcpy(data, &svc, sizeof(svc));
	return sizeof(svc);
}

static void every_request_in_every_state(void **state)
{
	static const struct pt_cpu_config good = {
		.rtit_ctl = RTIT_CTL_USER | RTIT_CTL_BRANCHEN | RTIT_CTL_TSCEN,
	}, lacks = {
		.rtit_ctl = RTIT_CTL_USER | RTIT_CTL_BRANCHEN | RTIT_CTL_PWREVTEN,
	};
	static const struct ioctl_host table = {
		.backend = "pt",
		.page = 4096,
		.open = t_open, .ioctl = t_ioctl, .close = t_close,
		.spawn = t_spawn, .kill = t_kill,
		.config = &good, .config_size = sizeof(good), .config_version = PT_CONFIG_VERSION,
		.refused = &lacks,
		.service = t_service,
		.service_version = PT_SVC_BUF_VERSION,
	};

	assert_int_equal(ioctl_table_run(&table), 0);
}

/* The client's system calls. */
static struct hwt_dev *fds[64];

int shim_open(const char *name)
{
	int fd = 0, rc;

	while (fds[fd])
		fd++;
	rc = hwt_dev_open(host, name, &fds[fd]);
	return shim_result(rc < 0 ? rc : fd);
}

int shim_ioctl(int fd, unsigned long request, void *arg)
{
	return shim_result(hwt_dev_ioctl(fds[fd], request, arg));
}

void *shim_mmap(size_t length, int fd)
{
	void *p;

	return shim_result(hwt_dev_mmap(fds[fd], length, 0, &p)) ? MAP_FAILED : p;
}

int shim_munmap(void *addr, size_t length)
{
	return munmap(addr, length);
}

int shim_close(int fd)
{
	hwt_dev_close(fds[fd]);
	fds[fd] = NULL;
	return 0;
}

static int go(void *arg)
{
	return hwt_target_run(host, *(pid_t *)arg);
}

static void the_client_of_freebsd(void **state)
{
	struct pt_cpu_config config = {
		.rtit_ctl = RTIT_CTL_USER | RTIT_CTL_BRANCHEN,
	};
	char *const argv[] = {(char *)"ls", (char *)"/", NULL};
	pid_t pid;
	struct freebsd_client c = {
		.backend = "pt",
		.bufsize = 16 << 20,
		.config = &config,
		.config_size = sizeof(config),
		.config_version = PT_CONFIG_VERSION,
		.go = go,
		.arg = &pid,
	};
	int status = -1;

	assert_int_equal(spawn("/bin/ls", argv, &pid), 0);
	c.pid = pid;
	if (freebsd_client_run(&c))
		fail_msg("%s: %s", c.failed, strerror(errno));
	assert_int_equal(hwt_target_wait(host, pid, 10000, &status), 1);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	/* ls, its interpreter, libc at least; all stopped at, all woken. */
	assert_true(c.mmaps >= 3);
	assert_int_equal(c.wakeups, c.mmaps + c.execs);
	assert_true(c.threads >= 1);
	assert_true(c.bytes > 1000);
}

#define NTHREADS	4
#define NMMAPS		10000

/* A context for the guest with the mappings, which pauses at each of them. */
static struct hwt_dev *mapper_start(int nmmaps, pid_t *pid)
{
	static const struct pt_cpu_config config = {
		.rtit_ctl = RTIT_CTL_USER | RTIT_CTL_BRANCHEN,
	};
	struct hwt_set_config2 set = {
		.pause = HWT_PAUSE_MMAP,
		.config = (uintptr_t)&config,
		.config_size = sizeof(config),
		.config_version = PT_CONFIG_VERSION,
	};
	char threads[16], mmaps[16], name[64];
	char *const argv[] = {(char *)"mmaps", threads, mmaps, NULL};
	int ident;
	struct hwt_alloc al = {
		.bufsize = 1 << 20,
		.mode = HWT_MODE_THREAD,
		.backend_name = "pt",
		.ident = &ident,
		.kqueue_fd = -1,
	};
	struct hwt_dev *root, *dev;

	snprintf(threads, sizeof(threads), "%d", NTHREADS);
	snprintf(mmaps, sizeof(mmaps), "%d", nmmaps);
	assert_int_equal(spawn(guest, argv, pid), 0);
	al.pid = *pid;
	assert_int_equal(hwt_dev_open(host, "/dev/hwt", &root), 0);
	assert_int_equal(hwt_dev_ioctl(root, HWT_IOC_ALLOC, &al), 0);
	hwt_dev_close(root);
	snprintf(name, sizeof(name), "/dev/hwt_%d_0", ident);
	assert_int_equal(hwt_dev_open(host, name, &dev), 0);
	assert_int_equal(hwt_dev_ioctl(dev, HWT_IOC_SET_CONFIG2, &set), 0);
	assert_int_equal(hwt_dev_ioctl(dev, HWT_IOC_START, &set), 0);
	assert_int_equal(hwt_target_run(host, *pid), 0);
	return dev;
}

static uint64_t records[8192];

/* The next records; false: there will be no more. */
static bool fetch(struct hwt_dev *dev, struct hwt_record_get2 *get)
{
	int rc;

	memset(get, 0, sizeof(*get));
	get->buf = (uintptr_t)records;
	get->size = sizeof(records);
	get->flags = HWT_GET_WAIT;
	do
		rc = hwt_dev_ioctl(dev, HWT_IOC_RECORD_GET2, get);
	while (rc == -EINTR);
	assert_true(rc == 0 || rc == -ESRCH);
	return rc == 0;
}

static const struct hwt_rec *rec_at(uint32_t at)
{
	return (const void *)((const char *)records + at);
}

/* E03: every pause is answered at once, and each ends exactly one wait. */
static void no_pause_is_lost(void **state)
{
	struct hwt_wakeup_tid wake = {0};
	struct hwt_record_get2 get;
	const struct hwt_rec *rec;
	int paused = 0, lost = 0, status;
	struct hwt_dev *dev;
	uint32_t at;
	pid_t pid;

	dev = mapper_start(NMMAPS, &pid);
	while (fetch(dev, &get)) {
		for (at = 0; at < get.used; at += rec->size) {
			rec = rec_at(at);
			lost += rec->type == HWT_REC_LOST;
			if (!(rec->flags & HWT_REC_PAUSED))
				continue;
			paused += rec->type == HWT_REC_MMAP && rec->tid != (uint32_t)pid;
			wake.tid = rec->tid;
			assert_int_equal(hwt_dev_ioctl(dev, HWT_IOC_WAKEUP_TID, &wake), 0);
		}
	}
	assert_int_equal(hwt_target_wait(host, pid, 10000, &status), 1);
	assert_int_equal(status, 0);
	assert_int_equal(lost, 0);
	assert_int_equal(paused, NTHREADS * NMMAPS);
	hwt_dev_close(dev);
}

/* Threads that wait now; the first one maps libraries meanwhile: it goes on. */
static int count_waiting(const struct hwt_record_get2 *get, struct hwt_dev *dev, pid_t pid)
{
	struct hwt_wakeup_tid wake = {0};
	const struct hwt_rec *rec;
	int waiting = 0;
	uint32_t at;

	for (at = 0; at < get->used; at += rec->size) {
		rec = rec_at(at);
		if (!(rec->flags & HWT_REC_PAUSED))
			continue;
		waiting += rec->tid != (uint32_t)pid;
		wake.tid = rec->tid;
		if (rec->tid == (uint32_t)pid)
			assert_int_equal(hwt_dev_ioctl(dev, HWT_IOC_WAKEUP_TID, &wake), 0);
	}
	return waiting;
}

/*
 * All threads wait at once, each at a mapping of its own: a client may take its
 * time with one and see the others.  The context ends: all run on to their end.
 */
static void the_owner_leaves_all_of_them_paused(void **state)
{
	struct hwt_record_get2 get;
	struct hwt_dev *dev;
	int status, waiting = 0;
	pid_t pid;

	dev = mapper_start(100, &pid);
	while (waiting < NTHREADS && fetch(dev, &get))
		waiting += count_waiting(&get, dev, pid);
	assert_int_equal(waiting, NTHREADS);
	assert_int_equal(hwt_target_wait(host, pid, 100, &status), 0);
	hwt_dev_close(dev);
	assert_int_equal(hwt_target_wait(host, pid, 20000, &status), 1);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_request_in_every_state),
		cmocka_unit_test(the_client_of_freebsd),
		cmocka_unit_test(no_pause_is_lost),
		cmocka_unit_test(the_owner_leaves_all_of_them_paused),
	};
	struct hwt_host_options options = {.kind = "embedded"};
	char *error = NULL;
	int rc;

	if (argc < 3)
		return 1;
	options.plugin = argv[1];
	guest = argv[2];
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	rc = hwt_host_open(&options, &host, &error);
	if (rc) {
		printf("skipped: %s\n", error ? error : strerror(-rc));
		return 77;
	}
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	hwt_host_close(host);
	return rc;
}
