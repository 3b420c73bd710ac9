#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Loading, unloading, and memory of the modules (modules.c).

usage: modules.py BUILD PROGRAM
"""
import vm


def test(build, program):
    for kbuild, stage, script in ((), "kmod", "modules"), \
            (["HWT_HOOKS=n"], "hookless", "modules 'without hooks'"):
        guest = vm.Guest(build, kbuild=kbuild, stage=stage)
        guest.need_unit()
        guest.add(program)
        guest.boot(script, timeout=1200).check()


vm.main(test)
