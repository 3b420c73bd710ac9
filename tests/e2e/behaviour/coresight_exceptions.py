#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Exceptions and system calls as `hwt script` lists them are OpenCSD's packets.

usage: coresight_exceptions.py HWT GUESTS
"""
import collections
import json
import os
import re
import sys

from checks import Checks, in_scratch, run
from lib import need

HWT, GUESTS = map(os.path.abspath, sys.argv[1:3])


def packets():
    """How often OpenCSD names each type."""
    text = run([HWT, "dump", "-i", "hwt.data"]).stdout
    return collections.Counter(m.lower() for m in
                               re.findall(r"I_EXCEPT : Exception\.;\s+([^;]+);", text))


def main():
    need("qemu-aarch64")
    scratch = in_scratch()
    checks = Checks()
    done = run([HWT, "record", "-q", "-c", "coresight", "-o", "hwt.data", "--",
                os.path.join(GUESTS, "a64_signals")])
    checks.that("recorded", done.returncode == 0, done.stdout, done.stderr)
    listed, lines = collections.Counter(), []
    for line in run([HWT, "script", "--json", "-i", "hwt.data"]).stdout.splitlines():
        event = json.loads(line)
        if event["type"] == "syscall":
            listed["call"] += 1
        elif event["type"] == "async":
            listed[event["exception_name"].lower()] += 1
            lines.append(f"exception {event['exception']} ({event['exception_name']})")
    checks.that("all types are there", set(listed) == {"call", "data fault", "irq"}, listed)
    checks.that("as OpenCSD has them", listed == packets(), listed, packets())
    text = run([HWT, "script", "-i", "hwt.data"]).stdout
    checks.that("text as JSON", re.findall(r"exception \d+ \([^)]*\)", text) == lines)
    scratch.cleanup()
    checks.finish()


main()
