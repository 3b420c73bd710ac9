// SPDX-License-Identifier: BSD-2-Clause
/*
 * The modules' lives: loaded and unloaded under load, held while in use, and
 * whole again after each allocation of theirs that fails.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"
#include "device.h"

#define PAGE	4096u
#define LOOPS	5
#define ROUNDS	100	/* of the scenario whose leaks are looked for */

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
static void busy_main(void)
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
}

static pid_t busy_start(void)
{
	pid_t pid = fork();

	if (!pid)
		busy_main();
	return pid;
}

/* One use of everything; ENOMEM may come from anywhere in it. */
static int scenario(pid_t pid)
{
	struct device d;
	int rc = -device_alloc(&d, pid, 8 * PAGE);

	if (rc)
		return rc;
	rc = -device_configure(&d);
	if (!rc)
		rc = -device_start(&d);
	if (!rc) {
		usleep(2000);
		rc = -device_stop(&d);
	}
	device_close(&d);
	return rc;
}

/* The same on all CPUs, where no process is hooked. */
static int scenario_cpus(void)
{
	struct device d;
	int rc = -device_alloc_cpus(&d, 8 * PAGE);

	if (rc)
		return rc;
	rc = -device_configure_kernel(&d);
	if (!rc)
		rc = -device_start(&d);
	if (!rc)
		rc = -device_stop(&d);
	device_close(&d);
	return rc;
}

