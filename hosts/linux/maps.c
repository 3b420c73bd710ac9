// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Executable mappings: probes on functions of the kernel's that everybody who
 * changes one passes through.  They run with preemption off, mostly under the
 * address space's lock, and tell of the calling process's own mappings only.
 *
 *   perf_event_mmap   a mapping is made, or mprotect changed it: X is there now
 *   move_page_tables  mremap gives one another address
 *   mremap            may make one longer where it is; what it calls then differs
 *                     from kernel to kernel, so the thread itself looks afterwards
 *   mprotect_fixup    before a change: X goes away.  The pages stay, so that is
 *                     no unmap
 *   unmap_vmas        mappings go
 *
 * During exec the address space is a new one that nobody knows of yet; exec.c
 * tells of it as a whole.
 */
#include <asm/syscall.h>
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

/* Of a mapping only [from, to). */
static void map_clip(struct hwt_hook_map *map, unsigned long from, unsigned long to)
{
	uint64_t end = min_t(uint64_t, map->addr + map->len, to);

	if (from > map->addr) {
		if (!(map->mapflags & MAP_ANONYMOUS))
			map->pgoff += from - map->addr;
		map->addr = from;
	}
	map->len = end - map->addr;
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
	/* It may have become one with its neighbours; and longer than what is moved. */
	map_clip(&map, addr, vma->vm_end);
	hwt_linux_pause(current, hwt_hook_mmap(hwt_linux_core, &at, &map));
	return 0;
}

/* The first executable mapping in [*from, to), from which on is next; false: none. */
static bool next_map(unsigned long *from, unsigned long to, struct hwt_hook_map *map,
		     char *path)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;

	mmap_read_lock(mm);
	vma = find_vma(mm, *from);
	while (vma && !(vma->vm_flags & VM_EXEC))
		vma = find_vma(mm, vma->vm_end);
	if (vma && vma->vm_start < to) {
		hwt_linux_map_describe(vma, map, path);
		map_clip(map, *from, to);
		*from = vma->vm_end;
	} else {
		vma = NULL;
	}
	mmap_read_unlock(mm);
	return vma;
}

void hwt_linux_maps_tell(unsigned long from, unsigned long to, char *path)
{
	struct hwt_hook_map map;
	int rc = 1;

	while (rc > 0 && next_map(&from, to, &map, path))
		rc = hwt_linux_tell(hwt_hook_mmap, &map);
}

struct growth {
	struct hwt_linux_later	later;
	unsigned long		addr, from, to;
};

/* What was moved, on_move told. */
static void growth_later(struct hwt_linux_later *later)
{
	struct growth *g = container_of(later, struct growth, later);
	char *path;

	if (regs_return_value(current_pt_regs()) != g->addr)
		return;
	path = hwt_alloc(PATH_MAX, HWT_MAY_SLEEP);
	if (path)
		hwt_linux_maps_tell(g->from, g->to, path);
	else
		hwt_hook_lost(hwt_linux_core, task_tgid_nr(current));
	hwt_free(path);
}

/* mremap(addr, old length, new length, ...), as the program gave them. */
static int on_mremap(struct kprobe *probe, struct pt_regs *regs)
{
	struct pt_regs *user = (void *)regs_get_kernel_argument(regs, 0);
	unsigned long arg[6];
	struct growth *g;
	int pid = task_tgid_nr(current);

	syscall_get_arguments(current, user, arg);
	if (PAGE_ALIGN(arg[2]) <= PAGE_ALIGN(arg[1]) ||
	    !hwt_hook_is_traced(hwt_linux_core, pid))
		return 0;
	g = hwt_linux_later_alloc(sizeof(*g), growth_later);
	if (!g) {
		hwt_hook_lost(hwt_linux_core, pid);
		return 0;
	}
	g->addr = arg[0];
	g->from = arg[0] + PAGE_ALIGN(arg[1]);
	g->to = arg[0] + PAGE_ALIGN(arg[2]);
	hwt_linux_later_queue(current, &g->later);
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
	{.symbol_name = HWT_COMPAT_SYSCALL("mremap"), .pre_handler = on_mremap},
#ifdef HWT_COMPAT_SYSCALL32
	{.symbol_name = HWT_COMPAT_SYSCALL32("mremap"), .pre_handler = on_mremap},
#endif
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
