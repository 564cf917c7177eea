#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Views of marks, counters, logs, D-Bus messages and allocations against what events.py counts."""
import bz2
import collections
import csv
import gzip
import io
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
import events  # noqa: E402
from events import BEGIN, dbus  # noqa: E402

REPORT = os.path.abspath(sys.argv.pop(1))
SCHEMA = pathlib.Path(__file__).parents[2] / 'data' / 'sysprof-report.schema.json'
VIEWS = (('marks',), ('marks', '--by-name'), ('counters',), ('logs',), ('dbus',), ('dbus', '--by-member'), ('allocations',),
         ('allocations', '--live'), ('allocations', '--weight', 'count'), ('leaks',), ('temporaries',))
BUSES = {1: 'system', 2: 'session'}


def run(*args, check=True, **options):
    done = subprocess.run([REPORT, *map(str, args)], capture_output=True, env={**os.environ, 'LC_ALL': 'C.UTF-8'}, **options)
    if check and done.returncode != 0:
        raise AssertionError(f'{args}: status {done.returncode}: {done.stderr.decode()}')
    return done.stdout


def as_json(*args, **options):
    return json.loads(run(*args, '--format', 'json', **options))


def as_text(value):
    return value.decode() if isinstance(value, bytes) else value or ''


class Base(unittest.TestCase):
    SEEDS = {'1': dict(seed=1), '2-big': dict(seed=2, big=True), '3': dict(seed=3)}

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.cases = []
        for name, how in cls.SEEDS.items():
            data = bytes(events.make(**how).data)
            path = cls.folder / f'{name}.syscap'
            path.write_bytes(data)
            cls.cases.append((path, events.Answers(data)))
        cls.capture, cls.answers = cls.cases[0]

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def each(self):
        for path, answers in self.cases:
            with self.subTest(path.name):
                yield path, answers


