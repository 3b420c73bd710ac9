// SPDX-License-Identifier: BSD-2-Clause
/* Ends by a fatal signal: recursion without end, or another by name. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "recurse";

	if (!strcmp(how, "recurse"))
		return recurse(1);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "ill"))
		__asm__ volatile("ud2");
	if (!strcmp(how, "trap"))
		__asm__ volatile("nop; int3; nop");
	if (!strcmp(how, "jump"))
		jump_nowhere();
	if (!strcmp(how, "alarm")) {
		alarm(1);
		for (;;)
			sink++;
	}
	return 1;
}
