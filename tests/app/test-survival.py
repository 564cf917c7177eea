#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens every view of every section with recordings that are hard to show, in windows that are hard to draw. GTK must not
complain, the program must come to rest in each view, and a window must not grow.

usage: test-survival.py SYSPROF SYSPROF_REPORT
"""
import functools
import pathlib
import struct
import sys
import tempfile
import unittest

import desktop

desktop.enter()
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / 'scripts'))
import app_views  # noqa: E402
import captures  # noqa: E402
import dbus  # noqa: E402
import recording  # noqa: E402
import waits  # noqa: E402

SECOND = 10**9
VIEWS = list(app_views.views())
COUNTERS = ['CPU Percent', 'CPU Frequency', 'RAPL', 'Battery Charge', 'gtk', 'Memory', 'Network', 'Disk', 'Pressure', 'test']  # categories
MARKS = 1_000_000
TIME, DURATION = 8, 24  # offsets in the frame of a mark
PLAIN, ARABIC = 'name', 'مرحبا بالعالم'
LONG, BYTES = 'x' * 10000, b'\xff\xfe\x80bad\x01\x1b[31m'
NARROW, DOUBLE = (360, 640), (1240, 780)  # px


def message(name):
    return dbus.message(dbus.CALL, 7, member='@', sender=':1.1', destination='org.test').replace(b'\1\0\0\0@\0', struct.pack('<I', len(name)) + name + b'\0')


def one_of_everything(name, times=(SECOND,)):
    """A capture in which everything has a name, at each of the times."""
    name = captures.text(name)
    capture = captures.Capture(time=0, end_time=2 * SECOND)
    capture.process(name, time=0, pid=100)
    capture.map(0x10000, 0x20000, name, time=0, pid=100)
    capture.jitmap([(recording.MAIN, name), (recording.DRAW, name)], time=0, pid=100)
    capture.ctrdef([(number, category, name, name, 1) for number, category in enumerate([*COUNTERS, name], 1)], time=0)
    stream = waits.Stream()
    for time in times:
        capture.sample([recording.DRAW, recording.MAIN], tid=100, time=time, pid=100, cpu=0)
        capture.mark(name, name, name, duration=SECOND // 10, time=time, pid=100, cpu=0)
        capture.log(name, name, time=time, pid=100)
        capture.metadata(name, name[:500], time=time)
        capture.ctrset([(number, 1.5) for number in range(1, len(COUNTERS) + 2)], time=time)
        capture.allocation(0x1000, 64, [recording.MAIN], tid=100, time=time, pid=100)
        capture.dbus(message(name), time=time, pid=100)
        stream.wait(time, SECOND // 10, (100, 100, 'comm'), waits.FUTEX, stack=[recording.DRAW, recording.MAIN])
    capture.file(name[:200], name, time=SECOND)
    return waits.embed(capture, stream, time=SECOND)


def many_marks():
    """Marks of 100 names; frames that differ in their times only are copies."""
    capture = captures.Capture(time=0, end_time=MARKS * 1000)
    for name in range(100):
        capture.mark(f'group {name % 7}', f'mark {name}', 'message', pid=100, cpu=0)
    begin = len(captures.Capture().data)
    frames = bytes(capture.data[begin:])
    del capture.data[begin:]
    capture.data += frames * (MARKS // 100)
    for number, at in enumerate(range(begin, len(capture.data), struct.unpack_from('<H', frames)[0])):
        struct.pack_into('<q', capture.data, at + TIME, number * 1000)
        struct.pack_into('<q', capture.data, at + DURATION, number * 7919 % 5000)
    return capture


CAPTURES = {
    'empty': functools.partial(captures.Capture, time=0, end_time=0),
    'disorder': functools.partial(one_of_everything, PLAIN, times=(3 * SECOND, SECOND, -5, 2**62, SECOND)),
    'long': functools.partial(one_of_everything, LONG),
    'bytes': functools.partial(one_of_everything, BYTES),
    'arabic': functools.partial(one_of_everything, ARABIC),
    'marks': many_marks,
    'one': functools.partial(one_of_everything, PLAIN),
}


class Survival(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.home.name)

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def look_at_all(self, *names, size=None, **environment):
        """Shows each view in all windows at once. The last window is on top."""
        files = [self.folder / f'{name}.syscap' for name in names]
        for file in files:
            if not file.exists():
                CAPTURES[file.stem]().save(file)
        app = desktop.Application(desktop.PROGRAM, *files, environment=environment)
        self.addCleanup(app.kill)
        windows = range(1, len(files) + 1)
        for number, file in zip(windows, files):
            app.wait_for(file.name, 'frame')
            app.wait(lambda: app.is_enabled('zoom-in', number) is not None, f'loaded {file}')
            if size:
                app.resize(file.name, *size)
        last = None
        for view in VIEWS:
            for number in windows:
                app.act('section', app.GLib.Variant('s', view), window=number)
            app.rest(view)
            if view.startswith('overview') and 'LANGUAGE' in environment:
                title, track = (app.extents(app.wait_for(lambda name: 'CPU usage' in name, role)) for role in ('label', 'list'))
                self.assertLess(title.x, track.x)  # time runs from left to right in all languages
            if view == 'time-profiler/quality' and 'LANGUAGE' in environment:
                app.wait_for('[Remedy]')
            if 'one' in names and not size:  # narrow windows do not show what tells views without data apart
                picture = app.picture()
                self.assertNotEqual(picture, last, f'{view} is not shown')
                last = picture
            for file in files if size == NARROW else ():
                self.assertLessEqual(app.width(file.name), NARROW[0], f'{view} of {file.name} is too wide')
        app.close()

    def test_hard_recordings(self):
        self.look_at_all('empty', 'disorder', 'long', 'bytes', 'arabic', 'one')

    def test_many_marks(self):
        self.look_at_all('marks')

    def test_narrow_window(self):
        self.look_at_all('empty', 'long', 'one', size=NARROW)

    def test_right_to_left(self):
        self.look_at_all('arabic', 'one', **desktop.translation(self.folder))

    def test_dark_with_high_contrast(self):
        self.look_at_all('long', 'one', ADW_DEBUG_COLOR_SCHEME='prefer-dark', ADW_DEBUG_HIGH_CONTRAST='1')

    def test_large_scale_without_animations(self):
        folder = self.folder / 'settings'
        desktop.write_settings(folder, 'gtk-enable-animations=0')
        self.look_at_all('long', 'one', size=DOUBLE, GDK_SCALE='2', XDG_CONFIG_HOME=str(folder))


if __name__ == '__main__':
    desktop.main()
