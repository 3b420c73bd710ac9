#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Many threads, many processes, and ends in the middle of everything.

usage: crowds.py HWT FLOW_CHECK STEPS-GUEST CLOSE-ALL-GUEST LIBRARY
"""
import json
import os
import resource
import signal
import sys

from checks import Checks, in_scratch, run
from lib import Recording, flow_check, need

HWT, FLOW_CHECK, GUEST, CLOSE_ALL, LIBRARY = map(os.path.abspath, sys.argv[1:6])


def check_flow(checks, name, program, status, options=(), foreign=("--ipt",)):
    """Records, compares each thread with the log; the recording."""
    recording = Recording(HWT, program, options)
    checks.equal(f"{name}: status", recording.result.returncode, status)
    checks.that(f"{name}: flow", flow_check(FLOW_CHECK, recording, *foreign),
                recording.result.stderr)
    return recording


def threads_of(data):
    done = run([HWT, "info", "--json", "-i", data])
    return json.loads(done.stdout)["threads"]


def check_threads(checks):
    """5000 threads, one after another: each has its stream, memory stays small."""
    check_flow(checks, "500 threads", [GUEST, "threads", "500"], 0).remove()
    done = run([HWT, "record", "-o", "hwt.data", GUEST, "threads", "5000"])
    checks.that("5000 threads: recorded", done.returncode == 0 and "5001 threads" in done.stderr,
                done.returncode, done.stderr)
    threads = threads_of("hwt.data")
    checks.equal("5000 threads: all there", len(threads), 5001)
    checks.that("5000 threads: each complete", all(
                t["summary"]["verdict"] == "complete" and
                t["summary"]["instructions"] > 100 for t in threads))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    # A sanitizer keeps what was freed.
    limit = 2_000_000 if "HWT_EMULATOR_PRELOAD" in os.environ else 500_000
    checks.that("5000 threads: under 500 MB", peak < limit, peak)


def check_ends(checks):
    """The first thread leaves, the others work on; all end while some stand paused."""
    with check_flow(checks, "the first leaves", [GUEST, "leave", "4"], 5) as recording:
        checks.equal("the first leaves: threads", len(threads_of(recording.data)), 5)
    for _ in range(5):
        check_flow(checks, "exit_group", [GUEST, "group", "4"], 6,
                   foreign=("--ipt", "--ended")).remove()
        done = run([HWT, "record", "-q", "-o", "/dev/null", "-f", "no_such_function", "--",
                    GUEST, "group", "4"])
        checks.equal("exit_group while threads stand paused", done.returncode, 6)
        with Recording(HWT, [GUEST, "group", "4"], ["-f", "map_code"]) as recording:
            checks.equal("exit_group, filtered: status", recording.result.returncode, 6)
            info = run([HWT, "info", "-i", recording.data])
            checks.equal("exit_group, filtered: complete", info.returncode, 0)


def check_forks(checks):
    """A tree of forks and execs: each process followed, each equal to its log."""
    with check_flow(checks, "forks", [GUEST, "forks", "3"], 0, ["--follow"]) as recording:
        threads = threads_of(recording.data)
        # 1 + 3 + 9 + 27; the 27 exec, which goes on in their streams.
        checks.equal("forks: processes", len({t["pid"] for t in threads}), 40)
    with check_flow(checks, "shell", ["/bin/bash", "-c",
                    "for i in 1 2 3 4 5; do (/bin/true; /bin/echo $i) | /bin/cat & done; wait"],
                    0, ["--follow"]) as recording:
        checks.equal("shell: its output", sorted(recording.result.stdout.split()),
                     [b"1", b"2", b"3", b"4", b"5"])
    check_flow(checks, "not followed", [GUEST, "forks", "2"], 0).remove()


def check_no_descriptors(checks):
    """Processes that there are no descriptors for run on, untraced, and are counted."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))

    done = run([HWT, "record", "--follow", GUEST, "forks", "3"], preexec_fn=limit)
    checks.equal("no descriptors: status", done.returncode, 0)
    checks.that("no descriptors: said", "could not be traced" in done.stderr, done.stderr)
    traced = {t["pid"] for t in threads_of("hwt.data")}
    checks.that("no descriptors: the others are there", 1 < len(traced) < 40, traced)
    # What the recorder may have, the program has not.
    done = run([HWT, "record", "-q", "sh", "-c", "ulimit -Sn 99; ulimit -Sn"])
    checks.equal("limit of descriptors: its own", done.stdout, "99\n")
    limits = ["sh", "-c", "ulimit -Sn; ulimit -Hn"]
    checks.equal("limit of descriptors: as without hwt", run([HWT, "record", "-q", *limits]).stdout,
                 run(limits).stdout)


def check_closing(checks):
    """A program that closes every descriptor it finds."""
    check_flow(checks, "closes all", [CLOSE_ALL, LIBRARY], 0).remove()
    check_flow(checks, "closes all, in a ring", [CLOSE_ALL, LIBRARY], 0, ["--ring=1M"]).remove()


def main():
    need("qemu-x86_64")
    signal.alarm(300)
    scratch = in_scratch()
    checks = Checks()
    for check in (check_ends, check_forks, check_no_descriptors, check_closing, check_threads):
        check(checks)
    scratch.cleanup()
    checks.finish()


main()
