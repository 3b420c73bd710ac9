#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of an AArch64 program hold what it executed and accessed.

usage: record.py HWT PROGRAM
The plugin's own logs tell: log.PID.TID, every retired instruction; mem.PID.TID,
every access as the instruction's address and the data's.
"""
import array
import glob
import json
import os
import shutil
import struct
import sys
from bisect import bisect_left, bisect_right

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e", "behaviour"))
from checks import Checks, in_scratch, one_line, run  # noqa: E402
from lib import need  # noqa: E402

HWT, PROGRAM = map(os.path.abspath, sys.argv[1:3])
SHELL = "/bin/sh"  # as system(3) executes it


def log_of(path):
    """The addresses of a log (qemu/execlog_file.h)."""
    with open(path, "rb") as file:
        _magic, count = struct.unpack("<QQ", file.read(16))
        file.seek(4096)
        words = array.array("Q")
        words.frombytes(file.read(count * 8))
    return words


def samples_of(data):
    """{tid: samples in order}, and the summary line."""
    done = run([HWT, "script", "-i", data, "--json"], timeout=300)
    threads, summary = {}, None
    for line in map(json.loads, done.stdout.splitlines()):
        if line["type"] == "summary":
            summary = line
        else:
            threads.setdefault(line["tid"], []).append(line)
    return threads, summary, done


def record(name, *options, args=()):
    os.mkdir(name)
    data = os.path.join(name, "hwt.data")
    done = run([HWT, "record", "-q", "-c", "spe", "-o", data, "--exec-log", name, *options,
                "--", PROGRAM, *args], timeout=600)
    return data, done


def ip(sample):
    return int(sample["at"]["ip"], 16)


def check_against_logs(checks, name, threads):
    """Every sampled address is one that the thread executed, or accessed there."""
    logs = {int(path.rsplit(".", 1)[1]): log_of(path)
            for path in glob.glob(os.path.join(name, "log.*.*"))}
    checks.that(f"{name}: each thread with samples has a log", set(threads) <= set(logs))
    for tid, samples in threads.items():
        executed = set(logs[tid])
        pairs = log_of(glob.glob(os.path.join(name, f"mem.*.{tid}"))[0])
        accessed = set(zip(pairs[::2], pairs[1::2]))
        strange = [s for s in samples if ip(s) not in executed]
        checks.that(f"{name}: thread {tid} executed them", not strange, strange[:2])
        data = [s for s in samples if "address" in s]
        strange = [s for s in data if (ip(s), int(s["address"], 16)) not in accessed]
        checks.that(f"{name}: thread {tid} accessed them", not strange, strange[:2])
        loads = [s for s in samples if s["type"] in ("load", "store")]
        checks.equal(f"{name}: loads and stores have addresses", len(loads), len(data))
    return logs


def check_interval(checks):
    """Without jitter it is exactly every n-th instruction; a branch goes where it went."""
    data, done = record("plain", "--interval", "256", "--no-jitter")
    checks.equal("plain: the program's own output", (done.returncode, done.stderr), (0, ""))
    threads, summary, script = samples_of(data)
    checks.equal("plain: script", script.returncode, 0)
    checks.equal("plain: counted", summary["summary"]["samples"],
                 sum(map(len, threads.values())))
    checks.that("plain: says whose figures they are", summary["modelled"])
    logs = check_against_logs(checks, "plain", threads)
    (tid, samples), = threads.items()
    log = logs[tid]
    # What was in flight when the next one was due is missing, and nothing else.
    at = {}
    position = -1
    for sample in samples:
        position += 256
        while position < len(log) and log[position] != ip(sample):
            position += 256
        at[position] = sample
    checks.that("plain: every 256th instruction", position < len(log), position, len(log))
    checks.that("plain: few collisions", len(samples) > 0.9 * (len(log) // 256),
                len(samples), len(log))
    wrong = [s for p, s in at.items() if "to" in s and p + 1 < len(log) and
             int(s["to"]["ip"], 16) != log[p + 1]]
    checks.that("plain: branches go where they went", not wrong, wrong[:2])
    kinds = {s["type"] for s in samples}
    checks.that("plain: all kinds of operations",
                {"load", "store", "branch", "not-taken", "other"} <= kinds, kinds)
    words = " ".join(s["operation"] for s in samples)
    checks.that("plain: indirect and conditional branches",
                "B COND" in words and "B IND" in words)
    again, _ = record("again", "--interval", "256", "--no-jitter")
    repeated, _, _ = samples_of(again)
    repeated, = repeated.values()
    checks.equal("plain: the same samples again",
                 [(s["type"], s["latency"]) for s in repeated],
                 [(s["type"], s["latency"]) for s in samples])
    return data, samples


def check_collisions(checks):
    """A sample that takes longer than the interval costs the next; that is told."""
    for interval, expected in (256, True), (4096, None):
        data, _ = record(f"far-{interval}", "--interval", interval, "--no-jitter", args=["far"])
        (thread,) = json.loads(run([HWT, "info", "-i", data, "--json"]).stdout)["threads"]
        checks.equal(f"far: collisions at {interval}", thread.get("collisions"), expected)
        for command, mark in (("info", "  "), ("report", "# "), ("script", "# "), ("dump", "# ")):
            text = run([HWT, command, "-i", data]).stdout
            checks.equal(f"far: hwt {command} in words at {interval}",
                         f"\n{mark}collisions: " in text, bool(expected))
        for command in ("report", "script"):
            last = run([HWT, command, "-i", data, "--json"]).stdout.splitlines()[-1]
            checks.equal(f"far: hwt {command} --json at {interval}",
                         json.loads(last)["collisions"], bool(expected))


def merged(ranges):
    """Those that touch joined, in ascending order."""
    out = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1][1] = max(out[-1][1], high)
        else:
            out.append([low, high])
    return out


def check_jitter(checks):
    """Up to 255 operations more, drawn from a seed: the same in each run."""
    runs = []
    for name in ("jitter", "jitter-again"):
        record(name, "--interval", "4096")
        threads, _, _ = samples_of(f"{name}/hwt.data")
        runs.append(*threads.values())
    checks.equal("jitter: the same samples again",
                 *([(s["type"], s["latency"], s["at"].get("symbol")) for s in each]
                   for each in runs))
    log = check_against_logs(checks, "jitter", {s["tid"]: runs[0] for s in runs[0][:1]})
    (executed,) = log.values()
    places = {ip(sample): [] for sample in runs[0]}
    for at, address in enumerate(executed, 1):
        if address in places:
            places[address].append(at)
    due = [0]
    for sample in runs[0]:
        # Where it may have been: samples in flight swallow one that falls due.
        all_of, found = places[ip(sample)], set()
        for low, high in merged((start + 4096 * k, start + 4351 * k)
                                for start in due for k in (1, 2)):
            found.update(all_of[bisect_left(all_of, low):bisect_right(all_of, high)])
        due = sorted(found)
        if not checks.that("jitter: 4096 to 4351 operations apart", due, sample):
            break
    checks.that("jitter: enough of them", len(runs[0]) > len(executed) // 4351 * 0.9,
                len(runs[0]))


def check_filters(checks):
    cases = {
        "loads": (["--types", "load"], lambda s: s["type"] == "load"),
        "branches": (["--types", "branch"], lambda s: s["type"] in ("branch", "not-taken")),
        "accesses": (["--events", "4"], lambda s: int(s["event_bits"], 16) & 4),
        "no-access": (["--no-events", "4"], lambda s: not int(s["event_bits"], 16) & 4),
        "slow": (["--latency", "10"], lambda s: s["latency"] >= 10),
    }
    for name, (options, passes) in cases.items():
        data, done = record(name, "--interval", "512", *options)
        threads, _, _ = samples_of(data)
        samples = [s for each in threads.values() for s in each]
        wrong = [s for s in samples if not passes(s)]
        checks.that(f"{name}: only those", done.returncode == 0 and samples and not wrong,
                    done.stderr, len(samples), wrong[:2])
        check_against_logs(checks, name, threads)
    # No access of these both refills the cache and does not access it.
    data, done = record("none", "--interval", "512", "--events", "8", "--no-events", "8")
    threads, summary, script = samples_of(data)
    checks.equal("none: nothing is wrong", (done.returncode, threads, script.returncode,
                                            summary["summary"]["verdict"]),
                 (0, {}, 0, "complete, no operation was sampled or passed the filters"))
    checks.that("none: says so", "no operation was sampled or passed" in script.stderr,
                script.stderr)
    info = run([HWT, "info", "-i", "slow/hwt.data", "--json"])
    recording = json.loads(info.stdout)["recording"]
    text = run([HWT, "info", "--no-decode", "-i", "slow/hwt.data"]).stdout
    checks.that("info: in decimal, as given", "latency from 10 cycles\n" in text, text)
    checks.equal("info: what was asked for", (recording["interval"], recording["pmslatfr"]),
                 (512, 10))


def check_threads(checks):
    """Two threads, and halves of a page each that fill up several times."""
    data, done = record("threads", "--interval", "256", "-b", "8K", args=["2"])
    checks.equal("threads: recorded", (done.returncode, done.stderr), (0, ""))
    threads, summary, script = samples_of(data)
    checks.equal("threads: two", len(threads), 2)
    checks.equal("threads: nothing is lost", (script.returncode, summary["summary"]["gaps"],
                                              summary["summary"]["errors"]), (0, 0, 0))
    checks.that("threads: more than the buffer", summary["summary"]["bytes"] > 16 << 10)
    check_against_logs(checks, "threads", threads)
    words = " ".join(s["operation"] for each in threads.values() for s in each)
    checks.that("threads: atomics or exclusives", " AT" in words or " EXCL" in words)


def check_plain(checks, name, done, plain, options):
    """It runs as it does unrecorded; of the shell that cannot be followed a line says so."""
    checks.equal(name, (done.returncode, done.stdout, f" executed {SHELL}, " in done.stderr,
                        len(done.stderr.splitlines())),
                 (plain.returncode, plain.stdout, bool(options), len(options)))


def check_children(checks):
    """They run as they do unrecorded; followed, each has samples of what it did."""
    plain = run(["qemu-aarch64", PROGRAM, "children"])
    checks.equal("children: fork, vfork, system", plain.stdout.split("\n"),
                 ["forked", "spawned", "fork 700", "vfork 500", "system 900", ""])
    for options in [], ["--follow"]:
        done = run([HWT, "record", "-q", "-c", "coresight", "-o", "cs", *options, "--",
                    PROGRAM, "children"])
        check_plain(checks, "children: as without an ETM", done, plain, options)
    for name, options in {"children": [], "followed": ["--follow"]}.items():
        data, done = record(name, "--interval", "256", *options, args=["children"])
        check_plain(checks, f"{name}: as without a unit", done, plain, options)
        threads, summary, script = samples_of(data)
        checks.equal(f"{name}: nothing is lost", (script.returncode, summary["summary"]["gaps"],
                                                  summary["summary"]["errors"]), (0, 0, 0))
        check_against_logs(checks, name, threads)
        info = json.loads(run([HWT, "info", "-i", data, "--json"]).stdout)
        # The shell is the machine's own program: its process is recorded until it runs.
        checks.equal(f"{name}: processes", sorted(
            str(t.get("native", t.get("exit_status"))) for t in info["threads"]),
                     [SHELL, "0", "5", "7"] if options else ["0"])
        forked = [samples for tid, samples in threads.items() if any(
            s["at"].get("symbol") == "work" for s in samples)]
        checks.equal(f"{name}: only the child that was forked works", len(forked), len(options))


def check_refusals(checks):
    done = run([HWT, "record", "-c", "spe", "/bin/true"])
    checks.that("an x86-64 program has no SPE", one_line(done, 126, "/bin/true"), done.stderr)
    done = run([HWT, "record", "-c", "spe", "--interval", "1000", PROGRAM])
    checks.that("interval", one_line(done, 125, "multiple of 256"), done.stderr)
    done = run([HWT, "record", "-c", "spe", "--types", "walk", PROGRAM])
    checks.that("types", one_line(done, 125, "walk"), done.stderr)
    for option in "--events", "--no-events":
        for bits in "1", "0x1002", "0x10000", hex(1 << 48), hex(1 << 63):
            done = run([HWT, "record", "-c", "spe", option, bits, PROGRAM])
            checks.that(f"{option} {bits}", one_line(done, 125, option, "0xffe"), done.stderr)
    done = run([HWT, "record", "-c", "spe", "-b", "12K", PROGRAM])
    checks.that("buffer", one_line(done, 125, "8192"), done.stderr)
    done = run([HWT, "record", "-c", "spe", "--ring", PROGRAM])
    checks.that("ring", one_line(done, 125, "ring"), done.stderr)
    done = run([HWT, "record", "-c", "spe", "-f", "main", PROGRAM])
    checks.that("filter", one_line(done, 125, "filter"), done.stderr)
    done = run([HWT, "calls", "-i", "plain/hwt.data"])
    checks.that("no calls", one_line(done, 1, "samples"), done.stderr)


def check_own_form(checks):
    """hwt -c spe PROGRAM: a line a sample."""
    done = run([HWT, "-c", "spe", "-o", "id,symbol,pc,event_type,event_payload", PROGRAM])
    rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    checks.equal("own form: status", (done.returncode, done.stderr), (0, ""))
    checks.that("own form: lines", len(rows) > 100 and all(len(row) == 5 for row in rows), rows[:3])
    kinds = {row[3] for row in rows}
    checks.that("own form: kinds", {"load", "store", "branch"} <= kinds, kinds)
    loads = [row for row in rows if row[3] in ("load", "store")]
    checks.that("own form: what they accessed", all(int(row[4], 16) for row in loads), loads[:3])
    checks.that("own form: functions", any(row[1].startswith("compare+") for row in rows))


def check_missing(checks):
    """Without the program the samples are all there, without names."""
    shutil.copy(PROGRAM, "gone")
    done = run([HWT, "record", "-q", "-c", "spe", "-o", "gone.data", "./gone"])
    whole = run([HWT, "script", "-i", "gone.data"]).stdout.splitlines()
    os.remove("gone")
    script = run([HWT, "script", "-i", "gone.data"])
    checks.equal("missing: all samples", len(script.stdout.splitlines()), len(whole))
    checks.that("missing: said", "samples in it have no names" in script.stderr and
                "left out" not in script.stderr, done.stderr, script.stderr)


def check_report(checks, data, samples):
    done = run([HWT, "report", "-i", data, "--json"])
    report = json.loads(done.stdout)
    checks.equal("report: all samples", sum(f["samples"] for f in report["functions"]),
                 len(samples))
    names = {f["name"] for f in report["functions"]}
    checks.that("report: functions by name", {"compare", "work"} <= names, names)
    packets = run([HWT, "dump", "-i", data, "--json"]).stdout.splitlines()
    checks.that("dump: says whose figures they are",
                packets and all(json.loads(p)["modelled"] for p in packets), packets[:2])
    text = run([HWT, "report", "-i", data]).stdout
    checks.that("report: says whose figures they are", "model's figures" in text)
    done = run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                             "perf.py"), HWT, "--recording", data],
               timeout=600)
    checks.that("perf reads the same", done.returncode in (0, 77), done.stdout, done.stderr)


def main():
    need("qemu-aarch64")
    checks = Checks()
    with in_scratch():
        data, samples = check_interval(checks)
        check_collisions(checks)
        check_jitter(checks)
        check_filters(checks)
        check_threads(checks)
        check_children(checks)
        check_refusals(checks)
        check_own_form(checks)
        check_missing(checks)
        check_report(checks, os.path.abspath(data), samples)
    checks.finish()


main()
