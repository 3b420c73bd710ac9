/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For AArch64: loads, stores, branches of all kinds, calls; 2: a second thread;
 * children: also processes, of each kind; far: what takes long.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N (1u << 11)

static uint32_t numbers[N];

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void *work(void *arg)
{
	uint64_t *sum = arg;
	uint32_t i;

	for (i = 0; i < 4 * N; i++)
		__atomic_add_fetch(sum, numbers[i * 2654435761u % N] & 0xff, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Loads that no cache and no TLB of the model holds. */
static int far(void)
{
	size_t size = 64u << 20, i, at = 0;
	volatile char *memory = malloc(size);

	for (i = 0; memory && i < 20000; i++) {
		at = (at * 1103515245u + 12345) % size;
		(void)memory[at];
	}
	return !memory;
}

static int status_of(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* What each child says, and how it ends, is part of the output. */
static int children(void)
{
	uint64_t sum = 0;
	pid_t pid = fork();

	if (!pid) {
		work(&sum);
		_exit(write(1, "forked\n", 7) == 7 ? 7 : 8);
	}
	printf("fork %x\n", (unsigned int)status_of(pid));
	pid = vfork();
	if (!pid)
		_exit(5);
	printf("vfork %x\n", (unsigned int)status_of(pid));
	/* These are posix_spawn's, of a shell that is the machine's own. */
	printf("system %x\n", (unsigned int)system("echo spawned; exit 9"));
	return fflush(stdout);
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;
	pthread_t other;
	uint32_t i, x = 1;

	for (i = 0; i < N; i++)
		numbers[i] = x = x * 1664525u + 1013904223u;
	if (argc > 1 && !strcmp(argv[1], "children"))
		return children();
	if (argc > 1 && !strcmp(argv[1], "far"))
		return far();
	if (argc > 1) {
		if (pthread_create(&other, NULL, work, &sum))
			return 1;
		qsort(numbers, N / 8, sizeof(numbers[0]), compare);
		pthread_join(other, NULL);
	} else {
		qsort(numbers, N, sizeof(numbers[0]), compare);
		work(&sum);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
