#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""--weight period against sums that are made here, sample by sample; and files that lie about their periods."""
import collections
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'data'))
from captures import Capture  # noqa: E402

REPORT = pathlib.Path(sys.argv.pop(1)).resolve()
BEGIN, JIT = 1_000_000, 0xE000000000000000
EVENTS = ('page-faults', 'cpu-clock', 'block:block_rq_issue')
LINES = b'0 count - page-faults\n1 ns - cpu-clock\n2 count - block:block_rq_issue\n'
USER = 2**64 - 512


def entry(time, period, tid, event):
    """As docs/format.md says."""
    return struct.pack('<qQiB3x', time, period, tid, event)


class Sample:
    def __init__(self, random, i):
        self.time = BEGIN + random.randrange(400)  # several at one time
        self.pid = random.choice((20, 21))
        self.tid = 10 * self.pid + random.randrange(2)
        self.cpu = random.randrange(4)
        self.stack = random.choices(range(6), k=random.randrange(1, 5))
        self.event = random.randrange(3)
        self.period = random.choice((1, 7, 1_000_000, 2**40))


def write(path, samples, lines=LINES, periods=None, big=False):
    capture = Capture(time=BEGIN, end_time=BEGIN + 1000, big=big)
    for pid in 20, 21:
        capture.process(f'program{pid}', pid=pid, time=BEGIN)
    capture.jitmap([(JIT + i, f'function{i}') for i in range(6)], time=BEGIN)
    for sample in samples:
        capture.sample([USER, *(JIT + i for i in sample.stack)], tid=sample.tid, pid=sample.pid, cpu=sample.cpu, time=sample.time)
    if lines is not None:
        capture.file('__events__', lines, time=BEGIN)
    if periods is None:
        periods = b''.join(entry(s.time, s.period, s.tid, s.event) for s in samples)
    if periods:
        capture.chunked_file('__periods__', periods, time=BEGIN)
    path.write_bytes(bytes(capture.data))


def run(*words):
    return subprocess.run([REPORT, *map(str, words)], capture_output=True, text=True)


