// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls each function of the table N times, by pointers as the loader resolved
 * them (IFUNCs), and tells where each begins: NAME START.
 *
 *	strings N
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char from[512], to[512];

static void call_memcpy(void *fn, int i)
{
	((void *(*)(void *, const void *, size_t))fn)(to, from, (size_t)i % 300);
}

static void call_memset(void *fn, int i)
{
	((void *(*)(void *, int, size_t))fn)(to, 'x', (size_t)i % 300);
}

static void call_strlen(void *fn, int i)
{
	from[i % 300] = 0;
	((size_t (*)(const char *))fn)(from);
	from[i % 300] = 'y';
}

static void call_strcmp(void *fn, int i)
{
	((int (*)(const char *, const char *))fn)(from + i % 16, to);
}

static const struct {
	const char *name;
	void *fn;
	void (*call)(void *fn, int i);
} row[] = {
	{"memcpy", memcpy, call_memcpy},
	{"memset", memset, call_memset},
	{"strlen", strlen, call_strlen},
	{"strcmp", strcmp, call_strcmp},
};

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 0;
	size_t k;

	for (i = 0; i < 511; i++)
		from[i] = 'y';
	for (k = 0; k < sizeof(row) / sizeof(row[0]); k++)
		for (i = 0; i < n; i++)
			row[k].call(row[k].fn, i);
	for (k = 0; k < sizeof(row) / sizeof(row[0]); k++)
		printf("%s %p\n", row[k].name, row[k].fn);
	return 0;
}
