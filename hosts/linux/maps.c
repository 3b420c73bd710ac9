// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Executable mappings: probes on functions of the kernel's that everybody who
 * changes one passes through.  They run with preemption off, mostly under the
 * address space's lock, and tell of the calling process's own mappings only.
 *
 *   perf_event_mmap   a mapping is made, or mprotect changed it: X is there now
 *   move_page_tables  mremap gives one another address
 *   mprotect_fixup    before a change: X goes away.  The pages stay, so that is
 *                     no unmap
 *   unmap_vmas        mappings go
 *
 * During exec the address space is a new one that nobody knows of yet; exec.c
 * tells of it as a whole.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/mman.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>

#include "compat.h"
#include "linux.h"

static char __percpu *paths;	/* PATH_MAX a CPU */

/* "[vdso]" and its like; NULL: it has none. */
static const char *special_name(struct vm_area_struct *vma)
{
	return vma->vm_ops && vma->vm_ops->name ? vma->vm_ops->name(vma) : NULL;
}

static void describe_file(struct vm_area_struct *vma, struct hwt_hook_map *map, char *path)
{
	struct inode *inode = file_inode(vma->vm_file);
	char *p = d_path(&vma->vm_file->f_path, path, PATH_MAX);

	map->path = IS_ERR(p) ? "//toolong" : p;
	map->pgoff = (uint64_t)vma->vm_pgoff << PAGE_SHIFT;
	map->ino = inode->i_ino;
	map->dev_major = MAJOR(inode->i_sb->s_dev);
	map->dev_minor = MINOR(inode->i_sb->s_dev);
}

void hwt_linux_map_describe(struct vm_area_struct *vma, struct hwt_hook_map *map,
			    char *path)
{
	*map = (struct hwt_hook_map){
		.addr = vma->vm_start,
		.len = vma->vm_end - vma->vm_start,
		.prot = vma->vm_flags & (VM_READ | VM_WRITE | VM_EXEC),
		.mapflags = vma->vm_flags & VM_SHARED ? MAP_SHARED : MAP_PRIVATE,
	};
	if (vma->vm_file) {
		describe_file(vma, map, path);
		return;
	}
	map->mapflags |= MAP_ANONYMOUS;
	map->path = special_name(vma);
	if (!map->path)
		map->path = "//anon";
}

/* Is it the caller's own business, and does somebody trace the caller? */
static bool is_ours(const struct vm_area_struct *vma, struct hwt_hook_where *at)
{
	if (!current->mm || vma->vm_mm != current->mm || current->in_execve)
		return false;
	hwt_linux_where(at);
	return hwt_hook_is_traced(hwt_linux_core, at->pid);
}

static int on_mmap(struct kprobe *probe, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);
	struct hwt_hook_where at;
	struct hwt_hook_map map;

	if (!(vma->vm_flags & VM_EXEC) || !is_ours(vma, &at))
		return 0;
	hwt_linux_map_describe(vma, &map, this_cpu_ptr(paths));
	hwt_linux_pause(current, hwt_hook_mmap(hwt_linux_core, &at, &map));
	return 0;
}

static int on_move(struct kprobe *probe, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 2);
	unsigned long addr = regs_get_kernel_argument(regs, 3);
	struct hwt_hook_where at;
	struct hwt_hook_map map;

	if (!(vma->vm_flags & VM_EXEC) || !is_ours(vma, &at))
		return 0;
	hwt_linux_map_describe(vma, &map, this_cpu_ptr(paths));
	/* It may have become one with a neighbour. */
	if (vma->vm_file)
		map.pgoff += addr - map.addr;
	map.addr = addr;
	map.len = regs_get_kernel_argument(regs, 4);
	hwt_linux_pause(current, hwt_hook_mmap(hwt_linux_core, &at, &map));
	return 0;
}

static int on_protect(struct kprobe *probe, struct pt_regs *regs)
{
	struct hwt_compat_protect p = hwt_compat_protect(regs);
	struct hwt_hook_where at;

	if (!(p.vma->vm_flags & VM_EXEC) || p.flags & VM_EXEC || !is_ours(p.vma, &at))
		return 0;
	hwt_hook_mprotect(hwt_linux_core, &at, p.start, p.end - p.start,
			  p.flags & (VM_READ | VM_WRITE));
	return 0;
}

static int on_unmap(struct kprobe *probe, struct pt_regs *regs)
{
	struct hwt_compat_unmap u = hwt_compat_unmap(regs);
	struct hwt_hook_where at;
	struct vm_area_struct *vma;
	unsigned long from, to;

	/* NULL: nothing was mapped there. */
	if (!u.vma || !is_ours(u.vma, &at))
		return 0;
	for (vma = u.vma; vma && vma->vm_start < u.end; vma = hwt_compat_unmap_next(&u)) {
		from = max(vma->vm_start, u.start);
		to = min(vma->vm_end, u.end);
		if (vma->vm_flags & VM_EXEC && from < to)
			hwt_hook_munmap(hwt_linux_core, &at, from, to - from);
	}
	return 0;
}

static struct kprobe probes[] = {
	{.symbol_name = "perf_event_mmap", .pre_handler = on_mmap},
	{.symbol_name = "move_page_tables", .pre_handler = on_move},
	{.symbol_name = "mprotect_fixup", .pre_handler = on_protect},
	{.symbol_name = "unmap_vmas", .pre_handler = on_unmap},
};

int hwt_linux_maps_arm(void)
{
	int rc;

	paths = __alloc_percpu(PATH_MAX, 8);
	if (!paths)
		return -ENOMEM;
	rc = hwt_linux_kprobes_register(probes, ARRAY_SIZE(probes));
	if (rc)
		free_percpu(paths);
	return rc;
}

void hwt_linux_maps_disarm(void)
{
	hwt_linux_kprobes_unregister(probes, ARRAY_SIZE(probes));
	free_percpu(paths);
}
