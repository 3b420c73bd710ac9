// SPDX-License-Identifier: BSD-2-Clause
/*
 * The modules' lives: loaded and unloaded under load, held while in use, and
 * whole again after each allocation of theirs that fails.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define LOOPS	5
#define ROUNDS	100	/* of the scenario whose leaks are looked for */
#define FAILURES 20	/* of each allocation, the same */

static int load(const char *name)
{
	char path[64];
	int fd, rc;

	snprintf(path, sizeof(path), "/lib/modules/%s.ko", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	rc = ERRNO(syscall(SYS_finit_module, fd, "", 0));
	close(fd);
	return rc;
}

static int unload(const char *name)
{
	return ERRNO(syscall(SYS_delete_module, name, O_NONBLOCK));
}

/* What ended a moment ago may still be on its way out of the kernel. */
static int unload_soon(const char *name)
{
	int rc;

	while ((rc = unload(name)) == EWOULDBLOCK)
		usleep(1000);
	return rc;
}

static int load_both(void)
{
	int rc = load("hwt");

	return rc ? rc : load("hwt_vtu");
}

static int unload_both(void)
{
	int rc = unload_soon("hwt_vtu");

	return rc ? rc : unload_soon("hwt");
}

static long parameter(const char *name)
{
	char path[80], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/module/hwt/parameters/%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return atol(text);
}

/* ---- load ---- */

static void *nothing(void *arg)
{
	return arg;
}

/* Processes, threads, names, mappings: all that is hooked, from now on. */
static int busy_main(void *arg)
{
	static char *const argv[] = {(char *)"true", NULL};
	pthread_t t;
	pid_t pid;
	void *p;

	for (;;) {
		p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
		if (!pthread_create(&t, NULL, nothing, NULL))
			pthread_join(t, NULL);
		pid = fork();
		if (!pid) {
			execv("/bin/true", argv);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
		munmap(p, PAGE);
	}
	return 0;
}

static pid_t busy_start(void)
{
	pid_t pid = child_start(NULL, busy_main, NULL);

	child_let_go(pid);
	return pid;
}

/* One use of everything; ENOMEM may come from anywhere in it. */
static int use(pid_t pid, uint32_t pause)
{
	struct client c;
	int rc = -client_alloc(&c, pid, 8 * PAGE);

	if (rc)
		return rc;
	rc = -client_config(&c, pause, 0, 0);
	if (!rc)
		rc = -client_start(&c);
	if (!rc) {
		usleep(2000);
		rc = -client_stop(&c);
	}
	client_close(&c);
	return rc;
}

static int scenario(pid_t pid)
{
	return use(pid, 0);
}

/* Who is paused goes on when the context is closed. */
static int scenario_paused(pid_t pid)
{
	return use(pid, HWT_PAUSE_EXEC | HWT_PAUSE_MMAP | HWT_PAUSE_FORK);
}

/* The same on all CPUs, where no process is hooked. */
static int scenario_cpus(void)
{
	struct client c;
	int rc = -client_alloc_cpus(&c, 3, 8 * PAGE);

	if (rc)
		return rc;
	rc = -client_config(&c, 0, 0, 0);
	if (!rc)
		rc = -client_start(&c);
	if (!rc)
		rc = -client_stop(&c);
	client_close(&c);
	return rc;
}

static void loops(void)
{
	pid_t busy[2] = {busy_start(), busy_start()};
	int i;

	for (i = 0; i < LOOPS; i++) {
		CHECK_EQ(load_both(), 0);
		CHECK_EQ(scenario(busy[i % 2]), 0);
		CHECK_EQ(unload_both(), 0);
		CHECK_EQ(ERRNO(access("/dev/hwt", F_OK)), ENOENT);
	}
	child_end(busy[0]);
	child_end(busy[1]);
}

/* ---- in use ---- */

static void in_use(void)
{
	pid_t pid = child_sleeping(NULL);
	struct client c;
	int fd;

	CHECK_EQ(load_both(), 0);
	CHECK_EQ(client_alloc(&c, pid, PAGE), 0);
	CHECK_EQ(unload("hwt_vtu"), EWOULDBLOCK);
	CHECK_EQ(unload("hwt"), EWOULDBLOCK);
	client_close(&c);
	CHECK_EQ(unload_soon("hwt_vtu"), 0);
	fd = open("/dev/hwt", O_RDWR);
	CHECK_EQ(unload("hwt"), EWOULDBLOCK);
	close(fd);
	CHECK_EQ(unload_soon("hwt"), 0);
	child_end(pid);
}

/* An owner that opened no node of its context holds the modules by living. */
static void in_use_unopened(void)
{
	pid_t pid = child_sleeping(NULL), owner;
	struct client c;
	int status;

	CHECK_EQ(load_both(), 0);
	owner = fork();
	if (!owner) {
		int ident, fd = open("/dev/hwt", O_RDWR);
		struct hwt_alloc al = {
			.bufsize = PAGE, .mode = HWT_MODE_THREAD, .pid = pid,
			.backend_name = technology.backend, .ident = &ident, .kqueue_fd = -1,
		};
		int rc = ERRNO(ioctl(fd, HWT_IOC_ALLOC, &al));

		close(fd);
		kill(getpid(), SIGSTOP);
		_exit(rc);
	}
	waitpid(owner, &status, WUNTRACED);
	CHECK_EQ(unload("hwt_vtu"), EWOULDBLOCK);
	kill(owner, SIGCONT);
	waitpid(owner, &status, 0);
	CHECK_EQ(status, 0);
	CHECK_EQ(unload_both(), 0);
	CHECK_EQ(client_alloc(&c, pid, PAGE), -ENOENT);
	child_end(pid);
}

/* Hooks are there for thread mode only. */
static void armed(void)
{
	pid_t pid = child_sleeping(NULL);
	struct client c;

	CHECK_EQ(load_both(), 0);
	CHECK_EQ(client_alloc_cpus(&c, 3, PAGE), 0);
	CHECK_EQ(client_config(&c, 0, 0, 0), 0);
	CHECK_EQ(client_start(&c), 0);
	CHECK_EQ(parameter("hooks"), 0);
	client_close(&c);
	CHECK_EQ(client_alloc(&c, pid, PAGE), 0);
	CHECK_EQ(parameter("hooks"), 1);
	client_close(&c);
	CHECK_EQ(parameter("hooks"), 0);
	child_end(pid);
	CHECK_EQ(unload_both(), 0);
}

/* ---- memory ---- */

static void fail_nth(int n)
{
	int fd = open("/sys/module/hwt/parameters/fail_nth", O_WRONLY);

	dprintf(fd, "%d\n", n);
	close(fd);
}

/* Blocks go when the last user has gone, which a close need not wait for. */
static long settled_live(void)
{
	long live = parameter("live"), now;
	int still = 0;

	while (still < 50) {
		usleep(1000);
		now = parameter("live");
		still = now == live ? still + 1 : 0;
		live = now;
	}
	return live;
}

/*
 * Until no more blocks are in use than `live`; returns how many are.  Fewer: one was
 * on its way out for longer than was waited when they were counted.
 */
static long until_live(long live)
{
	int tries;
	long now;

	for (tries = 0; (now = parameter("live")) > live && tries < 5000; tries++)
		usleep(1000);
	if (now > live)
		printf("%ld blocks were in use before\n", live);
	CHECK_EQ(now > live ? now : live, live);
	return now;
}

static int threads_main(void *arg)
{
	pthread_t t;

	for (;;)
		if (!pthread_create(&t, NULL, nothing, NULL))
			pthread_join(t, NULL);
	return 0;
}

static pid_t threads_start(void)
{
	pid_t pid = child_start(NULL, threads_main, NULL);

	child_let_go(pid);
	return pid;
}

/*
 * A cache of the kernel's, and its objects in use at three times.  Those are counted
 * exactly where the kernel was started with slub_debug: otherwise a page of free ones
 * that a CPU has at hand counts as used.
 */
struct cache {
	char	name[64];
	long	active[3];
};
static struct cache caches[512];

/* True: it has become much smaller since it was noted before. */
static bool note(const char *name, long active, int when)
{
	long before;
	size_t i;

	for (i = 0; i < 511 && caches[i].name[0]; i++)
		if (!strcmp(caches[i].name, name))
			break;
	strcpy(caches[i].name, name);
	before = caches[i].active[when];
	caches[i].active[when] = active;
	return before - active >= FAILURES;
}

/*
 * Areas of vmalloc's that are in use.  Their cache holds as well what was freed and
 * waits for a flush of the TLBs, which is thousands before the kernel does one.
 */
static bool areas(int when)
{
	FILE *f = fopen("/proc/vmallocinfo", "r");
	char line[512];
	long n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += !strstr(line, "unpurged");
	if (f)
		fclose(f);
	return note("vmalloc areas", n, when);
}

/* True: some are much fewer than they were at the time before of the same `when`. */
static bool slabs(int when)
{
	FILE *f = fopen("/proc/slabinfo", "r");
	char line[512], name[64];
	bool fewer = false;
	long active;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %ld %*d", name, &active) == 2 &&
		    strcmp(name, "vmap_area"))
			fewer |= note(name, active, when);
	if (f)
		fclose(f);
	return areas(when) || fewer;
}

/*
 * What the kernel frees late is free when nothing more gets smaller.  kfree_rcu collects
 * for seconds, unless memory is asked back; behind that there is a grace period.
 */
static void settled_slabs(int when)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	int tries, still = 0;

	for (tries = 0; tries < 200 && still < 5; tries++) {
		CHECK_EQ(write(fd, "2", 1), 1);
		CHECK_EQ(ERRNO(syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0)), 0);
		still = slabs(when) ? 0 : still + 1;
	}
	printf("settled after %d looks\n", tries);
	close(fd);
}

