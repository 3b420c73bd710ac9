// SPDX-License-Identifier: BSD-2-Clause
/* What a call stack has to live with, in known numbers: jumps out, handlers, recursion. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#define ROUNDS	100	/* jumps out of `deep`, which is DEPTH deep then */
#define DEPTH	10
#define SIGNALS 5
#define DRAWS	200

static jmp_buf out;
static volatile int sum, rounds;
static volatile int depth_max = DEPTH;

__attribute__((noinline)) void deep(int depth)
{
	if (depth == depth_max)
		longjmp(out, 1);
	if (depth < depth_max)
		deep(depth + 1);
	sum++;
}

__attribute__((noinline)) void below(void)
{
	sum++;
}

__attribute__((noinline)) void handler(int sig)
{
	below();
	sum += sig;
}

/* fibonacci(10): 177 calls */
__attribute__((noinline)) int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) void draw(void)
{
	int i;

	for (i = 0; i < DRAWS; i++)
		sum += rand();
}

int main(void)
{
	int i;

	for (rounds = 0; rounds < ROUNDS; rounds++) {
		if (!setjmp(out))
			deep(1);
	}
	signal(SIGUSR1, handler);
	for (i = 0; i < SIGNALS; i++)
		raise(SIGUSR1);
	sum += fibonacci(10);
	draw();
	return 0;
}
