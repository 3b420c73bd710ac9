// SPDX-License-Identifier: BSD-2-Clause
/* Loads a library that lies beside the program, by $ORIGIN. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *lib = dlopen("$ORIGIN/libtraced.so", RTLD_NOW);

	printf("%s\n", lib && dlsym(lib, "traced") ? "found" : dlerror());
	return lib ? 0 : 4;
}
