#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A board's trace in a perf.data file, as `perf record -e cs_etm//` lays it out.

usage: perf_cs_etm.py HWT DATA
The trace of six cores in one buffer comes from a snapshot folder; what hwt makes of
the file is what it makes of the folder.  Exit status 77, with a reason: no data.
"""
import configparser
import itertools
import pathlib
import struct
import subprocess
import sys
import tempfile

PMU, PID, TID = 9, 77, 78
SAMPLE_TID, SAMPLE_TIME, SAMPLE_CPU, SAMPLE_IDENTIFIER = 1 << 1, 1 << 2, 1 << 7, 1 << 16
MMAP2, AUX, ITRACE_START, HW_ID, AUXTRACE_INFO, AUXTRACE = 10, 11, 12, 21, 70, 71
ETM4 = 0x4040404040404040
UNKNOWN = 0xffffffff


def read_ini(path):
    ini = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    ini.read(path)
    return ini


class Board:
    """A snapshot folder: registers of each ETM, the memory, the buffer."""

    def __init__(self, folder):
        self.folder = folder
        self.units = []
        devices = sorted(folder.glob("device_*.ini"),
                         key=lambda path: int(path.stem.split("_")[1]))
        for path in devices:
            ini = read_ini(path)
            if ini["device"]["type"] == "ETM4":
                self.units.append({key.split("(")[0]: int(value, 0)
                                   for key, value in ini["regs"].items()})
        dump = read_ini(folder / "cpu_0.ini")["dump1"]
        self.code = folder / dump["file"]
        self.address = int(dump["address"], 0)
        buffer = read_ini(folder / "trace.ini")["buffer0"]
        self.trace = (folder / buffer["file"]).read_bytes()


def of_source(frames, wanted):
    """The bytes of one source in the formatter's frames (IHI 0029 D4.2)."""
    out, now = bytearray(), None
    for at in range(0, len(frames), 16):
        frame = frames[at:at + 16]
        for i in range(0, 15, 2):
            late = frame[15] >> i // 2 & 1
            is_id = frame[i] & 1
            if is_id and not late:
                now = frame[i] >> 1
            elif not is_id and now == wanted:
                out.append(frame[i] | late)
            if i < 14 and now == wanted:
                out.append(frame[i + 1])
            if is_id and late:
                now = frame[i] >> 1
    return bytes(out)


class PerfData:
    """Bytes of a perf.data file."""

    def __init__(self, by_cpu, cpu_in_samples):
        self.by_cpu = by_cpu
        self.cpu_in_samples = cpu_in_samples
        self.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_IDENTIFIER
        if cpu_in_samples:
            self.sample_type |= SAMPLE_CPU
        self.data = b""

    def sample_id(self, cpu):
        at = struct.pack("<IIQ", PID, TID, 1000)
        if self.cpu_in_samples:
            at += struct.pack("<II", cpu, 0)
        return at + struct.pack("<Q", 1)

    def record(self, kind, body, cpu=None):
        if cpu is not None:
            body += self.sample_id(cpu)
        self.data += struct.pack("<IHH", kind, 2, 8 + len(body)) + body

    def info(self, units, version, trace_ids):
        body = struct.pack("<IIQQQ", 3, 0, version, PMU << 32 | len(units), 0)
        for cpu, (unit, trace_id) in enumerate(zip(units, trace_ids)):
            block = [ETM4, cpu] + ([7] if version else [])
            block += [unit["trcconfigr"], trace_id, unit["trcidr0"], unit["trcidr1"],
                      unit["trcidr2"], unit["trcidr8"], unit["trcauthstatus"]]
            body += struct.pack(f"<{len(block)}Q", *block)
        self.record(AUXTRACE_INFO, body)

    def mmap(self, address, length, path):
        name = str(path).encode() + b"\0"
        name += bytes(-len(name) % 8)
        self.record(MMAP2, struct.pack("<IIQQQIIQQII", PID, TID, address, length, 0, 0, 0,
                                       0, 0, 5, 2) + name, 0)

    def trace(self, offset, data, cpu, flags=0):
        self.record(AUX, struct.pack("<QQQ", offset, len(data), flags), cpu)
        self.record(AUXTRACE, struct.pack("<QQQIIII", len(data), offset, 0, cpu,
                                          UNKNOWN if self.by_cpu else TID,
                                          cpu if self.by_cpu else UNKNOWN, 0))
        self.data += data

    def save(self, path):
        attr = struct.pack("<IIQQQQQ", PMU, 128, 0, 1, self.sample_type, 0, 1 << 18)
        attr += bytes(128 - len(attr)) + struct.pack("<QQ", 0, 0)
        head = 104
        path.write_bytes(
            b"PERFILE2" + struct.pack("<QQQQQQQQ", head, len(attr), head, len(attr),
                                      head + len(attr), len(self.data), 0, 0) +
            bytes(32) + attr + self.data)


