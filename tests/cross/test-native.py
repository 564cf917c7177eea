#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures of one machine can be read on the other: compares a build for another machine with one for this
machine.

usage: NATIVE_BUILD=DIRECTORY test-native.py CROSS_BUILD WRITE-CAPTURE READER…
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import captures
import decoder
import emulator
import make_captures

CROSS, WRITER, *READERS = sys.argv[1:]
del sys.argv[1:]
NATIVE = os.environ.get('NATIVE_BUILD')
JIT_64, JIT_32 = 0xE000000000000000, 0xE0000000


def run(*command):
    """Returns its output without the remark on byte order."""
    return re.sub(rb'(?m)^swapped [01] ', b'', subprocess.run(command, capture_output=True, check=True).stdout)


def here(program, *arguments):
    return run(os.path.join(NATIVE, os.path.relpath(program, CROSS)), *arguments)


def there(program, *arguments):
    return run(*emulator.command(program), *arguments)


def same_names(value):
    """Marks of generated names as 64-bit programs write them."""
    if isinstance(value, (list, tuple)):
        return [same_names(item) for item in value]
    if isinstance(value, int) and JIT_32 < value < JIT_32 + 100:
        return value - JIT_32 + JIT_64
    return value


def comparable(capture):
    """Its frames without what differs from run to run: when names were written, and by whom."""
    out = []
    for frame in capture.frames:
        frame = {key: same_names(value) for key, value in frame.items()}
        if frame['type'] == 'jitmap':
            frame.update(time=0, pid=0)
        out.append(frame)
    return out


class Native(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.here, self.there = str(self.folder / 'here'), str(self.folder / 'there')

    def write(self):
        here(WRITER, self.here)
        there(WRITER, self.there)
        return [decoder.decode(pathlib.Path(path).read_bytes()) for path in (self.here, self.there)]

    def test_each_reads_what_the_other_wrote(self):
        self.write()
        for path in self.here, self.there:
            for reader in READERS:
                seen = here(reader, path)
                self.assertGreater(len(seen), 100, reader)
                self.assertEqual(there(reader, path), seen, (reader, path))

    def test_both_read_every_kind_of_frame_in_both_byte_orders(self):
        path = str(self.folder / 'made')
        little = bytes(make_captures.MADE['all-kinds']().data)
        for big in False, True:
            pathlib.Path(path).write_bytes(captures.encode(decoder.decode(little).frames, big_endian=big))
            for reader in READERS:
                self.assertEqual(there(reader, path), here(reader, path), (reader, big))

    def test_both_write_the_same(self):
        """The same calls make the same bytes, if not in the same order of each number's."""
        ours, theirs = self.write()
        frames = comparable(ours)
        self.assertEqual(comparable(theirs), frames)
        self.assertEqual(os.path.getsize(self.there), os.path.getsize(self.here))
        order = theirs.big_endian
        self.assertEqual(captures.encode(comparable(theirs), big_endian=order), captures.encode(frames, big_endian=order))
        for path, capture in (self.here, ours), (self.there, theirs):
            self.assertEqual(
                pathlib.Path(path).read_bytes(),
                captures.encode(capture.frames, big_endian=capture.big_endian, time=capture.time, end_time=capture.end_time,
                                capture_time=capture.capture_time))


if NATIVE is None:
    print('NATIVE_BUILD names no build for this machine; scripts/check-cross does')
    sys.exit(77)
unittest.main()
