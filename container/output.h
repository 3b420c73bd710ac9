/* SPDX-License-Identifier: BSD-2-Clause */
/* An output file that one process at a time writes. */
#ifndef CONTAINER_OUTPUT_H
#define CONTAINER_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Opens (flags, mode: open(2)) or creates a file and empties it.  Until the
 * descriptor is closed, any other call for the same file fails: -EBUSY, and the file
 * is as it was.  What is no regular file, or on a file system without locks, is
 * opened as it is.  The descriptor, or -errno.
 */
int output_open(const char *path, int flags, mode_t mode);
/* In words, what output_open said. */
const char *output_error(int err);
/* Does another process, or another descriptor of this one, write the file? */
bool output_is_busy(int fd);

#endif
