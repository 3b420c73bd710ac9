#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's own code: objects, bytes, patches; CPUs that go and come (objects.c).

usage: objects.py BUILD PROGRAM
"""
import vm

CASES = ["list", "bounds", "module", "generated", "pokes", "hotplug"]
SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
for case in {cases}; do kernel_objects $case; done
rmmod hwt_vtu
rmmod hwt
"""


def test(build, program):
    guest = vm.Guest(build)
    guest.need_unit()
    guest.log = False
    guest.add(program)
    guest.files["lib/modules/dummy.ko"] = guest.kernel.module("drivers/net/dummy")
    run = guest.boot(SCRIPT.format(cases=" ".join(CASES)), timeout=600)
    run.check()
    print(run.log)


vm.main(test)
