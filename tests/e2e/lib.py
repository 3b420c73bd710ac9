# SPDX-License-Identifier: BSD-2-Clause
"""What the end-to-end tests share: recording a program, checking its flow."""
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def have(program):
    return shutil.which(program) is not None


def need(*programs):
    """Skips the test where a program is not installed."""
    for program in programs:
        if not have(program):
            skip(f"{program} is not installed")


class Recording:
    """One `hwt record` with the unit's independent log beside it."""

    def __init__(self, hwt, argv, options=(), stdin=None, env=None, timeout=600):
        self.folder = tempfile.mkdtemp(prefix="hwt-e2e-")
        self.data = os.path.join(self.folder, "hwt.data")
        environment = dict(os.environ if env is None else env)
        environment["HWT_TEST_LOG"] = self.folder
        self.result = subprocess.run(
            [hwt, "record", "-o", self.data, *options, "--", *argv],
            input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment, timeout=timeout, check=False)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def flow_check(tool, recording, *checks, log=True):
    """True if flow_check finds no difference; its output is shown."""
    command = [tool, *checks]
    if log:
        command += ["--log", recording.folder]
    done = subprocess.run(command + [recording.data], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    lines = done.stdout.splitlines()
    print("\n".join(lines if len(lines) < 40 else lines[:40] + ["..."]))
    return done.returncode == 0
