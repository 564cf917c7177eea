#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records as a user without rights: the application records what it may, and shows reason and remedy for the rest.

usage: test-user.py SYSPROF SYSPROF_REPORT
"""
import os
import pathlib
import unittest

import desktop

NOBODY = 65534
desktop.enter(user=NOBODY)

PARANOID = pathlib.Path('/proc/sys/kernel/perf_event_paranoid')


class User(unittest.TestCase):
    def test_own_processes_are_recorded_and_the_remedy_is_shown(self):
        if os.geteuid() == 0:
            self.skipTest('needs setpriv')
        if not PARANOID.exists() or int(PARANOID.read_text()) < 1:
            self.skipTest('everybody may sample here')
        app = desktop.Application(desktop.PROGRAM)
        app.press('Record to Memory', 'push button')
        app.wait_for(lambda name: name.endswith(' events') and name != '0 events')
        app.wait_for(lambda name: 'kernel.perf_event_paranoid' in name, 'label')
        app.press('Stop Recording', 'push button')
        window = app.wait_for('Unsaved Recording', 'frame')
        note = app.wait_for(lambda name: 'kernel.perf_event_paranoid' in name, 'label', window)
        self.assertIn('sudo ', note.name)
        kept = list(pathlib.Path(os.environ['XDG_DATA_HOME'], 'org.gnome.Sysprof/unsaved').iterdir())
        self.assertTrue(desktop.report(kept[0], 'counters'))
        app.close()


if __name__ == '__main__':
    desktop.main()
