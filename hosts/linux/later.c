// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a hook may not do where it runs, the thread does itself before its next user
 * instruction: there it may sleep, and nobody's locks are held.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#include "linux.h"

static void later_work(struct callback_head *work)
{
	struct hwt_linux_later *l = container_of(work, struct hwt_linux_later, work);

	if (!(current->flags & PF_EXITING))
		l->fn(l);
	hwt_live_add(-1);
	kfree(l);
	module_put(THIS_MODULE);
}

void *hwt_linux_later_alloc(size_t size, void (*fn)(struct hwt_linux_later *later))
{
	struct hwt_linux_later *l = hwt_fault_hit() ? NULL : kmalloc(size, GFP_ATOMIC);

	if (!l)
		return NULL;
	init_task_work(&l->work, later_work);
	l->fn = fn;
	return l;
}

int hwt_linux_later_queue(struct task_struct *task, struct hwt_linux_later *l)
{
	hwt_live_add(1);
	__module_get(THIS_MODULE);	/* the context that wants it holds it, too */
	if (!hwt_linux_task_work_add(task, &l->work))
		return 0;
	module_put(THIS_MODULE);
	hwt_live_add(-1);
	kfree(l);
	return -ESRCH;
}
