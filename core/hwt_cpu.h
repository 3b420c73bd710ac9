/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CPU mode: the CPUs of a context, and which of them are taken. */
#ifndef HWT_CPU_H
#define HWT_CPU_H

#include "hwt_var.h"

struct hwt_cpu {
	struct hwt_context	*ctx;
	struct hwt_cpu		*next;		/* the context's, by rising id */
	struct hwt_cpu		*unit_next;	/* core->cpus[id]; core->lock */
	int			id;
	struct hwt_buffer	buf;
};

/*
 * Buffers and nodes for the CPUs in the user's set.  May sleep.  -EFAULT;
 * -EINVAL: no size, or one that is no multiple of a word; -ENODEV: no CPU;
 * -ENXIO: one is not there or offline; -EBUSY: one is traced, or a thread is
 * with the same backend; -ENOMEM.  What was made stays for hwt_cpu_free.
 */
int hwt_cpu_add_set(struct hwt_context *ctx, uint64_t uset, size_t size);
/* Every CPU takes the context's state.  -ENXIO: one is offline. */
int hwt_cpu_sync(struct hwt_context *ctx);
/* Interrupts of the CPUs find the context no more; waits for those in flight. */
void hwt_cpu_unlink(struct hwt_context *ctx);
void hwt_cpu_free(struct hwt_context *ctx);
/* The unit's interrupt, for whichever context traces it: HWT_IRQ_* bits. */
int hwt_cpu_irq(struct hwt_core *core, int unit);
int hwt_cpu_irq_resume(struct hwt_core *core, int unit);
/* Is be taken by contexts of the other mode?  core->lock held. */
bool hwt_cpu_mode_conflict(struct hwt_core *core, struct hwt_backend *be, int mode);

#endif
