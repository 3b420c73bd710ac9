/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The independent log of a machine's CPUs (qemu/system_log_file.h; the layout is told
 * here a second time on purpose): what each CPU executed in the kernel, and what each
 * thread executed in user mode on whatever CPU.
 */
#ifndef TESTS_E2E_MACHINE_LOG_H
#define TESTS_E2E_MACHINE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

/* User addresses of one thread of one address space, in order. */
struct machine_thread {
	uint64_t space, thread;		/* CR3 without its flags; FS base */
	uint64_t *ip;
	size_t n, room;
};

struct machine_log {
	struct machine_thread *threads;	/* in the order of their first instruction */
	size_t nthreads;
};

/* Reads all of dir's logs; NULL: there is none, or one is bad (said). */
struct machine_log *machine_log_open(const char *dir);
/* Keeps only the addresses that are wanted, and threads that have any. */
void machine_log_cut(struct machine_log *m, bool (*wanted)(const void *ctx, uint64_t ip),
		     const void *ctx);
void machine_log_close(struct machine_log *m);
/* Kernel addresses of one CPU. */
struct source *source_cpu(const char *dir, int cpu);

#endif
