// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hwt.ko: the framework.  Units and backends come in modules of their own
 * (hwt_module.h).
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include "linux.h"

struct hwt_core *hwt_linux_core;

int hwt_module_backend_register(struct hwt_backend *be, struct module *owner)
{
	be->owner = owner;
	if (!hwt_linux_hooks_built())
		be->modes &= ~(1u << HWT_MODE_THREAD);
	return hwt_backend_register(hwt_linux_core, be);
}
EXPORT_SYMBOL_GPL(hwt_module_backend_register);

void hwt_module_backend_unregister(struct hwt_backend *be)
{
	int rc = hwt_backend_unregister(hwt_linux_core, be);

	WARN(rc, "hwt: backend %s: still in use, error %d\n", be->name, -rc);
}
EXPORT_SYMBOL_GPL(hwt_module_backend_unregister);

int hwt_module_irq(void)
{
	return hwt_hook_irq(hwt_linux_core, task_tgid_nr(current), task_pid_nr(current),
			    smp_processor_id());
}
EXPORT_SYMBOL_GPL(hwt_module_irq);

/* What core/hwt_os.h and core/hwt_backend.h offer to a backend. */
EXPORT_SYMBOL_GPL(hwt_alloc);
EXPORT_SYMBOL_GPL(hwt_free);
EXPORT_SYMBOL_GPL(hwt_warn);
EXPORT_SYMBOL_GPL(hwt_core_host_ops);
EXPORT_SYMBOL_GPL(hwt_core_host);
EXPORT_SYMBOL_GPL(hwt_context_buffer);

void hwt_module_cpu_online(int cpu)
{
	hwt_hook_cpu_online(hwt_linux_core, cpu);
}
EXPORT_SYMBOL_GPL(hwt_module_cpu_online);

void hwt_module_cpu_offline(int cpu)
{
	hwt_hook_cpu_offline(hwt_linux_core, cpu);
}
EXPORT_SYMBOL_GPL(hwt_module_cpu_offline);

static int __init hwt_init(void)
{
	int rc = hwt_linux_symbols_init();

	if (!rc)
		rc = hwt_linux_os_init();
	if (rc)
		return rc;
	hwt_linux_core = hwt_load(&hwt_linux_ops, NULL);
	if (!hwt_linux_core) {
		rc = -ENOMEM;
		goto exit_os;
	}
	rc = hwt_linux_owners_init();
	if (rc)
		goto unload_core;
	rc = hwt_linux_nodes_init();
	if (rc)
		goto exit_owners;
	return 0;

exit_owners:
	hwt_linux_owners_exit();
unload_core:
	hwt_unload(hwt_linux_core);
exit_os:
	hwt_linux_os_exit();
	return rc;
}

/* Contexts and open nodes hold the module, so nothing is in use here. */
static void __exit hwt_exit(void)
{
	hwt_linux_nodes_exit();
	hwt_linux_owners_exit();
	WARN_ON(hwt_unload(hwt_linux_core));
	hwt_linux_os_exit();
	/* Work on tasks that put its reference may still be on its way out. */
	synchronize_rcu_tasks();
	rcu_barrier();
}

module_init(hwt_init);
module_exit(hwt_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Hardware trace framework");
