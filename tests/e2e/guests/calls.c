// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls each function of the table and tells what that executes, a line a
 * function: NAME START END ADDR=COUNT..., END being the last byte.
 *
 *	calls [LIBRARY]		the table of the program, or of that library,
 *				loaded, used and unloaded twice
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

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
}

static void use_library(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	const struct traced *table = lib ? dlsym(lib, "traced") : NULL;

	if (!table) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	use(table);
	dlclose(lib);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		use_library(argv[1]);
		use_library(argv[1]);
	} else {
#ifndef NO_TABLE
		use(traced);
#endif
	}
	return 0;
}
