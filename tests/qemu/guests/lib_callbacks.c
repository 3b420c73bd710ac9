// SPDX-License-Identifier: BSD-2-Clause
static volatile int sum;

__attribute__((noinline)) static int of_its_own(int x)
{
	return x ? of_its_own(x - 1) + 1 : sum++;
}

void plugin_calls_back(void (*f)(void));
void plugin_calls_back(void (*f)(void))
{
	of_its_own(2);
	f();
	of_its_own(1);
	f();
	of_its_own(0);
}
