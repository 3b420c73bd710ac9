/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress on a terminal: a line on stderr that is rewritten, shown only where
 * stderr is a terminal, stdout is not the same one, and a second has passed.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

void progress_start(const char *what, uint64_t total);
/* Cheap; call it often. */
void progress_at(uint64_t done);
/* Erases the line (before other output on stderr). */
void progress_clear(void);
void progress_end(void);

#endif
