// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Running something where a thread or a context's CPUs are. */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/sched/task.h>
#include <linux/smp.h>

#include "linux.h"

struct thread_call {
	struct task_struct	*task;
	void			(*fn)(void *arg, int cpu);
	void			*arg;
	int			rc;
};

/* Interrupts are off: a thread that is current stays so meanwhile. */
static void call_on_cpu(void *arg)
{
	struct thread_call *c = arg;

	if (current != c->task)
		return;
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
	smp_call_function_single(task_cpu(c.task), call_on_cpu, &c, 1);
	put_task_struct(c.task);
	return c.rc;
}

struct cpus_call {
	void	(*fn)(void *arg, int cpu);
	void	*arg;
};

static void call_here(void *arg)
{
	struct cpus_call *c = arg;

	c->fn(c->arg, smp_processor_id());
}

int hwt_linux_cpus_call(void *host, const unsigned long *cpus, int ncpus,
			void (*fn)(void *arg, int cpu), void *arg)
{
	struct cpus_call c = {fn, arg};
	int cpu, rc = 0;

	cpus_read_lock();
	for_each_set_bit(cpu, cpus, ncpus)
		if (smp_call_function_single(cpu, call_here, &c, 1))
			rc = -ENXIO;
	cpus_read_unlock();
	return rc;
}

int hwt_linux_ncpus(void *host)
{
	return nr_cpu_ids;
}

bool hwt_linux_cpu_online(void *host, int cpu)
{
	return cpu_online(cpu);
}
