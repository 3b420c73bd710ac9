#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Loading, unloading, and memory of the modules (modules.c).

The kernel checks what is written to freed memory and behind objects, and counts its
objects exactly (slub_debug).

usage: modules.py BUILD PROGRAM
"""
import vm


def test(build, program):
    for kbuild, stage, script in ((), "kmod", "modules"), \
            (["HWT_HOOKS=n"], "hookless", "modules 'without hooks'"):
        guest = vm.Guest(build, kbuild=kbuild, stage=stage)
        guest.need_unit()
        guest.add(program)
        guest.boot(script, timeout=1200, append="slub_debug=FZP").check()


vm.main(test)
