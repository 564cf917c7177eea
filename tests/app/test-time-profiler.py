#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at samples as a person does: chooses a function, filters with keys, walks through the flame graph with arrow keys. The
numbers on the screen must be those of sysprof-report.

usage: test-time-profiler.py SYSPROF SYSPROF_REPORT
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import desktop

desktop.enter()
import captures  # noqa: E402
import recording  # noqa: E402
import waits  # noqa: E402

BASE = 0x40000000


def symbols():
    """{name: address} of functions of a program."""
    output = subprocess.run(['nm', desktop.REPORT], stdout=subprocess.PIPE, check=True).stdout.decode()
    return {name: int(address, 16) for address, name in re.findall(r'(?m)^([0-9a-f]+) [Tt] (\w+)$', output)}


class TimeProfiler(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.capture = recording.write(pathlib.Path(self.folder.name, 'painter.syscap'))
        self.app = desktop.Application(desktop.PROGRAM, self.capture)
        self.addCleanup(self.app.close)
        self.app.wait_for('painter.syscap', 'frame')
        self.app.show('time-profiler/callgraph')
        self.app.wait_for('Functions')

    def report(self, view, *options):
        return desktop.report(self.capture, view, *options)

    def table(self, name):
        """The table of a name, and not its heading."""
        return next((node for node in self.app.walk() if node.name == name and node.getRoleName() != 'label'), None)

    def totals(self, table):
        """{function: total} of the rows of a table; total is the last number of a row's name."""
        found = {}
        for node in self.app.walk(self.table(table)):
            name = re.match(r'(\w+), ', node.name or '')
            numbers = re.findall(r', (\d+(?:,\d{3})*)(?=,? |$)', node.name or '')
            if name and numbers:
                found[name[1]] = int(numbers[-1].replace(',', ''))
        return found

    def row(self, function, table='Functions'):
        return self.app.wait(lambda: self.app.find(lambda name: name.startswith(f'{function}, '), top=self.table(table)),
                             f'row {function}')

    def test_chosen_function(self):
        self.app.click(self.row('blur'))
        expected = {row['symbol']: row['total'] for row in self.report('callers', '--focus', 'blur')}
        self.assertEqual(expected, {'draw': recording.N_SAMPLES // 2})
        self.app.wait(lambda: self.totals('Callers') == expected, f'callers {expected}')
        # The panel of details counts the same samples.
        self.app.wait(lambda: self.totals('Categories') == {'javascript': expected['draw']}, 'categories')
        stack = self.app.find('Stack Trace', 'list')
        labels = [name for name in self.app.names(stack) if name in recording.NAMES]
        self.assertEqual(labels, ['blur', 'draw', 'main'])

    def test_keys_filter(self):
        self.app.click(self.row('parse'))
        self.app.key('x')
        self.app.wait_for('Remove filter: not symbol: parse')
        expected = {row['symbol']: row['total'] for row in self.report('functions', '--symbol', '!parse')}
        self.assertNotIn('parse', expected)
        self.app.wait(lambda: self.totals('Functions') == expected, f'functions {expected}, {self.totals("Functions")}')
        self.app.wait_for(f'{recording.N_SAMPLES // 2} samples, 50.0 %')
        self.app.press('Invert filter: not symbol: parse', 'push button')
        expected = {row['symbol']: row['total'] for row in self.report('functions', '--symbol', 'parse')}
        self.assertNotIn('blur', expected)
        self.app.wait(lambda: self.totals('Functions') == expected, f'functions {expected}')
        self.app.press('Remove filter: symbol: parse', 'push button')
        self.row('parse')

    def test_merged_function(self):
        self.app.click(self.row('draw'))
        self.app.key('m')
        self.app.wait_for('Remove filter: merge-function: draw')
        expected = {row['symbol']: row['total'] for row in self.report('functions', '--merge-function', 'draw')}
        self.assertEqual(expected.keys(), {'main', 'blur', 'parse'})
        self.app.wait(lambda: self.totals('Functions') == expected, f'functions {expected}')
        self.app.click(self.row('blur'))
        self.app.wait(lambda: self.totals('Callers') == {'main': recording.N_SAMPLES // 2}, 'the caller of the merged function')

    def test_flame_graph_with_arrow_keys(self):
        self.app.show('time-profiler/flame')
        chart = self.app.wait_for('Flame graph', 'list')
        self.app.wait_for(lambda name: name.startswith('whole machine'))
        self.app.click(chart)
        total = recording.N_SAMPLES
        for key, text in (('Up', f'All Processes, {total:,} samples, 100.0 %, level 1'),
                          ('Up', f'painter, {total:,} samples, 100.0 %, level 2'),
                          ('Up', f'main, {total:,} samples, 100.0 %, level 3'),
                          ('Up', f'draw, {total // 2} samples, 50.0 %, level 4'),
                          ('Right', f'parse, {total // 2} samples, 50.0 %, level 4'),
                          ('Left', f'draw, {total // 2} samples, 50.0 %, level 4')):
            self.app.key(key)
            self.app.wait_for(text, 'list item')
        self.app.act('find')
        table = self.app.container(chart, 'AppFlame')
        self.app.wait(lambda: self.app.entry(table), 'search entry').setTextContents('blur')
        self.app.wait_for('matches 50.0 %')
        self.app.press('Only Matching', 'push button', top=table)
        self.app.wait_for('Remove filter: symbol: blur')
        self.app.wait_for(lambda name: name.startswith(f'whole machine – {total // 2} samples'))


@unittest.skipUnless(shutil.which('nm'), 'needs nm')
class Code(desktop.Case):
    """Samples in main() of a program that has debug information."""
    name = 'code.syscap'

    @staticmethod
    def write(path):
        main = symbols()['main']
        capture = captures.Capture(time=0, end_time=recording.SECOND, capture_time='2099-01-01T00:00:00Z')
        capture.process(desktop.REPORT, time=0, pid=7)
        capture.map(BASE, BASE + (1 << 26), desktop.REPORT, inode=os.stat(desktop.REPORT).st_ino, time=0, pid=7)
        for i, offset in enumerate([8] * 5 + [40] * 3 + [80] * 2):
            capture.sample([captures.USER, BASE + main + offset], 7, time=i, pid=7)
        return capture.save(path)

    def check(self, view, column):
        rows = self.report(view, '--focus', 'main')
        heaviest = max(rows, key=lambda row: row['self'])
        self.assertGreater(heaviest['self'], 0)
        self.app.show(f'time-profiler/{view}')
        share = f'{heaviest["self"]}   {heaviest["self"] * 10:.1f} %'
        self.app.wait_for(f'{heaviest[column]}: self {share}, total {share}')

    def test_source(self):
        self.check('source', 'line')
        [path] = {row['file'] for row in self.report('source', '--focus', 'main')}
        source = pathlib.Path(path).read_text(encoding='utf-8')
        text = self.app.wait_for('Source', 'text').queryText()
        self.assertEqual(text.getText(0, -1).splitlines()[1:], source.splitlines())
        self.app.act('find')
        pane = self.app.find('Source', 'text').parent.parent
        self.app.entry(self.app.wait_for('Search', top=pane)).setTextContents('RETURN')
        self.app.wait_for(f'{source.lower().count("return")} matches', 'label')

    def test_disassembly(self):
        self.check('disassembly', 'address')


class ManyRows(desktop.Case):
    """More functions than a window has room for."""
    name = 'many.syscap'
    N = 120

    @classmethod
    def write(cls, path):
        places = [captures.JIT + 16 * (i + 1) for i in range(cls.N)]
        capture = captures.Capture(time=0, end_time=recording.SECOND)
        capture.process('/usr/bin/many', time=0, pid=7)
        capture.jitmap([(place, f'f{i}') for i, place in enumerate(places)], time=0, pid=7)
        for i, place in enumerate([places[0]] * 5 + places):
            capture.sample([place], 7, time=i, pid=7)
        return capture.save(path)

    def shown(self):
        return sorted(match[1] for match in (re.match(r'(f\d+), ', name) for name in self.app.names(self.app.find('Functions'))) if match)

    def test_rows_out_of_sight(self):
        self.app.show('time-profiler/callgraph')
        for key, options in ((None, ()), ('x', ('--symbol', '!f0'))):
            if key:
                self.app.click(self.app.wait_for(lambda name: name.startswith('f0, '), top=self.app.find('Functions')))
                self.app.key(key)
                self.app.wait_for('Remove filter: not symbol: f0')
            expected = sorted(row['symbol'] for row in self.report('functions', *options))
            self.assertEqual(len(expected), self.N - bool(key))
            self.app.wait(lambda: self.shown() == expected, f'functions {expected}')


@unittest.skipUnless(shutil.which('nm'), 'needs nm')
class ManyFunctions(desktop.Case):
    """More functions than a flame graph has pixels, and two of a program: one with the longest name of all."""
    name = 'narrow.syscap'
    N = 2000

    @classmethod
    def write(cls, path):
        places = [captures.JIT + 16 * (i + 1) for i in range(cls.N + 1)]
        capture = captures.Capture(time=0, end_time=recording.SECOND)
        capture.process('/usr/bin/narrow', time=0, pid=7)
        capture.jitmap([(place, f'f{i}' if i else 'heavy') for i, place in enumerate(places)], time=0, pid=7)
        for i, place in enumerate([places[0]] * cls.N + places[1:]):
            capture.sample([place], 7, time=i, pid=7)
        capture.process(desktop.REPORT, time=0, pid=8)
        capture.map(BASE, BASE + (1 << 26), desktop.REPORT, inode=os.stat(desktop.REPORT).st_ino, time=0, pid=8)
        cls.longest = max(symbols(), key=len)
        for name in cls.longest, 'main':
            capture.sample([captures.USER, BASE + symbols()[name]], 8, time=0, pid=8)
        return capture.save(path)

    def test_waits_that_were_not_recorded(self):
        self.app.show('time-profiler/waits')
        self.app.wait_for(lambda text: 'no waits' in text and 'Record Waits' in text)

    def test_narrow_frames(self):
        self.app.show('time-profiler/flame')
        chart = self.app.wait_for('Flame graph', 'list')
        self.app.wait_for(lambda name: name.startswith('whole machine'))
        area = self.app.extents(chart)
        # Levels from below: all processes, the process, its functions.
        subprocess.run(['xdotool', 'mousemove', str(area.x + area.width // 4), str(area.y + area.height - 50)], check=True)
        rows = [row for row in self.report('functions') if re.match(r'f\d', row['symbol'])]
        weight = sum(row['total'] for row in rows)
        self.assertEqual((len(rows), weight), (self.N, self.N))
        self.app.wait_for(f'{len(rows)} functions in narrow frames, {weight:,} samples, 50.0 %')

    def test_long_name_has_the_width(self):
        """The name of the program is left out beside a long name."""
        self.app.show('time-profiler/callgraph')
        functions = self.app.find('Functions')
        for name, n_shown in (self.longest, 1), ('main', 2):
            self.app.wait(lambda: self.app.entry(self.app.container(functions, "AppTable")), 'the filter').setTextContents(name)
            row = self.app.wait_for(lambda text: text.startswith(f'{name}, '), top=functions)
            texts = self.app.wait(lambda: self.texts(row.children[0], n_shown), f'{n_shown} texts of {name}')
            # A cut name ends where no further letter fits.
            self.assertEqual(texts[0][1] > -48, n_shown == 1, texts)

    def texts(self, cell, n):
        """Where texts begin and end on the screen, the latter from the end of the cell, if there are `n`."""
        area = self.app.extents(cell)
        grey = subprocess.run(['import', '-window', 'root', '-crop', f'{area.width}x{area.height}+{area.x}+{area.y}', '-depth', '8', 'gray:-'],
                              stdout=subprocess.PIPE, check=True).stdout
        columns = [grey[x::area.width] for x in range(area.width)]
        inked = [x for x, column in enumerate(columns) if max(column) - min(column) > 40]
        starts = [x for before, x in zip([-9, *inked], inked) if x - before > 5]
        ends = [x for x, after in zip(inked, [*inked[1:], area.width + 9]) if after - x > 5]
        return len(starts) == n and [(start, end - area.width) for start, end in zip(starts, ends)]


class Weights(desktop.Case):
    """Time off the CPU in the same views."""
    name = 'waits.syscap'

    @staticmethod
    def write(path):
        return waits.make(1)[0].save(path)

    def shares(self):
        """{function: share of its total} of the shown functions."""
        found = (re.match(r'(\w+), .*, .*?([\d.]+) %', name) for name in self.app.names(self.app.find('Functions')))
        return {match[1]: match[2] for match in found if match}

    def test_weights(self):
        self.app.show('time-profiler/callgraph')
        for weight in ('period:cpu-clock', 'time', 'wall', 'default'):
            self.app.change('weight', self.app.GLib.Variant('s', weight))
            options = {'default': ['samples'], 'period:cpu-clock': ['period']}.get(weight, [weight])
            whole = self.report('tree', '--weight', *options)[0]['total']
            expected = {row['symbol']: f'{row["total"] * 100 / whole:.1f}' for row in self.report('functions', '--weight', *options)}
            self.app.wait(lambda: len(self.shares()) > 3 and self.shares().items() <= expected.items(), f'shares by {weight}: {expected}')
            if weight == 'time':
                self.app.wait_for(lambda name: re.match(r'(Waits|Ready, without a CPU) \(.*ended by ', name))


if __name__ == '__main__':
    desktop.main()
