/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target: argv[1] threads that each make and drop argv[2] executable mappings.
 * Exits with 0 when all of them were made.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static int mappings;

static void *map(void *arg)
{
	void *p;
	int i;

	for (i = 0; i < mappings; i++) {
		p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED || munmap(p, 4096))
			exit(2);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int n, i;

	if (argc < 3)
		return 1;
	n = atoi(argv[1]);
	mappings = atoi(argv[2]);
	if (n < 1 || n > 64)
		return 1;
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, map, NULL))
			return 3;
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
