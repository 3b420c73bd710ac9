#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Bad input: one clear line on stderr, an exit status, nothing worse.

usage: bad_input.py HWT LIBRARY-GUEST LIBRARY
"""
import json
import os
import shutil
import struct
import sys

from checks import Checks, in_scratch, one_line, run
from lib import need

HWT, GUEST, LIBRARY = map(os.path.abspath, sys.argv[1:4])
READERS = ("info", "script", "report", "calls", "dump")
EM_386, EM_AARCH64 = 3, 183
LOADER, NO_LOADER = b"/lib64/ld-linux-x86-64.so.2", b"/lib64/no-linux-x86-64.so.2"


def write(path, data, mode=0o755):
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
    return "./" + path


def elf(path, bits, machine):
    """An ELF header of another machine with one program header, nothing to run."""
    ident = b"\x7fELF" + bytes([2 if bits == 64 else 1, 1, 1]) + bytes(9)
    address = "Q" if bits == 64 else "I"
    head = struct.pack(f"<HHI3{address}IHHHHHH", 2, machine, 1, 0x10000, 64, 0, 0,
                       64 if bits == 64 else 52, 56 if bits == 64 else 32, 1, 0, 0, 0)
    return write(path, ident + head + bytes(256))


def check_programs(checks):
    """What cannot be run."""
    with open("/bin/true", "rb") as file:
        true = file.read()
    rows = [
        ("no such path", "./nosuch", 127, "./nosuch"),
        ("no such program", "hwt-no-such-program", 127, "hwt-no-such-program"),
        ("no name", "", 127, "no such program"),
        ("not executable", write("plain", b"hello\n", 0o644), 126, "Permission denied"),
        ("text", write("text", b"hello\n"), 126, "not an ELF file"),
        ("a directory", "/tmp", 126, "/tmp"),
        ("empty", write("empty", b""), 126, "empty"),
        ("a missing interpreter", write("script", b"#!/no/such/sh -x\n"), 127, "/no/such/sh"),
        ("no interpreter", write("bare", b"#!\n"), 126, "bare"),
        ("i386", elf("i386", 32, EM_386), 126, "80386"),
        ("cut ELF", write("cut", b"\x7fELF\2\1\1"), 126, "cut"),
        ("a cut program", write("short", true[:20000]), 126, "./short: cut short"),
        ("a library", LIBRARY, 126, "a library: it has no entry point"),
        ("no ELF interpreter", write("lost", true.replace(LOADER, NO_LOADER)), 127,
         f"./lost: its interpreter {NO_LOADER.decode()} is not there"),
    ]
    machines = [
        ("pt", elf("aarch64", 64, EM_AARCH64),
         "AArch64; pt traces programs for x86-64: use -c coresight"),
        ("coresight", "/bin/true", "x86-64; coresight traces programs for AArch64: use -c pt"),
        ("coresight", write("wrapper", b"#!/bin/true\n"),
         "/bin/true: a program for x86-64; coresight traces programs for AArch64: use -c pt"),
        ("spe", "/bin/true", "x86-64; spe traces programs for AArch64: use -c pt"),
    ]
    rows = [(*row, []) for row in rows]
    rows += [(f"another machine than {unit}'s", program, 126, word, ["-c", unit])
             for unit, program, word in machines]
    for name, program, status, word, options in rows:
        for form in (["record", "-o", "x.data", *options], options):
            done = run([HWT, *form, program])
            checks.that(f"{name} ({' '.join(form[:1]) or 'own form'})",
                        one_line(done, status, word) and not done.stdout,
                        done.returncode, done.stderr)
            checks.that(f"{name}: leaves no file", not os.path.exists("x.data"))


def check_environment(checks):
    """No QEMU, no place for the file."""
    env = dict(os.environ, PATH="/nonexistent")
    done = run([HWT, "record", "-o", "x.data", "/bin/true"], env=env)
    checks.that("no QEMU", one_line(done, 125, "qemu-x86_64", "apt install qemu-user"),
                done.returncode, done.stderr)
    for path in ("/no/such/folder/x", "/tmp", "/dev/full"):
        done = run([HWT, "record", "-o", path, "/bin/true"])
        checks.that(f"output to {path}", one_line(done, 125, path), done.returncode,
                    done.stderr)
    shutil.copy("/bin/true", "itself")
    path = {"PATH": f".:{os.environ['PATH']}"}
    for status, words in ((125, ["record", "-o", "itself", "./itself"]),
                          (125, ["record", "-o", "itself", "itself"]),
                          (125, ["-r", "-w", "itself", "./itself"]),
                          (1, ["-w", "itself", "./itself"])):
        done = run([HWT, *words], env=dict(os.environ, **path))
        checks.that(f"{words}: not written over", one_line(done, status, "itself") and
                    os.access("itself", os.X_OK) and os.path.getsize("itself") ==
                    os.path.getsize("/bin/true"), done.returncode, done.stderr)
    for folder in ("/no/such/folder", "/etc/passwd"):
        done = run([HWT, "record", "-o", "x.data", "--exec-log", folder, "/bin/true"])
        checks.that(f"exec log in {folder}", one_line(done, 125, folder), done.returncode,
                    done.stderr)
    for options in (["-w", "/no/such/x"], ["-r", "-w", "/no/such/x"]):
        done = run([HWT, *options, "/bin/echo", "ran"])
        checks.that(f"own form, {options}", one_line(done, done.returncode, "/no/such/x") and
                    done.returncode in (1, 125) and "ran" not in done.stdout,
                    done.returncode, done.stdout, done.stderr)


def check_options(checks):
    rows = [["record", "-b", "1000", "true"], ["record"], ["record", "--nosuch", "true"],
            ["record", "-c", "nosuch", "/bin/true"], ["-P", "1"], ["-s", "0"], ["-r", "true"],
            ["script", "-i"], ["script", "-F", "nosuch"], ["nosuch-command"],
            ["info", "--tid", "x"], ["record", "--ring=0", "true"],
            ["record", "--ready-fd", "99", "true"], ["record", "--psb", "99", "true"],
            ["record", "-i", "kernel", "true"], ["-o", "nosuch", "true"],
            ["script", "--raw", "nosuch"], ["script", "--map", "x"]]
    for words in rows:
        done = run([HWT, *words])
        checks.that(" ".join(words), one_line(done, done.returncode) and
                    done.returncode in (1, 125, 127), done.returncode, done.stderr)


def check_files(checks):
    """Files that are no recording, each named for what it is."""
    run([HWT, "-r", "-w", "raw.pt", "/bin/true"])
    os.mkdir("folder")
    rows = [("nosuch", "No such file"), ("folder", "a directory"),
            (write("nothing", b""), "empty"), (write("words", b"hello\n" * 99), "no perf.data"),
            ("raw.pt", "Intel PT"), (HWT, "ELF"), ("/dev/null", "/dev/null"),
            (write("magic", b"PERFILE2" + bytes(30)), "header")]
    for path, word in rows:
        for reader in READERS:
            done = run([HWT, reader, "-i", path])
            checks.that(f"{reader} of {path}", one_line(done, 1, path, word),
                        done.returncode, done.stderr)
    for reader in READERS:
        done = run(["sh", "-c", f"cat whole.data | {HWT} {reader} -i /dev/stdin"])
        checks.that(f"{reader} of a pipe", one_line(done, 1, "pipe"), done.returncode,
                    done.stderr)


def addresses(path):
    done = run([HWT, "script", "--insns", "-F", "ip", "-i", path])
    return done.returncode, done.stdout.split(), done.stderr


def check_truncated(checks):
    """A file that ends early: what is there comes, and that it ends is said."""
    status, whole, _ = addresses("whole.data")
    checks.equal("whole: exit status", status, 0)
    with open("whole.data", "rb") as file:
        data = file.read()
    for size in [3000] + [len(data) * twelfth // 12 for twelfth in range(1, 12)]:
        write("cut.data", data[:size])
        status, part, errors = addresses("cut.data")
        what = f"cut at {size} of {len(data)}"
        checks.that(f"{what}: said", errors and status == (3 if part else 1), status, errors)
        checks.that(f"{what}: names the cut", "end" in errors or "cut" in errors or
                    "header" in errors, errors)
        checks.that(f"{what}: a prefix", part == whole[:len(part)], errors)


def check_missing(checks):
    """The library is gone: its calls are gaps, the rest is decoded, never invented."""
    _, whole, _ = addresses("library.data")
    os.rename("libtraced.so", "away.so")
    status, part, errors = addresses("library.data")
    checks.equal("missing: exit status", status, 3)
    checks.that("missing: said", "no code" in errors, errors)
    checks.that("missing: the rest comes", len(whole) * 9 // 10 < len(part) < len(whole),
                len(part), len(whole))
    checks.that("missing: nothing invented", set(part) <= set(whole))
    done = run([HWT, "info", "-i", "library.data"])
    checks.that("missing: info counts", done.returncode == 3 and "libtraced.so" in
                done.stdout + done.stderr, done.stdout, done.stderr)
    os.rename("away.so", "libtraced.so")


def of_others(path):
    """Instructions outside of the library, and branches from there into it."""
    listed = run([HWT, "script", "--insns", "-F", "ip,image", "-i", path]).stdout
    branches = map(json.loads, run([HWT, "script", "--json", "-i", path]).stdout.splitlines())
    inside = os.path.abspath("libtraced.so")
    return ([line for line in listed.splitlines()
             if inside not in line and not line.startswith("--")],
            [(b["at"]["ip"], b["to"]["ip"]) for b in branches if "at" in b and "to" in b and
             b["to"].get("image") == inside != b["at"].get("image")])


def check_missing_exactly(checks):
    """Where each return has its address, what is left out is the library's and no more."""
    run([HWT, "record", "-q", "--no-retcomp", "-o", "exact.data", GUEST, "./libtraced.so"])
    whole, entries = of_others("exact.data")
    os.rename("libtraced.so", "away.so")
    part, known = of_others("exact.data")
    os.rename("away.so", "libtraced.so")
    checks.that("missing: all the rest comes", whole and part == whole, len(part), len(whole))
    checks.that("missing: where the library was entered is known",
                entries and known == entries, len(known), len(entries))


def check_changed(checks):
    """The library is another build: said, its code is not used."""
    _, whole, _ = addresses("library.data")
    os.rename("libtraced.so", "away.so")
    with open("away.so", "rb") as file:
        data = bytearray(file.read())
    at = data.index(b"GNU\0", data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0")) + 4
    data[at:at + 20] = bytes(20)
    write("libtraced.so", bytes(data))
    status, part, errors = addresses("library.data")
    checks.equal("changed: exit status", status, 3)
    checks.that("changed: said", "libtraced.so" in errors and "build" in errors, errors)
    checks.that("changed: nothing invented", part and set(part) <= set(whole))
    os.rename("away.so", "libtraced.so")


def main():
    need("qemu-x86_64")
    scratch = in_scratch()
    checks = Checks()
    shutil.copy(LIBRARY, "libtraced.so")
    run([HWT, "record", "-q", "-o", "library.data", GUEST, "./libtraced.so"])
    run([HWT, "record", "-q", "-o", "whole.data", "/bin/ls", "-l", "/usr/bin"])
    for check in (check_programs, check_environment, check_options, check_files,
                  check_truncated, check_missing, check_missing_exactly, check_changed):
        check(checks)
    scratch.cleanup()
    checks.finish()


main()
