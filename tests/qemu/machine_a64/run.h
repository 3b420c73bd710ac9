/* SPDX-License-Identifier: BSD-2-Clause */
/* How the AArch64 test machine is started. */
#ifndef TESTS_QEMU_RUN_A64_H
#define TESTS_QEMU_RUN_A64_H

#include "../machine/harness.h"

/* argv: the test's, QEMU PLUGIN MACHINE single|multi.  As machine_run. */
int machine_a64_run(struct machine *m, char **argv, const char *unit);

#endif
