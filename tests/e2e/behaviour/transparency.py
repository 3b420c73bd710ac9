#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A traced program sees what it sees under plain `qemu-x86_64 -cpu max`.

usage: transparency.py HWT PLAIN-GUEST ORIGIN-GUEST LIBRARY
"""
import os
import resource
import shutil
import signal
import subprocess
import sys

from checks import Checks, in_scratch, run
from lib import need, skip

HWT, PLAIN, ORIGIN, LIBRARY = map(os.path.abspath, sys.argv[1:5])
QEMU = shutil.which("qemu-x86_64")
BARE = [QEMU, "-cpu", "max"]
TRACED = [HWT, "record", "-q", "-o", "hwt.data", "--"]
FOLLOWED = [HWT, "record", "-q", "--follow", "-o", "hwt.data", "--"]
ENVIRONMENT = {
    "PATH": os.environ["PATH"], "HOME": "/nowhere", "EMPTY": "", "ODD": "a=b,c==d ,\t",
    "LD_LIBRARY_PATH": "/no/such:/nor/this,nor", "LD_BIND_NOT": "1",
    "QEMU_STRACE_NOT": "x", "MALLOC_ARENA_MAX": "1", "MALLOC_PERTURB_": "7",
    "GLIBC_TUNABLES": "glibc.malloc.check=0", "G_DEBUG": "x", "LOCPATH": "/no/such",
}


def both(checks, name, words, **options):
    """Output, errors and status are the same; returns the output."""
    options.setdefault("env", ENVIRONMENT)
    plain = run(BARE + words, **options)
    traced = run(TRACED + words, **options)
    want = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
    checks.equal(f"{name}: status", traced.returncode, want)
    same(checks, f"{name}: output", traced.stdout, plain.stdout)
    # QEMU tells a fatal signal to its own stderr under both
    checks.equal(f"{name}: errors", traced.stderr, plain.stderr)
    return traced.stdout


def same(checks, name, got, want):
    got, want = got.splitlines(), want.splitlines()
    lines = [f"{'-' if a else '+'} {x}" for a, side, other in
             ((True, want, got), (False, got, want)) for x in side if x not in other]
    checks.that(name, got == want, *(lines or ["order"]))


def check_start(checks):
    """Arguments, environment, links, descriptors, signals, limits, ids."""
    both(checks, "no arguments", [PLAIN])
    both(checks, "arguments", [PLAIN, "", "a b", "--", "-q", "x,y", "é\\"])
    both(checks, "empty environment", [PLAIN], env={"PATH": os.environ["PATH"]})
    for value in ("/no/such,x.so", "/no/such.so:/nor,this.so"):
        both(checks, f"LD_PRELOAD={value}", [PLAIN],
             env=dict(ENVIRONMENT, LD_PRELOAD=value))
    both(checks, "input", [PLAIN], input="some words of input\n" * 100)


def check_names(checks):
    """Relative, through a link, along PATH: /proc/self/exe and argv[0]."""
    shutil.copy(PLAIN, "copy")
    os.symlink("copy", "link")
    both(checks, "relative", ["./copy"])
    both(checks, "link", ["./link"])
    traced = run(TRACED + ["copy"], env=dict(ENVIRONMENT, PATH=f".:{os.environ['PATH']}"))
    checks.that("along PATH: argv[0] as given", "argv[0] copy\n" in traced.stdout,
                traced.stdout, traced.stderr)
    checks.that("along PATH: the file", f"exe -> {os.getcwd()}/copy" in traced.stdout)


def check_preload(checks):
    """A library with a comma in its name is loaded into the guest, with both its parts."""
    shutil.copy(LIBRARY, "a,b.so")
    env = dict(ENVIRONMENT, LD_PRELOAD=f"{os.getcwd()}/a,b.so")
    done = run(TRACED + ["/bin/cat", "/proc/self/maps"], env=env)
    checks.that("LD_PRELOAD is in the guest", "a,b.so" in done.stdout, done.stdout, done.stderr)
    done = run(FOLLOWED + ["/bin/sh", "-c", "exec /bin/cat /proc/self/maps"], env=env)
    checks.that("LD_PRELOAD across exec", "a,b.so" in done.stdout, done.stdout, done.stderr)
    os.mkdir("here")
    shutil.copy(ORIGIN, "here/origin")
    shutil.copy(LIBRARY, "here/libtraced.so")
    os.symlink("here/origin", "elsewhere")
    both(checks, "$ORIGIN", ["here/origin"])
    both(checks, "$ORIGIN by a link", ["./elsewhere"])


def conditions():
    """Names and functions that change the child before it starts."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 4096))
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 512))
        resource.setrlimit(resource.RLIMIT_NPROC, (4000, 5000))

    def few_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))

    def signals():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGALRM])

    def descriptors():
        for number in (3, 7, 12, 100, 200):
            at = os.open("words", os.O_RDWR if number > 10 else os.O_RDONLY)
            os.lseek(at, number, os.SEEK_SET)
            os.dup2(at, number)
            if at != number:
                os.close(at)
            os.set_inheritable(number, True)

    def mask_and_place():
        os.umask(0o137)
        os.chdir("/usr/bin")
        os.nice(5)

    def no_input():
        os.close(0)

    yield "limits", limits
    yield "few descriptors", few_descriptors
    yield "signals", signals
    yield "descriptors", descriptors
    yield "umask, cwd, nice", mask_and_place
    yield "no stdin", no_input
    yield "no stdout, no stdin", lambda: (os.close(0), os.close(1))
    yield "nothing open", lambda: os.closerange(0, 3)


