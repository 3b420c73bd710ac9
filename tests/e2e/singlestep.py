#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Equal to QEMU's own log of executed blocks, one instruction each.

usage: singlestep.py HWT PRELOAD GUESTS CASE
       singlestep.py HWT PRELOAD GUESTS aarch64 CASE	of coresight.py

QEMU runs with -singlestep -d exec,nochain,tid,in_asm,strace in the same run that
is recorded (qemu_log.c, the PRELOAD, sees to it): a log a thread and program.
The rules that make instructions executed of blocks entered are in doc/testing.md.
"""
import array
import collections
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import coresight
import lib
import programs

# What qemu_log.c makes of lines that are no blocks.
STOPPED, SIGNAL, FAULT, OWN_END = 1, 2, 3, 4
VSYSCALL = 0xffffffffff600000
CHUNK = 1 << 16


def words(path):
    """The 64-bit words of a file."""
    with open(path, "rb") as file:
        while chunk := file.read(8 * CHUNK):
            yield from array.array("Q", chunk)


class Log:
    """The instructions of a log that were executed, each repetition once."""

    def __init__(self, path, reps):
        self.path = path
        self.reps = reps
        self.ended = False      # by the thread itself

    def first(self):
        return next(address for address, _ in self)

    def __iter__(self):
        """Pairs: address; is it sure?"""
        last, entered, apart, ended = None, 0, False, False
        for word in words(self.path):
            if word > OWN_END:
                ended = False
                if word == last:
                    entered += 1
                    continue
                if entered:
                    yield last, not (apart and last in self.reps)
                last, apart = word, False
                entered = int(word < VSYSCALL)
            elif word == STOPPED:
                entered -= 1
                apart = True
            elif word == OWN_END:
                ended = True
            else:
                apart = True
                if word == FAULT:
                    entered = 0
                    ended = True
        if entered:
            yield last, True
        self.ended = ended


def decoded(hwt, data, tid):
    with subprocess.Popen([hwt, "script", "-i", data, "--insns", "-F", "ip", "--tid", tid],
                          stdout=subprocess.PIPE) as script:
        before = None
        for line in script.stdout:
            if line != before:
                yield int(line, 16)
            before = line


def compare(tid, ours, logs):
    """How many instructions are equal; exits if not all are."""
    count = 0
    shown = collections.deque(maxlen=5)
    mine = next(ours, None)
    for i, log in enumerate(logs):
        behind = logs[i + 1].first() if i + 1 < len(logs) else None
        for address, sure in log:
            if mine == address:
                shown.append(f"{mine:x}")
                count += 1
                mine = next(ours, None)
            elif sure:
                break
        else:
            continue
        # Ended by another thread, which QEMU noticed later?
        for _ in log:
            pass
        if log.ended or mine != behind:
            sys.exit(f"thread {tid}, instruction {count}, behind {' '.join(shown)}: "
                     f"QEMU {address:x}, hwt {f'{mine:x}' if mine else 'ends'}")
    if mine:
        sys.exit(f"thread {tid}: hwt has more than QEMU's {count} instructions, "
                 f"{mine:x} ...")
    return count


def record(hwt, case, preload, folder):
    """Recording, threads that executed anything, logs by thread, REP instructions."""
    argv, options, want = case[:3]
    data = os.path.join(folder, "hwt.data")
    logs = os.path.join(folder, "logs")
    os.mkdir(logs)
    loaded = shutil.copy(preload, os.path.join(logs, "preload.so"))
    before = os.environ.get("HWT_EMULATOR_PRELOAD")
    env = dict(os.environ, HWT_EMULATOR_PRELOAD=" ".join(filter(None, [before, loaded])))
    status = subprocess.run([hwt, "record", *options, "-o", data, "--", *argv], env=env,
                            stdout=subprocess.DEVNULL, check=False).returncode
    if status != want:
        sys.exit(f"exit status {status}, not {want}")
    info = json.loads(subprocess.run([hwt, "info", "--json", "-i", data], check=True,
                                     stdout=subprocess.PIPE).stdout)
    threads = {str(t["tid"]) for t in info["threads"] if t["summary"]["instructions"]}
    by_thread = {}
    for log in sorted(glob.glob(os.path.join(logs, "*.[0-9]*"))):
        by_thread.setdefault(log.rsplit(".", 1)[1], []).append(log)
    return data, threads, by_thread, set(words(os.path.join(logs, "repeated")))


def check(hwt, case, preload, folder):
    data, threads, by_thread, reps = record(hwt, case, preload, folder)
    if set(by_thread) != threads:
        sys.exit(f"threads: QEMU {sorted(by_thread)}, hwt {sorted(threads)}")
    count = sum(compare(tid, decoded(hwt, data, tid), [Log(log, reps) for log in logs])
                for tid, logs in sorted(by_thread.items()))
    print(f"{count} instructions of {len(threads)} threads equal QEMU's log")


def main():
    hwt, preload, guests, *machine, name = sys.argv[1:]
    lib.need("qemu-aarch64" if machine else "qemu-x86_64")
    with tempfile.TemporaryDirectory(prefix="hwt-singlestep-") as folder:
        if machine:
            check(hwt, coresight.cases(guests)[name], preload, folder)
            return
        with programs.case(guests, name) as case:
            lib.need(case[0][0])
            check(hwt, case, preload, folder)


if __name__ == "__main__":
    main()
