# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads captures, written from the description of the format alone: what our programs are compared with."""

import collections
import gzip
import struct

NAMES = ["unknown", "timestamp", "sample", "map", "process", "fork", "exit", "jitmap", "ctrdef", "ctrset", "mark", "metadata",
         "log", "file", "allocation", "overlay", "trace", "dbus"]
MAGIC = bytes([0x5E, 0x97, 0xCA, 0xFD])
INDEX_MARK = 0x53504958

Frame = collections.namedtuple("Frame", "offset length cpu pid time type data")


class Capture:
    """All frames; ValueError where a frame is not whole or a length is impossible. Frames of types that the format does not
    have are left out where `odd` says that there may be some."""

    def __init__(self, data, odd=False):
        if len(data) < 256 or data[:4] != MAGIC or data[4] != 1 or data[5] & 1 != 1:
            raise ValueError("not a little-endian capture of version 1")
        self.time, self.end_time = struct.unpack_from("<qq", data, 72)
        self.data = data
        self.frames = []
        offset = 256
        while offset < len(data):
            if len(data) - offset < 24:
                raise ValueError(f"half a frame header at {offset} of {len(data)}")
            length, cpu, pid, time, kind = struct.unpack_from("<HhiqB", data, offset)
            padding = struct.unpack_from("<I", data, offset + 20)[0]
            if length < 24 or length % 8 or offset + length > len(data):
                raise ValueError(f"frame at {offset} of {len(data)} has length {length}")
            if not 1 <= kind < len(NAMES):
                if odd:
                    offset += length
                    continue
                raise ValueError(f"frame at {offset} has type {kind}")
            if not (kind == 1 and length == 32 and padding == INDEX_MARK):
                self.frames.append(Frame(offset, length, cpu, pid, time, NAMES[kind], data[offset:offset + length]))
            offset += length

    @classmethod
    def open(cls, path):
        with open(path, "rb") as file:
            return cls(file.read())

    def of(self, kind):
        return [frame for frame in self.frames if frame.type == kind]

    def counts(self):
        return collections.Counter(frame.type for frame in self.frames)

    def samples(self):
        """(frame, tid, addresses) of each sample."""
        found = []
        for frame in self.of("sample"):
            n, = struct.unpack_from("<H", frame.data, 24)
            tid, = struct.unpack_from("<i", frame.data, 28)
            found.append((frame, tid, struct.unpack_from(f"<{n}Q", frame.data, 32)))
        return found

    def names(self):
        """pid to all the names and command lines it had."""
        names = collections.defaultdict(list)
        for frame in self.of("process"):
            names[frame.pid].append(_text(frame.data[24:]))
        return names

    def mapped_files(self):
        """pid to the set of paths."""
        files = collections.defaultdict(set)
        for frame in self.of("map"):
            files[frame.pid].add(_text(frame.data[56:]))
        return files

    def counter_categories(self):
        found = set()
        for frame in self.of("ctrdef"):
            n, = struct.unpack_from("<H", frame.data, 24)
            found.update(_text(frame.data[32 + i * 128:64 + i * 128]) for i in range(n))
        return found

    def metadata(self):
        return {_text(frame.data[24:64]): _text(frame.data[64:]) for frame in self.of("metadata")}

    def files(self):
        """Name to content, as stored."""
        chunks = collections.defaultdict(bytes)
        for frame in self.of("file"):
            size, = struct.unpack_from("<H", frame.data, 26)
            chunks[_text(frame.data[28:284])] += frame.data[284:284 + size]
        return chunks

    def file(self, name):
        """The content, unpacked; None if it is not there."""
        files = self.files()
        if name + ".gz" in files:
            return gzip.decompress(files[name + ".gz"])
        return files.get(name)


def _text(data):
    return data.split(b"\0", 1)[0].decode(errors="replace")
