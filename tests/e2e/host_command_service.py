# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface with which Flatpak runs commands on the host, on the session bus: usage /usr/bin/python3 host_command_service.py.
As Flatpak's helper does: the command leads a session, a standard stream that is a terminal becomes its controlling terminal, and
it is killed when its caller leaves the bus. Its environment has ON_HOST."""

import fcntl
import os
import shutil
import signal
import subprocess
import termios

from gi.repository import Gio, GLib

NAME, PATH, INTERFACE = "org.freedesktop.Flatpak", "/org/freedesktop/Flatpak/Development", "org.freedesktop.Flatpak.Development"
XML = f"""<node><interface name="{INTERFACE}">
<method name="HostCommand"><arg type="ay" direction="in"/><arg type="aay" direction="in"/><arg type="a{{uh}}" direction="in"/>
<arg type="a{{ss}}" direction="in"/><arg type="u" direction="in"/><arg type="u" direction="out"/></method>
<method name="HostCommandSignal"><arg type="u" direction="in"/><arg type="u" direction="in"/><arg type="b" direction="in"/></method>
<signal name="HostCommandExited"><arg type="u"/><arg type="u"/></signal></interface></node>"""
CLEAR_ENVIRONMENT, WATCH_BUS = 1, 2


def run_command(bus, caller, parameters, received):
    cwd, argv, fds, variables, flags = (parameters.get_child_value(i) for i in range(5))
    argv = [bytes(argv.get_child_value(i).get_bytestring()) for i in range(argv.n_children())]
    if not shutil.which(argv[0]):
        raise FileNotFoundError(argv[0])
    given = {number: fcntl.fcntl(received[handle], fcntl.F_DUPFD, 100) for number, handle in fds.unpack().items()}

    def prepare():  # closes the pipe over which Python reports that a program does not exist, too
        os.setsid()
        for number, fd in given.items():
            os.dup2(fd, number)
        for number in filter(os.isatty, given):
            fcntl.ioctl(number, termios.TIOCSCTTY, 0)
            break
        os.closerange(max(given) + 1, 1000)

    environment = {} if flags.unpack() & CLEAR_ENVIRONMENT else {**os.environ, "ON_HOST": "yes"}
    command = subprocess.Popen(argv, cwd=bytes(cwd.get_bytestring()), env={**environment, **variables.unpack()}, close_fds=False,
                               preexec_fn=prepare)
    for fd in given.values():
        os.close(fd)

    def on_exited(_pid, status):
        if watch:
            Gio.bus_unwatch_name(watch)
        bus.emit_signal(caller, PATH, INTERFACE, "HostCommandExited", GLib.Variant("(uu)", (command.pid, status)))

    watch = 0
    if flags.unpack() & WATCH_BUS:
        watch = Gio.bus_watch_name_on_connection(bus, caller, Gio.BusNameWatcherFlags.NONE, None,
                                         lambda *_: os.killpg(command.pid, signal.SIGKILL))
    GLib.child_watch_add(GLib.PRIORITY_DEFAULT, command.pid, on_exited)
    return command.pid


def on_call(bus, caller, _path, _interface, method, parameters, invocation):
    if method == "HostCommandSignal":
        pid, number, to_group = parameters.unpack()
        (os.killpg if to_group else os.kill)(pid, number)
        invocation.return_value(None)
        return
    received = invocation.get_message().get_unix_fd_list().steal_fds()  # which otherwise live as long as the message
    try:
        pid = run_command(bus, caller, parameters, received)
    except OSError as error:
        invocation.return_dbus_error("org.freedesktop.DBus.Error.Failed", str(error))
    else:
        invocation.return_value(GLib.Variant("(u)", (pid,)))
    finally:
        for fd in received:
            os.close(fd)


def main():
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    bus.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0], on_call)
    Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.NONE, lambda *_: print("ready", flush=True), None)
    GLib.MainLoop().run()


main()
