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
rmmod hwt
[ ! -e /dev/hwt ]
[ ! -e /sys/class/hwt ]
"""


def test(build):
    vm.Guest(build).boot(SCRIPT).check()


vm.main(test)
