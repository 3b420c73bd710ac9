#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every option of every subcommand is in its manual page, and no other; what help says
of numbers and defaults is in the page's entry, too.

usage: man_options.py HWT MANDIR
"""
import pathlib
import re
import subprocess
import sys

WORD = re.compile(r"\bFl (-?[\w-]+)")
HELP = re.compile(r"^ {2,6}(?:-\w, )?--([\w-]+)\S*(?: [A-Z]+)?\s+(\S.*)$", re.MULTILINE)
FACT = re.compile(r"\b\d+[KMG]?\b|default: ([\w.]+)")


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


def entry_of(text, option):
    """What a page's list says of an option."""
    entries = re.split(r"^(?=\.It )|^\.El", text, flags=re.MULTILINE)
    head = re.compile(rf"\.It .*\bFl -{option}\b(?!-)")
    return "".join(e for e in entries if head.match(e))


def facts_amiss(hwt, mandir):
    """Of how many facts in help; and those that the page does not have."""
    total, amiss = 0, []
    for page in sorted(mandir.glob("hwt-*.8")):
        text = page.read_text(encoding="utf-8")
        shown = subprocess.run([hwt, "help", page.stem[4:]], capture_output=True, text=True,
                               check=True).stdout
        for option, words in HELP.findall(shown):
            entry = entry_of(text, option)
            facts = [m[1] or m[0] for m in FACT.finditer(words)]
            total += len(facts)
            amiss += [f"{page.name}: --{option}: nothing of {fact}" for fact in facts
                      if not re.search(rf"\b{fact}\b", entry)]
    return total, amiss


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
    facts, amiss = facts_amiss(hwt, mandir)
    print("\n".join(amiss))
    print(f"{len(pages)} pages, {facts} facts, {wrong + len(amiss)} differences")
    return 1 if wrong or amiss or not pages or not facts else 0


sys.exit(main())
