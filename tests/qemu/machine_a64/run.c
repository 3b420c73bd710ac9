// SPDX-License-Identifier: BSD-2-Clause
#include "run.h"

#include <stdio.h>

int machine_a64_run(struct machine *m, char **argv, const char *unit)
{
	char accel[32];
	char *const own[] = {
		"-machine", "virt,memory-backend=ram", "-accel", accel,
		"-cpu", "max,pauth-impdef=on", "-smp", "2", "-serial", "stdio", NULL,
	};
	const struct machine_start start = {
		.qemu = argv[1], .plugin = argv[2], .kernel = argv[3],
		.argv = own, .unit = unit, .cpus = MAX_CPUS,
	};

	snprintf(accel, sizeof(accel), "tcg,thread=%s", argv[4]);
	return machine_run(m, &start);
}
