/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of the independent log: log.PID.TID in header.log_dir of the window.
 * The header, then addresses of retired instructions, 64 bits each, in the
 * machine's byte order; the file is longer than what is valid of it.
 */
#ifndef QEMU_EXECLOG_FILE_H
#define QEMU_EXECLOG_FILE_H

#include <stdint.h>

#define EXECLOG_MAGIC	0x31474f4c54574875ull	/* "uHWTLOG1" */
#define EXECLOG_DATA	4096u			/* where the addresses begin */

struct execlog_header {
	uint64_t magic;
	uint64_t count;		/* addresses that are valid */
};

#endif
