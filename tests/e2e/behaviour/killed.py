#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""SIGKILL at twenty moments: what was written is read, and is what was executed.

usage: killed.py HWT STEPS-GUEST hwt|target|paused

A moment is a step that the program tells; the recording has grown by then.
"""
import os
import signal
import subprocess
import sys

from addresses import begins, by_hwt, by_perf, logged
from checks import Checks, in_scratch, run
from lib import need

HWT, GUEST = map(os.path.abspath, sys.argv[1:3])
STEPS = 120
MOMENTS = range(3, STEPS - 10, (STEPS - 13) // 19)
LIMIT = 30


def start(*options, maps=()):
    """hwt and its program, with the log in the folder `log`."""
    run(["rm", "-rf", "log", "hwt.data"])
    os.mkdir("log")
    signal.alarm(LIMIT)
    return subprocess.Popen([HWT, "record", "-q", "-o", "hwt.data", "--exec-log", "log",
                             *options, "--", GUEST, "steps", str(STEPS), *maps],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def target_of(process):
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    with open(path, encoding="ascii") as file:
        return int(file.read().split()[0])


def read_to(process, step):
    for line in process.stdout:
        if line == f"step {step}\n":
            return
    raise SystemExit(f"the program never came to step {step}")


def check_readable(checks, name, statuses):
    """info, script and perf read it; both give the log's beginning."""
    info = run([HWT, "info", "-i", "hwt.data"])
    checks.that(f"{name}: info", info.returncode in statuses, info.stdout, info.stderr)
    ours, status, errors = by_hwt(HWT, "hwt.data")
    whole = logged("log")
    if info.returncode == 1:  # killed before the first flush
        checks.that(f"{name}: says that there is nothing", errors, status)
        return 0
    checks.that(f"{name}: script", status in statuses, status, errors)
    if not ours:  # the first flush had not even a block's end
        checks.that(f"{name}: says that nothing came", "not one instruction" in errors, errors)
        return 0
    checks.that(f"{name}: hwt gives what was executed", begins(whole, ours),
                len(ours), len(whole), errors)
    theirs, status, errors = by_perf("hwt.data")
    checks.that(f"{name}: perf reads it", status == 0 and theirs, status, errors)
    checks.that(f"{name}: perf gives what was executed", begins(whole, theirs),
                len(theirs), len(whole), errors)
    return len(ours) // 8


def kill_hwt(checks):
    """The program runs on to its own end; what was flushed is there."""
    grown = 0
    for moment in MOMENTS:
        process = start()
        read_to(process, moment)
        process.kill()
        rest = process.stdout.read()
        checks.that(f"hwt killed at {moment}: the program ends as always",
                    rest.endswith(f"step {STEPS - 1}\ndone\n"), rest, process.stderr.read())
        process.wait()
        grown = max(grown, check_readable(checks, f"hwt killed at {moment}", (0, 1, 3)))
    checks.that("hwt killed: some were read", grown > 20000, grown)


def kill_far_from_sync(checks):
    """One sync point in all: what is behind it does not wait for the next."""
    process = start("--psb", "15")
    read_to(process, MOMENTS[-1])
    process.kill()
    process.stdout.read()
    process.wait()
    count = check_readable(checks, "hwt killed far from a sync point", (0, 3))
    checks.that("hwt killed far from a sync point: the rest is there", count > 20000, count)


def kill_target(checks):
    """hwt says 137 and closes the file in good order: nothing up to there is missing."""
    for moment in MOMENTS:
        process = start()
        read_to(process, moment)
        os.kill(target_of(process), signal.SIGKILL)
        process.stdout.read()
        checks.equal(f"program killed at {moment}: status", process.wait(), 137)
        count = check_readable(checks, f"program killed at {moment}", (0, ))
        executed = len(logged("log")) // 8
        checks.that(f"program killed at {moment}: up to its end", executed - count < 1000,
                    count, executed)


def blocked(pid):
    """Its one thread sleeps in a futex: where a paused thread waits."""
    with open(f"/proc/{pid}/task/{pid}/syscall", encoding="ascii") as file:
        return file.read().split()[0] == "202"


def kill_paused(checks):
    """hwt is stopped, so that the program stands at its next mapping; then killed."""
    for moment in range(3, 103, 10):
        process = start("-f", "no_such_function", maps=("mmap",))
        read_to(process, moment)
        target = target_of(process)
        process.send_signal(signal.SIGSTOP)
        while not blocked(target):
            os.sched_yield()
        process.kill()
        rest = process.stdout.read()
        checks.that(f"killed while a thread is paused after {moment}",
                    rest.endswith(f"step {STEPS - 1}\ndone\n"), rest, process.stderr.read())
        process.wait()


def main():
    need("qemu-x86_64", "perf")
    scratch = in_scratch()
    checks = Checks()
    for part in {"hwt": (kill_hwt, kill_far_from_sync), "target": (kill_target, ),
                 "paused": (kill_paused, )}[sys.argv[3]]:
        part(checks)
    signal.alarm(0)
    scratch.cleanup()
    checks.finish()


main()
