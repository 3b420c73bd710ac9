#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Much trace is decoded in little memory, and none of it is lost.

usage: big.py HWT STEPS-GUEST MEBIBYTES
"""
import os
import resource
import signal
import sys

from checks import Checks, in_scratch, run
from lib import need

HWT, GUEST = map(os.path.abspath, sys.argv[1:3])
MEBIBYTES = int(sys.argv[3])
# KiB resident: less than the trace, and under 500 MB of more.  A sanitizer keeps what was
# freed.
LIMIT = 500_000 if "HWT_EMULATOR_PRELOAD" in os.environ else min(500_000, MEBIBYTES << 10)


def peak():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def record(checks, calls):
    done = run([HWT, "record", "-o", "hwt.data", "--no-retcomp", "--cyc", "--",
                GUEST, "calls", calls], timeout=3000)
    checks.that("recorded", done.returncode == 0 and " 0 B lost, 0 gaps" in done.stderr,
                done.returncode, done.stderr)
    return os.path.getsize("hwt.data")


def main():
    need("qemu-x86_64")
    signal.alarm(3000)
    scratch = in_scratch()
    if os.statvfs(".").f_bavail * os.statvfs(".").f_bsize < (MEBIBYTES << 20) * 3 // 2:
        print("no room for the recording here")
        sys.exit(77)
    checks = Checks()
    size = record(checks, 1_000_000)
    calls = int((MEBIBYTES << 20) / (size / 1_000_000) * 1.01)
    size = record(checks, calls)
    checks.that(f"{MEBIBYTES} MiB of trace", size >= MEBIBYTES << 20, size)
    checks.that("recording: memory", peak() < LIMIT, peak())
    for words in (["info"], ["report"], ["calls", "--depth", "3"]):
        done = run([HWT, *words, "-i", "hwt.data"], timeout=3000)
        checks.equal(f"{words[0]}: exit status", done.returncode, 0)
        checks.that(f"{words[0]}: memory", peak() < LIMIT, peak())
    print(f"{size} bytes, {peak()} KiB at most")
    scratch.cleanup()
    checks.finish()


main()
