#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows of the application: one instance, all kinds of files, damaged files, what is remembered, and every scheme, scale,
width and direction of text without a complaint of GTK.

usage: test-windows.py SYSPROF SYSPROF_REPORT
"""
import gzip
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import desktop

desktop.enter()
import recording  # noqa: E402

RECENT = pathlib.Path(os.environ['XDG_DATA_HOME'], 'recently-used.xbel')
DRAG_SOURCE = pathlib.Path(__file__).resolve().with_name('drag-source.py')
PADDING = 5  # px, at the right of cells
SECTIONS = ('overview', 'time-profiler', 'memory', 'logs', 'marks', 'processes', 'dbus', 'cpu', 'energy', 'graphics', 'memory-usage',
            'network', 'storage', 'pressure', 'other', 'files', 'metadata')


class Windows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.home.name)
        cls.capture = pathlib.Path(recording.write(cls.folder / 'painter.syscap'))

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def setUp(self):
        self.app = None

    def tearDown(self):
        if self.app:
            self.app.close()

    def open(self, *files, **environment):
        self.app = desktop.Application(desktop.PROGRAM, *files, environment=environment)
        return self.app

    def wait_until_loaded(self, window=1):
        self.app.wait(lambda: self.app.is_enabled('zoom-in', window) is not None, 'loaded capture')

    def test_version(self):
        """Also without a display."""
        environment = {name: value for name, value in os.environ.items() if name not in ('DISPLAY', 'WAYLAND_DISPLAY')}
        printed = [subprocess.run([program, '--version'], env=environment, capture_output=True, text=True, check=True).stdout
                   for program in (desktop.PROGRAM, desktop.REPORT)]
        self.assertEqual(printed[0], printed[1])

    def test_second_start_opens_a_window_of_the_first(self):
        app = self.open(self.capture)
        app.wait_for('painter.syscap', 'frame')
        other = self.folder / 'other.syscap'
        other.write_bytes(self.capture.read_bytes())
        self.assertEqual(subprocess.run([desktop.PROGRAM, other], check=False, timeout=desktop.SECONDS).returncode, 0)
        app.wait_for('other.syscap', 'frame')
        self.wait_until_loaded(2)

    def drop(self, path):
        """Drags a file from another program, which is beside our windows, to the one in front."""
        output = self.folder / 'drag'
        with output.open('w') as file:
            source = subprocess.Popen([sys.executable, DRAG_SOURCE, path], stdout=file, env={**os.environ, 'GTK_A11Y': 'none'})
        places = itertools.count()

        def drag_until(word, x, y, *words):
            def move():
                subprocess.run(['xdotool', 'mousemove', str(x + next(places) % 40), str(y), *words], check=True)
                return word in output.read_text()
            self.app.wait(move, word)
        try:
            subprocess.run(['xdotool', 'search', '--sync', '--onlyvisible', '--name', 'Drag Source', 'windowmove', '--sync', '1210', '700'], check=True)
            drag_until('begun', 1220, 740, 'mousedown', '1')
            drag_until('accepted', 400, 300)
            subprocess.run(['xdotool', 'mouseup', '1'], check=True)
            self.app.wait_for(path.name, 'frame')
        finally:
            source.kill()
            source.wait()

    def test_dropped_files_open(self):
        app = self.open()
        app.wait_for('Sysprof', 'frame')
        for window, name in enumerate(('first.syscap', 'second.syscap'), 2):
            path = self.folder / name
            path.write_bytes(self.capture.read_bytes())
            self.drop(path)
            self.wait_until_loaded(window)

    def test_bus_starts_the_application(self):
        services = pathlib.Path(os.environ['XDG_DATA_HOME'], 'dbus-1/services')
        services.mkdir(parents=True, exist_ok=True)
        # Later tests do not send to a name that has no owner and could be activated.
        self.addCleanup((services / f'{desktop.NAME}.service').unlink)
        service = (pathlib.Path(__file__).resolve().parents[2] / f'data/app/{desktop.NAME}.service.in').read_text()
        (services / f'{desktop.NAME}.service').write_text(service.replace('@bindir@/sysprof', desktop.PROGRAM))
        self.app = desktop.Application('sh', '-c', f"""gapplication launch {desktop.NAME} "$0" || exit 1; tail -f /dev/null &
                                       trap "kill $!; gapplication action {desktop.NAME} quit; exit 0" TERM; wait""", self.capture)
        self.app.wait_for('painter.syscap', 'frame')
        self.wait_until_loaded()
        self.app.close()
        self.app.process = subprocess.Popen(['tail', '-f', '/dev/null'])
        try:
            self.app.wait(lambda: not self.app.root(), 'end of the application')
        finally:
            self.app.process.kill()
        self.app = None

    def test_compressed_captures_and_imports_open(self):
        packed = self.folder / 'packed.syscap.gz'
        packed.write_bytes(gzip.compress(self.capture.read_bytes()))
        folded = self.folder / 'stacks.folded'
        folded.write_text('main;draw 3\nmain;parse 5\n')
        app = self.open(packed, folded)
        app.wait_for('packed.syscap.gz', 'frame')
        app.wait_for('stacks.folded', 'frame')
        self.wait_until_loaded(1)
        self.wait_until_loaded(2)

    def test_damaged_files_say_why(self):
        for name, content in (('empty.syscap', b''), ('text.syscap', b'no capture at all\n' * 20), ('missing.syscap', None)):
            path = self.folder / name
            if content is not None:
                path.write_bytes(content)
            app = self.open(path)
            window = app.wait_for(name, 'frame')
            app.wait_for('Invalid Document', top=window)
            app.wait_for(lambda text: name in text and len(text) > len(name) + 20, 'label', window)
            app.close()
        self.app = None

    def test_cut_capture_opens_and_says_what_is_missing(self):
        path = self.folder / 'cut.syscap'
        path.write_bytes(self.capture.read_bytes()[:-1001])
        app = self.open(path)
        app.wait_for('cut.syscap', 'frame')
        self.wait_until_loaded()
        app.wait_for(lambda text: 'left out' in text)

    def test_every_scheme_scale_and_direction(self):
        """Opens all sections in each; a complaint of GTK fails the test."""
        for environment in ({'ADW_DEBUG_COLOR_SCHEME': 'prefer-dark', 'ADW_DEBUG_HIGH_CONTRAST': '1'}, {'GDK_SCALE': '2'},
                            desktop.translation(self.folder)):
            with self.subTest(environment):
                app = self.open(self.capture, **environment)
                app.wait_for('painter.syscap', 'frame')
                for section in SECTIONS:
                    app.show(section)
                app.close()
        self.app = None

    def test_translated_and_from_right_to_left(self):
        app = self.open(**desktop.translation(self.folder))
        app.wait_for('[Sampling]', 'label')
        app.wait_for('[Sample Native Stacks]', 'check box')
        self.assertIsNone(app.find('Sampling', 'label'))
        first, last = (app.wait_for(f'[{title}]', 'push button') for title in ('Open File…', 'Record to Memory'))
        app.wait(lambda: app.extents(first).x > app.extents(last).x, 'order from right to left')

    def test_controls_of_every_section_have_names(self):
        app = self.open(self.capture)
        app.wait_for('painter.syscap', 'frame')
        for section in SECTIONS:
            app.show(section)
            if section == 'logs':
                app.wait_for(lambda name: 'message 3' in name)
            app.wait(lambda: not app.unnamed(), f'names of all controls of {section}')

    def test_narrow_window(self):
        app = self.open(self.capture)
        app.focus('painter.syscap')
        self.wait_until_loaded()
        app.resize('painter.syscap', 360, 600)
        for section in SECTIONS:
            app.show(section)
        self.assertLessEqual(app.width('painter.syscap'), 360)

    def test_closed_window_is_freed(self):
        other = self.folder / 'closed.syscap'
        other.write_bytes(self.capture.read_bytes())
        app = self.open(self.capture, other, G_MESSAGES_DEBUG='all', ASAN_OPTIONS='fast_unwind_on_malloc=0')
        self.wait_until_loaded(2)
        for section in SECTIONS:
            app.show(section, 2)
        app.focus('closed.syscap')
        app.key('ctrl+w')
        app.wait(lambda: 'freed window' in app.read() and f'freed session {other}' in app.read(), 'end of the window and its data')
        self.assertIsNotNone(app.find('painter.syscap', 'frame'))

    def test_keys_of_regions_and_filters(self):
        app = self.open(self.capture)
        app.focus('painter.syscap')
        app.show('time-profiler/callgraph')
        app.wait_for(lambda name: name.startswith('draw, '))

        def focused(top):
            return any(node.getState().contains(app.pyatspi.STATE_FOCUSED) for node in app.walk(top))
        for region in ('Sections', 'AppTimeline', 'Functions', 'Samples of the Chosen Row', 'Sections'):
            app.key('F6')
            app.wait(lambda: focused(app.find(region)), f'keyboard in {region}')
        app.key('ctrl+l')
        app.focus('Add Filter')
        app.entry(app.find('Add Filter', 'frame')).setTextContents('parse')
        app.wait_for('parse, Function')
        app.key('Return')
        app.wait_for(lambda name: name.startswith('Remove filter: ') and 'parse' in name)

    def test_narrow_window_shows_one_pane(self):
        app = self.open(self.capture)
        app.focus('painter.syscap')
        app.show('time-profiler/callgraph')

        def shown():
            return [app.find(title, 'tree table') is not None for title in ('Callers', 'Descendants')]
        app.wait(lambda: shown() == [True, True], 'all panes')
        app.resize('painter.syscap', 360, 640)
        app.wait(lambda: shown() == [False, False], 'one pane')
        app.press('Descendants', 'push button')
        app.wait(lambda: shown() == [False, True], 'other pane')
        app.resize('painter.syscap', 1200, 700)
        app.wait(lambda: shown() == [True, True], 'all panes again')

    def test_size_is_remembered(self):
        app = self.open(self.capture)
        app.focus('painter.syscap')
        self.wait_until_loaded()
        app.resize('painter.syscap', 1010, 610)
        app.wait(lambda: app.width('painter.syscap') < 1020, 'smaller window')
        width = app.width('painter.syscap')
        app.key('ctrl+w')
        self.assertEqual(app.process.wait(desktop.SECONDS), 0)
        app = self.open(self.capture)
        app.wait_for('painter.syscap', 'frame')
        self.wait_until_loaded()
        self.assertEqual(app.width('painter.syscap'), width)

    def test_column_widths_are_remembered(self):
        app = self.open(self.capture)
        app.show('logs')
        cell = app.wait_for('3.000000 s', 'table cell')
        area = app.extents(cell)
        title = app.extents(app.wait_for('Time', 'label'))
        y, x = title.y + title.height // 2, area.x + area.width + PADDING
        subprocess.run(f'xdotool mousemove --sync {x} {y} mousedown 1 mousemove --sync {x + 20} {y} mousemove --sync {x + 90} {y} mouseup 1'.split(),
                       check=True)
        app.wait(lambda: app.extents(cell).width > area.width + 40, 'wider column')
        width = app.extents(cell).width
        app.focus('painter.syscap')
        app.key('ctrl+w')
        self.assertEqual(app.process.wait(desktop.SECONDS), 0)
        app = self.open(self.capture)
        app.show('logs')
        self.assertEqual(app.extents(app.wait_for('3.000000 s', 'table cell')).width, width)

    def test_recent_recordings_are_offered(self):
        app = self.open(self.capture)
        app.wait_for('painter.syscap', 'frame')
        self.wait_until_loaded()
        app.wait(lambda: RECENT.exists() and 'painter.syscap' in RECENT.read_text(), 'remembered file')
        app.act('record-again')
        app.focus('Sysprof')
        button = app.wait(lambda: [node for node in app.walk() if node.name == 'Recent Recordings' and node.queryAction().nActions], 'button')
        button[-1].queryAction().doAction(0)
        app.wait_for('painter.syscap', 'menu item')
        app.key('Escape')  # GTK 4.8 complains now and then about windows that are destroyed with an open menu
        app.wait(lambda: not app.find('painter.syscap', 'menu item'), 'closed menu')

    def test_shortcuts_about_and_greeter_keys(self):
        app = self.open(self.capture)
        app.focus('painter.syscap')
        self.wait_until_loaded()
        app.act('record-again')
        app.focus('Sysprof')
        app.key('Escape')
        app.wait(lambda: not app.find('Sysprof', 'frame'), 'end of the greeter')
        app.focus('painter.syscap')
        app.key('ctrl+question')
        app.wait_for('Seek backward')


if __name__ == '__main__':
    desktop.main()
