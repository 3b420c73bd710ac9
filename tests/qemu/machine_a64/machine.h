/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The AArch64 test machine: addresses, and what its parts have of each other.
 *
 *	boot.S	start, vectors, ways to user code and back
 *	machine.c	CPUs, pages, what the vectors do, rows
 *	units.c		the trace units' drivers
 *	user.S kernel.S	what runs under trace
 */
#ifndef TESTS_QEMU_MACHINE_A64_H
#define TESTS_QEMU_MACHINE_A64_H

#include "../machine/report.h"

#define RAM_BASE    0x40000000ull
#define KERNEL_BASE 0xffffff8000000000ull      /* physical 0, first 512 GiB */
#define USER_BASE   0x1000000000ull	       /* level 1 entry 64 */
#define USER_ALIAS  (USER_BASE + (1ull << 30)) /* the user pages once more */

#define CONTEXTS    200u /* context IDs that row "spaces" has */

#ifndef MACHINE_HOST
#include <stdbool.h>

typedef uint64_t u64;
typedef uint32_t u32;

struct vtu_block;

struct cpu {
	u32 index;
	struct vtu_block *unit;
	struct recording *current;
	u64 next_trace, traces_end;
	volatile u64 events;
	u32 timer_seed, calm, steps;
	bool timer_on, fetch_goes;
	u64 saved_sp;
	u64 *user_table, *page_table;
	u64 space; /* TTBR0_EL1 */
};

static inline void *from_pa(u64 pa)
{
	return (void *)(pa + KERNEL_BASE);
}

static inline u64 to_pa(const void *p)
{
	return (u64)p - KERNEL_BASE;
}

#define read_sysreg(r)                                      \
	({                                                  \
		u64 v_;                                     \
		__asm__ volatile("mrs %0, " #r : "=r"(v_)); \
		v_;                                         \
	})
#define write_sysreg(r, v) __asm__ volatile("msr " #r ", %0" : : "r"((u64)(v)) : "memory")

void fail(const char *s) __attribute__((noreturn));

/* units.c */
void unit_find(struct cpu *c);
/* The i-th configuration of this machine's unit; false: there are no more. */
bool unit_configuration(u32 i, u64 *config, u32 *levels);
void unit_start(struct cpu *c, const char *name, u64 config, u32 levels);
void unit_stop(struct cpu *c);
/* Addresses that are no memory. */
void unit_hostile(struct cpu *c);
#endif

#endif
