/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls: what leaves guest code, and what changes what is traced. */
#ifndef QEMU_SYSCALLS_H
#define QEMU_SYSCALLS_H

#include "plugin.h"

/* Makes the table from the guest's numbers. */
void syscalls_init(void);
/* QEMU's callbacks. */
void syscalls_enter(qemu_plugin_id_t id, unsigned int index, int64_t num, uint64_t a1,
		    uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
		    uint64_t a7, uint64_t a8);
void syscalls_return(qemu_plugin_id_t id, unsigned int index, int64_t num, int64_t ret);

#endif
