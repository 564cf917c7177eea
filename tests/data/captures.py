# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes captures byte by byte from the offset tables of docs/format.md, for tests.

Shares no code with the library: what both agree on is the format, not a mistake. Frames go out
in the order of the calls, so a test can put anything anywhere, wrong things included.
"""

import struct

TYPES = dict(timestamp=1, sample=2, map=3, process=4, fork=5, exit=6, jitmap=7, ctrdef=8, ctrset=9,
             mark=10, metadata=11, log=12, file=13, allocation=14, overlay=15, trace=16, dbus=17)

KERNEL, USER = 2**64 - 128, 2**64 - 512
JIT = 0xE000000000000000


def text(value):
    return value if isinstance(value, bytes) else value.encode()


class Capture:
    """`big` makes a big-endian file: § 11.2 says where its bit-fields lie."""

    def __init__(self, time=1000, end_time=0, big=False, capture_time="2026-01-01T00:00:00Z"):
        self.order = ">" if big else "<"
        self.big = big
        header = b"\x5e\x97\xca\xfd" + bytes([1, 0 if big else 1, 0, 0])
        header += text(capture_time).ljust(64, b"\0") + self.pack("qq", time, end_time)
        self.data = bytearray(header.ljust(256, b"\0"))

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def raw(self, data):
        self.data += data
        return self

    def frame(self, kind, payload=b"", time=0, cpu=-1, pid=-1, length=None, padding2=0):
        """`kind` is a name or a number; `length` lies about the frame's length."""
        size = (24 + len(payload) + 7) // 8 * 8
        self.data += self.pack("HhiqB3xI", length if length is not None else size, cpu, pid, time,
                               TYPES.get(kind, kind), padding2)
        self.data += payload.ljust(size - 24, b"\0")
        return self

    def timestamp(self, **frame):
        return self.frame("timestamp", **frame)

    def index(self, previous, **frame):
        return self.frame("timestamp", self.pack("Q", previous), padding2=0x53504958, **frame)

    def sample(self, addresses, tid=-1, rubbish=0, n=None, kind="sample", **frame):
        n = len(addresses) if n is None else n
        return self.frame(kind, self.pack(f"HHi{len(addresses)}Q", n, rubbish, tid, *addresses), **frame)

    def trace(self, addresses, tid=-1, entering=True, **frame):
        return self.sample(addresses, tid, int(entering) << (15 if self.big else 0), kind="trace", **frame)

    def map(self, start, end, path, offset=0, inode=0, build_id=None, **frame):
        tail = text(path) + b"\0"
        if build_id is not None:
            tail += b"@" + text(build_id) + b"\0"
        return self.frame("map", self.pack("QQQQ", start, end, offset, inode) + tail, **frame)

    def process(self, command_line, **frame):
        return self.frame("process", text(command_line) + b"\0", **frame)

    def fork(self, child, **frame):
        return self.frame("fork", self.pack("i", child), **frame)

    def exit(self, **frame):
        return self.frame("exit", **frame)

    def jitmap(self, names, n=None, **frame):
        """`names`: (address, name) pairs."""
        entries = b"".join(self.pack("Q", address) + text(name) + b"\0" for address, name in names)
        return self.frame("jitmap", self.pack("I", len(names) if n is None else n) + entries, **frame)

    def ctrdef(self, counters, n=None, **frame):
        """`counters`: (id, category, name, description, is_double)."""
        body = b""
        for number, category, name, description, is_double in counters:
            body += text(category)[:32].ljust(32, b"\0") + text(name)[:32].ljust(32, b"\0")
            body += text(description)[:52].ljust(52, b"\0")
            body += number.to_bytes(3, "big" if self.big else "little") + bytes([int(is_double)]) + bytes(8)
        return self.frame("ctrdef", self.pack("H6x", len(counters) if n is None else n) + body, **frame)

    def ctrset(self, values, n=None, **frame):
        """`values`: (id, number) pairs; a float becomes a double."""
        groups = [values[i:i + 8] for i in range(0, len(values), 8)]
        body = b""
        for group in groups:
            body += self.pack("8I", *[number for number, _ in group] + [0] * (8 - len(group)))
            body += b"".join(self.pack("d" if isinstance(value, float) else "q", value) for _, value in group)
            body += bytes(8 * (8 - len(group)))
        return self.frame("ctrset", self.pack("H6x", len(groups) if n is None else n) + body, **frame)

    def mark(self, group, name, message="", duration=0, **frame):
        return self.frame("mark", self.pack("q", duration) + text(group)[:24].ljust(24, b"\0")
                          + text(name)[:40].ljust(40, b"\0") + text(message) + b"\0", **frame)

    def metadata(self, key, value, **frame):
        return self.frame("metadata", text(key)[:40].ljust(40, b"\0") + text(value) + b"\0", **frame)

    def log(self, domain, message, severity=64, **frame):
        return self.frame("log", self.pack("H6x", severity) + text(domain)[:32].ljust(32, b"\0")
                          + text(message) + b"\0", **frame)

    def file(self, path, data, is_last=True, n=None, **frame):
        bits = int(is_last) << (15 if self.big else 0)
        return self.frame("file", self.pack("HH", bits, len(data) if n is None else n)
                          + text(path)[:256].ljust(256, b"\0") + data, **frame)

    def allocation(self, address, size, addresses=(), tid=-1, n=None, **frame):
        n = len(addresses) if n is None else n
        return self.frame("allocation", self.pack(f"QqiHH{len(addresses)}Q", address, size, tid, n, 0, *addresses),
                          **frame)

    def overlay(self, source, mount_point, layer=0, **frame):
        source, mount_point = text(source), text(mount_point)
        return self.frame("overlay", self.pack("B3xHH", layer, len(source), len(mount_point))
                          + source + b"\0" + mount_point + b"\0", **frame)

    def dbus(self, message, bus=1, flags=0, **frame):
        word = (bus << 14 | flags) if self.big else (bus | flags << 2)
        return self.frame("dbus", self.pack("HH", word, len(message)) + message, **frame)
