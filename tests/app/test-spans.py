#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves through the charts of spans with keys and pointer, and compares what they select and filter with sysprof-report.

usage: test-spans.py SYSPROF SYSPROF_REPORT
"""
import pathlib
import re

import desktop

desktop.enter()
import recording  # noqa: E402

ROW = 22  # px
GUTTER = 150


class Spans(desktop.Case):
    write = staticmethod(recording.write)

    def totals(self, table):
        rows = (re.fullmatch(r'(\w+), [\d,]+(?: {3}[\d.]+ %)?, ([\d,]+)(?: {3}[\d.]+ %)?', node.name or '')
                for node in self.app.walk(self.app.wait_for(table)))
        return {row[1]: int(row[2].replace(',', '')) for row in rows if row}

    def wait_for_cursor(self, *texts):
        """The item at the cursor of a chart, whose name has all texts."""
        return self.app.wait_for(lambda name: all(text in name for text in texts), 'list item')

    def test_1_click_selects_the_mark(self):
        self.app.show('marks/chart')
        chart = self.app.wait_for('Mark Chart', 'list')
        self.app.wait_for('Hide group painter', 'push button')
        self.click_at(chart, GUTTER + 1, ROW + ROW // 2)
        self.wait_for_cursor('painter / frame: frame 0', '50.00 ms')
        self.app.wait_for(lambda name: name.startswith('Remove filter: ') and '–' in name)

    def test_2_keys_move_and_zoom(self):
        # Other marks are there once the chart has followed the zoom.
        self.app.wait(lambda: self.app.key('End') or self.app.find(lambda name: 'frame 9' in name, 'list item'), 'last mark')
        self.app.key('Home')
        self.wait_for_cursor('frame 0')
        self.app.key('Right')
        self.wait_for_cursor('frame 1')
        self.app.key('Left')
        self.wait_for_cursor('frame 0')
        self.app.key('Return')
        self.app.wait(lambda: self.app.is_enabled('zoom-out'), 'zoom')
        self.app.act('zoom-reset')
        self.app.wait(lambda: not self.app.is_enabled('zoom-out'), 'whole recording')

    def test_2_double_click_zooms_to_the_mark(self):
        self.app.show('marks/chart')
        chart = self.app.wait_for('Mark Chart', 'list')
        # On a busy machine two clicks may be too far apart to be a double click.
        self.app.wait(lambda: self.app.is_enabled('zoom-out') or
                      self.click_at(chart, GUTTER + 1, ROW + ROW // 2, '--repeat', '2', '--delay', '10'), 'zoom')
        self.wait_for_cursor('frame 0')
        self.app.act('zoom-reset')
        self.app.wait(lambda: not self.app.is_enabled('zoom-out'), 'whole recording')

    def chip_time(self):
        """Begin and end of the selected time as its chip prints them, in seconds; None without a chip."""
        chip = self.app.find(lambda name: name.startswith('Remove filter: ') and '–' in name)
        return chip and [float(value) for value in re.findall(r'([\d.]+) s', chip.name)]

    def drag(self, chart, begin, end):
        """Drags between shares of the time axis of a chart."""
        gutter = GUTTER / self.app.extents(chart).width
        self.app.drag(chart, *(gutter + (1 - gutter) * share for share in (begin, end)))

    def test_2z_drag_selects_and_its_edge_adjusts(self):
        self.app.show('marks/chart')
        chart = self.app.wait_for('Mark Chart', 'list')
        self.drag(chart, 0.25, 0.5)
        begin, end = self.app.wait(self.chip_time, 'selected time')
        self.assertAlmostEqual(begin, 2.5, delta=0.05)
        self.assertAlmostEqual(end, 5, delta=0.05)
        self.drag(chart, 0.5, 0.75)
        moved = self.app.wait(lambda: self.chip_time() != [begin, end] and self.chip_time(), 'moved end')
        self.assertEqual(moved[0], begin)
        self.assertAlmostEqual(moved[1], 7.5, delta=0.05)
        self.assertFalse(self.app.is_enabled('zoom-out'))
        for _ in range(2):
            self.app.act('back')

    def test_3_filter_equals_the_report(self):
        self.app.show('marks/chart')
        self.click_at(self.app.wait_for('Mark Chart', 'list'), GUTTER + 1, ROW + ROW // 2)
        self.wait_for_cursor('frame 0')
        self.app.key('m')
        self.app.wait_for(lambda name: name.startswith('Remove filter: ') and 'painter/frame' in name)
        self.app.act('zoom-reset')
        self.app.wait(lambda: not self.app.is_enabled('zoom-out'), 'whole recording')
        self.app.show('time-profiler/callgraph')
        expected = {row['symbol']: row['total'] for row in self.report('functions', '--mark', 'painter/frame')}
        self.assertLess(expected['main'], recording.N_SAMPLES / 2)
        self.app.wait(lambda: self.totals('Functions') == expected, f'rows {expected}')
        self.app.press('Invert filter: mark: painter/frame', 'push button')
        others = {row['symbol']: row['total'] for row in self.report('functions', '--mark', '!painter/frame')}
        self.assertEqual(others['main'] + expected['main'], recording.N_SAMPLES)
        self.app.wait(lambda: self.totals('Functions') == others, f'rows {others}')
        self.app.press('Invert filter: not mark: painter/frame', 'push button')
        self.app.wait(lambda: self.totals('Functions') == expected, f'rows {expected}')
        self.app.press('Switch off filter: mark: painter/frame', 'push button')
        everything = {row['symbol']: row['total'] for row in self.report('functions')}
        self.app.wait(lambda: self.totals('Functions') == everything, f'rows {everything}')
        self.app.press('Switch on filter: mark: painter/frame (off)', 'push button')
        self.app.wait(lambda: self.totals('Functions') == expected, f'rows {expected}')
        for _ in ('on', 'off', 'inversion', 'inversion', 'zoom', 'filter', 'selection'):
            self.app.act('back')

    def test_4_eye_hides_the_group(self):
        self.app.show('marks/chart')
        self.app.wait_for('Hide group painter', 'push button').queryAction().doAction(0)
        eye = self.app.wait_for('Show group painter', 'push button')
        eye.queryAction().doAction(0)
        self.app.wait_for('Hide group painter', 'push button')

    def test_5_waterfall_has_a_row_per_mark(self):
        self.app.show('marks/waterfall')
        chart = self.app.wait_for('Mark Waterfall', 'list')
        marks = self.report('marks')
        self.click_at(chart, GUTTER + 1, ROW // 2)
        self.wait_for_cursor(marks[0]['message'])
        for mark in marks[1:4]:
            self.app.key('Down')
            self.wait_for_cursor(mark['message'])
        self.app.act('back')

    def test_5a_search_leaves_the_spans_with_the_text(self):
        self.app.show('marks/waterfall')
        self.app.act('find')
        view = self.app.container(self.app.wait_for('Mark Waterfall', 'list'), 'AppSpans')
        entry = self.app.wait(lambda: self.app.entry(view), 'search entry')
        entry.setTextContents('FRAME 3')
        found = [row for row in self.report('marks') if 'frame 3' in row['message']]
        self.app.wait_for(f'{len(found)} match', 'label', top=view)
        self.app.press('Next Match', 'push button', top=view)
        self.wait_for_cursor('frame 3')
        entry.setTextContents('')
        self.app.key('Escape')

    def test_5b_chart_is_written_as_a_picture(self):
        path = pathlib.Path(self.capture).with_name('waterfall.svg')
        self.app.show('marks/waterfall')
        self.app.act('export-view')
        self.app.choose_file(path)
        self.app.wait(lambda: path.exists() and path.read_text().rstrip().endswith('</svg>'), 'picture')

    def test_6_process_chart(self):
        self.app.show('processes/chart')
        chart = self.app.wait_for('Process Chart', 'list')
        self.click_at(chart, GUTTER + 40, ROW // 2)
        self.wait_for_cursor(self.report('processes')[0]['command'])


if __name__ == '__main__':
    desktop.main()
