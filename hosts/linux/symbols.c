// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a kernel has but does not export.  A probe that is never hit tells where
 * kallsyms_lookup_name is, and that knows all others.
 */
#include <linux/kprobes.h>
#include <linux/task_work.h>

#include "linux.h"

static unsigned long (*lookup_name)(const char *name);

static void find_lookup(void)
{
	struct kprobe probe = {.symbol_name = "kallsyms_lookup_name"};

	if (register_kprobe(&probe))
		return;
	lookup_name = (void *)probe.addr;
	unregister_kprobe(&probe);
}

unsigned long hwt_linux_symbol(const char *name)
{
	if (!lookup_name)
		find_lookup();
	return lookup_name ? lookup_name(name) : 0;
}

#ifdef HWT_LOOKUP

static typeof(&task_work_add) add;

int hwt_linux_symbols_init(void)
{
	add = (void *)hwt_linux_symbol("task_work_add");
	return add ? 0 : -ENOENT;
}

int hwt_linux_task_work_add(struct task_struct *task, struct callback_head *work)
{
	return add(task, work, TWA_RESUME);
}

#else

int hwt_linux_symbols_init(void)
{
	return 0;
}

int hwt_linux_task_work_add(struct task_struct *task, struct callback_head *work)
{
	return task_work_add(task, work, TWA_RESUME);
}

#endif
