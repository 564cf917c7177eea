#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records with the application, as a person would, and compares the recordings with what sysprof-report says of them. What is
not saved must survive closing, a crash and a full disk.

usage: test-recording.py SYSPROF SYSPROF_REPORT
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import desktop

desktop.enter()

DATA = pathlib.Path(os.environ['XDG_DATA_HOME'], 'org.gnome.Sysprof')
TEMPLATE = DATA / 'recording-template.json'
UNSAVED = DATA / 'unsaved'
PAGES = ['Profiler', 'Application', 'Counters', 'D-Bus', 'Graphics', 'System']
# Titles of switches as people know them: their page, whether they are on at first, their name in the file of settings.
SWITCHES = {
    'Sample Native Stacks': ('Profiler', True, 'native-stacks'), 'Unwind Stacks in User Space': ('Profiler', False, 'user-stacks'),
    'Sample JavaScript Stacks': ('Profiler', False, 'javascript-stacks'),
    'Record Scheduler Details': ('Profiler', False, 'scheduler-details'), 'Clear Environment': ('Application', False, 'clear-environ'),
    'CPU Usage': ('Counters', True, 'cpu-usage'), 'Memory Usage': ('Counters', True, 'memory-usage'),
    'Disk Usage': ('Counters', True, 'disk-usage'), 'Network Usage': ('Counters', True, 'network-usage'),
    'Energy Usage': ('Counters', False, 'energy-usage'), 'Battery Charge': ('Counters', False, 'battery-charge'),
    'Record System Bus': ('D-Bus', False, 'system-bus'), 'Record Session Bus': ('D-Bus', False, 'session-bus'),
    'Compositor Frame Timings': ('Graphics', False, 'frame-timings'), 'Include GPU Information': ('Graphics', True, 'graphics-info'),
    'Record System Log': ('System', True, 'system-log'), 'Include Hardware Information': ('System', True, 'hardware-info'),
    'Bundle Symbols': ('System', True, 'bundle-symbols'), 'Debuginfod': ('System', True, 'debuginfod'),
}
ABSENT = 'Trace Memory Allocations', 'Detect Application Hangs'
QUIET = {name: False for name in ('native-stacks', 'graphics-info', 'hardware-info', 'system-log', 'bundle-symbols', 'debuginfod')}


def remember(**settings):
    """Writes what the greeter reads at start: by default only the counters, which start at once."""
    DATA.mkdir(parents=True, exist_ok=True)
    TEMPLATE.write_text(json.dumps({**QUIET, **settings}))


def unsaved():
    return sorted(UNSAVED.glob('*')) if UNSAVED.is_dir() else []


