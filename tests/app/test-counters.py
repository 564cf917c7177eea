#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counters, allocations and files in the application, compared with what the test wrote into the capture.

usage: test-counters.py SYSPROF SYSPROF_REPORT
"""
import gzip
import re
import subprocess

import desktop

desktop.enter()
import captures  # noqa: E402

SECOND, PID = 10**9, 100
MAIN, DRAW = captures.JIT + 16, captures.JIT + 32
N_OTHERS, MOST_CHARTS = 210, 200
RECEIVED, SENT = 5_000_000, 2_000_000  # bytes a second


def write(path):
    capture = captures.Capture(time=0, end_time=10 * SECOND)
    capture.process('/usr/bin/painter', time=0, pid=PID)
    capture.jitmap([(MAIN, 'main'), (DRAW, 'draw')], time=0, pid=PID)
    capture.ctrdef([(1, 'Network', 'RX Bytes', 'Received', 0), (2, 'Network', 'TX Bytes', 'Sent', 0)], time=0)
    capture.ctrdef([(10 + i, 'Widgets', f'Number {i}', '', 0) for i in range(N_OTHERS)], time=0)
    for second in range(10):
        capture.ctrset([(10 + i, second if i == N_OTHERS - 1 else 7) for i in range(N_OTHERS)], time=second * SECOND)
        capture.ctrset([(1, second * RECEIVED), (2, second * SENT)], time=second * SECOND)
    for i in range(20):
        capture.allocation(0x1000 + 64 * i, 1000, [DRAW, MAIN], tid=PID, time=i * SECOND // 4, pid=PID)
        if i % 2:
            capture.allocation(0x1000 + 64 * i, 0, [MAIN], tid=PID, time=i * SECOND // 4 + 1, pid=PID)
    capture.file('/proc/words.gz', gzip.compress(b'alpha beta\n'), time=0)
    capture.file('/sys/blob', bytes([0, 255, 65]), time=0)
    return capture.save(path)


class Counters(desktop.Case):
    name = 'counters.syscap'
    write = staticmethod(write)

    def test_1_totals_are_shown_as_rates(self):
        self.app.show('network/chart')
        self.app.wait_for('RX Bytes', 'label')
        self.app.wait_for('5.00 MB/s', 'label')
        self.app.wait_for('2.00 MB/s', 'label')

    def test_2_what_goes_out_is_below_zero(self):
        self.app.wait_for('↑ 5.00 MB/s ↓ 2.00 MB/s', 'label')

    def test_3_table_has_each_value(self):
        self.app.show('network/table')
        self.app.wait_for(lambda name: name.endswith('Network, RX Bytes, 45.0 MB'))

    def counters(self):
        """The list of charts of the section of other counters."""
        chart = self.app.wait_for('Number 0', 'list')
        return self.app.container(chart, 'Counters Chart')

    def test_z1_counters_that_never_change_are_last(self):
        self.app.show('other/chart')
        self.app.wait_for('Widgets (Never Changes)', 'label')
        charts = [node.name for node in self.app.walk(self.counters()) if node.getRoleName() == 'list' and node.name.startswith('Number')]
        self.assertEqual(charts[:2], [f'Number {N_OTHERS - 1}', 'Number 0'])
        self.app.wait_for(f'{N_OTHERS - MOST_CHARTS} more counters are in the Counters Table.', 'label')

    def test_z2_search_leaves_the_counters_with_the_text(self):
        self.app.act('find')
        view = self.counters().parent.parent.parent.parent
        self.app.wait(lambda: self.app.entry(view), 'search entry').setTextContents('number 20')
        self.app.wait_for('2 counters', 'label', top=view)
        self.app.key('Escape')

    def test_z3_titles_have_figures_of_the_selected_time(self):
        self.app.show('other/chart')
        self.app.drag(self.app.wait_for('Other counters', 'list'), 0.25, 0.7)
        chip = self.app.wait_for(lambda name: name.startswith('Remove filter: ') and '–' in name).name
        begin, end = re.findall(r'([\d.]+) s', chip)
        [row] = [row for row in self.report('counters', '--time', f'{begin}s..{end}s') if row['name'] == f'Number {N_OTHERS - 1}']
        self.assertLess(row['count'], 10)
        self.app.wait_for_figures('Other counters', f'{row["name"]}: {row["min"]} to {row["max"]}, mean {row["mean"]:.2f}')
        self.app.show('memory/allocations')
        total = sum(row['self'] for row in self.report('allocations', '--time', f'{begin}s..{end}s'))
        self.app.wait_for_figures('Allocated', f'Allocated: {total / 1000:.1f} kB')

    def test_4_leaks_are_what_is_not_freed(self):
        self.app.show('memory/leaks')
        self.app.wait_for(lambda name: name.startswith('draw, ') and '10.0 kB' in name)

    def test_5_allocations_are_all(self):
        self.app.show('memory/allocations')
        self.app.wait_for(lambda name: name.startswith('draw, ') and '20.0 kB' in name)

    def test_6_summary_counts_temporaries(self):
        self.app.show('memory/summary')
        self.app.wait_for(lambda name: name.startswith('512 – 1023 B, 20'))

    def open_file(self, row, name):
        self.app.show('files')
        subprocess.run(['xdotool', 'search', '--sync', '--name', 'counters.syscap', 'windowfocus'], check=True)
        self.app.click(self.app.wait_for(lambda text: text.startswith(row + ',')))
        self.app.key('Return')
        self.app.wait_for(name, 'frame')
        return self.app.wait_for(name, 'text')

    def test_7_compressed_file_is_shown_unpacked(self):
        text = self.open_file('/proc/words.gz', '/proc/words')
        self.assertIn('alpha beta', text.queryText().getText(0, -1))
        self.app.key('Escape')
        self.app.wait(lambda: not self.app.find('/proc/words', 'frame'), 'closed window')

    def test_8_binary_file_is_shown_in_hex(self):
        text = self.open_file('/sys/blob', '/sys/blob')
        self.assertIn('00 ff 41', text.queryText().getText(0, -1))

    def test_8a_titles_are_those_people_know(self):
        self.app.show('files')
        for title in ('Path', 'Compressed', 'Size'):
            self.app.wait_for(title, 'label')

    def test_8b_next_match_is_selected(self):
        self.app.show('network/table')
        self.app.wait_for(lambda name: name.endswith('Network, RX Bytes, 45.0 MB'))
        selected = lambda: [node.name for node in self.app.walk(self.app.find('Counters Table', 'table'))  # noqa: E731
                            if node.name and node.getState().contains(self.app.pyatspi.STATE_SELECTED)]
        self.app.act('find-next', self.app.GLib.Variant('i', 1))
        self.app.wait(lambda: any('RX Bytes' in name for name in selected()), 'first row')
        self.app.act('find-next', self.app.GLib.Variant('i', 1))
        self.app.wait(lambda: any('TX Bytes' in name for name in selected()), 'second row')

    def test_9_go_to_finds_a_function(self):
        self.app.key('Escape')
        self.app.act('go-to')
        window = self.app.wait_for('Go To', 'frame')
        self.app.wait(lambda: self.app.entry(window), 'entry').setTextContents('metad')
        self.app.wait_for('Metadata, Section', top=window)
        self.app.entry(window).setTextContents('draw')
        self.app.wait_for('draw, Function', top=window)
        self.app.entry(window).setTextContents('reset z')
        self.app.wait_for('Reset zoom, Command', top=window)
        self.app.entry(window).setTextContents('TX By')
        self.app.wait_for('TX Bytes, Counter', top=window)
        self.app.wait(lambda: not self.app.find('draw, Function', top=window), 'rows of the last text')
        self.app.focus('Go To')
        self.app.key('Return')
        self.app.wait_for('1 counter', 'label')  # the section of the network searches for it


if __name__ == '__main__':
    desktop.main()
