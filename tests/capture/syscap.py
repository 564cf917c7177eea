# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures in Python, written from the format's description alone: what the C library must agree with.

decode(bytes) -> Capture; encode(frames, big_endian=…) -> bytes. A frame is a dict with 'type' (its word in our commands), 'cpu',
'pid', 'time' and the members that its type has. Unused bytes are written as 0.
"""
import struct
from dataclasses import dataclass, field

MAGIC = bytes.fromhex('5e97cafd')
TYPES = {1: 'timestamp', 2: 'sample', 3: 'map', 4: 'process', 5: 'fork', 6: 'exit', 7: 'jitmap',
         8: 'ctrdef', 9: 'ctrset', 10: 'mark', 11: 'metadata', 12: 'log', 13: 'file',
         14: 'allocation', 15: 'overlay', 16: 'trace', 17: 'dbus'}
NUMBERS = {name: number for number, name in TYPES.items()}
INDEX_MARK = 0x53504958


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

    def counts(self):
        counts = {}
        for frame in self.frames:
            counts[frame['type']] = counts.get(frame['type'], 0) + 1
        return counts


def text(data):
    return data.split(b'\0', 1)[0].decode('utf-8', 'surrogateescape')


def fixed(value, size):
    return value.encode('utf-8', 'surrogateescape')[:size - 1].ljust(size, b'\0')


def decode_frame(raw, order):
    """`raw` is one whole frame. Raises ValueError if it contradicts itself."""
    def u(fmt, at):
        return struct.unpack_from(order + fmt, raw, at)[0]

    length, cpu, pid, time = struct.unpack_from(order + 'Hhiq', raw, 0)
    number, padding2 = raw[16], u('I', 20)
    frame = {'type': TYPES.get(number, 'unknown'), 'cpu': cpu, 'pid': pid, 'time': time}
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
            if big:
                identifier, kind = int.from_bytes(raw[at + 116:at + 119], 'big'), raw[at + 119]
            else:
                identifier, kind = int.from_bytes(raw[at + 116:at + 119], 'little'), raw[at + 119]
            counters.append({'category': text(raw[at:at + 32]), 'name': text(raw[at + 32:at + 64]),
                             'description': text(raw[at + 64:at + 116]), 'id': identifier, 'kind': kind,
                             'value': u('Q', at + 120)})
        frame.update(counters=counters)
    elif name == 'ctrset':
        least(32)
        values = []
        for i in range(u('H', 24)):
            at = 32 + 96 * i
            if at + 96 > length:
                raise ValueError('too many groups')
            for k in range(8):
                if u('I', at + 4 * k):
                    values.append((u('I', at + 4 * k), u('Q', at + 32 + 8 * k)))
        frame.update(values=values)
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
            frame['at'], frame['len'] = at, length
            capture.frames.append(frame)
        except ValueError:
            if keep_damaged:
                capture.frames.append({'type': 'damaged', 'at': at, 'len': length})
        at += length
    capture.rest = len(data) - at
    return capture


def encode_frame(frame, order):
    big = order == '>'

    def p(fmt, *values):
        return struct.pack(order + fmt, *values)

    def stack(addrs):
        return p(f'{len(addrs)}Q', *addrs)

    def nul(value):
        return value.encode('utf-8', 'surrogateescape') + b'\0'

    name = frame['type']
    padding2 = 0
    number = NUMBERS.get(name, frame.get('number', 0))
    if name in ('timestamp', 'exit'):
        body = b''
    elif name == 'frame-index':
        number, padding2, body = 1, INDEX_MARK, p('Q', frame['previous'])
    elif name == 'sample':
        body = p('HHi', len(frame['addrs']), 0, frame['tid']) + stack(frame['addrs'])
    elif name == 'trace':
        bit = (0x8000 if big else 1) if frame['entering'] else 0
        body = p('HHi', len(frame['addrs']), bit, frame['tid']) + stack(frame['addrs'])
    elif name == 'allocation':
        body = p('QqiHH', frame['address'], frame['size'], frame['tid'], len(frame['addrs']), 0) + stack(frame['addrs'])
    elif name == 'map':
        body = p('4Q', frame['start'], frame['end'], frame['offset'], frame['inode']) + nul(frame['path'])
        if frame.get('build_id'):
            body += b'@' + nul(frame['build_id'])
    elif name == 'process':
        body = nul(frame['command_line'])
    elif name == 'fork':
        body = p('i', frame['child_pid'])
    elif name == 'jitmap':
        body = p('I', len(frame['names'])) + b''.join(p('Q', a) + nul(t) for a, t in frame['names'])
    elif name == 'ctrdef':
        body = p('H', len(frame['counters'])) + bytes(6)
        for c in frame['counters']:
            bits = c['id'].to_bytes(3, 'big' if big else 'little') + bytes([c['kind']])
            body += fixed(c['category'], 32) + fixed(c['name'], 32) + fixed(c['description'], 52) + bits + p('Q', c['value'])
    elif name == 'ctrset':
        values = frame['values']
        groups = [values[i:i + 8] for i in range(0, len(values), 8)]
        body = p('H', len(groups)) + bytes(6)
        for group in groups:
            group = group + [(0, 0)] * (8 - len(group))
            body += p('8I', *(i for i, _ in group)) + p('8Q', *(v for _, v in group))
    elif name == 'mark':
        body = p('q', frame['duration']) + fixed(frame['group'], 24) + fixed(frame['name'], 40) + nul(frame['message'])
    elif name == 'metadata':
        body = fixed(frame['id'], 40) + nul(frame['value'])
    elif name == 'log':
        body = p('H', frame['severity']) + bytes(6) + fixed(frame['domain'], 32) + nul(frame['message'])
    elif name == 'file':
        bit = (0x8000 if big else 1) if frame['is_last'] else 0
        body = p('HH', bit, len(frame['data'])) + fixed(frame['path'], 256) + frame['data']
    elif name == 'overlay':
        src, dst = nul(frame['src']), nul(frame['dst'])
        body = bytes([frame['layer'], 0, 0, 0]) + p('HH', len(src) - 1, len(dst) - 1) + src + dst
    elif name == 'dbus':
        word = frame['bus'] << 14 | frame['flags'] if big else frame['bus'] | frame['flags'] << 2
        body = p('HH', word, len(frame['message'])) + frame['message']
    else:
        body = frame['payload']
    body += bytes(-(24 + len(body)) % 8)
    return p('Hhiq', 24 + len(body), frame['cpu'], frame['pid'], frame['time']) + bytes([number, 0, 0, 0]) + p('I', padding2) + body


def encode(frames, big_endian=False, time=0, end_time=0, capture_time='2020-01-02T03:04:05Z', last_frame_index=0):
    order = '>' if big_endian else '<'
    header = MAGIC + bytes([1, 0 if big_endian else 1, 0, 0]) + fixed(capture_time, 64)
    header += struct.pack(order + 'qqQ', time, end_time, last_frame_index)
    return header.ljust(256, b'\0') + b''.join(encode_frame(f, order) for f in frames)


def build_symbol_table(entries, order='<', inclusive=False):
    """(pid, begin, end, name, tag) → the embedded file '__symbols__', in the layout of version 45 (or that of 3.46)."""
    entries = sorted(entries, key=lambda e: (e[0], e[1]))
    head = (len(entries) + 1) * 32
    strings = b'' if inclusive else b'\0'
    body = b''

    def put(value):
        nonlocal strings
        at = head + len(strings)
        strings += value.encode() + b'\0'
        return at

    for pid, begin, end, name, tag in entries:
        body += struct.pack(order + 'QQIIII', begin, end, pid, put(name), put(tag) if tag else 0, 0)
    return body + bytes(32) + strings


def read_symbol_table(data, order='<'):
    entries, at = [], 0
    while True:
        begin, end, pid, name, tag, _ = struct.unpack_from(order + 'QQIIII', data, at)
        if not (begin or end or pid or name):
            return entries
        entries.append((pid, begin, end, text(data[name:]), text(data[tag:]) if tag else ''))
        at += 32


def read_embedded(capture, path):
    """The embedded file of that name, None if there is none."""
    data = None
    for frame in capture.frames:
        if frame['type'] == 'file' and frame['path'] == path:
            data = (data or b'') + frame['data']
            if frame['is_last']:
                break
    return data
