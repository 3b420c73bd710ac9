#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hwt_coresight on the components of a devicetree, of which there are the registers only:
memory that the kernel does not have, as the machine's firmware would describe it.  What
the module finds and refuses, which way it opens, and what it writes where; nothing
answers, so no trace begins.

usage: silicon.py BUILD [PROGRAM]
"""
import os
import pathlib
import re
import struct
import subprocess
import tempfile

import fdt
import vm

# The last of the machine's memory.
SIZE = 1 << 20
BASE = 0x40000000 + (1 << 30) - SIZE
APPEND = "mem=1023M iomem=relaxed"

REGISTERS = {name: int(value, 16) for header in ("coresight", "etm4", "tmc")
             for name, value in re.findall(r"#define (\w+)\s+(0x[0-9a-f]+)u?\b",
                                           (vm.SOURCE / f"hw/{header}.h").read_text())}
# Comparators: 64 bits, by words.
REGISTERS.update({f"TRC{kind}{n}{half}": at + 8 * n + 4 * (half == "HI")
                  for kind, at in (("ACVR", 0x400), ("ACATR", 0x480))
                  for n in range(8) for half in ("LO", "HI")})
REGISTERS.update({"CSTR_IDFILTER0": 0, "CSTR_IDFILTER1": 4})

# TRCIDR0 to 5: all that the driver can ask for, four pairs of comparators.
IDR = [0x280002a1, 0x4100f433, 0x90000088, 0x047b0004, 4, 0x00070000]
IDLE, READY = 3, 4
ETM = {"CS_DEVARCH": 0x47734a13, "TRCSTATR": IDLE}
COMPONENTS = {  # part, DEVTYPE, other registers at power-on
    "etm0": (0x95d, 0x13, ETM), "etm1": (0x95d, 0x13, ETM),
    "funnel": (0x908, 0x12, {"CS_DEVID": 2}),
    "etf": (0x9ea, 0x32, {"CS_DEVID": 2 << 6, "TMC_STS": READY}),
    "replicator": (0x909, 0x22, {"CS_DEVID": 2}),
    "etr": (0x9e8, 0x21, {"CS_DEVID": 1 << 6, "TMC_STS": READY}),
}
AT = {name: BASE + 0x1000 * i for i, name in enumerate(COMPONENTS)}
# From an output to an input; the replicator's other one leads to nothing that is here.
LINKS = [("etm0", 0, "funnel", 0), ("etm1", 0, "funnel", 1), ("funnel", 0, "etf", 0),
         ("etf", 0, "replicator", 0), ("replicator", 1, "etr", 0)]
COMPATIBLE = {"etm": "arm,coresight-etm4x", "fun": "arm,coresight-dynamic-funnel",
              "etf": "arm,coresight-tmc", "etr": "arm,coresight-tmc",
              "rep": "arm,coresight-dynamic-replicator"}
HANDLES = 0x9000


def at(component, register):
    return AT[component] + REGISTERS[register]


def power_on(component):
    """Registers that are not 0: Arm's, by JEP106; of class 9."""
    part, devtype, others = COMPONENTS[component]
    values = {"CS_PIDR0": part & 0xff, "CS_PIDR1": 0xb0 | part >> 8, "CS_PIDR2": 0xb,
              "CS_PIDR4": 4, "CS_DEVTYPE": devtype, **others}
    values = {at(component, name): value for name, value in values.items()}
    values.update({AT[component] + 0xff0 + 4 * i: byte
                   for i, byte in enumerate((0x0d, 0x90, 0x05, 0xb1))})
    if component.startswith("etm"):
        values.update({at(component, "TRCIDR0") + 4 * i: value for i, value in enumerate(IDR)})
    return values


def memory():
    data = bytearray(SIZE)
    for component in COMPONENTS:
        for address, value in power_on(component).items():
            struct.pack_into("<I", data, address - BASE, value)
    return bytes(data)


def ports(name):
    """in-ports and out-ports of a component, by LINKS."""
    found = {"in-ports": [], "out-ports": []}
    for i, (source, out, target, to) in enumerate(LINKS):
        for ours, kind, port, own, other in ((source, "out-ports", out, 0, 1),
                                             (target, "in-ports", to, 1, 0)):
            if ours != name:
                continue
            end = fdt.Node("endpoint", {"phandle": fdt.cells(HANDLES + 2 * i + own),
                                        "remote-endpoint": fdt.cells(HANDLES + 2 * i + other)})
            found[kind].append(fdt.Node(f"port@{port}", {"reg": fdt.cells(port)}, [end]))
    return [fdt.Node(kind, {"#address-cells": fdt.cells(1), "#size-cells": fdt.cells(0)}, nodes)
            for kind, nodes in found.items() if nodes]


def described(tree):
    """The machine's devicetree with the components in it."""
    cpus, clock = tree.child("cpus"), tree.child("apb-pclk").cell("phandle")
    for name in COMPONENTS:
        node = fdt.Node(f"{name}@{AT[name]:x}", {
            "compatible": fdt.strings(COMPATIBLE[name[:3]], "arm,primecell"),
            "reg": fdt.cells(0, AT[name], 0, 0x1000),
            "clocks": fdt.cells(clock), "clock-names": fdt.strings("apb_pclk")}, ports(name))
        if name.startswith("etm"):
            node.properties["cpu"] = cpus.child(f"cpu@{name[3]}").properties["phandle"]
        tree.add(node)
    return tree


