/* SPDX-License-Identifier: BSD-2-Clause */
/* FreeBSD's name of <hwt/hwt.h>: clients written for hwt(4) compile unchanged. */
#ifndef COMPAT_SYS_HWT_H
#define COMPAT_SYS_HWT_H
#include <hwt/hwt.h>
#endif
