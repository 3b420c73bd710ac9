/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The vtu plugin: a trace unit beside each virtual CPU of a user-mode QEMU, or of
 * a machine (system.h).
 *
 *	plugin.c	options, installation
 *	window.c	the shared window: mapping, blocks, hooks, doorbell
 *	vcpu.c		one vCPU: what retired, feeding the unit, attention
 *	unit*.c		the trace units behind one interface
 *	block.c		translated blocks to runs
 *	signals.c	handlers and their frames
 *	syscalls.c	system calls that change what is traced
 *	maps.c		executable mappings
 *	code.c		code that no file holds; generations
 *	process.c	start, fork, exit
 *	exec.c		exec
 *	fatal.c		fatal signals
 *	execlog*.c	the independent log (tests)
 *	addrlog.c	files of addresses (tests)
 *	guest*.c classify*.c flags*.c	what depends on the guest's architecture
 */
#ifndef QEMU_PLUGIN_H
#define QEMU_PLUGIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "../models/pt/pt_feed.h"
#include "../vtu/launch.h"
#include "../vtu/window.h"
#include "guest.h"
#include "qemu_plugin_api.h"
#include "unit.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define MAX_VCPUS	65536u	/* more threads than a kernel gives us */

/* block_info.flags */
#define R_LEAVE		0x01u	/* leaving it needs a look at its end */
#define R_ENTER		0x02u	/* entering it needs a look at its start */
#define R_CUT		0x04u	/* may be cut short: `reached` tells */
#define R_NEXT		0x08u	/* ends in a branch to what follows anyway */
#define R_KERNEL	0x10u	/* in the kernel's page (vsyscall): no code */
#define R_STALE		0x20u	/* the code was rewritten since */
#define R_HANDLER	0x40u	/* a signal handler was installed here */

/*
 * A translated block: run.priv.  QEMU's callback is given its front, a run that
 * the inline feed reads.  Where a block needs more than that, the front hides
 * what it knows (no successors and R_LEAVE in its flags, no start), so that no
 * comparison of the fast path succeeds, and `real` is a whole copy.
 */
struct block_info {
	struct run *front, *real;
	struct run *taken;		/* R_NEXT: the same run, branch taken */
	/*
	 * What a unit is fed of a block with ends of runs in its middle (WFE, which
	 * the emulator goes on behind where there are several threads); one more,
	 * branch taken, if R_NEXT.  NULL: the run itself.
	 */
	struct run **parts;
	uint32_t nparts;
	struct block_info *origin;	/* itself; of an alias: what was translated */
	struct block_info *aliases;	/* the same code at other addresses: a list */
	struct block_info *next_by_start;	/* hash chain */
	struct block_info *next_by_page;	/* of captured code */
	uint32_t flags;			/* R_* */
	void *of_unit;			/* malloc'd by the unit; aliases have it, too */
	bool rep;			/* one REP string instruction alone */
	uint8_t last_insn[16];		/* R_NEXT */
};

/* Never equal to a successor: those that do not exist are RUN_NOWHERE. */
#define NO_START	(RUN_NOWHERE + 1)

struct vcpu;

struct plugin {
	qemu_plugin_id_t id;
	const struct guest_arch *guest;
	const struct unit_ops *unit;
	struct vtu_header *window;
	uint64_t window_size;
	uint8_t *dram;
	uint64_t dram_size;
	uint32_t flags;			/* VTU_F_* */
	bool system;			/* QEMU runs a machine */
	size_t pc_offset;		/* then: guest->system->pc_offset */
	int owner_pid;
	int exec_tid;			/* this program was exec'd by that thread; or 0 */
	char name[VTU_NAME_MAX + 1];	/* by which it was executed; "": not told */

	/* This process. */
	int pid;
	bool started;			/* first block seen */
	bool inert;			/* not traced (any more) */
	bool parallel;			/* a second thread was made */
	bool ending;			/* new threads are not traced */
	uint64_t generation;

	/*
	 * lock guards tables and is held for moments only, also in translation
	 * and exec callbacks: never across a hook.  map_order keeps changes of
	 * executable mappings and their hooks in one order; it is taken in system
	 * call callbacks only, before lock.
	 */
	pthread_mutex_t lock;
	pthread_mutex_t map_order;
	struct vcpu *vcpus[MAX_VCPUS];
	/* Where the exec callback looks: vcpus[i], or &vcpu_attending. */
	struct vcpu *current[MAX_VCPUS];
	uint32_t nvcpus;		/* highest index ever + 1 */
	uint32_t nthreads;
};

extern struct plugin vtu;

/* One line on stderr, then exit(1): start-up only. */
void plugin_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* One line on stderr. */
void plugin_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
