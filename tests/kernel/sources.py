#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The modules build without a warning of the compiler's (W=1) or of sparse's: as they
are, as where task_work_add is not exported, and without process hooks.

usage: sources.py BUILD ARCH [SUITE]    the kernel of SUITE: tools/fetch-kernel
"""
import re
import shutil
import sys
import vm

WARNING = re.compile(r"(warning|error):", re.IGNORECASE)
# A build that goes on in the stage of another compiles, and checks, what differs.
VARIANTS = [("sources", ["HWT_TEST=n"]), ("sources", ["HWT_TEST=n", "HWT_LOOKUP=y"]),
            ("sources-hookless", ["HWT_TEST=y", "HWT_HOOKS=n"])]


def test(build, arch, suite=""):
    vm.need("sparse")
    kernel = vm.FetchedKernel(build, arch, suite) if suite else vm.kernel_for(build, arch)
    # What is built already would say nothing.
    for stage, _ in VARIANTS:
        shutil.rmtree(kernel.cache / stage, ignore_errors=True)
    for stage, variant in VARIANTS:
        output = vm.Guest(build, arch=arch, kernel=kernel, stage=stage,
                          kbuild=["W=1", "C=1", *variant]).kbuild_output
        checked = len(re.findall("^ *CHECK ", output, re.MULTILINE))
        if not checked:
            sys.exit("sparse did not run:\n" + output)
        found = [line for line in output.splitlines() if WARNING.search(line)]
        if found:
            sys.exit("\n".join([*variant, *found]))
        print(f"{kernel.release}, {' '.join(variant)}: {checked} files, no warning")


vm.main(test)
