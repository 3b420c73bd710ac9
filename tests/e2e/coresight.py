#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Exact flow of AArch64 programs by CoreSight: as flow.py has it for Intel PT.

usage: coresight.py HWT FLOW_CHECK GUESTS CASE [CONFIGURATION]
What hwt decodes of a recording equals the unit's independent log, thread by thread, and
what perf decodes of the same file where all code is in files; and the commands that list
flow make something of it.
"""
import json
import os
import re
import sys

import lib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "behaviour"))
from checks import Checks, run  # noqa: E402

CONFIGURATIONS = {
    "default": [],
    "no-return-stack": ["--no-retcomp"],
    "cycles": ["--cyc=4"],
    "no-time": ["--no-tsc"],
    "often": ["--psb", "0", "--cyc=4", "--no-retcomp"],
    "small": ["-b", "8K"],
    "broadcast": ["--branch-broadcast"],
    "broadcast-no-return-stack": ["--branch-broadcast", "--no-retcomp"],
    "broadcast-often": ["--branch-broadcast", "--psb", "0", "--cyc=4", "--no-tsc"],
}


def cases(guests):
    """
    By name: argv, record options, exit status, threads; can perf follow, that is, is
    all code in files?
    """
    def guest(name):
        return os.path.join(guests, "a64_" + name)

    libraries = [guest("lib_a"), guest("lib_b")]
    return {
        # It rewrites itself.
        "flow": ([guest("flow")], [], 0, 1, False),
        "flow-thread": ([guest("flow"), "thread"], [], 0, 2, False),
        "outcome": ([guest("outcome")], [], 0, 1, True),
        "exceptions": ([guest("exceptions")], [], 0, 1, True),
        "big": ([guest("big")], [], 0, 2, True),
        "threads": ([guest("threads")], [], 0, 25, True),
        "threads-static": ([guest("threads-static")], [], 0, 25, True),
        "many-threads": ([guest("threads"), "150"], [], 0, 151, True),
        # More than there are trace IDs: a second sink.
        "threads-at-once": ([guest("threads"), "150", "at-once"], [], 0, 151, True),
        # Handlers return by code that the emulator brings.
        "signals": ([guest("signals")], [], 0, 1, False),
        "signals-static": ([guest("signals-static")], [], 0, 1, False),
        "dlopen": ([guest("dlopen"), *libraries], [], 0, 1, True),
        # In place, by other pages and by other mappings.
        "rewrite": ([guest("rewrite")], [], 0, 2, False),
        # On the stack.
        "trampoline": ([guest("trampoline")], [], 0, 1, False),
        "processes": ([guest("processes")], ["--follow"], 42, 6, True),
        # Itself, by all ways of exec; a shell is this machine's.
        "execs": ([guest("execs")], ["--follow"], 0, 15, True),
        "recursion": ([guest("crash"), "recurse"], [], 128 + 11, 1, True),
    }


def check_commands(checks, hwt, data, threads):
    """The commands say the same of it, and find nothing amiss."""
    info = run([hwt, "info", "-i", data, "--json"])
    checks.that("info", info.returncode == 0, info.stderr)
    told = json.loads(info.stdout)
    checks.equal("info: backend", told["recording"]["backend"], "coresight")
    checks.equal("info: threads", len(told["threads"]), threads)
    checks.equal("info: verdict", told["summary"]["verdict"], "complete")
    # What threads share counts once: each one's own is no more than the file has.
    own = [t["summary"]["bytes"] for t in told["threads"]]
    checks.that("info: bytes", min(own) > 0 and sum(own) <= told["summary"]["bytes"] <
                told["recording"]["file_size"], own, told["summary"], told["recording"])
    checks.equal("info: bytes again", [t["bytes"] for t in told["threads"]], own)
    executed = told["summary"]["instructions"]
    report = run([hwt, "report", "-i", data, "--json"])
    checks.that("report", report.returncode == 0, report.stderr)
    checks.equal("report: all instructions",
                 sum(f["self"] for f in json.loads(report.stdout)["functions"]), executed)
    for command in ("script", "calls", "dump"):
        done = run([hwt, command, "-i", data, "--json"], timeout=300)
        checks.that(command, done.returncode == 0 and done.stdout, done.stderr)
        told = [json.loads(line) for line in done.stdout.splitlines()]
        if command == "calls":
            checks.that("calls: times", told[0]["times_are_coarse"], told[0]["summary"])
        if command == "script":
            types = {line["type"] for line in told}
            checks.that("script: the architecture's names", "contextidr" in types and
                        "cr3" not in types, types)


def check_packets(checks, hwt, data, options):
    """The trace has what the options ask for, and nothing else."""
    done = run([hwt, "dump", "-i", data], timeout=300)
    checks.that("dump", done.returncode == 0, done.stderr)
    names = re.findall(r"^[0-9a-f]+  (I_[A-Z]+)", done.stdout, re.M)
    taken = sum(atoms.count("E") for atoms in
                re.findall(r"I_ATOM_F. : .*; ([EN]+)", done.stdout))
    checks.equal("times", "I_TIMESTAMP" in names, "--no-tsc" not in options)
    checks.that("a time at each sync point", "--no-tsc" in options or
                names.count("I_TIMESTAMP") >= names.count("I_ASYNC") > 0, len(names))
    checks.equal("cycle counts", "I_CCNT" in names, "--cyc=4" in options)
    checks.equal("an address behind each branch that was taken",
                 names.count("I_ADDR") >= taken > 0, "--branch-broadcast" in options)


def check_times(checks, hwt, data, options, program):
    """What is said of times, and advised, is so of this unit."""
    done = run([hwt, "calls", "-i", data], timeout=300)
    said = re.findall(r"^# (.*times.*)$", done.stdout, re.M)[0]
    times = re.findall(r" \d\S* [nmu]?s +\S", done.stdout)
    checks.equal("calls: times", bool(times), "--no-tsc" not in options)
    checks.equal("calls: there are no times", "there are no times" in said, "--no-tsc" in options)
    checks.equal("calls: cycle counts are no times", "cycle counts" in said,
                 "--cyc=4" in options and "--no-tsc" not in options)
    for option, taken in [(o, True) for o in re.findall(r"--[a-z-]+", said)] + [("--mtc", False)]:
        advised = [option] + ["0"] * (option == "--psb")
        again = run([hwt, "record", "-q", "-c", "coresight", "-o", data + ".again", *advised,
                     "--", program])
        checks.equal(f"{option} is taken", again.returncode == 0, taken)


def main():
    hwt, tool, guests, name, *configuration = sys.argv[1:]
    lib.need("qemu-aarch64")
    argv, options, status, threads, perf = cases(guests)[name]
    options = options + CONFIGURATIONS[configuration[0] if configuration else "default"]
    # Without time perf decodes a thread with its last mappings.
    perf = perf and "--no-tsc" not in options and lib.have("perf")
    checks = Checks()
    with lib.Recording(hwt, argv, ["-c", "coresight", *options]) as recording:
        errors = recording.result.stderr.decode(errors="replace")
        checks.equal("exit status", recording.result.returncode, status)
        checks.that("flow", lib.flow_check(tool, recording, *(["--perf"] if perf else [])),
                    errors)
        if not configuration:
            check_commands(checks, hwt, recording.data, threads)
        else:
            check_packets(checks, hwt, recording.data, options)
            check_times(checks, hwt, recording.data, options, os.path.join(guests, "a64_outcome"))
    checks.finish()


if __name__ == "__main__":
    main()
