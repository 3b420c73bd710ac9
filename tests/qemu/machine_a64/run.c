// SPDX-License-Identifier: BSD-2-Clause
#include "run.h"

#include <stdio.h>

int machine_a64_run(struct machine *m, char **argv, const char *unit)
{
	char plugin[4096], accel[32];
	char *qemu[] = {
		argv[1],
		"-machine",
		"virt,memory-backend=ram",
		"-accel",
		accel,
		"-cpu",
		"max,pauth-impdef=on",
		"-smp",
		"2",
		"-m",
		"256M",
		"-object",
		MACHINE_RAM,
		"-object",
		MACHINE_REG,
		"-device",
		"ivshmem-plain,memdev=reg",
		"-nodefaults",
		"-display",
		"none",
		"-no-reboot",
		"-serial",
		"stdio",
		"-plugin",
		plugin,
		"-kernel",
		argv[3],
		NULL,
	};

	snprintf(plugin, sizeof(plugin), "%s,unit=%s" MACHINE_OPTIONS, argv[2], unit,
		 "%s", "%s", "%s");
	snprintf(accel, sizeof(accel), "tcg,thread=%s", argv[4]);
	return machine_run(m, qemu, 0, MAX_CPUS);
}
