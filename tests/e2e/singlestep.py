#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Equal to QEMU's own log of executed blocks, one instruction each.

usage: singlestep.py HWT PRELOAD GUESTS CASE

QEMU runs with -singlestep -d exec,nochain,tid,in_asm,strace in the same run that
is recorded (qemu_log.c, the PRELOAD, sees to it): a log a thread and program.
The rules that make instructions executed of blocks entered are in doc/testing.md.
"""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import lib
import programs

TRACE, STOPPED, SIGNAL = b"Trace ", b"Stopped ", b"--- SIG"
VSYSCALL = b"ffffffffff600"
OWN_END = re.compile(rb"\d+ (exit|exit_group|execve)\(")
REPEATED = re.compile(rb"^0x([0-9a-f]+):  (?:[0-9a-f]{2} )+ *rep\w* (?!ret)", re.M)


def repeated(logs):
    """Addresses of string instructions with a REP prefix."""
    found = subprocess.run(["grep", "-hE", "^0x.* rep", *logs], stdout=subprocess.PIPE,
                           check=False).stdout
    return {address.zfill(16) for address in REPEATED.findall(found)}


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
        with open(self.path, "rb") as log:
            for line in log:
                if line.startswith(TRACE):
                    ended = False
                    at = line.index(b"/") + 1
                    address = line[at:at + 16]
                    if address == last:
                        entered += 1
                        continue
                    if entered:
                        yield last, not (apart and last in self.reps)
                    last, entered, apart = address, 1, False
                    if address.startswith(VSYSCALL):
                        entered = 0
                elif line.startswith(STOPPED):
                    entered -= 1
                    apart = True
                elif line.startswith(SIGNAL):
                    apart = True
                    if b"si_addr=" in line:     # a fault
                        entered = 0
                        ended = True
                elif OWN_END.match(line):
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
                yield line.strip().zfill(16)
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
                shown.append(mine.decode())
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
                     f"QEMU {address.decode()}, hwt {mine.decode() if mine else 'ends'}")
    if mine:
        sys.exit(f"thread {tid}: hwt has more than QEMU's {count} instructions, "
                 f"{mine.decode()} ...")
    return count


def record(hwt, case, preload, folder):
    """Recording, threads that executed anything, logs by thread."""
    argv, options, want, _ = case
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
    return data, threads, by_thread


def check(hwt, case, preload, folder):
    data, threads, by_thread = record(hwt, case, preload, folder)
    if set(by_thread) != threads:
        sys.exit(f"threads: QEMU {sorted(by_thread)}, hwt {sorted(threads)}")
    reps = repeated([log for logs in by_thread.values() for log in logs])
    count = sum(compare(tid, decoded(hwt, data, tid), [Log(log, reps) for log in logs])
                for tid, logs in sorted(by_thread.items()))
    print(f"{count} instructions of {len(threads)} threads equal QEMU's log")


def main():
    hwt, preload, guests, name = sys.argv[1:]
    lib.need("qemu-x86_64", "grep")
    with (programs.case(guests, name) as case,
          tempfile.TemporaryDirectory(prefix="hwt-singlestep-") as folder):
        lib.need(case[0][0])
        check(hwt, case, preload, folder)


if __name__ == "__main__":
    main()
