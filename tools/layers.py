#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Holds #include lines against the layer table of doc/architecture.md.

usage: tools/layers.py [ROOT]
A line for each include that the table does not allow; exit status 1 if any.
"""
import pathlib
import re
import sys

EVENT = "decode/event.h"
SAMPLES = ["decode/spe/spe_decoder.h", "decode/spe/spe_packet.h"]
# Folder: what its files may include of this tree, as folders or single files.
# Its own folder is always allowed.  The longest folder that matches counts.
LAYERS = {
    "include": [],
    "hw": [],
    # The contract's primitives, by the name that each host gives them.
    "core": ["include", "hosts/embedded/hwt_os_host.h"],
    "backends/pt": ["core", "include", "hw"],
    "backends/coresight": ["core", "include", "hw"],
    "backends/spe": ["core", "include", "hw"],
    "models": ["hw"],
    "vtu": ["include", "hw"],
    "qemu": ["models", "vtu"],
    "hosts/embedded": ["core", "backends", "vtu", "include", "hosts/search.h"],
    # User side of the kernel host: the devices of hosts/linux, from outside.
    "hosts/kernel": ["include", "hosts/search.h"],
    "hosts/linux": ["core", "backends", "vtu", "include"],
    # libhwt.c: the table of hosts.
    "hosts": ["hosts", "include"],
    "record": ["include", "container"],
    "container": ["include"],
    "image": ["include"],
    "decode/pt": ["hw", EVENT],
    "decode/etm": ["hw", EVENT],
    "decode/spe": ["hw", EVENT],
    "decode": ["hw"],
    "session": ["include", "hw", "container", "image", "decode"],
    # Samples of SPE are no events: their struct, and the words for its fields.
    "analyse": [EVENT, "image/image.h", *SAMPLES],
    # image.h is where the struct of a symbol's name is.
    "present": ["analyse", EVENT, "image/image.h", *SAMPLES],
    "cli": ["include/hwt", "session/session.h", "session/packets.h", "session/unit_features.h",
            "record/record.h", "container/output.h", "analyse", "present"],
    "tests": None,  # anything
    "bench": None,
    "fuzz": None,
}
# Headers of others that only these folders may see.
FOREIGN = {
    r"(elfutils/|libelf\.h|gelf\.h|dwarf\.h|libdw)": ["image"],
    r"Zydis/": ["decode/pt", "qemu", "image"],
    r"opencsd": ["decode/etm"],
    r"(intel-pt\.h|cmocka\.h)": [],
    r"linux/": ["include", "hw", "vtu", "hosts", "container", "qemu"],
}
# Folders that may include none of the C library's headers: they also go into
# the kernel, and take what they need from the host contract.
FREESTANDING = ["core", "backends"]
FREE_HEADERS = ["hwt_os_host.h", "hwt/"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def layer_of(path):
    """The longest entry of the table that path lies under, or None."""
    fits = [l for l in LAYERS if path.startswith(l + "/")]
    return max(fits, key=len) if fits else None


def resolve(root, source, kind, name):
    """The file of this tree that an include means, or None."""
    places = [source.parent] if kind == '"' else []
    places += [root, root / "include", root / "include" / "compat", root / "core",
               root / "hosts" / "embedded"]
    for place in places:
        file = (place / name).resolve()
        if file.is_file() and file.is_relative_to(root):
            return file.relative_to(root).as_posix()
    return None


def allowed(layer, target):
    rules = LAYERS[layer]
    if rules is None or target.startswith(layer + "/"):
        return True
    return any(target == r or target.startswith(r + "/") for r in rules)


def foreign_problem(layer, name):
    for pattern, folders in FOREIGN.items():
        if re.match(pattern, name) and LAYERS[layer] is not None:
            if not any(layer == f or layer.startswith(f + "/") for f in folders):
                return f"<{name}> is for {', '.join(folders) or 'tests'} only"
    if any(layer == f or layer.startswith(f + "/") for f in FREESTANDING):
        if not any(name.startswith(h) for h in FREE_HEADERS):
            return f"<{name}>: this layer is freestanding"
    return None


def problems(root, file):
    path = file.relative_to(root).as_posix()
    layer = layer_of(path)
    if layer is None:
        yield f"{path}: in no layer of tools/layers.py"
        return
    for kind, name in INCLUDE.findall(file.read_text(errors="replace")):
        target = resolve(root, file, kind, name)
        if target is None:
            what = foreign_problem(layer, name)
            if what:
                yield f"{path}: {what}"
        elif not allowed(layer, target):
            yield f"{path}: {layer}/ may not include {target}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    # __KERNEL__ halves of shared headers are held to the table like the rest.
    files = [f for f in sorted(root.rglob("*.[ch]"))
             if not f.relative_to(root).parts[0].startswith(("build", "."))]
    found = [p for f in files for p in problems(root, f)]
    for line in found:
        print(line)
    print(f"{len(files)} files, {len(found)} includes against the table")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
