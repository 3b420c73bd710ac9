// SPDX-License-Identifier: BSD-2-Clause
/*
 * Thread mode: every thread of a process has a buffer of its own, wherever it
 * runs and whenever it was born; records tell of threads' lives.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

#define NTHREADS 6

/* ---- targets ---- */

static void spin(int n)
{
	volatile int i;

	for (i = 0; i < n; i++)
		;
}

static void *short_life(void *arg)
{
	spin(20000);
	return arg;
}

/* Threads one after the other and some at once, then a status to be seen. */
static int target_threads(void *arg)
{
	pthread_t t[NTHREADS];
	int i;

	for (i = 0; i < NTHREADS; i++)
		if (pthread_create(&t[i], NULL, short_life, NULL))
			return 1;
	for (i = 0; i < NTHREADS; i++)
		pthread_join(t[i], NULL);
	return 7;
}

/* From one CPU to the other, for ever. */
static int target_migrate(void *arg)
{
	cpu_set_t set;
	int cpu;

	for (cpu = 0;; cpu = !cpu) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		spin(2000);
	}
	return 0;
}

static int target_spin(void *arg)
{
	for (;;)
		spin(1000);
	return 0;
}

static void *spin_for_ever(void *arg)
{
	for (;;)
		spin(1000);
	return arg;
}

/* Threads that were there before the tracer came. */
static int target_crowd(void *arg)
{
	pthread_t t;
	int i;

	for (i = 1; i < NTHREADS; i++)
		pthread_create(&t, NULL, spin_for_ever, NULL);
	spin_for_ever(NULL);
	return 0;
}

/* ---- records ---- */

struct seen {
	int	created, exited, ends, status;
	int	finals;			/* buffers that said that no more comes */
	uint32_t tids[64];		/* of threads that were created */
	uint64_t head[64], lost[64];	/* their buffers' last */
	uint32_t flags[64];
};

static int slot(struct seen *s, uint32_t tid)
{
	int i;

	for (i = 0; i < s->created; i++)
		if (s->tids[i] == tid)
			return i;
	return -1;
}

static void see(struct seen *s, const struct hwt_rec *r)
{
	const struct hwt_rec_thread *t = (const void *)(r + 1);
	const struct hwt_rec_buffer *b = (const void *)(r + 1);
	const struct hwt_rec_exit *e = (const void *)(r + 1);
	int i;

	switch (r->type) {
	case HWT_REC_THREAD_CREATE:
		if (s->created < 64)
			s->tids[s->created++] = t->tid;
		break;
	case HWT_REC_THREAD_EXIT:
		s->exited++;
		break;
	case HWT_REC_EXIT:
		s->ends++;
		s->status = e->status;
		break;
	case HWT_REC_BUFFER:
		i = slot(s, b->buf_id);
		if (i < 0)
			break;
		s->head[i] = b->head;
		s->lost[i] = b->lost;
		s->flags[i] |= b->flags;
		s->finals += !!(b->flags & HWT_BUF_FINAL);
		break;
	}
}

/* Until the target's end, or what is there: 0 or -errno. */
static int fetch(struct client *c, struct seen *s, uint32_t flags)
{
	static uint64_t buf[8192];
	struct hwt_record_get2 get;
	uint32_t at;

	do {
		get = (struct hwt_record_get2){
			.buf = (uintptr_t)buf, .size = sizeof(buf), .flags = flags,
		};
		if (ioctl(c->node, HWT_IOC_RECORD_GET2, &get))
			return errno == ESRCH ? 0 : -errno;
		for (at = 0; at < get.used; at += ((struct hwt_rec *)((char *)buf + at))->size)
			see(s, (struct hwt_rec *)((char *)buf + at));
	} while (flags || get.used);
	return 0;
}

static void begins_with_sync(struct client *c, int tid, uint64_t at)
{
	int fd = client_node(c, tid);
	unsigned char *p;

	CHECK(fd >= 0);
	/* Its page and the next, into which it may reach. */
	p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, (off_t)(at / PAGE * PAGE));
	CHECK(p != MAP_FAILED);
	CHECK(technology.is_sync(p + at % PAGE));
	munmap(p, 2 * PAGE);
	close(fd);
}

/* ---- cases ---- */

static void lives(void)
{
	pid_t pid = child_start(NULL, target_threads, NULL);
	struct seen s = {0};
	struct client c;
	int i;

	client_trace(&c, pid, 16 * PAGE, 0);
	child_let_go(pid);
	CHECK_EQ(fetch(&c, &s, HWT_GET_WAIT), 0);
	CHECK_EQ(s.created, NTHREADS + 1);
	CHECK_EQ(s.exited, NTHREADS + 1);
	/* A buffer's last bytes: where it is shared, of the last of its threads. */
	CHECK(technology.shared ? s.finals >= 1 : s.finals == NTHREADS + 1);
	CHECK_EQ(s.ends, 1);
	CHECK_EQ(s.status, 7 << 8);
	for (i = 0; i < s.created; i++) {
		CHECK(s.head[technology.shared ? 0 : i] > 100);
		CHECK_EQ(s.lost[i], 0);
		begins_with_sync(&c, s.tids[i], 0);
	}
	child_wait(pid);
	client_close(&c);
}

/* The exit record of one that a signal ended. */
static void killed(void)
{
	pid_t pid = child_start(NULL, target_crowd, NULL);
	struct seen s = {0};
	struct client c;

	client_trace(&c, pid, 16 * PAGE, 0);
	child_let_go(pid);
	usleep(20000);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(fetch(&c, &s, HWT_GET_WAIT), 0);
	CHECK_EQ(s.ends, 1);
	CHECK_EQ(s.status, SIGKILL);
	CHECK_EQ(s.exited, s.created);
	child_wait(pid);
	client_close(&c);
}

