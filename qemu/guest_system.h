/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the plugin must know of a guest architecture when QEMU runs a whole machine
 * of it (struct guest_arch.system).  Callable at the first instruction of a block
 * only: elsewhere the emulator's state is not all in memory.
 */
#ifndef QEMU_GUEST_SYSTEM_H
#define QEMU_GUEST_SYSTEM_H

#include "guest.h"
#include "unit.h"

/* Where a CPU stands. */
struct guest_where {
	struct unit_place at;
	bool traceable; /* in the mode that runs describe: 64-bit */
};

/* What an exception or interrupt left behind when it entered its handler. */
struct guest_event {
	uint64_t ip; /* the interrupted instruction, not executed yet */
	uint64_t sp;
	enum unit_level level; /* where `ip` runs */
	enum unit_event what;
	bool fault;    /* the instruction at ip began, and raised it */
	bool may_call; /* it may be what the instruction before ip is for: INT n */
};

#define GUEST_ENTRIES 256

/* Where exceptions and interrupts lead, sorted by address: what an IDT says. */
struct guest_entries {
	uint64_t base; /* of the architecture's table when it was read */
	uint32_t limit, n;
	uint64_t lo, hi; /* first and last address */
	struct {
		uint64_t ip;
		uint32_t vector;
	} v[GUEST_ENTRIES];
};

struct guest_system {
	/* NULL: this is the state after reset, with `pc` next, where we look for it. */
	const char *(*verify)(const struct guest_env *env, uint64_t pc);
	/* Where the program counter is in the emulator's state. */
	size_t pc_offset;
	void (*where)(const struct guest_env *env, struct guest_where *w);
	/* Tells a thread of an address space: the log's tag (FS base, TPIDR_EL0). */
	uint64_t (*thread)(const struct guest_env *env);
	/* Physical address of va; false: not mapped.  NULL: who needs no memory. */
	bool (*translate)(const struct guest_env *env, uint64_t va, uint64_t *pa);
	/*
	 * Where the machine's RAM file holds physical address pa; *left: bytes from
	 * there that are side by side.  False: it does not.
	 */
	bool (*ram_offset)(uint64_t pa, uint64_t ram_size, uint64_t *offset,
			   uint64_t *left);
	/* Reads the table of handlers anew if it moved, or if `force`.  NULL: none. */
	void (*entries)(const struct guest_env *env, struct guest_entries *t, bool force);
	/*
	 * Is `pc`, with stack pointer `sp`, a handler that the CPU has just entered?
	 * Then *e says from where.
	 */
	bool (*event)(const struct guest_env *env, const struct guest_entries *t,
		      uint64_t pc, uint64_t sp, struct guest_event *e);
	/* guest_arch.branch_taken, but an event entered its handler since; NULL: same. */
	bool (*branch_taken)(const struct guest_env *env, const uint8_t *insn, size_t n);
};

extern const struct guest_system guest_x86_64_system, guest_aarch64_system;

/* Guest-physical memory in the RAM file: len bytes at pa, or NULL. */
void *system_ram(uint64_t pa, uint64_t len);
/* Guest-virtual memory through the page tables of the CPU (guest_system.translate). */
bool system_read(const struct guest_env *env, uint64_t va, void *buf, size_t n);

static inline uint64_t guest_pc(const struct guest_env *env, size_t offset)
{
	return *(const uint64_t *)((const char *)env + offset);
}

#endif
