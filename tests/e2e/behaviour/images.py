# SPDX-License-Identifier: BSD-2-Clause
"""Where functions are in files, and files in recordings, by readelf and perf."""
import os
import re

from checks import run


def code_range(path, address):
    """First and last byte of the function at an address of the file, by readelf."""
    frames = run(["readelf", "--debug-dump=frames", path]).stdout
    for start, end in re.findall(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", frames):
        if int(start, 16) == address:
            return int(start, 16), int(end, 16) - 1
    return None


def mapped_at(data, image):
    """Where the first byte of an image's file is mapped, and its path."""
    dump = run(["perf", "script", "--show-mmap-events", "-i", data]).stdout
    for start, offset, path in re.findall(
            r"MMAP2.*\[(0x[0-9a-f]+)\(0x[0-9a-f]+\) @ (0x[0-9a-f]+|0) .*\s(\S+)$", dump, re.M):
        if os.path.basename(path) == image:
            return int(start, 16) - int(offset, 16), path
    return None
