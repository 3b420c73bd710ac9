#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Threads that wait for their client (pauses.c).

usage: pauses.py BUILD PROGRAM
"""
import vm

SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
kernel_pauses
rmmod hwt_vtu
rmmod hwt
"""


def test(build, program):
    guest = vm.Guest(build)
    guest.need_unit()
    guest.log = False
    guest.add(program)
    run = guest.boot(SCRIPT, timeout=1500)
    run.check()
    print(run.log)


vm.main(test)
