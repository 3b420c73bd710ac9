/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_QEMU_PRELOAD_H
#define TESTS_QEMU_PRELOAD_H

#include <stdlib.h>

/* In the child that becomes the emulator: what the plugin's build needs there. */
static inline void preload_into_emulator(void)
{
	const char *libraries = getenv("HWT_EMULATOR_PRELOAD");

	if (libraries)
		setenv("LD_PRELOAD", libraries, 1);
}

#endif
