/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of a process's life, in the guest: what a target does, and exactly the
 * records that it gives, as a table.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define BUFSIZE	(64 * PAGE)
#define AT(n)	((void *)(0x100000000ul + (n) * 0x1000000ul))
#define RWX	(PROT_READ | PROT_WRITE | PROT_EXEC)
#define RX	(PROT_READ | PROT_EXEC)
#define RW	(PROT_READ | PROT_WRITE)

static const char self[] = "/proc/self/exe";

static void map(int n, size_t pages, int prot, int fd, off_t offset)
{
	int flags = MAP_PRIVATE | MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_ANONYMOUS : 0);

	if (mmap(AT(n), pages * PAGE, prot, flags, fd, offset) != AT(n))
		_exit(90 + n);
}

static void *thread(void *arg)
{
	return arg;
}

static int remap(int from, unsigned int pages, unsigned int more, int to)
{
	int flags = from == to ? 0 : MREMAP_MAYMOVE | MREMAP_FIXED;

	return mremap(AT(from), pages * PAGE, more * PAGE, flags, AT(to)) != AT(to);
}

/* Longer where it is, longer elsewhere, shorter; data; and where there is no room. */
static int remaps(void)
{
	if (remap(3, 2, 4, 3) || remap(1, 4, 5, 1))
		return 1;
	if (remap(3, 4, 6, 5) || remap(5, 6, 5, 5))
		return 1;
	map(6, 1, RW, -1, 0);
	if (remap(6, 1, 3, 6))
		return 1;
	munmap(AT(6), 3 * PAGE);
	return !remap(1, 5, (AT(2) - AT(1)) / PAGE + 1, 1);
}

