#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Each allocation of the command fails once: all is there, or it is said what is not.

usage: no_memory.py HWT NO-MEMORY.so GUEST-PROCESSES GUEST-THREADS
"""
import os
import signal
import sys

from checks import Checks, in_scratch, run
from lib import need

HWT, PRELOAD, PROCESSES, THREADS = map(os.path.abspath, sys.argv[1:])
READERS = (["info"], ["info", "--json"], ["script", "--insns"], ["script", "--json"],
           ["report"], ["calls"], ["dump"])


def failing(number, command):
    return run(command, env={**os.environ, "LD_PRELOAD": PRELOAD,
                             "NO_MEMORY_AT": str(number), "NO_MEMORY_COUNT": "count"})


def each_failing(checks, command, step=1):
    """What became of each, by number; none fails in what is first."""
    whole = failing(0, command)
    with open("count", encoding="ascii") as file:
        count = int(file.read())
    checks.that(f"{command}: allocates", count > 20, count, whole.stderr)
    yield 0, whole
    for number in range(1, count + 1, step):
        yield number, failing(number, command)


def check_readers(checks):
    """A result that is whole, or what is missing is said; never a part and 0."""
    run([HWT, "record", "-q", "--mtc", "/bin/true"])
    for words in READERS:
        for number, done in each_failing(checks, [HWT, *words]):
            if number == 0:
                whole = done
            name = f"{words}, allocation {number}"
            checks.that(name, done.returncode in (0, 1, 3), done.returncode, done.stderr)
            checks.that(f"{name}: said", done.returncode == 0 or done.stderr, done.stdout)
            checks.that(f"{name}: whole, or said", done.returncode or done.stderr or
                        done.stdout == whole.stdout, done.stdout)


def check_record(checks, status, words, step=1):
    """An error, or the program's status; what the file lacks it says itself."""
    for number, done in each_failing(checks, [HWT, "record", "-q", *words], step):
        name = f"record {words}, allocation {number}"
        checks.that(f"{name}: status", done.returncode in (125, status), done.returncode,
                    done.stderr)
        checks.that(f"{name}: said", done.returncode == status or
                    done.stderr.startswith("hwt record: "), done.stderr)
        if not os.path.exists("hwt.data"):
            checks.that(f"{name}: no file", done.returncode == 125, done.returncode)
            continue
        info = run([HWT, "info"])
        os.unlink("hwt.data")
        # As far as it came there may have been no trace yet.
        checks.that(f"{name}: readable", info.returncode in (0, 3) or
                    "there is no trace in it" in info.stderr, info.stderr)
        checks.that(f"{name}: whole, or said", info.returncode == 0 or
                    info.stderr or done.stderr, info.stdout)


def main():
    need("qemu-x86_64")
    signal.alarm(500)
    scratch = in_scratch()
    checks = Checks()
    check_readers(checks)
    check_record(checks, 0, ["/bin/true"])
    check_record(checks, 0, ["--ring", "/bin/true"], step=2)
    check_record(checks, 0, ["-i", "libc.so.6", "-f", "getenv", "/bin/ls"], step=3)
    check_record(checks, 42, ["--follow", PROCESSES], step=4)
    check_record(checks, 0, [THREADS], step=7)
    scratch.cleanup()
    checks.finish()


main()
