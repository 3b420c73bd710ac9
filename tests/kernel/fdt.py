# SPDX-License-Identifier: BSD-2-Clause
"""Flattened devicetrees (the Devicetree Specification, chapter 5): read, changed, written."""
import struct

MAGIC, VERSION, COMPATIBLE = 0xd00dfeed, 17, 16
BEGIN_NODE, END_NODE, PROP, NOP, END = 1, 2, 3, 4, 9
HEADER = 40


def cells(*values):
    return b"".join(struct.pack(">I", value) for value in values)


def strings(*values):
    return b"".join(value.encode() + b"\0" for value in values)


def padded(data):
    return data + bytes(-len(data) % 4)


class Node:
    def __init__(self, name, properties=None, children=()):
        self.name = name
        self.properties = dict(properties or {})  # name: bytes
        self.children = list(children)

    def child(self, name):
        return next(c for c in self.children if c.name == name)

    def add(self, *children):
        self.children += children
        return self

    def cell(self, name):
        return struct.unpack(">I", self.properties[name])[0]


def string_at(data, at):
    return data[at:data.index(b"\0", at)].decode()


def read(data):
    """The root of a devicetree."""
    _, _, at, names = struct.unpack_from(">4I", data, 0)
    stack = [Node("")]
    while (token := struct.unpack_from(">I", data, at)[0]) != END:
        at += 4
        if token == BEGIN_NODE:
            node = Node(string_at(data, at))
            stack[-1].children.append(node)
            stack.append(node)
            at += len(node.name) // 4 * 4 + 4
        elif token == END_NODE:
            stack.pop()
        elif token == PROP:
            size, name = struct.unpack_from(">2I", data, at)
            stack[-1].properties[string_at(data, names + name)] = data[at + 8:at + 8 + size]
            at += 8 + size + -size % 4
    return stack[0].children[0]


def write(root):
    """Its bytes; memory that is reserved is not among them."""
    names, offsets = bytearray(), {}

    def flat(node):
        out = cells(BEGIN_NODE) + padded(strings(node.name))
        for name, value in node.properties.items():
            if name not in offsets:
                offsets[name] = len(names)
                names.extend(strings(name))
            out += cells(PROP, len(value), offsets[name]) + padded(value)
        return out + b"".join(map(flat, node.children)) + cells(END_NODE)

    tree = flat(root) + cells(END)
    reserved = HEADER + (-HEADER % 8)
    start = reserved + 16
    size = start + len(tree) + len(names)
    header = cells(MAGIC, size, start, start + len(tree), reserved, VERSION, COMPATIBLE, 0,
                   len(names), len(tree))
    return header + bytes(reserved - HEADER + 16) + tree + bytes(names)
