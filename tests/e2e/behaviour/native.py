#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A traced AArch64 program that executes one of this machine: it runs on, and that is said.

usage: native.py HWT EXEC
EXEC: tests/e2e/guests/exec.c.
"""
import json
import os
import re
import struct
import sys

from checks import Checks, in_scratch, run
from lib import need

HWT, EXEC = map(os.path.abspath, sys.argv[1:3])
KILLED = "0x9\n"
# The kernel remembers how another's child ended.
REMEMBERED = tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2]) >= (6, 15)


def record(*command):
    done = run([HWT, "record", "-c", "coresight", "--follow", "--", EXEC, *command])
    told = json.loads(run([HWT, "info", "--json"]).stdout)["threads"]
    text = run([HWT, "info"]).stdout
    return done, told, text


def ended(thread):
    """How, if that is known."""
    return next(((key, thread[key]) for key in ("exit_status", "signal") if key in thread), None)


def check_children(checks):
    for n, words in (1, "executed /bin/sh, which is for another machine: its trace ends there"), \
                    (2, "2 processes executed programs that are for another machine ("):
        done, (parent, *children), text = record(n, "/bin/sh", "-c", "exit 7")
        checks.equal(f"{n}: they run as without hwt", done.stdout, n * "0x700\n")
        checks.that(f"{n}: the recorder says so", words in done.stderr, done.stderr)
        checks.equal(f"{n}: the parent", (parent["exit_status"], parent.get("native")), (0, None))
        checks.equal(f"{n}: the children", [c.get("native") for c in children], n * ["/bin/sh"])
        checks.equal(f"{n}: their status", [ended(c) for c in children],
                     n * [("exit_status", 7) if REMEMBERED else None])
        checks.equal(f"{n}: in text", text.count(
            ", not traced any more once it executed /bin/sh, a program for another machine, "
            f"exit status {7 if REMEMBERED else 'not known'}\n"), n)
        checks.that(f"{n}: what was before is there",
                    all(c["summary"]["instructions"] for c in children), children)


def check_itself(checks):
    """hwt's own child: its status is known."""
    done, (thread,), text = record(0, "/bin/sh", "-c", "exit 4")
    checks.equal("itself: status", done.returncode, 4)
    checks.equal("itself: recorded", (thread["native"], thread["exit_status"]), ("/bin/sh", 4))
    checks.that("itself: in text", "another machine, exit status 4\n" in text, text)


def check_script(checks):
    """It is the interpreter that is of another machine."""
    with open("script", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexit 5\n")
    os.chmod("script", 0o755)
    done, (_, child), _ = record(1, "./script")
    checks.equal("script: status", done.stdout, "0x500\n")
    checks.equal("script: what was executed", child.get("native"), "/bin/sh")


def check_failed(checks):
    """An execve that fails takes nobody away: killed later, it was the program itself."""
    header = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9) + struct.pack("<HHI", 2, 0x1234, 1)
    with open("nobodys", "wb") as file:
        file.write(header + bytes(200))
    os.chmod("nobodys", 0o755)
    done, (_, child), text = record(1, "./nobodys")
    checks.equal("failed: the child was killed", done.stdout, KILLED)
    checks.that("failed: nothing is said", "another machine" not in done.stderr + text, done.stderr)
    checks.equal("failed: how it ended", (child.get("native"), ended(child)),
                 (None, ("signal", 9) if REMEMBERED else None))


def main():
    need("qemu-aarch64")
    checks = Checks()
    with in_scratch():
        check_children(checks)
        check_itself(checks)
        check_script(checks)
        check_failed(checks)
    checks.finish()


main()
