# SPDX-License-Identifier: BSD-2-Clause
"""What tests of the command from outside share: a folder, running hwt, one-line errors."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HWT = os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else "hwt"
# Seconds for one command; with a sanitizer in the emulator it takes several times as long.
LIMIT = 300 if "HWT_EMULATOR_PRELOAD" in os.environ else 60
ADDRESS = re.compile(r"^[0-9a-f]+$")


def hwt(*args, **kwargs):
    kwargs.setdefault("timeout", LIMIT)
    kwargs.setdefault("capture_output", True)
    kwargs.setdefault("text", True)
    kwargs.setdefault("errors", "replace")
    return subprocess.run([HWT, *map(str, args)], check=False, **kwargs)


def elf_header(bits, machine):
    ident = b"\x7fELF" + bytes([bits // 32, 1, 1]) + bytes(9)
    return ident + struct.pack("<HHI", 2, machine, 1) + bytes(200)


def compile_c(folder, name, source, *flags):
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["cc", "-O1", "-o", folder / name, folder / f"{name}.c", *flags],
                   check=True)
    return folder / name


class Case(unittest.TestCase):
    """A folder of its own, in which commands run."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="hwt-cli."))
        self.addCleanup(shutil.rmtree, self.dir)

    def run_hwt(self, *args, status=0, **kwargs):
        done = hwt(*args, cwd=self.dir, **kwargs)
        self.assertEqual(done.returncode, status, f"{args}: {done.stderr}")
        return done

    def record(self, *args, status=0, **kwargs):
        return self.run_hwt("record", "-q", *args, status=status, **kwargs)

    def info(self, status=0, *args):
        done = self.run_hwt("info", "--json", *args, status=status)
        return json.loads(done.stdout)

    def one_line(self, done, *words):
        """An error is one line that holds these words."""
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def until_recorded(self, process, least=1 << 16):
        """So many bytes are in the file, or the recorder has ended."""
        data = self.dir / "hwt.data"
        while process.poll() is None:
            if data.exists() and data.stat().st_size >= least:
                return
            time.sleep(0.01)


def main():
    """Runs the tests of the script; its arguments are HWT and their names."""
    if not shutil.which("qemu-x86_64"):
        print("qemu-x86_64 is not installed")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
