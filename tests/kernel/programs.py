#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the kernel tests' programs hold on x86-64 holds on AArch64, too: hwt(4)'s
contract, records, pauses, hooks, the kernel's objects, CPUs that come and go; on the
virtual CoreSight unit.

usage: programs.py BUILD PROGRAM...
"""
import vm

# Case "many" of the pauses takes long, and counts what is the same everywhere.
SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
chmod 666 /dev/hwt
cp /bin/busybox /bin/setuid-sleep
cp /bin/kernel_hooks /bin/kernel_hooks_suid
chmod 4755 /bin/setuid-sleep /bin/kernel_hooks_suid
ioctls
threads
kernel_hooks
kernel_pauses exec mmap fork fork-killed sigkill sigstop owner module
kernel_objects
until rmmod hwt_vtu; do sleep 1; done	# the last orphan is on its way out
rmmod hwt
"""


def test(build, *programs):
    if not programs:
        raise vm.Skip("no cross compiler: install gcc-aarch64-linux-gnu")
    guest = vm.Guest(build, arch="aarch64")
    guest.need_unit("coresight")
    for program in programs:
        guest.add(program)
    guest.files["lib/modules/dummy.ko"] = guest.kernel.module("drivers/net/dummy")
    run = guest.boot(SCRIPT, timeout=1500)
    run.check()
    print(run.log)


vm.main(test)
