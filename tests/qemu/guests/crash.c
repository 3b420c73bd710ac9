// SPDX-License-Identifier: BSD-2-Clause
/* Ends by a fatal signal: recursion without end, or another by name. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __aarch64__
#define UNDEFINED	"udf #0"
#define TRAP		"nop; brk #0; nop"
#else
#define UNDEFINED	"ud2"
#define TRAP		"nop; int3; nop"
#endif

static volatile int sink, never;

static int recurse(int n)
{
	char pad[512];

	memset(pad, n, sizeof(pad));
	sink += pad[n & 511];
	if (never)		/* direct calls alone would leave no packet */
		return 0;
	return recurse(n + 1) + pad[3];
}

static void jump_nowhere(void)
{
	void (*volatile f)(void) = (void (*)(void))0x1234;

	f();
}

static void *spin(void *arg)
{
	volatile unsigned long x = (unsigned long)arg;

	for (;;)
		x = x & 1 ? x * 3 + 1 : x / 2 + 7;
	return NULL;
}

static void with_threads(int how)
{
	pthread_t t;
	unsigned long i;

	for (i = 0; i < 3; i++)
		pthread_create(&t, NULL, spin, (void *)(i + 2));
	usleep(50000);
	if (how)
		_exit(how);
	abort();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "recurse";

	if (!strcmp(how, "recurse"))
		return recurse(1);
	if (!strcmp(how, "threads"))
		with_threads(0);
	if (!strcmp(how, "exit-threads"))
		with_threads(9);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "ill"))
		__asm__ volatile(UNDEFINED);
	if (!strcmp(how, "trap"))
		__asm__ volatile(TRAP);
	if (!strcmp(how, "jump"))
		jump_nowhere();
	if (!strcmp(how, "alarm")) {
		alarm(1);
		for (;;)
			sink++;
	}
	return 1;
}
