/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What changed its shape between Linux 6.1 and today, one name for each. */
#ifndef HWT_LINUX_COMPAT_H
#define HWT_LINUX_COMPAT_H

#include <linux/device/class.h>
#include <linux/eventfd.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
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

#endif
