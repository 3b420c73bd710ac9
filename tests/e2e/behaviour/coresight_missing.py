#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""AArch64: the code of a library that is gone is missing, and no other's.

usage: coresight_missing.py HWT FLOW_CHECK GUESTS
The library calls its own functions, and twice a call one of the program, which calls one more
(tests/qemu/guests/callbacks.c).
"""
import collections
import json
import os
import shutil
import sys

from checks import Checks, in_scratch, run
from lib import Recording, flow_check, have, need

HWT, FLOW_CHECK, GUESTS = map(os.path.abspath, sys.argv[1:4])
CALLS = 200


def entries(data):
    """How often each function's first instruction is listed."""
    listed = run([HWT, "script", "--insns", "--json", "-i", data]).stdout
    at = (json.loads(line).get("at", {}) for line in listed.splitlines())
    return collections.Counter(a["symbol"] for a in at if a.get("symbol_offset") == 0)


def check(checks, options, own, *decoders):
    """Nothing but what was executed; and of that, so many calls of each function."""
    name = " ".join(["missing library", *options])
    library = shutil.copy(os.path.join(GUESTS, "a64_lib_callbacks"), "lib.so")
    argv = [os.path.join(GUESTS, "a64_callbacks"), os.path.abspath(library), str(CALLS)]
    with Recording(HWT, argv, ["-c", "coresight", *options]) as recording:
        checks.equal(f"{name}: exit status", recording.result.returncode, 0)
        os.unlink(library)
        checks.that(f"{name}: flow", flow_check(FLOW_CHECK, recording, "--part", *decoders))
        listed = entries(recording.data)
        checks.equal(f"{name}: callbacks", listed["callback"], 2 * CALLS)
        checks.equal(f"{name}: calls", listed["own"], own)
        checks.equal(f"{name}: of the library", listed["plugin_calls_back"], 0)


def main():
    need("qemu-aarch64")
    in_scratch_folder = in_scratch()
    checks = Checks()
    # Each return has its address: all is known but what ran in the library.
    perf = ["--perf"] if have("perf") else []
    check(checks, ["--no-retcomp"], 3 * CALLS, *perf)
    check(checks, ["--branch-broadcast"], 3 * CALLS, *perf)
    # Returns from the library have none, so what follows them is not known either.
    check(checks, [], 2 * CALLS)
    in_scratch_folder.cleanup()
    checks.finish()


main()
