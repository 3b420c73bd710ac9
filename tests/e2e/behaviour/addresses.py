# SPDX-License-Identifier: BSD-2-Clause
"""Executed addresses as arrays of bytes, from the log, hwt and perf: to find in one another."""
import array
import os
import struct
import subprocess

LOG_DATA = 4096


def logged(folder, tid=None):
    """Of the log's file of that thread, or of the only one."""
    names = [n for n in os.listdir(folder) if n.startswith("log.") and
             (tid is None or n.endswith(f".{tid}"))]
    assert len(names) == 1, names
    with open(os.path.join(folder, names[0]), "rb") as file:
        head = file.read(LOG_DATA)
        count = struct.unpack_from("<Q", head, 8)[0]
        return file.read(8 * count)


BLOCK = 64 * 8  # a kill may come between the packet of a block and its part of the log


def begins(whole, ours):
    """What was killed: ours is the log's beginning, but for its very last block."""
    return len(ours) <= len(whole) + BLOCK and whole.startswith(ours[:len(whole)])


def addresses(command):
    """One hexadecimal address a line; output, exit status, errors."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    listed = array.array("Q", (int(line, 16) for line in done.stdout.split()))
    return listed.tobytes(), done.returncode, done.stderr.decode()


def by_hwt(hwt, path, *options):
    return addresses([hwt, "script", "--insns", "-F", "ip", "-i", path, *options])


def by_perf(path):
    return addresses(["perf", "script", "--itrace=i1i", "-F", "ip", "-i", path])
