#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A GTK 4 window that draws a given number of frames and ends. It starts an X server of its own. Status 77 if GTK 4,
its introspection data or Xvfb is not installed.

usage: gtk-frames.py FRAMES
"""
import os
import shutil
import subprocess
import sys

GIVE_UP = 60  # seconds


def main(n_frames):
    if shutil.which('Xvfb') is None:
        return 77
    reading, writing = os.pipe()
    # The server must not hold the descriptors of the recorder.
    server = subprocess.Popen(['Xvfb', '-displayfd', str(writing), '-screen', '0', '640x480x24', '-nolisten', 'tcp'],
                              pass_fds=[writing], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        number = os.read(reading, 100).decode().strip()  # when the server is ready, or at its end
        if not number:
            return 1
        os.environ.update(DISPLAY=':' + number, GDK_BACKEND='x11', GSK_RENDERER='cairo', NO_AT_BRIDGE='1', GTK_A11Y='none',
                          GSETTINGS_BACKEND='memory')
        return draw(n_frames)
    finally:
        server.terminate()
        server.wait()


def draw(n_frames):
    try:
        import gi
        gi.require_version('Gtk', '4.0')
        from gi.repository import GLib, Gtk
    except (ImportError, ValueError):
        return 77
    if not Gtk.init_check():
        return 1
    loop, window, label = GLib.MainLoop(), Gtk.Window(), Gtk.Label()
    drawn = 0

    def tick(*_):
        nonlocal drawn
        drawn += 1
        label.set_text(f'frame {drawn}')
        if drawn == n_frames:
            loop.quit()
        return drawn < n_frames
    label.add_tick_callback(tick)
    window.set_child(label)
    window.present()
    GLib.timeout_add_seconds(GIVE_UP, loop.quit)
    loop.run()
    return 0 if drawn == n_frames else 1


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1])))
