#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the examples of the manual pages.

usage: man_examples.py HWT PAGE...

An example is a .Dl line behind a comment line `.\\" test [STATUS] [aarch64]`; STATUS is
the exit status that it must have, 0 if not given.  One that needs the kernel host has
`.\\" kernel` instead, and is not run; a page with an example without a mark is refused.
The examples of a page run one after the other in one folder, with `hwt` first on PATH.  It
is empty but for ./prog, the AArch64 program that $HWT_AARCH64_PROGRAM names; without one
the examples of `aarch64` are left out.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MARK = re.compile(r'^\.\\" (?:test( (\d+))?( (aarch64))?|(kernel))$')
LIMIT = 60  # seconds for one example


def examples(page, foreign):
    """Commands and their statuses; foreign: those that need ./prog, too."""
    status = needs = None
    for line in page.read_text(encoding="utf-8").splitlines():
        mark = MARK.match(line)
        if mark:
            status, needs = int(mark.group(2) or 0), mark.group(4) or mark.group(5)
        elif (status is not None) != line.startswith(".Dl "):
            raise SystemExit(f"{page}: a mark without an example, or one without a mark: {line}")
        elif status is not None:
            if not needs or (foreign and needs == "aarch64"):
                yield line[4:].replace("\\-", "-"), status
            status = None


def run(command, want, folder, env):
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, text=True,
                          capture_output=True, timeout=LIMIT, errors="replace",
                          check=False)
    if done.returncode == want:
        return True
    print(f"  exit status {done.returncode} instead of {want}: {command}")
    print("    " + "\n    ".join((done.stdout + done.stderr).splitlines()[-15:]))
    return False


def main():
    if not shutil.which("qemu-x86_64"):
        print("qemu-x86_64 is not installed")
        return 77
    hwt = pathlib.Path(sys.argv[1]).resolve()
    env = dict(os.environ, PATH=f"{hwt.parent}:{os.environ['PATH']}")
    program = shutil.which("qemu-aarch64") and os.environ.get("HWT_AARCH64_PROGRAM")
    failed = count = 0
    for page in map(pathlib.Path, sys.argv[2:]):
        with tempfile.TemporaryDirectory() as folder:
            if program:
                shutil.copy(program, os.path.join(folder, "prog"))
            for command, want in examples(page, program):
                count += 1
                failed += not run(command, want, folder, env)
    print(f"{count} examples, {failed} failed")
    return 1 if failed or not count else 0


sys.exit(main())
