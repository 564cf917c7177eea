#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian's sysprof-cli 3.46 records samples, allocations, counters, marks, main loops and GTK. Our views show
them with the numbers that tests/report/events.py counts from the bytes.

usage: test-views.py WITH_DEBIAN_RECORDER SYSPROF_REPORT PEER_TARGET GTK_TARGET SHELL_PEER
"""
import collections
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'report'))
import events  # noqa: E402

RECORDER, REPORT, PEER_TARGET, GTK_TARGET, SHELL_PEER = map(os.path.abspath, sys.argv[1:6])
del sys.argv[1:6]
PEER_CLI = '/usr/bin/sysprof-cli'
# Opens, reads and closes files on its main thread, and starts a program that says one of each kind through the ring.
WORK = 'cat /etc/passwd /etc/group >/dev/null; "$0" all; ls -l /etc >/dev/null; sleep 0.6'


def record(path, *options, command=('sh', '-c', WORK, PEER_TARGET), around=()):
    done = subprocess.run([*around, RECORDER, PEER_CLI, '-f', *options, path, '--', *command], capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode == 77:
        raise unittest.SkipTest(done.stderr.decode())
    assert done.returncode == 0, done.stderr
    return path, events.Answers(pathlib.Path(path).read_bytes())


def rows(path, *words):
    done = subprocess.run([REPORT, *words, '--limit', '0', '--format', 'json', path], capture_output=True, check=True)
    return json.loads(done.stdout)


class Views(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.cases = [record(os.path.join(cls.temporary.name, name), *options) for name, options in
                     (('heap', ('--memprof',)), ('loop', ('--speedtrack',)))]

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def each(self):
        for path, answers in self.cases:
            with self.subTest(os.path.basename(path)):
                yield path, answers

    def test_holds_what_is_compared(self):
        (_, heap), (_, loop) = self.cases
        self.assertGreater(len(heap.of('allocation')), 0)
        self.assertGreater(len(heap.counters()), 5)
        self.assertGreater(len(loop.of('mark')), 0)
        # The program's counters have ids that the recorder's have, too.
        self.assertGreater(len({pid for pid, _ in heap.counters()}), 1)

    def test_samples(self):
        total = 0
        for path, answers in self.each():
            samples = answers.of('sample')
            total += len(samples)
            for view, key, of in (('processes', lambda f: f['pid'], lambda r: r['pid']),
                                  ('cpus', lambda f: None if f['cpu'] < 0 else f['cpu'], lambda r: r['cpu']),
                                  ('threads', lambda f: (f['pid'], f['tid']), lambda r: (r['pid'], r['tid']))):
                shown = rows(path, view, '--idle')
                self.assertEqual(shown['weight']['total'], len(samples))
                self.assertEqual({of(r): r['total'] for r in shown['rows'] if r['total']}, collections.Counter(map(key, samples)), view)
            shown = rows(path, 'functions', '--idle')
            self.assertEqual(sum(r['self'] for r in shown['rows']), sum(any(a < 2**64 - 4096 for a in f['addrs']) for f in samples))
            busiest = collections.Counter(f['pid'] for f in samples).most_common(1)
            for pid, n in busiest:
                self.assertEqual(rows(path, 'tree', '--process', str(pid))['rows'][0]['total'], n)
        self.assertGreater(total, 10)

    def test_counters(self):
        for path, answers in self.each():
            shown = {(r['pid'], r['id']): r for r in rows(path, 'counters')['rows']}
            wanted = answers.counters()
            self.assertEqual(set(shown), set(wanted))
            for key, (counter, timed) in wanted.items():
                values = [value for _, value in timed]
                row = shown[key]
                self.assertEqual((row['category'], row['name'], row['count']), (counter['category'], counter['name'], len(values)))
                for name, value in (('first', values[0]), ('last', values[-1]), ('min', min(values)), ('max', max(values)),
                                    ('mean', sum(values) / len(values))):
                    self.assertAlmostEqual(row[name], value, delta=abs(value) * 1e-12)

    def test_marks(self):
        for path, answers in self.each():
            shown = {(r['group'], r['name']): {**r, 'worst': max((value for value in r['rhythm-jitter'] if value is not None), default=None)}
                     for r in rows(path, 'marks', '--by-name')['rows']}
            wanted = answers.marks_by_name()
            self.assertEqual(set(shown), set(wanted))
            for name, row in wanted.items():
                self.assertEqual({key: shown[name][key] for key in row}, row)
            messages = sorted((r['name'], r['message']) for r in rows(path, 'marks')['rows'])
            self.assertEqual(messages, sorted((f['name'], f['message']) for f in answers.of('mark')))

    def test_allocations(self):
        path, answers = self.cases[0]
        for words, wanted in ((('allocations',), answers.allocations()), (('leaks',), answers.allocations('live')),
                              (('temporaries',), answers.allocations('temporary'))):
            shown = rows(path, *words)
            self.assertEqual(shown['weight']['total'], sum(f['size'] for f in wanted), words)
            self.assertEqual(rows(path, *words, '--weight', 'count')['weight']['total'], len(wanted))

    def test_logs(self):
        for path, answers in self.each():
            self.assertEqual([(r['domain'], r['message'], r['pid']) for r in rows(path, 'logs')['rows']],
                             [(f['domain'], f['message'], f['pid']) for f in answers.of('log')])

    def test_every_look(self):
        for path, _ in self.each():
            for view in 'summary', 'marks', 'counters', 'logs', 'allocations', 'leaks', 'heat', 'cpus', 'cgroups', 'dbus':
                for form in 'text', 'json', 'csv', 'markdown', 'html', 'svg':
                    done = subprocess.run([REPORT, view, '--format', form, path], capture_output=True)
                    self.assertEqual(done.returncode, 0, (view, form, done.stderr))
            table = subprocess.run([REPORT, 'counters', '--format', 'csv', path], capture_output=True, check=True).stdout.decode()
            self.assertEqual(len(list(csv.DictReader(io.StringIO(table, newline='')))), len(rows(path, 'counters')['rows']))


class Gtk(Views):
    """A window that is drawn, as marks of GTK report it."""
    @classmethod
    def setUpClass(cls):
        # Of the system's Python, which has its bindings.
        if subprocess.run(['/usr/bin/python3', GTK_TARGET], capture_output=True).returncode == 77:
            raise unittest.SkipTest('needs gtk4-broadwayd and the bindings of GTK 4 for Python')
        cls.temporary = tempfile.TemporaryDirectory()
        cls.cases = [record(os.path.join(cls.temporary.name, 'gtk'), '--gtk', '--use-trace-fd', command=('/usr/bin/python3', GTK_TARGET))]

    def test_holds_what_is_compared(self):
        path, answers = self.cases[0]
        self.assertTrue({('gtk', 'widget render'), ('gtk', 'css validation')} <= set(answers.marks_by_name()))
        self.assertIn('gtk', {counter['category'] for counter, _ in answers.counters().values()})
        # Drawing happens within a cycle of the frame clock, so this time is not the cycle's own.
        cycle = next(r for r in rows(path, 'marks', '--by-name')['rows'] if r['name'] == 'frameclock cycle')
        self.assertLess(cycle['self'], cycle['total'])

    def test_allocations(self):
        self.assertEqual(rows(self.cases[0][0], 'allocations')['rows'], [])


class Shell(Views):
    """GNOME Shell's series and log, from one of the test's that the recorder asks on a bus of its own."""
    PAINTS, LINES = 20, ['a window was mapped', 'a window was closed']  # as shell-peer.py has them

    test_every_look = None  # as the others'

    @classmethod
    def setUpClass(cls):
        if shutil.which('dbus-run-session') is None:
            raise unittest.SkipTest('needs dbus-run-session')
        cls.temporary = tempfile.TemporaryDirectory()
        cls.cases = [record(os.path.join(cls.temporary.name, 'shell'), '--gnome-shell', command=('sh', '-c', 'while :; do :; done & sleep 0.6; kill $!'),
                            around=('dbus-run-session', '--', '/usr/bin/python3', SHELL_PEER))]

    def test_holds_what_is_compared(self):
        path, answers = self.cases[0]
        painted, share = (next([value for _, value in timed] for counter, timed in answers.counters().values() if counter['name'] == name)
                          for name in ('painted', 'share'))
        self.assertEqual(painted, [i * i for i in range(self.PAINTS)])
        self.assertEqual(share, [i / 8 for i in range(self.PAINTS)])
        self.assertEqual([(r['group'], r['name'], r['message']) for r in rows(path, 'marks')['rows'] if r['group'] == 'compositor'],
                         [('compositor', 'paint' if i % 2 else 'layout', f'frame {i}') for i in range(self.PAINTS)])
        self.assertEqual([r['message'] for r in rows(path, 'logs')['rows'] if r['domain'] == 'journal'], self.LINES)

    def test_allocations(self):
        self.assertEqual(rows(self.cases[0][0], 'allocations')['rows'], [])


if __name__ == '__main__':
    unittest.main()
