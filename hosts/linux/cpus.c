// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Running something on a context's CPUs. */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/smp.h>

#include "linux.h"

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
