# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes captures byte by byte from the offset tables of docs/format.md, for tests.

Shares no code with the library, so that a mistake is not made twice. Frames are written in the order of
the calls, so a test can write anything anywhere, including wrong data; unused bytes are 0. decoder.py
reads captures.
"""

import struct

from decoder import INDEX_MARK, MAGIC, NUMBERS

KERNEL, USER = 2**64 - 128, 2**64 - 512
JIT = 0xE000000000000000
CHUNK = 16100  # bytes of an embedded file per frame


def text(value):
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")


class Capture:
    """`big` makes a big-endian file; § 11.2 defines its bit-fields. Frames without a time get that of `now`."""

    def __init__(self, time=1000, end_time=0, big=False, capture_time="2026-01-01T00:00:00Z", index=0, now=0):
        self.order = ">" if big else "<"
        self.big = big
        self.now = now
        header = MAGIC + bytes([1, 0 if big else 1, 0, 0])
        header += text(capture_time).ljust(64, b"\0") + self.pack("qqQ", time, end_time, index)
        self.data = bytearray(header.ljust(256, b"\0"))

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def raw(self, data):
        self.data += data
        return self

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.data)
        return path

    def frame(self, kind, payload=b"", time=None, cpu=-1, pid=-1, length=None, padding2=0):
        """`kind` is a name or a number; `length` lies about the frame's length."""
        size = (24 + len(payload) + 7) // 8 * 8
        self.data += self.pack("HhiqB3xI", length if length is not None else size, cpu, pid,
                               self.now if time is None else time, NUMBERS.get(kind, kind), padding2)
        self.data += payload.ljust(size - 24, b"\0")
        return self

    def timestamp(self, **frame):
        return self.frame("timestamp", **frame)

    def index(self, previous, **frame):
        return self.frame("timestamp", self.pack("Q", previous), padding2=INDEX_MARK, **frame)

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
        """`counters`: (id, category, name, description, kind[, value])."""
        body = b""
        for number, category, name, description, kind, *value in counters:
            body += text(category)[:32].ljust(32, b"\0") + text(name)[:32].ljust(32, b"\0")
            body += text(description)[:52].ljust(52, b"\0")
            body += number.to_bytes(3, "big" if self.big else "little") + bytes([int(kind)]) + self.pack("Q", *value or [0])
        return self.frame("ctrdef", self.pack("H6x", len(counters) if n is None else n) + body, **frame)

    def ctrset(self, values, n=None, **frame):
        """`values`: (id, number) pairs; a float becomes a double."""
        groups = [values[i:i + 8] for i in range(0, len(values), 8)]
        body = b""
        for group in groups:
            body += self.pack("8I", *[number for number, _ in group] + [0] * (8 - len(group)))
            body += b"".join(self.pack("d", value) if isinstance(value, float) else self.pack("Q", value % 2**64) for _, value in group)
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

    def chunked_file(self, path, data, **frame):
        """As many frames as the recorder makes of it."""
        for at in range(0, max(len(data), 1), CHUNK):
            self.file(path, data[at:at + CHUNK], at + CHUNK >= len(data), **frame)
        return self

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

    def add(self, frame):
        """A frame as decoder.py gives it."""
        f, at = frame, {key: frame[key] for key in ("time", "cpu", "pid")}
        kind = f["type"]
        if kind in ("timestamp", "exit"):
            return self.frame(kind, **at)
        if kind == "frame-index":
            return self.index(f["previous"], **at)
        if kind == "sample":
            return self.sample(f["addrs"], f["tid"], **at)
        if kind == "trace":
            return self.trace(f["addrs"], f["tid"], f["entering"], **at)
        if kind == "allocation":
            return self.allocation(f["address"], f["size"], f["addrs"], f["tid"], **at)
        if kind == "map":
            return self.map(f["start"], f["end"], f["path"], f["offset"], f["inode"], f["build_id"] or None, **at)
        if kind == "process":
            return self.process(f["command_line"], **at)
        if kind == "fork":
            return self.fork(f["child_pid"], **at)
        if kind == "jitmap":
            return self.jitmap(f["names"], **at)
        if kind == "ctrdef":
            members = ("id", "category", "name", "description", "kind", "value")
            return self.ctrdef([[counter[member] for member in members] for counter in f["counters"]], **at)
        if kind == "ctrset":
            return self.ctrset(f["values"], **at)
        if kind == "mark":
            return self.mark(f["group"], f["name"], f["message"], f["duration"], **at)
        if kind == "metadata":
            return self.metadata(f["id"], f["value"], **at)
        if kind == "log":
            return self.log(f["domain"], f["message"], f["severity"], **at)
        if kind == "file":
            return self.file(f["path"], f["data"], f["is_last"], **at)
        if kind == "overlay":
            return self.overlay(f["src"], f["dst"], f["layer"], **at)
        if kind == "dbus":
            return self.dbus(f["message"], f["bus"], f["flags"], **at)
        return self.frame(f["number"], f["payload"], **at)


def encode(frames, big_endian=False, time=0, end_time=0, capture_time="2020-01-02T03:04:05Z", last_frame_index=0):
    """The bytes of a capture of frames as decoder.py gives them."""
    capture = Capture(time, end_time, big_endian, capture_time, last_frame_index)
    for frame in frames:
        capture.add(frame)
    return bytes(capture.data)


def packed_symbols(rows, strings, order="<"):
    """Adds the embedded file "__symbols__" with any rows, also invalid ones: (start, end, pid, offset of the
    name in `strings`, offset of the tag), with None for missing values."""
    base = 32 * (len(rows) + 1)
    places = lambda offsets: [0 if offset is None else (base + offset) % 2**32 for offset in offsets]
    return b"".join(struct.pack(order + "QQIIII", *row[:3], *places(row[3:]), 0) for row in rows) + bytes(32) + strings


def symbol_table(entries, order="<", inclusive=False):
    """The same of (begin, end, pid, name, tag), in the layout of version 45, or `inclusive` in that of 3.46, whose texts begin at
    once. Readers want them sorted by pid and begin."""
    strings, rows = b"" if inclusive else b"\0", []
    for begin, end, pid, name, tag in entries:
        rows.append((begin, end, pid, len(strings), len(strings) + len(text(name)) + 1 if tag else None))
        strings += text(name) + b"\0" + (text(tag) + b"\0" if tag else b"")
    return packed_symbols(rows, strings, order)