class Numbers(Base):
    def test_marks(self):
        for path, answers in self.each():
            found = [(r['time'], r['duration'], r['group'], r['name'], r['pid'], r['cpu'], r['message'])
                     for r in as_json('marks', path)['rows']]
            wanted = [(f['time'] - BEGIN if f['time'] > BEGIN else 0, max(f['duration'], 0), f['group'], f['name'], f['pid'], f['cpu'],
                       f['message']) for f in answers.of('mark')]
            self.assertEqual(sorted(found), sorted(wanted))
            self.assertEqual([row[0] for row in found], sorted(row[0] for row in found))

    def test_marks_by_name(self):
        for path, answers in self.each():
            rows = as_json('marks', '--by-name', path)['rows']
            for row in rows:
                rhythm, jitter = row.pop('rhythm'), row.pop('rhythm-jitter')
                self.assertEqual((len(rhythm), len(jitter)), (0, 0) if row['interval'] is None else (24, 24))
                self.assertEqual([value is None for value in jitter], [value is None for value in rhythm])
                row['worst'] = max((value for value in jitter if value is not None), default=None)
            found = {(row.pop('group'), row.pop('name')): row for row in rows}
            wanted = answers.marks_by_name()
            self.assertEqual(set(found), set(wanted))
            for name, row in wanted.items():
                self.assertEqual(found[name], row, name)
            self.assertTrue(any(row['interval'] for row in wanted.values()))
            self.assertLess(wanted['group 0', 'paint']['self'], wanted['group 0', 'paint']['total'])

    def test_selection(self):
        inside = lambda f: BEGIN + 500_000_000 <= f['time'] < BEGIN + 900_000_000
        for path, answers in self.each():
            rows = as_json('marks', '--by-name', '--time', '500ms..900ms', '--process', '11', path)['rows']
            wanted = answers.marks_by_name(lambda f: inside(f) and f['pid'] == 11)
            self.assertEqual({(r['group'], r['name']): r['count'] for r in rows}, {k: v['count'] for k, v in wanted.items()})
            self.assertEqual({(r['group'], r['name']): r['self'] for r in rows}, {k: v['self'] for k, v in wanted.items()})
            on_cpu = as_json('marks', '--cpu', '3', path)['rows']
            self.assertEqual(len(on_cpu), len(answers.of('mark', lambda f: f['cpu'] == 3)))
            ticks = as_json('logs', '--mark', 'group 0/*', path)['rows']
            spans = [(m['time'], m['time'] + m['duration']) for m in answers.of('mark') if m['group'] == 'group 0']
            self.assertEqual(len(ticks), len(answers.of('log', lambda f: any(a <= f['time'] < b for a, b in spans))))
            # They have neither thread nor stack.
            for args in (('--thread', '10'), ('--symbol', 'main')):
                self.assertEqual(as_json('marks', *args, path)['rows'], [])
            self.assertEqual(len(as_json('marks', '--symbol', '!main', path)['rows']), len(answers.of('mark')))

    def test_what_has_no_thread_and_no_stack(self):
        """Marks, logs, counters and messages: --process and --time select some; options for a thread or a
        function select none."""
        path, answers = self.cases[0]
        for view in 'marks', 'logs', 'counters', 'dbus':
            whole = as_json(view, path)
            self.assertTrue(whole['rows'])
            for words in ('--thread', '10'), ('--symbol', 'e'), ('--binary', '!x', '--binary', 'prog'):
                part = as_json(view, *words, path)
                self.assertEqual((part['rows'], part['weight']['total']), ([], 0), (view, words))
            same = as_json(view, '--symbol', '!nothing', '--binary', '!prog', '--no-kernel', '--idle', path)
            self.assertEqual(same['rows'], whole['rows'], view)
        pids = [f['pid'] for f in answers.of('log')]
        self.assertEqual(len(as_json('logs', '--process', '11', path)['rows']), pids.count(11))

    def test_search(self):
        inside = lambda f: BEGIN + 500_000_000 <= f['time'] < BEGIN + 900_000_000 and f['pid'] == 11
        kinds = {'mark', 'mark-message', 'log', 'dbus'}
        for path, answers in self.each():
            for args, keep in ((), lambda f: True), (('--time', '500ms..900ms', '--process', '11'), inside):
                there = collections.Counter()
                for mark in answers.of('mark', keep):
                    there['mark', mark['name'], mark['group']] += 1
                    there['mark-message', mark['message'], mark['name']] += 1
                for log in answers.of('log', keep):
                    there['log', log['message'], log['domain']] += 1
                for frame in answers.of('dbus', keep):
                    head = dbus.header(frame['message']) or {}
                    there['dbus', as_text(head.get('member')), as_text(head.get('interface'))] += 1
                for terms in 'P', 'so', 'e', 'gtk SAI', 'org a.b', 'ÜNÏ', 'group  paint', 'none of it':
                    rows = as_json('search', '--search', terms, *args, path)['rows']
                    wanted = {key: n for key, n in there.items()
                              if key[1] and all(term in '\n'.join(key[1:]).lower() for term in terms.lower().split())}
                    found = [(row['kind'], row['name'], row['where']) for row in rows if row['kind'] in kinds]
                    self.assertEqual({key: row['count'] for key, row in zip(found, [r for r in rows if r['kind'] in kinds])}, wanted,
                                     (terms, args))
                    self.assertEqual(len(found), len(wanted), terms)
            self.assertEqual([(r['kind'], r['name'], r['where'], r['count']) for r in as_json('search', '--search', 'fps', path)['rows']],
                             [('counter', 'fps', 'gtk', 50)])

    def test_counters(self):
        inside = lambda f: BEGIN + 500_000_000 <= f['time'] < BEGIN + 900_000_000
        for path, answers in self.each():
            for args, keep in ((), lambda f: True), (('--time', '500ms..900ms'), inside):
                rows = {(r['pid'], r['id']): r for r in as_json('counters', *args, path)['rows']}
                wanted = answers.counters(keep)
                self.assertEqual(set(rows), set(wanted))
                for key, (counter, timed) in wanted.items():
                    row, values = rows[key], [value for _, value in timed]
                    self.assertEqual((row['category'], row['name'], row['description']),
                                     (counter['category'], counter['name'], counter['description']))
                    self.assertEqual((row['count'], row['first'], row['last'], row['min'], row['max']),
                                     (len(values), values[0], values[-1], min(values), max(values)))
                    self.assertAlmostEqual(row['mean'] / (sum(values) / len(values)), 1)
                    seconds = (timed[-1][0] - timed[0][0]) / 1e9
                    self.assertAlmostEqual(row['rate'], (values[-1] - values[0]) / seconds, 3)
                    self.assertEqual(len(row['graph']), 32)
            self.assertEqual({r['name']: r['unit'] for r in rows.values()}, {'Used': 'bytes', 'Combined': '%', 'fps': 'frames/s'})

    def test_graph_of_counters(self):
        rows = {r['name']: r for r in as_json('counters', self.capture)['rows']}
        _, timed = self.answers.counters()[-1, 2]
        end = max(f['time'] + max(f.get('duration', 0), 0) for f in self.answers.frames)
        width = (end - BEGIN) / 32
        last = None
        for i, value in enumerate(rows['Combined']['graph']):
            mine = [v for t, v in timed if i == min(int((t - BEGIN) / width), 31)]
            last = sum(mine) / len(mine) if mine else last
            if last is None:
                self.assertIsNone(value)
            else:
                self.assertAlmostEqual(value, last)

    def test_rate_of_what_is_counted_since_the_value_before(self):
        path = self.folder / 'disk.syscap'
        capture = events.captures.Capture(time=BEGIN).ctrdef([(1, 'Disk', 'Total Reads (sda)', '', False), (2, 'Memory', 'Used', '', False)],
                                                             time=BEGIN)
        for i, value in enumerate((50, 7, 0, 3)):
            capture.ctrset([(1, value), (2, value)], time=BEGIN + i * 500_000_000)
        capture.save(path)
        rates = {r['category']: r['rate'] for r in as_json('counters', path)['rows']}
        self.assertAlmostEqual(rates['Disk'], (7 + 0 + 3) / 1.5)
        self.assertAlmostEqual(rates['Memory'], (3 - 50) / 1.5)

    def test_counters_of_any_numbers(self):
        path = self.folder / 'any.syscap'
        capture = events.captures.Capture(time=BEGIN).ctrdef([(1, 'a', 'huge', '', True), (2, 'a', 'none', '', True)], time=BEGIN)
        for i, value in enumerate((-1.7e308, 1.7e308, 0.0, float('inf'), float('nan'), -1.7e308)):
            capture.ctrset([(1, value), (2, float('nan'))], time=BEGIN + i * 10**8)
        capture.save(path)
        rows = {r['name']: r for r in as_json('counters', path)['rows']}
        self.assertEqual((rows['huge']['first'], rows['huge']['last']), (-1.7e308, -1.7e308))
        self.assertIsNone(rows['huge']['max'])
        self.assertEqual((rows['none']['first'], rows['none']['mean'], set(rows['none']['graph'])), (None, None, {None}))
        for form in 'text', 'csv', 'markdown', 'html', 'svg':
            run('counters', '--format', form, path)

    def test_logs(self):
        for path, answers in self.each():
            found = [(r['time'], r['severity'], r['domain'], r['message'], r['pid']) for r in as_json('logs', path)['rows']]
            wanted = [(f['time'] - BEGIN, next((name for flag, name in events.SEVERITIES if f['severity'] & flag), ''), f['domain'],
                       f['message'], f['pid']) for f in answers.of('log')]
            self.assertEqual(found, wanted)

    def test_messages(self):
        for path, answers in self.each():
            report = as_json('dbus', path)
            rows = report['rows']
            self.assertEqual(report['weight']['total'], len(answers.of('dbus')))
            calls = [r for r in rows if r['type'] == 'call']
            wanted = answers.calls()
            self.assertEqual(len(calls), len(wanted))
            for row, (frame, head, reply, answer) in zip(calls, wanted):
                self.assertEqual((row['time'], row['bus'], row['serial'], row['size']),
                                 (frame['time'] - BEGIN, BUSES[frame['bus']], head['serial'], len(frame['message'])))
                for member in 'sender', 'destination', 'interface', 'member', 'path', 'signature':
                    self.assertEqual(row[member], head[member].decode())
                self.assertEqual(row['duration'], reply['time'] - frame['time'] if reply else None)
                self.assertEqual(row['answer'], 'not wanted' if head['no_reply'] else 'none' if not reply else 'reply'
                                 if answer['kind'] == dbus.REPLY else answer['error_name'].decode())
            others = sorted(r['type'] for r in rows if r['type'] not in ('call', 'signal'))
            self.assertEqual(others, ['reply', 'too large', 'unreadable'])
            signals = [f for f in answers.of('dbus') if (dbus.header(f['message']) or {}).get('kind') == dbus.SIGNAL]
            self.assertEqual(sum(r['type'] == 'signal' for r in rows), len(signals))

    def test_messages_by_member(self):
        for path, answers in self.each():
            rows = {(r['member'], r['type']): r for r in as_json('dbus', '--by-member', path)['rows']}
            for member in 'Get', 'Set', 'List':
                calls = [c for c in answers.calls() if c[1]['member'] == member.encode()]
                row = rows[member, 'call']
                latencies = events.spread([reply['time'] - call['time'] for call, _, reply, _ in calls if reply])
                latencies.pop('count')
                self.assertEqual({key: row[key] for key in latencies}, latencies)
                self.assertEqual((row['count'], row['unanswered'], row['errors']),
                                 (len(calls), sum(not reply and not head['no_reply'] for _, head, reply, _ in calls),
                                  sum(bool(answer) and answer['kind'] == dbus.ERROR for *_, answer in calls)))
            self.assertIsNone(rows['Changed', 'signal']['median'])

    def test_answers_that_were_read_with_their_calls(self):
        """Both have the time of reading, which does not show what happened in between."""
        capture = events.captures.Capture(time=BEGIN)
        for serial, duration in (1, 0), (2, 5_000_000), (3, 0), (4, 7_000_000):
            at = BEGIN + serial * 100
            capture.dbus(dbus.message(dbus.CALL, serial, path='/a', interface='org.a.B', member='Get', destination='org.a', sender=':1.5'),
                         1, time=at)
            capture.dbus(dbus.message(dbus.REPLY, 50 + serial, reply_serial=serial, destination=':1.5', sender=':1.2'), 1, time=at + duration)
        path = self.folder / 'at-once.syscap'
        capture.save(path)
        self.assertEqual([(row['answer'], row['duration']) for row in as_json('dbus', path)['rows']],
                         [('reply', None), ('reply', 5_000_000), ('reply', None), ('reply', 7_000_000)])
        row, = as_json('dbus', '--by-member', path)['rows']
        self.assertEqual((row['count'], row['unanswered'], row['min'], row['mean'], row['max']), (4, 0, 5_000_000, 6_000_000, 7_000_000))

    def test_allocations(self):
        until = BEGIN + 400_000_000
        for path, answers in self.each():
            half = lambda frames: [f for f in frames if f['time'] < until]
            questions = ((('allocations',), answers.allocations()), (('leaks',), answers.allocations('live')),
                         (('allocations', '--live'), answers.allocations('live')),
                         (('temporaries',), answers.allocations('temporary')),
                         (('allocations', '--time', '..400ms'), half(answers.allocations())),
                         (('leaks', '--time', '..400ms'), half(answers.allocations('live'))),
                         (('allocations', '--live', '--time', '..400ms'), answers.allocations('live', until)),
                         (('allocations', '--process', '11'), [f for f in answers.allocations() if f['pid'] == 11]),
                         (('functions', '--weight', 'bytes'), answers.allocations()))
            for args, wanted in questions:
                self.assertTrue(wanted)
                for weight, of_frame in ('bytes', lambda f: f['size']), ('count', lambda f: 1):
                    report = as_json(*args, '--weight', weight, path)
                    self.assertEqual(report['weight']['total'], sum(map(of_frame, wanted)), args)
                    # Nothing is mapped: the callers stand as one.
                    self.assertEqual(sum(r['self'] for r in report['rows']), report['weight']['total'])
                    self_of, total_of = events.functions(wanted, of_frame)
                    of_address = {f'0x{address:x}': value for address, value in total_of.items()}
                    for row in report['rows']:
                        address = row['symbol'].strip('[]')
                        self.assertEqual(row['total'], of_address[address], row)
                        self.assertEqual(row['self'], self_of[int(address, 16)], row)

    def test_allocations_of_hooked_malloc(self):
        hook, program = '/usr/lib/libsysprof-memory-4.so', '/usr/bin/program'
        capture = events.captures.Capture(time=BEGIN)
        capture.process(program, time=BEGIN, pid=7).map(0x10000, 0x20000, program, time=BEGIN, pid=7)
        capture.map(0x50000, 0x60000, hook, time=BEGIN, pid=7)
        capture.allocation(0x1, 30, [0x50010, 0x10010, 0x10020], 7, pid=7, time=BEGIN + 1)
        capture.allocation(0x2, 12, [0x50090, 0x50010, 0x10020], 7, pid=7, time=BEGIN + 2)
        capture.sample([0x50010, 0x10010], 7, pid=7, time=BEGIN + 3)
        path = self.folder / 'hook.syscap'
        capture.save(path)
        for view in ('allocations',), ('functions', '--weight', 'bytes'):
            self.assertEqual({row['symbol']: row['self'] for row in as_json(*view, path)['rows']},
                             {'[program+0x10]': 30, '[program+0x20]': 12}, view)
        # Time in that library is time of the program.
        self.assertIn('[libsysprof-memory-4.so+0x10]', [row['symbol'] for row in as_json('functions', path)['rows']])

    def test_samples_are_no_allocations(self):
        self.assertEqual(as_json('samples', '--weight', 'bytes', self.capture)['rows'], as_json('samples', self.capture)['rows'])


