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
# spec: title → whether it is on at first
SWITCHES = {
    'Sample Native Stacks': True, 'Unwind Stacks in User Space': False, 'Sample JavaScript Stacks': False,
    'Record Scheduler Details': False, 'Trace Memory Allocations': False, 'Clear Environment': False, 'CPU Usage': True,
    'Memory Usage': True, 'Disk Usage': True, 'Network Usage': True, 'Energy Usage': False, 'Battery Charge': False,
    'Record System Bus': False, 'Record Session Bus': False, 'Compositor Frame Timings': False, 'Detect Application Hangs': False,
    'Include GPU Information': True, 'Record System Log': True, 'Include Hardware Information': True, 'Bundle Symbols': True,
    'Debuginfod': True,
}
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

    def answer(self, response):
        """Presses a button of a dialog of libadwaita, whose names have the text twice."""
        self.app.press(lambda name: name.endswith(f' {response}'), 'push button', self.app.wait_for('Save Recording?', 'dialog'))

    def test_greeter_has_the_known_rows(self):
        TEMPLATE.write_text('{ "native-stacks": fal')  # a broken file is ignored
        app = self.greeter()
        tabs = [node.name for node in app.walk() if node.getRoleName() == 'page tab']
        self.assertEqual(tabs[:6], PAGES)
        boxes = {node.name: app.is_checked(node) for node in app.walk() if node.getRoleName() in ('check box', 'toggle button')}
        self.assertEqual({title: boxes.get(title) for title in SWITCHES}, SWITCHES)
        for title in ('Command Line', 'Working Directory', 'Add Variable', 'Record with Power Profile', 'Add Directory'):
            self.assertIsNotNone(app.find(title), title)
        absent = app.find('Trace Memory Allocations', 'list item')
        self.assertFalse(absent.getState().contains(app.pyatspi.STATE_SENSITIVE))
        self.assertIsNotNone(app.find('Not available yet'))

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
        app.wait_for('Command Line', 'text').queryEditableText().setTextContents('true')
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
        app.wait_for('Command Line', 'text').queryEditableText().setTextContents('true')
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
        app = self.greeter()
        row = app.wait_for(kept[0].name, 'list item')
        app.click(row)
        app.wait_for('Unsaved Recording', 'frame')
        app.wait(lambda: app.is_enabled('zoom-in', self.window()) is not None, 'loaded capture')
        self.assertEqual(unsaved(), kept)


if __name__ == '__main__':
    desktop.main()
