#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the greeter to a saved file as a person goes, on a recording of this machine with full rights. What is on the screen must be what
sysprof-report says of the same recording and selection. The recorded program has its names in a directory of debug files.

usage: test-walkthrough.py SYSPROF SYSPROF_REPORT BUSY
"""
import collections
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import desktop

desktop.enter()

BUSY = pathlib.Path(sys.argv.pop(1)).resolve()
DATA = pathlib.Path(os.environ['XDG_DATA_HOME'], 'org.gnome.Sysprof')
LEAST_SAMPLES = 400
QUIET = {name: False for name in ('graphics-info', 'hardware-info', 'system-log', 'debuginfod')}
UNITS = {'s': 10**9, 'ms': 10**6, 'us': 10**3, 'µs': 10**3, 'ns': 1}


def strip(folder):
    """Copies the program without names, and its names into a directory of debug files."""
    program, debug = folder / 'busy', folder / 'debug'
    identity = subprocess.run(['readelf', '-n', BUSY], stdout=subprocess.PIPE, check=True, text=True).stdout
    identity = re.search(r'Build ID: (\w+)', identity)[1]
    names = debug / '.build-id' / identity[:2] / f'{identity[2:]}.debug'
    names.parent.mkdir(parents=True)
    subprocess.run(['objcopy', '--only-keep-debug', BUSY, names], check=True)
    subprocess.run(['strip', '--strip-all', '-o', program, BUSY], check=True)
    return program, debug


class Walkthrough(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ('readelf', 'objcopy', 'strip'):
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f'needs {tool}')
        if os.geteuid() != 0:
            raise unittest.SkipTest('needs root')
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.program, debug = strip(cls.folder)
        DATA.mkdir(parents=True)
        (DATA / 'recording-template.json').write_text(json.dumps({**QUIET, 'debugdirs': [str(debug)]}))
        cls.app = desktop.Application(desktop.PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.app.close()
        warnings = cls.app.warnings()
        assert not warnings, warnings

    def report(self, view, *options):
        return desktop.report(self.capture, view, '--all', *options)

    def rows(self, table):
        """What a table shows, as [(function, self, total)]."""
        view = next((node for node in self.app.walk() if node.name == table and node.getRoleName() != 'label'), None)
        found = (re.fullmatch(r'(.+?), (?:([\d,]+)(?: {3}[\d.]+ %)?, )?([\d,]+)(?: {3}[\d.]+ %)?', node.name) for node in self.app.walk(view))
        return [(row[1], *(int(number.replace(',', '')) for number in (row[2] or '0', row[3]))) for row in found if row]

    def wait_for_rows(self, table, expected):
        """Until a table shows rows of the report, and no others."""
        expected = {(row['symbol'], row['self'], row['total']) for row in expected}
        self.app.wait(lambda: self.rows(table) and set(self.rows(table)) <= expected, f'rows of {table}')

    @staticmethod
    def bounds(number, unit):
        """The earliest and the latest time, in ns, that is printed so."""
        step = UNITS[unit] / 10**len(number.partition('.')[2])
        return [max(int(float(number) * UNITS[unit] + by * step), 0) for by in (-0.5, 0.5)]

    def choose_file(self, title, path):
        self.app.wait_for(title)
        self.app.focus(title)
        self.app.key('ctrl+a')
        subprocess.run(['xdotool', 'type', str(path)], check=True)
        self.app.key('Return')

    def test_from_start_to_end(self):
        self.record()
        self.look_at_overview()
        self.look_at_call_graph()
        self.select_span()
        self.search_and_drill_down()
        self.filter()
        self.export()
        self.save_and_reopen()

    def record(self):
        self.app.wait_for('Command Line', 'text').queryEditableText().setTextContents(f'{self.program} 60')
        self.app.press('Record to Memory', 'push button')

        def count():
            label = self.app.find(lambda name: re.fullmatch(r'[\d,]+ samples, .+', name), 'label')
            return int(label.name.split()[0].replace(',', '')) if label else 0

        shown = self.app.wait(lambda: count() > LEAST_SAMPLES and count(), 'samples')
        self.assertRegex(self.app.wait_for(lambda name: re.fullmatch(r'\d\d:\d\d', name), 'label').name, r'^00:[0-5]\d$')
        self.app.press('Stop Recording', 'push button')
        self.app.wait_for('Unsaved Recording', 'frame')
        self.window = self.app.wait(lambda: next((i for i in range(1, 9) if self.app.is_enabled('zoom-in', i) is not None), None), 'loaded capture')
        type(self).capture, = (DATA / 'unsaved').iterdir()
        names = {row['symbol'] for row in self.report('functions', '--process', 'busy')}
        self.assertLessEqual({'heavy_work', 'light_work', 'child_work'}, names)  # bundled from the directory of debug files
        total = sum(row['self'] for row in self.report('functions'))
        self.assertGreaterEqual(total, shown)

    def look_at_overview(self):
        self.app.show('overview', self.window)
        functions = {row['symbol'] for row in self.report('functions')}
        busiest = self.app.wait(lambda: [node.name.split(',')[0] for node in self.app.walk(self.app.find('Busiest Functions', 'tree table'))
                                         if node.getRoleName() == 'table row' and ',' in node.name], 'busiest functions')
        self.assertLessEqual({name for name in busiest if re.fullmatch(r'\w+', name)}, functions)

    def look_at_call_graph(self):
        self.app.show('time-profiler/callgraph', self.window)
        self.wait_for_rows('Functions', self.report('functions'))

    def select_span(self):
        self.app.drag(self.app.wait_for('Stack traces', 'list'), 0.25, 0.625)
        chip = self.app.wait_for(lambda name: name.startswith('Remove filter: ') and '–' in name).name
        begin, end = (self.bounds(*found) for found in re.findall(r'([\d.]+) ([mµun]?s)\b', chip))
        least, most = (self.report('functions', '--time', f'{first}ns..{last}ns') for first, last in ((begin[1], end[0]), (begin[0], end[1])))
        shared = [name for name, count in collections.Counter(row['symbol'] for row in most).items() if count > 1]  # by several programs
        least, most = ({row['symbol']: row['total'] for row in rows} for rows in (least, most))

        def fits():
            rows = [(name, total) for name, _, total in self.rows('Functions') if name not in shared]
            return rows and all(least.get(name, 0) <= total <= most.get(name, -1) for name, total in rows)

        self.app.wait(fits, 'functions of the span')
        self.app.act('back', window=self.window)
        self.wait_for_rows('Functions', self.report('functions'))

    def search_and_drill_down(self):
        self.app.focus('Unsaved Recording')
        self.app.act('find', window=self.window)
        table = self.app.container(self.app.wait_for('Functions', 'tree table'), 'AppTable')
        self.app.wait(lambda: self.app.entry(table), 'search entry').setTextContents('heavy_work')
        self.app.wait(lambda: [name for name, _, _ in self.rows('Functions')] == ['heavy_work'], 'matching function')
        self.wait_for_rows('Functions', self.report('functions'))
        self.app.click(self.app.find(lambda name: name.startswith('heavy_work, '), top=table))
        callers = self.report('callers', '--focus', 'heavy_work')
        self.assertIn('run_main_thread', {row['symbol'] for row in callers})
        expected = {(row['symbol'], row['total']) for row in callers}
        self.app.wait(lambda: {(name, total) for name, _, total in self.rows('Callers')} == expected, f'callers {expected}')

    def filter(self):
        self.app.key('f')
        self.app.wait_for('Remove filter: symbol: heavy_work')
        self.app.wait(lambda: self.app.entry(self.app.container(self.app.find('Functions', 'tree table'), 'AppTable')),
                      'search entry').setTextContents('')
        self.wait_for_rows('Functions', self.report('functions', '--symbol', 'heavy_work'))

    def export(self):
        self.app.act('export-view', window=self.window)
        target = self.folder / 'functions.csv'
        self.choose_file('Export', target)
        self.app.wait(lambda: target.exists() and target.stat().st_size, 'exported table')
        self.app.wait_for('Exported', 'label')
        exported = {(row['symbol'], row['self'], row['total']) for row in csv.DictReader(target.open())}
        self.assertEqual(exported, {(row['symbol'], str(row['self']), str(row['total']))
                                    for row in self.report('functions', '--symbol', 'heavy_work')})

    def save_and_reopen(self):
        expected = self.report('functions')
        target = self.folder / 'mine.syscap'
        self.app.act('save-as', window=self.window)
        self.choose_file('Save Recording', target)
        self.app.wait_for('mine.syscap', 'frame')
        self.assertEqual(list((DATA / 'unsaved').iterdir()), [])
        self.tearDownClass()
        type(self).capture, type(self).app = target, desktop.Application(desktop.PROGRAM, target)
        self.app.wait_for('mine.syscap', 'frame')
        self.app.show('time-profiler/callgraph')
        self.assertEqual(self.report('functions'), expected)
        self.wait_for_rows('Functions', expected)


if __name__ == '__main__':
    desktop.main()
