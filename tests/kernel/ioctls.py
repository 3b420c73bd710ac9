#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hwt(4)'s contract on real nodes (ioctls.c), and a client of FreeBSD's (freebsd.c).

usage: ioctls.py BUILD IOCTLS FREEBSD
"""
import vm

SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
chmod 666 /dev/hwt
cp /bin/busybox /bin/setuid-sleep
chmod 4755 /bin/setuid-sleep
ioctls
freebsd
until rmmod hwt_vtu; do sleep 1; done	# the last orphan is on its way out
rmmod hwt
"""


def test(build, *programs):
    guest = vm.Guest(build)
    guest.need_unit()
    for program in programs:
        guest.add(program)
    guest.boot(SCRIPT, timeout=600).check()


vm.main(test)
