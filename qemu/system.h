/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plugin under a system emulator: a trace unit beside each CPU of a machine,
 * driven from inside of it (vtu/window.h, "System mode").
 *
 *	system.c	options, installation, the window and the machine's RAM
 *	system_exec.c	one CPU: what retired, exceptions and interrupts, the doorbell
 *	system_log*.c	the independent log
 *	system_ARCH.c	struct guest_system
 */
#ifndef QEMU_SYSTEM_H
#define QEMU_SYSTEM_H

#include "guest_system.h"
#include "vcpu.h"

struct system_log;

struct system_cpu {
	struct vcpu v;	      /* first: the fast path's fields; v.in: ContextEn */
	bool on;	      /* the unit wants to know what runs */
	bool paused;	      /* its stream is stopped: nothing that runs describe */
	struct unit_place told; /* level, space and context that it was told last */
	uint64_t unexplained; /* transfers that nothing accounts for */
	struct guest_entries entries;
	struct system_log *log;
};

/* By index; NULL: no such CPU. */
extern struct system_cpu *system_cpus[];
extern const char *system_log_dir; /* NULL: no log */
extern bool system_log_ready;	   /* instructions have the log's callbacks */

/* Installs the plugin in a system emulator; does not return where it cannot. */
void system_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
		    char **argv);
/*
 * The log's callbacks cost much: only from the first request on, before which no
 * driver traces.  It takes effect before the CPU's next block but one.
 */
void system_log_begin(void);
/* A CPU comes into being. */
void system_cpu_init(struct system_cpu *s, unsigned int index);
/* Nanoseconds since the machine was started. */
uint64_t system_clock(void);

/* The exec callbacks before their thunks, as vcpu_exec_thunk. */
void system_exec_thunk(unsigned int index, void *run);
void system_exec_rep_thunk(unsigned int index, void *run);
void system_exec_any_thunk(unsigned int index, void *run);

/* An access by the instruction that was translated at pc, to what a unit sees. */
void system_log_access(unsigned int index, uint64_t pc, uint64_t vaddr);
/* n instructions of tb get callbacks of the log. */
void system_log_translate(struct qemu_plugin_tb *tb, size_t n);
/* Before the block at w: on or off, as the unit's tracing is now. */
void system_log_resume(struct system_cpu *s, const struct guest_where *w);

#endif
