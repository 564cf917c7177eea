# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the capture that test-kinds.c knows by heart: a frame of each kind, in both byte orders.

usage: make-kinds.py LITTLE BIG
"""
import gzip
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'data'))
from captures import JIT, KERNEL, USER, Capture  # noqa: E402

MOUNTS = b'''22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
36 22 98:7 /a\\040b /mnt/with\\040blank rw - fuse.portal portal rw,user_id=1000
no line of that table
'''
CPUS = b'''processor\t: 0
model name\t: Example CPU @ 3 GHz
core id\t\t: 4

processor\t: 1
core id\t\t: 4
'''


def string(value):
    data = value.encode()
    return struct.pack('<I', len(data)) + data + b'\0'


def align(data, size=8):
    return data + bytes(-len(data) % size)


def method_call():
    """As the D-Bus specification lays it out: serial 7, a string as its body."""
    fields = b''
    for code, kind, value in ((1, 'o', '/org/example'), (2, 's', 'org.example.Face'), (3, 's', 'Look'),
                              (6, 's', 'org.example.Target'), (7, 's', ':1.5')):
        fields = align(fields) + bytes([code, 1]) + kind.encode() + b'\0' + string(value)
    fields = align(fields) + bytes([8, 1]) + b'g\0' + b'\1s\0'
    body = string('hello')
    head = b'l' + bytes([1, 1, 1]) + struct.pack('<III', len(body), 7, len(fields)) + fields
    return align(head) + body


for path, big in (sys.argv[1], False), (sys.argv[2], True):
    capture = Capture(time=1_000, end_time=90_000, big=big)
    capture.process('/usr/bin/example --run', time=1_000, pid=10)
    capture.map(0x10000, 0x20000, '/usr/lib/libexample.so', offset=0x1000, inode=99, build_id='abcdef0123', time=1_001, pid=10)
    capture.map(0x30000, 0x40000, '[stack]', time=1_002, pid=10)
    capture.fork(11, time=1_003, pid=10)
    capture.exit(time=50_000, pid=10)
    capture.jitmap([(JIT + 1, 'first'), (JIT + 2, 'second')], time=1_004, pid=10)
    capture.ctrdef([(3, 'Disk', 'Reads', 'of /dev/sda', False), (4, 'Load', 'All', '', True)], time=1_005)
    capture.ctrset([(3, 77), (4, 0.5)], time=1_006)
    capture.metadata('key', 'value \xe4', time=1_007)
    capture.log('domain', b'broken \xff text', severity=16, time=1_008, pid=10)
    capture.overlay('/over/diff', '/', layer=2, time=1_009, pid=10)
    capture.dbus(method_call(), bus=2, time=1_010, pid=10)
    capture.dbus(b'no message', bus=1, time=1_011, pid=10)
    capture.allocation(0x5000, 64, [0x10010, 0x10020], tid=12, time=1_012, pid=10)
    capture.allocation(0x5000, 0, [0x10030], tid=12, time=1_013, pid=10)
    capture.trace([0x10040], tid=10, time=1_014, pid=10)
    capture.sample([KERNEL, 0xffffffff81000000, USER, 0x10050], tid=12, time=1_015, pid=10)
    capture.sample([0x10060], tid=10, time=1_016, pid=10)
    capture.file('/proc/10/mountinfo', MOUNTS, time=1_017)
    capture.file('/proc/cpuinfo', CPUS, time=1_018)
    capture.file('two.txt', b'one, ', is_last=False, time=1_019)
    capture.file('two.txt', b'two', time=1_020)
    capture.file('packed.txt.gz', gzip.compress(b'was packed' * 100, mtime=0), time=1_021)
    for at, (group, name, duration) in enumerate((('b', 'y', 10), ('a', 'x', 30), ('b', 'y', 20), ('b', 'y', 0),
                                                  ('b', 'y', 60), ('b', 'z', 5))):
        capture.mark(group, name, '', duration=duration, time=2_000 + at)
    pathlib.Path(path).write_bytes(capture.data)
