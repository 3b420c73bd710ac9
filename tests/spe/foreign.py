#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Arm SPE by CPU, in a file as `perf record -e arm_spe//` lays it out.

usage: foreign.py HWT PROGRAM
PROGRAM: an AArch64 ELF file with a function `compare`.  Samples of two processes follow
each other in a CPU's buffer: each is its own thread's, and is named by what that process
had mapped at the sample's time; perf reads the same file.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e", "behaviour"))
from checks import Checks, in_scratch, run  # noqa: E402

HWT, PROGRAM = map(os.path.abspath, sys.argv[1:3])
PMU = 8
FIRST, SECOND, THREAD, TIMED = 100, 200, 101, 300	# processes; a thread of FIRST
BASE, ELSEWHERE = 0x400000, 0x7000000
MMAP2, COMM, FORK, AUX, ITRACE_START, SWITCH_CPU = 10, 3, 7, 11, 12, 15
AUXTRACE_INFO, AUXTRACE, TIME_CONV = 70, 71, 79
USER, SWITCH_OUT = 2, 1 << 13
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16  # ip, tid, time, cpu, identifier
SPE_ID, DUMMY_ID = 10, 20


def text(string):
    raw = string.encode() + b"\0"
    return raw + bytes(-len(raw) % 8)


def record(kind, payload, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(payload)) + payload


def with_id(kind, payload, pid, tid, time, cpu, misc=0, event=DUMMY_ID):
    return record(kind, payload + struct.pack("<IIQIIQ", pid, tid, time, cpu, 0, event), misc)


def mmap2(pid, address, path, time, cpu=0):
    head = struct.pack("<IIQQQIIQQII", pid, pid, address, 0x10000, 0, 8, 1, 4711, 0, 5, 2)
    return with_id(MMAP2, head + text(path), pid, pid, time, cpu, USER)


def comm(pid, tid, name):
    return with_id(COMM, struct.pack("<II", pid, tid) + text(name), pid, tid, 0, 0)


def fork(pid, tid, parent, time):
    return with_id(FORK, struct.pack("<IIIIQ", pid, parent, tid, parent, time), pid, tid, time, 0)


def switch_in(pid, cpu, time):
    return with_id(SWITCH_CPU, struct.pack("<II", 0, 0), pid, pid, time, cpu)


def sample(pc, time, tid=None, address=0x1000):
    """A load of EL0, in the order in which Arm's cores write packets."""
    raw = struct.pack("<BQ", 0xb0, pc | 1 << 63)
    if tid is not None:
        raw += struct.pack("<BI", 0x64, tid)
    raw += b"\x49\x00" + struct.pack("<BH", 0x52, 0x6) + struct.pack("<BH", 0x98, 7)
    raw += struct.pack("<BQ", 0xb2, address) + struct.pack("<BQ", 0x71, time)
    return raw + bytes(64 - len(raw))


def buffer(cpu, raw, time):
    aux = struct.pack("<QQQ", 0, len(raw), 0)
    return with_id(AUX, aux, FIRST, FIRST, time, cpu, event=SPE_ID) + \
        struct.pack("<IHHQQQIIII", AUXTRACE, 0, 48, len(raw), 0, 0, cpu, 0xffffffff, cpu, 0) + \
        raw


def attribute(kind, config, flags):
    attr = struct.pack("<IIQQQQQ", kind, 128, config, 4096, SAMPLE_TYPE, 4, flags)
    return attr + bytes(128 - len(attr))


def write(path, records):
    """Header, two events with their ids, records."""
    ids = struct.pack("<QQ", SPE_ID, DUMMY_ID)
    spe = attribute(PMU, 1 | 7 << 32, 1 << 18 | 1 << 5)
    dummy = attribute(1, 9, 1 << 18 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23)
    attrs = spe + struct.pack("<QQ", 104, 8) + dummy + struct.pack("<QQ", 112, 8)
    data = b"".join(records)
    start = 104 + len(ids)
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 144, start, len(attrs),
                                       start + len(attrs), len(data), 0, 0) + bytes(32)
    with open(path, "wb") as file:
        file.write(header + ids + attrs + data)


def head():
    # One tick a nanosecond; times of the counter are perf's.
    conv = struct.pack("<QQQQQBB6x", 0, 1, 0, 0, 0xffffffffffffffff, 1, 0)
    return [record(TIME_CONV, conv),
            record(AUXTRACE_INFO, struct.pack("<IIQQ", 4, 0, PMU, 1))]


def compare_at():
    nm = subprocess.run(["nm", PROGRAM], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"^([0-9a-f]+) \w compare$", nm, re.M).group(1), 16)


def ours(checks, name, want, program="spe.data"):
    done = run([HWT, "script", "-i", program, "--json"])
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    got = [(line["cpu"], line["pid"], line["tid"], int(line["at"]["ip"], 16),
            line["at"].get("symbol"), os.path.basename(line["at"]["image"]))
           for line in lines if line["type"] == "load"]
    checks.equal(f"{name}: whose samples, and their names", got, want)
    checks.equal(f"{name}: ends well", done.returncode, 0)
    checks.that(f"{name}: silicon's figures", not lines[-1]["modelled"])
    report = json.loads(run([HWT, "report", "-i", program, "--json"]).stdout)
    counts = {f["name"]: f["samples"] for f in report["functions"]}
    checks.equal(f"{name}: report", counts.get("compare"),
                 sum(row[4] == "compare" for row in want))