/* What the child does; each line is a line or some of the table below. */
static int do_maps(void *arg)
{
	int fd = open(self, O_RDONLY | O_CLOEXEC);

	map(0, 2, RX, fd, PAGE);
	map(1, 4, RWX, -1, 0);
	map(2, 3, RW, -1, 0);
	mprotect(AT(2), PAGE, RX);
	mprotect(AT(2), PAGE, PROT_READ);
	mprotect(AT(1), 4 * PAGE, RWX);
	if (mremap(AT(0), 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, AT(3)) != AT(3))
		return 80;
	if (remaps())
		return 81;
	map(4, 2, RX, fd, 0);
	mmap((char *)AT(4) + PAGE, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	munmap(AT(1), AT(6) - AT(1));
	prctl(PR_SET_NAME, "renamed");
	close(fd);
	return 0;
}

static int do_threads(void *arg)
{
	pthread_t t;
	pid_t child;

	if (pthread_create(&t, NULL, thread, NULL))
		return 70;
	pthread_join(t, NULL);
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	return 3;
}

/* The table: 0 in a field is looked at as well, unless ANY says not. */
struct want {
	int		type;
	int		n;		/* AT(n), pages of it from `first` on */
	unsigned int	first, pages;
	int		prot;
	const char	*path;		/* or name; "*": the test's own file */
	uint64_t	pgoff;
};

static const struct want maps[] = {
	{HWT_REC_MMAP, 0, 0, 2, RX, "*", PAGE},
	{HWT_REC_MMAP, 1, 0, 4, RWX, "//anon", 0},
	{HWT_REC_MMAP, 2, 0, 1, RX, "//anon", 0},
	{HWT_REC_MPROTECT, 2, 0, 1, PROT_READ, NULL, 0},
	{HWT_REC_MMAP, 3, 0, 2, RX, "*", PAGE},
	{HWT_REC_MUNMAP, 0, 0, 2, 0, NULL, 0},
	{HWT_REC_MMAP, 3, 2, 2, RX, "*", 3 * PAGE},
	{HWT_REC_MMAP, 1, 4, 1, RWX, "//anon", 0},
	{HWT_REC_MMAP, 5, 0, 6, RX, "*", PAGE},
	{HWT_REC_MUNMAP, 3, 0, 4, 0, NULL, 0},
	{HWT_REC_MUNMAP, 5, 5, 1, 0, NULL, 0},
	{HWT_REC_MMAP, 4, 0, 2, RX, "*", 0},
	{HWT_REC_MUNMAP, 4, 1, 1, 0, NULL, 0},
	{HWT_REC_MUNMAP, 1, 0, 5, 0, NULL, 0},
	{HWT_REC_MUNMAP, 4, 0, 1, 0, NULL, 0},
	{HWT_REC_MUNMAP, 5, 0, 5, 0, NULL, 0},
	{HWT_REC_THREAD_NAME, 0, 0, 0, 0, "renamed", 0},
};

static void check_map(const struct want *w, const struct hwt_rec_mmap *m)
{
	struct stat st;

	CHECK_EQ(m->prot, w->prot);
	CHECK_EQ(m->pgoff, w->pgoff);
	if (strcmp(w->path, "*")) {
		CHECK(!strcmp(m->path, w->path));
		CHECK_EQ(m->mapflags, MAP_PRIVATE | MAP_ANONYMOUS);
		return;
	}
	CHECK_EQ(stat(m->path, &st), 0);
	CHECK_EQ(m->ino, st.st_ino);
	CHECK_EQ(m->dev_major, major(st.st_dev));
	CHECK_EQ(m->dev_minor, minor(st.st_dev));
	CHECK_EQ(m->mapflags, MAP_PRIVATE);
	CHECK(strstr(m->path, "/kernel_hooks"));
}

static void check_record(const struct want *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_mmap *m = (const void *)(rec + 1);
	const struct hwt_rec_mprotect *p = (const void *)(rec + 1);
	const struct hwt_rec_name *name = (const void *)(rec + 1);

	CHECK_EQ(rec->type, w->type);
	if (w->type == HWT_REC_THREAD_NAME) {
		CHECK(!strcmp(name->name, w->path));
		return;
	}
	/* MMAP, MUNMAP and MPROTECT begin alike. */
	CHECK_EQ(m->addr, (uintptr_t)AT(w->n) + w->first * PAGE);
	CHECK_EQ(m->len, w->pages * PAGE);
	if (w->type == HWT_REC_MMAP)
		check_map(w, m);
	else if (w->type == HWT_REC_MPROTECT)
		CHECK_EQ(p->prot, w->prot);
}

/* pause: each mapping waits for its wake-up. */
static void see_maps(uint32_t pause)
{
	struct client c;
	const struct hwt_rec *rec;
	size_t i;

	CHECK_EQ(client_alloc(&c, child_start(NULL, do_maps, NULL), BUFSIZE), 0);
	CHECK_EQ(client_next(&c, true)->type, HWT_REC_THREAD_CREATE);
	if (pause) {
		CHECK_EQ(client_config(&c, pause, 0, 0), 0);
		CHECK_EQ(client_start(&c), 0);
	}
	child_let_go(c.pid);
	for (i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		rec = client_next(&c, true);
		CHECK(rec);
		CHECK_EQ(rec->flags, pause && rec->type == HWT_REC_MMAP ? HWT_REC_PAUSED : 0);
		CHECK_EQ(rec->pid, c.pid);
		CHECK_EQ(rec->tid, c.pid);
		CHECK(rec->time);
		fprintf(stderr, "record %zu: type %u\n", i, rec->type);
		check_record(&maps[i], rec);
		if (rec->flags)
			client_wake(&c, c.pid);
	}
	CHECK_EQ(client_next(&c, true)->type, HWT_REC_THREAD_EXIT);
	client_until_end(&c, 0);
}

static void case_maps(void)
{
	see_maps(0);
}

static void case_maps_paused(void)
{
	see_maps(HWT_PAUSE_MMAP);
}

static void case_threads(void)
{
	struct client c;
	const struct hwt_rec *rec;
	int i, forks = 0;
	uint32_t tid;

	CHECK_EQ(client_alloc(&c, child_start(NULL, do_threads, NULL), BUFSIZE), 0);
	CHECK_EQ(client_next(&c, true)->type, HWT_REC_THREAD_CREATE);
	child_let_go(c.pid);
	rec = client_next(&c, true);
	CHECK_EQ(rec->type, HWT_REC_THREAD_CREATE);
	tid = ((const struct hwt_rec_thread *)(rec + 1))->tid;
	CHECK(tid != (uint32_t)c.pid);
	/* Who joins a thread may fork before it is quite gone. */
	for (i = 0; i < 2; i++) {
		rec = client_next(&c, true);
		if (rec->type == HWT_REC_FORK) {
			CHECK_EQ(rec->tid, c.pid);
			CHECK(((const struct hwt_rec_fork *)(rec + 1))->child_pid >
			      (uint32_t)c.pid);
			forks++;
			continue;
		}
		CHECK_EQ(rec->type, HWT_REC_THREAD_EXIT);
		CHECK_EQ(((const struct hwt_rec_thread *)(rec + 1))->tid, tid);
	}
	CHECK_EQ(forks, 1);
	CHECK_EQ(client_next(&c, true)->type, HWT_REC_THREAD_EXIT);
	client_until_end(&c, 3 << 8);
}

static int do_exec(void *arg)
{
	execl(self, "told", "leave", NULL);
	return 50;
}

/* A thread that is not the first: it goes on as the first. */
static void *exec_thread(void *arg)
{
	do_exec(arg);
	return NULL;
}

static int do_exec_by_thread(void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, exec_thread, NULL))
		return 70;
	pause();
	return 51;
}