HELPERS = """
poke() { devmem $1 32 $2; }
is() {
	if [ $(($(devmem $1 32))) -ne $(($2)) ]; then
		echo "$1: $(devmem $1 32), not $2"
		exit 1
	fi
}
refused() {
	dmesg -c >/dev/null
	if insmod /lib/modules/hwt_coresight.ko; then exit 1; fi
	dmesg | grep "hwt_coresight: .*$1"
}
insmod /lib/modules/hwt.ko
"""


def registers_are(component, **values):
    return "".join(f"is {at(component, name):#x} {value:#x}\n" for name, value in values.items())


def refusal(component, register, value, words):
    """With one register otherwise."""
    address = at(component, register)
    return f"poke {address:#x} {value:#x}\nrefused '{words}'\n" \
        f"poke {address:#x} {power_on(component)[address]:#x}\n"


REFUSED = refusal("etr", "CS_PIDR0", 0xa1, "cannot run as a FIFO in memory") + \
    refusal("etr", "CS_DEVID", 0, "no way leads from .*etm0") + \
    refusal("etm1", "TRCIDR0", IDR[0] & ~0x80, "the CPUs. trace units differ")
KEY = 0xc5acce55
POWERED = {"CS_LAR": KEY, "TRCOSLAR": 0, "TRCPDCR": 8, "TRCPRGCTLR": 0}
# Loaded: both ports, a FIFO that passes on, the one output; nothing is traced.
OPEN = registers_are("funnel", CS_LAR=KEY, CSTF_CTRL=3) + \
    registers_are("etf", CS_LAR=KEY, TMC_MODE=2, TMC_FFCR=3, TMC_BUFWM=0, TMC_CTL=1) + \
    registers_are("replicator", CS_LAR=KEY, CSTR_IDFILTER0=0xff, CSTR_IDFILTER1=0) + \
    registers_are("etm0", **POWERED) + registers_are("etm1", **POWERED)
# What silicon.c asks for.
FROM, TO, LENGTH = 0x123456789000, 0x1234567abcdf, 16 * 4096
# Flushed and stopped last; through the CPUs' caches.  The pointers are the buffer's.
SINK = registers_are("etr", TMC_RSZ=LENGTH // 4, TMC_MODE=3, TMC_AXICTL=0xf3e, TMC_FFCR=0x1043,
                     TMC_CTL=0) + f"""
base=$(($(devmem {at("etr", "TMC_DBALO"):#x} 32)))
[ $((base % 4096)) = 0 ]
[ $base -ge $((0x40000000)) ]
is {at("etr", "TMC_RRP"):#x} $base
is {at("etr", "TMC_RWP"):#x} $base
"""
# EL0 by its range on CPU 1; the other's unit was not touched.
THREAD = SINK + registers_are(
    "etm1", TRCCONFIGR=0x801, TRCSTALLCTLR=0x100, TRCVICTLR=0x6b0201, TRCVIIECTLR=1,
    TRCACVR0LO=FROM & 0xffffffff, TRCACVR0HI=FROM >> 32, TRCACVR1LO=TO & 0xffffffff,
    TRCACVR1HI=TO >> 32, TRCACATR0LO=0, TRCACATR0HI=0, TRCTRACEIDR=0x10, TRCPRGCTLR=0) + \
    registers_are("etm0", TRCCONFIGR=0, TRCVICTLR=0, TRCACVR0LO=0)
# EL1 and EL2 on both, by an ID of its own each.
CPUS = SINK + "".join(registers_are(f"etm{cpu}", TRCCONFIGR=0x801, TRCVICTLR=0x1b0201,
                                    TRCVIIECTLR=0, TRCPRGCTLR=0) for cpu in range(2)) + f"""
[ $(devmem {at("etm0", "TRCTRACEIDR"):#x} 32) != $(devmem {at("etm1", "TRCTRACEIDR"):#x} 32) ]
"""
CLOSED = registers_are("funnel", CSTF_CTRL=0) + registers_are("etf", TMC_CTL=0)

SCRIPT = HELPERS + REFUSED + "insmod /lib/modules/hwt_coresight.ko\n" + OPEN + \
    "silicon thread\n" + THREAD + "silicon busy\nsilicon cpus\n" + CPUS + \
    "rmmod hwt_coresight\n" + CLOSED + "rmmod hwt\n"


def test(build, *programs):
    if not programs:
        raise vm.Skip("no cross compiler: install gcc-aarch64-linux-gnu")
    guest = vm.Guest(build, arch="aarch64")
    guest.add(programs[0], "bin/silicon")
    with tempfile.TemporaryDirectory(prefix="hwt-silicon-") as folder:
        dtb, registers = pathlib.Path(folder, "dtb"), pathlib.Path(folder, "registers")
        subprocess.run([guest.qemu, "-machine", f"virt,dumpdtb={dtb}", "-cpu", "max", "-smp",
                        str(guest.cpus), "-m", vm.RAM, "-nodefaults"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        dtb.write_bytes(fdt.write(described(fdt.read(dtb.read_bytes()))))
        registers.write_bytes(memory())
        guest.qemu_options = ["-dtb", os.fspath(dtb), "-device",
                              f"loader,file={registers},addr={BASE:#x},force-raw=on"]
        run = guest.boot(SCRIPT, append=APPEND, timeout=900)
    print(run.log)
    run.check()


vm.main(test)
