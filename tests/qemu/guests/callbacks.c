// SPDX-License-Identifier: BSD-2-Clause
/* Calls a library that calls back, and itself: callbacks LIBRARY CALLS. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int sum;

__attribute__((noinline)) static void own(void)
{
	sum++;
}

__attribute__((noinline)) static void callback(void)
{
	own();
	sum++;
}

int main(int argc, char **argv)
{
	void *h = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int i, calls = argc == 3 ? atoi(argv[2]) : 0;
	void (*f)(void (*)(void));

	if (!h)
		return 2;
	*(void **)&f = dlsym(h, "plugin_calls_back");
	for (i = 0; i < calls; i++) {
		f(callback);
		own();
	}
	return sum == 5 * calls ? 0 : 1;
}
