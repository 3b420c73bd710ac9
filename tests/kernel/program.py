#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One of the programs of cases in a machine that has a unit, and its modules loaded.

usage: program.py BUILD PROGRAM
"""
import os

import vm

SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
{program}
rmmod hwt_vtu
rmmod hwt
"""


def test(build, program):
    guest = vm.Guest(build)
    guest.need_unit()
    guest.add(program)
    # To be loaded late (objects.c).
    guest.files["lib/modules/dummy.ko"] = guest.kernel.module("drivers/net/dummy")
    run = guest.boot(SCRIPT.format(program=os.path.basename(program)), timeout=1500)
    run.check()
    print(run.log)


vm.main(test)
