/* SPDX-License-Identifier: BSD-2-Clause */
/* For AArch64: loads, stores, branches of all kinds, calls; a second thread. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
	uint64_t sum = 0;
	pthread_t other;
	uint32_t i, x = 1;

	for (i = 0; i < N; i++)
		numbers[i] = x = x * 1664525u + 1013904223u;
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