static int loops(void)
{
	pid_t busy[2] = {busy_start(), busy_start()};
	int i;

	for (i = 0; i < LOOPS; i++) {
		WANT(load_both(), 0);
		WANT(scenario(busy[i % 2]), 0);
		WANT(unload_both(), 0);
		WANT(ERRNO(access("/dev/hwt", F_OK)), ENOENT);
	}
	kill(busy[0], SIGKILL);
	kill(busy[1], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* ---- in use ---- */

static int in_use(void)
{
	static const struct child sleeping = {-1, -1, -1, 1, 0};
	pid_t pid = child_start(&sleeping);
	struct device d;
	int fd;

	WANT(load_both(), 0);
	WANT(-device_alloc(&d, pid, PAGE), 0);
	WANT(unload("hwt_vtu"), EWOULDBLOCK);
	WANT(unload("hwt"), EWOULDBLOCK);
	device_close(&d);
	WANT(unload_soon("hwt_vtu"), 0);
	fd = open("/dev/hwt", O_RDWR);
	WANT(unload("hwt"), EWOULDBLOCK);
	close(fd);
	WANT(unload_soon("hwt"), 0);
	child_end(pid);
	return 0;
}

/* An owner that opened no node of its context holds the modules by living. */
static int in_use_unopened(void)
{
	static const struct child sleeping = {-1, -1, -1, 1, 0};
	pid_t pid = child_start(&sleeping), owner;
	struct device d;
	int status;

	WANT(load_both(), 0);
	owner = fork();
	if (!owner) {
		int ident, fd = open("/dev/hwt", O_RDWR);
		struct hwt_alloc al = {
			.bufsize = PAGE, .mode = HWT_MODE_THREAD, .pid = pid,
			.backend_name = "pt", .ident = &ident, .kqueue_fd = -1,
		};
		int rc = ERRNO(ioctl(fd, HWT_IOC_ALLOC, &al));

		close(fd);
		kill(getpid(), SIGSTOP);
		_exit(rc);
	}
	waitpid(owner, &status, WUNTRACED);
	WANT(unload("hwt_vtu"), EWOULDBLOCK);
	kill(owner, SIGCONT);
	waitpid(owner, &status, 0);
	WANT(status, 0);
	WANT(unload_both(), 0);
	WANT(-device_alloc(&d, pid, PAGE), ENOENT);
	child_end(pid);
	return 0;
}

/* Hooks are there for thread mode only. */
static int armed(void)
{
	static const struct child sleeping = {-1, -1, -1, 1, 0};
	pid_t pid = child_start(&sleeping);
	struct device d;

	WANT(load_both(), 0);
	WANT(-device_alloc_cpus(&d, PAGE), 0);
	WANT(-device_configure_kernel(&d) || -device_start(&d), 0);
	WANT(parameter("hooks"), 0);
	device_close(&d);
	WANT(-device_alloc(&d, pid, PAGE), 0);
	WANT(parameter("hooks"), 1);
	device_close(&d);
	WANT(parameter("hooks"), 0);
	child_end(pid);
	return unload_both();
}

/* ---- memory ---- */

static void fail_nth(int n)
{
	int fd = open("/sys/module/hwt/parameters/fail_nth", O_WRONLY);

	dprintf(fd, "%d\n", n);
	close(fd);
}

/* Blocks go when the last user has gone, which a close need not wait for. */
static int until_live(long want)
{
	int tries;

	for (tries = 0; parameter("live") != want && tries < 5000; tries++)
		usleep(1000);
	WANT(parameter("live"), want);
	return 0;
}

static int threads_main(void)
{
	pthread_t t;

	for (;;)
		if (!pthread_create(&t, NULL, nothing, NULL))
			pthread_join(t, NULL);
	return 0;
}

static pid_t threads_start(void)
{
	pid_t pid = fork();

	if (!pid)
		threads_main();
	return pid;
}

static int fail_each_of(int (*run)(pid_t pid), pid_t pid)
{
	long before;
	int n, rc;

	WANT(run(pid), 0);	/* this process is known as an owner from now on */
	before = parameter("live");
	for (n = 1;; n++) {
		fail_nth(n);
		rc = run(pid);
		if (parameter("fail_nth") > 0)
			break;	/* it has no n-th allocation */
		if (rc && rc != ENOMEM) {
			printf("allocation %d: ", n);
			WANT(rc, ENOMEM);
		}
		if (until_live(before))
			return 1;
	}
	fail_nth(0);
	WANT(n > 5, 1);
	printf("%d allocations\n", n - 1);
	return 0;
}

static int run_cpus(pid_t pid)
{
	return scenario_cpus();
}

static int fail_each(void)
{
	pid_t pid = threads_start();

	WANT(load_both(), 0);
	WANT(fail_each_of(scenario, pid), 0);
	WANT(fail_each_of(run_cpus, 0), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return unload_both();
}

/* A cache of the kernel's, and its objects in use at three times. */
struct cache {
	char	name[64];
	long	active[3];
};
static struct cache caches[512];

static void note(const char *name, long active, int when)
{
	size_t i;

	for (i = 0; i < 511 && caches[i].name[0]; i++)
		if (!strcmp(caches[i].name, name))
			break;
	strcpy(caches[i].name, name);
	caches[i].active[when] = active;
}

/*
 * Areas of vmalloc's that are in use.  Their cache holds as well what was freed and
 * waits for a flush of the TLBs, which is thousands before the kernel does one.
 */
static void areas(int when)
{
	FILE *f = fopen("/proc/vmallocinfo", "r");
	char line[512];
	long n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += !strstr(line, "unpurged");
	if (f)
		fclose(f);
	note("vmalloc areas", n, when);
}

static void slabs(int when)
{
	FILE *f = fopen("/proc/slabinfo", "r");
	char line[512], name[64];
	long active;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %ld %*d", name, &active) == 2 &&
		    strcmp(name, "vmap_area"))
			note(name, active, when);
	if (f)
		fclose(f);
	areas(when);
}

/*
 * A leak of one object a round shows in its cache both times; what the kernel
 * keeps in hand, or frees late, does not.
 */
static int grown(void)
{
	const struct cache *c;
	int n = 0;

	for (c = caches; c->name[0]; c++) {
		n += c->active[0] > 0;
		if (c->active[1] - c->active[0] < ROUNDS ||
		    c->active[2] - c->active[1] < ROUNDS)
			continue;
		printf("%s: %ld, %ld, %ld objects\n", c->name, c->active[0], c->active[1],
		       c->active[2]);
		return 1;
	}
	WANT(n > 50, 1);
	return 0;
}

static int leaks(void)
{
	static const struct child sleeping = {-1, -1, -1, 1, 0};
	pid_t pid = threads_start(), other = child_start(&sleeping);
	struct device d;
	int i, when;

	WANT(load_both(), 0);
	/* Keeps hooks in place: arming them each time is what takes long. */
	WANT(-device_alloc(&d, other, PAGE), 0);
	for (when = 0; when < 3; when++) {
		for (i = 0; i < ROUNDS; i++)
			WANT(scenario(pid), 0);
		slabs(when);
	}
	device_close(&d);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	child_end(other);
	WANT(grown(), 0);
	for (i = 0; i < 3; i++)
		WANT(scenario_cpus(), 0);
	return unload_both();
}

static const struct kernel_case cases[] = {
	{"in use", in_use},
	{"in use, no node open", in_use_unopened},
	{"hooks", armed},
	{"each allocation fails", fail_each},
	{"slabs", leaks},
	{"loading and unloading under load", loops},
};

/* Modules that were built with HWT_HOOKS=n. */
static int without_hooks(void)
{
	static const struct child sleeping = {-1, -1, -1, 1, 0};
	struct hwt_query query = {0};
	pid_t pid = child_start(&sleeping);
	struct device d;

	WANT(load_both(), 0);
	WANT(-device_alloc(&d, pid, PAGE), EOPNOTSUPP);
	WANT(scenario_cpus(), 0);
	d.fd = open("/dev/hwt", O_RDWR);
	WANT(ioctl(d.fd, HWT_IOC_QUERY, &query), 0);
	WANT(query.modes, 1u << HWT_MODE_CPU);
	close(d.fd);
	child_end(pid);
	return unload_both();
}

static const struct kernel_case hookless_cases[] = {
	{"without hooks", without_hooks},
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "without hooks"))
		return cases_run(hookless_cases, 1, argc, argv);
	return cases_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
