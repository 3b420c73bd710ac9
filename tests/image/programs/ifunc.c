// SPDX-License-Identifier: BSD-2-Clause
/* An IFUNC with three implementations that nothing outside names. */
#include <stdio.h>

static int first(int x)
{
	return x + 1;
}
static int second(int x)
{
	return x + 2;
}
static int third(int x)
{
	return x + 3;
}

typedef int fn(int);

/* volatile: the choice must not be folded. */
static volatile int choice;

static fn *resolve(void)
{
	if (choice == 1)
		return first;
	if (choice == 2)
		return second;
	return third;
}

int pick(int x) __attribute__((ifunc("resolve")));

int main(void)
{
	printf("%p %p %p\n", (void *)first, (void *)second, (void *)third);
	return pick(1) != 4;
}
