// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes for a while, or with an argument for ever: for owners that park, stop,
 * start, kill or go away.
 */
int main(int argc, char **argv)
{
	volatile unsigned long x = 1;
	unsigned long i;

	(void)argv;
	for (i = 0; i < 3000000 || argc > 1; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x == 0;
}
