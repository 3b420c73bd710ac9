#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Snapshot folders of real boards: hwt says what OpenCSD's trc_pkt_lister says.

usage: snapshot_lister.py HWT DATA
Packets by offset and text, and the addresses of all instruction ranges.
Exit status 77, with a reason: nothing to compare with.
"""
import configparser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PACKET = re.compile(r"Idx:(\d+); ID:([0-9a-f]+); \[[^]]*\];\t(.*)")
RANGE = re.compile(r"Idx:\d+; ID:([0-9a-f]+); OCSD_GEN_TRC_ELEM_INSTR_RANGE"
                   r"\(exec range=0x([0-9a-f]+):\[0x([0-9a-f]+)\]")


def skip(why):
    print(why)
    sys.exit(77)


def read_ini(path):
    ini = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    ini.read(path)
    return ini


def etms(folder):
    """Names of the ETMs, with their trace IDs."""
    ids = {}
    for file in folder.glob("*.ini"):
        ini = read_ini(file)
        if not ini.has_section("device"):
            continue
        for key, value in ini["regs"].items() if ini.has_section("regs") else []:
            if key.startswith("trctraceidr"):
                ids[ini["device"]["name"].lower()] = int(value, 0) & 0x7f
    return ids


def sources(folder):
    """Trace IDs of the ETMs, in the order of trace.ini."""
    ids, trace = etms(folder), read_ini(folder / "trace.ini")
    return [ids[s] for s in trace["source_buffers"] if s in ids]


def trace_size(folder):
    """Bytes in the buffers that have ETMs' trace."""
    names, trace = etms(folder), read_ini(folder / "trace.ini")
    used = {trace["source_buffers"][s] for s in trace["source_buffers"] if s in names}
    return sum(os.path.getsize(folder / trace[b]["file"]) for b in trace.sections()
               if trace[b].get("name") in used)


def lister(folder):
    """What trc_pkt_lister says: packets and addresses by trace ID."""
    packets, addresses = {}, {}
    with tempfile.TemporaryDirectory() as tmp:
        log = pathlib.Path(tmp) / "log"
        subprocess.run(["trc_pkt_lister", "-ss_dir", folder, "-decode",
                        "-logfilename", log], stdout=subprocess.DEVNULL, check=True)
        for line in log.read_text(errors="replace").splitlines():
            m = PACKET.match(line)
            if m and "I_NOT_SYNC" not in line:
                packets.setdefault(int(m[2], 16), []).append(
                    (int(m[1]), " ".join(m[3].split())))
            m = RANGE.match(line)
            if m:
                addresses.setdefault(int(m[1], 16), []).extend(
                    range(int(m[2], 16), int(m[3], 16), 4))
    return packets, addresses


def hwt(hwt_path, *args):
    run = subprocess.run([hwt_path, *args], capture_output=True, text=True)
    if run.returncode not in (0, 3):
        sys.exit(f"hwt {' '.join(map(str, args))}: {run.stderr}")
    return run.stdout.splitlines()


def dumped(hwt_path, folder, ids):
    packets, now = {}, None
    order = iter(ids)
    for line in hwt(hwt_path, "dump", folder):
        if line.startswith("#"):
            now = packets.setdefault(next(order), [])
        elif "no packet" not in line:
            offset, _, text = line.partition("  ")
            now.append((int(offset, 16), " ".join(text.split())))
    return packets


def compare(what, ours, theirs):
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            sys.exit(f"{what} {i}: {a}, not {b}")
    if len(ours) != len(theirs):
        sys.exit(f"{what}s: {len(ours)}, not {len(theirs)}")


def says_why(hwt_path, folder):
    """Nothing could be decoded: no success, and a reason, whatever is asked for."""
    for command in "script", "report", "calls":
        done = subprocess.run([hwt_path, command, folder], capture_output=True, text=True)
        if done.returncode != 3 or "no code at this address" not in done.stderr:
            sys.exit(f"{folder}: hwt {command}: {done.returncode} {done.stderr}")


def main():
    hwt_path, data = sys.argv[1], pathlib.Path(sys.argv[2])
    if not data.is_dir():
        skip(f"no captures of real boards in {data}")
    if not shutil.which("trc_pkt_lister"):
        skip("trc_pkt_lister is not installed (libopencsd-bin)")
    for folder in sorted(f for f in data.iterdir() if (f / "snapshot.ini").exists()):
        ids = sources(folder)
        packets, addresses = lister(folder)
        ours = dumped(hwt_path, folder, ids)
        for i in ids:
            compare(f"{folder.name}, ID {i:#x}: packet", ours.get(i, []),
                    packets.get(i, []))
        want = [a for i in ids for a in addresses.get(i, [])]
        near = os.path.relpath(folder)  # as one types it
        got = [int(a, 16) for a in hwt(hwt_path, "script", "--insns", "-F", "ip", near)]
        compare(f"{folder.name}: address", got, want)
        if not want:
            says_why(hwt_path, near)
        said = "\n".join(hwt(hwt_path, "info", near))
        if "backend     coresight" not in said or "written by" in said:
            sys.exit(f"{folder.name}: hwt info says\n{said}")
        told = json.loads("\n".join(hwt(hwt_path, "info", "--json", near)))
        size = trace_size(folder)
        if (told["recording"]["file_size"], told["summary"]["bytes"]) != (size, size):
            sys.exit(f"{folder.name}: {size} bytes of trace, and hwt info says {told}")
        print(f"{folder.name}: {sum(map(len, packets.values()))} packets, "
              f"{len(want)} addresses")


if __name__ == "__main__":
    main()
