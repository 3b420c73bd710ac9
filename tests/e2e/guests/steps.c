// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs that are killed, or that are many at once.
 *
 *	steps N [mmap]	N steps of work, each told; with executable mappings
 *	segv N		N steps, then a fault at `fault_here`, which is told first
 *	threads N	N threads, one after another
 *	leave N		the first thread ends, N others work on; the last exits with 5
 *	group N		N threads map code without end; the first exits with 6
 *	forks N		a tree of forks N deep, each with an exec at its leaves
 *	calls N		N indirect calls: as much trace an instruction as can be
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *self;
static volatile unsigned sink;

/* Branches in an order that does not repeat: places in a log are unique. */
static void work(unsigned *state, int n)
{
	unsigned x = *state;

	while (n--) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		if (x & 1)
			sink += x;
		if (x & 16)
			sink ^= x >> 3;
	}
	*state = x;
}

static void map_code(void)
{
	int fd = open(self, O_RDONLY);
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	if (p != MAP_FAILED)
		munmap(p, 4096);
}

static int steps(int n, int maps)
{
	unsigned state = 88172645u;
	int i;

	for (i = 0; i < n; i++) {
		work(&state, 250);
		if (maps)
			map_code();
		printf("step %d\n", i);
		fflush(stdout);
		usleep(3000);
	}
	printf("done\n");
	return 9;
}

extern char fault_here[];

static int segv(int n)
{
	unsigned state = 2463534242u;

	work(&state, n * 1000);
	printf("%p\n", (void *)fault_here);
	fflush(stdout);
	work(&state, n * 1000);
	asm volatile("xor %%eax, %%eax\n.globl fault_here\nfault_here: movl $1, (%%rax)" ::: "rax",
		     "memory");
	return 0;
}

static void *short_thread(void *arg)
{
	unsigned state = 1 + (unsigned)(size_t)arg;

	work(&state, 10);
	return NULL;
}

static int threads(int n)
{
	pthread_t t;
	int i;

	for (i = 0; i < n; i++) {
		if (pthread_create(&t, NULL, short_thread, (void *)(size_t)i))
			return 1;
		pthread_join(t, NULL);
	}
	printf("done\n");
	return 0;
}

static int left;

static void *long_thread(void *arg)
{
	unsigned state = 7 + (unsigned)(size_t)arg;

	work(&state, 200000);
	if (__atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST) == 0)
		exit(5);
	return NULL;
}

static int leave(int n)
{
	pthread_t t;
	int i;

	left = n;
	for (i = 0; i < n; i++)
		if (pthread_create(&t, NULL, long_thread, (void *)(size_t)i))
			return 1;
	pthread_exit(NULL);
}

static int mapped;

static void *mapper(void *arg)
{
	for (;;) {
		map_code();
		__atomic_add_fetch(&mapped, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static int group(int n)
{
	pthread_t t;
	int i;

	for (i = 0; i < n; i++)
		if (pthread_create(&t, NULL, mapper, NULL))
			return 1;
	while (__atomic_load_n(&mapped, __ATOMIC_SEQ_CST) < 20 * n)
		sched_yield();
	_exit(6);
}

static int forks(int n)
{
	int status, i, bad = 0;
	pid_t child[3];

	if (n == 0) {
		execl(self, self, "steps", "0", (char *)NULL);
		return 1;
	}
	for (i = 0; i < 3; i++) {
		child[i] = fork();
		if (child[i] == 0)
			exit(forks(n - 1));
	}
	for (i = 0; i < 3; i++) {
		if (waitpid(child[i], &status, 0) != child[i] || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != (n == 1 ? 9 : 0))
			bad = 1;
	}
	return bad;
}

static void one(void)
{
	sink++;
}

static void two(void)
{
	sink--;
}

static int calls(int n)
{
	static void (*volatile const f[2])(void) = {one, two};
	int i;

	for (i = 0; i < n; i++)
		f[i & 1]();
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;
	static char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[len < 0 ? 0 : len] = '\0';
	self = path;
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "steps"))
		return steps(n, argc > 3);
	if (!strcmp(argv[1], "segv"))
		return segv(n);
	if (!strcmp(argv[1], "threads"))
		return threads(n);
	if (!strcmp(argv[1], "leave"))
		return leave(n);
	if (!strcmp(argv[1], "group"))
		return group(n);
	if (!strcmp(argv[1], "forks"))
		return forks(n);
	if (!strcmp(argv[1], "calls"))
		return calls(n);
	return 2;
}
