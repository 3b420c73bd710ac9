#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""AArch64: implementations of IFUNCs as filters, and names of PLT entries.

usage: coresight_functions.py HWT FLOW_CHECK DYNAMIC STATIC
The programs call memcpy, memset, strlen and strcmp (tests/e2e/guests/strings.c).
"""
import os
import re
import sys

from checks import Checks, run
from images import code_range, mapped_at
from lib import Recording, flow_check, need

HWT, FLOW_CHECK, DYNAMIC, STATIC = map(os.path.abspath, sys.argv[1:5])
LIBC = "libc.so.6"


def in_library(data, entry):
    """
    [(first, last byte)] of the stripped library: the one at `entry`; where there are more
    than the unit has ranges the recording says all, others of which the library calls.
    """
    base, path = mapped_at(data, LIBC)
    first, last = code_range(path, entry - base)
    with open(data, "rb") as file:
        found = re.findall(rb"filter (0x[0-9a-f]+)/(0x[0-9a-f]+)@", file.read())
    chosen = (first + base, last + base)
    ranges = {(int(at, 16) + base, int(at, 16) + base + int(size, 16) - 1) for at, size in found}
    return chosen, ranges or {chosen}


def in_program(function):
    """The same by the symbols of the program without libraries."""
    listed = run(["aarch64-linux-gnu-nm", "-S", STATIC]).stdout
    return {(int(at, 16), int(at, 16) + int(size, 16) - 1) for at, size, name in re.findall(
        rf"^([0-9a-f]+) ([0-9a-f]+) [tTW] ((?:__)?{function}(?:_\w+)?)$", listed, re.M)
            if not name.endswith("_ifunc")}


def check_ifunc(checks, program, image, function):
    """What ran in the implementation that was chosen, as the log has it; nothing else."""
    counts = []
    for calls in (10, 110):
        options = ["-i", image] if image else []
        with Recording(HWT, [program, str(calls)], [*options, "-f", function]) as recording:
            what = f"{os.path.basename(program)}: {function}, {calls} calls"
            errors = recording.result.stderr.decode()
            checks.equal(f"{what}: exit status", recording.result.returncode, 0)
            told = dict(line.split() for line in recording.result.stdout.decode().splitlines())
            if image:
                chosen, ranges = in_library(recording.data, int(told[function], 16))
                checks.that(f"{what}: the one that was chosen is among them",
                            chosen in ranges, ranges)
            else:
                ranges = in_program(function)
            within = [word for low, high in ranges for word in ("--within", f"{low:#x}-{high:#x}")]
            checks.that(f"{what}: flow", flow_check(
                FLOW_CHECK, recording, *within, "--cut", "--perf"), errors)
            listed = run([HWT, "script", "--insns", "-F", "ip", "-i", recording.data])
            starts = {f"{low:x}" for low, _ in ranges}
            counts.append(sum(ip in starts for ip in listed.stdout.split()))
    checks.equal(f"{program}: {function}: calls more", counts[1] - counts[0], 100)


def plt_names(path):
    """{address: name} of PLT entries, as objdump tells them."""
    listed = run(["aarch64-linux-gnu-objdump", "-d", "-j", ".plt", path]).stdout
    return {int(at, 16): name for at, name in re.findall(r"^([0-9a-f]+) <(\S+@plt)>:$", listed, re.M)}


def check_plt(checks, program):
    with Recording(HWT, [program, "3"]) as recording:
        base, path = mapped_at(recording.data, os.path.basename(program))
        names = plt_names(path)
        listed = run([HWT, "script", "--insns", "-F", "ip,sym", "-i", recording.data]).stdout
        wrong, right = [], set()
        for at, name in re.findall(r"^\s*([0-9a-f]+) (\S+)$", listed, re.M):
            want = names.get(int(at, 16) - base)
            if want and want == name:
                right.add(want)
            elif want:
                wrong.append((at, name, want))
        checks.that(f"{os.path.basename(program)}: PLT entries have their names",
                    "printf@plt" in right and not wrong, right, wrong[:3], len(names))
    # One of them as a filter: its own instructions, a call each.
    with Recording(HWT, [program, "3"], ["-f", "printf@plt"]) as recording:
        listed = run([HWT, "script", "--insns", "-F", "sym", "-i", recording.data]).stdout
        checks.equal(f"{os.path.basename(program)}: a PLT entry as a filter",
                     {name.split("+")[0] for name in listed.split()}, {"printf@plt"})


def main():
    need("qemu-aarch64", "perf", "readelf", "aarch64-linux-gnu-objdump")
    checks = Checks()
    for function in ("memcpy", "memset", "strlen", "strcmp"):
        check_ifunc(checks, DYNAMIC, LIBC, function)
        check_ifunc(checks, STATIC, None, function)
    check_plt(checks, DYNAMIC)
    checks.finish()


main()
