#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Equal to QEMU's own log of executed blocks, one instruction each.

usage: singlestep.py HWT PROGRAM [ARGUMENT ...]

QEMU runs with -singlestep -d exec,nochain in the same run that is recorded.
A block that repeats itself is one instruction with a REP prefix (or a branch to
itself) that was entered again: both sides count it once (doc/architecture.md
says what "executed" means).
"""
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import lib

ADDRESS = re.compile(rb"Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/")


def once(addresses):
    """Without immediate repetitions."""
    before = None
    for address in addresses:
        if address != before:
            yield address
        before = address


def qemu_log(path):
    with open(path, "rb") as log:
        for line in log:
            match = ADDRESS.match(line)
            if match:
                yield int(match.group(1), 16)


def decoded(hwt, data):
    with subprocess.Popen([hwt, "script", "-i", data, "--insns", "-F", "ip"],
                          stdout=subprocess.PIPE) as script:
        for line in script.stdout:
            yield int(line, 16)


def main():
    hwt, argv = sys.argv[1], sys.argv[2:]
    lib.need("qemu-x86_64", argv[0])
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "qemu.log")
        data = os.path.join(folder, "hwt.data")
        wrapper = os.path.join(folder, "qemu")
        with open(wrapper, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\nexec "
                         f"{shutil.which('qemu-x86_64')} -singlestep -d exec,nochain "
                         f"-D {log} \"$@\"\n")
        os.chmod(wrapper, stat.S_IRWXU)
        subprocess.run([hwt, "record", "--qemu", wrapper, "-o", data, "--", *argv],
                       stdout=subprocess.DEVNULL, check=True)
        count = 0
        ours, theirs = once(decoded(hwt, data)), once(qemu_log(log))
        for address in theirs:
            mine = next(ours, None)
            if mine != address:
                sys.exit(f"instruction {count}: QEMU {address:#x}, hwt "
                         f"{'ends' if mine is None else hex(mine)}")
            count += 1
        if next(ours, None) is not None:
            sys.exit(f"hwt has more than QEMU's {count} instructions")
        print(f"{count} instructions equal QEMU's log")


if __name__ == "__main__":
    main()
