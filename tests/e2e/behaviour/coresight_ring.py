#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""After a wrap of the ETR's buffer: all from its oldest sync point on, the rest counted.

usage: coresight_ring.py HWT GUESTS
"""
import json
import os
import re
import sys

from addresses import by_hwt, logged
from checks import Checks, in_scratch, run
from lib import need

HWT, GUESTS = map(os.path.abspath, sys.argv[1:3])
ASYNC_LENGTH = 12
# Ring, options, guest: what is in a trace differs, not where it can be entered.
CASES = {
    "dynamic": ("32K", [], "exceptions"),
    "one page": ("4K", [], "exceptions"),
    # The oldest bytes of the ring are the middle of one of the formatter's frames.
    "odd": ("5001", [], "exceptions"),
    "one sync point": ("4608", ["--psb=1"], "exceptions"),
    "no return stack": ("16K", ["--no-retcomp"], "exceptions"),
    "cycles": ("16K", ["--cyc=4"], "exceptions"),
    "no time": ("16K", ["--no-tsc"], "exceptions"),
    "broadcast": ("16K", ["--branch-broadcast"], "exceptions"),
    # One ring for all: of those that ended long ago nothing may be left.
    "threads": ("64K", [], "threads-static"),
}


def packets(tid):
    """Of a thread: where the recording begins, and the sync points that it has."""
    done = run([HWT, "dump", "-i", "hwt.data", "--tid", tid, "--json"])
    lines = [line for line in map(json.loads, done.stdout.splitlines()) if "offset" in line]
    lost = next((line for line in lines if line["type"] == "lost"), None)
    begin = lost["offset"] + lost["length"] if lost else 0
    # OpenCSD gives zeros that stand before one the same name, a byte each.
    return begin, [line["offset"] for line in lines
                   if line.get("name") == "I_ASYNC" and line["length"] == ASYNC_LENGTH]


def check_thread(checks, name, thread):
    tid = str(thread["tid"])
    what = f"{name}: thread"
    whole = logged("log", tid)
    ours, _, errors = by_hwt(HWT, "hwt.data", "--tid", tid)
    checks.that(f"{what}: the end of what was executed", whole.endswith(ours),
                len(ours), len(whole), errors)
    begin, syncs = packets(tid)
    if not thread["lost_bytes"]:
        checks.equal(f"{what}: all of it", len(ours), len(whole) if thread["bytes"] else 0)
        return False
    if not syncs:
        checks.that(f"{what}: what is left has no sync point", not ours, len(ours))
        return False
    summary = thread["summary"]
    checks.that(f"{what}: missing up to the oldest sync point",
                begin <= syncs[0] and
                thread["lost_bytes"] <= summary["missing_bytes"] <= syncs[0],
                begin, syncs[:2], summary)
    listed = run([HWT, "script", "--insns", "-F", "offset,event", "-i", "hwt.data",
                  "--tid", tid])
    at = int(re.search(r"^ *([0-9a-f]+) +insn", listed.stdout, re.M)[1], 16)
    checks.that(f"{what}: decoded from there on",
                syncs[0] < at and (len(syncs) < 2 or at < syncs[1]), at, syncs[:3])
    return True


def check_case(checks, name):
    ring, options, guest = CASES[name]
    run(["rm", "-rf", "log", "hwt.data"])
    os.mkdir("log")
    done = run([HWT, "record", "-c", "coresight", f"--ring={ring}", *options, "-o", "hwt.data",
                "--exec-log", "log", "--", os.path.join(GUESTS, "a64_" + guest)])
    checks.equal(f"{name}: status", done.returncode, 0)
    info = run([HWT, "info", "-i", "hwt.data", "--json"])
    checks.equal(f"{name}: loss is said", info.returncode, 3)
    told = json.loads(info.stdout)
    lost = max(t["lost_bytes"] for t in told["threads"])
    said = re.search(r"([0-9.]+ (?:Ki|Mi)?B) lost", done.stderr)
    checks.that(f"{name}: the recorder says the same",
                said and abs(in_bytes(said[1]) - lost) < 0.06 * lost, done.stderr, lost)
    checks.that(f"{name}: something is decoded",
                any(t["summary"]["instructions"] for t in told["threads"]), info.stdout)
    # What a thread misses of its own was in the ring: up to its first sync point.
    whole = told["summary"]
    checks.that(f"{name}: what the ring lost is counted once",
                whole["missing_bytes"] <= lost + len(told["threads"]) * in_bytes(
                    ring[:-1] + " KiB" if ring[-1] == "K" else ring + " B"), whole)
    wrapped = [check_thread(checks, name, thread) for thread in told["threads"]]
    checks.that(f"{name}: it wrapped", any(wrapped))


def in_bytes(text):
    number, unit = text.split()
    return float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[unit]


def main():
    need("qemu-aarch64")
    scratch = in_scratch()
    checks = Checks()
    for name in CASES:
        check_case(checks, name)
    scratch.cleanup()
    checks.finish()


main()