class Recording(unittest.TestCase):
    def setUp(self):
        remember()
        for path in unsaved():
            path.unlink()
        self.app = None

    def tearDown(self):
        if self.app:
            self.app.close()

    def start(self, *arguments, **environment):
        if self.app:
            self.app.close()
        self.app = desktop.Application(desktop.PROGRAM, *arguments, environment=environment)
        return self.app

    def greeter(self):
        app = self.start()
        app.wait_for('Sysprof', 'frame')
        return app

    def record(self):
        """Records for as long as some counters need, and stops."""
        self.app.press('Record to Memory', 'push button')
        self.app.wait_for(lambda name: name.endswith(' events') and name != '0 events')
        self.app.press('Stop Recording', 'push button')
        self.app.wait_for('Unsaved Recording', 'frame')
        self.app.wait(lambda: self.app.is_enabled('zoom-in', self.window()) is not None, 'loaded capture')

    def window(self):
        """The number of the newest capture window."""
        return max(number for number in range(1, 9) if self.app.is_enabled('save-as', number) is not None)

    def type_into(self, title, text):
        self.app.wait_for(title, 'text').queryEditableText().setTextContents(text)

    def answer(self, response):
        self.app.press(response, 'push button', self.app.wait_for('Save Recording?', 'dialog'))

    def test_greeter_has_the_known_rows(self):
        TEMPLATE.write_text('{ "native-stacks": fal')  # a broken file is ignored
        app = self.greeter()
        tabs = [node.name for node in app.walk() if node.getRoleName() == 'page tab']
        self.assertEqual(tabs[:6], PAGES)
        boxes = {node.name: app.is_checked(node) for node in app.walk() if node.getRoleName() in ('check box', 'toggle button')}
        self.assertEqual({title: boxes.get(title) for title in SWITCHES}, {title: is_on for title, (_, is_on, _) in SWITCHES.items()})
        for title in ('Command Line', 'Working Directory', 'Add Variable', 'Record with Power Profile', 'Add Directory'):
            self.assertIsNotNone(app.find(title), title)
        for title in ABSENT:
            self.assertFalse(app.find(title, 'list item').getState().contains(app.pyatspi.STATE_SENSITIVE))
        self.assertIsNotNone(app.find('Not available yet'))

    def test_settings_have_the_known_names(self):
        TEMPLATE.unlink()
        app = self.greeter()
        for page in PAGES:
            app.click(app.wait_for(page, 'page tab'))
            switches = [(title, is_on) for title, (where, is_on, _) in SWITCHES.items() if where == page]
            for title, is_on in switches:
                app.press(title, 'check box')
            app.wait(lambda: all(app.is_checked(app.find(title, 'check box')) != is_on for title, is_on in switches), f'switches of {page}')
        self.type_into('Working Directory', '/usr')
        self.type_into('Command Line', 'echo "draw')  # remembers all, and starts nothing
        app.press('Record to Memory', 'push button')
        app.wait_for(lambda name: name.startswith('The command line'))
        self.assertEqual(json.loads(TEMPLATE.read_text()),
                         {**{name: not is_on for _, is_on, name in SWITCHES.values()}, 'command-line': 'echo "draw', 'cwd': '/usr'})

    def test_controls_have_names(self):
        app = self.greeter()
        self.assertEqual(app.unnamed(), [])

    def test_variables_are_checked_while_typing(self):
        app = self.greeter()
        entry = app.wait_for('Add Variable', 'text')
        for text, message in (('abc', 'Use KEY=VALUE to set an environment variable'), ('1a=b', 'Keys may not start with a number'),
                              ('a-b=c', 'Keys may only contain alpha-numerics or underline.')):
            entry.queryEditableText().setTextContents(text)
            app.wait_for(message)

    def test_command_and_directory_are_checked_while_typing(self):
        self.greeter()
        self.type_into('Command Line', 'echo "draw')
        self.app.wait_for(lambda name: 'quote' in name, 'text').queryEditableText().setTextContents('echo "draw"')
        self.app.wait_for('Command Line', 'text')
        self.type_into('Working Directory', '/nonexistent')
        self.app.wait_for('There is no such directory', 'text')

    def test_process_is_searched(self):
        app = self.greeter()
        app.press('Profile my Entire System', 'check box')
        app.wait_for(lambda name: desktop.PROGRAM in name, 'list item')
        rows = lambda: [node for node in app.walk() if node.getRoleName() == 'list item' and '/' in node.name]  # noqa: E731
        top = app.extents(rows()[0]).y
        found = lambda: min(app.extents(row).y for row in rows() if desktop.PROGRAM in row.name)  # noqa: E731
        self.assertGreater(found(), top)
        app.entry(app.wait_for('Search processes')).setTextContents(desktop.PROGRAM.upper())
        app.wait(lambda: found() == top, 'its row at the top')

    def test_power_profiles_are_those_of_the_service(self):
        """A service like that of the desktop, on the bus of the test."""
        remember(**{'power-profile': 'quiet'})
        app = self.start(DBUS_SYSTEM_BUS_ADDRESS=os.environ['DBUS_SESSION_BUS_ADDRESS'])
        app.wait_for('No Change')
        self.assertIsNone(app.find('quiet'))
        name = 'org.freedesktop.UPower.PowerProfiles'
        profiles = app.GLib.Variant('aa{sv}', [{'Profile': app.GLib.Variant('s', profile)} for profile in ('quiet', 'performance')])
        interface = app.Gio.DBusNodeInfo.new_for_xml(f"<node><interface name='{name}'><property name='Profiles' type='aa{{sv}}' access='read'/>"
                                                     '</interface></node>').interfaces[0]
        number = app.bus.register_object('/' + name.replace('.', '/'), interface, None, lambda *_: profiles, None)
        owner = app.Gio.bus_own_name_on_connection(app.bus, name, app.Gio.BusNameOwnerFlags.NONE, None, None)
        try:
            app = self.start(DBUS_SYSTEM_BUS_ADDRESS=os.environ['DBUS_SESSION_BUS_ADDRESS'])
            app.wait_for('quiet')
        finally:
            app.Gio.bus_unown_name(owner)
            app.bus.unregister_object(number)

    def test_command_that_does_not_exist_keeps_the_greeter(self):
        remember(**{'command-line': '/nonexistent/program --draw'})
        app = self.greeter()
        app.press('Record to Memory', 'push button')
        app.wait_for(lambda name: '/nonexistent/program' in name and 'No such file' in name)
        self.assertIsNotNone(app.find('Sysprof', 'frame'))
        self.assertEqual(json.loads(TEMPLATE.read_text())['command-line'], '/nonexistent/program --draw')

    def test_command_with_an_open_quote_keeps_the_greeter(self):
        remember(**{'command-line': 'echo "draw'})
        app = self.greeter()
        app.press('Record to Memory', 'push button')
        app.wait_for(lambda name: name.startswith('The command line “echo "draw” cannot be used'))

    def test_no_chosen_process_keeps_the_greeter(self):
        app = self.greeter()
        app.press('Profile my Entire System', 'check box')
        app.wait_for(lambda name: desktop.PROGRAM in name, 'list item')
        app.press('Record to Memory', 'push button')
        app.wait_for(lambda name: name.startswith('No process is chosen'))

    def test_settings_are_remembered(self):
        app = self.greeter()
        app.press('Unwind Stacks in User Space', 'check box')
        self.type_into('Command Line', 'true')
        app.press('Record to Memory', 'push button')
        app.wait_for('Unsaved Recording', 'frame')  # the program has ended, and the recording with it
        stored = json.loads(TEMPLATE.read_text())
        self.assertTrue(stored['user-stacks'])
        self.assertEqual(stored['command-line'], 'true')
        self.assertFalse(stored['native-stacks'])
        app = self.greeter()
        self.assertTrue(app.is_checked(app.wait_for('Unwind Stacks in User Space', 'check box')))

    def test_closing_asks_and_saving_keeps_all(self):
        app = self.greeter()
        self.record()
        self.assertEqual(len(unsaved()), 1)
        app.focus('Unsaved Recording')
        app.key('ctrl+w')
        self.answer('Cancel')
        self.assertEqual(len(unsaved()), 1)
        app.act('save-as', window=self.window())
        app.wait_for('Save Recording')
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder, 'mine.syscap')
            app.key('ctrl+a')
            subprocess.run(['xdotool', 'type', str(target)], check=True)
            app.key('Return')
            app.wait_for('mine.syscap', 'frame')
            self.assertEqual(unsaved(), [])
            self.assertTrue(desktop.report(target, 'metadata'))

    def test_discarding_deletes(self):
        app = self.greeter()
        self.record()
        app.focus('Unsaved Recording')
        app.key('ctrl+w')
        self.answer('Discard')
        self.assertEqual(app.process.wait(desktop.SECONDS), 0)  # the last window was closed
        self.assertEqual(unsaved(), [])

    def save_dialog(self, button, title, path):
        self.app.press(button, 'push button')
        self.app.wait_for(title)
        self.app.focus(title)
        self.app.key('ctrl+a')
        subprocess.run(['xdotool', 'type', str(path)], check=True)
        self.app.key('Return')

    def record_to(self, path):
        self.save_dialog('Record to File…', 'Record to File', path)
        if path.exists():
            self.app.press(lambda name: name.endswith('Replace'), 'push button')
        self.app.wait_for(lambda name: name.endswith(' events') and name != '0 events')

    def test_file_is_replaced_when_the_recording_is_complete(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder, 'mine.syscap')
            target.write_text('older')
            app = self.greeter()
            self.record_to(target)
            self.assertEqual(target.read_text(), 'older')
            app.press('Stop Recording', 'push button')
            app.wait_for('mine.syscap', 'frame')
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ['mine.syscap'])
            self.assertTrue(desktop.report(target, 'metadata'))
            self.assertEqual(unsaved(), [])

    def test_crash_while_recording_to_a_file_keeps_both(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder, 'mine.syscap')
            target.write_text('older')
            app = self.greeter()
            self.record_to(target)
            app.wait(lambda: [path for path in unsaved() if path.stat().st_size > 10000], 'flushed recording')
            app.kill()
            self.app = None
            self.assertEqual(target.read_text(), 'older')
            app = self.greeter()
            app.click(app.wait_for(unsaved()[0].name, 'list item'))
            app.wait_for('Unsaved Recording', 'frame')
            app.wait(lambda: app.is_enabled('zoom-in', self.window()) is not None, 'loaded capture')
            app.focus('Unsaved Recording')
            app.key('ctrl+w')
            self.answer('Discard')
            self.assertEqual(app.process.wait(desktop.SECONDS), 0)
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ['mine.syscap'])

    def test_file_that_cannot_be_written_keeps_the_greeter(self):
        app = self.greeter()
        self.save_dialog('Record to File…', 'Record to File', '/proc/mine.syscap')
        app.wait_for(lambda name: name.startswith('Cannot write a recording to “/proc/mine.syscap”'))
        self.assertEqual(unsaved(), [])

    def mount(self, kilobytes):
        """A small disk."""
        folder = tempfile.mkdtemp()
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={kilobytes}k', 'tmpfs', folder], stderr=subprocess.DEVNULL,
                          check=False).returncode:
            os.rmdir(folder)
            self.skipTest('may not mount')
        self.addCleanup(lambda: (subprocess.run(['umount', '-l', folder], check=True), os.rmdir(folder)))
        return pathlib.Path(folder)

    def test_live_view_shows_the_last_seconds(self):
        remember(**{'native-stacks': True})
        app = self.greeter()
        app.press('Record to Memory', 'push button')
        app.press('Last Seconds')
        app.wait_for('CPU usage', 'list')
        app.wait_for(lambda name: 'samples (' in name, 'label')
        app.press('Stop Recording', 'push button')
        app.wait_for('Unsaved Recording', 'frame')

    def test_record_again_takes_the_same_settings(self):
        app = self.greeter()
        self.type_into('Command Line', 'true')
        app.press('Record to Memory', 'push button')
        app.wait_for('Unsaved Recording', 'frame')
        remember()  # another recording was made since
        app.wait(lambda: any(app.is_enabled('record-again', number) for number in range(1, 9)), 'window')
        app.act('record-again', window=self.window())
        text = app.wait_for('Command Line', 'text').queryText()
        self.assertEqual(text.getText(0, text.characterCount), 'true')

    def test_full_disk_while_recording_keeps_what_is_there(self):
        folder = self.mount(400)
        app = self.start(XDG_DATA_HOME=str(folder))
        app.press('Record to Memory', 'push button')
        dialog = app.wait_for('Recording Failed', 'dialog')
        app.wait_for(lambda text: 'the disk is full' in text and 'is kept' in text, 'label', dialog)
        app.wait_for('Unsaved Recording', 'frame')
        app.wait(lambda: app.is_enabled('zoom-in', self.window()) is not None, 'loaded capture')
        kept = list((folder / 'org.gnome.Sysprof/unsaved').iterdir())
        self.assertTrue(desktop.report(kept[0], 'processes'))
        self.app.close(allowed='recently-used.xbel')  # GTK lists recent files on the full disk
        self.app = None

    def test_full_disk_while_saving_keeps_the_recording(self):
        folder = self.mount(40)
        app = self.greeter()
        self.record()
        app.act('save-as', window=self.window())
        app.wait_for('Save Recording')
        app.key('ctrl+a')
        subprocess.run(['xdotool', 'type', str(folder / 'mine.syscap')], check=True)
        app.key('Return')
        dialog = app.wait_for('Recording Not Saved', 'dialog')
        app.wait_for(lambda text: 'mine.syscap' in text and 'No space left' in text, 'label', dialog)
        self.assertEqual(len(unsaved()), 1)
        self.assertFalse((folder / 'mine.syscap').exists())

    def test_crash_while_recording_loses_nothing(self):
        app = self.greeter()
        app.press('Record to Memory', 'push button')
        app.wait_for(lambda name: name.endswith(' events') and name != '0 events')
        app.wait(lambda: [path for path in unsaved() if path.stat().st_size > 10000], 'flushed recording')
        app.kill()
        self.app = None
        kept = unsaved()
        self.assertEqual(len(kept), 1)
        self.assertTrue(desktop.report(kept[0], 'processes'))
        app = self.greeter()
        row = app.wait_for(kept[0].name, 'list item')
        app.click(row)
        app.wait_for('Unsaved Recording', 'frame')
        app.wait(lambda: app.is_enabled('zoom-in', self.window()) is not None, 'loaded capture')
        self.assertEqual(unsaved(), kept)


if __name__ == '__main__':
    desktop.main()
