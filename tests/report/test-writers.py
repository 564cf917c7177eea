#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures of each of the other writers are shown with the right numbers: by GJS, by Sysprof 3.46, by Sysprof
51. Their habits are those of docs/format.md; expected values are counted from the lists from which the
captures are made. Each capture is read in both byte orders, compressed, through a pipe, and truncated
within its last frame.
"""
import collections
import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'data'))
from captures import KERNEL, USER, Capture, symbol_table  # noqa: E402

REPORT = os.path.abspath(sys.argv.pop(1))
BEGIN = 7_000_000_000
JIT = 0xE000000000000000
MS = 1_000_000


def report(*words, stdin=None):
    done = subprocess.run([REPORT, *map(str, words), '--limit', '0', '--format', 'json'], input=stdin, capture_output=True)
    if done.returncode != 0:
        raise AssertionError(f'{words}: {done.stderr.decode()}')
    return json.loads(done.stdout)


class Writer:
    """The contents of a capture of that writer, as plain lists."""

    def __init__(self):
        self.stacks = []    # innermost first, of names or of None
        self.marks = {}     # (group, name): durations
        self.counters = {}  # (pid, category, name): values
        self.logs = []
        self.messages = 0
        self.processes = {}  # pid: samples


def by_gjs(big):
    """Its samples have neither thread nor CPU. All addresses are names of the JIT, and names come after their
    use; a name has another address after each flush. It has no process frames, no markers, and counter
    values only when they change."""
    self, c = Writer(), Capture(time=BEGIN, end_time=BEGIN + 200 * MS, big=big)
    names = ['fib g.js:1', 'sortThings g.js:2', '(anonymous) g.js:3']
    c.map(0x400000, 0x500000, '/usr/bin/gjs-console', 0x1000, 42, pid=77, time=BEGIN)
    c.ctrdef([(1, 'GJS', 'GC bytes', 'Bytes used in GC', False), (2, 'GJS', 'closure', '', False)], pid=77, time=BEGIN)
    for flush in range(2):
        for i in range(50):
            stack = [names[0]] * (i % 3) + [names[1 + i % 2]]
            c.sample([JIT | (1 + names.index(name) + 10 * flush) for name in stack], tid=-1, pid=77, time=BEGIN + (50 * flush + i) * MS)
            self.stacks.append(stack)
        c.jitmap([(JIT | (1 + i + 10 * flush), name) for i, name in enumerate(names)], pid=77, time=BEGIN + (50 * flush + 50) * MS)
        c.ctrset([(1, 1000 * (flush + 1))], pid=77, time=BEGIN + 60 * flush * MS)
        c.mark('GJS', 'Garbage collection', 'TOO_MUCH_MALLOC', 3 * MS + flush, pid=77, time=BEGIN + 90 * flush * MS)
    self.processes[77] = len(self.stacks)
    self.marks['GJS', 'Garbage collection'] = [3 * MS, 3 * MS + 1]
    self.counters[77, 'GJS', 'GC bytes'] = [1000, 2000]
    c.log('Gjs', 'the end', 16, pid=77, time=BEGIN + 150 * MS)
    self.logs.append(('Gjs', 'the end'))
    return self, c


def by_346(big):
    """Rubbish in paddings, ranges of symbols whose end is the last address, the kernel under each process, files in place of
    names; counters of other processes with the ids of its own, and rubbish behind their values; CPUs unknown."""
    self, c = Writer(), Capture(time=BEGIN, end_time=BEGIN + 200 * MS, big=big)
    base = 0xFFFFFFFF81000000
    table = [(0x401000, 0x401010, 10, 'work', 'prog'), (0x401100, 0x401100, 10, 'main', 'prog'),
             (0x402000, 0x402010, 10, 'In file /usr/bin/prog', 'prog'), (base, base + 8, 10, 'read', 'Kernel')]
    c.ctrdef([(1, 'Disk', 'Total Reads (sda)', 'sda', False), (2, 'CPU Percent', 'Combined', '', True)], time=BEGIN)
    c.metadata('local-profiler', '[profiler]\nwhole-system=true\n', time=BEGIN)
    c.process('/usr/bin/prog --run', pid=10, time=BEGIN).map(0x400000, 0x500000, '/usr/bin/prog', pid=10, time=BEGIN)
    c.ctrdef([(1, 'gtk', 'fps', 'frames', True), (2, 'gtk', 'frame pixels', '', False)], pid=10, time=BEGIN + 1)
    for i in range(60):
        stack = [['work', 'main'], [None, 'main'], ['read', 'work', 'main']][i % 3]
        places = {'work': 0x401010, 'main': 0x401100, None: 0x402008, 'read': base + 8}
        chain = [places[name] for name in stack]
        chain = [KERNEL, chain[0], USER, *chain[1:]] if stack[0] == 'read' else [USER, *chain]
        c.sample(chain, tid=10 + i % 2, rubbish=0x4141 + i, pid=10, time=BEGIN + i * MS)
        self.stacks.append(stack)
    for i in range(10):
        c.ctrset([(1, i), (2, 50.0 + i)], time=BEGIN + i * 10 * MS)
        c.ctrset([(1, 60.0 - i), (2, 100 + i), (65696, 0), (1, 2.0**80), (2, 2**62)], pid=10, time=BEGIN + i * 10 * MS + 5)
        c.mark('gtk', 'frameclock cycle', '', i * 1000, pid=10, cpu=i % 2, time=BEGIN + i * 10 * MS)
    self.processes[10] = 60
    self.counters = {(-1, 'Disk', 'Total Reads (sda)'): list(range(10)), (-1, 'CPU Percent', 'Combined'): [50.0 + i for i in range(10)],
                     (10, 'gtk', 'fps'): [60.0 - i for i in range(10)], (10, 'gtk', 'frame pixels'): [100 + i for i in range(10)]}
    self.marks['gtk', 'frameclock cycle'] = [i * 1000 for i in range(10)]
    c.chunked_file('__symbols__', symbol_table(table, '>' if big else '<'), time=BEGIN + 150 * MS)
    c.log('Sampler', 'the end', 8, time=BEGIN + 150 * MS)
    self.logs.append(('Sampler', 'the end'))
    return self, c


def by_51(big):
    """Indexes among its frames, traces stored as samples, compressed files, names of functions with whole ranges and the kernel's
    apart; D-Bus with GLib's numbers of buses; counters defined that are never set."""
    self, c = Writer(), Capture(time=BEGIN, end_time=BEGIN + 300 * MS, big=big)
    base = 0xFFFFFFFF81000000
    table = [(0x401000, 0x401100, 20, 'work', 'prog'), (0x401100, 0x401200, 20, 'main', 'prog')]
    c.metadata('org.gnome.sysprof.version', '51.0', time=BEGIN)
    c.file('/proc/kallsyms.gz', gzip.compress(f'{base:x} T do_read\n{base + 0x100:x} T other\n'.encode(), mtime=0), time=BEGIN)
    for number in 1, 2, 3:
        c.ctrdef([(number, 'Sampler', 'Lost Samples', '', False)], time=BEGIN)
    c.process('/usr/bin/prog', pid=20, time=BEGIN)
    c.map(0x400000, 0x500000, '/usr/bin/prog', 0, 9, '0123456789abcdef0123456789abcdef01234567', pid=20, time=BEGIN)
    previous = 0
    for i in range(90):
        stack = [['work', 'main'], ['do_read', 'main'], ['main']][i % 3]
        places = {'work': 0x401050, 'main': 0x401150, 'do_read': base + 0x20}
        chain = [places[name] for name in stack]
        chain = [KERNEL, chain[0], USER, *chain[1:]] if stack[0] == 'do_read' else [USER, *chain]
        # Every third came from a tracer: entering, then leaving.
        c.sample(chain, tid=20, rubbish=i % 2 if i % 3 == 2 else 0, pid=20, cpu=i % 4, time=BEGIN + i * MS)
        self.stacks.append(stack)
        if i % 30 == 29:
            at = len(c.data)
            c.index(previous, time=BEGIN + i * MS)
            previous = at
    c.data[88:96] = c.pack('Q', previous)
    c.ctrset([(3, 5)], time=BEGIN + 95 * MS).ctrset([(3, 12)], time=BEGIN + 96 * MS)
    for i in range(5):
        c.mark('Scheduler', 'CPU 1', 'prog', 1000 + i, pid=20, cpu=1, time=BEGIN + (100 + i) * MS)
    message = b'l\1\0\1' + bytes(4) + b'\1\0\0\0' + bytes(4)
    c.dbus(message, 1, time=BEGIN + 110 * MS).dbus(message, 2, time=BEGIN + 111 * MS)
    c.chunked_file('__symbols__.gz', gzip.compress(symbol_table(table, '>' if big else '<'), mtime=0), time=BEGIN + 120 * MS)
    c.log('GLib', 'the end', 32, pid=20, time=BEGIN + 150 * MS)
    self.processes[20] = 90
    self.counters[-1, 'Sampler', 'Lost Samples'] = [5, 12]
    self.marks['Scheduler', 'CPU 1'] = [1000 + i for i in range(5)]
    self.messages = 2
    self.logs.append(('GLib', 'the end'))
    return self, c


