#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The A64 classifier says what objdump says: of random words, of words in the
branch and system space, and of each branch form with all bits that do not matter.

usage: a64_classify.py CLASSES
"""
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

OBJDUMP = "aarch64-linux-gnu-objdump"
VA = 0x10000000
LINE = re.compile(r"\s*([0-9a-f]+):\t([0-9a-f]{8}) \t(\S+)(?:\t([^/]*))?")
CONDITIONAL = re.compile(r"(b|bc)\.[a-z]+$|cbn?z$|tbn?z$")
INDIRECT = {"br": "jmp-ind", "braa": "jmp-ind", "braaz": "jmp-ind", "brab": "jmp-ind",
            "brabz": "jmp-ind", "blr": "call-ind", "blraa": "call-ind",
            "blraaz": "call-ind", "blrab": "call-ind", "blrabz": "call-ind",
            "ret": "ret", "retaa": "ret", "retab": "ret", "eret": "eret",
            "eretaa": "eret", "eretab": "eret", "svc": "far", "hvc": "far", "smc": "far",
            "isb": "isb", "wfe": "wfx", "wfi": "wfx", "wfet": "wfx", "wfit": "wfx"}
EXCLUSIVE = re.compile(r"(ld|st)a?l?x[rp][bh]?$|casp?a?l?[bh]?$|swpa?l?[bh]?$|"
                       r"ldapr[bh]?$|(ld|st)64b(v0?)?$|"	# of the same group
                       r"(ld|st)(add|clr|eor|set|[su]max|[su]min)a?l?[bh]?$")
# What this objdump does not know of yet.
UNKNOWN = {".inst", "udf"}


def words():
    pick = random.Random(64)
    result = [pick.getrandbits(32) for _ in range(40000)]
    # Branches, exception generation and system: bits 28 to 26 are 101.
    result += [pick.getrandbits(32) & 0xe3ffffff | 0x14000000 for _ in range(40000)]
    result += [0xd4000000 | pick.getrandbits(24) for _ in range(4000)]
    result += [0xd5000000 | pick.getrandbits(24) for _ in range(4000)]
    result += [0xd5032000 | n for n in range(0x2000)]
    result += [0xd6000000 | op << 21 | 0x1f0000 | low << 10 | pick.getrandbits(5) << 5 | m
               for op in range(16) for low in range(4) for m in range(32)
               for _ in range(4)]
    result += [0xd69f03e0, 0xd69f0bff, 0xd69f0fff, 0xd65f03c0, 0xd65f0bff, 0xd65f0fff]
    # Loads and stores of which some are atomic.
    result += [pick.getrandbits(32) & 0xc0ffffff | 0x08000000 for _ in range(20000)]
    result += [pick.getrandbits(32) & 0xc0dff3ff | 0x38200000 for _ in range(20000)]
    return result


def expected(mnemonic, operands):
    """Kind, atomic (None: not asked), target."""
    if mnemonic in ("b", "bl"):
        return ("jmp" if mnemonic == "b" else "call"), 0, int(operands.split()[0], 16)
    if CONDITIONAL.match(mnemonic):
        return "jcc", 0, int(re.split(r"[ ,]+", operands.strip())[-1], 16)
    return INDIRECT.get(mnemonic, "seq"), int(bool(EXCLUSIVE.match(mnemonic))), 0


def disassembly(path):
    text = subprocess.run([OBJDUMP, "-D", "-z", "-b", "binary", "-m", "aarch64",
                           f"--adjust-vma={VA:#x}", path], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    return [m.groups() for m in map(LINE.match, text.splitlines()) if m]


def main():
    if not shutil.which(OBJDUMP):
        print(f"skipped: {OBJDUMP} is not installed")
        sys.exit(77)
    data = b"".join(struct.pack("<I", w) for w in words())
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        theirs = disassembly(file.name)
    ours = subprocess.run([sys.argv[1]], input=data, stdout=subprocess.PIPE,
                          check=True).stdout.decode().splitlines()
    assert len(ours) == len(theirs) == len(data) // 4, (len(ours), len(theirs))
    seen, wrong = {}, 0
    for line, (address, word, mnemonic, operands) in zip(ours, theirs):
        if mnemonic in UNKNOWN:
            continue
        kind, atomic, target = line.split()
        mine = kind, int(atomic), int(target, 16)
        want = expected(mnemonic, operands or "")
        seen[want[0]] = seen.get(want[0], 0) + 1
        if mine != want:
            wrong += 1
            if wrong < 10:
                print(f"{address} {word} {mnemonic} {operands}: {mine}, not {want}")
    print(", ".join(f"{n} {kind}" for kind, n in sorted(seen.items())))
    missing = (set(INDIRECT.values()) | {"jcc", "jmp", "call", "seq"}) - set(seen)
    if wrong or missing:
        sys.exit(f"{wrong} words differ; never seen: {sorted(missing)}")


if __name__ == "__main__":
    main()
