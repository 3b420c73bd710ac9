/* SPDX-License-Identifier: BSD-2-Clause */
/* Pausing, in the guest: who waits, until when, and who may end it. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define BUFSIZE		(64 * PAGE)
#define NTHREADS	4
#define NMAPS		10000
#define NKILLS		25

static int do_exec(void *arg)
{
	execl("/proc/self/exe", "told", "leave", NULL);
	return 50;
}

static void *code_page(void)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* One mapping, then the end. */
static int do_mmap(void *arg)
{
	return code_page() == MAP_FAILED ? 60 : 7;
}

static void target_start(struct client *c, int (*fn)(void *arg), uint32_t pause)
{
	client_trace(c, child_start(NULL, fn, NULL), BUFSIZE, pause);
	child_let_go(c->pid);
}

static const struct hwt_rec *until_paused(struct client *c, int type)
{
	const struct hwt_rec *rec = client_until(c, type);

	CHECK_EQ(rec->flags, HWT_REC_PAUSED);
	wait_until_paused(c->pid);
	return rec;
}

/* Where its next user instruction is. */
static uint64_t user_pc(pid_t pid)
{
	char path[64], *text, *last;
	uint64_t pc;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	text = read_file(path);
	CHECK(text && strchr(text, '\n'));
	*strchr(text, '\n') = 0;
	last = strrchr(text, ' ');
	CHECK(last);
	pc = strtoull(last, NULL, 16);
	free(text);
	return pc;
}

/* The interpreter's entry point in the process's image. */
static uint64_t interpreter_entry(pid_t pid)
{
	char path[64], *aux;
	const uint64_t *a;
	uint64_t base = 0;
	Elf64_Ehdr e;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	aux = read_file(path);
	CHECK(aux);
	for (a = (const void *)aux; *a; a += 2)
		if (*a == AT_BASE)
			base = a[1];
	free(aux);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY);
	CHECK_EQ(pread(fd, &e, sizeof(e), base), sizeof(e));
	close(fd);
	return base + e.e_entry;
}

/* Each record of the exec pauses by itself; nothing of the new program has run. */
static void case_exec(void)
{
	struct client c;
	const struct hwt_rec *rec;
	uint64_t entry;
	int nmaps = 0;

	target_start(&c, do_exec, HWT_PAUSE_EXEC | HWT_PAUSE_MMAP);
	until_paused(&c, HWT_REC_EXEC);
	CHECK(!client_next(&c, false));
	entry = interpreter_entry(c.pid);
	CHECK_EQ(user_pc(c.pid), entry);
	client_wake(&c, c.pid);
	while ((rec = client_next(&c, true)) && rec->type != HWT_REC_EXIT) {
		if (rec->type != HWT_REC_MMAP)
			continue;
		CHECK_EQ(rec->flags, HWT_REC_PAUSED);
		wait_until_paused(c.pid);
		/* The program's, the interpreter's, the vDSO's: still before it. */
		if (nmaps++ < 3)
			CHECK_EQ(user_pc(c.pid), entry);
		client_wake(&c, c.pid);
	}
	CHECK(nmaps > 3);
	CHECK_EQ(child_wait(c.pid), 42 << 8);
}

static void case_mmap(void)
{
	struct client c;

	target_start(&c, do_mmap, HWT_PAUSE_MMAP);
	until_paused(&c, HWT_REC_MMAP);
	CHECK_EQ(waitpid(c.pid, NULL, WNOHANG), 0);
	client_wake(&c, c.pid);
	client_until_end(&c, 7 << 8);
}

static void *map_many(void *arg)
{
	void *p;
	int i;

	for (i = 0; i < NMAPS; i++) {
		p = code_page();
		if (p == MAP_FAILED || munmap(p, PAGE))
			_exit(61);
	}
	return NULL;
}

static int do_many(void *arg)
{
	pthread_t t[NTHREADS];
	int i;

	for (i = 0; i < NTHREADS; i++)
		if (pthread_create(&t[i], NULL, map_many, NULL))
			return 62;
	for (i = 0; i < NTHREADS; i++)
		pthread_join(t[i], NULL);
	return 5;
}

/* A waker that answers at once: no mapping is missed, nobody sleeps on. */
static void case_many(void)
{
	const struct hwt_rec *rec;
	struct client c;
	long mapped = 0, unmapped = 0;

	target_start(&c, do_many, HWT_PAUSE_MMAP);
	while ((rec = client_next(&c, true)) && rec->type != HWT_REC_EXIT) {
		CHECK(rec->type != HWT_REC_LOST);
		unmapped += rec->type == HWT_REC_MUNMAP;
		if (rec->type != HWT_REC_MMAP)
			continue;
		CHECK_EQ(rec->flags, HWT_REC_PAUSED);
		mapped++;
		client_wake(&c, rec->tid);
	}
	CHECK_EQ(mapped, NTHREADS * NMAPS);
	CHECK_EQ(unmapped, NTHREADS * NMAPS);
	CHECK_EQ(child_wait(c.pid), 5 << 8);
}

static int do_fork(void *arg)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(do_mmap(arg));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 63;
}

