# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the application under a virtual display and a session bus of its own, and drives it through the accessibility tree.

A test file calls desktop.enter() first: it starts the file again inside of xvfb-run and dbus-run-session. Tests wait for
conditions in a GLib main loop and never sleep. The words of a test are SYSPROF SYSPROF_REPORT: PROGRAM and REPORT here.
"""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'e2e'))
import tap  # noqa: E402

INSIDE = 'SYSPROF_TEST_DESKTOP'
NAME = 'org.gnome.Sysprof'
SIZE = '1280x800x24'
SKIPPED = 77  # exit status
SECONDS = 60  # until a condition must hold, also under sanitizers on a busy machine
OUTPUT = 4000  # letters of a failed program to print
MOST_OUTPUT = 1 << 24
LEAKS = pathlib.Path(__file__).resolve().parent / 'leaks.supp'
FRAME = 5    # px
STEP = 20     # ms between two looks
NOTHING = '/org/a11y/atspi/null'
REST = 60000  # µs without work after which all was drawn: some frames
PROGRAM, REPORT = (os.path.abspath(path) for path in sys.argv[1:3])
main = tap.main


def write_settings(folder, *settings):
    """Settings of GTK in a folder for XDG_CONFIG_HOME. GTK 4.8 leaks what it uses to find old entries of recent files."""
    path = folder / 'gtk-4.0/settings.ini'
    path.parent.mkdir(parents=True)
    path.write_text('\n'.join(['[Settings]', 'gtk-recent-files-max-age=-1', *settings, '']))
    os.chmod(folder, 0o777)


def enter(user=None):
    """Returns inside of a display and a bus, as another user if a number is given; exits with 77 without the programs for that."""
    if INSIDE in os.environ:
        del sys.argv[1:3]
        return
    as_user = [] if user is None or os.geteuid() != 0 else ['setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups', '--']
    missing = [name for name in ('xvfb-run', 'dbus-run-session', 'xdotool') if shutil.which(name) is None]
    try:
        import pyatspi  # noqa: F401
    except ImportError:
        missing.append('python3-pyatspi')
    if missing:
        print('1..0 # SKIP needs', ', '.join(missing))
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        environment = {**os.environ, INSIDE: '1', 'HOME': home, 'GSK_RENDERER': 'cairo', 'GDK_DEBUG': 'gl-disable', 'GDK_BACKEND': 'x11',
                       'LC_ALL': 'C.UTF-8', 'GSETTINGS_BACKEND': 'memory', 'GIO_USE_VFS': 'local', 'GTK_USE_PORTAL': '0',
                       'GTK_A11Y': 'atspi', 'NO_AT_BRIDGE': '0', 'G_DEBUG': 'fatal-criticals',
                       'G_SLICE': 'always-malloc',  # GLib 2.74 hides blocks from the search for leaks
                       # Stacks of leaks need a slow way to walk them; tests that look for leaks choose it.
                       'ASAN_OPTIONS': 'detect_leaks=0',
                       'LSAN_OPTIONS': f'suppressions={LEAKS}:print_suppressions=0',
                       **{f'XDG_{kind}_HOME': f'{home}/{kind.lower()}' for kind in ('DATA', 'CONFIG', 'CACHE')}}
        write_settings(pathlib.Path(home, 'config'))
        sys.exit(subprocess.run([*as_user, 'xvfb-run', '-a', '-s', f'-screen 0 {SIZE} -nolisten tcp -noreset', 'dbus-run-session', '--',
                                 sys.executable, *sys.argv], env=environment, check=False).returncode)


def translation(folder):
    """The environment of a language that is written from right to left, in which our texts are in brackets."""
    for program in ('localedef', 'xgettext', 'msgen', 'msgfilter', 'msgfmt'):
        if shutil.which(program) is None:
            raise unittest.SkipTest(f'needs {program}')
    if not pathlib.Path('/usr/share/i18n/locales/en_US').exists():
        raise unittest.SkipTest('needs the sources of locales')
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    target = folder / 'ar/LC_MESSAGES'
    target.mkdir(parents=True, exist_ok=True)
    files = [line for line in (root / 'po/POTFILES').read_text().split() if line.startswith('src/app/')]
    run = functools.partial(subprocess.run, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    run(['xgettext', '--from-code=UTF-8', '-k_', '-kN_', '-kngettext:1,2', f'--directory={root}', '-o', 'a.pot', *files])
    run(['msgen', 'a.pot', '-o', 'a.po'])
    run(['msgfilter', '--keep-header', '-i', 'a.po', '-o', 'b.po', 'sed', '-e', r'1s/^\(.\)/[\1/', '-e', r'$s/\(.\)$/\1]/'])
    run(['msgfmt', 'b.po', '-o', target / 'sysprof.mo'])
    run(['localedef', '-i', 'en_US', '-f', 'UTF-8', './en_US.UTF-8'])
    return {'LANGUAGE': 'ar', 'LC_ALL': 'en_US.UTF-8', 'LOCPATH': str(folder), 'SYSPROF_LOCALE_DIR': str(folder)}


class Timeout(AssertionError):
    """A condition did not come true."""


class Node:
    """An object of the accessibility tree, with the names of pyatspi. Its name and path are those of the last reading of the tree;
    its state, text and place are read from the program each time."""

    def __init__(self, app, sender, item):
        value = item.get_child_value
        self.path, self.parent_path = (value(i).get_child_value(1).get_string() for i in (0, 2))
        self.index, self.n_children, self.name, self.role = value(3).get_int32(), value(4).get_int32(), value(6).get_string(), value(7).get_uint32()
        self.app, self.sender, self.item, self.children, self.parent = app, sender, item, [], None

    def had(self, state):
        """Whether it was in a state, such as FOCUSED, when the tree was read: costs no call."""
        low, high = self.item.get_child_value(9).unpack()
        return bool((low | high << 32) >> int(getattr(self.app.pyatspi, f'STATE_{state}')) & 1)

    def call(self, interface, method, signature='()', *values):
        return self.app.call(self.sender, self.path, f'org.a11y.atspi.{interface}', method, self.app.GLib.Variant(signature, values)).unpack()

    def read(self, interface, name):
        return self.app.call(self.sender, self.path, 'org.freedesktop.DBus.Properties', 'Get',
                             self.app.GLib.Variant('(ss)', (f'org.a11y.atspi.{interface}', name))).unpack()[0]

    @property
    def childCount(self):
        return len(self.children)

    @property
    def nActions(self):
        return self.read('Action', 'NActions')

    @property
    def characterCount(self):
        return self.read('Text', 'CharacterCount')

    def getChildAtIndex(self, i):
        return self.children[i]

    def getRoleName(self):
        return self.app.pyatspi.Atspi.role_get_name(self.app.pyatspi.Atspi.Role(self.role))

    def query(self, interface):
        if f'org.a11y.atspi.{interface}' not in self.item.get_child_value(5).unpack():
            raise NotImplementedError(interface)
        return self

    def queryAction(self):
        return self.query('Action')

    def queryComponent(self):
        return self.query('Component')

    def queryText(self):
        return self.query('Text')

    def queryEditableText(self):
        return self.query('EditableText')

    def getState(self):
        return self

    def contains(self, state):
        low, high = self.call('Accessible', 'GetState')[0]
        return bool((low | high << 32) >> int(state) & 1)

    def doAction(self, i):
        return self.call('Action', 'DoAction', '(i)', i)[0]

    def setTextContents(self, text):
        return self.call('EditableText', 'SetTextContents', '(s)', text)[0]

    def getText(self, begin, end):
        return self.call('Text', 'GetText', '(ii)', begin, end)[0]

    def getExtents(self, coordinates):
        return types.SimpleNamespace(**dict(zip(('x', 'y', 'width', 'height'), self.call('Component', 'GetExtents', '(u)', int(coordinates))[0])))


class Application:
    """The running program. `arguments` are files to open."""

    def __init__(self, program, *arguments, environment=None):
        import gi
        gi.require_version('Gio', '2.0')
        from gi.repository import Gio, GLib
        import pyatspi
        self.Gio, self.GLib, self.pyatspi = Gio, GLib, pyatspi
        self.context = GLib.MainContext.default()
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen([program, *map(str, arguments)], stdout=self.output, stderr=self.output,
                                        env={**os.environ, **(environment or {})})
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        address = self.bus.call_sync('org.a11y.Bus', '/org/a11y/bus', 'org.a11y.Bus', 'GetAddress', None, None, Gio.DBusCallFlags.NONE, -1, None)
        self.tree_bus = Gio.DBusConnection.new_for_address_sync(
            address.unpack()[0], Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        self.tree, self.is_waiting = None, False  # a condition looks several times at the same tree

    def close(self, allowed=None):
        """Ends it as the end of the session does. It must not have complained, but with the `allowed` word; sanitizers report leaks in
        the exit status."""
        self.process.terminate()
        status = self.process.wait(SECONDS)
        if status or [line for line in self.warnings() if allowed is None or allowed not in line]:
            raise AssertionError(f'the program ended with {status}:\n{self.read()[-OUTPUT:]}')

    def kill(self):
        """Ends it as a crash does, if it still runs."""
        self.process.kill()
        self.process.wait(SECONDS)

    def read(self):
        """What it wrote. Its place in the file is also ours."""
        return os.pread(self.output.fileno(), MOST_OUTPUT, 0).decode(errors='replace')

    def warnings(self):
        """What GTK and GLib complained about, but for a width that AdwFlap of libadwaita 1.2 now and then computes when its window
        gets its first size."""
        return [line for line in self.read().splitlines() if ('WARNING **' in line or 'CRITICAL **' in line) and
                'with width -2147483648 and height' not in line]

    def wait(self, condition, what):
        """The first true value of condition()."""
        end = self.GLib.get_monotonic_time() + SECONDS * 1000000
        while self.GLib.get_monotonic_time() < end:
            try:
                self.tree, self.is_waiting = None, True
                value = condition()
            except self.GLib.Error:
                value = None  # an object went away while it was read
            finally:
                self.tree, self.is_waiting = None, False
            if value:
                return value
            if self.process.poll() is not None:
                raise AssertionError(f'the program ended with {self.process.returncode}:\n{self.read()[-OUTPUT:]}')
            self.GLib.timeout_add(STEP, lambda: False)
            self.context.iteration(True)
        raise Timeout(f'no {what} within {SECONDS} s')

    def call(self, sender, path, interface, method, parameters=None):
        """Calls an object of the accessibility tree."""
        return self.tree_bus.call_sync(sender, path, interface, method, parameters, None, self.Gio.DBusCallFlags.NONE, -1, None)

    def children_of(self, objects):
        """Asks several objects for their children at the same time: {path: objects}."""
        found = {}

        def take(bus, result, path):
            try:
                found[path] = [child for child in bus.call_finish(result).unpack()[0] if child[1] != NOTHING]
            except self.GLib.Error:
                found[path] = []  # it went away

        for sender, path in objects:
            self.tree_bus.call(sender, path, 'org.a11y.atspi.Accessible', 'GetChildren', None, None, self.Gio.DBusCallFlags.NONE, -1, None,
                               take, path)
        while len(found) < len(objects):
            self.context.iteration(True)
        return found

    def read_tree(self):
        """All objects as {path: node}, and the one at the top. GTK lists all objects in one reply. The list may miss objects that were
        never read, and contain some that are gone: then the number of children is wrong."""
        desktop = 'org.a11y.atspi.Registry', '/org/a11y/atspi/accessible/root'
        while tops := self.children_of([desktop])[desktop[1]]:
            sender, top = tops[0]
            items = self.call(sender, '/org/a11y/atspi/cache', 'org.a11y.atspi.Cache', 'GetItems').get_child_value(0)
            all_nodes = [Node(self, sender, items.get_child_value(i)) for i in range(items.n_children())]
            nodes = {node.path: node for node in all_nodes}
            for node in sorted(all_nodes, key=lambda node: node.index):
                node.parent = nodes.get(node.parent_path)
                if node.parent:
                    node.parent.children.append(node)
            doubtful = [node for node in all_nodes if [child.index for child in node.children] != list(range(node.n_children))]
            answers = self.children_of([(sender, node.path) for node in doubtful])
            new = unknown = [child for children in answers.values() for child in children if child[1] not in nodes]
            while new:
                new = [child for children in self.children_of(new).values() for child in children]
            if not unknown:
                for node in doubtful:
                    node.children = [nodes[path] for _, path in answers[node.path]]
                return nodes, nodes[top]
        return {}, None

    def get_tree(self):
        if self.tree is None:
            self.tree = self.read_tree()
        tree = self.tree
        if not self.is_waiting:
            self.tree = None
        return tree

    def run_time(self):
        """The ns that its threads and the display have run; None while one runs."""
        display = pathlib.Path(f'/tmp/.X{os.environ["DISPLAY"].strip(":")}-lock').read_text()
        total = 0
        for task in (task for pid in (self.process.pid, int(display)) for task in pathlib.Path(f'/proc/{pid}/task').iterdir()):
            try:
                if task.joinpath('stat').read_text().rpartition(')')[2].split()[0] == 'R':
                    return None
                total += int(task.joinpath('schedstat').read_text().split()[0])
            except OSError:
                return None  # the thread ended
        return total

    def rest(self, what):
        """Waits until the program has finished its work: none of its threads runs any more."""
        state = (None, 0)  # time of all threads, since when

        def is_resting():
            nonlocal state
            now, ran = self.GLib.get_monotonic_time(), self.run_time()
            if ran is None or ran != state[0]:
                state = (ran, now)
            return now - state[1] > REST
        self.wait(is_resting, f'rest in {what}')

    def picture(self):
        """A number that differs for each picture of the screen."""
        return hash(subprocess.run(['import', '-window', 'root', 'ppm:-'], stdout=subprocess.PIPE, check=True).stdout)

    def root(self):
        return self.get_tree()[1]

    def walk(self, top=None):
        """All objects, parents first. GTK 4.8 does not say which pages of a stack are showing."""
        nodes, root = self.get_tree()
        stack = [nodes.get(top.path) if top else root]
        while stack and stack[0]:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def find(self, name, role=None, top=None):
        """The first object of a name, which may be a function of names."""
        fits = name if callable(name) else lambda text: text == name
        if role == 'frame':  # windows are at the top; the role of one that is new may not be known yet
            root = self.root()
            return next((node for node in (root.children if root else []) if fits(node.name)), None)
        for node in self.walk(top):
            if fits(node.name) and (role is None or node.getRoleName() == role):
                return node
        return None

    def wait_for(self, name, role=None, top=None):
        return self.wait(lambda: self.find(name, role, top), f'object {name!r} ({role})')

    def press(self, name, role=None, top=None):
        """Presses a button, or toggles a switch, once it is there."""
        node = self.wait_for(name, role, top)
        node.queryAction().doAction(0)
        return node

    def is_checked(self, node):
        return node.getState().contains(self.pyatspi.STATE_CHECKED)

    def unnamed(self, top=None):
        """Controls whose name is missing, only the name of their class, or has the underline of a mnemonic."""
        roles = {'push button', 'toggle button', 'check box', 'text', 'entry', 'combo box', 'page tab', 'menu item', 'slider'}
        return [f'{node.getRoleName()} {node.name!r} in {node.parent.parent.name!r}' for node in self.walk(top)
                if node.getRoleName() in roles and (not node.name or node.name.startswith(('Gtk', 'Adw', '_')))]

    def entry(self, top):
        """The first text field below an object."""
        for node in self.walk(top):
            try:
                return node.queryEditableText()
            except NotImplementedError:
                continue
        return None

    def container(self, node, kind):
        """The widget of a type, such as AppTable, around an object."""
        while node is not None and node.name != kind:
            node = node.parent
        return node

    def names(self, top=None):
        return [node.name for node in self.walk(top) if node.name]

    def act(self, action, *parameters, window=1):
        """Activates an action of a window; parameters are GVariants."""
        def call():
            self.bus.call_sync(NAME, f'/org/gnome/Sysprof/window/{window}', 'org.gtk.Actions', 'Activate',
                               self.GLib.Variant('(sava{sv})', (action, list(parameters), {})), None,
                               self.Gio.DBusCallFlags.NONE, -1, None)
            return True
        self.wait(call, f'action {action}')

    def change(self, action, state, window=1):
        """Changes the state of an action, as its menu does."""
        self.wait(lambda: self.is_enabled(action, window) is not None, f'action {action}')
        self.bus.call_sync(NAME, f'/org/gnome/Sysprof/window/{window}', 'org.gtk.Actions', 'SetState',
                           self.GLib.Variant('(sva{sv})', (action, state, {})), None, self.Gio.DBusCallFlags.NONE, -1, None)

    def is_enabled(self, action, window=1):
        def call():
            reply = self.bus.call_sync(NAME, f'/org/gnome/Sysprof/window/{window}', 'org.gtk.Actions', 'Describe',
                                       self.GLib.Variant('(s)', (action,)), None, self.Gio.DBusCallFlags.NONE, -1, None)
            return reply.unpack()[0][0]
        try:
            return call()
        except self.GLib.Error:
            return None  # there is no such action

    def show(self, view, window=1):
        """Shows SECTION or SECTION/VIEW."""
        self.wait(lambda: self.is_enabled('zoom-in', window) is not None, 'loaded capture')
        self.act('section', self.GLib.Variant('s', view), window=window)

    def focus(self, title):
        """Gives the keyboard to a window: there is no window manager."""
        self.wait_for(title, 'frame')
        subprocess.run(['xdotool', 'search', '--sync', '--onlyvisible', '--name', title, 'windowfocus', '--sync'],
                       check=True)

    def resize(self, title, width, height):
        subprocess.run(['xdotool', 'search', '--sync', '--name', title, 'windowsize', '--sync', str(width), str(height)], check=False,
                       timeout=SECONDS)

    def width(self, title):
        return self.wait_for(title, 'frame').queryComponent().getExtents(self.pyatspi.WINDOW_COORDS).width

    def key(self, *keys):
        subprocess.run(['xdotool', 'key', *keys], check=True)

    def extents(self, node):
        """Place of an object on the screen: the window is at its corner, and has a frame."""
        area = node.queryComponent().getExtents(self.pyatspi.WINDOW_COORDS)
        area.x += FRAME
        area.y += FRAME
        return area

    def drag(self, node, begin, end):
        """Drags over the middle of an object, from one share of its width to another."""
        area = self.extents(node)
        y = area.y + area.height // 2
        steps = [area.x + int(area.width * (begin + (end - begin) * i / 4)) for i in range(5)]
        moves = [word for x in steps[1:] for word in ('mousemove', '--sync', str(x), str(y))]
        subprocess.run(['xdotool', 'mousemove', str(steps[0]), str(y), 'mousedown', '1', *moves, 'mouseup', '1'], check=True)

    def wait_for_figures(self, track, text):
        """Points at the title of a track, and waits for a text in the figures of its series."""
        title = self.wait_for(track, 'label')
        area = self.extents(title)
        subprocess.run(['xdotool', 'mousemove', '0', '0', 'mousemove', '--sync', str(area.x + 5), str(area.y + 5)], check=True)
        self.wait(lambda: text in title.parent.read('Accessible', 'Description'), f'figures {text} of {track}')

    def choose_file(self, path):
        """Saves as `path` in the file chooser that is open."""
        dialog = self.wait_for(lambda name: name.startswith('Export'), 'filler')
        self.wait_for('Name:', 'text', dialog).queryEditableText().setTextContents(str(path))
        self.press('_Save Save', 'push button', dialog)

    def click(self, node):
        self.rest('places')  # a chip that comes or goes moves what is below it
        area = self.extents(node)
        subprocess.run(['xdotool', 'mousemove', str(area.x + area.width // 2), str(area.y + area.height // 2),
                        'click', '1'], check=True)


def report(capture, view, *options):
    """The rows that sysprof-report says."""
    run = subprocess.run([REPORT, view, '--format', 'json', *options, capture], stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)['rows']


class Case(unittest.TestCase):
    """Tests of one running program that shows one capture. They run in the order of their names. A class has `write`, which writes
    the capture to a path, and `name`, of the file."""
    name = 'painter.syscap'

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.capture = cls.write(pathlib.Path(folder.name, cls.name))
        cls.app = Application(PROGRAM, cls.capture)
        cls.app.wait_for(cls.name, 'frame')

    @classmethod
    def tearDownClass(cls):
        cls.app.close()

    def report(self, view, *options):
        return report(self.capture, view, *options)

    def click_at(self, node, x, y, *how):
        """Clicks at a place of an object, in pixels; `how` are words for xdotool."""
        self.app.rest('places')
        area = self.app.extents(node)
        subprocess.run(['xdotool', 'mousemove', str(area.x + x), str(area.y + y), 'click', *how, '1'], check=True)
