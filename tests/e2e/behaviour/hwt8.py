#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hwt(8)'s own form, as its manual page has it.

usage: hwt8.py HWT GUESTS-FOLDER THREADS-GUEST STATIC-GUEST
"""
import array
import os
import re
import sys

from addresses import by_hwt, logged
from checks import Checks, in_scratch, one_line, run
from lib import need

HWT, GUESTS, THREADS, STATIC = map(os.path.abspath, sys.argv[1:5])
PROGRAM = f"{GUESTS}/guest_calls_no_pie"
COLUMNS = "offset,id,image,symbol,pc,event_type,event_payload"


def told_calls(function):
    """How often the guest says that it enters the function."""
    for line in run([PROGRAM]).stdout.splitlines():
        words = line.split()
        if words[0] == function:
            return words[1], int(words[3].split("=")[1])
    raise SystemExit(f"no {function}")


def listing(done):
    """Rows of the listing: what has the program's own output before it."""
    return [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]


def check_calls(checks):
    """A line a call, with the columns that -o names."""
    start, calls = told_calls("leaf")
    done = run([HWT, "-f", "leaf", "-o", COLUMNS, PROGRAM])
    rows = listing(done)
    checks.equal("-f: exit status", done.returncode, 0)
    checks.equal("-f: a line a call", len(rows), calls)
    for offset, thread, image, symbol, pc, event, payload in rows[:1]:
        checks.that("-o: offset", re.fullmatch("0x[0-9a-f]+", offset), offset)
        checks.that("-o: id", re.fullmatch("thr [0-9]+", thread), thread)
        checks.equal("-o: image", image.split("+")[0], PROGRAM)
        checks.equal("-o: symbol", symbol, "leaf+0")
        checks.equal("-o: pc", pc, start)
        checks.equal("-o: event_type", event, "run")
        checks.that("-o: event_payload", "instructions" in payload, payload)
    done = run([HWT, "-f", "leaf", "-o", "pc,symbol", PROGRAM])
    checks.equal("-o: in the order given", listing(done)[0], [start, "leaf+0"])
    done = run([HWT, "-g", "-f", "leaf", PROGRAM])
    checks.that("-g: every event", len(listing(done)) > calls, done.stdout)


def check_library(checks):
    """The manual page's example: each call of getenv."""
    done = run([HWT, "-i", "libc.so.6", "-f", "getenv", "-o", "symbol", "/usr/bin/uname"])
    lines = done.stdout.splitlines()
    checks.equal("getenv: exit status", done.returncode, 0)
    checks.that("getenv: the program's output", "Linux" in lines, done.stdout)
    listed = [line for line in lines if line != "Linux"]
    checks.that("getenv: nothing else", listed and
                all(line.startswith("getenv+") for line in listed), done.stdout)
    # The same calls, counted without a filter.
    run([HWT, "record", "-q", "-o", "whole.data", "/usr/bin/uname"])
    whole = run([HWT, "script", "-i", "whole.data", "--insns", "-F", "sym"])
    entered = sum(line.strip() == "getenv" for line in whole.stdout.splitlines())
    checks.equal("getenv: each call", listed.count("getenv+0"), entered)


def check_ifunc(checks):
    """An IFUNC means its implementations: strlen's calls are found in one of them."""
    done = run([HWT, "-i", "libc.so.6", "-f", "strlen", "-o", "pc", "/usr/bin/uname"])
    entries = [line for line in done.stdout.splitlines() if line.startswith("0x")]
    checks.that("IFUNC: traced", done.returncode == 0 and entries, done.stdout, done.stderr)
    os.mkdir("log")
    run([HWT, "record", "-q", "-o", "strlen.data", "--exec-log", "log", "-i", "libc.so.6",
         "-f", "strlen", "/usr/bin/uname"])
    ours, executed = (array.array("Q", words) for words in
                      (by_hwt(HWT, "strlen.data")[0], logged("log")))
    traced = set(ours)
    first, last = min(traced), max(traced)
    checks.equal("IFUNC: each instruction of one implementation", list(ours),
                 [ip for ip in executed if first <= ip <= last])


def check_raw(checks):
    """-r -w leaves a bare stream that script --raw decodes to the same."""
    run([HWT, "-r", "-w", "trace.out", STATIC])
    run([HWT, "record", "-q", "-o", "whole.data", STATIC])
    raw = run([HWT, "script", "--raw", "trace.out", "--map", STATIC, "--insns", "-F", "ip"])
    whole = run([HWT, "script", "-i", "whole.data", "--insns", "-F", "ip"])
    checks.equal("-r: decodes", raw.returncode, 0)
    checks.that("-r: decodes to the same", raw.stdout and raw.stdout == whole.stdout,
                raw.stderr)


def check_raw_missing(checks):
    """Without the libraries' code what is known comes, and the rest is said."""
    done = run([HWT, "-r", "-w", "trace.out", PROGRAM])
    plain = run([PROGRAM])
    checks.equal("-r: the program's output", done.stdout, plain.stdout)
    checks.equal("-r: exit status", done.returncode, 0)
    with open("trace.out", "rb") as file:
        checks.equal("-r: begins with a PSB", file.read(16), b"\x02\x82" * 8)
    raw = run([HWT, "script", "--raw", "trace.out", "--map", PROGRAM, "--insns", "-F", "ip"])
    checks.equal("-r: missing libraries are said", raw.returncode, 3)
    main = told_calls("leaf")[0][2:]
    checks.that("-r: the program's own code", main in raw.stdout.split(), raw.stdout)
    checks.that("-r needs -w", one_line(run([HWT, "-r", PROGRAM]), 1, "-w"))


def check_threads(checks):
    """-t takes an index or a tid."""
    rows = listing(run([HWT, "-o", "id,pc", THREADS]))
    everyone = list(dict.fromkeys(row[0] for row in rows))
    checks.that("-t: many threads", len(everyone) > 1, everyone)
    for index in (0, 1):
        ids = {row[0] for row in listing(run([HWT, "-t", index, "-o", "id,pc", THREADS]))}
        checks.equal(f"-t {index}: one thread", len(ids), 1)
    checks.that("-t: no such thread", one_line(run([HWT, "-t", 9, STATIC]), 1, "no thread (CPU) 9"))
    done = run([HWT, "-r", "-w", "none.out", "-t", 9, STATIC])
    checks.that("-r -t: no such thread", one_line(done, 1, "a thread 9"), done.stderr)


def check_output(checks):
    """-w keeps the listing out of the program's output; -h explains."""
    done = run([HWT, "-w", "listing", "-f", "leaf", PROGRAM])
    checks.equal("-w: output", done.stdout, run([PROGRAM]).stdout)
    with open("listing", encoding="utf-8") as file:
        checks.that("-w: the listing", "leaf+0" in file.read())
    for option in ("-h", "--help"):
        done = run([HWT, option])
        checks.that(f"{option}: explains", done.returncode == 0 and not done.stderr and
                    all(w in done.stdout for w in ("record", "script", "-w")), done.stdout)
    done = run([HWT, "-f", "leaf", "/bin/sh", "-c", "exit 7"])
    checks.that("a filter that meets nothing", one_line(done, 1, "leaf"),
                done.returncode, done.stderr)
    done = run([HWT, "/bin/sh", "-c", "exit 7"])
    checks.equal("the program's exit status", done.returncode, 7)


def main():
    need("qemu-x86_64")
    scratch = in_scratch()
    checks = Checks()
    for check in (check_calls, check_library, check_ifunc, check_raw, check_raw_missing, check_threads,
                  check_output):
        check(checks)
    scratch.cleanup()
    checks.finish()


main()
