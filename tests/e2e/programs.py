# SPDX-License-Identifier: BSD-2-Clause
"""The programs whose flow is compared: real ones, and guests of tests/qemu."""
import contextlib
import os
import tempfile

PYTHON = """
import re, json
words = {}
for i in range(300):
    for w in re.findall(r'[a-z]+', 'the quick brown fox %d jumps' % i):
        words[w] = words.get(w, 0) + i
print(json.dumps(words, sort_keys=True))
"""
PERL = 'my %h; $h{$_ % 97} += $_ for 1..2000; print join(",", sort keys %h)'
BASH = "for i in 1 2 3; do /bin/true; (echo $i); done; ls / | sort | head -n 2"


def file_of(folder, size):
    """A file of some compressible bytes."""
    path = os.path.join(folder, f"input-{size}")
    # Every match is short: gzip's longest-match search has little to do.
    unit = b"".join(b"%x %x\n" % (i * 2654435761 % 2**32, i * 40503 % 65536)
                    for i in range(size // 14 + 1))
    with open(path, "wb") as out:
        out.write((unit * (size // len(unit) + 1))[:size])
    return path


def cases(guests, folder):
    """
    By name: argv, record options, exit status; can perf follow, that is, is all code
    in files?  "long": it takes perf minutes.
    """
    def guest(name):
        return os.path.join(guests, "guest_" + name)

    def library(name):
        return os.path.join(guests, f"libguest_{name}.so")

    return {
        "true": (["/bin/true"], [], 0, True),
        "ls": (["/bin/ls", "-l", "/usr/bin"], [], 0, True),
        "ls-small": (["/bin/ls", "-l", "/"], [], 0, True),
        "gzip": (["/bin/gzip", "-c", file_of(folder, 1000000)], [], 0, "long"),
        "python": (["/usr/bin/python3", "-S", "-E", "-c", PYTHON], [], 0, True),
        "perl": (["/usr/bin/perl", "-e", PERL], [], 0, True),
        "bash": (["/bin/bash", "-c", BASH], ["--follow"], 0, True),
        "bash-no-follow": (["/bin/bash", "-c", BASH], [], 0, True),
        "sort": (["/usr/bin/sort", file_of(folder, 30000), "/etc/passwd"], [], 0, True),
        "xz": (["/usr/bin/xz", "-T2", "-0", "--block-size=20000", "-c",
                file_of(folder, 60000)], [], 0, True),
        "xz-big": (["/usr/bin/xz", "-T2", "--block-size=300000", "-c",
                    file_of(folder, 1000000)], [], 0, False),
        "threads": ([guest("threads")], [], 0, True),
        "signals": ([guest("signals")], [], 0, True),
        "dlopen": ([guest("dlopen"), library("a"), library("b")], [], 0, True),
        "rewrite": ([guest("rewrite")], [], 0, False),
        "trampoline": ([guest("trampoline")], [], 0, False),
        "flow": ([guest("flow")], [], 0, True),
        "flow-thread": ([guest("flow"), "thread"], [], 0, True),
        "processes": ([guest("processes")], ["--follow"], 42, True),
        "recursion": ([guest("crash"), "recurse"], [], 128 + 11, True),
    }


@contextlib.contextmanager
def case(guests, name):
    """One of them; what it reads is there as long as the context."""
    with tempfile.TemporaryDirectory(prefix="hwt-e2e-") as folder:
        yield cases(guests, folder)[name]
