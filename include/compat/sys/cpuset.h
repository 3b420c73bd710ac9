/* SPDX-License-Identifier: BSD-2-Clause */
/* FreeBSD's <sys/cpuset.h>, as far as clients of hwt(4) use it. */
#ifndef COMPAT_SYS_CPUSET_H
#define COMPAT_SYS_CPUSET_H
#include <hwt/hwt.h>
#endif