/*
 * A leak of one object a round shows in its cache both times; what the kernel
 * keeps in hand, or frees late, does not.
 */
static void grown(long rounds)
{
	const struct cache *c;
	int n = 0;

	for (c = caches; c->name[0]; c++) {
		n += c->active[0] > 0;
		if (c->active[1] - c->active[0] < rounds ||
		    c->active[2] - c->active[1] < rounds)
			continue;
		fail(__FILE__, __LINE__, c->name, c->active[2] - c->active[0]);
	}
	CHECK(n > 50);
}

/* False: it has no n-th allocation. */
static bool fails(int (*run)(pid_t pid), pid_t pid, int n, long *live)
{
	int rc;

	fail_nth(n);
	rc = run(pid);
	if (parameter("fail_nth") > 0) {
		fail_nth(0);
		return false;
	}
	if (rc && rc != ENOMEM)
		fail(__FILE__, __LINE__, "another error", rc);
	*live = until_live(*live);
	return true;
}

static void fail_each_of(int (*run)(pid_t pid), pid_t pid, int times)
{
	long live;
	int n, i;

	CHECK_EQ(run(pid), 0);	/* this process is known as an owner from now on */
	live = settled_live();
	for (n = 1; fails(run, pid, n, &live); n++)
		for (i = 1; i < times; i++)
			fails(run, pid, n, &live);
	CHECK(n > 5);
	printf("%d allocations\n", n - 1);
}

