// SPDX-License-Identifier: BSD-2-Clause
/* Two libraries, one after the other at the same address, three times. */
#include <dlfcn.h>
#include <stdio.h>

static int call(const char *path, int x, void **where)
{
	void *h = dlopen(path, RTLD_NOW);
	int (*f)(int), r;

	if (!h) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	*(void **)&f = dlsym(h, "plugin_function");
	*where = (void *)f;
	r = f(x);
	dlclose(h);
	return r;
}

int main(int argc, char **argv)
{
	void *a, *b;
	int i;

	if (argc < 3)
		return 2;
	for (i = 0; i < 3; i++) {
		if (call(argv[1], i, &a) != i + 1 || call(argv[2], i, &b) != i * 3)
			return 1;
	}
	return 0;
}
