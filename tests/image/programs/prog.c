// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tells where the kernel and the loader have put it: its executable mappings,
 * and address, first bytes and source line of some of its functions.  Linked
 * in many ways (make_programs.sh); test_matrix.c compares image/ with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 24

__attribute__((noinline)) int one(int x);
__attribute__((noinline, section(".far"))) int far_away(int x);

/* The line after each counter is the function's. */
/* clang-format off */
static int one_line = __LINE__ + 1;
int one(int x) { return x * 3 + 7; }

static int far_line = __LINE__ + 1;
int far_away(int x) { return x * 5 + 11; }
/* clang-format on */

__attribute__((noinline)) static int local(int x)
{
	return one(x) ^ far_away(x + 1);
}

static void say(const char *name, const void *addr, int line)
{
	const unsigned char *p = addr;
	int i;

	printf("sym %s %lx %d ", name, (unsigned long)p, line);
	for (i = 0; i < BYTES; i++)
		printf("%02x", p[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	char line[8192], perms[8];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%*s %7s", perms) == 1 && perms[2] == 'x' &&
		    strchr(line, '/'))
			printf("map %s", line);
	}
	say("one", (void *)one, one_line);
	say("far_away", (void *)far_away, far_line);
	say("local", (void *)local, 0);
	return local(argc) == 0x7fffffff;
}
