#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs sysprof-report on captures made by hand, and compares its output with counts of the test."""
import collections
import csv
import gzip
import html
import io
import itertools
import json
import lzma
import os
import pathlib
import shlex
import pty
import random
import re
import shutil
import signal
import stat
import struct
import subprocess
import tarfile
import sys
import tempfile
import unicodedata
import unittest
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
import profile as made  # noqa: E402

REPORT = os.path.abspath(sys.argv.pop(1))
FRAME_NAMES = set('timestamp sample map process fork exit jitmap ctrdef ctrset mark metadata log file allocation overlay '
                  'trace dbus frame-index unknown'.split())


def run(*args, check=True, **options):
    done = subprocess.run([REPORT, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, 'LC_ALL': 'C.UTF-8', 'NO_COLOR': ''}, **options)
    if check and done.returncode != 0:
        raise AssertionError(f'{args}: status {done.returncode}: {done.stderr.decode()}')
    return done


def as_json(*args):
    return json.loads(run(*args, '--format', 'json').stdout)


def columns_of(text):
    """As a terminal counts them."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in text)


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.capture = cls.folder / 'usual.syscap'
        cls.profile = made.usual().write(cls.capture)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()


class Json(Base):
    def functions(self, *args):
        rows = as_json('functions', *args, self.capture)['rows']
        return {made.Frame(r['symbol'], r['binary'], r['kind']): (r['self'], r['total']) for r in rows}

    def select(self, predicate):
        return self.profile.functions([s for s in self.profile.samples if predicate(s)])

    def test_head(self):
        report = as_json('functions', self.capture)
        samples = self.profile.samples
        self.assertEqual((report['format'], report['version'], report['view']), ('sysprof-report', 1, 'functions'))
        self.assertEqual(report['weight'], {'name': 'samples', 'unit': 'count', 'total': len(samples)})
        self.assertEqual(report['selection'], {})
        capture = report['capture']
        self.assertEqual(capture['path'], str(self.capture))
        self.assertEqual(capture['start-time'], '2026-01-01T00:00:00Z')
        self.assertEqual(capture['duration'], samples[-1].time - made.BEGIN)
        self.assertEqual([capture[key] for key in ('samples', 'lost', 'lost-samples', 'lost-records')], [len(samples), 0, 0, 0])
        self.assertEqual(set(capture['frames']), FRAME_NAMES)
        self.assertEqual({k: n for k, n in capture['frames'].items() if n},
                         {'sample': len(samples), 'map': 3, 'process': 4, 'metadata': 2, 'file': 3})
        self.assertEqual(capture['stacks'], {'complete': self.profile.whole(), 'total': len(samples)})

    def test_functions(self):
        self.assertEqual(self.functions(), self.profile.functions())

    def test_functions_are_sorted(self):
        rows = as_json('functions', self.capture)['rows']
        self.assertEqual(rows, sorted(rows, key=lambda r: (-r['self'], -r['total'])))
        rows = as_json('functions', '--sort', 'total', self.capture)['rows']
        self.assertEqual([r['total'] for r in rows], sorted((r['total'] for r in rows), reverse=True))
        rows = as_json('functions', '--sort', 'symbol', self.capture)['rows']
        self.assertEqual([r['symbol'] for r in rows], sorted(r['symbol'] for r in rows))

    def test_selection(self):
        begin = made.BEGIN
        for args, keep in (
                (('--process', '11'), lambda s: s.pid == 11),
                (('--process', 'prog'), lambda s: s.pid in (10, 11)),
                (('--process', '!11'), lambda s: s.pid != 11),
                (('--process', 'prog', '--process', '!11'), lambda s: s.pid == 10),
                (('--process', '11', '--process', '3'), lambda s: s.pid in (11, 3)),
                (('--thread', '12'), lambda s: s.tid == 12),
                (('--cpu', '1'), lambda s: s.cpu == 1),
                (('--time', '100ms..0.2s'), lambda s: 100_000_000 <= s.time - begin < 200_000_000),
                (('--symbol', 'ALPHA'), lambda s: any(f.symbol == 'alpha' for f in s.stack)),
                (('--symbol', '!alpha', '--process', '10'), lambda s: s.pid == 10 and all(f.symbol != 'alpha' for f in s.stack)),
                (('--thread', '!12'), lambda s: s.tid != 12),
                (('--thread', '12', '--thread', '10', '--thread', '!10'), lambda s: s.tid == 12),
                (('--cpu', '!1'), lambda s: s.cpu != 1),
                (('--cpu', '0-2', '--cpu', '!1'), lambda s: s.cpu in (0, 2)),
                (('--time', '!100ms..0.2s'), lambda s: not 100_000_000 <= s.time - begin < 200_000_000),
                (('--time', '50ms..', '--time', '!100ms..0.2s'), lambda s: s.time - begin >= 50_000_000 and
                 not 100_000_000 <= s.time - begin < 200_000_000),
                (('--process', 'nobody'), lambda s: False)):
            self.assertEqual(self.functions(*args), self.select(keep), args)

    def test_selection_is_told_as_given(self):
        report = as_json('functions', '--process', 'pr*', '--time', '..1s', '--no-kernel', self.capture)
        self.assertEqual(report['selection'], {'process': ['pr*'], 'time': ['..1s'], 'no-kernel': True})

    def total(self, path, *args):
        return as_json('functions', *args, path)['weight']['total']

    def test_marks_select_their_times(self):
        path = self.folder / 'marks.syscap'
        (made.usual().mark('Compositor', 'Paint', 10, 30).mark('Compositor', 'Paint', 20, 40).mark('Compositor', 'Layout', 50, 55)
         .mark('Other', 'Paint', 100, 200).mark('Other', 'Instant', 300, 300).write(path))
        for words, expected in ((['Compositor/Paint'], 30), (['Compositor/*'], 35), (['*/Paint'], 130), (['Other/Instant'], 1),
                                (['Compositor/Layout', 'Other/Instant'], 6), (['No/Such'], 0)):
            args = [word for mark in words for word in ('--mark', mark)]
            self.assertEqual(self.total(path, *args), expected, words)
        whole = len(self.profile.samples)
        self.assertEqual(self.total(path, '--mark', '!Compositor/Paint'), whole - 30)
        self.assertEqual(self.total(path, '--mark', 'Compositor/*', '--mark', '!*/Paint'), 5)
        self.assertEqual(self.total(path, '--mark', '!No/Such'), whole)
        # Samples stand 1 ms apart, the first at 1 ms.
        self.assertEqual(self.total(path, '--mark', 'Compositor/Paint', '--time', '21ms..101ms'), 20)
        self.assertEqual(self.total(path, '--mark', 'Compositor/*', '--time', '..12ms', '--time', '52ms..'), 1 + 4)
        self.assertEqual(self.total(path, '--mark', 'Compositor/Paint', '--process', '11'), 0)
        self.assertEqual(as_json('functions', '--mark', 'a/b', path)['selection'], {'mark': ['a/b']})

    def test_cgroups_select_processes(self):
        path = self.folder / 'cgroups.syscap'
        profile = made.usual().cgroup(10, '0::/system.slice/a.service\n').cgroup(11, '3:cpu,cpuacct:/user/b\n0::/user.slice/b\n')
        profile.parents[99] = 11
        profile.add(7, 99, 99, '_start', 'main').write(path)
        by_pid = collections.Counter(sample.pid for sample in profile.samples)
        for words, pids in ((['/system.slice/*'], [10]), (['/system.slice/a.service'], [10]), (['/user.slice/b'], [11, 99]), (['/user/b'], [11, 99]),
                            (['*'], [10, 11, 99]), (['/nope'], []), (['/system.slice'], []), (['/user/*', '*.service'], [10, 11, 99])):
            args = [word for group in words for word in ('--cgroup', group)]
            self.assertEqual(self.total(path, *args), sum(by_pid[pid] for pid in pids), words)
        self.assertEqual(self.total(path, '--cgroup', '*', '--process', '11'), by_pid[11])
        self.assertEqual(self.total(path, '--cgroup', '/system*', '--process', '11'), 0)

    def test_no_kernel_keeps_the_samples(self):
        report = as_json('functions', '--no-kernel', self.capture)
        self.assertEqual(report['weight']['total'], len(self.profile.samples))
        rows = {r['symbol']: r for r in report['rows']}
        self.assertEqual((rows['beta']['self'], rows['beta']['total']), (330, 330))
        self.assertFalse(any(r['kind'] == 'kernel' for r in report['rows']))

    def walk(self, rows, path=()):
        for row in rows:
            if row['kind'] == 'root':
                here = ()
            elif row['kind'] == 'process':
                here = ('process', row['symbol'])
            else:
                here = path + (made.Frame(row['symbol'], row['binary'], row['kind']),)
            yield here, (row['self'], row['total'])
            yield from self.walk(row['children'], here)

    def expected_tree(self):
        """With processes by name, and those of the same name as one."""
        expected = {}
        for path, (own, total) in self.profile.tree().items():
            path = ('process', self.profile.comm(path[0])) + path[1:] if path else path
            before = expected.get(path, (0, 0))
            expected[path] = (before[0] + own, before[1] + total)
        return expected

    def test_tree_and_flame(self):
        for view in ('tree', 'flame'):
            rows = as_json(view, '--merge-processes', self.capture)['rows']
            self.assertEqual([row['kind'] for row in rows], ['root'])
            self.assertEqual(dict(self.walk(rows)), self.expected_tree(), view)
        self.assertEqual(len([r for r in as_json('tree', self.capture)['rows'][0]['children']]), 3)

    def test_tree_sums_up(self):
        def check(row):
            if 'self' in row:  # else the tree is reversed
                self.assertEqual(row['total'], row['self'] + sum(child['total'] for child in row['children']))
            else:
                self.assertGreaterEqual(row['total'], sum(child['total'] for child in row['children']))
            totals = [child['total'] for child in row['children']]
            self.assertEqual(totals, sorted(totals, reverse=True))
            for child in row['children']:
                check(child)
        for args in ((), ('--bottom-up',), ('--focus', 'beta'), ('--threads',), ('--fold-recursion',)):
            root = as_json('tree', *args, self.capture)['rows'][0]
            self.assertEqual('self' in root, '--bottom-up' not in args)
            check(root)

    def test_reversed_trees_and_callers_have_no_self(self):
        """Self belongs to the innermost function, which is at the other end of the path."""
        for view, has_self in ((('tree',), True), (('tree', '--bottom-up'), False), (('callees', '--focus', 'main'), True),
                               (('callers', '--focus', 'alpha'), False)):
            for form in 'text', 'csv', 'markdown', 'html', 'json':
                text = run(*view, '--format', form, self.capture).stdout.decode()
                self.assertEqual(bool(re.search(r'(?i)\bself\b', re.sub(r'(?s)<(script|style)>.*?</', '', text))), has_self, (view, form))
        totals = [row['total'] for row in as_json('callers', '--focus', 'alpha', self.capture)['rows']]
        self.assertEqual(totals, sorted(totals, reverse=True))

    def test_tree_is_cut_by_weight_depth_and_number(self):
        whole = dict(self.walk(as_json('tree', '--merge-processes', self.capture)['rows']))
        least = 0.1 * len(self.profile.samples)
        cut = dict(self.walk(as_json('tree', '--merge-processes', '--min', '10', self.capture)['rows']))
        self.assertEqual(cut, {path: w for path, w in whole.items() if w[1] >= least})
        rows = as_json('tree', '--depth', '1', self.capture)['rows']
        self.assertEqual([child['children'] for child in rows[0]['children']], [[], [], []])
        for limit in (1, 4, 7):
            cut = dict(self.walk(as_json('tree', '--merge-processes', '--limit', limit, self.capture)['rows']))
            self.assertEqual(len(cut), limit)
            left_out = [w[1] for path, w in whole.items() if path not in cut]
            self.assertGreaterEqual(min(w[1] for w in cut.values()), max(left_out))

    def test_texts_of_trees_leave_out_what_is_light(self):
        """Unless an option selects what to show; and a message reports the default."""
        path = os.path.join(self.folder, 'many-ends')
        with open(path, 'w') as folded:
            folded.write('prog;main;hot 1000\n')
            folded.writelines(f'prog;main;light{i} 1\n' for i in range(500))
        text = run('tree', path).stdout.decode()
        self.assertIn(' hot\n', text)
        self.assertNotIn('light', text)
        self.assertTrue(text.endswith('\n... calls below 0.50 % hidden (33.33 % of the total); --min 0 shows them\n'), text)
        for args in (('--min', '0'), ('--limit', '0'), ('--search', 'light'), ('--focus', 'main'), ('--format', 'csv')):
            text = run('tree', *args, path).stdout.decode()
            self.assertEqual(text.count('light'), 500, args)
            self.assertNotIn('... and calls', text)

    def neighbours(self, view, name):
        rows = as_json(view, '--focus', name, self.capture)['rows']
        return {r['symbol']: (r['self'], r['total']) if view == 'callees' else r['total'] for r in rows}

    def test_callers_and_callees(self):
        self.assertEqual(self.neighbours('callers', 'alpha'), {'main': 400, 'helper': 50, 'beta': 30})
        self.assertEqual(self.neighbours('callees', 'main'), {'alpha': (400, 400), 'beta': (100, 330)})
        self.assertEqual(self.neighbours('callers', 'beta'), {'main': 330, 'alpha': 30})

    def test_processes(self):
        rows = as_json('processes', self.capture)['rows']
        weights = {pid: sum(s.pid == pid for s in self.profile.samples) for pid in self.profile.processes}
        self.assertEqual({r['pid']: (r['command'], r['self'], r['total']) for r in rows},
                         {pid: (command, weights[pid], weights[pid]) for pid, command in self.profile.processes.items()})
        self.assertEqual([r['total'] for r in rows], sorted(weights.values(), reverse=True))
        duration = self.profile.samples[-1].time - made.BEGIN
        for row in rows:
            self.assertEqual((row['start'], row['end']), (0, duration))
        only = as_json('processes', '--process', '11', self.capture)['rows']
        self.assertEqual([r['pid'] for r in only], [11])

    def test_how_stacks_of_a_process_were_found(self):
        path = self.folder / 'found.syscap'
        profile = made.usual()
        profile.files.append(('__unwind__', b'10 tables=930 copy=70 none=5\n11 frame-pointer=3\n12 tables+frame-pointer=1\n'
                                            b'none\n99999999999999999999 tables=1\n13 tables=x\n14'))
        profile.write(path)
        rows = {r['pid']: r for r in as_json('processes', path)['rows']}
        self.assertEqual(rows[10]['unwind'], 'tables 93 %, copies 7 %')
        self.assertEqual(rows[11]['unwind'], 'frame pointers')
        done = as_json('samples', path)['rows']
        for pid, row in rows.items():
            self.assertEqual(row['whole'], sum(r['complete'] for r in done if r['pid'] == pid))
        self.assertEqual({r['unwind'] for r in as_json('processes', self.capture)['rows']}, {''})
        self.assertIn('tables 93 %', run('processes', path).stdout.decode())

    def test_a_process_of_several_joined_captures_was_found_as_all_of_them_say(self):
        path = self.folder / 'found.syscap'
        profile = made.usual()
        profile.files.append(('__unwind__', b'10 tables=30 copy=10\n11 tables=1\n10 frame-pointer=5 copy=50 none=1\n10 none=9\n'))
        profile.write(path)
        rows = {r['pid']: r['unwind'] for r in as_json('processes', path)['rows']}
        self.assertEqual((rows[10], rows[11]), ('copies 63 %, tables 32 %, frame pointers 5 %', 'tables'))

    def test_process_details(self):
        rows = {r['pid']: r for r in as_json('processes', '--details', self.capture)['rows']}
        self.assertEqual(rows[10]['threads'], ['10', '12'])
        self.assertEqual(rows[10]['maps'], ['400000-10400000 0 /usr/bin/prog'])
        self.assertEqual(rows[10]['mounts'], [])

    def test_threads(self):
        rows = as_json('threads', self.capture)['rows']
        weights = {}
        for sample in self.profile.samples:
            weights[sample.pid, sample.tid] = weights.get((sample.pid, sample.tid), 0) + 1
        self.assertEqual({(r['pid'], r['tid']): r['total'] for r in rows if r['total']}, weights)

    THREADS = (b'10 10 0 main\n10 12 1 early\n10 12 %d pool/1: a\\134b\\012\n20 12 1 other\n'
               b'x 12 1 no\n10 12\n99999999999 1 1 no\n11 11 1 \n' % (made.BEGIN + 500))

    def named(self):
        path = self.folder / 'named.syscap'
        profile = made.usual()
        profile.files.append(('__threads__', self.THREADS))
        profile.write(path)
        return path

    def test_names_of_threads(self):
        path = self.named()
        rows = {(r['pid'], r['tid']): r for r in as_json('threads', path)['rows']}
        self.assertEqual(rows[10, 10]['name'], 'main')
        self.assertEqual(rows[10, 12]['name'], 'pool/1: a\\b\n')
        for (pid, tid), row in rows.items():
            if (pid, tid) not in ((10, 10), (10, 12)):
                self.assertEqual(row['name'], row['command'])
        for sample in as_json('samples', path)['rows']:
            if (sample['pid'], sample['tid']) == (10, 12):
                self.assertEqual(sample['name'], 'early' if sample['time'] < 500 else 'pool/1: a\\b\n')
        details = {r['pid']: r['threads'] for r in as_json('processes', '--details', path)['rows']}
        self.assertEqual(details[10], ['10 main', '12 pool/1: a\\b\n'])
        self.assertEqual({r['name'] for r in as_json('threads', self.capture)['rows']}, {''}, 'names are not guessed')

    def test_threads_are_selected_by_any_of_their_names(self):
        path = self.named()

        def selected(name):
            return {(r['pid'], r['tid']) for r in as_json('threads', '--thread', name, path)['rows'] if r['total']}

        self.assertEqual(selected('early'), {(10, 12)})
        self.assertEqual(selected('pool*'), {(10, 12)})
        self.assertEqual(selected('main'), {(10, 10)})
        self.assertEqual(selected('12'), {(10, 12)})
        weights = {(r['pid'], r['tid']): r['total'] for r in as_json('threads', path)['rows']}
        for pid, command in {(r['pid'], r['command']) for r in as_json('threads', path)['rows']}:
            self.assertEqual(selected(command) - {(10, 10)},
                             {key for key in weights if weights[key] and key[0] in self.pids_of(command) and key != (10, 12) and key != (10, 10)})

    def pids_of(self, command):
        return {r['pid'] for r in as_json('threads', self.capture)['rows'] if r['command'] == command}

    def test_samples(self):
        rows = as_json('samples', self.capture)['rows']
        self.assertEqual(len(rows), len(self.profile.samples))
        for row, sample in zip(rows, self.profile.samples):
            self.assertEqual((row['time'], row['pid'], row['tid'], row['cpu']),
                             (sample.time - made.BEGIN, sample.pid, sample.tid, sample.cpu))
            stack = [made.Frame(**entry) for entry in row['stack']]
            is_whole = sample.stack[-1].symbol in made.ENTRIES
            self.assertEqual(row['complete'], is_whole)
            if stack[-1].kind == 'marker':
                self.assertFalse(is_whole)
                stack.pop()
            self.assertEqual(tuple(stack), sample.stack)
            self.assertEqual(row['unwind'], 'none' if row['reason'] == 'kernel-thread' else 'frame-pointer')
            self.assertEqual(row['reason'] in ('end', 'root', 'kernel-thread', 'in-exec'), is_whole)
        self.assertEqual(len(as_json('samples', '--limit', '7', self.capture)['rows']), 7)
        self.assertEqual({r['tid'] for r in as_json('samples', '--thread', '12', self.capture)['rows']}, {12})

    def test_samples_say_how_they_were_found(self):
        # docs/format.md; the capture's own value if no option is given.
        notes = {0: 'tables', 1: 'tables', 2: 'tables', 3: 'frame-pointer', 4: 'copy', 5: 'none', 7: 'tables', 1 + 8: 'tables',
                 3 + 8 + 16: 'frame-pointer', 1 + 16: 'tables', 0xff: 'tables'}
        path = self.folder / 'notes.syscap'
        for big in False, True:
            for method in 'tables', 'frame-pointer':
                capture = made.Capture(time=made.BEGIN, big=big)
                capture.metadata('org.gnome.sysprof.unwind', method, time=made.BEGIN)
                for i in range(len(notes)):
                    capture.sample([made.USER, 0x1000], 7, rubbish=0xffff, pid=7, time=made.BEGIN + i)
                capture.file('__found__', b''.join(struct.pack('<qiB3x', made.BEGIN + i, 7, note) for i, note in enumerate(notes))
                             + struct.pack('<qiB3x', made.BEGIN, 8, 3) + b'end')
                capture.save(path)
                rows = as_json('samples', path)['rows']
                perhaps = [r['samples'] for r in as_json('quality', path)['rows'] if r['reason'].startswith('immediate caller may be missing')]
                if method == 'tables':
                    self.assertEqual([r['unwind'] for r in rows], list(notes.values()))
                    self.assertEqual(perhaps, [3])
                else:
                    # Its meaning depends on the program that recorded it.
                    self.assertEqual({r['unwind'] for r in rows}, {'frame-pointer'})
                    self.assertEqual(perhaps, [])

    def test_stacks_that_were_not_unwound_are_not_truncated(self):
        path = self.folder / 'none.syscap'
        capture = made.Capture(time=made.BEGIN)
        capture.metadata('org.gnome.sysprof.unwind', 'none', time=made.BEGIN)
        capture.map(0x1000, 0x2000, '/lib/a.so', pid=7, time=made.BEGIN)
        capture.sample([made.USER, 0x1000], 7, pid=7, time=made.BEGIN + 1)
        capture.sample([made.KERNEL, 0xFFFFFFFF81000010], 7, pid=7, time=made.BEGIN + 2)
        capture.save(path)
        rows = as_json('samples', path)['rows']
        self.assertEqual({(r['unwind'], r['reason'], r['complete']) for r in rows}, {('none', 'none', False)})
        self.assertEqual([r['stack'][-1]['kind'] for r in rows], ['user', 'kernel'])
        rows = [r for r in as_json('quality', path)['rows'] if not r['reason'].startswith('unnamed')]
        self.assertEqual(sum(r['samples'] for r in rows), 2)
        self.assertEqual({(r['reason'], r['remedy']) for r in rows}, {('not unwound: recorded with --unwind none', '')})
        stacks = [finding['text'] for finding in as_json(path)['findings'] if finding['kind'] == 'truncated']
        self.assertEqual(stacks, ['Stacks were not unwound, so functions have no callers. Record without --unwind none.'])

    def test_quality(self):
        report = as_json('quality', self.capture)
        rows = report['rows']
        self.assertEqual(set(rows[0]), {'binary', 'reason', 'samples', 'remedy', 'example'})
        cut = [r for r in rows if r['reason'].startswith('truncated')]
        self.assertEqual([(r['binary'], r['samples']) for r in cut], [('prog', 50)])
        self.assertIn('frame-pointer', cut[0]['remedy'])
        self.assertEqual(cut[0]['example'], 'helper')
        self.assertEqual(sum(r['samples'] for r in rows if r['reason'] == 'complete'), self.profile.whole())
        self.assertEqual(sum(r['samples'] for r in rows), len(self.profile.samples))

    def test_quality_says_what_helps(self):
        remedies = {('bad-fp', ''): '-XX:+PreserveFramePointer', ('bad-fp', '//anon'): '-XX:+PreserveFramePointer',
                    ('bad-fp', '/lib/a.so'): '-fasynchronous-unwind-tables', ('compat', '/lib/a.so'): '-fno-omit-frame-pointer',
                    ('compat', ''): 'libraries', ('no-table', '/lib/a.so'): 'record longer', ('depth', '/lib/a.so'): '--stack-size',
                    ('table-failed', '/lib/a.so'): 'as root'}
        path = self.folder / 'remedies.syscap'
        # Older captures contain the second word.
        for ((code, binary), remedy), word in itertools.product(remedies.items(), ('truncated', 'cut')):
            capture = made.Capture(time=made.BEGIN)
            capture.map(0x5000, 0x6000, '/lib/b.so', pid=7, time=made.BEGIN)
            if binary:
                capture.map(0x1000, 0x2000, binary, pid=7, time=made.BEGIN)
            capture.jitmap([(0xe000000000000001, f'[stack {word}: {code}]')], pid=7, time=made.BEGIN)
            capture.sample([made.USER, 0x1000, 0xe000000000000001], 7, pid=7, time=made.BEGIN + 1)
            capture.save(path)
            cut = [row for row in as_json('quality', path)['rows'] if row['reason'].startswith('truncated')]
            self.assertEqual([row['samples'] for row in cut], [1], (code, binary))
            self.assertIn(remedy, cut[0]['remedy'], (code, binary))
            finding = next(f['text'] for f in as_json(path)['findings'] if f['text'].startswith('100.0 % of the stacks are truncated'))
            self.assertIn(f"(mostly: {cut[0]['reason'].removeprefix('truncated: ')})", finding)

    def test_quality_says_what_the_unwinder_missed(self):
        path = self.folder / 'missed.syscap'
        capture = made.Capture(time=made.BEGIN)
        capture.sample([made.USER, 0x1000], 7, pid=7, time=made.BEGIN + 1)
        capture.metadata('org.gnome.sysprof.unwinder', 'lost=12 without-room=0 failed=3 without-copy=5', time=made.BEGIN)
        capture.metadata('org.gnome.sysprof.unfinished-waits', '7', time=made.BEGIN)
        capture.metadata('org.gnome.sysprof.contradictions', '1 20 /a\\012b', time=made.BEGIN)
        capture.metadata('org.gnome.sysprof.contradictions', '2 30 /c', time=made.BEGIN)
        capture.save(path)
        rows = as_json('quality', path)['rows']
        missed = [r['reason'] for r in rows if r['binary'] == '(unwinder)']
        self.assertEqual([reason.split()[0] for reason in missed], ['12', '3', '5', '7'])
        self.assertTrue(all(r['remedy'] for r in rows if r['binary'] == '(unwinder)'))
        self.assertEqual([r['binary'] for r in rows if 'wrong unwind information' in r['reason']], ['/a\\012b', '/c'])

    def test_summary(self):
        report = as_json(self.capture)
        self.assertEqual(report['view'], 'summary')
        self.assertNotIn('rows', report)
        for section in ('processes', 'functions'):
            self.assertEqual(report[section], as_json(section, self.capture)['rows'])
        # Of the stacks, those that the reader can improve.
        rows = as_json('quality', self.capture)['rows']
        helped = [row for row in rows if row['remedy'] and row['samples'] > 0 and not row['remedy'].startswith(('nothing', 'usually'))]
        self.assertEqual(report['quality'], helped)
        self.assertLess(0, len(helped))
        self.assertLess(len(helped), len(rows))

    def test_categories(self):
        """Each sample once, for the category of its innermost function or of the caller that passes it on:
        counted from plain lists."""
        folder = self.folder / 'rules' / 'sysprof'
        folder.mkdir(parents=True)
        # Category, its functions, and whether those below take it over.
        rules = {'alpha': ('paint', True), 'main': ('actions', False), 'vfs_read': ('css', False)}
        path = folder / 'categories'
        path.write_text('\n'.join(f'{category} {"[kernel]" if name == "vfs_read" else "pro?"} {name} {"inherit" * inherit}'
                                  for name, (category, inherit) in rules.items()) + '\nnonsense\n')
        environment = {**os.environ, 'XDG_CONFIG_HOME': str(folder.parent)}

        def of(stack, is_shown=lambda frame: True):
            answer, handed_down = 'unwindable', None
            for frame in reversed(stack):
                if not is_shown(frame):
                    continue
                own, inherit = rules.get(frame.symbol, (None, False))
                # Of the built-in rules, these functions of the kernel have one.
                if own is None and frame.symbol in ('entry_SYSCALL_64', 'do_syscall_64', 'ret_from_fork'):
                    own, inherit = 'kernel', True
                answer = own or handed_down or ('kernel' if frame.kind == 'kernel' else 'uncategorized')
                handed_down = own if inherit else handed_down
            return answer

        def ask(*args):
            done = subprocess.run([REPORT, *args, '--format', 'json', self.capture], capture_output=True, env=environment)
            self.assertEqual(done.stderr.decode().splitlines(),
                             [f'sysprof-report: {path}:4: A rule is a category, a binary, a function and perhaps \'inherit\', like '
                              '\'paint libgtk-4 gtk_widget_snapshot* inherit\'; names with blanks stand between ". The line is left out.'])
            return json.loads(done.stdout)

        for args, is_shown in ((), lambda frame: True), (('--no-kernel',), lambda frame: frame.kind != 'kernel'):
            wanted = collections.Counter(of(s.stack, is_shown) for s in self.profile.samples)
            rows = ask('summary', *args)['categories']
            self.assertEqual({r['category']: r['self'] for r in rows}, wanted)
            self.assertEqual([r['self'] for r in rows], sorted(wanted.values(), reverse=True))
            samples = ask('samples', *args)['rows']
            self.assertEqual([r['category'] for r in samples], [of(s.stack, is_shown) for s in self.profile.samples])
        self.assertGreaterEqual(len(wanted), 3)
        is_other = set()
        for args in (), ('--symbol', 'alpha'), ('--symbol', 'vfs_read'), ('--symbol', '!beta'):
            summary = ask('summary', *args)
            text = [finding['text'] for finding in summary['findings'] if finding['kind'] == 'categories']
            if text:
                is_other.add('other' in text[0])
                self.assertEqual('other' in text[0], bool({r['category'] for r in summary['categories']} & {'uncategorized', 'unwindable'}), text)
        self.assertEqual(is_other, {False, True})
        self.assertEqual({r['symbol']: r['category'] for r in ask('functions')['rows'] if r['symbol'] in ('main', 'alpha', 'beta', 'vfs_read')},
                         {'main': 'actions', 'alpha': 'paint', 'beta': 'uncategorized', 'vfs_read': 'css'})

        def walk(rows, path=()):
            for row in rows:
                yield path + (row['symbol'],), row['category']
                yield from walk(row['children'], path + (row['symbol'],))
        found = dict(walk(ask('tree')['rows']))
        self.assertEqual(found['All Processes',], '')
        self.assertEqual(found['All Processes', 'prog', '_start', 'main', 'beta', 'alpha', 'beta'], 'paint')
        self.assertEqual(found['All Processes', 'prog', '_start', 'main', 'beta'], 'uncategorized')

    def test_heat(self):
        slots = collections.defaultdict(lambda: [0] * 40)
        for sample in self.profile.samples:
            second, rest = divmod(sample.time - made.BEGIN, 10**9)
            slots[second][rest // 25_000_000] += 1
        rows = as_json('heat', self.capture)['rows']
        self.assertEqual({r['time']: r['slots'] for r in rows}, {second * 10**9: slot for second, slot in slots.items()})
        self.assertEqual([r['total'] for r in rows], [sum(slots[second]) for second in sorted(slots)])
        part = as_json('heat', '--time', '100ms..200ms', '--process', '10', self.capture)
        self.assertEqual(part['weight']['total'], sum(1 for s in self.profile.samples
                                                      if 10**8 <= s.time - made.BEGIN < 2 * 10**8 and s.pid == 10))

    def test_heat_has_rows_for_quiet_seconds(self):
        path = self.folder / 'quiet.syscap'
        capture = made.Capture(time=made.BEGIN)
        for second in 0, 3, 5000:
            capture.sample([made.USER, 0x1000], 7, pid=7, time=made.BEGIN + second * 10**9 + 1)
        capture.save(path)
        rows = as_json('heat', path)['rows']
        self.assertEqual([(r['time'] // 10**9, r['total']) for r in rows], [(0, 1), (1, 0), (2, 0), (3, 1), (5000, 1)])
        picture = ET.fromstring(run('heat', '--format', 'svg', path).stdout)
        self.assertEqual(sum(1 for e in picture.iter() if e.tag.endswith('title')), 1 + 3)

    def test_cpus(self):
        path = self.folder / 'cpus.syscap'
        profile = made.usual()
        profile.files.append(('/proc/cpuinfo', b'processor\t: 0\nmodel name\t: Some CPU\ncore id\t\t: 4\n\n'
                                               b'processor\t: 1\nmodel name\t: Other\n\nprocessor\t: 2\n'))
        profile.write(path)
        on = collections.Counter(sample.cpu for sample in profile.samples)
        self.assertEqual([(r['cpu'], r['core'], r['model'], r['total']) for r in as_json('cpus', path)['rows']],
                         [(0, 4, 'Some CPU', on[0]), (1, None, 'Other', on[1]), (2, None, '', 0)])
        self.assertEqual([r['cpu'] for r in as_json('cpus', '--cpu', '1', path)['rows']], [1])
        self.assertEqual([(r['cpu'], r['total']) for r in as_json('cpus', self.capture)['rows']], sorted(on.items()))

    def test_cpus_with_slices(self):
        """Marks as recorders of the scheduler write them; here each nanosecond is counted by itself."""
        end, words = 2000, random.Random(7)
        slices = {0: [], 1: [], 12: []}  # (begin, end, pid)
        for cpu, found in slices.items():
            at = words.randrange(40)
            while at < end:
                until = min(at + words.randrange(1, 60), end)
                found.append((at, until, words.choice((10, 11, 99))))
                at = until + words.choice((0, 0, 15))
        slices[1].append((100, 160, 10))  # that CPU's marks stand there twice
        capture = made.Capture(time=made.BEGIN)
        for cpu, begin, until, pid in sorted(((cpu, *each) for cpu in slices for each in slices[cpu]), key=lambda each: each[1]):
            capture.mark('Scheduler', f'CPU {cpu}', 'thread', until - begin, time=made.BEGIN + begin, pid=pid, cpu=cpu)
        capture.mark('Scheduler', 'other', 'no slice', 500, time=made.BEGIN + 3, pid=10, cpu=1)
        capture.mark('CPU 1', 'CPU 1', 'of another group', 500, time=made.BEGIN + 3, pid=10, cpu=1)
        path = self.folder / 'slices.syscap'
        capture.save(path)

        for args, times, pids, cpus in (((), [(0, end)], {10, 11, 99}, slices),
                                        (('--process', '10'), [(0, end)], {10}, slices),
                                        (('--cpu', '12'), [(0, end)], {10, 11, 99}, [12]),
                                        (('--time', '200ns..700ns'), [(200, 700)], {10, 11, 99}, slices),
                                        (('--time', '200ns..250ns', '--time', '300ns..310ns', '--process', '11'), [(200, 250), (300, 310)], {11}, slices)):
            expected = []
            for cpu in cpus:
                ran = {t for begin, until, pid in slices[cpu] if pid in pids for t in range(begin, until)}
                busy = sum(t in ran for begin, until in times for t in range(begin, until))
                n = sum(begin <= each[0] < until for begin, until in times for each in slices[cpu] if each[2] in pids)
                if busy or n:
                    expected.append((cpu, busy, busy / sum(until - begin for begin, until in times) * 100, n))
            rows = as_json('cpus', *args, path)['rows']
            self.assertEqual([(r['cpu'], r['busy'], r['switches']) for r in rows], [(cpu, busy, n) for cpu, busy, _, n in expected], args)
            for row, (_, _, share, _) in zip(rows, expected):
                self.assertAlmostEqual(row['utilization'], share, places=9)
            lines = list(csv.DictReader(io.StringIO(run('cpus', '--format', 'csv', *args, path).stdout.decode())))
            self.assertEqual([(int(r['cpu']), int(r['busy']), int(r['switches'])) for r in lines], [(cpu, busy, n) for cpu, busy, _, n in expected])
        # Slices have no threads. Without any, the report does not mention them.
        self.assertEqual(as_json('cpus', '--thread', '10', path)['rows'], [])
        self.assertNotIn('busy', as_json('cpus', self.capture)['rows'][0])

    def test_cgroups(self):
        path = self.folder / 'cgroups.syscap'
        profile = made.usual().cgroup(10, '0::/a.slice/x\n').cgroup(99, '4:cpu:/old\n0::/a.slice/x\n').cgroup(3, '0::/system.slice/ssh.service\n')
        profile.parents[11] = 10  # which began while it was recorded
        profile.write(path)
        of = collections.Counter(sample.pid for sample in profile.samples)
        self.assertEqual([(r['cgroup'], r['name'], r['processes'], r['total']) for r in as_json('cgroups', path)['rows']],
                         sorted([('/a.slice/x', 'a.slice', 3, of[10] + of[11] + of[99]),
                                 ('/system.slice/ssh.service', 'ssh.service', 1, of[3])] +
                                [('unknown', '', 1, of[pid]) for pid in of if pid not in (10, 11, 99, 3)], key=lambda row: -row[3]))
        profile = made.usual().cgroup(10, '0::/a.slice/x\n')
        profile.write(path)
        rows = as_json('cgroups', path)['rows']
        self.assertEqual({r['cgroup']: r['total'] for r in rows}, {'/a.slice/x': of[10], 'unknown': sum(of.values()) - of[10]})
        self.assertEqual([r['cgroup'] for r in as_json('cgroups', '--process', '10', path)['rows']], ['/a.slice/x'])
        self.assertEqual(as_json('cgroups', self.capture)['rows'], [])

    def test_idle(self):
        path = self.folder / 'idle.syscap'
        capture = made.Capture(time=made.BEGIN).process('swapper/0', pid=0, time=1).process('/bin/app', pid=7, time=1)
        for i in range(10):
            capture.sample([made.KERNEL, 0xFFFFFFFF81000100 + i], 0 if i < 6 else 7, pid=0 if i < 6 else 7, time=made.BEGIN + i + 1)
        capture.mark('kernel', 'idle', duration=3, pid=0, time=made.BEGIN + 1).save(path)
        for words, n in ((), 4), (('--idle',), 10), (('--process', '0'), 6), (('--process', 'swapper*', '--idle'), 6), (('--cpu', '0'), 0):
            self.assertEqual(as_json('functions', *words, path)['weight']['total'], n, words)
        self.assertEqual(as_json('functions', path)['capture']['samples'], 10)
        self.assertEqual(len(as_json('marks', path)['rows']), 1)
        self.assertEqual(as_json('functions', '--idle', path)['selection'], {'idle': True})
        found = {r['kind']: r for r in as_json(path)['findings']}
        self.assertEqual(found['idle']['text'], '60.0 % of samples are of the idle task and hidden.')
        self.assertEqual(found['idle']['command'], f'sysprof-report summary --idle {path}')
        self.assertNotIn('idle', {r['kind'] for r in as_json('--idle', path)['findings']})

    def test_first_sight(self):
        """The rules, each with a capture in which it holds; all figures are those of other views."""
        found = {r['text']: r for r in as_json(self.capture)['findings']}
        self.assertIn(f'{100 * 50 / len(self.profile.samples):.1f} % of the stacks are truncated', ' '.join(found))
        comm = collections.Counter(self.profile.comm(s.pid) for s in self.profile.samples)
        n = len({s.pid for s in self.profile.samples if self.profile.comm(s.pid) == 'prog'})
        self.assertGreater(n, 1)
        share = comm['prog'] / len(self.profile.samples)
        process = found[f'{100 * share:.1f} % of the samples went to prog, in {n} processes.']
        self.assertEqual(process['command'], f'sysprof-report flame --process prog --merge-processes {self.capture}')
        self.assertEqual(process['selection'], {'process': ['prog'], 'merge-processes': True})
        self.assertAlmostEqual(process['share'], share)
        top = self.profile.functions()[made.Frame('alpha', 'prog', 'user')][0]
        function = found[f'{100 * top / len(self.profile.samples):.1f} % of the samples were in alpha itself.']
        self.assertEqual((function['kind'], function['symbol']), ('cpu', 'alpha'))
        for finding in found.values():
            if 'command' in finding:
                run(*shlex.split(finding['command'])[1:])
        process = {r['kind'] for r in as_json('--process', '10', self.capture)['findings']}
        self.assertNotIn('truncated', process)

    def test_first_sight_of_a_command(self):
        """A Python program that was on a CPU for a quarter of the time, on a busy machine."""
        path = self.folder / 'command.syscap'
        capture = made.Capture(time=made.BEGIN, end_time=made.BEGIN + 10**9)
        capture.metadata('spawnable.argv', "'python3' 'slow.py' ", time=made.BEGIN).metadata('spawnable.pid', '7', time=made.BEGIN)
        capture.process('python3 slow.py', pid=7, time=made.BEGIN).process('/usr/bin/cc1 x.c', pid=9, time=made.BEGIN)
        capture.file('__events__', b'0 ns 1000000 cpu-clock\n', True, time=made.BEGIN)
        for i in range(400):
            pid = 7 if i % 4 == 0 else 9
            capture.sample([made.USER, 0x1000], pid, pid=pid, time=made.BEGIN + 10**6 * i)
        capture.save(path)
        report = as_json(path)
        found = {f['kind']: f for f in report['findings']}
        self.assertEqual(report['selection'], {'command': True})
        self.assertEqual(report['weight']['total'], 100)
        self.assertEqual(report['beside'], {'share': 0.75, 'processes': 1, 'most': 'cc1'})
        self.assertEqual((found['interpreter']['process'], found['interpreter']['share']), ('python3/7', 1))
        self.assertIn('--runtime-names', found['interpreter']['remedy'])
        self.assertIn('--off-cpu', found['wait']['remedy'])
        self.assertAlmostEqual(found['wait']['share'], 1 - 100 / 399)
        self.assertAlmostEqual(found['other-processes']['share'], 0.75)
        text = run(path).stdout.decode()
        self.assertIn('100 of 400 (cpu-clock at 1000 Hz)', text)
        self.assertIn('command python3 slow.py', text.replace("'", ''))
        whole = as_json('--all', path)
        self.assertEqual((whole['weight']['total'], whole['selection']), (400, {'all': True}))
        self.assertNotIn('beside', whole)
        self.assertIn('few-samples', {f['kind'] for f in as_json('--time', '..100ms', path)['findings']})
        self.assertEqual(as_json('functions', path)['weight']['total'], 400)
        self.assertEqual(as_json('functions', '--command', path)['weight']['total'], 100)
        self.assertEqual(as_json('flame', path)['weight']['total'], 100)

    def test_first_sight_of_other_things(self):
        path = self.folder / 'first.syscap'
        capture = made.Capture(time=made.BEGIN)
        for i in range(20):
            late = 900_000_000 if i % 10 == 9 else 0
            capture.mark('gtk', 'paint', '', 5, pid=7, time=made.BEGIN + 10**9 * i // 10 + late // 10)
        for i in range(100):
            capture.sample([made.USER, 0x1000], 7, pid=7, time=made.BEGIN + 10**9 * (7 if i > 20 else i % 10) + i)
        capture.log('Gtk', 'broken', 8, time=made.BEGIN + 5).log('Gtk', 'fine', 64, time=made.BEGIN + 6)
        capture.allocation(0x1000, 70, [0x10], 7, pid=7, time=made.BEGIN + 1)
        capture.allocation(0x2000, 30, [0x10], 7, pid=7, time=made.BEGIN + 2).allocation(0x2000, 0, [], 7, pid=7, time=made.BEGIN + 3)
        capture.save(path)
        found = {r['kind']: r for r in as_json(path)['findings']}
        self.assertEqual(found['logs']['text'], '1 error was logged.')
        self.assertEqual(found['leak']['text'], '70.0 % of allocated memory was never freed: 70 bytes.')
        self.assertTrue(found['busy-second']['text'].startswith('Second 7 has '), found)
        self.assertEqual(found['busy-second']['command'], f'sysprof-report functions --time 7s..8s {path}')
        self.assertTrue(found['marks']['text'].startswith('paint repeats every 100.00 ms'), found)

    def test_slow_frames_and_own_functions(self):
        path = self.folder / 'frames.syscap'
        capture = made.Capture(time=made.BEGIN)
        capture.process('/opt/app', pid=7, time=1)
        names = {'main': 0x1000100, 'draw_grid': 0x1000200, 'int* std::rotate<int*>(int*, int*)': 0x1000300, 'sin': 0x2000100}
        for at, file in (0x1000000, '/opt/app'), (0x2000000, '/usr/lib/x86_64-linux-gnu/libm.so.6'):
            capture.map(at, at + 0x100000, file, pid=7, time=2)
        msec = 10**6
        for i in range(10):
            begin, length = made.BEGIN + 100 * msec * i, {3: 30, 7: 50}.get(i, 5)
            capture.mark('gtk', 'frameclock cycle', '', length * msec, pid=7, time=begin)
            capture.mark('gtk', 'frameclock paint', '', length * msec - 2, pid=7, time=begin + 1)
            capture.mark('gtk', 'widget snapshot', '', length * msec - 9, pid=7, time=begin + 2)
        slow, fast = made.BEGIN + 305 * msec, made.BEGIN + 550 * msec
        for time, n, stack in (slow, 6, ('main', 'draw_grid', 'sin')), (slow, 2, ('main', 'draw_grid')), \
                (fast, 4, ('main', 'int* std::rotate<int*>(int*, int*)')):
            for i in range(n):
                capture.sample([made.USER] + [names[name] + 4 for name in reversed(stack)], 7, pid=7, time=time + i)
        capture.chunked_file('__symbols__', made.symbol_table(
            [(at, at + 0x80, 7, name, {1: 'app', 2: 'libm.so.6'}[at >> 24]) for name, at in names.items()]), time=made.BEGIN)
        capture.save(path)
        findings = as_json(path)['findings']
        frames, = (finding for finding in findings if finding['kind'] == 'frames')
        self.assertEqual(frames['text'], '2 of 10 frames took more than 16.7 ms, the slowest 50.00 ms: mostly in draw_grid, during widget snapshot.')
        self.assertEqual((frames['process'], frames['symbol'], frames['share']), ('app/7', 'draw_grid', 0.2))
        self.assertEqual(frames['command'], f'sysprof-report tree --process 7 --time 700ms..751ms {path}')
        own = next(finding for finding in findings if finding['kind'] == 'cpu' and finding.get('symbol') == 'draw_grid')
        self.assertEqual(own['text'], '66.7 % of the samples were in draw_grid and what it calls, 75 % of that in sin.')
        # The function of the standard library is part of the program's file; main called it.
        main = next(finding for finding in as_json('--time', '500ms..', path)['findings'] if finding.get('symbol') == 'main')
        self.assertTrue(main['text'].startswith('100.0 % of the samples were in main and what it calls'), main)
        self.assertNotIn('frames', {finding['kind'] for finding in as_json('--time', '..300ms', path)['findings']})

    def test_hide_system_and_collapse(self):
        path = self.folder / 'libraries.syscap'
        capture = made.Capture(time=made.BEGIN)
        capture.process('/opt/app', pid=7, time=1)
        for at, file in (0x1000000, '/opt/app'), (0x2000000, '/usr/lib/x86_64-linux-gnu/libc.so.6'), (0x3000000, '/opt/libown.so.1'):
            capture.map(at, at + 0x100000, file, pid=7, time=2)
        names = {'main': 0x1000100, 'work': 0x1000200, 'qsort': 0x2000100, 'merge': 0x2000200, 'own': 0x3000100}
        stacks = collections.Counter({('main', 'qsort', 'merge', 'work'): 3, ('main', 'qsort', 'merge'): 5, ('main', 'own', 'qsort'): 2})
        for stack, n in stacks.items():
            for _ in range(n):
                capture.sample([made.USER] + [names[name] + 4 for name in reversed(stack)], 7, pid=7, time=made.BEGIN + 1)
        capture.chunked_file('__symbols__', made.symbol_table(
            [(at, at + 0x80, 7, name, {1: 'app', 2: 'libc.so.6', 3: 'libown.so.1'}[at >> 24]) for name, at in
             sorted(names.items(), key=lambda item: item[1])]), time=made.BEGIN)
        capture.save(path)

        def folded(*args):
            lines = run('--format', 'folded', *args, path).stdout.decode().splitlines()
            return {tuple(line.rsplit(' ', 1)[0].split(';')[1:]): int(line.rsplit(' ', 1)[1]) for line in lines}

        self.assertEqual(folded(), stacks)
        self.assertEqual(folded('--hide-system'), {('main', 'work'): 3, ('main',): 5, ('main', 'own'): 2})
        self.assertEqual(folded('--merge-function', 'qsort', '--merge-function', 'own'), {('main', 'merge', 'work'): 3, ('main', 'merge'): 5, ('main',): 2})
        one = '[libc.so.6]'
        for spelling in 'libc', 'libc.so.6', 'lib[c]*':
            self.assertEqual(folded('--collapse', spelling), {('main', one, 'work'): 3, ('main', one): 5, ('main', 'own', one): 2})
        rows = {r['symbol']: (r['self'], r['total']) for r in as_json('functions', '--collapse', 'libc', path)['rows']}
        self.assertEqual(rows, {'main': (0, 10), one: (7, 10), 'work': (3, 3), 'own': (0, 2)})
        callees = {r['symbol']: r['total'] for r in as_json('callees', '--focus', 'qsort', '--collapse', 'libc', path)['rows']}
        self.assertEqual(callees, {'work': 3})
        def samples(*args):
            return collections.Counter(tuple(e['symbol'] for e in reversed(r['stack']) if e['kind'] != 'marker')
                                       for r in as_json('samples', *args, path)['rows'])
        self.assertEqual(samples(), stacks)
        self.assertEqual(samples('--hide-system'), folded('--hide-system'))
        self.assertEqual(samples('--collapse', 'libc'), folded('--collapse', 'libc'))
        hidden = {r['symbol']: r['self'] for r in as_json('functions', '--hide-system', path)['rows']}
        self.assertEqual(hidden, {'main': 5, 'work': 3, 'own': 2})
        merged = {r['symbol']: r['self'] for r in as_json('functions', '--merge-function', 'qsort', path)['rows']}
        self.assertEqual(merged, {'main': 0, 'merge': 5, 'work': 3, 'own': 2})

    def test_metadata_and_files(self):
        rows = as_json('metadata', self.capture)['rows']
        self.assertEqual([(r['id'], r['value']) for r in rows], [('hostname', 'box'), ('n-cpu', '2')])
        rows = {r['name']: r for r in as_json('files', self.capture)['rows']}
        self.assertEqual(set(rows), {'/etc/os-release', '/proc/kallsyms.gz', '__symbols__'})
        self.assertEqual(rows['/etc/os-release']['size'], 22)

    def test_search(self):
        counts = {f['symbol']: f['total'] for f in as_json('functions', self.capture)['rows']}
        for query in ('a', 'ALPHA', 'mai', 'nothing like it'):
            rows = as_json('search', '--search', query, self.capture)['rows']
            found = {r['name']: r['count'] for r in rows if r['kind'] == 'symbol'}
            self.assertLessEqual({n: counts[n] for n in counts if query.lower() in n.lower()}.items(), found.items(), query)
            self.assertTrue(all(query.lower() in (r['name'] + r['where']).lower() for r in rows), query)
        ask = lambda *args: [(r['kind'], r['name'], r['where']) for r in as_json('search', '--search', *args, self.capture)['rows']]
        self.assertEqual(ask('release os'), [('file', '/etc/os-release', '')])
        self.assertEqual(ask('hostname'), [('metadata', 'hostname', 'box')])
        self.assertEqual(ask('box hostn'), [('metadata', 'hostname', 'box')])
        self.assertEqual(ask('main')[0][:2], ('symbol', 'main'))
        self.assertIn('process', [row[0] for row in ask('prog')])
        self.assertIn(b'--search', run('search', self.capture, check=False).stderr)
        self.assertIn(b'--search', run('search', '--search', ' ', self.capture, check=False).stderr)

    def test_search_that_finds_nothing(self):
        for view in 'search', 'functions', 'metadata':
            shown = run(view, '--search', 'none such', self.capture).stdout.decode()
            self.assertIn("No row contains 'none such'.", shown, view)

    def test_search_in_a_selection(self):
        selected = {f['symbol']: f['total'] for f in as_json('functions', '--process', 'prog', self.capture)['rows']}
        found = as_json('search', '--process', 'prog', '--search', 'a', self.capture)['rows']
        self.assertEqual({r['name']: r['count'] for r in found if r['kind'] == 'symbol' and 'a' in r['name'].lower()},
                         {name: total for name, total in selected.items() if 'a' in name.lower()})
        self.assertLess(len(selected), len(self.profile.functions()))

    def test_search_narrows_every_view(self):
        rows = as_json('functions', '--search', 'ALPHA', self.capture)['rows']
        self.assertEqual([r['symbol'] for r in rows], [f.symbol for f in self.profile.functions() if 'alpha' in f.symbol])
        self.assertEqual([r['id'] for r in as_json('metadata', '--search', 'box host', self.capture)['rows']], ['hostname'])
        self.assertEqual(as_json('metadata', '--search', '', self.capture)['rows'], as_json('metadata', self.capture)['rows'])

        def leaves(nodes, above=()):
            for node in nodes:
                path = (*above, node['symbol'])
                if node['children']:
                    yield from leaves(node['children'], path)
                else:
                    yield path
        paths = list(leaves(as_json('tree', '--search', 'alpha', self.capture)['rows']))
        self.assertTrue(paths)
        self.assertTrue(all('alpha' in path[-1] for path in paths), paths)

    def test_search_comes_before_the_limit(self):
        """Rows that do not match are not counted, neither for the limit nor as rows that it hides."""
        all_rows = as_json('samples', '--limit', '0', self.capture)['rows']
        texts = ['\n'.join(str(function) for function in row['stack']) for row in all_rows]
        last = next(name for name in sorted({f.symbol for f in self.profile.functions()})
                    if name not in texts[0] and any(name in text for text in texts))
        fit = [row for row, text in zip(all_rows, texts) if last in text]
        self.assertEqual(as_json('samples', '--search', last, '--limit', '1', self.capture)['rows'], fit[:1])
        fit = [f.symbol for f in self.profile.functions() if 'alpha' in f.symbol]
        self.assertNotIn(b' more', run('functions', '--search', 'alpha', '--limit', str(len(fit)), self.capture).stdout)

    def test_search_of_several_terms(self):
        """Each of them somewhere in a row."""
        rows = as_json('samples', '--limit', '0', self.capture)['rows']
        texts = ['\n'.join(map(str, row.values())).lower() for row in rows]
        n_found = set()
        for terms in ('alpha', 'alpha beta', 'BETA alpha', 'main alpha beta helper', 'alpha nowhere', ' '.join(['alpha'] * 100), ' '.join(['alpha'] * 100 + ['beta']),
                      ' '.join(['alpha'] * 100 + ['nowhere'])):
            found = as_json('samples', '--limit', '0', '--search', terms, self.capture)['rows']
            self.assertEqual(found, [row for row, text in zip(rows, texts) if all(term in text for term in terms.lower().split())], terms)
            n_found.add(len(found))
        self.assertGreater(len(n_found), 2)

    def test_limit_zero_is_all(self):
        self.assertEqual(len(as_json('functions', '--limit', '0', self.capture)['rows']), len(self.profile.functions()))
        self.assertEqual(len(as_json('functions', '--limit', '2', self.capture)['rows']), 2)

    def test_capture_without_samples(self):
        empty = self.folder / 'empty.syscap'
        made.Profile().write(empty)
        for view in ('summary', 'functions', 'tree', 'flame', 'processes', 'threads', 'samples', 'quality', 'metadata', 'files'):
            for form in ('json', 'text', 'html', 'svg'):
                run(view, '--format', form, empty)
            report = as_json(view, empty)
            self.assertEqual(report['weight']['total'], len(report['rows']) if view in ('files', 'metadata') else 0)
        self.assertEqual(run('--format', 'folded', empty).stdout, b'')

    def test_standard_input(self):
        with open(self.capture, 'rb') as stream:
            report = json.loads(run('functions', '--format', 'json', '-', stdin=stream).stdout)
        self.assertEqual(report['weight']['total'], len(self.profile.samples))


    def test_schema(self):
        """All views keep the installed schema, by a validator that is not ours."""
        try:
            import jsonschema
        except ImportError:
            self.skipTest('needs the Python package jsonschema')
        schema = json.loads((pathlib.Path(__file__).parents[2] / 'data' / 'sysprof-report.schema.json').read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for args in (('summary',), ('functions', '--process', 'prog'), ('tree', '--no-kernel'), ('flame', '--threads'), ('samples',),
                     ('callers', '--focus', 'alpha'), ('callees', '--focus', 'main'), ('processes', '--details'), ('threads',),
                     ('quality',), ('metadata',), ('files',), ('heat',), ('cpus',), ('cgroups',), ('search', '--search', 'a'),
                     ('functions', '--hide-system', '--collapse', 'x')):
            validator.validate(as_json(*args, self.capture))
        broken = as_json('functions', self.capture)
        broken['rows'][0]['self'] = '400'
        self.assertFalse(validator.is_valid(broken))


    def test_every_view_in_every_form(self):
        """Formats for other programs parse, and have the same number of rows."""
        views = re.findall(r'^  (\w+) ', run('--help').stdout.decode().split('\nViews:')[1].split('\n\n')[0], re.M)
        self.assertGreater(len(views), 20)
        needs = {'callers': ['--focus', 'alpha'], 'callees': ['--focus', 'main'], 'source': ['--focus', 'main'], 'disassembly': ['--focus', 'main'], 'search': ['--search', 'a']}
        count = lambda rows: sum(1 + count(row.get('children', [])) for row in rows)
        if b'built without a disassembler' in run('disassembly', *needs['disassembly'], self.capture, check=False).stderr:
            views.remove('disassembly')
        for view in views:
            words = [view, *needs.get(view, []), self.capture]
            with self.subTest(view):
                report = as_json(*words)
                ET.fromstring(run(*words, '--format', 'svg').stdout)
                self.assertIn(b'</html>', run(*words, '--format', 'html').stdout)
                if view == 'summary':
                    continue
                table = list(csv.reader(io.StringIO(run(*words, '--format', 'csv').stdout.decode(), newline='')))
                self.assertEqual(len(table), 1 + count(report['rows']))
                self.assertEqual(len({len(row) for row in table}), 1)
                bars = [line.replace('\\|', '').count('|') for line in run(*words, '--format', 'markdown').stdout.decode().splitlines()
                        if line.startswith('|')]
                self.assertEqual(len(bars), 2 + count(report['rows']) if report['rows'] else 0)
                self.assertLessEqual(len(set(bars)), 1)


class Looks(Base):
    def test_folded(self):
        lines = run('--format', 'folded', self.capture).stdout.decode().splitlines()
        found = {stack: int(weight) for stack, weight in (line.rsplit(' ', 1) for line in lines)}
        self.assertEqual(found, dict(self.profile.folded()))
        self.assertEqual(len(lines), len(found), 'equal stacks are one line')
        self.assertEqual(lines, sorted(lines))

    def test_folded_by_thread(self):
        text = run('--format', 'folded', '--threads', '--process', '10', self.capture).stdout.decode()
        self.assertIn('prog;Thread 12;_start;main;beta 100\n', text)

    def test_threads_have_names_in_trees(self):
        path = self.folder / 'named-tree.syscap'
        profile = made.usual()
        profile.files.append(('__threads__', b'10 12 0 al;pha\n'))
        profile.write(path)
        text = run('--format', 'folded', '--threads', '--process', '10', path).stdout.decode()
        self.assertIn('prog;al:pha (12);_start;main;beta 100\n', text)
        for options in ((), ('--merge-processes',), ('--bottom-up',)):
            text = run('tree', '--format', 'json', '--threads', '--limit', '0', *options, path).stdout.decode()
            self.assertIn('"al;pha (12)"', text)
            self.assertNotIn('"Thread 12"', text)

    def test_folded_stacks_are_the_same_when_they_are_read_back(self):
        commands = ('plain', 'kworker/0:0-events', 'kworker/u8:3-events_unbound', 'ksoftirqd/0', 'jbd2/dm-0-8', 'a-12', 'a-12/13', 'x-0', '-5', '7',
                    '1.5', '/usr/bin/with path/and blank', 'semi;colon', '#hash', 'Web Content', 'a_name_of_more_than_fifteen/characters')
        names = ('semi;colon', 'a/b/c', 'ends in 12', 'ends in 1e5', 'ends in .5', 'blank at its end ', 'two  ', '12', '1.5', 'op (int, char) const 3',
                 '#hash', 'new\tline', 'bad \udcff', 'plain')
        profile = made.Profile()
        for pid, command in enumerate(commands, 1):
            profile.process(pid, command)
            for n, name in enumerate(names, 1):
                profile.add(n, pid, pid, '_start', name).add(1, pid, pid, '_start', name, 'leaf')
        path = self.folder / 'round.syscap'
        profile.write(path)
        folded = run('--format', 'folded', path).stdout
        for _ in range(2):
            (self.folder / 'round.folded').write_bytes(folded)
            again = run('--format', 'folded', self.folder / 'round.folded').stdout
            self.assertEqual(again.decode().splitlines(), folded.decode().splitlines())

    def test_folded_rewrites_what_readers_trip_over(self):
        path = self.folder / 'names.syscap'
        (made.Profile().process(1, 'a')
         .add(3, 1, 1, '_start', 'semi;colon', 'new line', 'ends in 12')
         .add(2, 1, 1, '_start', '#hash', 'bad \udcff')).write(path)
        lines = run('--format', 'folded', path).stdout.decode().splitlines()
        self.assertEqual(lines, ['a;_start;#hash;bad \ufffd 2', 'a;_start;semi:colon;new line;ends in_12 3'])

    def test_folded_is_read_back(self):
        first = run('--format', 'folded', self.capture).stdout
        path = self.folder / 'stacks.out'
        path.write_bytes(first)
        self.assertEqual(run('--format', 'folded', path).stdout, first)
        rows = {r['symbol']: (r['self'], r['total']) for r in as_json('functions', path)['rows']}
        self.assertEqual(rows, {f.symbol: w for f, w in self.profile.functions().items()})
        with open(path, 'rb') as stream:
            self.assertEqual(run('--format', 'folded', '-', stdin=stream).stdout, first)
        path.write_bytes(b'not a stack\n' + first)
        done = run('functions', '--format', 'json', path)
        self.assertIn(b'ignored 1 of', done.stderr)
        self.assertIn(b'the first is line 1.', done.stderr)
        self.assertEqual(json.loads(done.stdout)['weight']['total'], len(self.profile.samples))

    def test_imported_stacks_count_as_whole(self):
        path = self.folder / 'whole.folded'
        path.write_bytes(b'a;main;f 3\nb;g 1\n')
        self.assertEqual(as_json('quality', path)['rows'], [
            {'binary': '', 'reason': 'complete', 'samples': 4, 'remedy': '', 'example': ''}])
        self.assertEqual(as_json('functions', path)['capture']['stacks'], {'complete': 4, 'total': 4})
        text = run(path).stdout.decode()
        self.assertIn('converted', text)
        self.assertNotIn('frame pointers', text)
        self.assertEqual(run('functions', path).stdout.decode().splitlines()[0], f'Functions of {path}: 4 samples')

    def test_folded_with_any_bytes_is_read_back(self):
        path = self.folder / 'odd.syscap'
        (made.Profile().process(1, 'a b').add(3, 1, 1, '_start', 'f <>&"\'\\;#', 'x 12').add(2, 1, 1, '_start', 'bad \udcff')).write(path)
        first = run('--format', 'folded', path).stdout
        (self.folder / 'odd.folded').write_bytes(first)
        self.assertEqual(run('--format', 'folded', self.folder / 'odd.folded').stdout, first)

    def test_text(self):
        text = run('functions', self.capture).stdout.decode()
        self.assertIn(f'{len(self.profile.samples)} samples', text)
        rows = {row.split()[-1]: row for row in text.splitlines() if '%' in row}
        for frame, (own, total) in self.profile.functions().items():
            n = len(self.profile.samples)
            self.assertEqual(rows[frame.symbol].split(),
                             [f'{100 * own / n:.2f}', '%', str(own), f'{100 * total / n:.2f}', '%', str(total),
                              frame.binary, frame.symbol])

    def test_text_of_the_summary_is_one_screen(self):
        text = run(self.capture).stdout.decode()
        self.assertLess(len(text.splitlines()), 48)
        for words in ('box', '2 x', 'Some OS', '810', 'lost', 'complete', 'Processes', 'Functions', 'alpha', 'sysprof-report tree'):
            self.assertIn(words.removeprefix('sysprof-report '), text)

    def test_text_does_not_depend_on_the_terminal(self):
        env = {**os.environ, 'COLUMNS': '20', 'TERM': 'xterm', 'LC_ALL': 'C'}
        plain = subprocess.run([REPORT, 'tree', self.capture], stdout=subprocess.PIPE, env=env).stdout
        self.assertEqual(plain, run('tree', self.capture).stdout)
        self.assertNotIn(b'\x1b', plain)

    def on_terminal(self, *args, env=(), columns=60, rows=20):
        leader, follower = pty.openpty()
        import fcntl
        import struct
        import termios
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        environment = {**os.environ, 'TERM': 'xterm-256color', 'LC_ALL': 'C.UTF-8', 'PAGER': 'cat', **dict(env)}
        environment.pop('NO_COLOR', None)
        environment.update(dict(env))
        child = subprocess.Popen([REPORT, *map(str, args)], stdout=follower, env=environment)
        os.close(follower)
        text = b''
        while True:
            try:
                got = os.read(leader, 65536)
            except OSError:
                break
            if not got:
                break
            text += got
        os.close(leader)
        self.assertEqual(child.wait(), 0)
        return text.decode()

    def test_terminal(self):
        text = self.on_terminal('tree', self.capture)
        self.assertIn('\x1b[', text)
        bare = re.sub('\x1b\\[[0-9;]*m', '', text).splitlines()
        self.assertLessEqual(max(map(len, bare[1:])), 60)
        self.assertLessEqual(len(bare), 20)
        self.assertNotIn('\x1b', self.on_terminal('tree', self.capture, env={'NO_COLOR': '1'}))
        self.assertNotIn('\x1b', self.on_terminal('tree', self.capture, env={'TERM': 'dumb'}))
        self.assertIn('more (--limit 0', self.on_terminal('functions', self.capture, rows=10))

    def test_flame_graphs_have_the_colors_of_the_terminal(self):
        for env, want, others in (({'COLORTERM': 'truecolor'}, '\x1b[48;2;', ('48;5',)), ({'COLORTERM': '24bit'}, '\x1b[48;2;', ('48;5',)),
                                  ({'COLORTERM': '', 'TERM': 'screen-256color'}, '\x1b[48;5;', ('48;2',)),
                                  ({'COLORTERM': '', 'TERM': 'linux'}, '\x1b[4', ('48;', '38;'))):
            text = self.on_terminal('flame', self.capture, env=env)
            self.assertIn(want, text, env)
            for other in others:
                self.assertNotIn(other, text, env)

    def test_text_is_ascii_where_the_locale_is(self):
        for view in ('flame', 'functions', 'summary'):
            for env in ({'LC_ALL': 'C'}, {'LC_ALL': 'POSIX'}):
                text = self.on_terminal(view, self.capture, env={'NO_COLOR': '1', **env}, columns=40)
                self.assertTrue(text.isascii(), text)
        self.assertIn('|alpha', self.on_terminal('flame', self.capture, env={'LC_ALL': 'C', 'NO_COLOR': '1'}))
        self.assertIn('\u2502alpha', self.on_terminal('flame', self.capture, env={'NO_COLOR': '1'}))

    def bare_terminal(self, *args, **options):
        return re.sub('\x1b\\[[0-9;]*m', '', self.on_terminal(*args, **options)).splitlines()

    def test_names_are_short_and_suffixes_dim_on_a_terminal_alone(self):
        path = self.folder / 'names.syscap'
        long = 'void std::vector<std::pair<int, int>, std::allocator<std::pair<int, int> > >::emplace_back<int, int>(int&&, int&&)'
        cut = 'parse_everything(char const*, unsigned long) [clone .isra.0] [clone .cold]'
        made.Profile().process(1, '/bin/app').add(50, 1, 1, 'main', long, 'leaf.part.0').add(50, 1, 1, 'main', cut).write(path)
        text = self.on_terminal('functions', path, columns=100, rows=40)
        self.assertIn(' std::vector<…>::emplace_back<…>(…)', text)
        self.assertNotIn('pair<', text)
        self.assertIn('leaf\x1b[2m.part.0\x1b[0m', text)
        self.assertIn('parse_everything(…)\x1b[2m [clone .isra.0] [clone .cold]\x1b[0m', text)
        self.assertIn('leaf.part.0 < std::vector<…>::emplace_back<…>(…) < main',
                      self.on_terminal('samples', path, columns=100, rows=40))
        wide = self.on_terminal('functions', path, columns=250, rows=40)
        self.assertIn(long, wide)
        self.assertIn('pair<', self.on_terminal('functions', path, '--search', 'pair', columns=250, rows=40))
        self.assertIn('emplace_back', self.on_terminal('functions', path, '--search', 'pair', columns=100, rows=40))
        flame = self.on_terminal('flame', path, '--focus', 'emplace_back', '--merge-processes', columns=100, rows=40)
        self.assertIn('vector<', flame)
        for args in (['functions'], ['tree'], ['functions', '--format', 'csv'], ['--format', 'folded'],
                     ['functions', '--format', 'markdown']):
            whole = html.unescape(run(*args, path).stdout.decode()).replace('\\', '')
            self.assertIn(long, whole, args)
            self.assertIn(cut, whole, args)
        names = [row['symbol'] for row in as_json('functions', path)['rows']]
        self.assertEqual({long, cut, 'leaf.part.0', 'main'} - set(names), set())

    def test_terminals_hold_what_matters(self):
        """Also a narrow one: what a row is about, its graph, and what to do about it."""
        path = self.folder / 'wide-events.syscap'
        capture = made.Capture(time=made.BEGIN)
        capture.ctrdef([(1, 'Memory', 'Used', '', False), (2, 'Disk', 'Total Reads (Combined)', '', False)], time=made.BEGIN)
        for i in range(64):
            capture.ctrset([(1, 12_345_678_901 + i * 10**8), (2, i)], time=made.BEGIN + i * 10**8)
            capture.mark('gtk', 'frameclock cycle', 'message', 10**6 << i % 5, pid=7, time=made.BEGIN + i * 10**8)
        capture.process('/usr/lib/a/very/long/way/to/the/program --with options', pid=7, time=made.BEGIN)
        capture.file('/etc/os-release', b'NAME=x', time=made.BEGIN)
        for i in range(200):
            capture.sample([made.USER, 0x1000], 7, pid=7, time=made.BEGIN + i * 10**7)
        capture.save(path)
        for columns in (80, 140):
            with self.subTest(columns=columns):
                used = next(line for line in self.bare_terminal('counters', path, columns=columns) if ' Used ' in line)
                self.assertGreaterEqual(len(set(used) & set('▁▂▃▄▅▆▇█')), 5, used)
                self.assertIn(' 18.6 GB ', used)
                marks = self.bare_terminal('marks', '--by-name', path, columns=columns)
                self.assertTrue(marks[-1].endswith(' frameclock cycle'), marks)
                self.assertEqual('▇' in marks[-1] or '█' in marks[-1], columns > 80)
                self.assertIn('/etc/os-release', ' '.join(self.bare_terminal('files', path, columns=columns)))
                self.assertRegex('\n'.join(self.bare_terminal('heat', path, columns=columns)), '[▁▂▃▄▅▆▇█]{20}')
                self.assertIn('program --with options', ' '.join(self.bare_terminal('processes', path, columns=columns)))
                quality = ' '.join(' '.join(self.bare_terminal('quality', path, columns=columns)).split())
                for row in as_json('quality', path)['rows']:
                    if row['remedy']:
                        self.assertIn(row['remedy'] if columns == 80 else row['remedy'][:20], quality)

    def test_summary_suits_the_screen(self):
        found = as_json(self.capture)['findings']
        for columns in (80, 140):
            for rows in (26, 40, 60):
                lines = self.bare_terminal(self.capture, columns=columns, rows=rows)
                self.assertLess(len(lines), rows)
                text = ' '.join(' '.join(lines).split())
                for finding in found:
                    self.assertIn(finding['text'], text)
                    if rows >= 40 and 'command' in finding:
                        self.assertIn(finding['command'], text)
                self.assertIn(' alpha', text)

    def test_a_summary_that_is_paged_is_whole(self):
        whole = [line.split() for line in self.bare_terminal('summary', self.capture, columns=100, rows=200)]
        n_paged = 0
        for rows in range(6, 31):
            lines = self.bare_terminal('summary', self.capture, columns=100, rows=rows)
            if len(lines) >= rows:
                n_paged += 1
                self.assertEqual([line.split() for line in lines], whole)
        self.assertGreater(n_paged, 5)

    def test_details_stand_below_their_process(self):
        lines = run('processes', '--details', '--process', '10', self.capture).stdout.decode().splitlines()
        row = [i for i, line in enumerate(lines) if line.lstrip().startswith('10 ')][0]
        self.assertEqual(lines[row + 1].split(), ['THREADS', '10', '12'])
        self.assertEqual(lines[row + 2].split()[0], 'MAPS')
        self.assertIn('/usr/bin/prog', lines[row + 2])
        page = run('processes', '--details', '--format', 'html', self.capture).stdout.decode()
        self.assertIn('10<br>12<br>', page)

    def test_terminals_of_any_width(self):
        path = self.folder / 'wide.syscap'
        (made.Profile().process(1, '/usr/bin/' + 'long' * 100).process(2, '日本語' * 30)
         .add(30, 1, 1, '_start', 'f' * 300).add(20, 1, 1, '名前' * 90).add(10, 2, 2, *[f'level{i}' for i in range(90)])
         .write(path))
        for columns in (60, 80, 120, 200):
            for view in (['summary'], ['functions'], ['tree'], ['callers', '--focus', 'fff'], ['flame'], ['flame', '--icicle'], ['processes'], ['processes', '--details'],
                         ['threads'], ['samples'], ['quality'], ['metadata'], ['files']):
                lines = re.sub('\x1b\\[[0-9;]*m', '', self.on_terminal(*view, path, columns=columns, rows=30)).splitlines()
                if columns < 80:
                    lines = [line for line in lines if 'sysprof-report' not in line and '--limit' not in line and '-o FILE' not in line]
                for line in lines:
                    self.assertLessEqual(columns_of(line), columns, f'{view}: {line!r}')

    def test_narrow_frames_keep_their_place(self):
        path = self.folder / 'narrow.syscap'
        profile = made.Profile().process(1, 'a')
        for i in range(200):
            profile.add(1, 1, 1, '_start', f'f{i:03}')
        profile.add(200, 1, 1, '_start', 'half').write(path)
        row = [line for line in run('flame', path).stdout.decode().splitlines() if '│half' in line][0]
        self.assertEqual((len(row), row.index('│half')), (100, 50))

    def test_pager(self):
        text = self.on_terminal('functions', '--limit', '0', self.capture, rows=8, env={'PAGER': 'sed s/^/paged:/'})
        self.assertTrue(all(line.startswith('paged:') for line in text.splitlines()))
        for words in (('--no-pager', 'functions', '--limit', '0'), ('functions', '--limit', '0', '--no-pager')):
            self.assertNotIn('paged:', self.on_terminal(*words, self.capture, rows=8, env={'PAGER': 'sed s/^/paged:/'}))
        text = self.on_terminal('functions', self.capture, rows=50, env={'PAGER': 'sed s/^/paged:/'})
        self.assertNotIn('paged:', text)

    def test_names_do_not_reach_terminals_raw(self):
        path = self.folder / 'escape.syscap'
        made.Profile().process(1, 'a\x1b]0;x\x07').add(3, 1, 1, '_start', 'evil\x1b[31m\x9b1m').write(path)
        for view in ('functions', 'tree', 'flame', 'processes', 'samples', 'summary'):
            self.assertNotRegex(run(view, path).stdout.decode(), '[\x00-\x09\x0b-\x1f\x7f-\x9f]')

    def test_pictures_are_well_formed(self):
        for view in ('flame', 'functions', 'tree', 'summary', 'samples'):
            root = ET.fromstring(run(view, '--format', 'svg', self.capture).stdout)
            self.assertEqual(root.tag, '{http://www.w3.org/2000/svg}svg')
        svg = run('flame', '--format', 'svg', '--title', 'A & B', '--width', '900', '--height', '20', self.capture).stdout
        self.assertIn(b'width="900"', svg)
        self.assertIn(b'A &amp; B', svg)
        self.assertIn(b'<title>alpha (50 samples, 6.17%)</title>', svg)

    def test_pages(self):
        for view in ('flame', 'functions', 'tree', 'summary', 'samples', 'quality'):
            page = run(view, '--format', 'html', self.capture).stdout.decode()
            self.assertTrue(page.startswith('<!DOCTYPE html>'))
            self.assertNotRegex(page, r'(src|href)="(?!data:)')
            self.assertIn('alpha', page) if view != 'quality' else self.assertIn('frame-pointer', page)

    def test_depth_1000_and_long_names(self):
        path = self.folder / 'deep.syscap'
        (made.Profile().process(1, 'deep').add(2, 1, 1, '_start', *[f'level{i}' for i in range(1000)])
         .add(1, 1, 1, '_start', 'L' * 10000)).write(path)
        folded = run('--format', 'folded', path).stdout.decode()
        self.assertIn(';level998;level999 2\n', folded)
        self.assertIn('L' * 10000, folded)
        report = run('tree', '--format', 'json', path).stdout.decode()
        level, deepest = 0, 0
        for character in re.sub(r'"(\\.|[^"\\])*"', '', report):
            level += (character in '[{') - (character in ']}')
            deepest = max(deepest, level)
        self.assertEqual(deepest, 249)
        self.assertEqual(report.count('"deeper": 2'), 1)
        self.assertEqual(json.loads(report)['rows'][0]['total'], 3)
        self.assertIn(400 * ' ' + '[1002] level999\n', run('tree', path).stdout.decode())
        for form in ('text', 'html', 'svg'):
            self.assertIn('level999', run('tree', '--format', form, path).stdout.decode())
            self.assertTrue(run('flame', '--format', form, path).stdout)

    def assert_chain(self, report, symbols, n_samples):
        """The rows of JSON are `symbols`, each the only child of the one before, as far as JSON nests."""
        rows, found = json.loads(report)['rows'], []
        while rows:
            self.assertEqual(len(rows), 1)
            row = rows[0]
            found.append(row['symbol'])
            rows = row.get('children')
        self.assertGreater(len(found), 100)
        self.assertEqual(found, symbols[:len(found)])
        self.assertEqual(row['deeper'], n_samples)

    def test_stacks_stay_whole(self):
        for depth in 5000, 8000:
            # Each third function calls itself once.
            names = [f'f{i - (i % 3 == 1)}' for i in range(depth)]
            folded = [name for i, name in enumerate(names) if i == 0 or name != names[i - 1]]
            path = self.folder / f'{depth}.syscap'
            (made.Profile().process(1, 'deep').add(3, 1, 1, *names)).write(path)
            for words, stack in ((), names), (('--fold-recursion',), folded):
                self.assertEqual(run('--format', 'folded', *words, path).stdout.decode(), f'deep;{";".join(stack)} 3\n')
                for view in 'tree', 'flame':
                    self.assert_chain(run(view, '--format', 'json', *words, path).stdout, ['All Processes', 'deep', *stack], 3)
                    rows = run(view, '--format', 'csv', *words, path).stdout.decode().splitlines()
                    self.assertTrue(rows[-1].startswith(f'{len(stack) + 1},{stack[-1]},'), rows[-1])
                rows = as_json('samples', *words, path)['rows']
                self.assertEqual([[e['symbol'] for e in row['stack'] if e['kind'] != 'marker'] for row in rows], [stack[::-1]] * 3)
            reverse = run('tree', '--bottom-up', '--format', 'json', path).stdout
            self.assert_chain(reverse, ['All Processes', 'deep', *names[::-1]], 3)
            self.assertEqual({r['symbol']: (r['self'], r['total']) for r in as_json('functions', path)['rows']},
                             {name: (3 if name == names[-1] else 0, 3) for name in names})
            for form in 'text', 'markdown', 'html', 'svg':
                self.assertIn(names[-1], run('tree', '--format', form, path).stdout.decode())
                self.assertIn(names[-1], run('samples', '--format', form, path).stdout.decode())
            lines = run('flame', path).stdout.decode().splitlines()
            self.assertEqual(len(lines), 2 + len(names) + 2)


class Usage(Base):
    def refuse(self, status, words, *args):
        done = run(*args, check=False)
        message = done.stderr.decode()
        self.assertEqual(done.returncode, status, f'{args}: {message}')
        self.assertEqual(message.count('\n'), 1, 'one line')
        self.assertTrue(message.startswith('sysprof-report: '))
        self.assertIn(words, message)
        self.assertEqual(done.stdout, b'')

    def test_wrong_usage(self):
        capture = self.capture
        for words, *args in (
                ('No capture given.',), ('./functions', 'functions'), ("Unknown view 'nosuch'", 'nosuch', capture),
                ('Unexpected argument', 'tree', capture, 'x'),
                ('--wat', '--wat', capture), ('--limit x', '--limit', 'x', capture), ('--min', '--min', '200', capture),
                ("Unknown format 'bmp'", '--format', 'bmp', capture), ('unknown weight', '--weight', 'gold', capture),
                ("'x.bmp'", '-o', 'x.bmp', capture), ('--focus SYMBOL', 'callers', capture),
                ('it has symbol, binary', 'functions', '--sort', 'size', capture), ('--time', '--time', 'x', capture),
                ('--mark x: give group and name', '--mark', 'x', capture), ("--cgroup ''", '--cgroup', '', capture),
                ('--colors pink', 'flame', '--colors', 'pink', capture), ('capture itself', '-o', capture, '--format', 'text', capture)):
            self.refuse(2, words, *args)

    def test_what_is_not_built(self):
        """Known words that this version cannot serve are no wrong usage."""
        capture = self.capture
        for words, *args in (
                ("format 'pprof' yet", '--format', 'pprof', capture),
                ("format 'pprof' yet", '-o', 'x.pb.gz', capture), ('has no off-CPU data', '--weight', 'wall', capture),
                ('has no off-CPU data', '--weight', 'time', capture),
                ('has no sampling event', '--weight', 'period', capture),
                ('has no sampling event', '--weight', 'period:cycles', capture)):
            self.refuse(1, words, *args)
        for switch in ('--no-debuginfod', '--no-inlines'):
            run('functions', switch, capture)

    def test_tells_what_was_meant(self):
        self.refuse(1, "Did you mean 'alpha'?", 'callers', '--focus', 'alhpa', self.capture)
        self.refuse(1, "Did you mean 'do_syscall_64'?", 'tree', '--focus', 'do_sycall_64', self.capture)
        self.refuse(2, "Did you mean 'functions'?", 'function', self.capture)
        self.refuse(2, 'Did you mean --sort?', 'functions', '--srot', 'self', self.capture)
        self.refuse(2, "'x' for --depth. sysprof-report --help", 'tree', '--depth', 'x', self.capture)
        self.refuse(2, '--details takes no value', 'processes', '--details=no', self.capture)
        self.refuse(2, '--details does not work with', 'functions', '--details', self.capture)
        for option, view in (('--by-name', 'marks'), ('--by-member', 'dbus'), ('--by-lock', 'waits'), ('--live', 'allocations'),
                             ('--whole-files', 'source')):
            self.refuse(2, f"{option} works only with the view '{view}'", 'functions', option, self.capture)
        self.refuse(2, 'The view comes first: sysprof-report tree ', self.capture, 'tree')
        self.assertNotIn(b'Did you', run('callers', '--focus', 'nobody', self.capture, check=False).stderr)

    def test_words_of_perf_are_explained(self):
        for word, hint in (('annotate', "'source' and 'disassembly'"), ('report', "'functions'"), ('script', "'samples'"), ('help', '--help')):
            self.refuse(2, hint, word, self.capture)
            self.refuse(2, hint, word)
        for option, hint in (('-p', '--process'), ('--pid', '--process'), ('-i', 'last word'), ('-g', 'callees'), ('--top', 'sysprof-cli --top')):
            self.refuse(2, hint, option, self.capture)
        self.refuse(1, 'cannot compare', 'diff', self.capture, self.capture)
        self.refuse(2, f'Did you mean: sysprof-report callers --focus malloc {self.capture}', 'callers', 'malloc', self.capture)
        self.refuse(2, 'Did you mean: sysprof-report callers --focus malloc', 'callers', 'malloc')

    def test_the_default_capture_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(check=False, cwd=folder).returncode, 2)
            os.link(self.capture, os.path.join(folder, 'capture.syscap'))
            for words in ([], ['functions'], ['--limit', '0']):
                self.assertIn(b' alpha', run(*words, cwd=folder).stdout)

    def test_views_refuse_options_of_others(self):
        values = {'--sort': 'total', '--limit': '1', '--min': '1', '--depth': '1', '--focus': 'alpha', '--search': 'alpha', '--width': '200',
                  '--height': '20', '--colors': 'kind', '--time': '0..', '--cpu': '0', '--mark': 'a/b', '--weight': 'samples', '--debug-dir': '/',
                  '--sysroot': '/', '--extract': '/etc/os-release', '--format': 'text'}
        entry = re.compile(r'(?m)^  (?:-\w, )?(--[a-z-]+)(=?)')
        every = dict(entry.findall(run('--help').stdout.decode()))
        views = re.findall(r'(?m)^  ([a-z]+) ', run('--help').stdout.decode().split('\nViews:')[1].split('\nExamples:')[0])
        self.assertGreater(len(views), 20)
        for view in views:
            text = run(view, '--help').stdout.decode()
            own = dict(entry.findall(text))
            self.assertIn(f'Usage: sysprof-report {view} ', text)
            self.assertLess(len(own), len(every))
            self.assertLessEqual(own.items(), every.items())
            for option, value in every.items():
                if option in ('--help', '--version', '--open', '--output', '--annotate', '--lines'):
                    continue
                words = [view, option, *([values.get(option, 'alpha')] if value else []), self.capture]
                if option not in own:
                    self.refuse(2, f'{option} ', *words)
                else:
                    self.assertNotRegex(run(*words, check=False).stderr.decode(), 'does not work with|works only with', words)
        for view, options in {'functions': ('--focus', '--by-lock', '--details'), 'heat': ('--focus', '--depth'), 'waits': ('--focus',),
                              'marks': ('--weight', '--hide-system')}.items():
            shown = entry.findall(run(view, '--help').stdout.decode())
            for option in options:
                self.assertNotIn(option, [name for name, _ in shown])

    def test_an_empty_selection_says_why(self):
        for option, value in (('--process', 'nope'), ('--time', '900s..'), ('--thread', '12345'), ('--cpu', '7'), ('--symbol', 'nope'),
                              ('--binary', 'nope')):
            for view, form in (('functions', 'text'), ('tree', 'text'), ('flame', 'text'), ('summary', 'text'), ('functions', 'html')):
                text = html.unescape(run(view, option, value, '--format', form, self.capture).stdout.decode())
                self.assertIn(f"None of the {len(self.profile.samples)} samples", text)
                self.assertIn(f'matches {option} {value}', text)
        self.assertIn('No rows.', run('callers', '--focus', '_start', self.capture).stdout.decode())
        text = run('callers', '--focus', 'alpha', '--process', 'kworker*', self.capture).stdout.decode()
        self.assertIn('None in the selection (--process kworker*).', text)
        path = self.folder / 'marks.syscap'
        made.usual().mark('Compositor', 'Paint', 10**6, 2 * 10**6).write(path)
        for option, value, advice in (('--cpu', '9', 'The samples are of CPU'), ('--time', '900..', 'The recording is '),
                                      ('--mark', 'a/b', 'The marks are: Compositor/Paint.'), ('--thread', '12345', "'threads'"),
                                      ('--process', 'nope', "'processes'"), ('--symbol', 'nope', "'functions'")):
            text = run('functions', option, value, path).stdout.decode()
            self.assertIn(advice, text.split('matches')[1])
        cpus = {row['cpu'] for row in as_json('cpus', path)['rows'] if row['total']}
        listed = run('functions', '--cpu', '99', path).stdout.decode().split('The samples are of CPU ')[1].strip().rstrip('.')
        ends = [part.split('-') for part in listed.split(', ')]
        self.assertEqual({cpu for part in ends for cpu in range(int(part[0]), int(part[-1]) + 1)}, cpus)

    def test_a_view_without_data_names_the_option_that_records_it(self):
        path = self.folder / 'nothing.syscap'
        made.Capture(time=made.BEGIN).save(path)
        for view, words in (('waits', '--off-cpu'), ('marks', '--scheduler'), ('logs', '--kernel-log'), ('dbus', '--session-bus'),
                            ('counters', '--no-cpu'), ('allocations', '--memprof'), ('leaks', '--memprof'), ('functions', '--no-perf'),
                            ('flame', '--no-perf'), ('heat', '--no-perf')):
            text = run(view, path).stdout.decode()
            self.assertIn('This capture has no ', text)
            self.assertIn(words, text)
        self.assertIn('--memprof', run('functions', '--weight', 'bytes', path).stdout.decode())

    def test_seconds_need_no_unit(self):
        for short, long in (('0.1..0.2', '100ms..200ms'), ('..1', '..1s'), ('0..', '0s..'), ('0.25..', '250ms..')):
            rows = [as_json('functions', '--time', time, self.capture)['rows'] for time in (short, long)]
            self.assertEqual(*rows)
        for time in ('5..3', '2s..1', '500..700ms'):
            self.refuse(2, 'the end is before the begin', '--time', time, self.capture)
        self.refuse(2, 'in seconds or with a unit', '--time', '1x..2', self.capture)

    def test_headings_name_the_function(self):
        heading = run('callers', '--focus', 'do_sysc', self.capture).stdout.decode().splitlines()[0]
        self.assertTrue(heading.startswith('Callers of do_syscall_64 in '), heading)
        heading = run('tree', '--focus', 'h', self.capture).stdout.decode().splitlines()[0]
        self.assertTrue(heading.startswith("Call tree of 'h' ("), heading)
        self.assertNotIn(' in ', run('functions', '--search', 'alpha', self.capture).stdout.decode().splitlines()[0].split(':')[0])

    def test_failures(self):
        self.refuse(1, 'no-such-file', self.folder / 'no-such-file')
        self.refuse(1, '/etc/passwd', '/etc/passwd')
        with open('/dev/null', 'rb') as nothing:
            self.assertIn(b"'standard input'", run('-', stdin=nothing, check=False).stderr)
        self.refuse(1, 'no function', 'callers', '--focus', 'nobody', self.capture)
        self.refuse(1, 'no function', 'tree', '--format', 'folded', '--focus', 'nobody', self.capture)
        self.refuse(1, "no embedded file 'nope'", '--extract', 'nope', self.capture)
        self.refuse(1, 'folder', '-o', self.folder / 'none' / 'x.json', self.capture)

    def test_files_of_other_programs_are_recognized(self):
        path = self.folder / 'foreign'
        core = bytearray(64)
        core[:6], core[16:18] = b'\x7fELF\2\1', b'\4\0'
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode='w', format=tarfile.USTAR_FORMAT) as tar:
            tar.add('/etc/hostname')
        # message Profile { repeated ValueType sample_type = 1; … }
        pprof = bytes((10, 4, 8, 1, 16, 2, 10, 4, 8, 3, 16, 4))
        for data, words in ((b'PERFILE2' + bytes(300), 'this is perf.data: convert it with'),
                            (bytes(core), 'core dump'), (pathlib.Path(REPORT).read_bytes(), "'sysprof-cli -- PROGRAM'"),
                            (b'# callgrind format\nversion: 1\n', 'callgrind_annotate'), (b'desc: x\ncmd: y\ntime_unit: i\n', 'ms_print'),
                            (b'v 10400 3\nX /bin/ls\n', 'heaptrack_print -F'), (pprof, 'pprof'), (archive.getvalue(), 'tar archive'),
                            (json.dumps({'traceEvents': [{'ph': 'X'}]}).encode(), 'Chrome trace'),
                            (json.dumps([{'name': 'a', 'ph': 'B'}]).encode(), 'Chrome trace'),
                            (run('functions', '--format', 'json', self.capture).stdout, 'give the capture'),
                            (run('flame', '--format', 'html', self.capture).stdout, 'web page'),
                            (run('flame', '--format', 'svg', self.capture).stdout, 'picture')):
            for packed in (data, gzip.compress(data), lzma.compress(data)):
                path.write_bytes(packed)
                self.refuse(1, words, path)
        # Real programs on the test machine.
        for command, words in ((('valgrind', '-q', '--tool=callgrind', f'--callgrind-out-file={path}', '/bin/true'), 'Callgrind'),
                               (('valgrind', '-q', '--tool=massif', f'--massif-out-file={path}', '/bin/true'), 'Massif'),
                               (('zip', '-qjFS', path.with_suffix('.zip'), self.capture), 'ZIP')):
            if shutil.which(command[0]):
                subprocess.run(command, check=True, timeout=120)
                self.refuse(1, words, command[-2] if command[0] == 'zip' else path)

    def test_full_disk(self):
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([REPORT, 'functions', '--format', 'json', self.capture], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'No space left', done.stderr)

    def test_capture_named_like_a_view(self):
        path = self.folder / 'functions'
        path.write_bytes(self.capture.read_bytes())
        done = subprocess.run([REPORT, './functions'], cwd=self.folder, stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0)
        done = subprocess.run([REPORT, 'tree', 'functions'], cwd=self.folder, stdout=subprocess.PIPE)
        self.assertIn(b'alpha', done.stdout)

    def test_output_takes_the_format_from_the_suffix(self):
        for suffix, begin in (('.json', b'{"format"'), ('.txt', b'Functions of'), ('.html', b'<!DOCTYPE'),
                              ('.svg', b'<svg'), ('.folded', b'kworker/0:1;')):
            path = self.folder / ('out' + suffix)
            self.assertEqual(run('functions', '-o', path, self.capture).stdout, b'')
            self.assertTrue(path.read_bytes().startswith(begin), suffix)

    def test_output_replaces_atomically(self):
        path = self.folder / 'old.json'
        path.write_text('old')
        path.chmod(0o640)
        link = self.folder / 'link.json'
        link.symlink_to(path)
        held = path.open()
        self.addCleanup(held.close)
        run('functions', '-o', link, self.capture)
        self.assertEqual(held.read(), 'old', 'who has it open keeps the old one')
        self.assertTrue(link.is_symlink())
        json.loads(path.read_text())
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        path.write_text('old')
        self.assertEqual(run('callers', '--focus', 'nobody', '-o', path, self.capture, check=False).returncode, 1)
        self.assertEqual(path.read_text(), 'old')
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith('.')], [], 'nothing is left behind')

    def test_interrupt_ends_it(self):
        """While it writes: the reader closes the pipe after one page."""
        with subprocess.Popen([REPORT, 'samples', '--format', 'json', self.capture], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              pipesize=4096) as child:
            self.assertEqual(child.stdout.read(1), b'{')
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(timeout=60), -signal.SIGINT)
            self.assertEqual(child.stderr.read(), b'')

    def test_output_to_a_device_and_a_pipe(self):
        run('functions', '--format', 'json', '-o', '/dev/null', self.capture)
        self.assertTrue(stat.S_ISCHR(os.stat('/dev/null').st_mode))
        fifo = self.folder / 'fifo.json'
        os.mkfifo(fifo)
        child = subprocess.Popen([REPORT, 'functions', '-o', fifo, self.capture])
        json.loads(fifo.read_bytes())
        self.assertEqual(child.wait(), 0)
        self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))

    def test_a_reader_may_go_away(self):
        done = subprocess.run(['bash', '-o', 'pipefail', '-c', f'"{REPORT}" samples --format json "{self.capture}" | head -c 10'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, b''))

    def test_open_prints_the_path_whatever_the_browser_does(self):
        opener = self.folder / 'xdg-open'
        opener.write_text('#!/bin/sh\nexit 3\n')
        opener.chmod(0o755)
        environment = {**os.environ, 'PATH': f'{self.folder}:{os.environ["PATH"]}', 'TMPDIR': str(self.folder)}
        for words in (), ('-o', self.folder / 'opened.html'):
            done = subprocess.run([REPORT, 'flame', '--open', *words, self.capture], capture_output=True, text=True, env=environment)
            self.assertEqual((done.returncode, done.stdout), (0, ''))
            path = re.fullmatch(r'The report is in (\S+\.html)\n', done.stderr).group(1)
            self.assertIn('<html', pathlib.Path(path).read_text())

    def test_extract(self):
        self.assertEqual(run('--extract', '/etc/os-release', self.capture).stdout, b'PRETTY_NAME="Some OS"\n')
        self.assertIn(b' T vfs_read\n', run('files', '--extract', '/proc/kallsyms', self.capture).stdout)

    def test_help_names_every_view(self):
        text = run('--help').stdout.decode()
        for view in ('summary', 'functions', 'tree', 'callers', 'callees', 'flame', 'processes', 'threads', 'samples', 'quality',
                     'metadata', 'files'):
            self.assertRegex(text, rf'(?m)^  {view} ')
        self.assertEqual([line for line in text.splitlines() if len(line) > 79], [])
        self.assertEqual(run('-h').stdout.decode(), text)
        for section in ('Output:', 'Selection and shape:', 'Flame graph:', 'Views:', 'Examples:'):
            self.assertIn('\n' + section + '\n', text)
        self.assertRegex(run('--version').stdout.decode(), r'^Sysprof \d+\.\d+\.\d+\n$')


if __name__ == '__main__':
    unittest.main()
