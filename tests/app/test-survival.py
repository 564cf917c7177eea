#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every view of every section opens, without a warning, for recordings with nothing, with one of everything, with times in the
wrong order, with long names, and with names that are no text; in narrow windows, dark, with high contrast, and right to left.

usage: test-survival.py SYSPROF SYSPROF_REPORT
"""
import os
import pathlib
import tempfile
import unittest

import desktop

desktop.enter()
import captures  # noqa: E402
import recording  # noqa: E402

SECOND = 10**9
VIEWS = ['time-profiler/callgraph', 'time-profiler/flame', 'time-profiler/samples', 'time-profiler/source',
         'time-profiler/disassembly', 'time-profiler/waits', 'time-profiler/quality', 'memory', 'logs', 'marks', 'processes', 'dbus',
         'cpu', 'energy', 'graphics', 'memory-usage', 'network', 'storage', 'pressure', 'other', 'files', 'metadata', 'overview']
LONG = 'x' * 10000
BYTES = b'\xff\xfe\x80bad\x01\x1b[31m'
ARABIC = 'مرحبا بالعالم'


def one_of_everything(name, times=(SECOND,)):
    """A capture in which everything has a name, at each of the times."""
    name = captures.text(name)
    capture = captures.Capture(time=0, end_time=2 * SECOND)
    capture.process(name, time=0, pid=100)
    capture.jitmap([(recording.MAIN, name), (recording.DRAW, name)], time=0, pid=100)
    capture.ctrdef([(1, name, name, name, 1), (2, 'CPU Percent', name, name, 1)], time=0)
    for time in times:
        capture.sample([recording.DRAW, recording.MAIN], tid=100, time=time, pid=100, cpu=0)
        capture.mark(name, name, name, duration=SECOND // 10, time=time, pid=100, cpu=0)
        capture.log(name, name, time=time, pid=100)
        capture.metadata(name, name[:500], time=time)
        capture.ctrset([(1, 1.5), (2, 99.0)], time=time)
        capture.allocation(0x1000, 64, [recording.MAIN], tid=100, time=time, pid=100)
    return capture.file(name[:200], name, time=SECOND)


class Survival(unittest.TestCase):
    def look_at_all(self, capture, environment=None, size=None):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'test.syscap')
            capture.save(path)
            os.environ.update(environment or {})
            app = desktop.Application(desktop.PROGRAM, path)
            for name in environment or {}:
                del os.environ[name]
            try:
                app.wait_for('test.syscap', 'frame')
                if size:
                    app.resize('test.syscap', *size)
                for view in VIEWS:
                    app.show(view)
                    app.wait(lambda: app.is_enabled('zoom-in') is not None, view)  # it answers: the view was made
                app.show('time-profiler/flame')
                app.wait(lambda: app.find('Flame graph') or app.find(lambda name: 'Not Recorded' in name), 'flame graph')
            finally:
                app.close()
            self.assertEqual(app.warnings(), [])

    def test_empty(self):
        self.look_at_all(captures.Capture(time=0, end_time=0))

    def test_one(self):
        self.look_at_all(one_of_everything('name'))

    def test_wrong_order(self):
        self.look_at_all(one_of_everything('name', times=(3 * SECOND, SECOND, -5, 2**62, SECOND)))

    def test_long_names(self):
        self.look_at_all(one_of_everything(LONG))

    def test_names_that_are_no_text(self):
        self.look_at_all(one_of_everything(BYTES))

    def test_right_to_left(self):
        self.look_at_all(one_of_everything(ARABIC), environment={'GTK_DEBUG': '', 'LANGUAGE': 'ar'})

    def test_dark_high_contrast(self):
        self.look_at_all(one_of_everything('name'), environment={'ADW_DEBUG_COLOR_SCHEME': 'prefer-dark', 'ADW_DEBUG_HIGH_CONTRAST': '1'})

    def test_narrow(self):
        self.look_at_all(one_of_everything('name'), size=(360, 600))

    def test_large_scale(self):
        self.look_at_all(one_of_everything('name'), environment={'GDK_SCALE': '2'})


if __name__ == '__main__':
    desktop.main()
