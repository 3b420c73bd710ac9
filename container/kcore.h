/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's code for perf.  A recording that perf made with --kcore is a folder of
 * the recording (data) and of kcore_dir, which has the names and formats of /proc:
 * kcore (an ELF core file), kallsyms and modules.  Ours hold the same inside.
 */
#ifndef CONTAINER_KCORE_H
#define CONTAINER_KCORE_H

#include "perfdata.h"

/*
 * Writes kcore, kallsyms and modules into the folder.  0; -ENODATA: the recording has
 * no kernel code; -ENOMEM; what reading and writing say.
 */
int kcore_write(struct perfdata *p, int folder);

#endif
