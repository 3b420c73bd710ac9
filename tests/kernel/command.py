#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hwt on the kernel host, in a machine: a program, its children, a process that runs.

usage: command.py BUILD HWT CALLER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import vm

CALLS = 50
SCRIPT = f"""
insmod /lib/modules/hwt.ko
insmod /lib/modules/hwt_vtu.ko
cd /out
set +e
try() {{ name=$1; shift; "$@" > $name.out 2> $name.err; echo $? > $name.rc; }}
try list hwt list --json
try program hwt record -o program.data CALLER {CALLS}
try child hwt record -o child.data --follow sh -c 'CALLER {CALLS}; exit 3'

CALLER spin & pid=$!
hwt record -p $pid -o attach.data --ready-fd 3 3> ready 2> attach.err & record=$!
while [ ! -s ready ]; do kill -0 $record || exit 1; sleep 0.1; done
sleep 1
try twice hwt record -p $pid -o twice.data
kill -TERM $record; wait $record; echo $? > attach.rc
kill -0 $pid; echo $? > alive.rc
kill $pid

exit 0
"""


class Result:
    """What the guest's commands left in a folder."""

    def __init__(self, out, hwt):
        self.out = out
        self.hwt = hwt
        self.bad = []

    def text(self, name):
        path = self.out / name
        return path.read_text(errors="replace") if path.exists() else ""

    def that(self, what, fine, *why):
        print(f"{'ok  ' if fine else 'FAIL'} {what}")
        if not fine:
            self.bad.append(what)
            print("     ", *why)

    def status(self, name, want):
        got = self.text(f"{name}.rc").strip()
        self.that(f"{name}: exit status {want}", got == str(want), got,
                  self.text(f"{name}.err"))

    def says(self, name, status, words):
        self.status(name, status)
        lines = self.text(f"{name}.err").splitlines()
        self.that(f"{name}: one line, '{words}'", len(lines) == 1 and words in lines[0], lines)

    def run(self, *words):
        return subprocess.run([self.hwt, *words], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def json(self, name, *words):
        done = self.run(words[0], "--json", *words[1:], "-i", str(self.out / f"{name}.data"))
        try:
            return json.loads(done.stdout)
        except ValueError:
            self.that(f"{name}: {words[0]}", False, done.stderr)
            return {}


def functions(result, name):
    report = result.json(name, "report", "-n", "10000")
    return {f["name"]: f for f in report.get("functions", [])}


def whole(result, name):
    """Nothing is missing but what the unit counted."""
    info = result.json(name, "info")
    summary = info.get("summary", {})
    stops = sum(t["stops"] for t in info.get("threads", []))
    result.that(f"{name}: decodes without errors",
                summary.get("instructions", 0) > 0 and summary.get("errors") == 0 and
                summary.get("gaps", 1) <= stops, summary)
    return info


def check_list(r):
    r.status("list", 0)
    listed = json.loads(r.text("list.out") or "{}")
    r.that("list: the kernel host is the default", listed.get("host") == "kernel", listed)
    modes = listed.get("backends", [{}])[0].get("modes")
    r.that("list: threads and CPUs", modes == ["thread", "cpu"], modes)


def check_programs(r):
    r.status("program", 7)
    info = whole(r, "program")
    r.that("program: status in the recording",
           info and info["threads"][0].get("exit_status") == 7, info.get("threads"))
    found = functions(r, "program")
    r.that("program: every call of its function",
           found.get("call_once", {}).get("calls") == CALLS, sorted(found)[:20])
    r.that("program: nothing of hwt itself", not any(f["image"].endswith("/hwt")
                                                    for f in found.values()))
    r.status("child", 3)
    whole(r, "child")
    found = functions(r, "child")
    r.that("child: every call", found.get("call_once", {}).get("calls") == CALLS,
           sorted(found)[:20])


def check_attach(r):
    r.status("attach", 0)
    r.status("alive", 0)
    whole(r, "attach")
    found = functions(r, "attach")
    r.that("attach: what ran meanwhile", found.get("call_once", {}).get("calls", 0) > 3,
           sorted(found)[:20])
    r.says("twice", 125, "is being traced already")


def test(build, hwt, caller):
    # What decodes outside looks for the program under the guest's name of it.
    caller = os.path.abspath(caller)
    machine = vm.Guest(build)
    machine.need_unit()
    machine.add(hwt)
    machine.add(caller, caller.lstrip("/"))
    with tempfile.TemporaryDirectory(prefix="hwt-command-") as folder:
        out = pathlib.Path(os.environ.get("KEEP", folder))
        run = machine.boot(SCRIPT.replace("CALLER", caller), timeout=800, keep=out)
        run.check()
        result = Result(out, hwt)
        for check in (check_list, check_programs, check_attach):
            check(result)
        if result.bad:
            print(run.log[-3000:])
            sys.exit(f"{len(result.bad)} failed")


vm.main(test)
