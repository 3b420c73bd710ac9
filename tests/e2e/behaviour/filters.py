#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Filters: each call of the function is traced, and nothing outside it.

usage: filters.py HWT FLOW_CHECK GUESTS-FOLDER
"""
import os
import sys

from checks import Checks, one_line, run
from images import code_range, mapped_at
from lib import Recording, flow_check, need

HWT, FLOW_CHECK, GUESTS = map(os.path.abspath, sys.argv[1:4])
LIBRARY = f"{GUESTS}/libtraced.so"
FUNCTIONS = ["leaf", "falls", "outcalls", "inner", "middle", "recurse"]
WITH_PERF = ("pie", "dlopen")  # slow: not for each
PAIRS = [("leaf", "recurse"), ("outcalls", "inner")]


def told(output, functions):
    """The guest's lines as ranges, and counts by address."""
    ranges, counts = set(), {}
    for line in output.splitlines():
        name, start, end, *points = line.split()
        if name not in functions:
            continue
        ranges.add(f"{start}-{end}")
        for point in points:
            at, count = point.split("=")
            counts[at] = counts.get(at, 0) + int(count)
    return ranges, counts


def options_of(image, functions):
    words = []
    for function in functions:
        words += (["-i", image] if image else []) + ["-f", function]
    return words


def check_filter(checks, name, program, image, functions, more=(), cut=False):
    """Records with these filters; libipt, perf and the log must agree (cut to them)."""
    what = f"{name}: {'+'.join(functions)}"
    with Recording(HWT, program, [*more, *options_of(image, functions)]) as recording:
        errors = recording.result.stderr.decode()
        checks.equal(f"{what}: exit status", recording.result.returncode, 0)
        ranges, counts = told(recording.result.stdout.decode(), functions)
        checks.that(f"{what}: the program tells its calls", counts, errors)
        words = [w for r in ranges for w in ("--within", r)]
        words += [w for a, n in counts.items() for w in ("--at", f"{a}={n}")]
        foreign = ["--ipt", "--ipt-blocks", *(["--perf"] if name in WITH_PERF else []),
                   *(["--cut"] if cut else [])]
        checks.that(f"{what}: flow",
                    flow_check(FLOW_CHECK, recording, *words, *foreign), errors)
        report = run([HWT, "report", "-i", recording.data])
        checks.that(f"{what}: report names only the functions",
                    report.returncode == 0 and
                    all(f in report.stdout for f in functions) and
                    "outer" not in report.stdout and "next" not in report.stdout,
                    report.stdout, report.stderr)


def check_all(checks, name, program, image=None):
    for function in FUNCTIONS:
        check_filter(checks, name, program, image, [function])
    for pair in PAIRS:
        check_filter(checks, name, program, image, list(pair))


def check_processes(checks):
    """A child has its parent's filters from its first instruction on, a new image its own."""
    for name in ("pie", "no_pie"):
        program = [f"{GUESTS}/guest_calls_{name}", "fork"]
        check_filter(checks, f"forks, {name}", program, None, ["leaf"], ["--follow"])
        check_filter(checks, f"forks, {name}", program, None, ["falls", "recurse"], ["--follow"])


def check_threads(checks):
    """Threads that run already call what another has just loaded."""
    program = [f"{GUESTS}/guest_calls_dlopen", "race", LIBRARY]
    for _ in range(3):
        check_filter(checks, "race", program, "libtraced.so", ["leaf"])


def check_image(checks):
    """-i alone: the whole of an image's code, and nothing else."""
    program = [f"{GUESTS}/guest_calls_dlopen", LIBRARY]
    with Recording(HWT, program, ["-i", "libtraced.so"]) as recording:
        counts = told(recording.result.stdout.decode(), FUNCTIONS)[1]
        words = [w for a, n in list(counts.items())[:16] for w in ("--at", f"{a}={n}")]
        checks.that("-i alone: flow", flow_check(
            FLOW_CHECK, recording, *words, "--ipt", log=False))
        listed = run([HWT, "script", "--insns", "-F", "image", "-i", recording.data])
        images = {line.split("(")[-1].rstrip(")") for line in listed.stdout.splitlines()}
        checks.equal("-i alone: images", images, {LIBRARY})


