/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * struct hwt_bus: the only way from a driver (backends/) to the registers of a
 * trace unit.  Implemented by the silicon buses, by the virtual unit's bus
 * (vtu/bus.c) and by the recording bus of the tests.
 *
 * A unit is named by a number: a CPU on silicon, a block of the window on the
 * virtual unit.  A register is named by the architecture's own number (PT: the
 * MSR's).  Callers may hold spinlocks with interrupts off: no op sleeps on
 * silicon; on the embedded host read and barrier wait for the parked vCPU.
 */
#ifndef HWT_BUS_H
#define HWT_BUS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

struct hwt_bus;

enum hwt_barrier {
	HWT_BARRIER_CONTEXT,	/* register writes took effect before what follows */
	HWT_BARRIER_DATA,	/* trace data is visible in memory (PT: SFENCE-like drain) */
};

struct hwt_bus_ops {
	/* Posted: takes effect in order, at the latest at the next barrier or read. */
	void (*write)(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t value);
	uint64_t (*read)(struct hwt_bus *bus, int unit, uint32_t reg);
	void (*barrier)(struct hwt_bus *bus, int unit, enum hwt_barrier kind);
	/* Waits until (reg & mask) == value; 0, or -ETIMEDOUT. */
	int (*poll)(struct hwt_bus *bus, int unit, uint32_t reg, uint64_t mask,
		    uint64_t value);
	/* The unit's clock, in ticks (PT: TSC). */
	uint64_t (*now)(struct hwt_bus *bus, int unit);
	/*
	 * Capability word `index` of the technology (PT: CPUID.14H, subleaf
	 * index / 4, register index % 4 in the order eax, ebx, ecx, edx).
	 * 0 beyond the last.
	 */
	uint32_t (*cap)(struct hwt_bus *bus, uint32_t index);
	/*
	 * Address under which the unit reaches a page of hwt_pages: `addr` is
	 * what the host's page allocator calls it (physical address; offset in
	 * the DRAM file).
	 */
	uint64_t (*buf_addr)(struct hwt_bus *bus, uint64_t addr);
	/*
	 * Of units that can share a sink (an ETR): whose sink is free for a context that
	 * begins to trace at `unit`: that one's, if it may be.  It stays, also when its CPU
	 * is gone, and nobody else gets it until sink_put.  In any context.  -EBUSY: none
	 * is free.  NULL: one's own.
	 */
	int (*sink_get)(struct hwt_bus *bus, int unit);
	void (*sink_put)(struct hwt_bus *bus, int unit);
	/* The unit of the CPU that this runs on. */
	int (*this_cpu)(struct hwt_bus *bus);
};

struct hwt_bus {
	const struct hwt_bus_ops *ops;
	const char *name;	/* what the unit is, for HWT_IOC_QUERY */
	uint64_t time_hz;	/* ticks of now() a second */
	/*
	 * Bytes that a unit may still write after it raised its interrupt and
	 * before the handler runs, where the CPU is held then (hwt_host_ops.may_hold).
	 */
	uint32_t skid;
};

#endif
