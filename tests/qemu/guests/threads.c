// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nine threads that contend for a lock and allocate; or N, one after another; or N at
 * once (a second argument).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define THREADS 8
#define ROUNDS	400

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static atomic_ulong count;
static unsigned long sum;

static void *work(void *arg)
{
	unsigned long me = (unsigned long)arg;
	int i;

	prctl(PR_SET_NAME, "worker");
	pthread_barrier_wait(&barrier);
	for (i = 0; i < ROUNDS; i++) {
		char *p = malloc(16 + (me * 37 + (unsigned long)i) % 500);

		memset(p, (int)me, 16);
		atomic_fetch_add(&count, 1);
		pthread_mutex_lock(&lock);
		sum += (unsigned char)p[3];
		pthread_mutex_unlock(&lock);
		free(p);
	}
	return arg;
}

static void *nothing(void *arg)
{
	return arg;
}

/* One after another, more than there are blocks in the window. */
static int many(int n)
{
	pthread_t t;
	void *r;
	int i;

	for (i = 0; i < n; i++) {
		if (pthread_create(&t, NULL, nothing, &i) || pthread_join(t, &r) ||
		    r != &i)
			return 1;
	}
	return 0;
}

static void *wait_for_all(void *arg)
{
	pthread_barrier_wait(&barrier);
	return arg;
}

/* All of them live at once. */
static int together(int n)
{
	pthread_t *t = calloc((size_t)n, sizeof(*t));
	int i;

	pthread_barrier_init(&barrier, NULL, (unsigned int)n + 1);
	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, wait_for_all, NULL))
			return 1;
	pthread_barrier_wait(&barrier);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	unsigned long i, round;

	if (argc > 2)
		return together(atoi(argv[1]));
	if (argc > 1)
		return many(atoi(argv[1]));

	for (round = 0; round < 3; round++) {	/* indices come back */
		pthread_barrier_init(&barrier, NULL, THREADS);
		for (i = 0; i < THREADS; i++)
			if (pthread_create(&t[i], NULL, work, (void *)i))
				return 1;
		for (i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
	}
	return count == 3 * THREADS * ROUNDS && sum ? 0 : 1;
}
