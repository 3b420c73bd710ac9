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
#include <linux/slab.h>
#include <linux/task_work.h>

#include "linux.h"

struct exec {
	struct callback_head	work;
	int			old_tid;
	uint64_t		addr, base;
};

/* Publishes where the thread's unit may be asked; then waits if it has to. */
#define tell(hook, at, ...)                                                              \
	({                                                                               \
		int tell_rc_;                                                            \
		preempt_disable();                                                       \
		hwt_linux_where(at);                                                     \
		tell_rc_ = hook(hwt_linux_core, at, ##__VA_ARGS__);                      \
		preempt_enable();                                                        \
		told(tell_rc_);                                                          \
	})

static int told(int rc)
{
	if (rc > 0 && rc & HWT_HOOK_PAUSED &&
	    hwt_hook_pause_wait(hwt_linux_core, task_tgid_nr(current),
				task_pid_nr(current)))
		return -EINTR;
	return rc;
}

/* The next executable mapping at or after *addr; false: no more. */
static bool next_map(unsigned long *addr, struct hwt_hook_map *map, char *path)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;

	mmap_read_lock(mm);
	vma = find_vma(mm, *addr);
	while (vma && !(vma->vm_flags & VM_EXEC))
		vma = find_vma(mm, vma->vm_end);
	if (vma) {
		*addr = vma->vm_end;
		hwt_linux_map_describe(vma, map, path);
	}
	mmap_read_unlock(mm);
	return vma;
}

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
	struct hwt_hook_where at;
	struct hwt_hook_map map;
	unsigned long addr = 0;
	int rc = tell(hwt_hook_exec, &at, e->old_tid, program_path(path), e->addr, e->base);

	if (rc > 0) {
		get_task_comm(name, current);
		rc = tell(hwt_hook_thread_name, &at, name);
	}
	while (rc > 0 && next_map(&addr, &map, path))
		rc = tell(hwt_hook_mmap, &at, &map);
}

static void exec_work(struct callback_head *work)
{
	struct exec *e = container_of(work, struct exec, work);
	char *path;

	if (!(current->flags & PF_EXITING)) {
		path = hwt_alloc(PATH_MAX, HWT_MAY_SLEEP);
		if (path)
			exec_tell(e, path);
		else
			hwt_hook_lost(hwt_linux_core, task_tgid_nr(current));
		hwt_free(path);
	}
	hwt_live_add(-1);
	kfree(e);
	module_put(THIS_MODULE);
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
	e = hwt_fault_hit() ? NULL : kmalloc(sizeof(*e), GFP_ATOMIC);
	if (!e) {
		hwt_hook_lost(hwt_linux_core, pid);
		return;
	}
	e->old_tid = old_tid;
	e->addr = task->mm->start_code & PAGE_MASK;
	e->base = load_bias(bprm);
	init_task_work(&e->work, exec_work);
	__module_get(THIS_MODULE);	/* the context that wants it holds it, too */
	if (hwt_linux_task_work_add(task, &e->work)) {
		module_put(THIS_MODULE);
		kfree(e);
		return;
	}
	hwt_live_add(1);
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
