#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Exact flow on the kernel host: what hwt records in a machine decodes to what the
machine's CPUs executed, thread by thread, or CPU by CPU.

usage: flow.py BUILD HWT FLOW_CHECK PROGRAM CASE
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import vm

LOAD = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
"""
# Work that nobody traces, beside the program.
BESIDE = "(while :; do ls -lR /sys >/dev/null 2>&1; done) &\n"
# The program waits until it is traced.
ATTACH = """
mkfifo /tmp/go
PROGRAM wait < /tmp/go & pid=$!
exec 3> /tmp/go
(while [ ! -e /dev/hwt_*_$pid ]; do sleep 1; done; sleep 1; echo go >&3) &
"""


def record(options, command=""):
    return f"hwt record --host kernel -o /out/hwt.data {options} {command}\n"


LIBIPT = ["--ipt", "--ipt-blocks"]
# name: the script, where PROGRAM is flow.c's; flow_check's options
CASES = {
    "threads": (BESIDE + record("--", "PROGRAM threads"), LIBIPT),
    "fork": (BESIDE + record("--follow --", "PROGRAM fork"), LIBIPT),
    "attach": (BESIDE + ATTACH + record("-p $pid"), LIBIPT),
    "cpus": (record("-C 0-1 --kernel -b 64M --", "PROGRAM files 20"), LIBIPT),
}


def check(tool, options, out):
    command = [tool, "--machine", str(out / "log"), *options, str(out / "hwt.data")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    lines = done.stdout.splitlines()
    print("\n".join(lines if len(lines) < 60 else lines[:60] + ["..."]))
    return done.returncode == 0


def test(build, hwt, tool, program, name):
    script, options = CASES[name]
    program = os.path.abspath(program)
    machine = vm.Guest(build)
    machine.need_unit()
    machine.log = True
    machine.add(hwt)
    # Where it is on this machine, too: decoding looks there.
    machine.add(program, program.lstrip("/"))
    with tempfile.TemporaryDirectory(prefix="hwt-flow-") as folder:
        out = pathlib.Path(os.environ.get("KEEP", folder))
        run = machine.boot(LOAD + script.replace("PROGRAM", program), timeout=1200, keep=out)
        print(run.log)
        run.check()
        if not check(tool, options, out):
            sys.exit("the flow differs")


vm.main(test)
