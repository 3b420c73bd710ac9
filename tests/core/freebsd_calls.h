/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls of a client where there are no device files: functions that a test
 * gives, with small numbers of its own as descriptors.
 */
#ifndef TESTS_CORE_FREEBSD_CALLS_H
#define TESTS_CORE_FREEBSD_CALLS_H

#include <errno.h>
#include <stddef.h>

int shim_open(const char *name);
int shim_ioctl(int fd, unsigned long request, void *arg);
void *shim_mmap(size_t length, int fd);
int shim_munmap(void *addr, size_t length);
int shim_close(int fd);

/* As the system's calls say what a host's say: -1 and errno. */
static inline int shim_result(int rc)
{
	if (rc >= 0)
		return rc;
	errno = -rc;
	return -1;
}

#endif
