#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The capture library and Debian's 3.46: each reads what the other writes, and programs are interchangeable.

usage: test-capture.py WITH_DEBIAN_RECORDER DUMP WRITE TARGET JOIN PEER_DUMP PEER_WRITE PEER_TARGET
"""
import collections
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import captures
import decoder
import frames

RECORDER, DUMP, WRITE, TARGET, JOIN, PEER_DUMP, PEER_WRITE, PEER_TARGET = sys.argv[1:9]
del sys.argv[1:9]
LATE = ('trace', 'dbus')  # the peer stops at them


def plain(content, *without):
    return [{k: v for k, v in f.items() if k not in ('at', 'len', *without)} for f in content]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, data):
        with open(self.path(name), 'wb') as f:
            f.write(data)
        return self.path(name)

    def decode(self, path):
        with open(path, 'rb') as f:
            capture = decoder.decode(f.read())
        self.assertEqual(capture.rest, 0)
        return capture

    def write(self, program, name):
        subprocess.run([program, self.path(name)], check=True)
        return self.path(name)


class Files(Case):
    def test_peer_reads_ours(self):
        ours = self.write(WRITE, 'ours')
        self.assertEqual(frames.dump(PEER_DUMP, ours), frames.dump(DUMP, ours))
        self.assertEqual(len(frames.dump(PEER_DUMP, ours)[1]), len(self.decode(ours).frames))

    def test_we_read_the_peers(self):
        theirs = self.write(PEER_WRITE, 'theirs')
        self.assertEqual(frames.dump(PEER_DUMP, theirs), frames.dump(DUMP, theirs))

    def test_both_read_every_type_that_the_peer_knows(self):
        content = [f for f in frames.of_every_type() if f['type'] not in LATE]
        path = self.file('in', captures.encode(content, time=1, end_time=2))
        self.assertEqual(frames.dump(PEER_DUMP, path), frames.dump(DUMP, path))
        self.assertEqual(len(frames.dump(PEER_DUMP, path)[1]), len(content))

    def test_peer_skips_the_frame_index(self):
        content = [f for f in frames.of_every_type() if f['type'] not in LATE]
        index = {'type': 'frame-index', 'cpu': -1, 'pid': -1, 'time': 3, 'previous': 0}
        path = self.file('in', captures.encode([index, *content]))
        peer = frames.dump(PEER_DUMP, path)[1]
        self.assertEqual(peer[0]['type'], 1)
        self.assertEqual(peer[1:], frames.dump(DUMP, path)[1])

    def test_same_calls_give_the_same_bytes(self):
        ours, theirs = self.decode(self.write(WRITE, 'ours')), self.decode(self.write(PEER_WRITE, 'theirs'))
        for capture in ours, theirs:
            for frame in capture.frames:
                if frame['type'] == 'jitmap':
                    frame.update(time=0, pid=0)
        self.assertEqual(plain(ours.frames), plain(theirs.frames))
        # Lengths, places and order as well; padding is left out on both sides.
        self.assertEqual([(f['at'], f['len']) for f in ours.frames], [(f['at'], f['len']) for f in theirs.frames])
        self.assertEqual(captures.encode(ours.frames), captures.encode(theirs.frames))


@unittest.skipIf(shutil.which('sysprof-cli') is None, 'sysprof-cli is not installed')
class Merge(Case):
    def merge(self, *inputs):
        with open(self.path('merged'), 'wb') as out:
            subprocess.run(['/usr/bin/sysprof-cli', '--merge', *inputs], stdout=out, check=True)
        return self.decode(self.path('merged'))

    def test_peer_joins_ours(self):
        a, b = self.write(WRITE, 'a'), self.write(WRITE, 'b')
        n_alone = self.decode(a).counts()
        merged = self.merge(a, b)
        n_merged = merged.counts()
        for name, n in n_alone.items():
            if name == 'jitmap':
                self.assertGreaterEqual(n_merged[name], 1)
            else:
                self.assertEqual(n_merged[name], 2 * n, name)
        # Metadata grows there, and stacks of allocations keep their addresses; else it is what we join.
        subprocess.run([JOIN, 'cat', self.path('ours'), a, b], check=True)
        kinds = ('sample', 'map', 'process', 'fork', 'exit', 'ctrdef', 'ctrset', 'mark', 'metadata', 'log', 'file')
        self.assertEqual([f for f in plain(merged.frames) if f['type'] in kinds],
                         [f for f in plain(self.decode(self.path('ours')).frames) if f['type'] in kinds])

    def test_peer_joins_what_we_joined(self):
        a, b = self.write(WRITE, 'a'), self.write(PEER_WRITE, 'b')
        subprocess.run([JOIN, 'join', self.path('c'), a, b], check=True)
        n_alone = self.decode(self.path('c')).counts()
        n_merged = self.merge(self.path('c'), a).counts()
        for name, n in self.decode(a).counts().items():
            if name != 'jitmap':
                self.assertEqual(n_merged[name], n_alone[name] + n, name)


class Recorder(Case):
    def record(self, *command, options=('--no-perf',)):
        result = subprocess.run([RECORDER, '/usr/bin/sysprof-cli', '-f', *options, self.path('out'), '--', *command],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if result.returncode == 77:
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.decode(self.path('out'))

    def reported(self, program, *arguments):
        """Returns the output of the program without parts that differ from run to run."""
        capture = self.record(program, *arguments)
        own = [f for f in capture.frames if f['type'] in ('mark', 'log', 'allocation', 'sample')]
        pids = {f['pid'] for f in own}
        own += [f for f in capture.frames if f['type'] in ('ctrdef', 'ctrset') and f['pid'] in pids]
        first = min((c['id'] for f in own for c in f.get('counters', ())), default=0)
        for frame in own:
            for counter in frame.get('counters', ()):
                counter['id'] -= first
            if 'values' in frame:
                frame['values'] = [(i - first, v) for i, v in frame['values']]
            if frame['type'] != 'mark':
                frame['time'] = 0
        return plain(own, 'pid', 'tid', 'cpu')

    def test_programs_are_interchangeable(self):
        ours, theirs = self.reported(TARGET, 'all'), self.reported(PEER_TARGET, 'all')
        # All kinds of frames arrive through the ring; otherwise two programs without output would be equal,
        # too.
        self.assertEqual(collections.Counter(f['type'] for f in ours),
                         {'mark': 4, 'log': 2, 'sample': 2, 'allocation': 2, 'ctrdef': 1, 'ctrset': 1})
        self.assertEqual(ours, theirs)

    def test_programs_with_threads_are_interchangeable(self):
        ours, theirs = (sorted(self.reported(program, 'threads', '20', '50'), key=lambda f: f['time'])
                        for program in (TARGET, PEER_TARGET))
        self.assertEqual(len(ours), 20 * 50)
        self.assertEqual(ours, theirs)

    def test_more_than_a_ring_holds_arrives(self):
        # The collector of Sysprof 3.46 drops frames that do not fit at once; ours gives the recorder time.
        self.assertEqual([f['time'] for f in self.reported(TARGET, 'marks', '20000')], list(range(20000)))

    def test_child_reports_as_itself(self):
        own = [f for f in self.record(TARGET, 'fork').frames if f['type'] == 'mark']
        self.assertEqual(sorted(f['name'] for f in own), ['before', 'child', 'parent'])
        child = next(f for f in own if f['name'] == 'child')
        self.assertEqual(child['message'], str(child['pid']))

    def test_long_messages(self):
        own = self.reported(TARGET, 'long', '1000', '16000', '65431', '70000')
        self.assertEqual([len(f['message']) for f in own],
                         [1000, 1000, 1000, 1000, 16000, 16000, 16000, 2047,
                          65431, 65431, 65431, 2047, 65431, 65431, 65463, 2047])

    def test_recording_of_the_peer_is_read_alike(self):
        capture = self.record('sh', '-c', 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done', options=())
        counts = capture.counts()
        self.assertGreater(counts.get('sample', 0), 0)
        ours, theirs = frames.dump(DUMP, self.path('out')), frames.dump(PEER_DUMP, self.path('out'))
        self.assertEqual(ours, theirs)
        self.assertEqual(len(ours[1]), sum(counts.values()))


if __name__ == '__main__':
    unittest.main()
