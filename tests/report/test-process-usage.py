#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""CPU time and memory of processes: captures with known counters, and sums on paper.

usage: test-process-usage.py SYSPROF_REPORT
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import captures

REPORT = os.path.abspath(sys.argv.pop(1))
MB = 10**6
SECOND = 10**9
BEGIN = 5 * SECOND


class Usage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='sysprof-usage-')
        self.addCleanup(self.folder.cleanup)
        self.capture = captures.Capture(time=BEGIN, end_time=BEGIN + 6 * SECOND)
        self.capture.log('test', 'The end.', time=BEGIN + 6 * SECOND)
        self.next = 1

    def add(self, pid, command, resident, cpu=None, start=0):
        """A process with one value of its memory every half second since `start` (s)."""
        begin = BEGIN + int(start * SECOND)
        self.capture.process(command, pid=pid, time=begin)
        first = self.next
        self.next += 2
        self.capture.ctrdef([(first, 'Process', f'CPU Time ({command}/{pid})', '', 0),
                             (first + 1, 'Process', f'Resident ({command}/{pid})', '', 0)], pid=pid, time=begin + 2)
        for i, size in enumerate(resident):
            self.capture.ctrset([(first, cpu[i] if cpu else 0), (first + 1, size)], time=begin + 3 + i * SECOND // 2)

    def report(self, *options):
        path = pathlib.Path(self.folder.name) / 'x.syscap'
        self.capture.save(path)
        done = subprocess.run([REPORT, *options, path], check=True, capture_output=True, env={**os.environ, 'LC_ALL': 'C.UTF-8'})
        return done.stdout.decode()

    def rows(self, *options):
        rows = json.loads(self.report('processes', '--format', 'json', *options))['rows']
        return {row['pid']: row for row in rows}

    def findings(self, *options):
        summary = json.loads(self.report('summary', '--format', 'json', *options))
        return [finding for finding in summary['findings'] if finding['kind'] == 'memory-growth']

    def test_processes_have_cpu_time_and_memory(self):
        self.add(7, 'up', [10 * MB, 90 * MB, 30 * MB], cpu=[0, 400, 900])
        self.capture.process('other', pid=8, time=BEGIN + 1)
        rows = self.rows()
        self.assertEqual([rows[7][key] for key in ('cpu-time', 'rss-first', 'rss-last', 'rss-max')],
                         [900, 10 * MB, 30 * MB, 90 * MB])
        self.assertAlmostEqual(rows[7]['cpu-percent'], 100 * 900 / (6 * SECOND))
        self.assertNotIn('cpu-time', rows[8])
        self.assertNotIn('rss-max', rows[8])

    def test_a_time_selects_what_was_used_in_it(self):
        self.add(7, 'up', [10 * MB, 20 * MB, 30 * MB, 40 * MB, 50 * MB],
                 cpu=[0, SECOND // 10, 2 * SECOND // 10, 3 * SECOND // 10, 4 * SECOND // 10])
        row = self.rows('--time', '0.75s..1.25s', '--process', '7')[7]
        # A fifth of a second per second, in proportion between the readings; the reading before counts as the first.
        self.assertAlmostEqual(row['cpu-time'], SECOND // 10, delta=100)
        self.assertAlmostEqual(row['cpu-percent'], 20, places=3)
        self.assertEqual([row['rss-first'], row['rss-last'], row['rss-max']], [20 * MB, 30 * MB, 30 * MB])

    def test_a_single_reading_does_not_say_what_was_used_later(self):
        self.add(7, 'old', [MB])
        self.add(8, 'new', [MB], cpu=[30])
        rows = self.rows()
        self.assertNotIn('cpu-time', rows[7])
        self.assertEqual((rows[7]['rss-last'], rows[8]['cpu-time']), (MB, 30))

    def test_a_process_that_has_exited_used_nothing_later(self):
        self.add(7, 'up', [10 * MB, 20 * MB])
        self.assertNotIn(7, self.rows('--time', '3s..4s', '--process', '7'))

    def test_the_busiest_comes_first(self):
        self.add(7, 'little', [MB, MB], cpu=[0, 5])
        self.add(8, 'much', [MB, MB], cpu=[0, 50])
        self.assertEqual(list(self.rows()), [8, 7])

    def test_merged_processes_add_their_cpu_time(self):
        self.add(7, 'cc1', [10 * MB, 20 * MB], cpu=[0, 5])
        self.add(8, 'cc1', [30 * MB, 40 * MB], cpu=[0, 50])
        row, = self.rows('--merge-processes').values()
        self.assertEqual([row[key] for key in ('cpu-time', 'rss-first', 'rss-last', 'rss-max')],
                         [55, 30 * MB, 40 * MB, 40 * MB])

    def test_text_has_fitting_units(self):
        self.add(7, 'up', [10 * MB, 90 * MB], cpu=[0, SECOND // 4])
        text = self.report('processes')
        for words in ('CPU TIME', '250.00 ms', 'RSS MAX', '90.0 MB'):
            self.assertIn(words, text)

    def test_text_without_counters_has_no_columns_for_them(self):
        self.capture.process('other', pid=8, time=BEGIN + 1)
        self.assertNotIn('RSS', self.report('processes'))

    def test_a_growing_process_is_a_finding(self):
        self.add(7, 'cache', [(100 + 25 * i) * MB for i in range(9)], start=1)
        finding, = self.findings()
        self.assertIn('cache uses 200 MB more memory than at its start: it grew by 50.0 MB/s.', finding['text'])
        self.assertEqual(finding['process'], 'cache/7')
        self.assertIn('--event page-faults', finding['remedy'])
        self.assertEqual(finding['selection']['process'], ['7'])
        shown = subprocess.run(['sh', '-c', finding['command'].replace('sysprof-report', REPORT, 1)], check=True, capture_output=True)
        self.assertIn('300 MB', shown.stdout.decode())

    def test_the_sentence_names_the_start(self):
        self.add(7, 'cache', [(100 + 25 * i) * MB for i in range(9)])
        self.assertIn('than at the start of the recording', self.findings()[0]['text'])
        self.assertIn('than at the start of the selection', self.findings('--time', '1s..3s')[0]['text'])

    def test_the_selected_process_that_grew_most_is_named(self):
        self.add(7, 'cache', [(100 + 25 * i) * MB for i in range(9)])
        self.add(8, 'leak', [(100 + 50 * i) * MB for i in range(9)])
        self.assertEqual([finding['process'] for finding in self.findings()], ['leak/8'])
        self.assertEqual([finding['process'] for finding in self.findings('--process', '7')], ['cache/7'])

    def test_other_memory_is_no_finding(self):
        self.add(1, 'flat', [500 * MB] * 9)
        self.add(2, 'starts', [10 * MB] + [500 * MB] * 8)
        self.add(3, 'loads', [(10 + 100 * min(i, 4)) * MB for i in range(9)])
        self.add(4, 'ends', [10 * MB] * 8 + [500 * MB])
        self.add(5, 'little', [(10 + i) * MB for i in range(9)])
        self.add(6, 'shrinks', [(500 - 25 * i) * MB for i in range(9)])
        self.add(7, 'short', [10 * MB, 200 * MB, 400 * MB])
        self.assertEqual(self.findings(), [])

    def test_summary_lists_memory(self):
        self.add(7, 'little', [MB, 2 * MB])
        self.add(8, 'much', [3 * MB, 5 * MB, 4 * MB])
        memory = json.loads(self.report('summary', '--format', 'json'))['memory']
        self.assertEqual(memory, [{'process': 'much/8', 'first': 3 * MB, 'last': 4 * MB, 'max': 5 * MB},
                                  {'process': 'little/7', 'first': MB, 'last': 2 * MB, 'max': 2 * MB}])

    def test_counters_of_processes_and_of_the_recorder_come_last(self):
        self.capture.ctrdef([(100, 'Recorder', 'Memory', '', 0), (101, 'Zoo', 'Animals', '', 0)], time=BEGIN + 1)
        self.add(7, 'up', [MB, 2 * MB], cpu=[0, 5])
        for i in range(3):
            self.capture.ctrset([(100, i), (101, i)], time=BEGIN + 4 + i)
        rows = json.loads(self.report('counters', '--format', 'json'))['rows']
        self.assertEqual([row['category'] for row in rows], ['Zoo', 'Process', 'Process', 'Recorder'])
        summary = json.loads(self.report('summary', '--format', 'json'))['counters']
        self.assertEqual([row['category'] for row in summary], ['Zoo', 'Recorder'])


if __name__ == '__main__':
    unittest.main()
