# SPDX-License-Identifier: BSD-2-Clause
"""Named checks that go on after a failure, and running commands for them."""
import os
import subprocess
import sys
import tempfile


class Checks:
    """Counts what was checked; each failure is shown with what was seen."""

    def __init__(self):
        self.done = self.failed = 0

    def that(self, name, good, *seen):
        self.done += 1
        if good:
            return True
        self.failed += 1
        print(f"FAILED: {name}")
        for thing in seen:
            print("    " + "\n    ".join(str(thing).splitlines()[-12:]))
        return False

    def equal(self, name, got, want):
        return self.that(name, got == want, f"got  {got!r}", f"want {want!r}")

    def finish(self):
        print(f"{self.done} checks, {self.failed} failed")
        sys.exit(1 if self.failed or not self.done else 0)


# Seconds; with a sanitizer in the emulator all takes several times as long.
LIMIT = 600 if "HWT_EMULATOR_PRELOAD" in os.environ else 120


def run(command, timeout=LIMIT, **options):
    """The finished process, output and errors as text."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([str(word) for word in command], text=True, errors="replace",
                          timeout=timeout, check=False, **options)


def one_line(done, status, *words):
    """It failed as it should: that status, one line of errors that has the words."""
    lines = done.stderr.splitlines()
    return (done.returncode == status and len(lines) == 1 and
            lines[0].startswith("hwt") and all(word in lines[0] for word in words))


def in_scratch():
    """Goes to an empty folder that is removed at the end; returns it."""
    folder = tempfile.TemporaryDirectory(prefix="hwt-e2e-")
    os.chdir(folder.name)
    return folder
