#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The modules build without a warning of the compiler's (W=1) or of sparse's, with
and without process hooks.

usage: sources.py BUILD ARCH
"""
import re
import shutil
import sys
import vm

WARNING = re.compile(r"(warning|error):")


def test(build, arch):
    vm.need("sparse")
    for hooks in "y", "n":
        stage = f"sources-{hooks}"
        kernel = vm.kernel_for(build, arch)
        # What is built already would say nothing.
        shutil.rmtree(kernel.cache / stage, ignore_errors=True)
        output = vm.Guest(build, arch=arch, kernel=kernel, stage=stage, kbuild=[
            "W=1", "C=2", "HWT_TEST=n", f"HWT_HOOKS={hooks}"]).kbuild_output
        if "CHECK" not in output:
            sys.exit("sparse did not run:\n" + output)
        found = [line for line in output.splitlines() if WARNING.search(line)]
        if found:
            sys.exit("\n".join(found))


vm.main(test)
