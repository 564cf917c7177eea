#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens logs, D-Bus messages, the summary of marks and the window of a process, and compares them with sysprof-report.

usage: test-events.py SYSPROF SYSPROF_REPORT
"""

import desktop

desktop.enter()
import captures  # noqa: E402
import dbus  # noqa: E402
import recording  # noqa: E402

SECOND = recording.SECOND
MILLISECOND = SECOND // 1000
PID = recording.PID


def write(path):
    capture = captures.Capture(time=0, end_time=10 * SECOND)
    capture.process('/usr/bin/painter --fast', time=0, pid=PID)
    capture.map(0x10000, 0x20000, '/usr/bin/painter', time=0, pid=PID)
    capture.map(0x7f0000000000, 0x7f0000100000, '/usr/lib/libc.so.6', time=0, pid=PID)
    capture.file(f'/proc/{PID}/mountinfo', b'22 1 0:21 / / rw - ext4 /dev/sda1 rw,errors=remount-ro\n', time=0, pid=PID)
    for tid in (PID, PID + 1):
        capture.sample([0x10010], tid=tid, time=SECOND, pid=PID, cpu=0)
    for name, milliseconds in (('short', (1, 2, 9)), ('long', (5, 6, 7))):
        for i, duration in enumerate(milliseconds):
            capture.mark('painter', name, duration=duration * MILLISECOND, time=(i + 1) * SECOND, pid=PID, cpu=0)
    for i in range(300):
        capture.log('painter', f'message {i}', severity=16 if i % 2 else 64, time=i * SECOND // 30, pid=PID)
    names = {'sender': ':1.1', 'destination': 'org.example.Test'}
    capture.dbus(dbus.message(dbus.CALL, 7, path='/org/example', interface='org.example.Test', member='Ask', **names), time=SECOND, pid=PID)
    capture.dbus(dbus.message(dbus.REPLY, 8, reply_serial=7, sender='org.example.Test', destination=':1.1'),
                 time=SECOND + 40 * MILLISECOND, pid=PID)
    return capture.save(path)


class Events(desktop.Case):
    name = 'events.syscap'
    write = staticmethod(write)

    def nodes(self, title):
        """The rows of a table on the screen."""
        table = self.app.wait_for(title, 'tree table')
        return [node for node in self.app.walk(table) if node.getRoleName() == 'table row' and ', ' in node.name]

    def rows(self, title):
        return [node.name for node in self.nodes(title)]

    def wait_for_row(self, title, *texts):
        return self.app.wait(lambda: [row for row in self.rows(title) if all(text in row for text in texts)], f'row {texts}')[0]

    def test_1_summary_is_sorted_by_median(self):
        self.app.show('marks/summary')
        self.wait_for_row('Summary', 'short')
        self.assertEqual([row.split(', ')[1] for row in self.rows('Summary')], ['long', 'short'])
        expected = {row['name']: row for row in self.report('marks', '--by-name')}
        self.assertEqual(expected['long']['median'], 6 * MILLISECOND)
        self.wait_for_row('Summary', 'long', '6.00 ms')

    def test_1_row_of_a_mark_selects_its_span(self):
        self.app.show('marks/table')
        self.wait_for_row('Mark Table', 'long')
        self.app.click(self.nodes('Mark Table')[0])
        self.app.key('Return')
        self.app.wait_for(lambda name: name.startswith('Remove filter: ') and '–' in name)
        self.assertFalse(self.app.is_enabled('zoom-out'))
        self.app.act('back')

    def test_2_severities_are_words(self):
        self.app.show('logs')
        expected = {row['severity'].capitalize() for row in self.report('logs')}
        self.assertEqual(expected, {'Info', 'Warning'})
        for word in expected:
            self.wait_for_row('Logs', word)
        self.app.act('toggle-right')
        self.app.click(self.nodes('Logs')[1])
        text = self.app.wait(lambda: next((node for node in self.app.walk() if node.name == 'Details' and
                                           node.getRoleName() == 'text'), None), 'text of the row')
        self.app.wait(lambda: 'message 1' in text.queryText().getText(0, -1), 'cells of the row')
        self.app.act('toggle-right')

    def test_2_tick_selects_the_log(self):
        self.app.show('logs')
        self.wait_for_row('Logs', 'message 0')
        ticks = self.app.wait_for('Logs', 'list')
        area = self.app.extents(ticks)
        self.click_at(ticks, int(area.width * 0.9), area.height // 2)
        self.app.wait(lambda: [row for row in self.rows('Logs') if any(f'message {i}' in row for i in range(268, 273))],
                      'message near 9 s')

    def test_3_call_has_its_reply(self):
        self.app.show('dbus/messages')
        row = self.wait_for_row('Messages', 'org.example.Test', 'Ask')
        self.assertIn('40.00 ms', row)
        self.assertEqual(self.report('dbus')[0]['duration'], 40 * MILLISECOND)
        self.app.act('toggle-right')
        self.app.click(self.nodes('Messages')[0])
        text = self.app.wait(lambda: next((node for node in self.app.walk() if node.name == 'Message' and
                                           node.getRoleName() == 'text'), None), 'text of the message')
        self.app.wait(lambda: 'Member' in text.queryText().getText(0, -1) or 'Ask' in text.queryText().getText(0, -1), 'message')
        printed = text.queryText().getText(0, -1)
        self.assertIn('member -> \'Ask\'', printed)
        self.assertIn('reply-serial -> uint32 7', printed)

    def test_3_chart_has_the_call(self):
        self.app.show('dbus/calls')
        chart = self.app.wait_for('Calls', 'list')
        self.click_at(chart, 160, 11)
        self.app.key('Down')
        self.app.wait_for(lambda name: 'org.example.Test.Ask' in name and '40.00 ms' in name, 'list item')

    def test_4_process_window(self):
        self.app.show('processes/processes')
        self.wait_for_row('Process Table', 'painter')
        self.app.click(self.nodes('Process Table')[0])
        self.app.key('Return')
        frame = self.app.wait_for('painter', 'frame')
        self.app.wait_for(lambda name: f'PID {PID}' in name, top=frame)
        for row in self.report('maps', '--process', str(PID)):
            self.wait_for_row('Address Layout', row['begin'], row['end'], row['file'])
        self.assertEqual(self.report('mounts')[0]['mount-point'], '/')
        self.assertEqual([row['main'] for row in self.report('threads', '--process', str(PID))], [True, False])
        self.app.key('Escape')
        self.app.wait(lambda: not self.app.find('painter', 'frame'), 'closed window')


if __name__ == '__main__':
    desktop.main()
