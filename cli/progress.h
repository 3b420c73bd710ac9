/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress on a terminal: a line on stderr that is rewritten, shown only where
 * stderr is a terminal and a second has passed.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Of `total` bytes.  listing: lines come meanwhile; on a terminal they are progress. */
void progress_start(const char *what, uint64_t total, bool listing);
/* Cheap; call it often. */
void progress_at(uint64_t done);
/* Erases the line (before other output). */
void progress_clear(void);
void progress_end(void);

#endif
