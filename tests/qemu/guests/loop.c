// SPDX-License-Identifier: BSD-2-Clause
/* Computes for a while: for owners that park, stop, start or go away. */
int main(void)
{
	volatile unsigned long x = 1;
	unsigned long i;

	for (i = 0; i < 3000000; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x == 0;
}