/* Again and again: a leak of the kernel's own objects shows in their number. */
static void fail_many_times(int (*run)(pid_t pid), pid_t pid)
{
	int when;

	for (when = 0; when < 3; when++) {
		fail_each_of(run, pid, FAILURES);
		settled_slabs(when);
	}
	grown(FAILURES);
}

static int run_cpus(pid_t pid)
{
	return scenario_cpus();
}

static void fail_each(void)
{
	pid_t pid = threads_start(), busy = busy_start(), other = child_sleeping(NULL);
	struct client c;

	CHECK_EQ(load_both(), 0);
	fail_each_of(scenario, pid, 1);
	/* Keeps hooks in place: arming them each time is what takes long. */
	CHECK_EQ(client_alloc(&c, other, PAGE), 0);
	fail_many_times(scenario, pid);
	fail_each_of(scenario_paused, busy, 1);
	client_close(&c);
	fail_each_of(run_cpus, 0, 1);
	child_end(pid);
	child_end(busy);
	child_end(other);
	CHECK_EQ(unload_both(), 0);
}

static void leaks(void)
{
	pid_t pid = threads_start(), other = child_sleeping(NULL);
	struct client c;
	int i, when;

	CHECK_EQ(load_both(), 0);
	/* Keeps hooks in place: arming them each time is what takes long. */
	CHECK_EQ(client_alloc(&c, other, PAGE), 0);
	for (when = 0; when < 3; when++) {
		for (i = 0; i < ROUNDS; i++)
			CHECK_EQ(scenario(pid), 0);
		settled_slabs(when);
	}
	client_close(&c);
	child_end(pid);
	child_end(other);
	grown(ROUNDS);
	for (i = 0; i < 3; i++)
		CHECK_EQ(scenario_cpus(), 0);
	CHECK_EQ(unload_both(), 0);
}

static const struct test_case cases[] = {
	{"in use", in_use},
	{"in use, no node open", in_use_unopened},
	{"hooks", armed},
	{"each allocation fails", fail_each},
	{"slabs", leaks},
	{"loading and unloading under load", loops},
};

/* Modules that were built with HWT_HOOKS=n. */
static void without_hooks(void)
{
	struct hwt_query query = {0};
	pid_t pid = child_sleeping(NULL);
	struct client c;

	CHECK_EQ(load_both(), 0);
	CHECK_EQ(client_alloc(&c, pid, PAGE), -EOPNOTSUPP);
	CHECK_EQ(scenario_cpus(), 0);
	c.dev = open("/dev/hwt", O_RDWR);
	CHECK_EQ(ioctl(c.dev, HWT_IOC_QUERY, &query), 0);
	CHECK_EQ(query.modes, 1u << HWT_MODE_CPU);
	close(c.dev);
	child_end(pid);
	CHECK_EQ(unload_both(), 0);
}

static const struct test_case hookless_cases[] = {
	{"without hooks", without_hooks},
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "without hooks"))
		return cases_run(hookless_cases, 1, argc, argv);
	return cases_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
