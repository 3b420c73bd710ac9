// SPDX-License-Identifier: BSD-2-Clause
/* Closes every descriptor it can find, then goes on loading code. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long i, max = sysconf(_SC_OPEN_MAX), n = 0;
	void *h;

	for (i = 3; i < max && i < 1 << 20; i++)
		n += close((int)i) == 0;
	h = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (n || !h)
		return 1;	/* there was one that is not ours */
	for (i = 0; i < 100000; i++)
		n += strlen(argv[1]) & (size_t)i;
	return dup(0) == 3 && n ? 0 : 2;
}
