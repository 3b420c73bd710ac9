// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The scheduler's hooks: which thread is on which CPU, and threads' lives.
 *
 * sched_switch runs with the run queue's lock held: no sleep, no wake-up, no
 * allocation.  A new thread's buffer is made by work queued on the thread itself
 * at its birth, which runs before its first user instruction.
 */
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/task_work.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "linux.h"

/*
 * The thread that this CPU's unit was switched in for.  exec can give a running
 * thread another number, so the next switch cannot go by prev's alone.
 */
struct on_cpu {
	int pid, tid;
};
static DEFINE_PER_CPU(struct on_cpu, on_cpu);

static struct on_cpu *note(struct task_struct *task)
{
	struct on_cpu *on = this_cpu_ptr(&on_cpu);

	*on = (struct on_cpu){task_tgid_nr(task), task_pid_nr(task)};
	return on;
}

/*
 * A dead thread's stream has ended, and it may have the number of one that lives: a
 * leader that has not left its CPU yet, of the thread that took its place by exec.
 */
static void switch_in(struct task_struct *next, int cpu)
{
	struct on_cpu *on = note(next);

	if (on->tid && !READ_ONCE(next->exit_state))
		hwt_hook_switch_in(hwt_linux_core, on->pid, on->tid, cpu);
}

static void switch_out(struct task_struct *prev, int cpu)
{
	struct on_cpu *on = this_cpu_ptr(&on_cpu);
	int tid = task_pid_nr(prev);

	if (on->tid && on->tid != tid)
		hwt_hook_switch_out(hwt_linux_core, on->pid, on->tid, cpu);
	if (tid)
		hwt_hook_switch_out(hwt_linux_core, task_tgid_nr(prev), tid, cpu);
}

static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	int cpu = smp_processor_id();

	switch_out(prev, cpu);
	switch_in(next, cpu);
}

void hwt_linux_sched_sync(void)
{
	unsigned long flags;

	local_irq_save(flags);
	switch_in(current, smp_processor_id());
	local_irq_restore(flags);
}

/* ---- calls ---- */

struct thread_call {
	struct task_struct	*task;
	void			(*fn)(void *arg, int cpu);
	void			*arg;
	int			rc;
};

/* Interrupts are off: a thread that is current stays so meanwhile. */
static void call_here(void *arg)
{
	struct thread_call *c = arg;

	if (current != c->task)
		return;
	note(current);
	c->fn(c->arg, smp_processor_id());
	c->rc = 0;
}

/*
 * One look at where the thread was last seen is enough: if it goes on or off a
 * CPU meanwhile, the scheduler's hook does what the call was for.
 */
int hwt_linux_thread_call(void *host, struct hwt_thread *thr,
			  void (*fn)(void *arg, int cpu), void *arg)
{
	struct thread_call c = {.fn = fn, .arg = arg, .rc = -EAGAIN};

	rcu_read_lock();
	c.task = pid_task(find_pid_ns(hwt_thread_tid(thr), &init_pid_ns), PIDTYPE_PID);
	if (c.task)
		get_task_struct(c.task);
	rcu_read_unlock();
	if (!c.task)
		return -ESRCH;
	smp_call_function_single(task_cpu(c.task), call_here, &c, 1);
	put_task_struct(c.task);
	return c.rc;
}

/* ---- birth ---- */

struct birth {
	struct hwt_linux_later	later;
	int			pid, parent;
};

static void birth_later(struct hwt_linux_later *later)
{
	struct birth *b = container_of(later, struct birth, later);
	struct hwt_hook_where at = {.pid = b->pid, .tid = b->parent, .unit = -1};

	hwt_hook_thread_create(hwt_linux_core, &at, task_pid_nr(current), -1);
	hwt_linux_sched_sync();
}

static int thread_birth(struct task_struct *parent, struct task_struct *child)
{
	struct birth *b = hwt_linux_later_alloc(sizeof(*b), birth_later);

	if (!b)
		return -ENOMEM;
	b->pid = task_tgid_nr(parent);
	b->parent = task_pid_nr(parent);
	return hwt_linux_later_queue(child, &b->later);
}

static void probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct hwt_hook_where at;

	hwt_linux_where(&at);
	if (!hwt_hook_is_traced(hwt_linux_core, at.pid))
		return;
	if (child->tgid != parent->tgid)
		hwt_linux_pause(child, hwt_hook_fork(hwt_linux_core, &at, task_tgid_nr(child),
						     task_pid_nr(child)));
	else if (thread_birth(parent, child))
		hwt_hook_lost(hwt_linux_core, at.pid);
}

/* ---- death, names ---- */

static void probe_exit(void *data, struct task_struct *task)
{
	struct hwt_hook_where at;
	int rc;

	preempt_disable();	/* at.unit is to stay true */
	hwt_linux_where(&at);
	rc = hwt_hook_thread_exit(hwt_linux_core, &at, task->exit_code);
	if (rc > 0 && rc & HWT_HOOK_LAST && !atomic_read(&task->signal->live))
		hwt_hook_exit(hwt_linux_core, &at, task->signal->flags & SIGNAL_GROUP_EXIT ?
			      task->signal->group_exit_code : task->exit_code);
	preempt_enable();
}

static void probe_rename(void *data, struct task_struct *task, const char *comm)
{
	struct hwt_hook_where at;

	/* exec.c tells of the name that a program gets. */
	if (task->in_execve)
		return;
	hwt_linux_where(&at);
	at.pid = task_tgid_nr(task);
	at.tid = task_pid_nr(task);
	hwt_hook_thread_name(hwt_linux_core, &at, comm);
}

static struct hwt_linux_probe probes[] = {
	{"sched_switch", probe_switch},
	{"sched_process_fork", probe_fork},
	{"sched_process_exit", probe_exit},
	{"task_rename", probe_rename},
};

int hwt_linux_sched_arm(void)
{
	int cpu;

	/* What was noted when hooks were armed before says nothing of today. */
	for_each_possible_cpu(cpu)
		*per_cpu_ptr(&on_cpu, cpu) = (struct on_cpu){0};
	return hwt_linux_probes_register(probes, ARRAY_SIZE(probes));
}

void hwt_linux_sched_disarm(void)
{
	hwt_linux_probes_unregister(probes, ARRAY_SIZE(probes));
}
