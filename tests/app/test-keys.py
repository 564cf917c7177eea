#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Presses each key of the table of keys, and waits for its effect.

usage: test-keys.py SYSPROF SYSPROF_REPORT
"""
import os
import pathlib
import re

import desktop

desktop.enter()
import captures  # noqa: E402

SOURCE = (pathlib.Path(__file__).resolve().parents[2] / 'src/app/main/shortcuts.c').read_text()
ROW = re.compile(r'^  \{\s*(?:N_ \("[^"]*"\)|NULL),\s*N_ \("([^"]*)"\),\s*(?:"[^"]*"|NULL),\s*\{([^}]*)\}', re.M)
MODIFIERS = {'<Control>': 'ctrl+', '<Shift>': 'shift+', '<Alt>': 'alt+'}
NAME = 'keys.syscap'
HELP = pathlib.Path(os.environ['HOME'], 'help')
SECOND, N_SAMPLES, PID = 10**9, 20, 100
MAIN, DRAW, PARSE = (captures.JIT + 16 * i for i in (1, 2, 3))
BLUR = 0x10010
LIBRARY = '[libblur.so+0x10]'
WHOLE_TREE = ['All Processes', 'main', 'parse', 'parse', 'draw']


def opens(title, window, end='Escape'):
    """Opens a window and closes it. There is no window manager that gives it the keyboard."""
    return (title, 'windows', sorted([NAME, window])), (None, 'focus', window), (end, 'windows', [NAME]), (None, 'focus', NAME)


def filters(title, chip):
    return (title, 'chips', [chip]), ('Undo filter', 'chips', [])


# A row of the table of keys, or keys that are not in it; what is looked at; what that is after each key, None = as before. Without
# keys: what is done before.
STEPS = (
    ('Zoom in', 'chips', ['2.50 s – 7.50 s'], ['3.75 s – 6.25 s']),
    ('Seek backward', 'chips', ['1.25 s – 3.75 s']),
    ('Seek forward', 'chips', ['3.75 s – 6.25 s']),
    ('Zoom out', 'chips', ['2.50 s – 7.50 s']),
    ('Back', 'chips', ['3.75 s – 6.25 s']),
    ('Forward', 'chips', ['2.50 s – 7.50 s']),
    ('Undo filter', 'chips', ['3.75 s – 6.25 s']),
    ('Reset zoom', 'chips', []),
    (None, 'to_row', 'draw', 'Functions'),
    *filters('Only stacks through the function', 'symbol: draw'),
    *filters('Make function the root', 'root: draw'),
    *filters('Merge the function into its callers', 'merge-function: draw'),
    (None, 'to_row', 'parse', 'Functions'),
    *filters('Drop stacks through the function', 'not symbol: parse'),
    (None, 'to_row', LIBRARY, 'Functions'),
    *filters('Show the library as one function', 'collapse: libblur.so'),
    (None, 'to_row', 'draw', 'Functions'),
    ('Next region of the window', 'focused', 'Samples of the Chosen Row'),
    (None, 'to_row', 'parse', 'Functions'),
    ('Copy row', 'entry', None),
    ('Search', 'focused', 'Search'),
    ('ctrl+v', 'entry', '60.00 % 12 60.00 % 12 parse'),
    ('ctrl+a', 'entry', None),
    ('a', 'functions', ['main', 'parse', 'draw']),
    ('Next match', 'chosen', ['main']),
    ('Next match', 'chosen', ['parse']),
    ('Previous match', 'chosen', ['main']),
    ('Copy table as Markdown', 'entry', None),
    ('ctrl+a', 'entry', None),
    ('ctrl+v', 'entry', '| draw | | 0 (0.00 %) | 8 (40.00 %) |'),
    ('Escape', 'functions', ['main', 'parse', LIBRARY, 'draw']),
    (None, 'to_row', 'draw', 'Functions'),
    ('comma', 'chosen', [LIBRARY]),
    ('Up', 'chosen', ['parse']),
    (None, 'to_row', 'main', 'Functions'),
    (None, 'to_row', 'main', 'Descendants'),
    ('Right', 'tree', ['All Processes', 'main', 'parse', 'draw']),
    ('Left', 'tree', ['All Processes', 'main']),
    ('space', 'tree', ['All Processes', 'main', 'parse', 'draw']),
    ('Expand the heaviest path', 'tree', WHOLE_TREE),
    ('Fold recursion', 'tree', ['All Processes', 'main', 'parse', 'draw']),
    ('Fold recursion', 'tree', WHOLE_TREE),
    (None, 'to_track', 'Stack traces'),
    ('Right', 'cursor', '0 ms'),
    ('Right', 'cursor', '490 ms'),
    ('Move the cursor', 'cursor', '0 ms', '490 ms', '0 ms', '9.49 s'),
    ('Previous or next sample, mark or row', 'cursor', '9.00 s', '9.49 s'),
    ('Extend the selection', 'chips', ['9.29 s – 9.49 s'], ['9.29 s – 9.69 s']),
    ('Reset zoom', 'chips', []),
    ('Begin or end the selection at the cursor', 'chips', ['9.49 s – 10.00 s'], ['9.49 s – 9.51 s']),
    ('Zoom to the selection', 'zoomed', True),
    ('Reset zoom', 'zoomed', False),
    ('Pin the track', 'tracks', ['Stack traces', 'CPU by category', 'Thread 100']),
    *opens('New recording', 'Sysprof'),
    *opens('New recording', 'Sysprof', 'Close window'),
    *opens('Open recording', 'Open Recording'),
    *opens('Save as', 'Save Recording'),
    *opens('Keyboard shortcuts', 'Keyboard Shortcuts'),
    *opens('Go to', 'Go To'),
    *opens('Add filter', 'Add Filter'),
    ('Next view', 'view', ['Flamegraph'], ['Activity']),
    ('Previous view', 'view', ['Flamegraph'], ['Callgraph']),
    (None, 'show', 'memory-usage'),
    (None, 'to_track', 'Memory'),
    ('Pin the track', 'tracks', None),
    ('Move the pinned track', 'tracks', ['Memory', 'Stack traces'], ['Stack traces', 'Memory']),
    ('Help', 'help', True),
    *((section, 'sections', [section]) for section in
      ('Overview', 'Memory Allocations', 'Logs', 'Marks', 'Processes', 'D-Bus', 'CPU', 'Time Profiler')),
    ('Left panel', 'panels', ['Right']),
    ('Left panel', 'panels', ['Left', 'Right']),
    ('Right panel', 'panels', ['Left']),
    ('Right panel', 'panels', ['Left', 'Right']),
)


def table():
    """The keys, as xdotool calls them, of each title in the source."""
    keys = {title: re.findall(r'[^"\s,]+', words) for title, words in ROW.findall(SOURCE)}
    return {title: [re.sub('<.*?>', lambda word: MODIFIERS[word[0]], key) for key in row] for title, row in keys.items()}


class Keys(desktop.Case):
    name = NAME
    seen = None, None  # what was looked at last, and what it was

    @staticmethod
    def write(path):
        """The capture. The help browser is one that leaves a file."""
        applications = pathlib.Path(os.environ['XDG_DATA_HOME'], 'applications')
        applications.mkdir(parents=True)
        (applications / 'help.desktop').write_text(f'[Desktop Entry]\nType=Application\nName=Help\nExec=touch {HELP}\n'
                                                   'MimeType=x-scheme-handler/help;\n')
        (applications / 'mimeapps.list').write_text('[Default Applications]\nx-scheme-handler/help=help.desktop\n')
        capture = captures.Capture(time=0, end_time=10 * SECOND)
        capture.process('/usr/bin/painter', time=0, pid=PID)
        capture.map(0x10000, 0x20000, '/usr/lib/libblur.so', time=0, pid=PID)
        capture.jitmap([(MAIN, 'main'), (DRAW, 'draw'), (PARSE, 'parse')], time=0, pid=PID)
        capture.ctrdef([(1, 'Memory', 'Used', 'Used memory', 0)], time=0)
        for i in range(N_SAMPLES):
            capture.sample([BLUR, DRAW, MAIN] if i < 8 else [PARSE, PARSE, MAIN], tid=PID, time=i * SECOND // 2, pid=PID)
        return capture.ctrset([(1, 1024)], time=10 * SECOND).save(path)

    # --- what is looked at ---

    def listed(self, top, role, *states):
        """The begin of the names of the rows or items below an object."""
        top = next(filter(None, (self.app.find(top, kind) for kind in ('tree table', 'list', None))))
        return [node.name.partition(', ')[0] for node in self.app.walk(top)
                if node.getRoleName() == role and node.name and not node.name.startswith('Gtk') and all(map(node.had, states))]

    def windows(self):
        return sorted(node.name for node in self.app.root().children)

    def help(self):
        return HELP.exists()

    def sections(self):
        return self.listed('Sections', 'list item', 'SELECTED')

    def panels(self):
        return [side for side in ('Left', 'Right') if self.app.find(f'Toggle {side} Panel').had('PRESSED')]

    def view(self):
        return [node.name for node in self.app.find('Callgraph', 'page tab').parent.children if node.had('SELECTED')]

    def chips(self):
        return [name.partition(': ')[2] for name in self.app.names() if name.startswith('Remove filter: ')]

    def functions(self):
        return self.listed('Functions', 'table row')

    def chosen(self):
        return self.listed('Functions', 'table row', 'SELECTED')

    def tree(self):
        return self.listed('Descendants', 'table row')

    def entry(self):
        """The last line of the search."""
        entry = self.app.entry(self.app.container(self.app.find('Functions', 'tree table'), 'AppTable'))
        return entry and ' '.join(entry.getText(0, entry.characterCount).rstrip('\n').rpartition('\n')[2].split())

    def focused(self):
        """The name of the object that has the keyboard, or of the table around it."""
        node = next((node for node in self.app.walk() if node.had('FOCUSED')), None)
        while node and (node.getRoleName() == 'table row' or node.name.startswith('Gtk')):
            node = node.parent
        return node and node.name

    def cursor(self):
        return ''.join(self.listed('Stack traces', 'list item'))

    def zoomed(self):
        return self.app.is_enabled('zoom-out')

    def tracks(self):
        return self.listed('AppTimeline', 'list')

    # --- what is done before ---

    def to_track(self, name):
        self.app.click(self.app.wait_for(name, 'list'))

    def to_row(self, function, top):
        self.app.rest('rows')
        self.app.click(self.app.wait(lambda: self.app.find(lambda name: name.startswith(f'{function}, '), 'table row',
                                                           self.app.find(top, 'tree table')), f'row {function}'))

    def press(self, key, look, value):
        """The value is another one before: the key alone has the effect."""
        if value is None:
            self.app.key(key)
            return
        if look.__name__ == self.seen[0]:
            self.assertNotEqual(value, self.seen[1])
        else:
            self.app.wait(lambda: look() != value, f'other {look.__name__} before {key} than {value}')
        self.app.key(key)
        self.seen = look.__name__, value
        try:
            self.app.wait(lambda: look() == value, key)
        except desktop.Timeout:
            self.assertEqual(look(), value, f'{look.__name__} after {key}')

    def test_keys(self):
        keys = table()
        self.assertEqual(len(keys), SOURCE.count('\n  { N'))
        self.assertLessEqual(set(keys), {title for title, *_ in STEPS} | {'Quit'})
        self.app.focus(NAME)
        self.app.show('time-profiler/callgraph')
        self.app.wait_for(lambda name: name.startswith('draw, '))
        for title, what, *words in STEPS:
            if title is None:
                getattr(self if hasattr(self, what) else self.app, what)(*words)
            else:
                for key, value in zip(keys.get(title, [title]), words, strict=True):
                    self.press(key, getattr(self, what), value)
        self.app.key(*keys['Quit'])
        self.assertEqual(self.app.process.wait(desktop.SECONDS), 0)


if __name__ == '__main__':
    desktop.main()
