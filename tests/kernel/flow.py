#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Exact flow on the kernel host: what hwt records in a machine decodes to what the
machine's CPUs executed, thread by thread, or CPU by CPU; and so does what it lists.

usage: flow.py BUILD ARCH HWT FLOW_CHECK PROGRAMS CASE
"""
import array
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import vm

# libipt reads Processor Trace.
IPT = ["--ipt", "--ipt-blocks"] if sys.argv[2] == "x86_64" else []
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
SYMBOLS = "grep -i ' t ' /proc/kallsyms > /out/kallsyms\n"
CALLS = 20
INTERVAL = 256
# A system call that only our program makes, and one that everybody makes.
RARE, BUSY = "__x64_sys_personality", "do_sys_openat2"
FUNCTIONS = f"-i kernel -f {RARE} -f {BUSY}"
COLUMNS = "pc,event_type,event_payload"
COPY = 0x200000000  # first.c
TEXT_POKE, AUXTRACE = 20, 71  # of perf.data
NOP = 0xd503201f


def record(options, command=""):
    return f"hwt record --host kernel -o /out/hwt.data {options} {command}\n"


def within(*ranges):
    return [f"--within={start:#x}-{end - 1:#x}" for start, end in ranges]


def of_kernel(out, function):
    """First byte of a function of the kernel's, and of what comes behind it."""
    lines = [line.split() for line in (out / "kallsyms").read_text().splitlines()]
    start = next(int(word[0], 16) for word in lines if word[2:] == [function])
    return start, min(at for at in (int(word[0], 16) for word in lines) if at > start)


def of_program(program, function):
    """The same of one that is linked to fixed addresses."""
    for line in vm.run(["nm", "-S", program]).stdout.splitlines():
        word = line.split()
        if word[3:] == [function]:
            start = int(word[0], 16)
            return start, start + int(word[1], 16)
    sys.exit(f"{program}: no {function}")


def kernel_functions(out, _):
    rare = of_kernel(out, RARE)
    return [*within(rare, of_kernel(out, BUSY)), f"--at={rare[0]:#x}={CALLS}"]


def first_calls(_, programs):
    start = of_program(programs["FIRST"], "_start")
    call = of_program(programs["FIRST"], "first_call")
    copy = tuple(COPY + at - (call[0] & ~4095) for at in call)
    return [*within(start, call, copy), f"--at={start[0]:#x}=1",
            f"--at={call[0]:#x}=3", f"--at={copy[0]:#x}=7"]


def perf(*_):
    """Of the code that it has: not the machine's vDSO."""
    return ["--perf"] if shutil.which("perf") else []


