// SPDX-License-Identifier: BSD-2-Clause
/* Loops that give no packet, until SIGALRM ends them: for owners that park. */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#define ROOM	(1ul << 32)

static void rep(void)
{
	unsigned long n = ROOM;
	const char *p = mmap(NULL, ROOM, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			     -1, 0);

	__asm__ volatile("rep lodsb" : "+S"(p), "+c"(n) : : "rax", "memory");
}

int main(int argc, char **argv)
{
	struct itimerval t = {.it_value = {.tv_sec = 1}};

	setitimer(ITIMER_REAL, &t, NULL);
	if (argc > 1 && !strcmp(argv[1], "rep"))
		rep();
	else if (argc > 1 && !strcmp(argv[1], "jumps"))
		__asm__ volatile("1: jmp 3f\n2: jmp 1b\n3: jmp 2b");
	else
		__asm__ volatile("1: jmp 1b");
	return 0;
}
