#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Exact flow: what hwt decodes of a real program is what was executed.

usage: flow.py HWT FLOW_CHECK GUESTS CASE [CONFIGURATION]

Each case records a program and compares, thread by thread and address by
address, with the unit's independent log and with libipt's decoders, the one of
instructions and the one of blocks; with perf where all code is in files.
"""
import sys

import lib
import programs

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


def check(hwt, flow_check, case, configuration):
    argv, options, status, perf = case
    lib.need("qemu-x86_64", argv[0])
    checks = ["--ipt", "--ipt-blocks"]
    # Once a check is enough of what takes long: not by perf, too.
    if perf == "long" and configuration == "default":
        perf = False
    # Without time perf decodes a thread with its last mappings.
    if perf and configuration != "no-timing" and lib.have("perf"):
        checks.append("--perf")
    with lib.Recording(hwt, argv, options + CONFIGURATIONS[configuration]) as recording:
        sys.stderr.write(recording.result.stderr.decode(errors="replace"))
        if recording.result.returncode != status:
            sys.exit(f"exit status {recording.result.returncode}, not {status}")
        if not lib.flow_check(flow_check, recording, *checks):
            sys.exit("the flow differs")


def main():
    hwt, flow_check, guests, name, *configuration = sys.argv[1:]
    with programs.case(guests, name) as case:
        check(hwt, flow_check, case, *(configuration or ["default"]))


if __name__ == "__main__":
    main()
