/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the test machine (machine.c, in QEMU) leaves in its RAM for machine_test.c:
 * struct report at REPORT, traces behind it.
 */
#ifndef TESTS_QEMU_MACHINE_H
#define TESTS_QEMU_MACHINE_H

#include <stdint.h>

#define KERNEL_BASE	0xffffffff80000000ull	/* physical 0, first GiB */
#define USER_BASE	0x8000000000ull		/* PML4 entry 1 */
#define USER_ALIAS	(USER_BASE + (1ull << 30))	/* the user pages once more */

#define RAM_SIZE	(256u << 20)
#define REPORT		0x1000000u
#define TRACES		0x1100000u
#define TRACES_END	(RAM_SIZE - (1u << 20))
#define TRACE_MAX	(1u << 20)		/* bytes of one recording; power of two */

#define MACHINE_MAGIC	0x454e494843414d55ull
#define MAX_RECORDINGS	512

struct recording {
	char name[24];
	uint64_t ctl;			/* RTIT_CTL as programmed */
	uint64_t cr3;			/* CR3_MATCH */
	uint64_t trace, size;		/* physical address, bytes */
	uint64_t status;		/* RTIT_STATUS at the end */
	uint64_t irqs;			/* raised meanwhile */
	uint64_t events;		/* exceptions and interrupts meanwhile */
};

struct report {
	uint64_t magic, n;
	uint64_t done;			/* all was run */
	uint64_t user_pa, user_size;	/* where the user pages are */
	struct recording r[MAX_RECORDINGS];
};

#endif