class Weights(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / 'x.syscap'
        # No two of one thread at one time: only their order distinguishes those, which another test checks.
        every = [Sample(random.Random(5 * 1000 + i), i) for i in range(600)]
        self.samples = list({(s.time, s.tid): s for s in every}.values())

    def rows(self, view, weight, *words):
        done = run(view, '--format', 'json', '--weight', weight, *words, self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        return answer['rows'], answer['weight']

    def check(self):
        for number, event in enumerate(EVENTS):
            chosen = [s for s in self.samples if s.event == number]
            total = sum(s.period for s in chosen)
            own, all_of = collections.Counter(), collections.Counter()
            for s in chosen:
                own[f'function{s.stack[0]}'] += s.period
                for name in {f'function{i}' for i in s.stack}:
                    all_of[name] += s.period
            rows, weight = self.rows('functions', f'period:{event}')
            self.assertEqual(weight, {'name': event, 'unit': 'ns' if event == 'cpu-clock' else 'count', 'total': total})
            self.assertEqual({r['symbol']: (r['self'], r['total']) for r in rows if r['symbol'].startswith('function')},
                             {name: (own[name], all_of[name]) for name in all_of})
            for view, key, of in (('cpus', 'cpu', lambda s: s.cpu), ('threads', 'tid', lambda s: s.tid),
                                  ('processes', 'pid', lambda s: s.pid)):
                sums = collections.Counter()
                for s in chosen:
                    sums[of(s)] += s.period
                self.assertEqual({r[key]: r['total'] for r in self.rows(view, f'period:{event}')[0] if r['total']}, dict(sums), view)
            self.assertEqual(self.rows('tree', f'period:{event}')[1]['total'], total)
            self.assertEqual(len(self.rows('samples', f'period:{event}')[0]), len(chosen))
            folded = run('--format', 'folded', '--weight', f'period:{event}', self.path)
            self.assertEqual(sum(int(line.rsplit(' ', 1)[1]) for line in folded.stdout.splitlines()), total)

    def test_several_events(self):
        write(self.path, self.samples)
        self.check()

    def test_very_many_at_one_time(self):
        """More than there are CPUs: each has its own weight, in their order."""
        every = [Sample(random.Random(i), i) for i in range(40000)]
        for i, s in enumerate(every):
            s.time, s.pid, s.tid, s.stack, s.event, s.period = BEGIN, 20, 200 + i % 2, [i % 6], 0, i + 1
        write(self.path, every)
        rows, weight = self.rows('functions', 'period:page-faults')
        self.assertEqual(weight['total'], 40000 * 40001 // 2)
        self.assertEqual({r['symbol']: r['self'] for r in rows if r['symbol'].startswith('function')},
                         {f'function{k}': sum(i + 1 for i in range(k, 40000, 6)) for k in range(6)})

    def test_of_the_other_byte_order(self):
        write(self.path, self.samples, big=True)
        self.check()

    def test_with_a_selection(self):
        write(self.path, self.samples)
        total = sum(s.period for s in self.samples if s.event == 0 and s.pid == 21 and s.cpu in (1, 2))
        self.assertEqual(self.rows('functions', 'period:page-faults', '--process', '21', '--cpu', '1-2')[1]['total'], total)

    def test_samples_are_counted_without_it(self):
        write(self.path, self.samples)
        rows, weight = self.rows('functions', 'samples')
        self.assertEqual(weight, {'name': 'samples', 'unit': 'count', 'total': len(self.samples)})

    def test_one_thread_at_one_time(self):
        """In the order in which they were written."""
        first, second = Sample(random.Random(1), 0), Sample(random.Random(2), 0)
        for sample, event, period in (first, 0, 3), (second, 1, 4):
            sample.time, sample.pid, sample.tid, sample.event, sample.period = BEGIN + 5, 20, 20, event, period
        first.stack, second.stack = [1], [2]
        self.samples = [first, second]
        write(self.path, self.samples)
        self.check()

    def test_one_event_of_one_period(self):
        write(self.path, self.samples, b'0 ns 1000000 cpu-clock\n', b'')
        for word in 'period', 'period:cpu-clock':
            self.assertEqual(self.rows('functions', word)[1],
                             {'name': 'cpu-clock', 'unit': 'ns', 'total': 1000000 * len(self.samples)})

    VIEWS = ('functions', 'processes', 'threads', 'cpus', 'cgroups', 'samples', 'tree', 'callers', 'callees', 'heat', 'quality')

    def test_headings_name_the_events(self):
        """Each view of samples, with each way in which an event has a rate; expected as the format defines it."""
        for lines, words in ((b'0 ns 1000000 cpu-clock\n', 'cpu-clock at 1000 Hz'),
                             (b'0 count 1 page-faults\n', 'page-faults, each one'), (b'0 count 10000 cache-misses\n', 'cache-misses, one of 10,000'),
                             (b'0 count -@4000 cycles\n', 'cycles at 4000 Hz'), (b'0 count - cycles\n', 'cycles'),
                             (b'0 count 1 page-faults\n1 ns 250000 cpu-clock\n', 'page-faults, each one; cpu-clock at 4000 Hz')):
            write(self.path, self.samples, lines, b'')
            amount = f'{len(self.samples)} samples ({words})'
            for view in self.VIEWS:
                focus = ['--focus', 'function1'] * (view in ('callers', 'callees'))
                done = run(view, *focus, self.path)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f'samples ({words}) in ' if focus else f': {amount} in ', done.stdout.splitlines()[0])
            self.assertIn(f'Samples   {len(self.samples)} ({words}), 0 lost', run(self.path).stdout)
            self.assertIn(f'{amount}, ', run('flame', '--format', 'html', self.path).stdout)
            for form in 'markdown', 'html', 'svg':
                self.assertIn(amount, run('heat', '--format', form, self.path).stdout.replace('\\', ''), form)
        write(self.path, self.samples, b'0 count 1 page-faults\n', b'')
        self.assertIn(f'{len(self.samples)} page-faults (each one) in', run('functions', '--weight', 'period', self.path).stdout)
        write(self.path, self.samples, None, b'')
        self.assertIn(f': {len(self.samples)} samples in', run('functions', self.path).stdout)

    def test_time_is_a_word_for_time(self):
        """Findings about other events do not call them time."""
        for lines, noun in ((b'0 ns 1000000 cpu-clock\n', 'time'), (b'0 count 1 page-faults\n', 'page-faults'), (b'0 count - cycles\n', 'cycles'),
                            (LINES, 'samples'), (None, 'samples')):
            write(self.path, self.samples, lines, b'')
            rows = [row['text'] for row in json.loads(run('--format', 'json', self.path).stdout)['findings']]
            top = collections.Counter(s.pid for s in self.samples).most_common(1)[0]
            self.assertIn(f'{100 * top[1] / len(self.samples):.1f} % of the {noun} went to program{top[0]}.', rows)
            name, n = collections.Counter(s.stack[0] for s in self.samples).most_common(1)[0]
            verb = 'was spent' if noun == 'time' else 'were'
            self.assertIn(f'{100 * n / len(self.samples):.1f} % of the {noun} {verb} in function{name} itself.', rows)
            if noun != 'time':
                self.assertNotRegex(' '.join(rows), r'\btime\b')

    def test_remedy_of_losses(self):
        """A frequency changes nothing for an event that is sampled once in a number of times."""
        for lines, option, other in ((b'0 ns 1000000 cpu-clock\n', '--frequency', '--event'), (b'0 count 1 page-faults\n', '--event', '--frequency')):
            capture = Capture(time=BEGIN, end_time=BEGIN + 1000)
            capture.process('program', pid=20, time=BEGIN).sample([USER, 0x1000], pid=20, tid=20, time=BEGIN)
            capture.file('__events__', lines, time=BEGIN)
            capture.ctrdef([(1, 'Sampler', 'Lost Samples', '', False)], time=BEGIN).ctrset([(1, 9)], time=BEGIN)
            self.path.write_bytes(bytes(capture.data))
            remedy, = (row['remedy'] for row in json.loads(run('--format', 'json', self.path).stdout)['findings'] if row['kind'] == 'lost')
            self.assertIn(option, remedy)
            self.assertNotIn(other, remedy)

    def refused(self, weight, words):
        done = run('--weight', weight, self.path)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count('\n'), 1)

    def test_what_is_not_there(self):
        write(self.path, self.samples)
        self.refused('period', ', '.join(EVENTS))
        self.refused('period:cycles', 'no samples of that event. It has those of page-faults')
        write(self.path, self.samples, None, b'')
        self.refused('period', 'has no sampling event')
        write(self.path, self.samples, b'0 count - cycles\n', b'')
        self.refused('period', 'Record with --event cycles')

    def test_files_that_lie(self):
        right = b''.join(entry(s.time, s.period, s.tid, s.event) for s in self.samples)
        for lines in (b'', b'\n', b'0', b'0 ', b'0 ns', b'0 ns -', b'0 ns - ', b'1 ns - x\n', b'0 ns - a b\n', b'0 ns - \x1b[31m\n', b'\0' * 100,
                      b'0 ns 99999999999999999999999 x\n', b''.join(b'%d ns - x\n' % i for i in range(5000))):
            for periods in (b'', right, right[:-5], b'\xff' * 4800, entry(BEGIN, 2**64 - 1, -1, 255) * 50):
                write(self.path, self.samples, lines, periods)
                for weight in 'period', 'period:x', 'samples':
                    done = run('functions', '--weight', weight, self.path)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.assertNotIn('\x1b', done.stdout + done.stderr)

    def test_periods_of_samples_that_are_not_there(self):
        right = b''.join(entry(s.time, s.period, s.tid, s.event) for s in self.samples)
        strangers = entry(BEGIN - 1, 5, 20, 0) + entry(BEGIN + 5000, 5, 20, 1) + entry(self.samples[0].time, 5, 4711, 0)
        write(self.path, self.samples, LINES, strangers + right + strangers)
        self.check()


unittest.main()
