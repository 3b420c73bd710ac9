// SPDX-License-Identifier: BSD-2-Clause
int plugin_function(int x);
int plugin_function(int x)
{
	return x + 1;
}
