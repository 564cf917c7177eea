#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows a recording that Debian's sysprof-cli 3.46 made of the allocations of a real program. The numbers on the screen must be those
that are counted here from the frames of the capture.

usage: test-memory.py SYSPROF SYSPROF_REPORT
"""
import collections
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import desktop

desktop.enter()
import decoder  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parent.parent
RECORDED = ['/usr/bin/sort', '/etc/passwd', '/etc/group']
Count = collections.namedtuple('Count', 'number size')


def record(path):
    environment = {name: value for name, value in os.environ.items() if name != 'G_DEBUG'}  # that program has criticals
    done = subprocess.run([TESTS / 'peers/with-debian-recorder', 'sysprof-cli', '-f', '--memprof', '--no-perf', path, '--', *RECORDED],
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode == 77:
        raise unittest.SkipTest(done.stderr.decode())
    assert done.returncode == 0, done.stderr


class Heap:
    """All allocations, those never freed, and those that their thread freed at once, by the logarithm of their size; greatest use."""

    def __init__(self, path):
        frames = decoder.decode(path.read_bytes()).frames
        events = sorted((frame for frame in frames if frame['type'] == 'allocation'), key=lambda frame: frame['time'])
        blocks, last = {}, {}
        in_use = self.peak = 0
        temporary, self.all = [], []
        for event in events:
            block, thread = (event['pid'], event['address']), event['tid']
            freed = blocks.pop(block, None)
            in_use -= freed['size'] if freed else 0
            if event['size'] <= 0:
                if freed is not None and last.get(thread) is freed:
                    temporary.append(freed)
                last[thread] = None
            else:
                self.all.append(event)
                blocks[block] = last[thread] = event
                in_use += event['size']
            self.peak = max(self.peak, in_use)
        self.leaks, self.temporaries = list(blocks.values()), temporary

    @staticmethod
    def count(events):
        return Count(len(events), sum(event['size'] for event in events))


def short(size):
    """As the application shortens sizes: three digits."""
    for unit, factor in (('GB', 10**9), ('MB', 10**6), ('kB', 10**3)):
        if size >= factor:
            return f'{size / factor:.3g} {unit}'
    return f'{size} B'


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(cls.folder.name, 'heap.syscap')
        record(path)
        cls.heap = Heap(path)
        cls.app = desktop.Application(desktop.PROGRAM, path)
        cls.app.wait_for('heap.syscap', 'frame')

    @classmethod
    def tearDownClass(cls):
        cls.app.close()
        cls.folder.cleanup()

    def test_holds_what_is_compared(self):
        for events in (self.heap.all, self.heap.leaks, self.heap.temporaries):
            self.assertGreater(len(events), 3)

    def test_bytes_of_panes(self):
        for view, events in (('allocations', self.heap.all), ('leaks', self.heap.leaks), ('temporaries', self.heap.temporaries)):
            self.app.show(f'memory/{view}')
            size = short(self.heap.count(events).size)
            self.app.wait_for(lambda name: re.match(rf'All Processes, .*, {re.escape(size)} +100.0 %$', name))
        self.app.wait_for('Size')

    def test_number_as_weight(self):
        self.app.show('memory/allocations')
        self.app.wait_for('Allocated Bytes')
        for weight, figure in (('count', f'{len(self.heap.all):,}'), ('bytes', short(self.heap.count(self.heap.all).size))):
            self.app.change('heap-weight', self.app.GLib.Variant('s', weight))
            self.app.wait_for(lambda name: re.match(rf'All Processes, .*, {re.escape(figure)} +100.0 %$', name))
        self.app.wait_for('Allocated Bytes')

    def test_summary(self):
        self.app.show('memory/summary')
        self.app.wait_for(lambda name: name.startswith('All, '))
        rows = [re.findall(r', (\d[\d,]*)(?=,|$|   )', name) for name in self.app.names() if re.match(r'(All|[\d.]+(\sKiB)? – .*), ', name)]
        found = [[int(number.replace(',', '')) for number in row] for row in rows]
        classes = [collections.Counter(event['size'].bit_length() for event in events)
                   for events in (self.heap.all, self.heap.temporaries, self.heap.leaks)]
        sizes = [[counter[key] for counter in classes] for key in sorted(classes[0])]
        sums = [len(self.heap.all), len(self.heap.temporaries), len(self.heap.leaks)]
        self.assertEqual(found, [sums, *sizes])

    def test_memory_in_use(self):
        self.app.show('memory/allocations')
        self.app.wait_for(lambda name: name == f'0 – {short(self.heap.peak)}')
        self.app.wait_for_figures('Memory in use', f' to {short(self.heap.peak)}, mean ')


if __name__ == '__main__':
    desktop.main()
