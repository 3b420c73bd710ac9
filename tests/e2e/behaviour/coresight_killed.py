#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""SIGKILL of the recorder of a busy program: what was there at the last flush is read.

usage: coresight_killed.py HWT GUESTS
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

from checks import Checks, in_scratch, run
from lib import need

HWT, GUESTS = map(os.path.abspath, sys.argv[1:3])
LEAST = 1 << 10  # bytes of the recording at the first moment
EVERY = 100000  # instructions a line of perf
LIMIT = 60


def grown(process, least):
    """Waits until the recording has that size."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until and process.poll() is None:
        if os.path.exists("hwt.data") and os.path.getsize("hwt.data") >= least:
            return os.path.getsize("hwt.data")
        time.sleep(0.01)
    process.kill()
    raise SystemExit(f"no recording of {least} bytes after {LIMIT} s")


def target_of(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def kill_recorder(checks, after):
    name = f"killed {after} s after the first trace"
    with subprocess.Popen([HWT, "record", "-q", "-c", "coresight", "-o", "hwt.data", "--",
                           os.path.join(GUESTS, "a64_loop"), "for ever"]) as process:
        size = grown(process, LEAST)
        time.sleep(after)
        target = target_of(process)
        size = grown(process, size + 1)
        process.kill()
    os.kill(target, signal.SIGKILL)
    done = run([HWT, "info", "--json", "-i", "hwt.data"])
    checks.that(f"{name}: info", done.returncode in (0, 3), done.stdout, done.stderr)
    threads = json.loads(done.stdout)["threads"]
    ours = sum(t["summary"]["instructions"] for t in threads)
    trace = sum(t["bytes"] for t in threads)
    checks.that(f"{name}: trace is there", trace > 0, trace)
    script = run(["perf", "script", f"--itrace=i{EVERY}i", "-F", "ip", "-i", "hwt.data"])
    theirs = EVERY * len(re.findall(r"^ *[0-9a-f]+$", script.stdout, re.M))
    # perf leaves out what precedes the first sync point of what each flush wrote.
    checks.that(f"{name}: instructions are there", ours > EVERY, ours)
    checks.that(f"{name}: perf reads most of it", 0 <= ours - theirs < ours // 10 + 2 * EVERY,
                ours, theirs, script.stderr)
    os.remove("hwt.data")


def main():
    need("qemu-aarch64")
    need("perf")
    scratch = in_scratch()
    checks = Checks()
    for after in (0, 0.1):
        kill_recorder(checks, after)
    scratch.cleanup()
    checks.finish()


main()
