// SPDX-License-Identifier: BSD-2-Clause
/* A nested function's address: GCC writes a trampoline onto the stack. */
#include <stdlib.h>

int main(void)
{
	int order = 1, calls = 0, i;
	int v[64];

	int compare(const void *a, const void *b)
	{
		calls++;
		return order * (*(const int *)a - *(const int *)b);
	}
	for (i = 0; i < 64; i++)
		v[i] = i * 37 % 64;
	qsort(v, 64, sizeof(v[0]), compare);
	order = -1;
	qsort(v, 64, sizeof(v[0]), compare);
	return v[0] == 63 && calls ? 0 : 1;
}
