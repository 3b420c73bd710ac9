#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The modules load and unload, and their devices come and go with them.

usage: boot.py BUILD ARCH
"""
import pathlib

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

# Firmware says that there is SPE (hwt_fake), but another driver has it; or it lies.
BELIED = {
    "insmod /lib/modules/hwt_fake.ko taken=1": "SPE belongs to hwt_fake: unload that first",
    "insmod /lib/modules/hwt_fake.ko": "the CPUs have no SPE, whatever firmware says",
}


def refusals(arch):
    script = "".join(REFUSED.format(module=module, words=words)
                     for module, words in SILICON[arch].items())
    for before, words in (BELIED if arch == "aarch64" else {}).items():
        script += before + REFUSED.format(module="hwt_spe", words=words) + "rmmod hwt_fake\n"
    return script


def test(build, arch):
    guest = vm.Guest(build, arch)
    if arch == "aarch64":
        guest.add_module(pathlib.Path(__file__).resolve().parent / "fake")
    guest.boot(SCRIPT.format(silicon=refusals(arch))).check()


vm.main(test)
