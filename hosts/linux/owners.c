// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Processes that own contexts.  An owner is named by its struct pid, which is
 * held as long as it may own something, so the name is not given to another.
 *
 * A context ends with its owner even if a descriptor was handed to somebody
 * else: the kernel wakes pid->wait_pidfd when the last thread of a process has
 * ended, which needs no hook in anybody's way.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "linux.h"

struct owner {
	struct list_head	link;
	struct pid		*pid;
	struct wait_queue_entry	wait;
	struct work_struct	work;
};

static DEFINE_MUTEX(owners_lock);
static LIST_HEAD(owners);
static struct workqueue_struct *owner_queue;

static uint64_t owner_id(struct pid *pid)
{
	return (uintptr_t)pid;
}

void hwt_linux_cred(struct hwt_cred *cred)
{
	cred->owner = owner_id(task_tgid(current));
	cred->pid = task_tgid_nr(current);
	cred->uid = from_kuid(&init_user_ns, current_euid());
	cred->perfmon = perfmon_capable();
}

bool hwt_linux_process_dead(struct pid *pid)
{
	struct task_struct *leader;
	bool dead;

	rcu_read_lock();
	leader = pid_task(pid, PIDTYPE_TGID);
	dead = !leader || !atomic_read(&leader->signal->live);
	rcu_read_unlock();
	return dead;
}

static void owner_free(struct owner *o)
{
	put_pid(o->pid);
	hwt_live_add(-1);
	kfree(o);
}

/* Woken for each change of the process's state; the last is its death. */
static void owner_work(struct work_struct *work)
{
	struct owner *o = container_of(work, struct owner, work);

	if (!hwt_linux_process_dead(o->pid))
		return;
	mutex_lock(&owners_lock);
	list_del(&o->link);
	mutex_unlock(&owners_lock);
	remove_wait_queue(&o->pid->wait_pidfd, &o->wait);
	cancel_work(&o->work);	/* woken again since this began */
	hwt_owner_exit(hwt_linux_core, owner_id(o->pid));
	owner_free(o);
}

static int owner_wake(struct wait_queue_entry *wait, unsigned int mode, int flags, void *key)
{
	queue_work(owner_queue, &container_of(wait, struct owner, wait)->work);
	return 0;
}

static struct owner *owner_find(struct pid *pid)
{
	struct owner *o;

	list_for_each_entry(o, &owners, link)
		if (o->pid == pid)
			return o;
	return NULL;
}

int hwt_linux_owner_watch(void)
{
	struct pid *pid = task_tgid(current);
	struct owner *o;
	int rc = 0;

	mutex_lock(&owners_lock);
	if (owner_find(pid))
		goto unlock;
	o = hwt_fault_hit() ? NULL : kzalloc(sizeof(*o), GFP_KERNEL);
	if (!o) {
		rc = -ENOMEM;
		goto unlock;
	}
	hwt_live_add(1);
	o->pid = get_pid(pid);
	INIT_WORK(&o->work, owner_work);
	init_waitqueue_func_entry(&o->wait, owner_wake);
	list_add(&o->link, &owners);
	add_wait_queue(&pid->wait_pidfd, &o->wait);
unlock:
	mutex_unlock(&owners_lock);
	return rc;
}

void hwt_linux_owner_dies(const struct hwt_cred *cred)
{
	if (hwt_linux_process_dead(task_tgid(current)))
		hwt_owner_exit(hwt_linux_core, cred->owner);
}

int hwt_linux_owners_init(void)
{
	owner_queue = alloc_workqueue("hwt", 0, 0);
	return owner_queue ? 0 : -ENOMEM;
}

/* Nobody has anything open: the owners that still live own nothing. */
void hwt_linux_owners_exit(void)
{
	struct owner *o, *next;

	mutex_lock(&owners_lock);
	list_for_each_entry(o, &owners, link)
		remove_wait_queue(&o->pid->wait_pidfd, &o->wait);
	mutex_unlock(&owners_lock);
	/* Work that was queued before takes its owner off the list. */
	destroy_workqueue(owner_queue);
	list_for_each_entry_safe(o, next, &owners, link)
		owner_free(o);
}
