/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host without device files: the client's system calls go to the functions
 * that the test gives.
 */
#ifndef TESTS_CORE_FREEBSD_SHIMS_H
#define TESTS_CORE_FREEBSD_SHIMS_H

#include "freebsd_calls.h"

#undef open
#define open(name, flags)			shim_open(name)
#define ioctl(fd, request, arg)			shim_ioctl((fd), (request), (arg))
#undef mmap
#define mmap(addr, len, prot, flags, fd, off)	shim_mmap((len), (fd))
#define munmap(addr, len)			shim_munmap((addr), (len))
#define close(fd)				shim_close(fd)

#endif
