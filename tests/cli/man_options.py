#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every option of every subcommand is in its manual page, and no other.

usage: man_options.py HWT MANDIR
"""
import pathlib
import re
import subprocess
import sys

WORD = re.compile(r"\bFl (-?[\w-]+)")


def options_of_table(hwt):
    """{page: set of options as 'Fl' words} from `hwt help --table`."""
    pages = {}
    table = subprocess.run([hwt, "help", "--table"], capture_output=True, text=True,
                           check=True).stdout
    for line in table.splitlines():
        command, letter, name, _arg = line.split("\t")
        page = "hwt.8" if command in ("-", "help") else f"hwt-{command}.8"
        words = pages.setdefault(page, set())
        if letter != "-":
            words.add(letter)
        if name != "-":
            words.add("-" + name)
    return pages


def options_of_page(text):
    """Options that have an entry in a list (.It), or are explained in hwt.8's help."""
    words = set()
    for line in text.splitlines():
        if line.startswith(".It ") and "Fl " in line:
            words.update(WORD.findall(line))
    return words


def main():
    hwt, mandir = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong = 0
    pages = options_of_table(hwt)
    for page, table in sorted(pages.items()):
        text = (mandir / page).read_text(encoding="utf-8")
        listed = options_of_page(text)
        if page == "hwt.8":  # help's options are in the text, -h is everybody's
            listed |= {"-completion", "-table"} & set(WORD.findall(text))
            table = table | {"h"}
        for word in sorted(table - listed):
            print(f"{page}: -{word} is not explained")
            wrong += 1
        for word in sorted(listed - table):
            print(f"{page}: -{word} does not exist")
            wrong += 1
    print(f"{len(pages)} pages, {wrong} differences")
    return 1 if wrong or not pages else 0


sys.exit(main())
