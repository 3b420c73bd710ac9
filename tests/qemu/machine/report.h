/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a test machine (in QEMU) leaves in its RAM for the test that started it:
 * struct report at REPORT, traces behind it.  Offsets are those of the RAM file.
 */
#ifndef TESTS_QEMU_REPORT_H
#define TESTS_QEMU_REPORT_H

#include <stdint.h>

#define RAM_SIZE       (256u << 20)
#define REPORT	       0x1000000u
#define TRACES	       0x1100000u
#define TRACES_END     (RAM_SIZE - (1u << 20))
#define TRACE_MAX      (1u << 20) /* bytes of one recording; power of two */

#define MACHINE_MAGIC  0x454e494843414d55ull
#define MAX_RECORDINGS 512
#define MAX_CPUS       2

/* What was traced. */
#define LEVEL_USER     1u
#define LEVEL_KERNEL   2u

struct recording {
	char name[24];
	uint32_t cpu;
	uint32_t levels;      /* LEVEL_* */
	uint64_t config;      /* RTIT_CTL, TRCCONFIGR, PMSCR_EL1 as programmed */
	uint64_t space;	      /* only this address space (CR3); 0: any */
	uint64_t trace, size; /* offset, bytes */
	uint64_t status;      /* RTIT_STATUS at the end; 0: no trouble */
	uint64_t irqs;	      /* raised by the unit meanwhile */
	uint64_t events;      /* exceptions and interrupts meanwhile */
};

struct report {
	uint64_t magic, n;
	uint64_t done;		     /* all was run */
	uint64_t user_at, user_size; /* where the user pages are: offset, bytes */
	struct recording r[MAX_RECORDINGS];
};

#endif
