#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""No room, and nowhere to write: said, and nothing is harmed.

usage: outputs.py HWT STEPS-GUEST [--inner]
"""
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import time

from addresses import by_hwt, by_perf, logged
from checks import Checks, in_scratch, one_line, run
from lib import need

HWT, GUEST = map(os.path.abspath, sys.argv[1:3])
PROGRAM = [GUEST, "calls", "2000000"]
ROOM = 1 << 20  # bytes for the recording; it would take eight times that


def check_kept(checks, name, data, log):
    """What is in the file is the beginning of what was executed."""
    ours, status, errors = by_hwt(HWT, data)
    checks.that(f"{name}: what was written is read", ours and status in (0, 3), status, errors)
    checks.that(f"{name}: it is what was executed", logged(log).startswith(ours), len(ours))
    theirs, status, errors = by_perf(data)
    checks.that(f"{name}: perf reads it", theirs and status == 0, status, errors)
    checks.that(f"{name}: the same", logged(log).startswith(theirs), len(theirs))


def check_full_disk(checks):
    """A file system of 1 MiB, mounted where nobody else sees it."""
    for private in ("-m", "-rm"):  # of root, of anybody
        inner = run(["unshare", private, sys.executable, __file__, HWT, GUEST, "--inner"])
        if "cannot mount" not in inner.stdout and "unshare" not in inner.stderr:
            break
    else:
        print("no private mounts here: a full disk is not tested")
        return
    print(inner.stdout)
    checks.that("full disk", inner.returncode == 0, inner.stdout, inner.stderr)


def full_disk(checks):
    """Within the private mounts."""
    os.makedirs("small")
    os.mkdir("log")
    mounted = run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", "small"])
    if mounted.returncode:
        print("cannot mount", mounted.stderr)
        return
    done = run([HWT, "record", "-q", "-o", "small/hwt.data", "--exec-log", "log", *PROGRAM])
    checks.that("full disk: said", one_line(done, 125, "small/hwt.data", "No space left"),
                done.returncode, done.stderr)
    check_kept(checks, "full disk", "small/hwt.data", "log")
    done = run([HWT, "record", "-o", "small/hwt.data", *PROGRAM])
    told = run([HWT, "info", "--json", "-i", "small/hwt.data"]).stdout
    there = sum(thread["bytes"] for thread in json.loads(told)["threads"])
    checks.that("full disk: as much trace as is said",
                f": {there / 1024:.1f} KiB of trace, " in done.stderr and
                ", the rest lost" in done.stderr, done.stderr, there)
    done = run([HWT, "record", "-q", "-o", "small/hwt.data", GUEST, "steps", "1"])
    os.remove("small/hwt.data")
    with open("small/filler", "wb") as file:
        file.write(bytes(ROOM - 8192))
    done = run([HWT, "record", "-q", "-o", "small/hwt.data", GUEST, "steps", "3"])
    checks.that("full disk: the program's own failure wins", done.returncode == 9 and
                done.stdout.endswith("done\n") and "No space left" in done.stderr,
                done.returncode, done.stdout, done.stderr)
    run([HWT, "record", "-q", "-o", "for-listing.data", "/bin/ls"])
    done = run([HWT, "script", "--insns", "-i", "for-listing.data"],
               stdout=open("small/listing", "wb"))
    os.remove("for-listing.data")
    checks.that("full disk: a listing", one_line(done, 1, "No space left"), done.returncode,
                done.stderr)


def limit_files(hard):
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))


def check_limit(checks):
    """RLIMIT_FSIZE: the signal that it sends does not end hwt."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    done = run([HWT, "record", "-q", "-o", "hwt.data", *PROGRAM],
               preexec_fn=lambda: limit_files(hard))
    checks.that("file size limit: said", one_line(done, 125, "hwt.data", "File too large"),
                done.returncode, done.stderr)
    ours, status, errors = by_hwt(HWT, "hwt.data")
    checks.that("file size limit: what was written is read", ours and status in (0, 3), status,
                errors)
    done = run([HWT, "record", "-q", "-o", "hwt.data", "/bin/sh", "-c", "ulimit -f"],
               preexec_fn=lambda: limit_files(hard))
    checks.equal("file size limit: the program has it", done.stdout, f"{ROOM // 512}\n")


