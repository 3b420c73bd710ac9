/* SPDX-License-Identifier: BSD-2-Clause */
/* The x86-64 test machine's addresses (machine.c). */
#ifndef TESTS_QEMU_MACHINE_H
#define TESTS_QEMU_MACHINE_H

#include "report.h"

#define KERNEL_BASE	0xffffffff80000000ull	/* physical 0, first GiB */
#define USER_BASE	0x8000000000ull		/* PML4 entry 1 */
#define USER_ALIAS	(USER_BASE + (1ull << 30))	/* the user pages once more */

#endif
