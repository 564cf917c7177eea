#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs with the collector of Sysprof 3.46 under our recorder: a program linked with Debian's library, and
Debian's GTK 4, whose marks must arrive as they do at Debian's recorder.

usage: test-programs.py WITH_DEBIAN_RECORDER SYSPROF_CLI TARGET PEER_TARGET GTK_FRAMES
"""
import collections
import os
import subprocess
import sys
import tempfile
import unittest

import decoder

RECORDER, CLI, TARGET, PEER_TARGET, GTK_FRAMES = sys.argv[1:6]
del sys.argv[1:6]
ONLY_PROGRAM = ('--no-perf', '--no-cpu', '--no-disk', '--no-memory', '--no-network', '--no-battery', '--no-pressure', '--no-gpu',
                '--no-system-log', '--no-graphics-info', '--no-process-usage', '--no-recorder', '--no-decode', '--exit-status')
N_FRAMES = 100


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'out')

    def record(self, command, before=(CLI, *ONLY_PROGRAM)):
        done = subprocess.run([*before, '-f', self.path, '--', *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        return decoder.Capture.open(self.path)

    def reported(self, program, *arguments):
        """The frames of the program, without what differs from run to run."""
        # Sysprof 3.46 frees nothing of a thread's collector.
        capture = self.record(['env', 'ASAN_OPTIONS=detect_leaks=0', program, *arguments])
        own = [f for f in capture.frames if f['type'] in ('mark', 'log', 'allocation', 'sample')]
        pids = {f['pid'] for f in own}
        own += [f for f in capture.frames if f['type'] in ('ctrdef', 'ctrset') and f['pid'] in pids]
        for frame in own:
            if frame['type'] != 'mark':
                frame['time'] = 0
        return [{k: v for k, v in f.items() if k not in ('at', 'len', 'pid', 'tid', 'cpu')} for f in own]

    def test_both_libraries_are_recorded_alike(self):
        ours, theirs = self.reported(TARGET, 'all'), self.reported(PEER_TARGET, 'all')
        self.assertEqual(collections.Counter(f['type'] for f in ours),
                         {'mark': 4, 'log': 2, 'sample': 2, 'allocation': 2, 'ctrdef': 1, 'ctrset': 1})
        self.assertEqual(ours, theirs)

    def test_threads(self):
        theirs = self.reported(PEER_TARGET, 'threads', '200', '50')
        self.assertEqual(collections.Counter(f['time'] for f in theirs), dict.fromkeys(range(50), 200))

    def test_gtk(self):
        command = ['/usr/bin/python3', GTK_FRAMES, str(N_FRAMES)]  # of the system's Python, which has its bindings
        ours = self.record(command)
        theirs = self.record(command, before=(RECORDER, '/usr/bin/sysprof-cli', '--no-perf'))
        drawn = [collections.Counter((f['group'], f['name']) for f in capture.of('mark')) for capture in (ours, theirs)]
        self.assertEqual(drawn[0]['gtk', 'frameclock paint'], N_FRAMES)
        self.assertEqual(drawn[0], drawn[1])
        for capture in ours, theirs:
            pid, = {f['pid'] for f in capture.of('mark')}
            defined = {c['id']: c['name'] for f in capture.of('ctrdef') if f['pid'] == pid for c in f['counters']}
            self.assertTrue({'fps', 'frame pixels'} <= set(defined.values()))
            values = collections.Counter(defined[i] for f in capture.of('ctrset') if f['pid'] == pid for i, _ in f['values'])
            self.assertGreaterEqual(values['frame pixels'], N_FRAMES)


if __name__ == '__main__':
    unittest.main()
