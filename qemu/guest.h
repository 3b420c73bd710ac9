/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the plugin must know of a guest architecture: one struct guest_arch an
 * architecture; nothing else in qemu/ names one.
 */
#ifndef QEMU_GUEST_H
#define QEMU_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../models/run.h"

/* Traits of an instruction beyond its enum run_end. */
#define INSN_REP	0x1u	/* the emulator comes back to it until it is done */
#define INSN_ATOMIC	0x2u	/* may be cut out of its block and run alone */
#define INSN_SPACE	0x4u	/* loads another address space (MOV CR3) */

struct insn_class {
	uint64_t target;	/* RUN_JCC, RUN_JMP, RUN_CALL; else 0 */
	uint8_t kind;		/* enum run_end */
	uint8_t traits;		/* INSN_* */
};

#define GUEST_SAVED	32	/* registers, at most */

/* A signal frame, as found at the first instruction of a handler. */
struct guest_sigframe {
	uint64_t restorer;	/* where the handler will return to; 0: emulator's own */
	uint64_t ip;		/* the interrupted instruction */
	bool fault;		/* that instruction raised it and did not retire */
	/* Saved registers that say whether `ip` is a handler not yet begun. */
	uint64_t saved[GUEST_SAVED];
};

/* System calls that the plugin acts on; struct guest_arch.nr gives the numbers. */
enum guest_call {
	CALL_MMAP, CALL_MUNMAP, CALL_MPROTECT, CALL_MREMAP,
	CALL_EXECVE, CALL_EXECVEAT, CALL_CLONE, CALL_EXIT, CALL_EXIT_GROUP,
	CALL_RT_SIGACTION, CALL_PRCTL,
	CALL_COUNT,
	CALL_OTHER = CALL_COUNT,
};

/* The emulator's CPU state, as the exec callback's thunk hands it over. */
struct guest_env;
struct guest_system;

struct guest_arch {
	const char *name;		/* as QEMU calls the target */
	uint16_t elf_machine;
	uint8_t unit_kind;		/* enum vtu_unit_kind, where none is asked for */
	int16_t nr[CALL_COUNT];		/* -1: does not exist */
	uint64_t kernel_ip;		/* where exceptions lead: never traced */
	uint64_t tag_bits;		/* of an address, that are ignored */
	uint64_t faults;		/* signals that an instruction raises, which did
					 * not retire then: 1 << number */
	/*
	 * Length of the instruction at bytes (n of them, up to the block's or
	 * the page's end); 0: it is not whole.
	 */
	size_t (*length)(const uint8_t *bytes, size_t n);
	void (*classify)(const uint8_t *bytes, size_t n, uint64_t va,
			 struct insn_class *out);
	/* Code that the kernel provides and the emulator traps (vsyscall). */
	bool (*is_kernel_page)(uint64_t va);
	/* NULL: registers are where we look for them at a program's start. */
	const char *(*verify_env)(const struct guest_env *env, uint64_t pc);
	uint64_t (*stack_pointer)(const struct guest_env *env);
	/* The program counter; true only outside of translated code. */
	uint64_t (*ip)(const struct guest_env *env);
	/* Is this the first instruction of a handler that the kernel set up? */
	bool (*sigframe)(const struct guest_env *env, struct guest_sigframe *out);
	/*
	 * frame->ip may itself be a handler's first instruction, before it ran:
	 * if so, replaces *frame by that handler's frame.
	 */
	bool (*sigframe_outer)(struct guest_sigframe *frame);
	/*
	 * At a block that a conditional branch to its own fall-through led to:
	 * was it taken?  insn: its bytes.
	 */
	bool (*branch_taken)(const struct guest_env *env, const uint8_t *insn, size_t n);
	const struct guest_system *system;	/* NULL: programs only */
};

extern const struct guest_arch guest_x86_64, guest_aarch64;

/* struct rt_sigaction of the kernel's interface, same on both 64-bit guests. */
#define GUEST_SA_RESTORER	0x04000000u
struct guest_sigaction {
	uint64_t handler, flags, restorer, mask;
};

/*
 * Guest memory, which may be unmapped at any moment: false where it is.
 * Strings: copies at most size - 1 bytes and ends them.
 */
bool guest_read(uint64_t addr, void *buf, size_t n);
bool guest_read_string(uint64_t addr, char *buf, size_t size);
/* Distance from a guest to a host address (QEMU's guest_base). */
extern uint64_t guest_base;
/* Those of its addresses' bits that count. */
extern uint64_t guest_address_bits;

static inline void *guest_ptr(uint64_t addr)
{
	return (void *)(uintptr_t)((addr & guest_address_bits) + guest_base);
}

#endif
