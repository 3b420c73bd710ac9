/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host without device files: the client's system calls go to the functions
 * that the test gives.  They return -1 and set errno, as the system's do.
 */
#ifndef TESTS_CORE_FREEBSD_SHIMS_H
#define TESTS_CORE_FREEBSD_SHIMS_H

#include <stddef.h>

int shim_open(const char *name);
int shim_ioctl(int fd, unsigned long request, void *arg);
void *shim_mmap(size_t length, int fd);
int shim_munmap(void *addr, size_t length);
int shim_close(int fd);

#undef open
#define open(name, flags)			shim_open(name)
#define ioctl(fd, request, arg)			shim_ioctl((fd), (request), (arg))
#undef mmap
#define mmap(addr, len, prot, flags, fd, off)	shim_mmap((len), (fd))
#define munmap(addr, len)			shim_munmap((addr), (len))
#define close(fd)				shim_close(fd)

#endif
