/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace unit beside a vCPU, whatever its technology: one struct unit_ops each
 * (unit_pt.c, unit_coresight.c, unit_feed.c).  The owner of the window says which one it wants.
 *
 * What happens at each block has a way of its own where a unit can do better than
 * by a call (vcpu.c); all the rest goes through here.
 */
#ifndef QEMU_UNIT_H
#define QEMU_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "../models/run.h"
#include "../vtu/window.h"

struct vcpu;
struct block_info;
struct qemu_plugin_tb;

/* A privilege level and address space, and the next instruction there. */
struct unit_place {
	unsigned int level; /* enum unit_level */
	uint64_t space;	    /* CR3, TTBR0_EL1; 0 in user mode emulation */
	uint32_t context;   /* CONTEXTIDR_EL1; in user mode emulation the thread's id */
	uint64_t ip;
};
enum unit_level { UNIT_KERNEL, UNIT_USER };

/* What stopped the flow between two instructions. */
enum unit_event {
	UNIT_INTERRUPT,	     /* also a signal, or the host wants to see the vCPU */
	UNIT_FAST_INTERRUPT, /* FIQ */
	UNIT_SYSTEM_ERROR,
	/* Raised by the instruction, which did not retire. */
	UNIT_FAULT, /* of its data, or any other that a unit cannot tell from it */
	UNIT_FETCH_FAULT,
	UNIT_ALIGNMENT,
	UNIT_TRAP,  /* undefined, or not allowed here */
	UNIT_DEBUG, /* breakpoints and steps */
	UNIT_DATA_DEBUG,
	UNIT_EVENTS,
};

struct unit_ops {
	enum vtu_unit_kind kind;
	uint16_t elf_machine; /* of the guests that have it; 0: any */
	const char *name;     /* "Intel PT": for unit_name */
	/* Fills caps of the window. */
	void (*describe)(struct vtu_header *h);
	/* Power-on state, outside of guest code, registers in v->block. */
	void (*power_on)(struct vcpu *v);
	/* Ends the stream; the registers are no longer ours. */
	void (*power_off)(struct vcpu *v);
	/*
	 * In a forked child: the parent's memory is left as it is.  If anything comes
	 * after it, it is power_on.
	 */
	void (*forget)(struct vcpu *v);
	/* A register write; negative where silicon would refuse. */
	int (*write)(struct vcpu *v, uint32_t reg, uint64_t value);
	/* Does it want to be fed? */
	bool (*tracing)(const struct vcpu *v);
	/*
	 * b of n instructions is translated: for callbacks of its own, and b->of_unit;
	 * or NULL.
	 */
	void (*translate)(struct block_info *b, struct qemu_plugin_tb *tb, size_t n);
	/* n instructions of r retired, the next is at `next`; not a whole RUN_FAR. */
	void (*run)(struct vcpu *v, const struct run *r, uint32_t n, uint64_t next);
	/* All of r retired, its last one calls the kernel. */
	void (*far)(struct vcpu *v, const struct run *r, const struct unit_place *to);
	/* Before the instruction at `at` something else happened. */
	void (*leave)(struct vcpu *v, uint64_t at, enum unit_event event,
		      const struct unit_place *to);
	void (*enter)(struct vcpu *v, const struct unit_place *at);
	/* n instructions passed that it was not fed. */
	void (*skip)(struct vcpu *v, uint32_t n);
	/* All that is pending out of the unit; and, in a hook, to memory. */
	void (*flush)(struct vcpu *v, bool hook);
	/*
	 * What all units of the process gave away is in memory: the vCPUs will not come
	 * back to see to it.  NULL: flush leaves nothing on the way.
	 */
	void (*settle)(void);
	/* Its clock; never goes back. */
	uint64_t (*clock)(const struct vcpu *v);
	void (*set_clock)(struct vcpu *v, uint64_t time);
	/* Instructions retired. */
	uint64_t (*insns)(const struct vcpu *v);

	/* A machine's CPU; NULL: programs only.  Turned on, and not stopped? */
	bool (*wanting)(const struct vcpu *v);
	/* Does it trace at the place that it was told of last? */
	bool (*in_context)(const struct vcpu *v);
	/* Level, space or context changed, and nothing that it was told led there. */
	void (*move)(struct vcpu *v, const struct unit_place *at);
	/* Stops the stream before the instruction at `at`; and goes on there. */
	void (*pause)(struct vcpu *v, uint64_t at);
	void (*resume)(struct vcpu *v, uint64_t at);
};

extern const struct unit_ops unit_pt, unit_coresight, unit_spe, unit_feed;

/* The unit of this kind, if this guest has such; NONE: the guest's own.  NULL: none. */
const struct unit_ops *unit_find(uint32_t kind);

/* What the unit asks of its surroundings; ctx is the vCPU. */
void *unit_memory(void *ctx, uint64_t addr, uint64_t len);
void unit_interrupt(void *ctx);
uint64_t unit_host_clock(void *ctx);

#endif
