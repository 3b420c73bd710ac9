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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"
#include "device.h"

#define PAGE	4096u
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
static int target_threads(void)
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
static int target_migrate(void)
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

static int target_spin(void)
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
static int target_crowd(void)
{
	pthread_t t;
	int i;

	for (i = 1; i < NTHREADS; i++)
		pthread_create(&t, NULL, spin_for_ever, NULL);
	spin_for_ever(NULL);
	return 0;
}


/* A child that waits for SIGUSR1 and then runs the target. */
static pid_t target_start(int (*run)(void))
{
	sigset_t set;
	pid_t pid;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigwait(&set, &sig);
		exit(run());
	}
	return pid;
}

static void target_go(pid_t pid)
{
	kill(pid, SIGUSR1);
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
static int fetch(struct device *d, struct seen *s, uint32_t flags)
{
	static uint64_t buf[8192];
	struct hwt_record_get2 get;
	uint32_t at;

	do {
		get = (struct hwt_record_get2){
			.buf = (uintptr_t)buf, .size = sizeof(buf), .flags = flags,
		};
		if (ioctl(d->node, HWT_IOC_RECORD_GET2, &get))
			return errno == ESRCH ? 0 : -errno;
		for (at = 0; at < get.used; at += ((struct hwt_rec *)((char *)buf + at))->size)
			see(s, (struct hwt_rec *)((char *)buf + at));
	} while (flags || get.used);
	return 0;
}

/* A stream begins with a sync point (SDM 33.4.2.17). */
static int begins_with_psb(struct device *d, int tid, uint64_t at)
{
	static const unsigned char psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					      2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	char name[64];
	unsigned char *p;
	int fd;

	device_name(d, tid, name, sizeof(name));
	fd = open(name, O_RDWR);
	WANT(fd >= 0, 1);
	/* Its page and the next, into which it may reach. */
	p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, (off_t)(at / PAGE * PAGE));
	WANT(p == MAP_FAILED, 0);
	WANT(memcmp(p + at % PAGE, psb, sizeof(psb)), 0);
	munmap(p, 2 * PAGE);
	close(fd);
	return 0;
}

static uint64_t position(struct device *d, int tid)
{
	struct hwt_bufptr_get get = {0};
	uint64_t data = 0;
	char name[64];
	int fd;

	device_name(d, tid, name, sizeof(name));
	fd = open(name, O_RDWR);
	get.data = &data;
	if (ioctl(fd, HWT_IOC_BUFPTR_GET, &get))
		data = 0;
	close(fd);
	return data;
}

static int begin(struct device *d, pid_t pid, size_t size)
{
	WANT(-device_alloc(d, pid, size), 0);
	WANT(-device_configure(d), 0);
	WANT(-device_start(d), 0);
	return 0;
}

/* ---- cases ---- */

static int lives(void)
{
	pid_t pid = target_start(target_threads);
	struct seen s = {0};
	struct device d;
	int i;

	if (begin(&d, pid, 16 * PAGE))
		return 1;
	target_go(pid);
	WANT(-fetch(&d, &s, HWT_GET_WAIT), 0);
	WANT(s.created, NTHREADS + 1);
	WANT(s.exited, NTHREADS + 1);
	WANT(s.finals, NTHREADS + 1);
	WANT(s.ends, 1);
	WANT(s.status, 7 << 8);
	for (i = 0; i < s.created; i++) {
		WANT(s.head[i] > 100, 1);
		WANT(s.lost[i], 0);
		if (begins_with_psb(&d, s.tids[i], 0))
			return 1;
	}
	waitpid(pid, NULL, 0);
	device_close(&d);
	return 0;
}

/* The exit record of one that a signal ended. */
static int killed(void)
{
	pid_t pid = target_start(target_crowd);
	struct seen s = {0};
	struct device d;

	if (begin(&d, pid, 16 * PAGE))
		return 1;
	target_go(pid);
	usleep(20000);
	kill(pid, SIGKILL);
	WANT(-fetch(&d, &s, HWT_GET_WAIT), 0);
	WANT(s.ends, 1);
	WANT(s.status, SIGKILL);
	WANT(s.exited, s.created);
	waitpid(pid, NULL, 0);
	device_close(&d);
	return 0;
}

