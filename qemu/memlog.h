/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests, beside the independent log: every access to memory, as pairs of the
 * instruction's address and the data's, in mem.PID.TID, or in a machine, while its CPU
 * is logged, in mem.cpuN.  From callbacks of its own; accesses of instructions that
 * did not retire are among them.
 */
#ifndef QEMU_MEMLOG_H
#define QEMU_MEMLOG_H

#include "plugin.h"

/* n instructions of tb get callbacks. */
void memlog_translate(struct qemu_plugin_tb *tb, size_t n);
/* The calling thread's. */
void memlog_close(void);

#endif