/* The child waits, gets a context of its own, and its first mapping is seen. */
static void case_fork(void)
{
	struct client c, born;
	const struct hwt_rec *rec;
	int pid;

	target_start(&c, do_fork, HWT_PAUSE_FORK);
	rec = client_until(&c, HWT_REC_FORK);
	CHECK_EQ(rec->flags, HWT_REC_PAUSED);
	pid = ((const struct hwt_rec_fork *)(rec + 1))->child_pid;
	wait_until_paused(pid);
	client_trace(&born, pid, BUFSIZE, 0);
	client_wake(&c, pid);
	CHECK_EQ(client_next(&born, true)->type, HWT_REC_THREAD_CREATE);
	CHECK_EQ(client_next(&born, true)->type, HWT_REC_MMAP);
	rec = client_until(&born, HWT_REC_EXIT);
	CHECK_EQ(((const struct hwt_rec_exit *)(rec + 1))->status, 7 << 8);
	client_until_end(&c, 7 << 8);
}

/* A fork that nobody answers: the child dies with SIGKILL. */
static void case_fork_killed(void)
{
	struct client c;
	const struct hwt_rec *rec;
	int pid;

	target_start(&c, do_fork, HWT_PAUSE_FORK);
	rec = client_until(&c, HWT_REC_FORK);
	pid = ((const struct hwt_rec_fork *)(rec + 1))->child_pid;
	wait_until_paused(pid);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	client_until_end(&c, 63 << 8);
}

static void case_sigkill(void)
{
	struct client c, other;
	int i;

	/* While this is there, hooks need not be armed anew each time. */
	CHECK_EQ(client_alloc(&other, child_sleeping(NULL), BUFSIZE), 0);
	for (i = 0; i < NKILLS; i++) {
		target_start(&c, i % 2 ? do_exec : do_mmap,
			     i % 2 ? HWT_PAUSE_EXEC : HWT_PAUSE_MMAP);
		until_paused(&c, i % 2 ? HWT_REC_EXEC : HWT_REC_MMAP);
		CHECK_EQ(kill(c.pid, SIGKILL), 0);
		client_until_end(&c, SIGKILL);
		client_close(&c);
	}
	CHECK_EQ(kill(other.pid, SIGKILL), 0);
	client_until_end(&other, SIGKILL);
}

/* Stopped and continued, it still waits; woken while stopped, it stops. */
static void case_sigstop(void)
{
	struct client c;
	int status;

	target_start(&c, do_mmap, HWT_PAUSE_MMAP);
	until_paused(&c, HWT_REC_MMAP);
	CHECK_EQ(kill(c.pid, SIGSTOP), 0);
	CHECK_EQ(kill(c.pid, SIGCONT), 0);
	CHECK_EQ(thread_state(c.pid), 'D');
	CHECK_EQ(kill(c.pid, SIGSTOP), 0);
	client_wake(&c, c.pid);
	CHECK_EQ(waitpid(c.pid, &status, WUNTRACED), c.pid);
	CHECK(WIFSTOPPED(status));
	CHECK_EQ(kill(c.pid, SIGCONT), 0);
	client_until_end(&c, 7 << 8);
}

/*
 * A suspend freezes it as it waits: otherwise the kernel gives up with EBUSY.  (With
 * this pm_test it goes no further than that, and thaws all.)  Then it waits on.
 */
static void case_frozen(void)
{
	struct client c;

	target_start(&c, do_mmap, HWT_PAUSE_MMAP);
	until_paused(&c, HWT_REC_MMAP);
	write_file("/sys/module/suspend/parameters/pm_test_delay", "0");
	write_file("/sys/power/pm_test", "freezer");
	write_file("/sys/power/state", "freeze");
	write_file("/sys/power/pm_test", "none");
	wait_until_paused(c.pid);
	CHECK_EQ(waitpid(c.pid, NULL, WNOHANG), 0);
	client_wake(&c, c.pid);
	client_until_end(&c, 7 << 8);
}

/* The owner dies: its target runs on. */
static void case_owner(void)
{
	pid_t target = child_start(NULL, do_mmap, NULL), owner;
	struct client c;
	int ready[2];
	char byte;

	CHECK_EQ(pipe(ready), 0);
	owner = fork();
	if (!owner) {
		client_trace(&c, target, BUFSIZE, HWT_PAUSE_MMAP);
		CHECK_EQ(write(ready[1], "", 1), 1);
		for (;;)
			pause();
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	child_let_go(target);
	wait_until_paused(target);
	CHECK_EQ(kill(owner, SIGKILL), 0);
	CHECK_EQ(waitpid(owner, NULL, 0), owner);
	CHECK_EQ(child_wait(target), 7 << 8);
}

/* The modules stay while somebody waits in them. */
static void case_module(void)
{
	struct client c;

	target_start(&c, do_mmap, HWT_PAUSE_MMAP);
	until_paused(&c, HWT_REC_MMAP);
	CHECK_EQ(syscall(SYS_delete_module, "hwt_vtu", O_NONBLOCK), -1);
	CHECK(errno == EBUSY || errno == EWOULDBLOCK);
	CHECK_EQ(syscall(SYS_delete_module, "hwt", O_NONBLOCK), -1);
	CHECK(errno == EBUSY || errno == EWOULDBLOCK);
	client_wake(&c, c.pid);
	client_until_end(&c, 7 << 8);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"exec", case_exec},
		{"mmap", case_mmap},
		{"many", case_many},
		{"fork", case_fork},
		{"fork-killed", case_fork_killed},
		{"sigkill", case_sigkill},
		{"sigstop", case_sigstop},
		{"frozen", case_frozen},
		{"owner", case_owner},
		{"module", case_module},
	};

	if (argc == 2 && !strcmp(argv[1], "leave"))
		return 42;
	return cases_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
