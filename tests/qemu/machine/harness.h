/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests of the plugin under a machine have in common: they boot one of their own
 * under the plugin and hold what it recorded against the unit's independent log,
 * address by address.
 */
#ifndef TESTS_QEMU_HARNESS_H
#define TESTS_QEMU_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report.h"

#define SECONDS 120 /* for a machine that hangs */

struct flow {
	uint64_t *ip; /* room for MAX_FLOW */
	size_t n;
	uint64_t errors;
	char first_error[128];
};
#define MAX_FLOW (2u << 20)

/* A CPU's log, and how far it was read. */
struct cpu_log {
	const uint64_t *word;
	uint64_t n, at;
};

struct machine {
	char dir[64];
	const uint8_t *ram;
	const void *window; /* struct vtu_header */
	const struct report *report;
	struct cpu_log log[MAX_CPUS];
};

/* With errno; ends. */
void fatal(const char *what) __attribute__((noreturn));
void flow_add(struct flow *f, uint64_t ip);
void flow_error(struct flow *f, const char *what, uint64_t offset, uint64_t ip);
/* Two or three of MAX_FLOW, empty. */
void flow_begin(struct flow *f, int n);
/* r's, where b has other instructions than the log, or errors: says so, 1. */
int flow_compare(const struct recording *r, const char *name, const struct flow *b,
		 const struct flow *log);

/* What a machine is started with, beside what all are. */
struct machine_start {
	const char *qemu, *plugin, *kernel; /* files */
	char *const *argv;	/* of QEMU's: machine, processor, devices; NULL-terminated */
	const char *unit;	/* NULL: the plugin's default */
	int status;		/* that QEMU shall end with */
	unsigned int cpus;
};

/*
 * Runs it and maps its files (ram, reg, log.cpuN); 77: there is no such QEMU.  Else 0,
 * or 1 and a line on stdout.
 */
int machine_run(struct machine *m, const struct machine_start *start);
void machine_end(struct machine *m);
/*
 * A row that spins until an interrupt comes may have filled its buffer on a machine
 * that is busy: then there is nothing to compare.
 */
bool machine_spun(const struct recording *r);
struct access {
	uint64_t pc, addr;
};
/* All that a CPU accessed while it was logged (mem.cpuN), sorted; the caller's. */
struct access *machine_accesses(const struct machine *m, unsigned int cpu, size_t *n);
bool machine_accessed(const struct access *all, size_t n, struct access what);
/* What the log has of r, the next recording of its CPU. */
void machine_log(struct machine *m, const struct recording *r, struct flow *f);
/* Code at the machine's end: at an offset in RAM, or in the user pages. */
size_t machine_code(const struct machine *m, bool user, uint64_t at, uint8_t *buf,
		    size_t len);
/*
 * What a program executes is the same each time, whatever interrupts it: a log that
 * has more or less of r's user code than the same row had before is wrong.  Says so,
 * 1.  Rows that spin or retry do as they like.
 */
int machine_user_count(const struct recording *r, const struct flow *log);
/* Is anything behind the last recording, or is the report not whole?  Says so, 1. */
int machine_leftovers(const struct machine *m);

#endif
