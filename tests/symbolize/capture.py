# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes captures by hand, from the description of the format, with exactly the frames that a test needs."""

import datetime
import pathlib
import struct
import time

KERNEL, USER = (1 << 64) - 128, (1 << 64) - 512


class Capture:
    def __init__(self, order="<", made=None):
        made = made or datetime.datetime.now(datetime.timezone.utc)
        self.order = order
        self.now = time.monotonic_ns()
        self.body = b""
        self.header = struct.pack("<IBBH", 0xFDCA975E, 1, 1 if order == "<" else 0, 0)
        self.header += made.strftime("%Y-%m-%dT%H:%M:%SZ").encode().ljust(64, b"\0")
        self.header += self.pack("qq", self.now, self.now + 1000000) + bytes(168)

    def pack(self, layout, *values):
        return struct.pack(self.order + layout, *values)

    def frame(self, kind, pid, payload):
        size = (24 + len(payload) + 7) & ~7
        self.now += 1
        self.body += self.pack("HhiqB3xI", size, -1, pid, self.now, kind, 0)
        self.body += payload + bytes(size - 24 - len(payload))

    def process(self, pid, name):
        self.frame(4, pid, name.encode() + b"\0")

    def map(self, pid, start, end, offset, inode, path, build_id=None):
        text = path.encode() + b"\0" + (b"@" + build_id.encode() + b"\0" if build_id else b"")
        self.frame(3, pid, self.pack("QQQQ", start, end, offset, inode) + text)

    def sample(self, pid, addresses):
        """Innermost first; all but the first after a marker are return addresses."""
        self.frame(2, pid, self.pack("HHi", len(addresses), 0, pid) + self.pack(f"{len(addresses)}Q", *addresses))

    def jitmap(self, names):
        entries = b"".join(self.pack("Q", address) + name.encode() + b"\0" for address, name in names.items())
        self.frame(7, 1, self.pack("I", len(names)) + entries)

    def metadata(self, key, value):
        self.frame(11, -1, key.encode().ljust(40, b"\0") + value.encode() + b"\0")

    def file(self, name, data):
        for at in range(0, max(len(data), 1), 16100):
            part = data[at : at + 16100]
            is_last = at + 16100 >= len(data)
            flag = (1 if self.order == "<" else 0x8000) if is_last else 0
            self.frame(13, -1, self.pack("HH", flag, len(part)) + name.encode().ljust(256, b"\0") + part)

    def save(self, path):
        pathlib.Path(path).write_bytes(self.header + self.body)
        return path


def symbol_table(entries, order="<"):
    """`__symbols__`: entries are (begin, end, pid, name, tag)."""
    strings = b"\0"
    rows = b""
    base = 32 * (len(entries) + 1)
    for begin, end, pid, name, tag in entries:
        places = []
        for text in (name, tag):
            places.append(base + (0 if not text else len(strings)))
            strings += text.encode() + b"\0" if text else b""
        rows += struct.pack(order + "QQIIII", begin, end, pid, *places, 0)
    return rows + bytes(32) + strings


def read_symbol_table(data):
    entries, at = [], 0
    text = lambda offset: data[offset : data.index(b"\0", offset)].decode()
    while True:
        begin, end, pid, name, tag, padding = struct.unpack_from("<QQIIII", data, at)
        if not (begin or end or pid or name):
            return entries
        entries.append((begin, end, pid, text(name), text(tag)))
        assert padding == 0
        at += 32
