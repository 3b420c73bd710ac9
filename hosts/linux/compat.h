/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What changed its shape between Linux 6.1 and today, one name for each. */
#ifndef HWT_LINUX_COMPAT_H
#define HWT_LINUX_COMPAT_H

#include <linux/device/class.h>
#include <linux/eventfd.h>
#include <linux/hrtimer.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/version.h>

/* 6.3: vm_flags became read-only. */
static inline void hwt_compat_vm_flags(struct vm_area_struct *vma, unsigned long set,
				       unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* 6.4: class_create lost its first argument. */
static inline struct class *hwt_compat_class_create(const char *name)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	return class_create(name);
#else
	return class_create(THIS_MODULE, name);
#endif
}

/* 6.8: eventfd_signal lost its count. */
static inline void hwt_compat_eventfd_signal(struct eventfd_ctx *eventfd)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	eventfd_signal(eventfd);
#else
	eventfd_signal(eventfd, 1);
#endif
}

/* 6.13: hrtimer_setup replaced hrtimer_init and a store. */
static inline void hwt_compat_hrtimer_setup(struct hrtimer *timer,
					    enum hrtimer_restart (*fn)(struct hrtimer *),
					    enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = fn;
#endif
}

/* 6.2: device_type.devnode takes a const device. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define HWT_COMPAT_DEVNODE_CONST const
#else
#define HWT_COMPAT_DEVNODE_CONST
#endif

/* 6.4: a module's memory became a table. */
static inline void hwt_compat_module_text(const struct module *mod, void **base,
					  size_t *len)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	*base = mod->mem[MOD_TEXT].base;
	*len = mod->mem[MOD_TEXT].size;
#else
	*base = mod->core_layout.base;
	*len = mod->core_layout.text_size;
#endif
}

/* 6.11: a platform driver's remove cannot fail any more. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
typedef void hwt_compat_removed;
#define HWT_COMPAT_REMOVED
#else
typedef int hwt_compat_removed;
#define HWT_COMPAT_REMOVED	0
#endif

/* 6.4: MAX_ORDER is the largest order; 6.8: under a better name. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define HWT_COMPAT_MAX_ORDER	MAX_PAGE_ORDER
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define HWT_COMPAT_MAX_ORDER	MAX_ORDER
#else
#define HWT_COMPAT_MAX_ORDER	(MAX_ORDER - 1)
#endif

/* Not exported; 6.10: allocations are profiled. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define HWT_COMPAT_ALLOC_CONTIG	"alloc_contig_pages_noprof"
#else
#define HWT_COMPAT_ALLOC_CONTIG	"alloc_contig_pages"
#endif
typedef struct page *(*hwt_compat_alloc_contig_fn)(unsigned long nr_pages, gfp_t gfp,
						   int nid, nodemask_t *mask);

/* __bpf_address_lookup; 6.9: it gives a length instead of the name. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
typedef int (*hwt_compat_bpf_lookup_fn)(unsigned long addr, unsigned long *size,
					unsigned long *off, char *sym);
#else
typedef const char *(*hwt_compat_bpf_lookup_fn)(unsigned long addr, unsigned long *size,
						unsigned long *off, char *sym);
#endif

/*
 * mprotect_fixup(tlb, vma, pprev, start, end, newflags); 6.3: one more before
 * these, so that on x86 the last is on the stack, above the return address.
 */
struct hwt_compat_protect {
	struct vm_area_struct	*vma;
	unsigned long		start, end, flags;
};
static inline struct hwt_compat_protect hwt_compat_protect(struct pt_regs *regs)
{
	struct hwt_compat_protect p;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	int n = 1;
#else
	int n = 0;
#endif

	p.vma = (void *)regs_get_kernel_argument(regs, n + 1);
	p.start = regs_get_kernel_argument(regs, n + 3);
	p.end = regs_get_kernel_argument(regs, n + 4);
#ifdef CONFIG_X86
	p.flags = n ? regs_get_kernel_stack_nth(regs, 1) : regs_get_kernel_argument(regs, 5);
#else
	p.flags = regs_get_kernel_argument(regs, n + 5);
#endif
	return p;
}

/* The system call's functions: of 64-bit programs, and of 32-bit ones if they can run. */
#ifdef CONFIG_X86
#define HWT_COMPAT_SYSCALL(name)	"__x64_sys_" name
#else
#define HWT_COMPAT_SYSCALL(name)	"__arm64_sys_" name
#endif
#ifdef CONFIG_IA32_EMULATION
#define HWT_COMPAT_SYSCALL32(name)	"__ia32_sys_" name
#endif

/*
 * unmap_vmas(tlb, mt, vma, start, end): the VMAs are in a tree, or (6.6) behind a
 * cursor, which is copied here.
 */
struct hwt_compat_unmap {
	struct vm_area_struct	*vma;	/* the first */
	unsigned long		start, end;
	struct ma_state		mas;
	unsigned long		limit;	/* of the tree's index */
};
static inline struct hwt_compat_unmap hwt_compat_unmap(struct pt_regs *regs)
{
	void *tree = (void *)regs_get_kernel_argument(regs, 1);
	struct hwt_compat_unmap u = {
		.vma = (void *)regs_get_kernel_argument(regs, 2),
		.start = regs_get_kernel_argument(regs, 3),
		.end = regs_get_kernel_argument(regs, 4),
	};
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	u.mas = *(struct ma_state *)tree;
	u.limit = regs_get_kernel_argument(regs, 5) - 1;
#else
	unsigned long at = u.vma ? u.vma->vm_end : 0;
	MA_STATE(mas, tree, at, at);

	u.mas = mas;
	u.limit = u.end - 1;
#endif
	return u;
}
static inline struct vm_area_struct *hwt_compat_unmap_next(struct hwt_compat_unmap *u)
{
	return mas_find(&u->mas, u->limit);
}

#endif
