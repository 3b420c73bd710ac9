#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""`hwt script --calls` lists call by call what `hwt calls` counts, at the same depths.

usage: calls.py HWT JUMPS-GUEST
"""
import collections
import json
import os
import sys

from checks import Checks, in_scratch, run

HWT, GUEST = map(os.path.abspath, sys.argv[1:3])
ENTRIES = ("call", "tail", "async", "enabled")
# Calls that the guest makes.
MADE = {"deep": 100 * 10, "handler": 5, "below": 5, "fibonacci": 177, "draw": 1}
# By what is recorded of it: the functions that are in, and the deepest line.
CASES = [
    ([], MADE, None),
    (["-f", "main"], {"main": 1, "[outside]": None}, 1),
    (["-f", "deep"], {"deep": 1000}, 10),  # longjmp@plt, called by the tenth
    (["-f", "handler"], {"handler": 5, "[outside]": 5}, 1),
    (["-f", "fibonacci"], {"fibonacci": 177}, 9),
    (["-f", "draw"], {"draw": 1, "[outside]": 200}, 1),
    (["-f", "deep", "-f", "below", "-f", "main"], {"deep": 1000, "below": 5}, None),
]


def read(words):
    done = run([HWT, *words, "--json", "-i", "hwt.data"])
    return [json.loads(line) for line in done.stdout.splitlines()], done


def counted():
    """From hwt calls: calls by function, and the deepest stack."""
    answers, _ = read(["calls"])
    calls = collections.Counter()
    for call in answers[0]["threads"][0]["calls"]:
        if call["kind"] in ("function", "outside"):
            calls[call.get("function", "[outside]")] += call["calls"]
    return +calls, answers[0]["threads"][0]["max_depth"]


def listed():
    """The same from hwt script --calls, and its lines."""
    lines, done = read(["script", "--calls"])
    calls = collections.Counter()
    for line in lines[:-1]:
        name = line["to"].get("symbol") if line["type"] in ENTRIES else "[outside]"
        calls[name] += 1
    return calls, lines[:-1], done


def check(checks, options, made, deepest):
    what = " ".join(options) or "all"
    done = run([HWT, "record", "-q", "-o", "hwt.data", *options, GUEST])
    checks.equal(f"{what}: recorded", done.returncode, 0)
    calls, lines, done = listed()
    checks.equal(f"{what}: decoded", done.returncode, 0)
    wanted, max_depth = counted()
    if options:
        checks.equal(f"{what}: as many lines as calls", calls, wanted)
    else:
        # Functions without a symbol have no name in common.
        checks.equal(f"{what}: as many lines as calls",
                     {name: calls[name] for name in wanted if name in calls},
                     {name: wanted[name] for name in wanted if name in calls})
        checks.equal(f"{what}: of all functions", sum(calls.values()), sum(wanted.values()))
    for name, n in made.items():
        checks.that(f"{what}: {name}", calls[name] == n or (n is None and calls[name]),
                    calls[name], n)
    depths = [line["depth"] for line in lines if line["type"] in ENTRIES]
    checks.that(f"{what}: as deep as hwt calls says", max(depths) < max_depth, max(depths),
                max_depth)
    if deepest is not None:
        checks.equal(f"{what}: the deepest line", max(line["depth"] for line in lines), deepest)
    return lines


def check_signals(checks):
    """A handler is a line of its own, above what it calls."""
    run([HWT, "record", "-q", "-o", "hwt.data", GUEST])
    lines = listed()[1]
    handlers = [i for i, line in enumerate(lines) if line["type"] == "async"]
    checks.equal("handlers", [lines[i]["to"]["symbol"] for i in handlers], ["handler"] * 5)
    checks.that("handlers: they interrupted something", all("at" in lines[i] for i in handlers))
    for i in handlers:
        checks.equal("handler: what it calls", (lines[i + 1]["to"]["symbol"],
                                                lines[i + 1]["depth"]),
                     ("below", lines[i]["depth"] + 1))
    text = run([HWT, "script", "--calls", "-F", "sym", "-i", "hwt.data"]).stdout
    checks.equal("handlers in text", text.count(" handler [signal]\n"), 5)


def main():
    checks = Checks()
    scratch = in_scratch()
    for case in CASES:
        check(checks, *case)
    check_signals(checks)
    scratch.cleanup()
    checks.finish()


main()