class Forms(Base):
    def test_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest('needs the Python package jsonschema')
        schema = json.loads(SCHEMA.read_text())
        for kind in schema['$defs'].values():
            if 'properties' in kind:
                kind['additionalProperties'] = False  # so that nothing comes that no one described
        validator = jsonschema.Draft202012Validator(schema)
        for args in VIEWS:
            report = as_json(*args, self.capture)
            self.assertTrue(report['rows'], args)
            validator.validate(report)

    def test_csv(self):
        for args in VIEWS:
            wanted = as_json(*args, self.capture)['rows']
            table = list(csv.DictReader(io.StringIO(run(*args, '--format', 'csv', self.capture).decode(), newline='')))
            self.assertEqual(len(table), len(wanted), args)
            for cells, row in zip(table, wanted):
                self.assertEqual([name for name in cells if name in row or cells[name]], list(row))
                for name, value in row.items():
                    if isinstance(value, list):
                        self.assertEqual([float(v) for v in cells[name].split() if v != 'nan'], [v for v in value if v is not None])
                    elif value is None:
                        self.assertEqual(cells[name], '')
                    else:
                        self.assertEqual(cells[name] if isinstance(value, (str, bool)) else float(cells[name]), value)

    def test_markdown(self):
        for args in VIEWS:
            lines = run(*args, '--format', 'markdown', self.capture).decode().splitlines()
            rows = [line for line in lines if line.startswith('|')]
            self.assertEqual(len(rows), len(as_json(*args, self.capture)['rows']) + 2, args)
            bars = {line.replace('\\|', '').count('|') for line in rows}
            self.assertEqual(len(bars), 1, args)
        self.assertIn('a\\|b &lt;c\\>', run('marks', '--format', 'markdown', self.capture).decode())

    def test_other_looks(self):
        for args in VIEWS:
            for form in 'text', 'html', 'svg':
                self.assertTrue(run(*args, '--format', form, self.capture), args)
        self.assertIn('\u2588', run('counters', self.capture).decode())

    def test_charts(self):
        rows = as_json('counters', self.capture)['rows']
        picture = ET.fromstring(run('counters', '--format', 'svg', self.capture))
        charts = [g for g in picture if g.tag.endswith('}g')]
        self.assertEqual(len(charts), len(rows))
        for chart, row in zip(charts, rows):
            values = [float(title.text) for title in chart.iter() if title.tag.endswith('title')]
            self.assertEqual(values, [v for v in row['graph'] if v is not None])
            heights = [int(bar.get('height')) for bar in chart]
            self.assertEqual(max(heights), heights[values.index(max(values))])
        page = run('counters', '--format', 'html', self.capture).decode()
        self.assertEqual(page.count('<rect '), sum(v is not None for row in rows for v in row['graph']))

    def test_suffixes(self):
        for suffix, form in ('.csv', 'csv'), ('.md', 'markdown'):
            path = self.folder / f'x{suffix}'
            run('logs', '-o', path, self.capture)
            self.assertEqual(path.read_bytes(), run('logs', '--format', form, self.capture))


