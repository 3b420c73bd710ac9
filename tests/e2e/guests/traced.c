// SPDX-License-Identifier: BSD-2-Clause
#include "traced.h"

#define FUNCTION(f)	extern void f(int); extern const char f##_end[] __attribute__((visibility("hidden")));
#define POINT(p)	extern const char p[] __attribute__((visibility("hidden")));

FUNCTION(leaf) FUNCTION(falls) FUNCTION(next) FUNCTION(outcalls) FUNCTION(outer)
FUNCTION(inner) FUNCTION(middle) FUNCTION(jumps) FUNCTION(recurse)
POINT(leaf_loop) POINT(leaf_ret) POINT(falls_last) POINT(outcalls_direct)
POINT(outcalls_plt) POINT(outcalls_system) POINT(inner_last) POINT(middle_inside)
POINT(recurse_back)

#define ROW(f, how, arg)	#f, how, arg, (const char *)f, f##_end

const struct traced traced[] = {
	{ROW(leaf, leaf, 0), {{(const char *)leaf, 1}, {leaf_loop, 5}, {leaf_ret, 1}}},
	{ROW(falls, falls, 0), {{(const char *)falls, 1}, {falls_last, 1}}},
	{ROW(outcalls, outcalls, 0), {{(const char *)outcalls, 1}, {outcalls_direct, 1},
				      {outcalls_plt, 1}, {outcalls_system, 1}}},
	{ROW(inner, outer, 0), {{(const char *)inner, 1}, {inner_last, 1}}},
	{ROW(middle, jumps, 0), {{(const char *)middle, 0}, {middle_inside, 1}}},
	{ROW(recurse, recurse, 3), {{(const char *)recurse, 4}, {recurse_back, 3}}},
	{0},
};
