#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The modules load and unload, and their devices come and go with them.

usage: boot.py BUILD ARCH
"""
import vm

SCRIPT = """
insmod /lib/modules/hwt.ko
[ -c /dev/hwt ]
[ "$(stat -c %a:%u /dev/hwt)" = 660:0 ]
{silicon}
rmmod hwt
[ ! -e /dev/hwt ]
[ ! -e /sys/class/hwt ]
"""
REFUSED = """
if insmod /lib/modules/{module}.ko; then exit 1; fi
dmesg | grep "{module}: {words}"
"""
# The modules of trace units that QEMU's CPU does not have, and what they say.
SILICON = {
    # Its CPUID leaf 14h answers all the same.
    "x86_64": {"hwt_pt": "this CPU has no Processor Trace"},
    "aarch64": {"hwt_spe": "firmware describes no SPE",
                "hwt_coresight": "CPU 0 has no CoreSight trace unit"},
}


def test(build, arch):
    silicon = "".join(REFUSED.format(module=module, words=words)
                      for module, words in SILICON[arch].items())
    vm.Guest(build, arch).boot(SCRIPT.format(silicon=silicon)).check()


vm.main(test)
