// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program for the command's tests in a machine:
 *
 *	caller N	calls a function of its own N times, and each time a system call
 *			that nobody else makes; on CPU 0; exits with 7
 *	caller spin	the same for ever, resting in between
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <time.h>

int call_once(unsigned long query);

__attribute__((noinline)) int call_once(unsigned long query)
{
	return personality(query);
}

static void spin(void)
{
	const struct timespec rest = {.tv_nsec = 1000000};

	for (;;) {
		call_once(0xffffffff);
		nanosleep(&rest, NULL);
	}
}

int main(int argc, char **argv)
{
	cpu_set_t first;
	int n;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	if (argc > 1 && !strcmp(argv[1], "spin"))
		spin();
	for (n = argc > 1 ? atoi(argv[1]) : 0; n > 0; n--)
		call_once(0xffffffff);
	return 7;
}
