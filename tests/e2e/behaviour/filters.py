#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Filters: each call of the function is traced, and nothing outside it.

usage: filters.py HWT FLOW_CHECK GUESTS-FOLDER
"""
import os
import sys

from checks import Checks, one_line, run
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


def check_filter(checks, name, program, image, functions, more=()):
    """Records with these filters; libipt, perf and the log must agree."""
    what = f"{name}: {'+'.join(functions)}"
    with Recording(HWT, program, [*more, *options_of(image, functions)]) as recording:
        errors = recording.result.stderr.decode()
        checks.equal(f"{what}: exit status", recording.result.returncode, 0)
        ranges, counts = told(recording.result.stdout.decode(), functions)
        checks.that(f"{what}: the program tells its calls", counts, errors)
        words = [w for r in ranges for w in ("--within", r)]
        words += [w for a, n in counts.items() for w in ("--at", f"{a}={n}")]
        foreign = ["--ipt", "--ipt-blocks", *(["--perf"] if name in WITH_PERF else [])]
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


def check_too_many(checks):
    """More implementations than ranges: refused in one line, the program runs."""
    done = run([HWT, "record", "-q", "-o", "/dev/null", "-i", "libc.so.6", "-f", "memcpy",
                "/bin/echo", "ran"])
    checks.that("memcpy", one_line(done, 125, "memcpy", "implementations") and
                done.stdout == "ran\n", done.returncode, done.stdout, done.stderr)
    names = [w for f in ("getenv", "setlocale", "malloc", "free", "abort") for w in ("-f", f)]
    done = run([HWT, "record", "-q", "-o", "/dev/null", "-i", "libc.so.6", *names,
                "/bin/echo", "ran"])
    checks.that("five functions", one_line(done, 125, "address ranges") and
                done.stdout == "ran\n", done.returncode, done.stdout, done.stderr)


def main():
    need("qemu-x86_64", "perf")
    checks = Checks()
    check_all(checks, "pie", [f"{GUESTS}/guest_calls_pie"])
    check_all(checks, "no-pie", [f"{GUESTS}/guest_calls_no_pie"])
    check_all(checks, "linked", [f"{GUESTS}/guest_calls_linked"], "libtraced.so")
    check_all(checks, "dlopen", [f"{GUESTS}/guest_calls_dlopen", LIBRARY], LIBRARY)
    check_processes(checks)
    check_threads(checks)
    check_image(checks)
    check_absent(checks)
    check_too_many(checks)
    checks.finish()


main()
