#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""CoreSight and SPE of an AArch64 program: what recording and decoding cost.

usage: arm_bench.py HWT PROGRAM [--runs N] [--rounds N]

Recording against plain QEMU in the same run, as record_bench.py has it.  Decoding:
whole commands, wall time, `hwt report` against `perf script` on the same file: sparse
samples of flow (perf decodes it by OpenCSD, as hwt does), each sample of SPE.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile

from record_bench import instructions, run, spread
from report_bench import wall

RECORDINGS = {
    "coresight": ["-c", "coresight"],
    "coresight, cycles": ["-c", "coresight", "--cyc=4"],
    "spe": ["-c", "spe"],
    "spe, each 256th": ["-c", "spe", "--interval", "256", "--no-jitter"],
}


def record(hwt, program, folder, runs):
    files = {name: os.path.join(folder, name.replace(" ", "-")) for name in RECORDINGS}
    ways = {"qemu": ["qemu-aarch64", "-cpu", "max,pauth-impdef=on", *program]}
    for name, options in RECORDINGS.items():
        ways[name] = [hwt, "record", "-q", *options, "-o", files[name], "--", *program]
    times = {way: [] for way in ways}
    for _ in range(runs):
        for way, command in ways.items():
            times[way].append(run(command)[0])
    plain = statistics.median(times["qemu"])
    for way, values in times.items():
        size = f"{os.path.getsize(files[way]) / 1e6:8.2f} MB" if way in files else ""
        print(f"  {way:18} {statistics.median(values):8.3f} s   "
              f"{statistics.median(values) / plain:6.2f} x qemu   "
              f"spread {100 * spread(values):3.0f} % {size}")


def samples(hwt, data):
    text = subprocess.run([hwt, "info", "-i", data, "--json"], capture_output=True, text=True,
                          check=True).stdout
    return json.loads(text)["summary"]["samples"]


def decode(hwt, program, folder, runs):
    """Of a recording of one round: OpenCSD takes its time."""
    flow, each = (os.path.join(folder, name) for name in ("flow", "samples"))
    for data, name in ((flow, "coresight"), (each, "spe, each 256th")):
        subprocess.run([hwt, "record", "-q", *RECORDINGS[name], "-o", data, "--", program, "1"],
                       stdout=subprocess.DEVNULL, check=True)
    rows = [
        ("coresight", flow, instructions(hwt, flow), "insns", "--itrace=i1ms"),
        ("spe", each, samples(hwt, each), "samples", "--itrace=i1i"),
    ]
    for name, data, count, unit, itrace in rows:
        ways = {"hwt report": [hwt, "report", "-i", data]}
        if shutil.which("perf"):
            ways[f"perf script {itrace}"] = ["perf", "script", itrace, "-F", "ip", "-i", data]
        print(f"decoding, {name}: {count / 1e6:.2f} M {unit}")
        for way, command in ways.items():
            seconds = wall(command, runs)
            print(f"  {way:26} {seconds:8.3f} s  {count / seconds / 1e6:8.2f} M {unit}/s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", nargs=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    hwt, program = map(os.path.abspath, options.tools)
    if not shutil.which("qemu-aarch64"):
        print("qemu-aarch64 is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"recording, {options.rounds} rounds of bench/work.c:")
        record(hwt, [program, str(options.rounds)], folder, options.runs)
        decode(hwt, program, folder, options.runs)


if __name__ == "__main__":
    main()
