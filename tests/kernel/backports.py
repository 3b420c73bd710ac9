#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The newest kernel in this Debian's backports, where what is hooked has other
signatures: threads are traced (threads.c), records are those of the table (hooks.c),
and threads wait for their client (pauses.c).

usage: backports.py BUILD THREADS HOOKS PAUSES
"""
import vm

SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
threads
kernel_hooks maps maps-paused threads exec exec-by-thread others
kernel_pauses exec mmap fork sigkill
rmmod hwt_vtu
rmmod hwt
"""


def test(build, *programs):
    kernel = vm.FetchedKernel(build, "x86_64", "backports")
    guest = vm.Guest(build, kernel=kernel)
    guest.need_unit()
    for program in programs:
        guest.add(program)
    run = guest.boot(SCRIPT, timeout=600)
    run.check()
    print(kernel.release)
    print(run.log)


vm.main(test)
