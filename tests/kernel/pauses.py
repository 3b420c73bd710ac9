#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Threads that wait for their client (pauses.c).

usage: pauses.py BUILD PROGRAM
"""
import vm

CASES = ["exec", "mmap", "fork", "fork-killed", "sigkill", "sigstop", "owner", "module",
         "many"]
SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
for case in {cases}; do kernel_pauses $case; done
rmmod hwt_vtu
rmmod hwt
"""


def test(build, program):
    guest = vm.Guest(build)
    guest.need_unit()
    guest.log = False
    guest.add(program)
    run = guest.boot(SCRIPT.format(cases=" ".join(CASES)), timeout=1500)
    run.check()
    print(run.log)


vm.main(test)
