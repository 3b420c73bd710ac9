#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Exact flow: what hwt decodes of a real program is what was executed.

usage: flow.py HWT FLOW_CHECK GUESTS CASE [CONFIGURATION]

Each case records a program and compares, thread by thread and address by
address, with the unit's independent log and with libipt; with perf where all
code is in files.
"""
import os
import sys
import tempfile

import lib

PYTHON = """
import re, json
words = {}
for i in range(300):
    for w in re.findall(r'[a-z]+', 'the quick brown fox %d jumps' % i):
        words[w] = words.get(w, 0) + i
print(json.dumps(words, sort_keys=True))
"""
PERL = 'my %h; $h{$_ % 97} += $_ for 1..2000; print join(",", sort keys %h)'
BASH = "for i in 1 2 3; do /bin/true; (echo $i); done; ls / | sort | head -n 2"

# How the unit is set up; "default" is what a user gets.
CONFIGURATIONS = {
    "default": [],
    "no-retcomp": ["--no-retcomp"],
    "psb-2k": ["--psb", "0"],
    "psb-64k": ["--psb", "5"],
    "timing": ["--mtc", "--cyc"],
    "no-timing": ["--no-tsc"],
    "all-at-once": ["--no-retcomp", "--psb", "0", "--mtc=0", "--cyc=0"],
    "small-buffer": ["-b", "8K"],
    "host-clock": ["--clock", "host"],
}


def guest(name):
    return os.path.join(sys.argv[3], "guest_" + name)


def library(name):
    return os.path.join(sys.argv[3], f"libguest_{name}.so")


INPUTS = set()


def file_of(size):
    """A file of some compressible bytes; main removes it."""
    path = os.path.join(tempfile.gettempdir(), f"hwt-e2e-input-{size}-{os.getpid()}")
    # Every match is short: gzip's longest-match search has little to do.
    unit = b"".join(b"%x %x\n" % (i * 2654435761 % 2**32, i * 40503 % 65536)
                    for i in range(size // 14 + 1))
    with open(path, "wb") as out:
        out.write((unit * (size // len(unit) + 1))[:size])
    INPUTS.add(path)
    return path


# name: (argv, record options, exit status, with perf: not where code is in no file,
# nor where its text would take many minutes)
def cases():
    return {
        "true": (["/bin/true"], [], 0, True),
        "ls": (["/bin/ls", "-l", "/usr/bin"], [], 0, True),
        "ls-small": (["/bin/ls", "-l", "/"], [], 0, True),
        "gzip": (["/bin/gzip", "-c", file_of(1000000)], [], 0, False),
        "python": (["/usr/bin/python3", "-S", "-E", "-c", PYTHON], [], 0, True),
        "perl": (["/usr/bin/perl", "-e", PERL], [], 0, True),
        "bash": (["/bin/bash", "-c", BASH], ["--follow"], 0, True),
        "bash-no-follow": (["/bin/bash", "-c", BASH], [], 0, True),
        "sort": (["/usr/bin/sort", file_of(30000), "/etc/passwd"], [], 0, True),
        "xz": (["/usr/bin/xz", "-T2", "-0", "--block-size=20000", "-c",
                file_of(60000)], [], 0, True),
        "xz-big": (["/usr/bin/xz", "-T2", "--block-size=300000", "-c",
                    file_of(1000000)], [], 0, False),
        "threads": ([guest("threads")], [], 0, True),
        "signals": ([guest("signals")], [], 0, True),
        "dlopen": ([guest("dlopen"), library("a"), library("b")], [], 0, True),
        "rewrite": ([guest("rewrite")], [], 0, False),
        "trampoline": ([guest("trampoline")], [], 0, False),
        "flow": ([guest("flow")], [], 0, True),
        "flow-thread": ([guest("flow"), "thread"], [], 0, True),
        "processes": ([guest("processes")], ["--follow"], 42, True),
        "recursion": ([guest("crash"), "recurse"], [], 128 + 11, True),
    }


def main():
    hwt, check, _, name = sys.argv[1:5]
    configuration = sys.argv[5] if len(sys.argv) > 5 else "default"
    argv, options, status, perf = cases()[name]
    lib.need("qemu-x86_64", argv[0])
    checks = ["--ipt"]
    # Without time perf decodes a thread with its last mappings.
    if perf and configuration != "no-timing" and lib.have("perf"):
        checks.append("--perf")
    with lib.Recording(hwt, argv, options + CONFIGURATIONS[configuration]) as recording:
        sys.stderr.write(recording.result.stderr.decode(errors="replace"))
        if recording.result.returncode != status:
            sys.exit(f"exit status {recording.result.returncode}, not {status}")
        if not lib.flow_check(check, recording, *checks):
            sys.exit("the flow differs")


if __name__ == "__main__":
    try:
        main()
    finally:
        for made in INPUTS:
            os.unlink(made)
