#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The modules load and unload, and their devices come and go with them.

usage: boot.py BUILD
"""
import vm

SCRIPT = """
insmod /lib/modules/hwt.ko
[ -c /dev/hwt ]
[ "$(stat -c %a:%u /dev/hwt)" = 660:0 ]
# QEMU's CPU has no Processor Trace; its CPUID leaf 14h answers all the same.
if insmod /lib/modules/hwt_pt.ko; then exit 1; fi
dmesg | grep "hwt_pt: this CPU has no Processor Trace"
rmmod hwt
[ ! -e /dev/hwt ]
[ ! -e /sys/class/hwt ]
"""


def test(build):
    vm.Guest(build).boot(SCRIPT).check()


vm.main(test)
