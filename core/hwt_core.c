/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_context.h"
#include "hwt_contexthash.h"
#include "hwt_var.h"

struct hwt_core *hwt_load(const struct hwt_host_ops *ops, void *host)
{
	struct hwt_core *core = hwt_alloc(sizeof(*core), HWT_MAY_SLEEP);
	size_t size;

	if (!core)
		return NULL;
	core->ops = ops;
	core->host = host;
	core->ncpus = ops->ncpus ? ops->ncpus(host) : 0;
	if (core->ncpus > 0) {
		size = (size_t)core->ncpus * sizeof(core->cpus[0]);
		core->cpus = hwt_alloc(size, HWT_MAY_SLEEP);
		if (!core->cpus)
			goto free_core;
	}
	hwt_spin_init(&core->lock);
	hwt_wait_init(&core->drained);
	hwt_wait_init(&core->child_wait);
	hwt_contexthash_load(core);
	return core;

free_core:
	hwt_free(core);
	return NULL;
}

int hwt_unload(struct hwt_core *core)
{
	hwt_irqflags_t flags;
	bool busy;

	hwt_context_reap(core, true);
	hwt_spin_lock(&core->lock, flags);
	busy = core->contexts != NULL;
	hwt_spin_unlock(&core->lock, flags);
	if (busy)
		return -EBUSY;
	hwt_free(core->cpus);
	hwt_free(core);
	return 0;
}

void hwt_set_wakeup_callback(struct hwt_core *core, void (*fn)(void *host))
{
	hwt_store_release(&core->wakeup, fn);
}

void hwt_core_wakeup(struct hwt_core *core)
{
	void (*fn)(void *host) = hwt_load_acquire(&core->wakeup);

	if (fn)
		fn(core->host);
}

int hwt_core_pid_to_user(struct hwt_core *core, void *target, int pid)
{
	/* Contexts in CPU mode have no target. */
	if (!core->ops->pid_to_user || !target)
		return pid;
	return core->ops->pid_to_user(core->host, target, pid);
}

const struct hwt_host_ops *hwt_core_host_ops(const struct hwt_core *core)
{
	return core->ops;
}

void *hwt_core_host(const struct hwt_core *core)
{
	return core->host;
}
