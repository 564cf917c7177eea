# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads captures. It is written from the description of the format alone, and the C library must agree with
it.

decode(bytes) -> Capture. A frame is a dict with 'type' (its word in our commands), 'cpu', 'pid', 'time'
and the members of its type; 'at' and 'len' give its position and size. captures.py writes captures.
"""
import collections
import gzip
import struct
from dataclasses import dataclass, field

MAGIC = bytes.fromhex('5e97cafd')
TYPES = ('unknown', 'timestamp', 'sample', 'map', 'process', 'fork', 'exit', 'jitmap', 'ctrdef', 'ctrset', 'mark', 'metadata',
         'log', 'file', 'allocation', 'overlay', 'trace', 'dbus')
NUMBERS = {name: number for number, name in enumerate(TYPES)}
INDEX_MARK = 0x53504958


class Values(list):
    """Of a counter set, all; and `groups`: those of each group of eight slots."""


@dataclass
class Capture:
    big_endian: bool
    version: int
    capture_time: str
    time: int
    end_time: int
    last_frame_index: int
    frames: list = field(default_factory=list)
    rest: int = 0  # bytes behind the last whole frame

    @classmethod
    def open(cls, path):
        """Of one without fault: see whole()."""
        with open(path, 'rb') as file:
            return whole(file.read())

    def of(self, kind):
        return [frame for frame in self.frames if frame['type'] == kind]

    def counts(self):
        return collections.Counter(frame['type'] for frame in self.frames)

    def names(self):
        """pid to all the names and command lines it had."""
        names = collections.defaultdict(list)
        for frame in self.of('process'):
            names[frame['pid']].append(frame['command_line'])
        return names

    def mapped_files(self):
        """pid to the set of paths."""
        files = collections.defaultdict(set)
        for frame in self.of('map'):
            files[frame['pid']].add(frame['path'])
        return files

    def counter_categories(self):
        return {counter['category'] for frame in self.of('ctrdef') for counter in frame['counters']}

    def metadata(self):
        return {frame['id']: frame['value'] for frame in self.of('metadata')}

    def files(self):
        """Name to content, as stored; several of one name stand one behind the other."""
        chunks = collections.defaultdict(bytes)
        for frame in self.of('file'):
            chunks[frame['path']] += frame['data']
        return dict(chunks)

    def file(self, name):
        """The content, unpacked; None if it is not there."""
        files = self.files()
        if name + '.gz' in files:
            return gzip.decompress(files[name + '.gz'])
        return files.get(name)


def text(data):
    return data.split(b'\0', 1)[0].decode('utf-8', 'surrogateescape')


def decode_frame(raw, order):
    """`raw` is one whole frame. Raises ValueError if it contradicts itself."""
    def u(fmt, at):
        return struct.unpack_from(order + fmt, raw, at)[0]

    length, cpu, pid, time = struct.unpack_from(order + 'Hhiq', raw, 0)
    number, padding2 = raw[16], u('I', 20)
    frame = {'type': TYPES[number] if number < len(TYPES) else 'unknown', 'cpu': cpu, 'pid': pid, 'time': time}
    big = order == '>'

    def addresses(count, at):
        if at + 8 * count > length:
            raise ValueError('too many addresses')
        return list(struct.unpack_from(f'{order}{count}Q', raw, at))

    def least(size):
        if length < size:
            raise ValueError('too short')

    name = frame['type']
    if name == 'timestamp':
        if length == 32 and padding2 in (INDEX_MARK, int.from_bytes(struct.pack('<I', INDEX_MARK), 'big')):
            frame['type'] = 'frame-index'
            frame['previous'] = u('Q', 24)
    elif name == 'sample':
        least(32)
        frame.update(tid=u('i', 28), addrs=addresses(u('H', 24), 32))
    elif name == 'trace':
        least(32)
        flags = u('H', 26)
        frame.update(tid=u('i', 28), addrs=addresses(u('H', 24), 32),
                     entering=bool(flags >> 15 if big else flags & 1))
    elif name == 'allocation':
        least(48)
        frame.update(address=u('Q', 24), size=u('q', 32), tid=u('i', 40), addrs=addresses(u('H', 44), 48))
    elif name == 'map':
        least(57)
        path = raw[56:].split(b'\0', 1)[0]
        frame.update(start=u('Q', 24), end=u('Q', 32), offset=u('Q', 40), inode=u('Q', 48),
                     path=text(path), build_id='')
        rest = raw[56 + len(path) + 1:]
        if rest[:1] == b'@' and b'\0' in rest:
            digits = rest[1:].split(b'\0', 1)[0]
            if 2 <= len(digits) <= 128 and len(digits) % 2 == 0 and not digits.strip(b'0123456789abcdef'):
                frame['build_id'] = digits.decode()
    elif name == 'process':
        least(25)
        frame.update(command_line=text(raw[24:]))
    elif name == 'fork':
        least(28)
        frame.update(child_pid=u('i', 24))
    elif name == 'jitmap':
        least(28)
        names, at = [], 28
        for _ in range(u('I', 24)):
            end = raw.find(b'\0', at + 8)
            if at + 9 > length or end < 0:
                raise ValueError('jitmap entry outside of the frame')
            names.append((u('Q', at), text(raw[at + 8:end])))
            at = end + 1
        frame.update(names=names)
    elif name == 'ctrdef':
        least(32)
        counters = []
        for i in range(u('H', 24)):
            at = 32 + 128 * i
            if at + 128 > length:
                raise ValueError('too many counters')
            counters.append({'category': text(raw[at:at + 32]), 'name': text(raw[at + 32:at + 64]),
                             'description': text(raw[at + 64:at + 116]),
                             'id': int.from_bytes(raw[at + 116:at + 119], 'big' if big else 'little'),
                             'kind': raw[at + 119], 'value': u('Q', at + 120)})
        frame.update(counters=counters)
    elif name == 'ctrset':
        least(32)
        groups = []
        for i in range(u('H', 24)):
            at = 32 + 96 * i
            if at + 96 > length:
                raise ValueError('too many groups')
            groups.append([(u('I', at + 4 * k), u('Q', at + 32 + 8 * k)) for k in range(8) if u('I', at + 4 * k)])
        frame.update(values=Values(value for group in groups for value in group))
        frame['values'].groups = groups
    elif name == 'mark':
        least(97)
        frame.update(duration=u('q', 24), group=text(raw[32:56]), name=text(raw[56:96]), message=text(raw[96:]))
    elif name == 'metadata':
        least(65)
        frame.update(id=text(raw[24:64]), value=text(raw[64:]))
    elif name == 'log':
        least(65)
        frame.update(severity=u('H', 24), domain=text(raw[32:64]), message=text(raw[64:]))
    elif name == 'file':
        least(284)
        word, size = u('H', 24), u('H', 26)
        if 284 + size > length:
            raise ValueError('file data outside of the frame')
        frame.update(is_last=bool(word >> 15 if big else word & 1), path=text(raw[28:284]),
                     data=bytes(raw[284:284 + size]))
    elif name == 'overlay':
        least(34)
        src, dst = u('H', 28), u('H', 30)
        if 32 + src + 1 + dst + 1 > length:
            raise ValueError('paths outside of the frame')
        frame.update(layer=raw[24], src=text(raw[32:32 + src]), dst=text(raw[33 + src:33 + src + dst]))
    elif name == 'dbus':
        least(28)
        word, size = u('H', 24), u('H', 26)
        if 28 + size > length:
            raise ValueError('message outside of the frame')
        frame.update(bus=word >> 14 if big else word & 3, flags=word & 0x3fff if big else word >> 2,
                     message=bytes(raw[28:28 + size]))
    elif name == 'unknown':
        frame.update(number=number, payload=bytes(raw[24:]))
    return frame


def decode(data, keep_damaged=False):
    """All frames up to where no frame can be. One that contradicts itself is left out, or has the type 'damaged'."""
    if len(data) < 256 or data[:4] != MAGIC:
        raise ValueError('not a capture')
    order = '<' if data[5] & 1 else '>'
    time, end_time, index = struct.unpack_from(order + 'qqQ', data, 72)
    capture = Capture(order == '>', data[4], text(data[8:72]), time, end_time, index)
    at = 256
    while at + 24 <= len(data):
        length = struct.unpack_from(order + 'H', data, at)[0]
        if length < 24 or length % 8 or at + length > len(data):
            break
        try:
            frame = decode_frame(data[at:at + length], order)
        except ValueError:
            _, cpu, pid, time = struct.unpack_from(order + 'Hhiq', data, at)
            frame = {'type': 'damaged', 'cpu': cpu, 'pid': pid, 'time': time} if keep_damaged else None
        if frame is not None:
            frame.update(at=at, len=length)
            capture.frames.append(frame)
        at += length
    capture.rest = len(data) - at
    return capture


def whole(data, odd=False):
    """A capture as we record them, without its index; ValueError tells a fault. Frames of types that the format does not have
    are left out where `odd` says that there may be some."""
    capture = decode(data, keep_damaged=True)
    if capture.big_endian or capture.version != 1:
        raise ValueError('not a little-endian capture of version 1')
    if capture.rest:
        raise ValueError(f'no frame at {len(data) - capture.rest} of {len(data)}')
    for frame in capture.frames:
        if frame['type'] == 'damaged' or frame['type'] == 'unknown' and not odd:
            raise ValueError(f"frame at {frame['at']} of {len(data)} is {frame['type']}")
    capture.frames = [frame for frame in capture.frames if frame['type'] not in ('unknown', 'frame-index')]
    return capture


def read_symbol_table(data, order='<'):
    """The embedded file '__symbols__': (begin, end, pid, name, tag) of each entry."""
    entries, at = [], 0
    while True:
        begin, end, pid, name, tag, padding = struct.unpack_from(order + 'QQIIII', data, at)
        if not (begin or end or pid or name):
            return entries
        assert padding == 0
        entries.append((begin, end, pid, text(data[name:]), text(data[tag:]) if tag else ''))
        at += 32
