// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exec.  A client wants to hear of it before it hears of the new image's name
 * and mappings, while the kernel makes these first.  So the other hooks keep
 * silent during exec (task_struct.in_execve), and all of it is told, in order, by
 * work queued on the thread: before its first user instruction, and where it may
 * sleep.  Each record pauses by itself.
 */
#include <linux/binfmts.h>
#include <linux/elf.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>

#include "linux.h"

struct exec {
	struct hwt_linux_later	later;
	int			old_tid;
	uint64_t		addr, base;
};

/* The program's file: its own, or a script's interpreter's. */
static const char *program_path(char *path)
{
	struct file *file;
	char *p = NULL;

	rcu_read_lock();
	file = rcu_dereference(current->mm->exe_file);
	if (file)
		p = d_path(&file->f_path, path, PATH_MAX);
	rcu_read_unlock();
	return IS_ERR_OR_NULL(p) ? "" : p;
}

static void exec_tell(const struct exec *e, char *path)
{
	char name[TASK_COMM_LEN];
	int rc = hwt_linux_tell(hwt_hook_exec, e->old_tid, program_path(path), e->addr,
				e->base);

	if (rc > 0) {
		get_task_comm(name, current);
		rc = hwt_linux_tell(hwt_hook_thread_name, name);
	}
	if (rc > 0)
		hwt_linux_maps_tell(0, ULONG_MAX, path);
}

static void exec_later(struct hwt_linux_later *later)
{
	char *path = hwt_alloc(PATH_MAX, HWT_MAY_SLEEP);

	if (path)
		exec_tell(container_of(later, struct exec, later), path);
	else
		hwt_hook_lost(hwt_linux_core, task_tgid_nr(current));
	hwt_free(path);
}

static uint64_t entry_of(const struct linux_binprm *bprm)
{
	const struct elf64_hdr *e64 = (const void *)bprm->buf;
	const struct elf32_hdr *e32 = (const void *)bprm->buf;

	if (memcmp(e64->e_ident, ELFMAG, SELFMAG))
		return 0;
	return e64->e_ident[EI_CLASS] == ELFCLASS64 ? e64->e_entry : e32->e_entry;
}

/* How far the image lies from where it was linked: by its entry point. */
static uint64_t load_bias(const struct linux_binprm *bprm)
{
	const unsigned long *aux = current->mm->saved_auxv;
	uint64_t entry = entry_of(bprm);
	int i;

	for (i = 0; i + 1 < AT_VECTOR_SIZE && aux[i]; i += 2)
		if (aux[i] == AT_ENTRY && entry)
			return aux[i + 1] - entry;
	return 0;
}

static void probe_exec(void *data, struct task_struct *task, pid_t old_tid,
		       struct linux_binprm *bprm)
{
	int pid = task_tgid_nr(task);
	struct exec *e;

	if (!hwt_hook_is_traced(hwt_linux_core, pid))
		return;
	e = hwt_linux_later_alloc(sizeof(*e), exec_later);
	if (!e) {
		hwt_hook_lost(hwt_linux_core, pid);
		return;
	}
	e->old_tid = old_tid;
	e->addr = task->mm->start_code & PAGE_MASK;
	e->base = load_bias(bprm);
	hwt_linux_later_queue(task, &e->later);
}

static struct hwt_linux_probe probes[] = {
	{"sched_process_exec", probe_exec},
};

int hwt_linux_exec_arm(void)
{
	return hwt_linux_probes_register(probes, ARRAY_SIZE(probes));
}

void hwt_linux_exec_disarm(void)
{
	hwt_linux_probes_unregister(probes, ARRAY_SIZE(probes));
}
