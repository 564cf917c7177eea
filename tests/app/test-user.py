#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records as a user without rights. When the service refuses, the application records its user's processes, and shows reason and remedy.
With authorization it records the whole machine.

usage: test-user.py SYSPROF SYSPROF_REPORT
BUSY and SYSPROFD are in the environment; without the second, only the refused user is tested.
"""
import json
import os
import pathlib
import pwd
import re
import signal
import subprocess
import sys
import unittest

import desktop

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'sysprofd'))
import private_bus  # noqa: E402

NOBODY = 65534
LEAST_SAMPLES = 200
WORK = 'SYSPROF_TEST_WORK'  # the number of a process of root
QUIET = {name: False for name in ('graphics-info', 'hardware-info', 'system-log', 'debuginfod')}
NO_BUS = {'DBUS_SYSTEM_BUS_ADDRESS': 'unix:path=/nonexistent'}


def enter():
    """As desktop.enter(), with a process of root, and a bus whose service gives its rights to the user."""
    if desktop.INSIDE in os.environ or 'SYSPROFD' not in os.environ or private_bus.reason_to_skip():
        desktop.enter(user=NOBODY)
        return
    with private_bus.PrivateBus(private_bus.confined(os.environ['SYSPROFD']), [pwd.getpwuid(NOBODY).pw_name]) as bus, \
            subprocess.Popen([os.environ['BUSY'], '1000'], stdout=subprocess.DEVNULL, start_new_session=True) as work:
        os.environ.update(bus.environment, **{WORK: str(work.pid)})
        try:
            desktop.enter(user=NOBODY)
        finally:
            os.killpg(work.pid, signal.SIGKILL)


enter()

DATA = pathlib.Path(os.environ['XDG_DATA_HOME'], 'org.gnome.Sysprof')
PARANOID = pathlib.Path('/proc/sys/kernel/perf_event_paranoid')


class User(unittest.TestCase):
    def setUp(self):
        if os.geteuid() == 0:
            self.skipTest('needs setpriv')
        if not PARANOID.exists() or int(PARANOID.read_text()) < 1:
            self.skipTest('everybody may sample here')

    def notes(self, app):
        """What the bars of all windows say."""
        bars = [node for node in app.walk() if node.name == 'GtkInfoBar']
        self.assertTrue(bars)
        return [node.name for bar in bars for node in app.walk(bar) if node.getRoleName() == 'label' and node.name not in ('', 'GtkLabel')]

    def test_own_processes_are_recorded_and_the_remedy_is_shown(self):
        app = desktop.Application(desktop.PROGRAM, environment=NO_BUS)
        app.press('Record to Memory', 'push button')
        app.wait_for(lambda name: name.endswith(' events') and name != '0 events')
        app.wait_for(lambda name: 'kernel.perf_event_paranoid' in name, 'label')
        app.press('Stop Recording', 'push button')
        window = app.wait_for('Unsaved Recording', 'frame')
        note = app.wait_for(lambda name: 'kernel.perf_event_paranoid' in name, 'label', window)
        self.assertIn('sudo ', note.name)
        self.assertIn(note.name, self.notes(app))
        kept = list((DATA / 'unsaved').iterdir())
        self.assertTrue(desktop.report(kept[0], 'counters'))
        app.close()
        kept[0].unlink()

    @unittest.skipUnless(WORK in os.environ, 'nobody gives rights here')
    def test_whole_machine_with_authorization(self):
        DATA.mkdir(parents=True, exist_ok=True)
        (DATA / 'recording-template.json').write_text(json.dumps(QUIET))
        app = desktop.Application(desktop.PROGRAM)
        app.press('Record to Memory', 'push button')

        def has_samples():
            label = app.find(lambda name: re.fullmatch(r'[\d,]+ samples, .+', name), 'label')
            return label and int(label.name.split()[0].replace(',', '')) > LEAST_SAMPLES

        app.wait(has_samples, 'samples')
        app.press('Stop Recording', 'push button')
        window = app.wait_for('Unsaved Recording', 'frame')
        number = app.wait(lambda: next((i for i in range(1, 9) if app.is_enabled('zoom-in', i) is not None), None), 'loaded capture')
        self.assertEqual(self.notes(app), [])
        capture, = (DATA / 'unsaved').iterdir()
        rows = desktop.report(capture, 'samples', '--limit', '0', '--process', os.environ[WORK])
        self.assertEqual(os.stat(f'/proc/{os.environ[WORK]}').st_uid, 0)
        self.assertLessEqual({'main', 'heavy_work'}, {entry['symbol'] for row in rows for entry in row['stack']})
        functions = desktop.report(capture, 'functions', '--all')
        kernel = max((row for row in functions if row['kind'] == 'kernel' and re.fullmatch(r'\w+', row['symbol'])), key=lambda row: row['total'])
        app.show('time-profiler/callgraph', number)
        app.act('find', window=number)
        table = app.container(app.wait_for('Functions', 'tree table', window), 'AppTable')
        for symbol in ('heavy_work', kernel['symbol']):
            app.wait(lambda: app.entry(table), 'search entry').setTextContents(symbol)
            totals = [f'{row["total"]:,}' for row in functions if row['symbol'] == symbol]
            app.wait_for(lambda name, symbol=symbol, totals=totals: name.startswith(f'{symbol}, ') and
                         name.split(', ')[-1].split()[0] in totals, 'table row', table)
        app.close()


if __name__ == '__main__':
    desktop.main()
