/* SPDX-License-Identifier: BSD-2-Clause */
/* FreeBSD's name of <hwt/hwt_record.h>: clients written for hwt(4) compile unchanged. */
#ifndef COMPAT_SYS_HWT_RECORD_H
#define COMPAT_SYS_HWT_RECORD_H
#include <hwt/hwt_record.h>
#endif
