#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Exact flow on the kernel host: what hwt records in a machine decodes to what the
machine's CPUs executed, thread by thread, or CPU by CPU.

usage: flow.py BUILD HWT FLOW_CHECK PROGRAMS CASE
"""
import os
import pathlib
import shutil
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
FLOW wait < /tmp/go & pid=$!
exec 3> /tmp/go
(while [ ! -e /dev/hwt_*_$pid ]; do sleep 1; done; sleep 1; echo go >&3) &
"""
COPY = 0x200000000  # first.c
LIBIPT = ["--ipt", "--ipt-blocks"]


def record(options, command=""):
    return f"hwt record --host kernel -o /out/hwt.data {options} {command}\n"


def within(*ranges):
    return [f"--within={start:#x}-{end - 1:#x}" for start, end in ranges]


def of_program(program, function):
    """First byte of a function of a program linked to fixed addresses, and what follows."""
    for line in vm.run(["nm", "-S", program]).stdout.splitlines():
        word = line.split()
        if word[3:] == [function]:
            start = int(word[0], 16)
            return start, start + int(word[1], 16)
    sys.exit(f"{program}: no {function}")


def first_calls(_, programs):
    start = of_program(programs["FIRST"], "_start")
    call = of_program(programs["FIRST"], "first_call")
    copy = tuple(COPY + at - (call[0] & ~4095) for at in call)
    return [*within(start, call, copy), f"--at={start[0]:#x}=1",
            f"--at={call[0]:#x}=3", f"--at={copy[0]:#x}=7"]


def perf(*_):
    """Of the code that it has: not the machine's vDSO."""
    return ["--perf"] if shutil.which("perf") else []


# name: the script, where FLOW and FIRST are programs; flow_check's options
CASES = {
    "threads": (BESIDE + record("--", "FLOW threads"), None),
    "untimed": (BESIDE + record("--", "FLOW untimed"), perf),
    "fork": (BESIDE + record("--follow --", "FLOW fork"), None),
    "attach": (BESIDE + ATTACH + record("-p $pid"), None),
    # Each range is set while the thread stands before it: the first call is there.
    "filter": (BESIDE + record("-f _start -f first_call --", "FIRST FIRST"), first_calls),
    "cpus": (record("-C 0-1 --kernel -b 64M --", "FLOW files 20"), perf),
}


def check(tool, options, out):
    command = [tool, "--machine", str(out / "log"), *LIBIPT,
               *(part for option in options for part in option.split("=", 1)),
               str(out / "hwt.data")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    lines = done.stdout.splitlines()
    print("\n".join(lines if len(lines) < 60 else lines[:60] + ["..."]))
    return done.returncode == 0


def test(build, hwt, tool, folder, name):
    script, options = CASES[name]
    machine = vm.Guest(build)
    machine.need_unit()
    machine.log = True
    machine.add(hwt)
    programs = {n: os.path.abspath(f"{folder}/{n.lower()}") for n in ("FLOW", "FIRST")}
    for word, program in programs.items():
        # Where it is on this machine, too: decoding looks there.
        machine.add(program, program.lstrip("/"))
        script = script.replace(word, program)
    with tempfile.TemporaryDirectory(prefix="hwt-flow-") as temporary:
        out = pathlib.Path(os.environ.get("KEEP", temporary))
        run = machine.boot(LOAD + script, timeout=1200, keep=out)
        print(run.log)
        run.check()
        if not check(tool, options(out, programs) if options else [], out):
            sys.exit("the flow differs")


vm.main(test)
