#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""--ring keeps each thread's last bytes, however the program ends.

usage: ring.py HWT STEPS-GUEST
"""
import os
import re
import signal
import struct
import subprocess
import sys

from addresses import BLOCK, by_hwt, by_perf, logged
from checks import Checks, in_scratch, one_line, run
from lib import need

HWT, GUEST = map(os.path.abspath, sys.argv[1:3])
RING = ["--ring=16K", "--psb", "0"]


def record(*program, ring=RING):
    run(["rm", "-rf", "log", "hwt.data"])
    os.mkdir("log")
    return run([HWT, "record", "-q", "-o", "hwt.data", "--exec-log", "log", *ring, "--",
                GUEST, *program])


def check_end(checks, name, whole):
    """Decodes what is kept; it must end as the log does, and lack its beginning."""
    ours, status, errors = by_hwt(HWT, "hwt.data")
    checks.that(f"{name}: loss is said", status == 3 and "missing" in errors, status, errors)
    checks.that(f"{name}: the end of what was executed", ours and whole.endswith(ours),
                len(ours), len(whole), errors)
    checks.that(f"{name}: not all of it", 80000 < len(ours) < len(whole), len(ours))
    theirs, status, errors = by_perf("hwt.data")
    checks.that(f"{name}: perf gives the same", theirs and ours.endswith(theirs) and
                len(theirs) > len(ours) // 2, len(theirs), len(ours), errors)
    return ours


def check_crash(checks):
    """The last instruction before a fault is the trace's last."""
    done = record("segv", "200")
    checks.equal("fault: status", done.returncode, 139)
    crash = int(done.stdout.split()[0], 16)
    ours = check_end(checks, "fault", logged("log"))
    last = struct.unpack("<Q", ours[-8:])[0]
    # xor %eax, %eax has two bytes: it is what ran before the one that faults.
    checks.equal("fault: up to the address that the program told", last, crash - 2)
    listed = run([HWT, "script", "-i", "hwt.data"])
    checks.that("fault: the listing ends with the address of the fault",
                re.search(f"{crash:x}", "\n".join(listed.stdout.splitlines()[-2:])),
                "\n".join(listed.stdout.splitlines()[-3:]))


def check_kill(checks):
    """SIGKILL: up to the last branches, which the unit had not written yet."""
    run(["rm", "-rf", "log"])
    os.mkdir("log")
    process = subprocess.Popen([HWT, "record", "-q", "-o", "hwt.data", "--exec-log", "log",
                                *RING, "--", GUEST, "steps", "5000"],
                               stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line == "step 400\n":
            break
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        os.kill(int(file.read()), signal.SIGKILL)
    process.stdout.read()
    checks.equal("killed: status", process.wait(), 137)
    ours, status, errors = by_hwt(HWT, "hwt.data")
    whole = logged("log")
    at = whole.rfind(ours[:-BLOCK])
    checks.that("killed: loss is said", status == 3 and "missing" in errors, status, errors)
    checks.that("killed: what was executed", ours and at > 0, len(ours), len(whole), errors)
    checks.that("killed: up to its end", len(whole) - at - len(ours) < 8 * 1000,
                len(whole) - at - len(ours))


def check_others(checks):
    """Threads that ended long ago keep their last bytes, too."""
    done = record("leave", "3")
    checks.equal("threads: status", done.returncode, 5)
    info = run([HWT, "info", "-i", "hwt.data"])
    tids = re.findall(r"^thread (\d+) of", info.stdout, re.MULTILINE)
    checks.equal("threads: all there", len(tids), 4)
    for tid in tids:
        ours, _, errors = by_hwt(HWT, "hwt.data", "--tid", tid)
        whole = logged("log", tid)
        checks.that(f"threads: end of {tids.index(tid)}", ours and whole.endswith(ours),
                    len(ours), len(whole), errors)


def check_sizes(checks):
    """Each ring holds a sync point to begin at; one that cannot is refused."""
    for ring in ("--ring=4K", "--ring=12K", "--ring=64K"):
        record("calls", "100000", ring=[ring])
        ours, status, errors = by_hwt(HWT, "hwt.data")
        checks.that(f"{ring}: decodes", status == 3 and ours and logged("log").endswith(ours),
                    len(ours), errors)
    for ring, fits in (("16K", False), ("18431", False), ("18K", True)):
        done = run([HWT, "record", f"--ring={ring}", "--psb", "3", "-o", "x.data", "/bin/true"])
        checks.that(f"--ring={ring}: a sync point fits: {fits}",
                    done.returncode == 0 if fits else one_line(done, 125, "--psb"), done.stderr)


def check_small(checks):
    """A program that fits is complete."""
    run([HWT, "record", "-q", "--ring=1M", "-o", "hwt.data", "/bin/true"])
    checks.equal("fits: complete", run([HWT, "info", "-i", "hwt.data"]).returncode, 0)


def main():
    need("qemu-x86_64", "perf")
    signal.alarm(200)
    scratch = in_scratch()
    checks = Checks()
    for check in (check_crash, check_kill, check_others, check_sizes, check_small):
        check(checks)
    scratch.cleanup()
    checks.finish()


main()
