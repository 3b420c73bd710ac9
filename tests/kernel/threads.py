#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Thread mode's buffers and records (threads.c).

usage: threads.py BUILD PROGRAM
"""
import vm

SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
threads
rmmod hwt_vtu
rmmod hwt
"""


def test(build, program):
    guest = vm.Guest(build)
    guest.need_unit()
    guest.add(program)
    guest.boot(SCRIPT, timeout=600).check()


vm.main(test)
