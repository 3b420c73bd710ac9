#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What decoding costs: `hwt report` against libipt and perf on one recording.

usage: report_bench.py HWT SPLIT_RECORDING DECODE_BENCH [--runs N]

Whole commands, cold start, wall time, median of N: report (self and children)
and `perf script` with sparse samples.  Then libipt's block and instruction
decoders on the same bytes (decode_bench, CPU time).
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from record_bench import instructions, make_input


def wall(command, runs):
    times = []
    for _ in range(runs):
        start = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True)
        times.append(time.monotonic() - start)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", nargs=3)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    hwt, split, decode_bench = map(os.path.abspath, options.tools)
    with tempfile.TemporaryDirectory() as folder:
        data, raw, maps = (os.path.join(folder, name) for name in ("d", "pt", "maps"))
        subprocess.run([hwt, "record", "-q", "-o", data, "--", "/usr/bin/gzip", "-1", "-c",
                        make_input(folder)], stdout=subprocess.DEVNULL, check=True)
        insns = instructions(hwt, data)
        ways = {"hwt report": [hwt, "report", "-i", data]}
        if shutil.which("perf"):
            ways["perf script, sparse"] = ["perf", "script", "--itrace=i1ms", "-F", "ip",
                                           "-i", data]
        print(f"gzip -1 of 20 MB: {insns / 1e6:.1f} M instructions")
        for name, command in ways.items():
            seconds = wall(command, options.runs)
            print(f"  {name:22} {seconds:8.3f} s  {insns / seconds / 1e6:8.1f} M insns/s")
        subprocess.run([split, data, raw, maps], check=True)
        subprocess.run([decode_bench, "-n", str(options.runs), raw, maps], check=False)


if __name__ == "__main__":
    main()