def make(board, path, by_cpu=True, cpu_in_samples=True, version=1, pieces=1, hw_ids=None):
    """hw_ids: sink of each unit, whose trace IDs the head does not tell then."""
    perf = PerfData(by_cpu, cpu_in_samples)
    ids = [unit["trctraceidr"] for unit in board.units]
    perf.info(board.units, version, [0] * len(ids) if hw_ids else ids)
    perf.mmap(board.address, board.code.stat().st_size, board.code)
    for cpu, trace_id in enumerate(ids):
        perf.record(ITRACE_START, struct.pack("<II", PID, TID), cpu)
        if hw_ids:
            minor = 1 if any(hw_ids) else 0
            perf.record(HW_ID, struct.pack("<Q", trace_id | hw_ids[cpu] << 8 | minor << 56),
                        cpu)
    size = len(board.trace) // pieces & ~15
    for piece in range(pieces):
        end = (piece + 1) * size if piece + 1 < pieces else len(board.trace)
        perf.trace(piece * size, board.trace[piece * size:end], 0)
    perf.save(path)


BARE = 0x100  # PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW


def make_bare(board, path):
    """As TRBE leaves it: a buffer has its own CPU's trace, without frames."""
    perf = PerfData(True, True)
    ids = [unit["trctraceidr"] for unit in board.units]
    perf.info(board.units, 1, ids)
    perf.mmap(board.address, board.code.stat().st_size, board.code)
    for cpu, trace_id in enumerate(ids):
        perf.record(ITRACE_START, struct.pack("<II", PID, TID), cpu)
        own = of_source(board.trace, trace_id)
        if own:
            perf.trace(0, own, cpu, BARE)
    perf.save(path)


def hwt(tool, *words):
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"hwt {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def by_stream(tool, command, data):
    """What the command says of all streams, without their heads."""
    lines = hwt(tool, command, *(["--insns", "-F", "ip"] if command == "script" else []),
                "-i", data).splitlines()
    return [line for line in lines if not line.startswith("#")]


def main():
    tool, data = sys.argv[1], pathlib.Path(sys.argv[2])
    folder = data / "juno_r1_1"
    if not folder.is_dir():
        print(f"{folder} is not there")
        sys.exit(77)
    board = Board(folder)
    want = {command: by_stream(tool, command, folder) for command in ("script", "dump")}
    assert len(want["script"]) > 40000 and len(want["dump"]) > 10000
    variants = {
        "by CPU": {},
        "version 0": {"version": 0},
        "in pieces": {"pieces": 3},
        "IDs in records": {"hw_ids": [0] * len(board.units)},
        "IDs of a sink": {"hw_ids": [5] * len(board.units)},
        "by thread": {"by_cpu": False, "cpu_in_samples": False},
        # As perf does since 6.3; a thread ran on CPUs of several sinks.
        "by thread, IDs in records": {"by_cpu": False, "hw_ids": [0] * len(board.units)},
        "by thread, IDs of sinks": {"by_cpu": False, "hw_ids": [5, 6, 5, 6, 5, 6]},
    }
    bad = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name, options in variants.items():
            path = pathlib.Path(tmp) / "perf.data"
            make(board, path, **options)
            for command, lines in want.items():
                got = by_stream(tool, command, path)
                if got == lines:
                    continue
                bad += 1
                first = next((pair for pair in itertools.zip_longest(got, lines)
                              if pair[0] != pair[1]))
                print(f"{name}: {command}: {len(got)} lines, not {len(lines)}: {first}")
        make_bare(board, path)
        if by_stream(tool, "script", path) != want["script"]:
            bad += 1
            print("without frames: other addresses")
        # A unit of another sink has nothing in this buffer.
        make(board, path, hw_ids=[5, 5, 5, 6, 5, 5])
        if len(by_stream(tool, "dump", path)) >= len(want["dump"]):
            bad += 1
            print("another sink's unit: its packets are there")
        # Of a file that tells nothing of its units there is one line.
        board.units = []
        make(board, path)
        done = subprocess.run([tool, "info", path], capture_output=True, text=True)
        if done.returncode != 1 or "no trace unit" not in done.stderr or \
                done.stderr.count("\n") != 1:
            bad += 1
            print(f"no units: {done.returncode} {done.stderr}")
    sys.exit(1 if bad else 0)


main()
