#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Signals reach the program: to hwt alone, to the group, from a terminal; job control.

usage: signals.py HWT PLAIN-GUEST
"""
import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios

from checks import Checks, in_scratch, run
from lib import need

HWT, PLAIN = map(os.path.abspath, sys.argv[1:3])
COMMAND = [HWT, "record", "-q", "-o", "hwt.data", "--", PLAIN, "wait"]
LIMIT = 60  # seconds until a test that hangs is ended


def start(**options):
    """hwt in a group of its own; the guest is ready for signals."""
    process = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                               process_group=0, text=True, **options)
    signal.alarm(LIMIT)
    assert process.stdout.readline() == "ready\n"
    return process


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


def wait_state(pid, wanted):
    """Until the alarm ends it."""
    while state(pid) not in wanted:
        os.sched_yield()


def finish(checks, name, process):
    """SIGUSR2 ends the guest with status 3; the recording is whole."""
    process.send_signal(signal.SIGUSR2)
    rest = process.stdout.read()
    checks.equal(f"{name}: status", process.wait(), 3)
    signal.alarm(0)
    done = run([HWT, "info", "-i", "hwt.data"])
    checks.that(f"{name}: the recording is complete", done.returncode == 0 and
                "closed in good order" in " ".join(done.stdout.split()), done.stdout,
                done.stderr)
    return rest


def check_alone(checks):
    """Sent to hwt alone: each is passed on once."""
    process = start()
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                signal.SIGTERM):
        process.send_signal(sig)
        checks.equal(f"alone: {sig.name}", process.stdout.readline(), f"signal {sig:d}\n")
    checks.equal("alone: nothing else", finish(checks, "alone", process), "signal 12\n")


def check_program(checks):
    """Sent to the program: hwt has no part in it."""
    process = start()
    child = children(process.pid)[0]
    for sig in (signal.SIGALRM, signal.SIGWINCH, signal.SIGTERM):
        os.kill(child, sig)
        checks.equal(f"program: {sig.name}", process.stdout.readline(), f"signal {sig:d}\n")
    checks.equal("program: nothing else", finish(checks, "program", process), "signal 12\n")


def check_group(checks):
    """Sent to the group by a process: at least once, and hwt lives on."""
    process = start()
    line = ""
    for sig in (signal.SIGINT, signal.SIGTERM):
        before = line
        os.killpg(process.pid, sig)
        line = process.stdout.readline()
        if line == before:  # hwt passed on what the program had got, too
            line = process.stdout.readline()
        checks.equal(f"group: {sig.name}", line, f"signal {sig:d}\n")
    rest = finish(checks, "group", process)
    checks.that("group: the last one", rest.endswith("signal 12\n"), rest)


def check_terminal(checks):
    """A key of the terminal: once, for the program is in its group, too."""
    try:
        master, slave = pty.openpty()
    except OSError as error:  # a chroot without /dev/pts
        print(f"left out: keys of a terminal: {error}")
        return

    def lead():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stdin=slave, text=True,
                               preexec_fn=lead)
    signal.alarm(LIMIT)
    assert process.stdout.readline() == "ready\n"
    for key, sig in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT),
                     (b"\x03", signal.SIGINT)):
        os.write(master, key)
        checks.equal(f"terminal: {sig.name}", process.stdout.readline(), f"signal {sig:d}\n")
    checks.equal("terminal: nothing else", finish(checks, "terminal", process),
                 "signal 12\n")
    os.close(master)
    os.close(slave)


def check_job_control(checks):
    """The group is stopped and goes on, as a shell does it."""
    process = start()
    child = children(process.pid)[0]
    for _ in range(3):
        os.killpg(process.pid, signal.SIGTSTP)
        wait_state(process.pid, "T")
        wait_state(child, "T")
        os.killpg(process.pid, signal.SIGCONT)
        checks.equal("job control: goes on", process.stdout.readline(),
                     f"signal {signal.SIGCONT:d}\n")
        wait_state(process.pid, "SR")
    rest = finish(checks, "job control", process)
    checks.that("job control: the last one", rest.endswith("signal 12\n"), rest)


def check_ignored(checks):
    """What was ignored at the start stays so (nohup)."""
    process = start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGUSR1)
    checks.equal("ignored", process.stdout.readline(), "signal 10\n")
    checks.equal("ignored: nothing else", finish(checks, "ignored", process), "signal 12\n")


def main():
    need("qemu-x86_64")
    scratch = in_scratch()
    checks = Checks()
    for sig in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(sig, signal.SIG_DFL)  # a shell's background job has them ignored
    for check in (check_alone, check_program, check_group, check_terminal,
                  check_job_control, check_ignored):
        check(checks)
    scratch.cleanup()
    checks.finish()


main()
