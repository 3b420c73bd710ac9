/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef HWT_IOCTL_H
#define HWT_IOCTL_H

#include "hwt_var.h"

/*
 * HWT_IOC_ALLOC.  Checked in this order:
 * -EINVAL      bufsize is 0, no page multiple or over HWT_BUFSIZE_MAX; mode
 * -EFAULT      backend_name, cpu_map or ident
 * -ENODEV      no backend of that name; CPU mode: no CPU in the set
 * -ENXIO       the backend has no unit here
 * -EOPNOTSUPP  the backend lacks the mode (or needs one buffer for a context)
 * -EPERM       CPU mode without privilege; not allowed to trace pid
 * -EBADF       kqueue_fd
 * -EINVAL      pid <= 0; CPU mode: see hwt_cpu_add_set
 * -ESRCH       no such process
 * -EEXIST      pid is traced;  -EBUSY: a CPU is, or the backend in the other mode
 * -ENOMEM
 */
int hwt_ioctl_alloc(struct hwt_core *core, const struct hwt_cred *cred,
		    const struct hwt_alloc *req);
#define HWT_BUFSIZE_MAX ((uint64_t)32 << 30)

#endif
