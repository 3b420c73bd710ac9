/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Record types of hwt(4), numbered as in FreeBSD's <sys/hwt_record.h>.
 *
 * HWT_IOC_RECORD_GET speaks these.  The richer records that
 * HWT_IOC_RECORD_GET2 returns are in <hwt/hwt_ext.h>.
 */
#ifndef HWT_HWT_RECORD_H
#define HWT_HWT_RECORD_H

enum hwt_record_type {
	HWT_RECORD_MMAP,
	HWT_RECORD_MUNMAP,
	HWT_RECORD_EXECUTABLE,
	HWT_RECORD_KERNEL,
	HWT_RECORD_THREAD_CREATE,
	HWT_RECORD_THREAD_SET_NAME,
	HWT_RECORD_BUFFER
};

#endif
