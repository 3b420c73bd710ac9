// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Processes that are traced.  A reference holds the struct pid, so the number is
 * not reused, and keeps the process hooks armed.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "linux.h"

struct target {
	struct pid		*pid;
	struct pid_namespace	*ns;	/* the owner's: how it calls processes */
	const struct cred	*owner;	/* NULL: may trace anything */
};

/* FreeBSD's rule: one of the target's uids is the owner's effective one. */
static bool uids_match(const struct cred *owner, const struct cred *target)
{
	return uid_eq(owner->euid, target->uid) || uid_eq(owner->euid, target->euid) ||
	       uid_eq(owner->euid, target->suid);
}

static bool in_groups(const struct cred *owner, kgid_t gid)
{
	const struct group_info *groups = owner->group_info;
	int i;

	for (i = 0; i < groups->ngroups; i++)
		if (gid_eq(groups->gid[i], gid))
			return true;
	return gid_eq(owner->egid, gid);
}

/* FreeBSD's rule: the owner is in each of the target's groups. */
static bool groups_match(const struct cred *owner, const struct cred *target)
{
	int i;

	for (i = 0; i < target->group_info->ngroups; i++)
		if (!in_groups(owner, target->group_info->gid[i]))
			return false;
	return in_groups(owner, target->gid) && in_groups(owner, target->egid) &&
	       in_groups(owner, target->sgid);
}

/* Linux's rule: capabilities that the owner lacks are not to be watched at work. */
static bool is_beyond(const struct cred *owner, const struct cred *target)
{
	return owner->user_ns != target->user_ns ||
	       !cap_issubset(target->cap_permitted, owner->cap_permitted);
}

/* A set-uid image, or one that cannot be read, is not its user's to look into. */
static bool is_guarded(struct task_struct *leader)
{
	struct mm_struct *mm = get_task_mm(leader);
	bool guarded = mm && get_dumpable(mm) != SUID_DUMP_USER;

	if (mm)
		mmput(mm);
	return guarded;
}

static bool creds_match(const struct cred *owner, const struct cred *target)
{
	return uids_match(owner, target) && groups_match(owner, target) &&
	       !is_beyond(owner, target);
}

static bool may_trace(struct task_struct *leader)
{
	const struct cred *target = get_task_cred(leader);
	bool may = creds_match(current_cred(), target);

	put_cred(target);
	return may && !is_guarded(leader);
}

static int target_check(struct pid *pid, const struct hwt_cred *cred)
{
	struct task_struct *leader = get_pid_task(pid, PIDTYPE_TGID);
	int rc = 0;

	if (!leader)
		return -ESRCH;
	if (leader->flags & PF_KTHREAD || (!cred->perfmon && !may_trace(leader)))
		rc = -EPERM;
	put_task_struct(leader);
	return rc;
}

int hwt_linux_target_get(void *host, const struct hwt_cred *cred, int pid, void **target)
{
	struct target *t = hwt_alloc(sizeof(*t), HWT_MAY_SLEEP);
	int rc;

	if (!t)
		return -ENOMEM;
	rcu_read_lock();
	t->pid = get_pid(find_pid_ns(pid, &init_pid_ns));
	rcu_read_unlock();
	rc = t->pid ? target_check(t->pid, cred) : -ESRCH;
	if (!rc)
		rc = hwt_linux_hooks_get();
	if (rc) {
		put_pid(t->pid);
		hwt_free(t);
		return rc;
	}
	t->ns = get_pid_ns(task_active_pid_ns(current));
	t->owner = cred->perfmon ? NULL : get_current_cred();
	*target = t;
	return 0;
}

void hwt_linux_target_put(void *host, void *target)
{
	struct target *t = target;

	hwt_linux_hooks_put();
	if (t->owner)
		put_cred(t->owner);
	put_pid_ns(t->ns);
	put_pid(t->pid);
	hwt_free(t);
}

bool hwt_linux_target_dead(void *host, void *target)
{
	return hwt_linux_process_dead(((struct target *)target)->pid);
}

/* The program that the current thread executes now. */
bool hwt_linux_target_allowed(void *host, void *target)
{
	const struct target *t = target;

	return !t->owner || (creds_match(t->owner, current_cred()) &&
			     get_dumpable(current->mm) == SUID_DUMP_USER);
}

int hwt_linux_target_threads(void *host, void *target, struct hwt_target_thread *out,
			     int max)
{
	struct task_struct *leader, *t;
	int n = 0;

	rcu_read_lock();
	leader = pid_task(((struct target *)target)->pid, PIDTYPE_TGID);
	if (leader) {
		for_each_thread(leader, t) {
			if (READ_ONCE(t->exit_state))
				continue;
			if (n < max)
				out[n] = (struct hwt_target_thread){task_pid_nr(t), -1};
			n++;
		}
	}
	rcu_read_unlock();
	return n;
}

int hwt_linux_pid_from_user(void *host, const struct hwt_cred *cred, int pid)
{
	int nr;

	rcu_read_lock();
	nr = pid_nr(find_vpid(pid));
	rcu_read_unlock();
	return nr;
}

int hwt_linux_pid_to_user(void *host, void *target, int pid)
{
	struct target *t = target;
	int nr;

	if (t->ns == &init_pid_ns)
		return pid;
	rcu_read_lock();
	nr = pid_nr_ns(find_pid_ns(pid, &init_pid_ns), t->ns);
	rcu_read_unlock();
	return nr;
}
