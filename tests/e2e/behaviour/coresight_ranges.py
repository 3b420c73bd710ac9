#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Address ranges of an ETM: what the log has in them, and nothing else.

usage: coresight_ranges.py HWT FLOW_CHECK GUESTS
"""
import os
import re
import sys

from checks import Checks, run
from lib import Recording, flow_check, have, need, skip

HWT, FLOW_CHECK, GUESTS = map(os.path.abspath, sys.argv[1:4])
NM = "aarch64-linux-gnu-nm"
# Guest, functions, options; more than the unit has ranges: it traces more, which is cut.
CASES = {
    "one": ("threads-static", ["work"], []),
    "two": ("threads-static", ["work", "main"], []),
    "called and caller": ("threads-static", ["malloc", "free", "work"], ["--no-retcomp"]),
    "cycles": ("signals-static", ["malloc", "main"], ["--cyc=4"]),
    "no time": ("signals-static", ["main"], ["--no-tsc"]),
    "broadcast": ("threads-static", ["malloc", "free", "work"], ["--branch-broadcast"]),
    "broadcast, no return stack": ("threads-static", ["malloc", "work"],
                                   ["--branch-broadcast", "--no-retcomp"]),
    "more than there are": ("threads-static",
                            ["work", "main", "malloc", "free", "calloc", "nothing"], []),
}
# Option: what `hwt info` says of the unit with it.
UNIT = {"--cyc=4": "cycle counts", "--branch-broadcast": "branch broadcast",
        "--no-retcomp": "no return stack"}


def ranges_of(path, functions):
    """START-END of each function that nm knows, its last byte included."""
    listed = run([NM, "-S", path]).stdout
    found = []
    for start, size, name in re.findall(r"^([0-9a-f]+) ([0-9a-f]+) \w (\S+)$", listed, re.M):
        if name in functions:
            found.append((int(start, 16), int(start, 16) + int(size, 16) - 1))
    return found


def check_case(checks, name):
    guest, functions, options = CASES[name]
    path = os.path.join(GUESTS, "a64_" + guest)
    ranges = ranges_of(path, functions)
    words = [word for f in functions for word in ("-f", f)]
    with Recording(HWT, [path], ["-c", "coresight", *options, *words]) as recording:
        errors = recording.result.stderr.decode()
        checks.equal(f"{name}: status", recording.result.returncode, 0)
        within = [word for start, end in ranges for word in ("--within", f"{start:#x}-{end:#x}")]
        checks.that(f"{name}: flow", flow_check(FLOW_CHECK, recording, *within), errors)
        info = run([HWT, "info", "-i", recording.data])
        checks.that(f"{name}: something was traced",
                    info.returncode == 0 and not re.search(r"^all: 0 inst", info.stdout, re.M),
                    info.stdout, info.stderr)
        unit = re.search(r"^unit +(.*)$", info.stdout, re.M)
        for option, said in UNIT.items():
            checks.equal(f"{name}: info has {said}", bool(unit) and said in unit[1],
                         option in options)


def main():
    need("qemu-aarch64")
    if not have(NM):
        skip(f"{NM} is not installed")
    checks = Checks()
    for name in CASES:
        check_case(checks, name)
    checks.finish()


main()