class Files(Base):
    SEEDS = {'1': dict(seed=1)}

    def reports(self, path, **options):
        wanted = {}
        for args in VIEWS:
            report = as_json(*args, path, **options)
            wanted[args] = report['rows'], report['weight']
        return wanted

    def test_compressed(self):
        data = self.capture.read_bytes()
        wanted = self.reports(self.capture)
        packed = {'.gz': gzip.compress(data), '.bz2': bz2.compress(data), '.xz': lzma.compress(data)}
        if shutil.which('zstd'):
            packed['.zst'] = subprocess.run(['zstd', '-c'], input=data, capture_output=True, check=True).stdout
        for suffix, content in packed.items():
            path = self.folder / f'packed.syscap{suffix}'
            path.write_bytes(content)
            self.assertEqual(self.reports(path), wanted, suffix)

    def test_pipe(self):
        for args, (rows, _) in self.reports(self.capture).items():
            self.assertEqual(as_json(*args, '-', input=self.capture.read_bytes())['rows'], rows)

    def test_cut_anywhere(self):
        data = self.capture.read_bytes()
        path = self.folder / 'cut.syscap'
        for i, size in enumerate(range(256, len(data), 7919)):
            path.write_bytes(data[:size])
            args = VIEWS[i % len(VIEWS)]
            report = as_json(*args, path)
            whole = events.Answers(data[:size])
            if args == ('logs',):
                self.assertEqual(len(report['rows']), len(whole.of('log')))
            if args == ('marks',):
                self.assertEqual(len(report['rows']), len(whole.of('mark')))

    def test_without_any(self):
        path = self.folder / 'empty.syscap'
        events.captures.Capture().save(path)
        for args in VIEWS:
            self.assertEqual(as_json(*args, path)['rows'], [])
            self.assertIn('This capture has no ', run(*args, path).decode())


if __name__ == '__main__':
    unittest.main()
