/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of the independent log of a machine: log.cpuN in the plugin's log=
 * directory.  The header and data as in execlog_file.h, with a magic of their own;
 * between the addresses of retired instructions stand marks of four words: what it
 * is, its number in the order of all CPUs' marks, the address space (x86: CR3, A64:
 * TTBR0_EL1) and the thread (x86: FS base, A64: TPIDR_EL0) from there on.
 */
#ifndef QEMU_SYSTEM_LOG_FILE_H
#define QEMU_SYSTEM_LOG_FILE_H

#include <stdint.h>

#define SYSTEM_LOG_MAGIC 0x31534c4754574875ull /* "uHWTGLS1" */
#define SYSTEM_LOG_MARK	 (1ull << 63)	       /* no canonical address */

enum system_log_mark {
	SYSTEM_LOG_ON = 1, /* the unit began to trace this CPU */
	SYSTEM_LOG_OFF,	   /* and stopped */
	SYSTEM_LOG_TAG,	   /* another address space or thread */
};

#endif
