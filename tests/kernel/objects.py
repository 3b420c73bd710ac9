#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's own code: objects, bytes, patches; CPUs that go and come (objects.c).

usage: objects.py BUILD PROGRAM
"""
import vm

SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
kernel_objects
rmmod hwt_vtu
rmmod hwt
"""


def test(build, program):
    guest = vm.Guest(build)
    guest.need_unit()
    guest.log = False
    guest.add(program)
    guest.files["lib/modules/dummy.ko"] = guest.kernel.module("drivers/net/dummy")
    run = guest.boot(SCRIPT, timeout=600)
    run.check()
    print(run.log)


vm.main(test)
