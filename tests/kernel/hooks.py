#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The records that a process's life gives (hooks.c).

usage: hooks.py BUILD PROGRAM
"""
import vm

SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
chmod 666 /dev/hwt
cp /bin/kernel_hooks /bin/kernel_hooks_suid
chmod 4755 /bin/kernel_hooks_suid
kernel_hooks
rmmod hwt_vtu
rmmod hwt
"""


def test(build, program):
    # Once more as where task_work_add is not exported.
    for kbuild, stage in ((), "kmod"), (["HWT_LOOKUP=y"], "lookup"):
        guest = vm.Guest(build, kbuild=kbuild, stage=stage)
        guest.need_unit()
        guest.log = False
        guest.add(program)
        run = guest.boot(SCRIPT, timeout=600)
        run.check()
        print(run.log)


vm.main(test)
