# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives a headless Chromium through its debugging pipe (file descriptors 3 and 4), without any package."""
import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync',
         '--disable-dev-shm-usage', '--force-color-profile=srgb', '--remote-debugging-pipe']
TIMEOUT = 60  # seconds for one answer, on a busy machine

KEYS = {'Enter': 13, 'Backspace': 8, 'Escape': 27, 'Home': 36, 'ArrowUp': 38, 'ArrowDown': 40,
        'ArrowLeft': 37, 'ArrowRight': 39, 'ContextMenu': 93, '/': 191, 'f': 70, 'i': 73, 'm': 77, 'n': 78, 'r': 82}


def find():
    return shutil.which('chromium') or shutil.which('chromium-browser')


class Browser:
    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(prefix='browser-', ignore_cleanup_errors=True)
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()

        # The numbers that we were given may be 3 and 4 themselves, so move both out of the way first.
        def child():
            a, b = os.dup(to_child), os.dup(from_child)
            a, b = (fd if fd > 4 else os.dup(fd) for fd in (a, b))
            os.dup2(a, 3)
            os.dup2(b, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [find(), *FLAGS, '--user-data-dir=' + self.profile.name, 'about:blank'], preexec_fn=child,
            close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.n, self.events = b'', 0, []
        return self

    def __exit__(self, *error):
        os.close(self.out)
        os.close(self.inp)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.profile.cleanup()

    def _message(self):
        end = time.monotonic() + TIMEOUT
        while b'\0' not in self.buffer:
            if not select.select([self.inp], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError('the browser does not answer')
            got = os.read(self.inp, 1 << 20)
            if not got:
                raise EOFError('the browser went away')
            self.buffer += got
        text, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(text)

    def call(self, method, session=None, **params):
        self.n += 1
        message = {'id': self.n, 'method': method, 'params': params}
        if session:
            message['sessionId'] = session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self._message()
            if answer.get('id') == message['id']:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']
            self.events.append(answer)

    def wait_for(self, method):
        while True:
            for i, event in enumerate(self.events):
                if event.get('method') == method:
                    return self.events.pop(i)['params']
            self.events.append(self._message())

    def open(self, path, width=1280, height=800, scale=1, dark=False, phone=False, fragment=''):
        return Page(self, pathlib.Path(path).resolve().as_uri() + fragment, width, height, scale, dark, phone)


class Page:
    def __init__(self, browser, url, width, height, scale, dark, phone):
        self.browser = browser
        target = browser.call('Target.createTarget', url='about:blank')['targetId']
        self.session = browser.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=scale,
                  mobile=phone)
        if phone:
            self.call('Emulation.setTouchEmulationEnabled', enabled=True)
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])
        browser.events.clear()
        self.call('Page.navigate', url=url)
        browser.wait_for('Page.loadEventFired')

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def js(self, expression):
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(json.dumps(answer['exceptionDetails']))
        return answer['result'].get('value')

    def frame(self):
        """Two drawn frames from now."""
        self.js('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

    def move(self, x, y):
        self.call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)

    def click(self, x, y, button='left'):
        self.move(x, y)
        for kind in ('mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button=button, clickCount=1)

    def key(self, key, ctrl=False):
        for kind in ('keyDown', 'keyUp'):
            params = dict(type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS.get(key, 0), modifiers=2 if ctrl else 0)
            if kind == 'keyDown' and len(key) == 1 and not ctrl:
                params['text'] = key
            if kind == 'keyDown' and key == 'Enter':
                params['text'] = '\r'
            self.call('Input.dispatchKeyEvent', **params)

    def type(self, text):
        self.call('Input.insertText', text=text)

    def middle(self, expression):
        """Returns the coordinates of the middle of an element."""
        box = self.js(f'(() => {{ const b = ({expression}).getBoundingClientRect();'
                      'return [b.x + b.width / 2, b.y + b.height / 2]; })()')
        return box

    def click_on(self, expression):
        self.click(*self.middle(expression))

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(
            base64.b64decode(self.call('Page.captureScreenshot', format='png')['data']))

    def faults(self):
        """Errors that the page met, and what it asked the network for."""
        found = []
        for event in self.browser.events:
            if event['method'] == 'Runtime.exceptionThrown':
                found.append(event['params']['exceptionDetails'].get('exception', {}).get('description'))
            if event['method'] == 'Log.entryAdded' and event['params']['entry']['level'] == 'error':
                found.append(event['params']['entry']['text'])
            if event['method'] == 'Network.requestWillBeSent':
                url = event['params']['request']['url']
                if not url.startswith(('file:', 'data:')):
                    found.append('asked for ' + url)
        return found


class Case(unittest.TestCase):
    """A browser and a folder for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.browser = Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()