def theirs(checks, want):
    done = run(["perf", "script", "-i", "spe.data", "--itrace=i1i", "-F", "cpu,tid,ip"],
               timeout=120)
    got = []
    for line in done.stdout.splitlines():
        found = re.match(r"\s*(\d+)\s+\[(\d+)\]\s+([0-9a-f]+)", line)
        if found:
            got.append((int(found.group(2)), int(found.group(1)), int(found.group(3), 16)))
    checks.equal("perf tells the same threads", sorted(got),
                 sorted((row[0], row[2], row[3]) for row in want))


def all_events(checks, at):
    """A sample with each of the 64 event bits: none is left out, and it is JSON."""
    raw = sample(at, 2000, FIRST).rstrip(b"\0")
    head_of, tail = raw[:raw.index(b"\x52\x06\x00")], raw[raw.index(b"\x98"):]
    # All bits but "not taken".
    bits = (1 << 64) - 1 - (1 << 6)
    raw = head_of + struct.pack("<BQ", 0x72, bits) + tail
    write("events.data", head() + [comm(FIRST, FIRST, "first"),
                                   buffer(0, raw + bytes(-len(raw) % 64), 2100)])
    done = run([HWT, "script", "-i", "events.data", "--json"])
    line = json.loads(done.stdout.splitlines()[0])
    checks.equal("all events: bits", int(line["event_bits"], 16), bits)
    checks.equal("all events: names", len(line["events"]), 63)
    text = run([HWT, "script", "-i", "events.data"]).stdout
    checks.that("all events: text", all(name in text for name in line["events"]), text)


def cuts(checks, at):
    """The last record cut anywhere: the whole ones, and the partial one is counted."""
    whole = sample(at, 2000, FIRST)
    packets = len(whole.rstrip(b"\0")) + 6  # the timestamp's own zeros
    for cut in range(1, 64):
        raw = (whole + sample(at, 2001, FIRST))[:-cut]
        write("cut.data", head() + [comm(FIRST, FIRST, "first"), buffer(0, raw, 2100)])
        done = run([HWT, "script", "-i", "cut.data", "--json"])
        summary = json.loads(done.stdout.splitlines()[-1])["summary"]
        ended = 64 - cut >= packets
        checks.equal(f"cut {cut}: samples, losses, status",
                     (summary["samples"], summary["errors"] > 0, done.returncode),
                     (2, False, 0) if ended else (1, True, 3))


def main():
    checks = Checks()
    at = compare_at()
    moved = at - BASE + ELSEWHERE
    with in_scratch():
        maps = [comm(FIRST, FIRST, "first"), comm(SECOND, SECOND, "second"),
                mmap2(FIRST, BASE, PROGRAM, 1000), mmap2(SECOND, ELSEWHERE, PROGRAM, 1000),
                fork(FIRST, THREAD, FIRST, 1500)]
        late = mmap2(FIRST, BASE, "/no/such/file", 9000)
        cpu0 = [(at, 2000, FIRST), (at, 2100, SECOND), (moved, 2200, SECOND),
                (at, 2300, THREAD), (at, 9500, FIRST)]
        # The unit writes operations as they complete: one may be older than the last.
        cpu1 = [(moved, 2050, SECOND), (at, 2060, FIRST), (moved, 2053, SECOND)]
        want = [
            (0, FIRST, FIRST, at, "compare", "spe_program"),
            (0, SECOND, SECOND, at, None, "?"),
            (0, SECOND, SECOND, moved, "compare", "spe_program"),
            (0, FIRST, THREAD, at, "compare", "spe_program"),
            (0, FIRST, FIRST, at, None, "file"),
            (1, SECOND, SECOND, moved, "compare", "spe_program"),
            (1, FIRST, FIRST, at, "compare", "spe_program"),
            (1, SECOND, SECOND, moved, "compare", "spe_program"),
        ]
        write("spe.data", head() + maps + [late] + [
            buffer(0, b"".join(sample(*row) for row in cpu0), 9600),
            buffer(1, b"".join(sample(*row) for row in cpu1), 2500)])
        ours(checks, "by context", want)
        if shutil.which("perf"):
            theirs(checks, want)
        # A kernel that keeps no ids in CONTEXTIDR: who ran, by the switches.
        write("spe.data", head() + maps + [late] + [
            switch_in(FIRST, 0, 1900), switch_in(SECOND, 0, 2090), switch_in(FIRST, 0, 9400),
            switch_in(SECOND, 1, 2000), switch_in(FIRST, 1, 2055),
            buffer(0, b"".join(sample(pc, time) for pc, time, tid in cpu0 if tid != THREAD), 9600),
            buffer(1, b"".join(sample(pc, time) for pc, time, _ in cpu1), 2500)])
        ours(checks, "by switches", [row for row in want if row[2] != THREAD])
        cuts(checks, at)
        all_events(checks, at)
    checks.finish()


main()
