// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls each function of the table and tells what that executes, a line a
 * function: NAME START END ADDR=COUNT..., END being the last byte.
 *
 *	calls [LIBRARY]		the table of the program, or of that library,
 *				loaded, used and unloaded twice
 *	calls fork		the program's, in a child and after its exec, too
 *	calls race LIBRARY	the library's first function: threads wait for it to
 *				be loaded and call it at once, again and again
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traced.h"

static void call(const struct traced *t, int times)
{
	int i;

	for (i = 0; i < times; i++)
		t->call(t->arg);
}

static void tell(const struct traced *t, int times)
{
	int i;

	printf("%s %p %p", t->name, (void *)t->start, (void *)(t->end - 1));
	for (i = 0; i < 4 && t->point[i].at; i++)
		printf(" %p=%d", (void *)t->point[i].at, t->point[i].a_call * times);
	printf("\n");
}

/* Called first, told afterwards: nothing comes before the very first call. */
static void use(const struct traced *table)
{
	int i;

	for (i = 0; table[i].name; i++)
		call(&table[i], 3 + i);
	for (i = 0; table[i].name; i++)
		tell(&table[i], 3 + i);
	fflush(stdout);
}

static const struct traced *load(const char *path, void **lib)
{
	const struct traced *table;

	*lib = dlopen(path, RTLD_NOW);
	table = *lib ? dlsym(*lib, "traced") : NULL;
	if (!table) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return table;
}

static void use_library(const char *path)
{
	void *lib;

	use(load(path, &lib));
	dlclose(lib);
}

#define ROUNDS	12
#define RACERS	3

static const struct traced *volatile ready;
static volatile int finished;

static void *racer(void *arg)
{
	const struct traced *t;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		while (!(t = ready))
			;
		call(t, 10);
		__atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST);
		while (ready)
			;
		__atomic_sub_fetch(&finished, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void race(const char *path)
{
	const struct traced *table;
	pthread_t t[RACERS];
	int i, round;
	void *lib;

	for (i = 0; i < RACERS; i++)
		if (pthread_create(&t[i], NULL, racer, NULL))
			exit(1);
	for (round = 0; round < ROUNDS; round++) {
		table = load(path, &lib);
		ready = table;
		while (finished < RACERS)
			;
		tell(table, RACERS * 10);
		ready = NULL;
		while (finished)
			;
		dlclose(lib);
	}
	for (i = 0; i < RACERS; i++)
		pthread_join(t[i], NULL);
}

#ifndef NO_TABLE
static void use_in_children(char *self)
{
	use(traced);
	if (fork() == 0) {
		use(traced);
		if (fork() == 0) {
			use(traced);
			execl(self, self, (char *)NULL);
			_exit(1);
		}
		wait(NULL);
		_exit(0);
	}
	wait(NULL);
}
#endif

int main(int argc, char **argv)
{
	if (argc > 2) {
		race(argv[2]);
	} else if (argc > 1 && strcmp(argv[1], "fork")) {
		use_library(argv[1]);
		use_library(argv[1]);
	} else {
#ifndef NO_TABLE
		if (argc > 1)
			use_in_children(argv[0]);
		else
			use(traced);
#endif
	}
	return 0;
}
