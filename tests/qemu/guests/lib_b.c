// SPDX-License-Identifier: BSD-2-Clause
int plugin_function(int x);
int plugin_function(int x)
{
	int i, r = 0;

	for (i = 0; i < 3; i++)
		r += x;
	return r;
}
