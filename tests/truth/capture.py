# SPDX-License-Identifier: GPL-3.0-or-later
"""Just enough of a capture decoder, written from docs of the format, to check our programs against the bytes."""
import pathlib
import struct

SAMPLE, MAP, FILE_CHUNK = 2, 3, 13
CONTEXTS = range(2**64 - 4095, 2**64)
KERNEL_CONTEXT, USER_CONTEXT = 2**64 - 128, 2**64 - 512


class Capture:
    def __init__(self, path):
        self.samples = []  # (pid, tid, time, [kernel addresses], [user addresses]), innermost first
        self.maps = {}     # pid → [(time, start, end, offset, path)]
        self.files = {}    # name → bytes
        data = pathlib.Path(path).read_bytes()
        at = 256
        while at + 24 <= len(data):
            length, _cpu, pid, time, kind = struct.unpack_from('<HhiqB', data, at)
            assert length >= 24 and length % 8 == 0 and at + length <= len(data), f'broken frame at {at}'
            frame = data[at:at + length]
            at += length
            if kind == SAMPLE:
                n, _, tid = struct.unpack_from('<HHi', frame, 24)
                kernel, user, here = [], [], []
                for address in struct.unpack_from(f'<{n}Q', frame, 32):
                    if address in CONTEXTS:
                        here = {KERNEL_CONTEXT: kernel, USER_CONTEXT: user}.get(address, [])
                    else:
                        here.append(address)
                self.samples.append((pid, tid, time, kernel, user))
            elif kind == MAP:
                start, end, offset, _inode = struct.unpack_from('<QQQQ', frame, 24)
                path_text = frame[56:].split(b'\0')[0].decode(errors='replace')
                self.maps.setdefault(pid, []).append((time, start, end, offset, path_text))
            elif kind == FILE_CHUNK:
                name = frame[28:284].split(b'\0')[0].decode()
                size = struct.unpack_from('<H', frame, 26)[0]
                self.files[name] = self.files.get(name, b'') + frame[284:284 + size]

    def symbols(self):
        """{pid: [(begin, end, name)]} of the bundled table."""
        table = self.files['__symbols__']
        result = {}
        for at in range(0, len(table), 32):
            begin, end, pid, name, _tag, _ = struct.unpack_from('<QQIIII', table, at)
            if begin == end == pid == name == 0:
                break
            text = table[name:table.index(b'\0', name)].decode(errors='replace')
            result.setdefault(pid, []).append((begin, end, text))
        return result

    def locate(self, pid, address):
        """(path, offset in the file) of a user address, or None."""
        for _time, start, end, offset, path in reversed(self.maps.get(pid, [])):
            if start <= address < end:
                return path, address - start + offset
        return None