def check_full_device(checks):
    """/dev/full in place of each output."""
    run([HWT, "record", "-q", "-o", "ls.data", "/bin/ls"])
    for words in (["script"], ["report"], ["calls"], ["info"], ["dump"],
                  ["script", "--json"], ["report", "--json"], ["info", "--json"]):
        with open("/dev/full", "wb") as full:
            done = run([HWT, *words, "-i", "ls.data"], stdout=full)
        checks.that(f"{words} to a full device", one_line(done, 1, "standard output: No space left"),
                    done.returncode, done.stderr)
    for words in (["list"], ["--help"], ["--version"], ["record", "--help"]):
        with open("/dev/full", "wb") as full:
            done = run([HWT, *words], stdout=full)
        checks.that(f"{words} to a full device", one_line(done, 1), done.returncode, done.stderr)


def check_closed(checks):
    """Descriptors that are closed at the start."""
    for words in ("script", "report", "calls", "info", "dump"):
        done = run(["sh", "-c", f"{HWT} {words} -i ls.data >&-"])
        checks.that(f"{words} >&-", one_line(done, 1), done.returncode, done.stderr)
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = run(["sh", "-c", f"{HWT} record -o closed.data /bin/true {closed}"])
        checks.equal(f"record {closed}", done.returncode, 0)
        info = run([HWT, "info", "-i", "closed.data"])
        checks.that(f"record {closed}: whole", info.returncode == 0, info.stdout, info.stderr)
        done = run(["perf", "script", "-i", "closed.data", "--itrace=i100i", "-F", "ip"])
        checks.that(f"record {closed}: perf", done.returncode == 0 and done.stdout,
                    done.stderr)


def check_reader_gone(checks):
    """The reader of a pipe went away: SIGPIPE as for any filter, or one line."""
    for words in ("script --insns", "dump", "script --json"):
        done = run(["bash", "-c", f"{HWT} {words} -i ls.data | head -1; echo ${{PIPESTATUS[0]}}"])
        lines = done.stdout.splitlines()
        checks.that(f"{words} | head -1", len(lines) == 2 and lines[1] in ("141", "1") and
                    len(done.stderr.splitlines()) <= 1, done.stdout, done.stderr)
    # The program's own reader is gone: SIGPIPE is the program's, hwt tells it.
    done = run(["bash", "-c", f"{HWT} record -q -o p.data yes | head -1; "
                "echo ${PIPESTATUS[0]}"])
    checks.equal("record yes | head -1", done.stdout.splitlines(), ["y", "141"])
    process = subprocess.Popen([HWT, "record", "-o", "p.data", GUEST, "steps", "20"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    process.stderr.close()
    checks.equal("nobody reads the summary", process.wait(), 9)
    checks.equal("nobody reads the summary: whole",
                 run([HWT, "info", "-i", "p.data"]).returncode, 0)


def shown(master):
    """What a terminal got whose other end is closed."""
    text = b""
    try:
        while piece := os.read(master, 4096):
            text += piece
    except OSError:
        pass
    os.close(master)
    return text.decode()


def check_progress(checks):
    """On a terminal, if it takes more than a second; never where the listing goes."""
    try:
        master, slave = pty.openpty()
    except OSError as error:  # a chroot without /dev/pts
        print(f"left out: progress on a terminal: {error}")
        return
    words = [HWT, "script", "--insns", "-i", "ls.data"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=slave) as process:
        os.close(slave)
        time.sleep(1.2)  # hwt waits for its reader meanwhile
        listing = process.stdout.read()
    text = shown(master)
    checks.equal("progress: status", process.returncode, 0)
    checks.that("progress: shown", text.startswith("\rdecoding: ") and " % after 1 s" in text,
                repr(text))
    checks.that("progress: wiped away", text.endswith("\r\033[K"), repr(text[-40:]))
    checks.that("progress: not in the listing", b"decoding" not in listing)
    done = run(["sh", "-c", " ".join(words) + " | (sleep 1.2; cat >rest)"])
    checks.equal("no terminal: no progress", done.stderr, "")


def main():
    need("qemu-x86_64", "perf")
    signal.alarm(300)
    scratch = in_scratch()
    checks = Checks()
    if "--inner" in sys.argv:
        full_disk(checks)
        run(["umount", "small"])
    else:
        for check in (check_full_disk, check_limit, check_full_device, check_closed,
                      check_progress, check_reader_gone):
            check(checks)
    scratch.cleanup()
    checks.finish()


main()