def check_inherited(checks):
    with open("words", "w", encoding="utf-8") as file:
        file.write("x" * 300)
    absolute = [word.replace("hwt.data", os.path.abspath("hwt.data")) for word in TRACED]
    for name, change in conditions():
        plain, traced = (run(how + [PLAIN], env=ENVIRONMENT, close_fds=False,
                             preexec_fn=change, stdin=subprocess.DEVNULL)
                         for how in (BARE, absolute))
        checks.equal(f"{name}: status", traced.returncode, plain.returncode)
        if "stdout" in name or "nothing" in name:
            checks.equal(f"{name}: no output", traced.stdout, plain.stdout)
        else:
            same(checks, name, traced.stdout, plain.stdout)


def check_ends(checks):
    """Exit statuses, and signals as a shell tells them."""
    for status in (0, 1, 7, 125, 126, 127, 128, 255):
        both(checks, f"exit {status}", [PLAIN, "exit", str(status)])
    for sig in (1, 2, 3, 6, 8, 9, 11, 13, 14, 15, 24, 31, 34, 64):
        both(checks, f"signal {sig}", [PLAIN, "kill", str(sig)])


def known_by_qemu(text):
    """Less what tells that QEMU's exec of a program differs from the start of one."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("execfn"))


def by_name(text):
    """The environment without its order: QEMU turns it round at each start."""
    lines = []
    for line in known_by_qemu(text).splitlines():
        if line.startswith(("environ[", "/proc/self/environ ")):
            lines += line.split(" ", 1)[1].split("|")
        else:
            lines.append(line)
    return "\n".join(sorted(lines))


def check_exec(checks):
    """After an exec, in place or in a followed child, all is as at a start."""
    plain = run(BARE + [PLAIN, "of a child"], env=ENVIRONMENT)
    traced = run(TRACED + [PLAIN, "exec", "of a child"], env=ENVIRONMENT)
    same(checks, "exec", known_by_qemu(traced.stdout), known_by_qemu(plain.stdout))
    plain = run(BARE + [PLAIN, "of a child"], env=dict(ENVIRONMENT, LD_BIND_NOW="1"))
    traced = run(FOLLOWED + [PLAIN, "child"], env=ENVIRONMENT)
    lines = traced.stdout.splitlines()
    checks.that("child: its status", lines[-1:] == ["child's status 0"], traced.stdout)
    same(checks, "child", by_name("\n".join(lines[:-1])), by_name(plain.stdout))


def check_script(checks):
    """A script runs in its interpreter, with its own words."""
    with open("script", "w", encoding="utf-8") as file:
        file.write(f"#!{PLAIN} one word\nnot for reading\n")
    os.chmod("script", 0o755)
    done = run(TRACED + ["./script", "last"], env=ENVIRONMENT)
    words = [line for line in done.stdout.splitlines() if line.startswith("argv")]
    checks.equal("script: words", words, [f"argv[0] {PLAIN}", "argv[1] one word",
                                          "argv[2] ./script", "argv[3] last"])


def check_orphan(checks):
    """hwt died between a program's exec and its start: it runs as if untraced."""
    plugin = os.path.join(os.path.dirname(HWT), "../qemu/hwt-vtu.so")
    env = {"PATH": os.environ["PATH"], "\x01D_LIBRARY_PATH": "/a:/b", "\x01ALLOC_ARENA_MAX": "1"}
    done = run([*BARE, "-plugin", f"{plugin},owner=999999999,window=900,dram=901,exec=1",
                "-0", "its name", PLAIN, "", "last"], env=env, stdin=subprocess.DEVNULL)
    want = run([PLAIN, "", "last"], executable=PLAIN, stdin=subprocess.DEVNULL,
               env={"PATH": env["PATH"], "LD_LIBRARY_PATH": "/a:/b", "MALLOC_ARENA_MAX": "1"})
    checks.equal("orphan: status", done.returncode, 0)
    same(checks, "orphan", known_by_qemu(done.stdout).replace("its name", PLAIN),
         known_by_qemu(want.stdout))


def main():
    need("qemu-x86_64")
    if "HWT_EMULATOR_PRELOAD" in os.environ:
        skip("a sanitizer in the emulator shows in the environment")
    scratch = in_scratch()
    checks = Checks()
    # QEMU's exec loses that a signal which dumps core is ignored, as in background jobs.
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    for check in (check_start, check_names, check_preload, check_inherited, check_ends,
                  check_exec, check_script, check_orphan):
        check(checks)
    scratch.cleanup()
    checks.finish()


main()