class Writers(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def check(self, writer, path, stdin=None):
        ask = lambda *words: report(*words, path, stdin=stdin)
        functions = ask('functions')
        self.assertEqual(functions['capture']['samples'], len(writer.stacks))
        own, total = collections.Counter(), collections.Counter()
        for stack in writer.stacks:
            own[stack[0]] += 1
            total.update(set(stack))
        found = collections.defaultdict(lambda: [0, 0])
        for row in functions['rows']:
            # Addresses without a symbol are shown as binary and offset.
            sums = found[None if row['symbol'].startswith('[') else row['symbol']]
            sums[0] += row['self']
            sums[1] += row['total']
        self.assertEqual(dict(found), {name: [own[name], n] for name, n in total.items()})
        self.assertEqual({r['pid']: r['total'] for r in ask('processes')['rows'] if r['total']}, writer.processes)
        self.assertEqual(sum(r['total'] for r in ask('heat')['rows']), len(writer.stacks))
        shown = [[f for f in r['stack'] if f['kind'] != 'marker'] for r in ask('samples')['rows']]
        self.assertEqual([len(stack) for stack in shown], [len(stack) for stack in writer.stacks])
        counters = {(r['pid'], r['category'], r['name']): r for r in ask('counters')['rows']}
        self.assertEqual(set(counters), set(writer.counters))
        for key, values in writer.counters.items():
            row = counters[key]
            self.assertEqual([row['count'], row['first'], row['last'], row['min'], row['max']],
                             [len(values), values[0], values[-1], min(values), max(values)])
        marks = {(r['group'], r['name']): r for r in ask('marks', '--by-name')['rows']}
        self.assertEqual({name: (r['count'], r['min'], r['max'], r['total']) for name, r in marks.items()},
                         {name: (len(d), min(d), max(d), sum(d)) for name, d in writer.marks.items()})
        self.assertEqual([(r['domain'], r['message']) for r in ask('logs')['rows']], writer.logs)
        self.assertEqual([r['bus'] for r in ask('dbus')['rows']], ['system', 'session'][:writer.messages])
        self.assertTrue(ask('summary')['findings'])

    def test_numbers(self):
        for make in by_gjs, by_346, by_51:
            for big in False, True:
                with self.subTest(make.__name__, big=big):
                    writer, capture = make(big)
                    self.check(writer, capture.save(self.folder / f'{make.__name__}-{big}.syscap'))

    def test_packed_and_piped(self):
        for make in by_gjs, by_346, by_51:
            with self.subTest(make.__name__):
                writer, capture = make(False)
                packed = io.BytesIO()
                with gzip.GzipFile(fileobj=packed, mode='wb', mtime=0) as out:
                    out.write(capture.data)
                self.check(writer, '-', stdin=packed.getvalue())

    def test_cut(self):
        """All that is whole before the cut counts: here, all but the last frame, which is a log."""
        for make in by_gjs, by_346, by_51:
            with self.subTest(make.__name__):
                writer, capture = make(False)
                path = self.folder / 'cut.syscap'
                path.write_bytes(bytes(capture.data[:-8]))
                writer.logs = []
                self.check(writer, path)


if __name__ == '__main__':
    unittest.main()