/* START takes hold of threads that run, and of all there are. */
static int attached(void)
{
	pid_t pid = target_start(target_crowd);
	struct seen s = {0};
	struct device d;
	char name[64];
	int i;

	target_go(pid);
	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	usleep(100000);
	if (begin(&d, pid, 1024 * PAGE))	/* so that it does not go round */
		return 1;
	WANT(-fetch(&d, &s, 0), 0);
	WANT(s.created, NTHREADS);
	usleep(200000);
	WANT(-device_stop(&d), 0);
	for (i = 0; i < s.created; i++) {
		WANT(position(&d, s.tids[i]) > 100, 1);
		if (begins_with_psb(&d, s.tids[i], 0))
			return 1;
	}
	device_close(&d);
	child_end(pid);
	return 0;
}

/* One stream, however often its thread changes the CPU; STOP and START go on. */
static int migrates(void)
{
	pid_t pid = target_start(target_migrate);
	struct device d;
	uint64_t first, second;

	if (begin(&d, pid, 1024 * PAGE))
		return 1;
	target_go(pid);
	usleep(100000);
	WANT(-device_stop(&d), 0);
	first = position(&d, pid);
	WANT(first > 100, 1);
	usleep(20000);
	WANT(position(&d, pid), first);
	WANT(-device_start(&d), 0);
	usleep(100000);
	WANT(-device_stop(&d), 0);
	second = position(&d, pid);
	WANT(second > first, 1);
	if (begins_with_psb(&d, pid, 0) || begins_with_psb(&d, pid, first))
		return 1;
	device_close(&d);
	child_end(pid);
	return 0;
}

/* Nobody reads: a ring goes round and says so. */
static int ring(void)
{
	pid_t pid = target_start(target_spin);
	struct seen s = {0};
	struct device d;

	if (begin(&d, pid, 2 * PAGE))
		return 1;
	target_go(pid);
	while (position(&d, pid) < 8 * PAGE)
		usleep(1000);
	WANT(-device_stop(&d), 0);
	WANT(-fetch(&d, &s, 0), 0);
	WANT(s.created, 1);
	WANT(s.flags[0] & HWT_BUF_WRAPPED, HWT_BUF_WRAPPED);
	WANT(s.lost[0] >= 6 * PAGE, 1);
	device_close(&d);
	child_end(pid);
	return 0;
}

static int service(struct device *d, uint64_t tail)
{
	struct pt_svc_buf svc = {.buf_id = d->pid, .tail = tail};
	struct hwt_svc_buf s = {&svc, sizeof(svc), PT_SVC_BUF_VERSION};

	return ERRNO(ioctl(d->node, HWT_IOC_SVC_BUF, &s));
}

/* What was not read is not overwritten: the unit stops, and goes on with room. */
static int full(void)
{
	pid_t pid = target_start(target_spin);
	struct seen s = {0};
	struct device d;
	uint64_t at;

	WANT(-device_alloc(&d, pid, 16 * PAGE), 0);
	WANT(-device_configure(&d), 0);
	WANT(service(&d, 0), 0);
	WANT(-device_start(&d), 0);
	target_go(pid);
	while (!(s.flags[0] & HWT_BUF_FULL)) {
		usleep(1000);
		WANT(-fetch(&d, &s, 0), 0);
	}
	at = position(&d, pid);
	WANT(at <= 16 * PAGE, 1);
	WANT(begins_with_psb(&d, pid, 0), 0);
	usleep(20000);
	WANT(position(&d, pid), at);
	WANT(service(&d, at), 0);
	while (position(&d, pid) == at)
		usleep(1000);
	WANT(-fetch(&d, &s, 0), 0);
	WANT(s.lost[0] > 0, 1);
	WANT(s.flags[0] & HWT_BUF_WRAPPED, 0);
	device_close(&d);
	child_end(pid);
	return 0;
}

static const struct kernel_case cases[] = {
	{"threads' lives", lives},
	{"killed", killed},
	{"attached", attached},
	{"migration, stop and start", migrates},
	{"ring", ring},
	{"full", full},
};

int main(int argc, char **argv)
{
	return cases_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
