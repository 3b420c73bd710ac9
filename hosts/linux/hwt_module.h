/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What hwt.ko exports to the modules that bring backends and trace units. */
#ifndef HWT_MODULE_H
#define HWT_MODULE_H

#include <linux/module.h>
#include <linux/smp.h>

#include "../../core/hwt_backend.h"

/*
 * Offers a backend to clients.  While a context uses it, `owner` is held, so
 * unregister, which the owner's exit calls, finds no users.  -EEXIST: there is a
 * backend of that name; -EINVAL.
 */
int hwt_module_backend_register(struct hwt_backend *be, struct module *owner);
void hwt_module_backend_unregister(struct hwt_backend *be);

/*
 * The interrupt of this CPU's unit, from where interrupts are off; HWT_IRQ_*.
 */
int hwt_module_irq(void);

/*
 * This CPU comes, its unit being ready, or goes, its unit still being there:
 * from the owner's hotplug callbacks, interrupts off.
 */
void hwt_module_cpu_online(int cpu);
void hwt_module_cpu_offline(int cpu);

/* hwt_bus_ops.this_cpu where a unit is a CPU's. */
static inline int hwt_module_this_cpu(struct hwt_bus *bus)
{
	return smp_processor_id();
}

#endif
