/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of addresses, as execlog_file.h has them: they survive any end. */
#ifndef QEMU_ADDRLOG_H
#define QEMU_ADDRLOG_H

#include "execlog_file.h"
#include "vcpu.h"

struct addrlog {
	struct execlog_header *header;
	uint64_t *chunk;
	uint64_t base; /* index of chunk[0] */
	char path[sizeof(((struct vtu_header *)0)->log_dir) + 64];
};

/*
 * NAME.PID.TID in the window's log_dir, going on where it ended if it is there.
 * False, with a warning: it cannot be written.
 */
bool addrlog_open(struct addrlog *l, const char *name, const struct vcpu *v);
/* The same in the file at path, which says by its magic what it is. */
bool addrlog_open_path(struct addrlog *l, const char *path, uint64_t magic);
/* False, with a warning: the file cannot grow. */
bool addrlog_append(struct addrlog *l, uint64_t addr);
void addrlog_close(struct addrlog *l);

#endif
