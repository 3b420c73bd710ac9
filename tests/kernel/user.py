#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hwt as an ordinary user on the kernel host, in a machine: what it may not trace.

usage: user.py BUILD HWT
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import vm

SCRIPT = """
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
chmod 777 /out
mkdir /setuid
cp /bin/busybox /setuid/sh
chmod 4755 /setuid/sh
cd /out
set +e
try() { su user -c "$2" > $1.out 2> $1.err; echo $? > $1.rc; }
ticks() { wc -l < ticks 2>/dev/null || echo 0; }
try closed 'hwt record -p 1 -o closed.data'
chmod 666 /dev/hwt
try first 'hwt record -o first.data /setuid/sh -c "exit 5"'
try later 'hwt record -o later.data sh -c "ls /; exec /setuid/sh -c \\"exit 5\\""'
# Its own process, in the manual's form.
su user -c 'exec sh -c "while :; do sleep 0.1; echo >> ticks; done"' & pid=$!
su user -c "exec hwt -o image -P $pid" > own.out 2> own.err & hwt=$!
while [ ! -e /dev/hwt_*_$pid ]; do kill -0 $hwt || exit 1; sleep 0.1; done
seen=$(ticks)
while [ $(ticks) -lt $((seen + 5)) ]; do sleep 0.1; done
kill -TERM $hwt
wait $hwt; echo $? > own.rc
kill -0 $pid; echo $? > alive.rc
kill $pid
echo before > kept.data
for name in gone kept; do try $name "hwt record -p 1 -o $name.data"; done
try cpus 'hwt record -C 0-1 --kernel -o cpus.data ls'
try own-pid 'hwt -P 1'
try own-cpus 'hwt -s 0 -i kernel -f schedule ls'
su user -c 'exec /setuid/sh -c "while :; do sleep 0.1; done"' & pid=$!
while [ "$(readlink /proc/$pid/exe)" != /setuid/sh ]; do sleep 0.1; done
try privileged "hwt record -p $pid -o privileged.data"
kill $pid
exit 0
"""


class Result:
    """What one command left in a folder."""
    failed = 0

    def __init__(self, out, hwt, name):
        self.name = name
        self.hwt = hwt
        self.data = out / f"{name}.data"
        self.status = (out / f"{name}.rc").read_text().strip()
        self.lines = self.text(out, "err")
        self.out = self.text(out, "out")

    def text(self, out, kind):
        path = out / f"{self.name}.{kind}"
        return path.read_text().splitlines() if path.exists() else []

    def that(self, what, fine, *why):
        print(f"{'ok  ' if fine else 'FAIL'} {self.name}: {what}", *([] if fine else why))
        Result.failed += not fine

    def says(self, words):
        found = [line for line in self.lines if words in line]
        self.that(f"one line says '{words}'", len(found) == 1, self.lines)

    def info(self, *options):
        return subprocess.run([self.hwt, "info", *options, str(self.data)], text=True,
                              check=False, stdout=subprocess.PIPE).stdout


def check_own(own, alive):
    own.that("exit status 0", own.status == "0", own.status, own.lines)
    alive.that("the process runs on", alive.status == "0")
    own.that("what it executed", own.out and all("busybox" in line for line in own.out),
             own.out[:5])


def check_revoked(result, instructions):
    result.that("its exit status", result.status == "5", result.status, result.lines)
    result.says("/setuid/sh, which is privileged beyond you: its trace ends there")
    thread = json.loads(result.info("--json"))["threads"][0]
    result.that("the recording says so", thread.get("revoked") is True, thread)
    result.that("but no exit status", "exit_status" not in thread, thread)
    result.that("what was before is there" if instructions else "nothing was traced",
                (thread["summary"]["instructions"] > 0) == instructions, thread)
    text = result.info()
    result.that("in text, too", "a more privileged program" in text, text)


# What is refused: the exit status, and the one line that is said (a pattern).
OTHERS = "no permission to trace process {}: it must be yours and no more privileged " \
    "than you, or you need CAP_PERFMON"
CPUS = "no permission to trace CPUs: kernel code takes CAP_PERFMON .root has it."
CLOSED = "-p needs the kernel host: /dev/hwt: no permission: it is for root and the group that " \
    "owns it"
REFUSED = {
    "closed": (125, CLOSED), "gone": (125, OTHERS.format(1)), "kept": (125, OTHERS.format(1)),
    "cpus": (125, CPUS), "own-pid": (1, OTHERS.format(1)), "own-cpus": (125, CPUS),
    "privileged": (125, OTHERS.format("[0-9]+")),
}


def check_refused(result, status, words):
    result.that(f"exit status {status}", result.status == str(status), result.status)
    result.that(f"says '{words}' and no more", len(result.lines) == 1 and
                re.search(f": {words}", result.lines[0]), result.lines)
    left = result.data.read_text() if result.data.exists() else None
    file = "before\n" if result.name == "kept" else None
    result.that("no file, or the old one", left == file, left)


def test(build, hwt):
    machine = vm.Guest(build)
    machine.need_unit()
    machine.add(hwt)
    with tempfile.TemporaryDirectory(prefix="hwt-user-") as folder:
        out = pathlib.Path(os.environ.get("KEEP", folder))
        run = machine.boot(SCRIPT, timeout=600, keep=out)
        run.check()
        check_revoked(Result(out, hwt, "first"), False)
        check_revoked(Result(out, hwt, "later"), True)
        check_own(Result(out, hwt, "own"), Result(out, hwt, "alive"))
        for name, (status, words) in REFUSED.items():
            check_refused(Result(out, hwt, name), status, words)
        if Result.failed:
            sys.exit(f"{Result.failed} failed\n{run.log[-3000:]}")


vm.main(test)
