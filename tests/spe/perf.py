#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""perf reads the same packets and samples out of an SPE recording as hwt does.

usage: perf.py HWT MAKE-RECORDING RECORDS
       perf.py HWT --recording FILE
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e", "behaviour"))
from checks import Checks, in_scratch, run  # noqa: E402
from lib import need  # noqa: E402

HWT, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[-1])
MAKE = os.path.abspath(sys.argv[2])


def hwt(command, data, *options):
    done = run([HWT, command, "-i", data, "--json", *options])
    return [json.loads(line) for line in done.stdout.splitlines()], done


def perf_packets(data):
    """Each packet but padding, as `perf report -D` words it, buffer by buffer."""
    done = run(["perf", "report", "-D", "-i", data], timeout=300)
    packets = []
    for line in done.stdout.splitlines():
        found = re.match(r"\.  [0-9a-f]{8}:  ((?:[0-9a-f]{2} )+) *(\S.*)$", line)
        if found and found.group(2) != "PAD":
            packets.append(found.group(2).strip())
    return packets, done


def our_packets(data):
    lines, done = hwt("dump", data)
    return [line["text"].strip() for line in lines
            if line["type"] == "packet" and line["name"] != "PAD"], done


SCRIPT = ("tid", "time", "ip", "addr", "weight")


def perf_samples(data):
    """(tid, ns, ip, addr, weight) of each record, in perf's order."""
    done = run(["perf", "script", "-i", data, "--itrace=i1i", "--ns", "-F",
                ",".join(SCRIPT)], timeout=300)
    samples = []
    for line in done.stdout.splitlines():
        tid, time, addr, weight, ip = line.split()[:5]
        seconds, ns = time.rstrip(":").split(".")
        samples.append((int(tid), int(seconds) * 10**9 + int(ns), int(ip, 16),
                        int(addr, 16), int(weight)))
    return samples, done


def our_samples(data, first_ns):
    lines, done = hwt("script", data)
    samples = []
    for line in lines:
        if line["type"] in ("gap", "error", "summary"):
            continue
        samples.append((line["tid"], line["time_ns"] + first_ns, int(line["at"]["ip"], 16),
                        # perf takes the tag off.
                        int(line.get("address", "0"), 16) & (1 << 56) - 1,
                        line["latency"]))
    return samples, lines[-1], done


def check(checks, data):
    theirs, perf = perf_packets(data)
    ours, dump = our_packets(data)
    checks.that("perf lists packets", len(theirs) > 100, perf.stdout[-2000:], perf.stderr)
    checks.equal("dump ends well", dump.returncode, 0)
    checks.equal("as many packets", len(ours), len(theirs))
    different = [pair for pair in zip(ours, theirs) if pair[0] != pair[1]]
    checks.that("the same packets", not different, different[:3])
    records = sum(1 for text in ours if text == "END" or text.startswith("TS "))
    theirs, perf = perf_samples(data)
    checks.equal("perf has a sample a record", len(theirs), records)
    first = run([HWT, "script", "-i", data, "--json"]).stdout.splitlines()[0]
    # hwt's time begins with the recording, perf's with the machine.
    first_ns = min(sample[1] for sample in theirs if sample[0] == json.loads(first)["tid"]) - \
        json.loads(first)["time_ns"] if theirs else 0
    ours, summary, script = our_samples(data, first_ns)
    checks.equal("script ends well", script.returncode, 0)
    checks.equal("the summary counts them", summary["summary"]["samples"], records)
    checks.that("it says whose figures they are", summary["modelled"])
    checks.equal("the same samples", sorted(ours), sorted(theirs))


def main():
    need("perf")
    checks = Checks()
    with in_scratch():
        if sys.argv[2] == "--recording":
            check(checks, SOURCE)
        else:
            made = run([MAKE, "spe.data", sys.argv[3]])
            checks.equal("recording", made.returncode, 0)
            check(checks, "spe.data")
    checks.finish()


main()
