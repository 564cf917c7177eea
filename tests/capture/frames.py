# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of every type, and how the program dump-capture prints them."""
import json
import subprocess

import decoder
import emulator

STACK = [0xffffffffffffff80, 0xffffffff81000010, 0xfffffffffffffe00, 0x401000, 0xe000000000000001]


def of_every_type():
    return [
        {'type': 'timestamp', 'cpu': 2, 'pid': 345, 'time': 1000000001},
        {'type': 'jitmap', 'cpu': -1, 'pid': 346, 'time': 1000000002,
         'names': [(0xe000000000000001, 'one'), (0xe000000000000002, ''), (0xe000000000000003, 'drei ⇒')]},
        {'type': 'sample', 'cpu': 1, 'pid': 345, 'time': 1000000003, 'tid': 346, 'addrs': STACK},
        {'type': 'sample', 'cpu': -1, 'pid': -1, 'time': -5, 'tid': -1, 'addrs': []},
        {'type': 'map', 'cpu': -1, 'pid': 345, 'time': 1000000004, 'start': 0x400000, 'end': 1 << 63, 'offset': 0x1000,
         'inode': 987654, 'path': '/usr/bin/foo', 'build_id': ''},
        {'type': 'map', 'cpu': 0x1234, 'pid': 345, 'time': 1000000005, 'start': 1, 'end': 2, 'offset': 3, 'inode': 4,
         'path': '', 'build_id': '0123456789abcdef0123456789abcdef01234567'},
        {'type': 'process', 'cpu': -1, 'pid': 345, 'time': 1000000006, 'command_line': 'foo --bar'},
        {'type': 'fork', 'cpu': 0, 'pid': 345, 'time': 1000000007, 'child_pid': 399},
        {'type': 'exit', 'cpu': 0, 'pid': 345, 'time': 1000000008},
        {'type': 'ctrdef', 'cpu': -1, 'pid': -1, 'time': 1000000009, 'counters': [
            {'category': 'CPU', 'name': 'Total', 'description': 'd' * 51, 'id': 1, 'kind': 1, 'value': 0x3ff8000000000000},
            {'category': 'c' * 31, 'name': 'n' * 31, 'description': '', 'id': 0xabcdef, 'kind': 0, 'value': 7}]},
        {'type': 'ctrset', 'cpu': -1, 'pid': -1, 'time': 1000000010,
         'values': [(i, i << 40) for i in range(1, 12)]},
        {'type': 'mark', 'cpu': 3, 'pid': 345, 'time': 1000000011, 'duration': 1 << 40, 'group': 'g' * 23,
         'name': 'n' * 39, 'message': 'a message'},
        {'type': 'metadata', 'cpu': -1, 'pid': -1, 'time': 1000000012, 'id': 'i' * 39, 'value': 'value'},
        {'type': 'log', 'cpu': 0, 'pid': 345, 'time': 1000000013, 'severity': 0x8010, 'domain': 'Gtk',
         'message': 'a log message'},
        {'type': 'file', 'cpu': -1, 'pid': -1, 'time': 1000000014, 'is_last': False, 'path': 'p' * 255,
         'data': bytes(range(256))},
        {'type': 'file', 'cpu': -1, 'pid': -1, 'time': 1000000015, 'is_last': True, 'path': 'p' * 255, 'data': b''},
        {'type': 'allocation', 'cpu': 1, 'pid': 345, 'time': 1000000016, 'address': 0xdeadbeef000, 'size': 4096,
         'tid': 346, 'addrs': [0x7f0000001000, 0x7f0000001001]},
        {'type': 'overlay', 'cpu': -1, 'pid': 345, 'time': 1000000017, 'layer': 7, 'src': '/src/diff', 'dst': '/'},
        {'type': 'trace', 'cpu': 1, 'pid': 345, 'time': 1000000018, 'tid': 346, 'entering': True, 'addrs': STACK},
        {'type': 'trace', 'cpu': 1, 'pid': 345, 'time': 1000000019, 'tid': 346, 'entering': False, 'addrs': [1]},
        {'type': 'dbus', 'cpu': -1, 'pid': -1, 'time': 1000000020, 'bus': 2, 'flags': 0x1235, 'message': b'l\1\0\1hello'},
    ]


def hexed(value):
    data = value if isinstance(value, bytes) else value.encode('utf-8', 'surrogateescape')
    return data.hex()


def as_dumped(frame):
    """Returns the line that dump-capture prints for a frame of decoder.py."""
    out = {k: v for k, v in frame.items() if k not in ('at', 'len', 'description')}
    out['type'] = decoder.NUMBERS[frame['type']]
    if frame['type'] == 'jitmap':
        out['names'] = [{'address': a, 'name': hexed(n)} for a, n in frame['names']]
    elif frame['type'] == 'ctrdef':
        out['counters'] = [{k: hexed(v) if isinstance(v, str) else v for k, v in c.items()} for c in frame['counters']]
    elif frame['type'] == 'ctrset':
        out['values'] = [list(pair) for pair in frame['values']]
    return {k: hexed(v) if isinstance(v, (str, bytes)) else v for k, v in out.items()}


def all_dumped(every, knows_index=True):
    """Returns the lines that dump-capture prints for these frames. A writer adds an index after every 65,536
    frames. Our reader skips it. The reader of Sysprof 3.46 does not know it and passes it on as a
    timestamp."""
    printed = []
    for frame in every:
        if frame['type'] != 'frame-index':
            printed.append(as_dumped(frame))
        elif not knows_index:
            printed.append(as_dumped({**{name: frame[name] for name in ('cpu', 'pid', 'time')}, 'type': 'timestamp'}))
    return printed


def dump(program, path):
    """(header, frames) as dump-capture prints them."""
    result = subprocess.run([*emulator.command(program), path], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return lines[0], lines[1:]
