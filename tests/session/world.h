/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A made-up traced program: threads that execute known code under the PT unit's
 * model, framework records of what happens to them, and a recording of it all.
 * Each thread's list of executed addresses is what decoding must give.
 *
 *	0x400000	main: call *%rax; nop; jmp main
 *	0x10000000	what it calls: one of several, at one address
 *
 * WORLD_CPUS: the same code in the kernel, at addresses of its, on CPUs that tid
 * numbers.
 */
#ifndef TESTS_SESSION_WORLD_H
#define TESTS_SESSION_WORLD_H

#include <hwt/hwt_ext.h>
#include "container/perfdata.h"
#include "models/pt/pt_unit.h"

#define MAIN_ADDR	0x400000ull
#define LIB_ADDR	0x10000000ull

enum lib { LIB_A, LIB_B, LIB_C, LIB_MAX };

#define KERNEL_MAIN	0xffffffff81000000ull
#define KERNEL_LIB	0xffffffff81800000ull

enum world_kind {
	WORLD_EMBEDDED,
	WORLD_KERNEL,	/* of the kernel host: threads, no generations */
	WORLD_CPUS,	/* of the kernel host: CPUs */
};

struct world_thread {
	uint32_t	pid, tid;
	struct pt_unit	*unit;
	struct pt_regs_file regs;
	uint8_t		*dram;
	uint64_t	main;		/* its code */
	uint64_t	written;	/* bytes given to the recording */
	uint64_t	generation;
	uint16_t	flags;		/* of the records that follow */
	uint64_t	*ip;
	size_t		nip, room;
};

struct world {
	enum world_kind	kind;
	uint64_t	main, lib;	/* addresses */
	struct perfdata_writer *writer;
	char		path[64];
	char		main_path[64], lib_path[LIB_MAX][64];
	uint64_t	tsc;
};

/* Files with code, and a recording begun.  tsc: TSC packets on. */
void world_begin(struct world *w, bool tsc);
/* Likewise, of that kind, with TSC. */
void world_begin_kind(struct world *w, enum world_kind kind);
/* The recording is whole; the files stay until world_end. */
void world_close(struct world *w);
void world_end(struct world *w);

void world_thread_begin(struct world *w, struct world_thread *t, uint32_t pid, uint32_t tid);
/* Tracing ends. */
void world_finish(struct world_thread *t);
void world_thread_end(struct world_thread *t);
/* Main calls the library `rounds` times. */
void world_run(struct world *w, struct world_thread *t, enum lib lib, int rounds);
/* The thread stops (a system call); its stream is in memory up to here. */
uint64_t world_stop(struct world_thread *t);
void world_go(struct world *w, struct world_thread *t);
/* Gives what the unit wrote to the recording; drop: as if it were lost. */
void world_drain(struct world *w, struct world_thread *t, bool drop);

/* A record of thread t at its position and generation, with a payload. */
void world_record(struct world *w, struct world_thread *t, enum hwt_rec_type type,
		  const void *payload, size_t n);
void world_mmap(struct world *w, struct world_thread *t, uint64_t addr, uint64_t len,
		const char *path);
void world_munmap(struct world *w, struct world_thread *t, uint64_t addr, uint64_t len);
void world_code(struct world *w, struct world_thread *t, uint64_t addr, const void *bytes,
		uint32_t n);
/* A record of the kernel's own, with a payload. */
void world_kernel_record(struct world *w, enum hwt_rec_type type, const void *payload, size_t n);
/* Code of the kernel: CODE, or TEXT_POKE. */
void world_kernel_code(struct world *w, enum hwt_rec_type type, uint64_t addr,
		       const void *bytes, uint32_t n);
const uint8_t *world_main(size_t *n);
/* The code bytes of a library, and how many. */
const uint8_t *world_lib(enum lib lib, size_t *n);

#endif
