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
dmesg -c >/dev/null
if insmod /lib/modules/{module}.ko {parameters}; then exit 1; fi
dmesg | grep "{module}.*: {words}"
"""
# The modules of trace units that QEMU's CPU does not have, and what they say.
SILICON = {
    # Its CPUID leaf 14h answers all the same.
    "x86_64": {"hwt_pt": "this CPU has no Processor Trace"},
    "aarch64": {"hwt_spe": "firmware describes no SPE",
                "hwt_coresight": "CPU 0 has no CoreSight trace unit"},
}

# Another driver has what it is after; or firmware says that there is SPE, and lies.
# Module: what it finds, what it says.
BELIED = (
    ("hwt_spe", "hwt_fake", "taken=1", "SPE belongs to hwt_fake: unload that first"),
    ("hwt_spe", "hwt_fake", "", "the CPUs have no SPE, whatever firmware says"),
    ("hwt_coresight", "hwt_fake_cs", "",
     "hwt_fake_funnel belongs to hwt_fake_cs: unload that first"),
)

# PMSIDR and PMBIDR of two CPUs, which the test build is told to see: of an SPE that takes
# virtual addresses, one that is kept from the kernel, one that takes physical ones too.
SIDR = 0x13600
VIRTUAL, BARRED, PHYSICAL = 0x26, 0x36, 0x66
NO_INTERRUPT = "IRQ index 0 not found"  # of hwt_fake's device: the CPUs will do
PRETENDED = {
    f"{SIDR},{BARRED},{SIDR},{BARRED}": "a hypervisor or firmware keeps SPE for itself",
    f"{SIDR},{VIRTUAL}": "the CPUs differ in SPE",
    f"{SIDR},{VIRTUAL},{SIDR},{PHYSICAL}": "the CPUs differ in SPE",
    f"{SIDR},{PHYSICAL},{SIDR},{PHYSICAL}": NO_INTERRUPT,
}
# The same machine, whether its kernel is mapped while user code runs.
KPTI = {"kpti=off": NO_INTERRUPT, "kpti=on": "the kernel is not mapped while user code runs"}


def refused(module, words, parameters=""):
    return REFUSED.format(module=module, words=words, parameters=parameters)


def pretended(cpus):
    return "".join(refused("hwt_spe", words, f"pretend={ids}") for ids, words in cpus.items())


def refusals(arch):
    script = "".join(refused(module, words) for module, words in SILICON[arch].items())
    for module, fake, parameters, words in BELIED if arch == "aarch64" else ():
        script += f"insmod /lib/modules/{fake}.ko {parameters}" + refused(module, words)
        script += f"rmmod {fake}\n"
    return script


def test(build, arch):
    guest = vm.Guest(build, arch)
    if arch != "aarch64":
        guest.boot(SCRIPT.format(silicon=refusals(arch))).check()
        return
    guest.add_module(pathlib.Path(__file__).resolve().parent / "fake")
    for kpti, words in KPTI.items():
        fake = "insmod /lib/modules/hwt_fake.ko\n" + pretended(
            {**PRETENDED, f"{SIDR},{VIRTUAL},{SIDR},{VIRTUAL}": words}) + "rmmod hwt_fake\n"
        guest.boot(SCRIPT.format(silicon=refusals(arch) + fake), timeout=900,
                   append=kpti).check()


vm.main(test)