def check_absent(checks):
    """What is not there is named, and the program runs all the same."""
    done = run([HWT, "record", "-o", "/dev/null", "-q", "-f", "no_such_function",
                "/bin/echo", "ran"])
    checks.that("no such function",
                one_line(done, 0, "no_such_function") and done.stdout == "ran\n",
                done.returncode, done.stdout, done.stderr)
    done = run([HWT, "record", "-o", "/dev/null", "-q", "-i", "libnosuch.so", "-f", "main",
                "/bin/echo", "ran"])
    checks.that("no such image",
                one_line(done, 0, "libnosuch.so") and done.stdout == "ran\n",
                done.returncode, done.stdout, done.stderr)
    done = run([HWT, "record", "-o", "/dev/null", "-q", "-i", "libc.so.6", "-f", "getenv",
                "-f", "no_such_function", "/bin/true"])
    checks.that("one of two is missing",
                one_line(done, 0, "no_such_function") and "getenv" not in done.stderr,
                done.returncode, done.stderr)


def check_ifunc(checks, function):
    """
    An IFUNC of more implementations than the unit has ranges: what ran in the one
    that the loader chose is there, as the log has it, and nothing else.
    """
    counts = []
    for calls in (10, 110):
        with Recording(HWT, [f"{GUESTS}/guest_strings", str(calls)],
                       ["-i", "libc.so.6", "-f", function]) as recording:
            what = f"IFUNC {function}, {calls} calls"
            errors = recording.result.stderr.decode()
            checks.equal(f"{what}: exit status", recording.result.returncode, 0)
            told = dict(line.split() for line in recording.result.stdout.decode().splitlines())
            entry = int(told[function], 16)
            base, path = mapped_at(recording.data, "libc.so.6")
            first, last = code_range(path, entry - base)
            checks.that(f"{what}: flow", flow_check(
                FLOW_CHECK, recording, "--within", f"{first + base:#x}-{last + base:#x}",
                "--cut", "--ipt", "--ipt-blocks", "--perf"), errors)
            listed = run([HWT, "script", "--insns", "-F", "ip", "-i", recording.data])
            counts.append(listed.stdout.split().count(f"{entry:x}"))
    checks.equal(f"IFUNC {function}: calls more", counts[1] - counts[0], 100)


def check_many(checks):
    """More functions than the unit has ranges; the second form of the command, too."""
    check_filter(checks, "pie", [f"{GUESTS}/guest_calls_pie"], None, FUNCTIONS, cut=True)
    check_filter(checks, "dlopen", [f"{GUESTS}/guest_calls_dlopen", LIBRARY], LIBRARY,
                 FUNCTIONS, cut=True)
    check_filter(checks, "forks", [f"{GUESTS}/guest_calls_no_pie", "fork"], None, FUNCTIONS,
                 ["--follow"], cut=True)
    done = run([HWT, "-i", "libc.so.6", "-f", "memcpy", "-o", "image", f"{GUESTS}/guest_strings", "3"])
    checks.that("hwt -f memcpy", done.returncode == 0 and "libc.so.6" in done.stdout and
                "guest_strings" not in done.stdout, done.returncode, done.stdout, done.stderr)


def main():
    need("qemu-x86_64", "perf", "readelf")
    checks = Checks()
    check_all(checks, "pie", [f"{GUESTS}/guest_calls_pie"])
    check_all(checks, "no-pie", [f"{GUESTS}/guest_calls_no_pie"])
    check_all(checks, "linked", [f"{GUESTS}/guest_calls_linked"], "libtraced.so")
    check_all(checks, "dlopen", [f"{GUESTS}/guest_calls_dlopen", LIBRARY], LIBRARY)
    check_processes(checks)
    check_threads(checks)
    check_image(checks)
    check_absent(checks)
    check_many(checks)
    for function in ("memcpy", "memset", "strlen", "strcmp"):
        check_ifunc(checks, function)
    checks.finish()


main()
