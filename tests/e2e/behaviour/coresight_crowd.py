#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A recording that says of many threads that they share a buffer of many pieces.

usage: coresight_crowd.py HWT GUESTS
Such a file is easily made, and takes no more memory than what it lists, nor time that
grows with threads times pieces.
"""
import os
import resource
import struct
import sys

from checks import Checks, in_scratch, run
from lib import need

HWT, GUESTS = map(os.path.abspath, sys.argv[1:3])
AUXTRACE, OURS = 71, 65
HEAD, SOURCE = 32, 16  # bytes before the framework's record; its type
THREADS, PIECES = 60000, 200000
TID = 1 << 16  # of the first; a simple hash has one place for all of its multiples
MEMORY = 400 << 10  # KiB; with a copy of all pieces for each thread it were 90 GiB


def records(data):
    """(kind, its bytes without trace, offset of what follows it)."""
    at, size = struct.unpack_from("<2Q", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        trace = struct.unpack_from("<Q", data, at + 8)[0] if kind == AUXTRACE else 0
        yield kind, data[at:at + length], at + length + trace
        at += length + trace


def crowded(data):
    """The recording with THREADS more in its buffer, and that in PIECES more."""
    last = None
    for kind, record, end in records(data):
        if kind == OURS and struct.unpack_from("<H", record, HEAD + 4)[0] == SOURCE:
            source = record
        if kind == AUXTRACE:
            last = record
    more = bytearray()
    for i in range(THREADS):
        more += source
        struct.pack_into("<I", more, len(more) - len(source) + HEAD + 20, TID * (i + 1))
    size, offset = struct.unpack_from("<2Q", last, 8)
    for i in range(PIECES):
        piece = bytearray(last)
        struct.pack_into("<2Q", piece, 8, 16, offset + size + 16 * i)
        struct.pack_into("<I", piece, 44, 0)
        more += piece + bytes(16)
    out = bytearray(data[:end]) + more
    at, length = struct.unpack_from("<2Q", out, 40)
    struct.pack_into("<Q", out, 48, length + len(more))
    struct.pack_into("<Q", out, 72, 0)  # no features behind the data
    return out


def main():
    need("qemu-aarch64")
    checks = Checks()
    with in_scratch():
        done = run([HWT, "record", "-o", "hwt.data", os.path.join(GUESTS, "a64_outcome")])
        checks.equal("recorded", done.returncode, 0)
        with open("hwt.data", "rb") as file:
            data = crowded(file.read())
        with open("hwt.data", "wb") as file:
            file.write(data)
        done = run([HWT, "dump", "-i", "hwt.data", "--tid", TID])
        checks.that("a thread of the crowd is read", done.returncode in (0, 3) and
                    f"# thread {TID}" in done.stdout, done.returncode, done.stdout[:200],
                    done.stderr[:500])
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        checks.that("in little memory", most < MEMORY, most)
    checks.finish()


main()
