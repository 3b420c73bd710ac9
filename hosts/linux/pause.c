// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Pauses: work queued on the thread waits on its way back to user mode, so that
 * the first user instruction after the event is the first after the wake-up.
 * core has set the condition before the record could be seen; here is only the
 * wait for it.
 */
#include <linux/hash.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#include "linux.h"

#define BITS	6

/* A thread that will wait; several events before it does so are one wait. */
struct pause {
	struct callback_head	work;
	struct hlist_node	node;
	struct task_struct	*task;
};

static struct hlist_head pauses[1 << BITS];
static DEFINE_RAW_SPINLOCK(pauses_lock);

static struct hlist_head *bucket_of(struct task_struct *task)
{
	return &pauses[hash_ptr(task, BITS)];
}

/* False: the thread has one already. */
static bool pause_add(struct pause *p)
{
	struct hlist_head *bucket = bucket_of(p->task);
	unsigned long flags;
	struct pause *other;
	bool is_new = true;

	raw_spin_lock_irqsave(&pauses_lock, flags);
	hlist_for_each_entry(other, bucket, node)
		if (other->task == p->task)
			is_new = false;
	if (is_new)
		hlist_add_head(&p->node, bucket);
	raw_spin_unlock_irqrestore(&pauses_lock, flags);
	return is_new;
}

static void pause_remove(struct pause *p)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pauses_lock, flags);
	hlist_del(&p->node);
	raw_spin_unlock_irqrestore(&pauses_lock, flags);
	hwt_live_add(-1);
	kfree(p);
}

static void pause_work(struct callback_head *work)
{
	pause_remove(container_of(work, struct pause, work));
	if (!(current->flags & PF_EXITING))
		hwt_hook_pause_wait(hwt_linux_core, task_tgid_nr(current),
				    task_pid_nr(current));
	module_put(THIS_MODULE);
}

/* 0; -ENOMEM; -ESRCH: it is on its way out. */
static int pause_queue(struct task_struct *task)
{
	struct pause *p = hwt_fault_hit() ? NULL : kmalloc(sizeof(*p), GFP_ATOMIC);
	int rc;

	if (!p)
		return -ENOMEM;
	hwt_live_add(1);
	p->task = task;
	init_task_work(&p->work, pause_work);
	if (!pause_add(p)) {
		hwt_live_add(-1);
		kfree(p);
		return 0;
	}
	__module_get(THIS_MODULE);	/* the context whose hook this is holds it, too */
	rc = hwt_linux_task_work_add(task, &p->work);
	if (rc) {
		pause_remove(p);
		module_put(THIS_MODULE);
	}
	return rc;
}

void hwt_linux_pause(struct task_struct *task, int result)
{
	int pid = task_tgid_nr(task), tid = task_pid_nr(task), rc;

	if (result < 0 || !(result & HWT_HOOK_PAUSED))
		return;
	rc = pause_queue(task);
	if (!rc)
		return;
	hwt_hook_pause_cancel(hwt_linux_core, pid, tid);
	if (rc == -ENOMEM)
		hwt_warn("hwt: no memory to pause thread %d", tid);
}

int hwt_linux_pause_now(int result)
{
	if (result > 0 && result & HWT_HOOK_PAUSED &&
	    hwt_hook_pause_wait(hwt_linux_core, task_tgid_nr(current),
				task_pid_nr(current)))
		return -EINTR;
	return result;
}
