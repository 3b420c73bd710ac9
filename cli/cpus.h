/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU lists as taskset(1) writes them: 0-3,5. */
#ifndef CLI_CPUS_H
#define CLI_CPUS_H

#include <sched.h>

/* 0; -EINVAL: no such list; -ERANGE: a number beyond any CPU's. */
int cpus_parse(const char *text, cpu_set_t *out);

#endif
