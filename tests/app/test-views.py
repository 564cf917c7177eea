#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens a capture in the application, walks all sections, selects a time, and compares the numbers on the screen with those of
sysprof-report for the same selection.

usage: test-views.py SYSPROF SYSPROF_REPORT
"""
import re

import desktop

desktop.enter()
import captures  # noqa: E402
import recording  # noqa: E402

SECTIONS = ['Overview', 'Time Profiler', 'Memory Allocations', 'Logs', 'Marks', 'Processes', 'D-Bus', 'CPU', 'Energy', 'Graphics',
            'Memory Usage', 'Network', 'Storage', 'Pressure', 'Other Counters', 'Files', 'Metadata']


class Views(desktop.Case):
    write = staticmethod(recording.write)

    def chip_time(self):
        """The selected time as its chip says it."""
        return self.app.wait_for(lambda name: name.startswith('Remove filter: ') and '–' in name).name

    def rows(self, table):
        """The rows of a table on the screen, as {function: (self, total)}."""
        view = self.app.wait_for(table)
        found = {}
        for node in self.app.walk(view):
            fields = re.fullmatch(r'(\w+), ([\d,]+)(?: {3}[\d.]+ %)?, ([\d,]+)(?: {3}[\d.]+ %)?', node.name or '')
            if fields:
                found[fields[1]] = tuple(int(value.replace(',', '')) for value in fields.group(2, 3))
        return found

    def test_1_sections(self):
        self.app.wait(lambda: self.app.is_enabled('zoom-in') is not None, 'loaded capture')
        sidebar = self.app.wait_for('Sections')
        names = [node.name for node in self.app.walk(sidebar) if node.getRoleName() == 'list item']
        self.assertEqual(names, SECTIONS)

    def test_2_every_section_opens(self):
        for section in ('logs', 'marks', 'processes', 'cpu', 'memory-usage', 'files', 'metadata', 'time-profiler', 'overview'):
            self.app.show(section)
            self.app.wait(lambda: any(self.app.names()), section)

    def test_3_missing_data_names_the_remedy(self):
        self.app.show('dbus')
        self.app.wait_for(lambda name: 'Record Session Bus' in name)

    def test_3b_amount_is_not_shown_for_files(self):
        for view, is_shown in ('overview', True), ('files', False), ('logs', True), ('metadata', False):
            self.app.show(view)
            self.app.wait(lambda is_shown=is_shown: bool(self.app.find('Whole recording')) == is_shown, view)

    def test_4_functions_equal_the_report(self):
        self.app.show('time-profiler/callgraph')
        expected = {row['symbol']: (row['self'], row['total']) for row in self.report('functions')}
        self.app.wait(lambda: self.rows('Functions') == expected, f'rows {expected}')

    def test_5_selected_time_equals_the_report(self):
        self.app.show('time-profiler/callgraph')
        track = self.app.wait_for('Stack traces', 'list')
        self.app.drag(track, 0.25, 0.625)
        chip = self.chip_time()
        begin, end = re.findall(r'([\d.]+) s', chip)
        expected = {row['symbol']: row['total'] for row in self.report('functions', '--time', f'{begin}s..{end}s')}
        # The chip has two decimals: at 100 samples a second that is one sample at each end.
        self.app.wait(lambda: self.rows('Functions').keys() == expected.keys() and
                      all(abs(total - expected[name]) <= 2 for name, (_, total) in self.rows('Functions').items()),
                      f'rows {expected}')

    def test_5b_selected_time_is_excluded(self):
        chip = self.chip_time()
        begin, end = re.findall(r'([\d.]+) s', chip)
        self.app.press(chip.replace('Remove', 'Invert'), 'push button')
        self.app.wait_for(chip.replace('filter: ', 'filter: not time: '))
        expected = {row['symbol']: row['total'] for row in self.report('functions', '--time', f'!{begin}s..{end}s')}
        self.app.wait(lambda: self.rows('Functions').keys() == expected.keys() and
                      all(abs(total - expected[name]) <= 2 for name, (_, total) in self.rows('Functions').items()),
                      f'rows {expected}')
        self.app.press(chip.replace('Remove filter: ', 'Invert filter: not time: '), 'push button')
        self.app.wait_for(chip)

    def test_6_back_returns_to_all(self):
        for _ in ('inversion', 'inversion', 'selection'):
            self.app.act('back')
        expected = {row['symbol']: (row['self'], row['total']) for row in self.report('functions')}
        self.app.wait(lambda: self.rows('Functions') == expected, 'all samples')

    def test_6b_pinned_track_is_in_every_section(self):
        self.app.show('memory-usage')
        track = self.app.wait_for('Memory', 'list')
        self.app.focus(self.name)
        self.app.click(track)
        self.app.key('p')
        self.app.key('shift+F10')
        self.app.press(lambda name: 'Pin or Unpin' in name, 'menu item')
        self.app.wait(lambda: not self.app.find(lambda name: 'Pin or Unpin' in name, 'menu item'), 'closed menu')
        self.app.key('p')
        self.app.show('logs')
        self.app.wait_for('Logs', 'list')
        self.app.wait_for('Memory', 'list')

    def test_7_search(self):
        self.app.show('logs')
        self.app.wait_for(lambda name: 'message 3' in name)
        self.app.act('find')
        table = self.app.container(self.app.find(lambda name: 'message 3' in name), 'AppTable')
        self.app.wait(lambda: self.app.entry(table), 'search entry').setTextContents('message 7')
        self.app.wait(lambda: not self.app.find(lambda name: 'message 3' in name, top=table), 'fewer rows')
        self.assertTrue(self.app.find(lambda name: 'message 7' in name, top=table))


class Texts(desktop.Case):
    """Texts that name options in a terminal, of samples in the kernel that a program without a file called."""
    name = 'texts.syscap'

    @staticmethod
    def write(path):
        capture = captures.Capture(time=0, end_time=recording.SECOND)
        capture.process('/missing/program', time=0, pid=7)
        capture.map(0x10000, 0x20000, '/missing/program', time=0, pid=7)
        for i in range(100):
            capture.sample([captures.KERNEL, 2**64 - 2**31, captures.USER, 0x10010], 7, time=i, pid=7)
        return capture.save(path)

    def check(self, view, text):
        self.app.show(view)
        self.app.wait_for(lambda name: text in name)
        self.assertEqual([name for name in self.app.names() if '--' in name], [])

    def test_findings(self):
        self.check('overview', '100.0 % of the samples were in the kernel.')

    def test_source(self):
        self.check('time-profiler/source', 'no debug information was found')


if __name__ == '__main__':
    desktop.main()
