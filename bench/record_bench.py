#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What recording costs: native, plain QEMU and hwt side by side in one run.

usage: record_bench.py HWT [--runs N]

Median wall time of N runs each, interleaved so that the machine's moods hit
all three alike; file written and closed.  Ratios are what to compare; the
spread (max - min over median) says how far to trust them.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

MEGABYTES = 20


def make_input(folder):
    """20 MB of text that gzip can do something with."""
    path = os.path.join(folder, "text")
    seed = b"".join(b"%d %s\n" % (i, bytes(((i * 7 + j * j) % 64) + 32 for j in range(40)))
                    for i in range(20000))
    with open(path, "wb") as out:
        size = 0
        while size < MEGABYTES << 20:
            out.write(seed)
            size += len(seed)
    os.truncate(path, MEGABYTES << 20)
    return path


def programs(folder):
    loop = "s=0\nfor i in range(1500000): s+=i*i%7\nprint(s)"
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    return [
        ("gzip of 20 MB", ["/usr/bin/gzip", "-c", make_input(folder)]),
        ("python3 loop", [python, "-S", "-E", "-c", loop]),
        ("ls -R /usr/share", ["/usr/bin/ls", "-R", "/usr/share"]),
    ]


def run(argv):
    """(wall seconds, the process's own CPU seconds, stderr)"""
    with tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=err)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        wall = time.monotonic() - start
        with open(f"/proc/{child.pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
        child.wait()
        err.seek(0)
        own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if child.returncode:
            sys.exit(f"{argv[0]}: exit {child.returncode}\n{err.read().decode()}")
        return wall, own


def instructions(hwt, data):
    text = subprocess.run([hwt, "info", "-i", data, "--json"], capture_output=True,
                          text=True, check=True).stdout
    return json.loads(text)["summary"]["instructions"]


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def measure(name, argv, hwt, folder, runs):
    data = os.path.join(folder, "bench.data")
    ways = {
        "native": argv,
        "qemu": ["qemu-x86_64", "-cpu", "max"] + argv,
        "hwt": [hwt, "record", "-o", data, "--"] + argv,
    }
    wall = {way: [] for way in ways}
    own = []
    for _ in range(runs):
        for way, command in ways.items():
            seconds, cpu = run(command)
            wall[way].append(seconds)
            if way == "hwt":
                own.append(cpu)
    median = {way: statistics.median(values) for way, values in wall.items()}
    insns = instructions(hwt, data)
    size = os.path.getsize(data)
    print(f"{name}: {insns / 1e6:.1f} M instructions, {size / 1e6:.2f} MB, "
          f"{size / max(insns, 1):.4f} B/insn")
    for way in ways:
        print(f"  {way:7} {median[way]:8.3f} s   {median[way] / median['qemu']:6.2f} x qemu"
              f"   {median[way] / median['native']:6.2f} x native"
              f"   spread {100 * spread(wall[way]):.0f} %")
    print(f"  hwt's own CPU time {statistics.median(own):.3f} s, "
          f"{insns / median['hwt'] / 1e6:.0f} M insns/s while recording")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hwt")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, argv in programs(folder):
            measure(name, argv, os.path.abspath(options.hwt), folder, options.runs)


if __name__ == "__main__":
    main()
