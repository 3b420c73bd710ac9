/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a unit is that comes into being with a program: the embedded host's.  A program
 * for it is held before its first instruction, asked about, and ended.
 */
#ifndef CLI_PROBE_H
#define CLI_PROBE_H

#include <hwt/libhwt.h>

/*
 * Fills in *q, whose index and name are set, as a program of that backend would have it.
 * 0, or -errno with a malloc'd sentence; *q is then as it was.
 */
int probe_backend(const char *host, struct hwt_query *q, char **problem);

#endif