/* EXEC, the name, then the mappings of a program and of its interpreter. */
static void expect_exec(struct client *c, uint32_t old_tid)
{
	const struct hwt_rec *rec = client_until(c, HWT_REC_EXEC);
	const struct hwt_rec_exec *e = (const void *)(rec + 1);
	const struct hwt_rec_mmap *m = (const void *)(rec + 1);
	uint64_t text = e->addr, base = e->baseaddr;
	bool program = false, interpreter = false, vdso = false;

	CHECK(strstr(e->path, "/kernel_hooks"));
	CHECK(old_tid ? e->old_tid == old_tid : e->old_tid != (uint32_t)c->pid);
	CHECK_EQ(rec->tid, c->pid);
	rec = client_next(c, true);
	CHECK_EQ(rec->type, HWT_REC_THREAD_NAME);
	CHECK(!strcmp(((const struct hwt_rec_name *)(rec + 1))->name, "exe"));
	while (!vdso || !interpreter) {
		rec = client_next(c, true);
		CHECK_EQ(rec->type, HWT_REC_MMAP);
		if (!program) {
			CHECK(strstr(m->path, "/kernel_hooks"));
			CHECK_EQ(m->addr, text);
			CHECK_EQ(m->addr - m->pgoff, base);
			program = true;
		}
		interpreter |= strstr(m->path, "/ld-linux") != NULL;
		vdso |= !strcmp(m->path, "[vdso]");
		CHECK(m->prot & PROT_EXEC);
	}
}

static void run_exec(int (*fn)(void *arg), bool by_leader)
{
	struct client c;

	client_trace(&c, child_start(NULL, fn, NULL), BUFSIZE, 0);
	child_let_go(c.pid);
	expect_exec(&c, by_leader ? c.pid : 0);
	client_until_end(&c, 42 << 8);
}

static void case_exec(void)
{
	run_exec(do_exec, true);
}

static void case_exec_by_thread(void)
{
	run_exec(do_exec_by_thread, false);
}

static int do_setuid_exec(void *arg)
{
	execl("/bin/kernel_hooks_suid", "suid", "leave", NULL);
	return 50;
}

/* As an ordinary user: a set-uid program ends the trace, and runs on. */
static void case_setuid(void)
{
	struct client c;
	const struct hwt_rec *rec;

	CHECK_EQ(setgid(1000), 0);
	CHECK_EQ(setuid(1000), 0);
	client_trace(&c, child_start(NULL, do_setuid_exec, NULL), BUFSIZE, HWT_PAUSE_EXEC);
	child_let_go(c.pid);
	rec = client_until(&c, HWT_REC_EXEC);
	CHECK_EQ(rec->flags, HWT_REC_REVOKED);
	rec = client_next(&c, true);
	CHECK_EQ(rec->type, HWT_REC_EXIT);
	CHECK_EQ(rec->flags, HWT_REC_REVOKED);
	CHECK(!client_next(&c, true));
	CHECK_EQ(child_wait(c.pid), 42 << 8);
}

/* A process with a tracer of its own mappings only: others' give no record. */
static void case_others(void)
{
	pid_t busy = child_start(NULL, do_maps, NULL);
	struct client c;

	CHECK_EQ(client_alloc(&c, child_start(NULL, do_threads, NULL), BUFSIZE), 0);
	CHECK_EQ(client_next(&c, true)->type, HWT_REC_THREAD_CREATE);
	child_let_go(busy);
	CHECK_EQ(child_wait(busy), 0);
	CHECK(!client_next(&c, false));
	child_end(c.pid);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"maps", case_maps},
		{"maps-paused", case_maps_paused},
		{"threads", case_threads},
		{"exec", case_exec},
		{"exec-by-thread", case_exec_by_thread},
		{"setuid", case_setuid},
		{"others", case_others},
	};

	if (argc == 2 && !strcmp(argv[1], "leave"))
		return 42;
	return cases_run(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