def same_flow(more_options=None):
    """The recording decodes to what flow_check finds in the log."""
    def check(tool, out, programs):
        options = more_options(out, programs) if more_options else []
        command = [tool, "--machine", str(out / "log"), *IPT,
                   *(part for option in options for part in option.split("=", 1)),
                   str(out / "hwt.data")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        lines = done.stdout.splitlines()
        print("\n".join(lines if len(lines) < 60 else lines[:60] + ["..."]))
        return done.returncode == 0
    return check


def executed(log, ranges):
    """The addresses within the ranges in a CPU's log (qemu/system_log_file.h)."""
    words = array.array("Q", log.read_bytes()[4096:])
    return [w for w in words if any(start <= w < end for start, end in ranges)]


def same_listing(_, out, __):
    """The listing's runs, one after another, are the log of CPU 0."""
    rare = of_kernel(out, RARE)
    log = executed(out / "log/log.cpu0", [rare, of_kernel(out, BUSY)])
    lines = [line.split("\t") for line in (out / "listing").read_text().splitlines()]
    runs = [(int(pc, 16), int(payload.split()[0])) for pc, event, payload in lines
            if event == "run"]
    at = 0
    for pc, count in runs:
        if log[at:at + 1] != [pc]:
            print(f"instruction {at}: {pc:#x} in the listing, {log[at:at + 3]} in the log")
            return False
        at += count
    calls = log.count(rare[0])
    print(f"{at} instructions of {len(log)} listed, {calls} calls of {RARE}")
    return at == len(log) and calls == CALLS / 2


def pairs(log):
    words = array.array("Q", log.read_bytes()[4096:])
    return set(zip(words[::2], words[1::2]))


def same_samples(level, verdict="complete"):
    """The CPUs executed what was sampled, at this level, and accessed it there; and it
    is each INTERVAL-th instruction of a thread's or CPU's, between its unit's stops."""
    each = same_flow(lambda *_: [f"--samples={INTERVAL}"])

    def check(tools, out, programs):
        hwt, flow_check = tools
        cpus = (out / "log").glob("log.cpu*")
        executed_at = set().union(*(array.array("Q", p.read_bytes()[4096:]) for p in cpus))
        accessed = set().union(*map(pairs, (out / "log").glob("mem.cpu*")))
        listed = subprocess.run([hwt, "script", "--json", "-i", str(out / "hwt.data")],
                                stdout=subprocess.PIPE, check=False).stdout
        lines = [json.loads(line) for line in listed.splitlines()]
        summary, samples = lines[-1]["summary"], lines[:-1]
        at = [int(s["at"]["ip"], 16) for s in samples]
        where = [(a, int(s["address"], 16)) for a, s in zip(at, samples) if "address" in s]
        wrong = {
            "level": [s for s in samples if s["level"] != level],
            "executed": [hex(a) for a in at if a not in executed_at],
            "accessed": [p for p in where if p not in accessed],
        }
        print(f"{len(samples)} samples, {len(where)} of accesses; {summary['verdict']}")
        for what, which in wrong.items():
            if which:
                print(f"{what}: {len(which)} of them not so, as {which[:3]}")
        return each(flow_check, out, programs) and len(where) > 10 and \
            summary["verdict"] == verdict and not any(wrong.values())
    return check


def text_pokes(data):
    """{address: the instructions that were written there, in order}, of perf's records."""
    pokes = {}
    at, size = struct.unpack_from("<2Q", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == TEXT_POKE:
            addr, old, new = struct.unpack_from("<QHH", data, at + 8)
            if new == 4:
                pokes.setdefault(addr, []).append(
                    struct.unpack_from("<I", data, at + 20 + old)[0])
        at += length + (struct.unpack_from("<Q", data, at + 8)[0] if kind == AUXTRACE else 0)
    return pokes


def same_patched_flow(tool, out, programs):
    """A branch was patched to and fro, was passed meanwhile, and the flow is right."""
    pokes = text_pokes((out / "hwt.data").read_bytes())
    turned = [addr for addr, written in pokes.items()
              if [insn == NOP for insn in written] == [False, True]]
    times = [len(executed(log, [(addr, addr + 4)])) for addr in turned
             for log in (out / "log").glob("log.cpu*")]
    print(f"{len(pokes)} places were patched, {len(turned)} to and fro, which ran {times} times")
    return same_flow()(tool, out, programs) and any(times)


# name: the script, where FLOW and FIRST are programs; the check
CASES = {
    "threads": (BESIDE + record("--", "FLOW threads"), same_flow()),
    "untimed": (BESIDE + record("--", "FLOW untimed"), same_flow(perf)),
    "fork": (BESIDE + record("--follow --", "FLOW fork"), same_flow()),
    "attach": (BESIDE + ATTACH + record("-p $pid"), same_flow()),
    # Each range is set while the thread stands before it: the first call is there.
    "filter": (BESIDE + record("-f _start -f first_call --", "FIRST FIRST"),
               same_flow(first_calls)),
    "cpus": (record("-C 0-1 --kernel -b 64M --", f"FLOW files {CALLS}"),
             same_flow(perf)),
    "function": (BESIDE + SYMBOLS + record(f"-C 0-1 --kernel {FUNCTIONS} --",
                                           f"FLOW files {CALLS}"),
                 same_flow(kernel_functions)),
    # hwt(8)'s own form.
    "listing": (BESIDE + SYMBOLS + f"hwt -s 0 {FUNCTIONS} -g -o {COLUMNS} -w /out/listing "
                f"FLOW files {CALLS}\n", same_listing),
}

# Each exec passes a branch that enabling and disabling an event turns into a NOP and back.
EVENT = "/sys/kernel/tracing/events/task/task_rename/enable"
PATCHED = f"""
echo 0 >/sys/kernel/tracing/options/record-cmd
cat >/tmp/patch <<end
FLOW files 2
echo 1 >{EVENT}
FLOW files 2
echo 0 >{EVENT}
FLOW files 2
end
""" + record("-C 0-1 --kernel -b 4M --", "sh /tmp/patch") + "rm /tmp/patch\n"

SAMPLE = f"-c spe --interval {INTERVAL} --no-jitter"
# The same on AArch64; cases of SPE by name.
CASES_A64 = {
    **{name: CASES[name] for name in ("threads", "untimed", "attach", "fork")},
    "cpus": (record("-C 0-1 --kernel -b 4M --", f"FLOW files {CALLS}"), same_flow()),
    "patched": (PATCHED, same_patched_flow),
    "spe": (record(f"{SAMPLE} --", "FLOW threads"), same_samples(0)),
    # Many halves: the unit stands still at the end of each.
    "spe cpus": (record(f"{SAMPLE} -C 0-1 --kernel -b 256K --", f"FLOW files {CALLS}"),
                 same_samples(1, "complete with counted losses")),
}


# One of QEMU's threads for each CPU: ETMs that feed one ETR at once.
MULTI = ("cpus multi", "fork multi")
CASES_A64.update({name: CASES_A64[name.split()[0]] for name in MULTI})


def test(build, arch, hwt, tool, folder, name):
    script, check = (CASES if arch == "x86_64" else CASES_A64)[name]
    machine = vm.Guest(build, arch)
    if arch == "x86_64":
        machine.need_unit()
        machine.add(hwt)
    else:
        machine.need_unit("spe" if name.startswith("spe") else "coresight")
        machine.add(vm.cross_hwt(machine))
    if name.startswith("spe"):
        tool = hwt, tool
    machine.log = True
    machine.threads = "multi" if name in MULTI else "single"
    programs = {n: os.path.abspath(f"{folder}/{n.lower()}") for n in ("FLOW", "FIRST")
                if os.path.exists(f"{folder}/{n.lower()}")}
    for word, program in programs.items():
        # Where it is on this machine, too: decoding looks there.
        machine.add(program, program.lstrip("/"))
        script = script.replace(word, program)
    with tempfile.TemporaryDirectory(prefix="hwt-flow-") as temporary:
        out = pathlib.Path(os.environ.get("KEEP", temporary))
        run = machine.boot(LOAD + script, timeout=1200, keep=out)
        print(run.log)
        run.check()
        if not check(tool, out, programs):
            sys.exit("the flow differs")


vm.main(test)
