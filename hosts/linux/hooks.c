// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Arms and disarms what watches processes. */
#include <linux/kprobes.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "linux.h"

int hwt_linux_kprobes_register(struct kprobe *probes, int n)
{
	int i, rc;

	for (i = 0; i < n; i++) {
		/* What a probe was before does not matter to it again. */
		probes[i].addr = NULL;
		probes[i].flags = 0;
		rc = register_kprobe(&probes[i]);
		if (rc) {
			hwt_warn("hwt: probe of %s: error %d", probes[i].symbol_name, -rc);
			hwt_linux_kprobes_unregister(probes, i);
			return rc;
		}
	}
	return 0;
}

void hwt_linux_kprobes_unregister(struct kprobe *probes, int n)
{
	while (n--)
		unregister_kprobe(&probes[n]);
}

#ifdef HWT_HOOKS

/* In order of arming; undone in reverse. */
static const struct {
	int (*arm)(void);
	void (*disarm)(void);
} hooks[] = {
	{hwt_linux_sched_arm, hwt_linux_sched_disarm},
	{hwt_linux_exec_arm, hwt_linux_exec_disarm},
	{hwt_linux_maps_arm, hwt_linux_maps_disarm},
};

static DEFINE_MUTEX(hooks_lock);
static int hooks_users;
#ifdef HWT_TEST
module_param_named(hooks, hooks_users, int, 0400);
MODULE_PARM_DESC(hooks, "contexts that process hooks are armed for");
#endif

bool hwt_linux_hooks_built(void)
{
	return true;
}

static void disarm(size_t n)
{
	while (n)
		hooks[--n].disarm();
	tracepoint_synchronize_unregister();
}

static int arm(void)
{
	size_t i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		rc = hooks[i].arm();
		if (rc) {
			disarm(i);
			return rc;
		}
	}
	return 0;
}

int hwt_linux_hooks_get(void)
{
	int rc = 0;

	mutex_lock(&hooks_lock);
	if (!hooks_users)
		rc = arm();
	if (!rc)
		hooks_users++;
	mutex_unlock(&hooks_lock);
	return rc;
}

void hwt_linux_hooks_put(void)
{
	mutex_lock(&hooks_lock);
	if (!--hooks_users)
		disarm(ARRAY_SIZE(hooks));
	mutex_unlock(&hooks_lock);
}

struct find {
	struct hwt_linux_probe *probes;
	int n;
};

static void find_one(struct tracepoint *tp, void *arg)
{
	struct find *f = arg;
	int i;

	for (i = 0; i < f->n; i++)
		if (!strcmp(tp->name, f->probes[i].name))
			f->probes[i].tp = tp;
}

int hwt_linux_probes_register(struct hwt_linux_probe *probes, int n)
{
	struct find f = {probes, n};
	int i, rc;

	for_each_kernel_tracepoint(find_one, &f);
	for (i = 0; i < n; i++) {
		rc = probes[i].tp ? tracepoint_probe_register(probes[i].tp, probes[i].fn,
							      NULL) : -ENOENT;
		if (rc) {
			hwt_warn("hwt: tracepoint %s: error %d", probes[i].name, -rc);
			hwt_linux_probes_unregister(probes, i);
			return rc;
		}
	}
	return 0;
}

void hwt_linux_probes_unregister(struct hwt_linux_probe *probes, int n)
{
	while (n--)
		tracepoint_probe_unregister(probes[n].tp, probes[n].fn, NULL);
}

void hwt_linux_where(struct hwt_hook_where *at)
{
	*at = (struct hwt_hook_where){
		.pid = task_tgid_nr(current),
		.tid = task_pid_nr(current),
		.unit = raw_smp_processor_id(),
	};
}

#else

bool hwt_linux_hooks_built(void)
{
	return false;
}

int hwt_linux_hooks_get(void)
{
	return -EOPNOTSUPP;
}

void hwt_linux_hooks_put(void)
{
}

#endif