/* START takes hold of threads that run, and of all there are. */
static void attached(void)
{
	pid_t pid = child_start(NULL, target_crowd, NULL);
	struct seen s = {0};
	struct client c;
	int i;

	child_let_go(pid);
	usleep(100000);
	client_trace(&c, pid, 1024 * PAGE, 0);	/* so that it does not go round */
	CHECK_EQ(fetch(&c, &s, 0), 0);
	CHECK_EQ(s.created, NTHREADS);
	usleep(200000);
	CHECK_EQ(client_stop(&c), 0);
	for (i = 0; i < s.created; i++) {
		CHECK(client_position(&c, s.tids[i]) > 100);
		begins_with_sync(&c, s.tids[i], 0);
	}
	client_close(&c);
	child_end(pid);
}

/* One stream, however often its thread changes the CPU; STOP and START go on. */
static void migrates(void)
{
	pid_t pid = child_start(NULL, target_migrate, NULL);
	struct client c;
	uint64_t first, second;

	client_trace(&c, pid, 1024 * PAGE, 0);
	child_let_go(pid);
	usleep(100000);
	CHECK_EQ(client_stop(&c), 0);
	first = client_position(&c, pid);
	CHECK(first > 100);
	usleep(20000);
	CHECK_EQ(client_position(&c, pid), first);
	CHECK_EQ(client_start(&c), 0);
	usleep(100000);
	CHECK_EQ(client_stop(&c), 0);
	second = client_position(&c, pid);
	CHECK(second > first);
	begins_with_sync(&c, pid, 0);
	begins_with_sync(&c, pid, first);
	client_close(&c);
	child_end(pid);
}

static void until_beyond(struct client *c, int tid, uint64_t position)
{
	int i;

	for (i = 0; i < 60000 && client_position(c, tid) <= position; i++)
		usleep(1000);
	CHECK(client_position(c, tid) > position);
}

/* The CPU under a thread goes away and comes back: its stream goes on, in one piece. */
static void hotplug(void)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	pid_t pid = child_start(NULL, target_migrate, NULL);
	struct seen s = {0};
	struct client c;
	int i;

	client_trace(&c, pid, 4096 * PAGE, 0);
	child_let_go(pid);
	until_beyond(&c, pid, 0);
	for (i = 0; i < 4; i++) {
		write_file(online, i % 2 ? "1" : "0");
		until_beyond(&c, pid, client_position(&c, pid) + 1000);
	}
	CHECK_EQ(client_stop(&c), 0);
	CHECK_EQ(fetch(&c, &s, 0), 0);
	CHECK_EQ(s.created, 1);
	CHECK_EQ(s.lost[0], 0);
	begins_with_sync(&c, pid, 0);
	client_close(&c);
	child_end(pid);
}

/* Nobody reads: a ring goes round and says so. */
static void ring(void)
{
	pid_t pid = child_start(NULL, target_spin, NULL);
	struct seen s = {0};
	struct client c;

	client_trace(&c, pid, 2 * PAGE, 0);
	child_let_go(pid);
	while (client_position(&c, pid) < 8 * PAGE)
		usleep(1000);
	CHECK_EQ(client_stop(&c), 0);
	CHECK_EQ(fetch(&c, &s, 0), 0);
	CHECK_EQ(s.created, 1);
	CHECK_EQ(s.flags[0] & HWT_BUF_WRAPPED, HWT_BUF_WRAPPED);
	CHECK(s.lost[0] >= 6 * PAGE);
	client_close(&c);
	child_end(pid);
}

static int service(struct client *c, uint64_t tail)
{
	uint64_t svc[8];
	struct hwt_svc_buf s = {
		svc, technology.service(svc, c->pid, tail), technology.service_version,
	};

	return ERRNO(ioctl(c->node, HWT_IOC_SVC_BUF, &s));
}

/* What was not read is not overwritten: the unit stops, and goes on with room. */
static void full(void)
{
	pid_t pid = child_start(NULL, target_spin, NULL);
	struct seen s = {0};
	struct client c;
	uint64_t at;

	CHECK_EQ(client_alloc(&c, pid, 16 * PAGE), 0);
	CHECK_EQ(client_config(&c, 0, 0, 0), 0);
	CHECK_EQ(service(&c, 0), 0);
	CHECK_EQ(client_start(&c), 0);
	child_let_go(pid);
	while (!(s.flags[0] & HWT_BUF_FULL)) {
		usleep(1000);
		CHECK_EQ(fetch(&c, &s, 0), 0);
	}
	at = client_position(&c, pid);
	CHECK(at <= 16 * PAGE);
	begins_with_sync(&c, pid, 0);
	usleep(20000);
	CHECK_EQ(client_position(&c, pid), at);
	CHECK_EQ(service(&c, at), 0);
	while (client_position(&c, pid) == at)
		usleep(1000);
	CHECK_EQ(fetch(&c, &s, 0), 0);
	CHECK(s.lost[0] > 0);
	CHECK_EQ(s.flags[0] & HWT_BUF_WRAPPED, 0);
	client_close(&c);
	child_end(pid);
}

static const struct test_case cases[] = {
	{"threads' lives", lives},
	{"killed", killed},
	{"attached", attached},
	{"migration, stop and start", migrates},
	{"a CPU goes and comes", hotplug},
	{"ring", ring},
	{"full", full},
};

int main(int argc, char **argv)
{
	return cases_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
