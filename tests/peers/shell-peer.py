#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates GNOME Shell on the session bus: `shell-peer.py COMMAND…` owns its name, runs the command and
exits with its status. A recorder that calls org.gnome.Sysprof3.Profiler there gets the capture of a
compositor: marks, counters, and log lines. Status 77 without PyGObject."""
import os
import pathlib
import subprocess
import sys
import time

try:
    from gi.repository import Gio, GLib
except ImportError:
    sys.exit(77)
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'data'))
import captures  # noqa: E402

INTERFACE = '''<node><interface name="org.gnome.Sysprof3.Profiler">
  <property name="Capabilities" type="a{sv}" access="read"/>
  <method name="Start">
    <annotation name="org.gtk.GDBus.C.UnixFD" value="true"/>
    <arg type="a{sv}" name="options" direction="in"/><arg type="h" name="fd" direction="in"/>
  </method>
  <method name="Stop"/>
</interface></node>'''
PAINTS, LINES = 20, ('a window was mapped', 'a window was closed')


class Shell:
    def __init__(self):
        self.fd = None

    def call(self, _connection, _sender, _path, _interface, method, parameters, invocation):
        if method == 'Start':
            fds = invocation.get_message().get_unix_fd_list()
            self.fd = fds.get(parameters.unpack()[1])
            self.began = time.monotonic_ns()
        elif self.fd is not None:
            self.write()
            os.close(self.fd)
            self.fd = None
        invocation.return_value(None)

    def write(self):
        now, pid = time.monotonic_ns(), os.getpid()
        step = (now - self.began) // (PAINTS + 1)
        capture = captures.Capture(self.began, now)
        capture.ctrdef([(1, 'Stage', 'painted', 'windows that were painted', 0), (2, 'Stage', 'share', 'of the screen', 1)],
                       pid=pid, time=self.began)
        for i in range(PAINTS):
            when = self.began + step * i
            capture.ctrset([(1, i * i), (2, i / 8)], pid=pid, time=when)
            capture.mark('compositor', 'paint' if i % 2 else 'layout', f'frame {i}', step // (i + 2), pid=pid, time=when)
        for i, line in enumerate(LINES):
            capture.log('journal', line, pid=pid, time=self.began + step * (i + 1))
        os.write(self.fd, bytes(capture.data))

    def get(self, _connection, _sender, _path, _interface, _name):
        return GLib.Variant('a{sv}', {})


def main():
    shell, loop, status = Shell(), GLib.MainLoop(), []
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    bus.register_object('/org/gnome/Sysprof3/Profiler', Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], shell.call, shell.get, None)

    def run(*_):
        command = subprocess.Popen(sys.argv[1:])
        GLib.child_watch_add(GLib.PRIORITY_DEFAULT, command.pid, lambda _pid, code: (status.append(code), loop.quit()))

    Gio.bus_own_name_on_connection(bus, 'org.gnome.Shell', Gio.BusNameOwnerFlags.NONE, run, None)
    loop.run()
    return os.waitstatus_to_exitcode(status[0])


if __name__ == '__main__':
    sys.exit(main())
