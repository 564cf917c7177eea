#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A GTK 4 window that redraws itself several times and ends. It needs no screen, because it starts GTK's
Broadway server. Status 77 if GTK 4, its introspection data or that server is not installed."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FRAMES = 12
GIVE_UP = 20  # seconds


def main():
    if shutil.which('gtk4-broadwayd') is None:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(XDG_RUNTIME_DIR=folder, GDK_BACKEND='broadway', BROADWAY_DISPLAY=':7', NO_AT_BRIDGE='1', GTK_A11Y='none',
                          GSETTINGS_BACKEND='memory')
        # By a socket in the folder alone.
        server = subprocess.Popen(['gtk4-broadwayd', '--unixsocket', os.path.join(folder, 'http'), ':7'], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            socket = os.path.join(folder, 'broadway8.socket')
            end = time.monotonic() + GIVE_UP
            while not os.path.exists(socket) and time.monotonic() < end and server.poll() is None:
                time.sleep(0.01)
            return draw()
        finally:
            server.terminate()
            server.wait()


def draw():
    try:
        import gi
        gi.require_version('Gtk', '4.0')
        from gi.repository import GLib, Gtk
    except (ImportError, ValueError):
        return 77
    if not Gtk.init_check():
        return 77
    loop, window, label = GLib.MainLoop(), Gtk.Window(), Gtk.Label()
    drawn = 0

    def tick(*_):
        nonlocal drawn
        drawn += 1
        label.set_text(f'frame {drawn}')
        if drawn == FRAMES:
            loop.quit()
        return drawn < FRAMES
    window.set_child(label)
    window.present()
    GLib.timeout_add(20, tick)
    GLib.timeout_add_seconds(GIVE_UP, loop.quit)
    loop.run()
    return 0 if drawn == FRAMES else 1


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
