#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Methods of sysprofd that pass descriptors: events, loans that end when a descriptor is closed, and what the kernel sees of them."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import threading
import unittest

import private_bus
import tap
from bus_client import Client
from programs import Case, run, wait_for

SYSPROFD = os.environ["SYSPROFD"]
CALL_RIGHTS = os.environ["CALL_RIGHTS"]
WALKER = "walker\n" if os.environ["HAS_BPF"] == "true" else ""
NAME = "org.gnome.Sysprof3"
PATH = "/org/gnome/Sysprof3"
SERVICE = "org.gnome.Sysprof3.Service"
RIGHTS = "org.gnome.Sysprof3.Rights"
RAPL = "org.gnome.Sysprof3.Profiler"
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
DAEMON = 1  # the user who is authorized
NO_GROUP = 0xffffffff


def paranoid():
    with open(PARANOID, encoding="ascii") as file:
        return int(file.read())


class PowerProfiles:
    """A service with the property ActiveProfile, as power-profiles-daemon has it."""

    def __init__(self, address, name):
        self.name = name
        self.profile = "balanced"
        self.client = Client(address)
        self.client.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName", "su", [name, 0])
        self.client.socket.settimeout(None)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(EOFError, OSError):
            while True:
                message = self.client.receive()
                if message.member == "Set":
                    self.profile = message.body[2]
                if message.member in ("Get", "Set") and (message.path, message.body[0]) == ("/" + self.name.replace(".", "/"), self.name):
                    self.client.send(message.sender, None, None, None, *(("v", [("s", self.profile)]) if message.member == "Get" else ()),
                                     type=2, reply_serial=message.serial)

    def close(self):
        self.client.socket.shutdown(2)
        self.thread.join()
        self.client.close()


class Methods(Case):
    @classmethod
    def setUpClass(cls):
        reason = private_bus.reason_to_skip()
        if reason:
            raise unittest.SkipTest(reason)
        cls.bus = private_bus.PrivateBus(private_bus.confined(SYSPROFD), ["daemon"])
        cls.bus.__enter__()  # pylint: disable=unnecessary-dunder-call
        cls.addClassCleanup(cls.bus.__exit__)

    def connect(self, user=DAEMON):
        client = Client(self.bus.address, user)
        self.addCleanup(client.close)
        return client

    def assert_error(self, reply, name, text):
        self.assertEqual((reply.error, reply.body), (f"org.freedesktop.DBus.Error.{name}", [text]))

    def take_fd(self, reply):
        self.assertEqual((reply.error, reply.body), (None, [0]))
        (fd,) = reply.fds
        return fd

    def service_pid(self, client):
        return client.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
                           "s", [NAME]).body[0]

    def kill_service(self, client):
        pid = self.service_pid(client)
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the service has ended")

    # --- events ---

    def open_event(self, client, options, pid=-1, cpu=0, flags=0, group=NO_GROUP, fds=()):
        return client.call(NAME, PATH, SERVICE, "PerfEventOpen", "a{sv}iiht", [options, pid, cpu, group, flags], fds)

    def test_events(self):
        good = {"type": ("u", 1), "config": ("t", 0), "sample_period": ("t", 1000000), "disabled": ("b", 1)}
        client = self.connect()
        for more in ({}, {"unknown": ("s", "x")}, {"wakeup_events": ("u", 1)}, {"sample_type": ("t", 0x10027)}):
            event = self.take_fd(self.open_event(client, {**good, **more}, flags=8))
            self.assertEqual(os.readlink(f"/proc/self/fd/{event}"), "anon_inode:[perf_event]")
            member = self.take_fd(self.open_event(client, good, group=0, fds=[event]))
            os.close(event)
            os.close(member)

    def test_refused_events(self):
        good = {"type": ("u", 1), "config": ("t", 0), "sample_period": ("t", 1000000)}
        client = self.connect()
        denied, invalid = "Operation not permitted", "Invalid argument"
        for changes, more, reason in (
                ({"comm": ("i", 1)}, {}, invalid),
                ({"clockid": ("u", 1)}, {}, invalid),
                ({"type": ("t", 1)}, {}, invalid),
                ({"config": ("s", "0")}, {}, invalid),
                ({"sample_period": ("t", 99999)}, {}, invalid),
                ({"type": ("u", 5)}, {}, denied),  # a breakpoint
                ({"type": ("u", 9)}, {}, denied),  # any device
                ({"sample_type": ("t", 1 << 19)}, {}, denied),  # physical addresses
                ({"type": ("u", 2), "config": ("t", 1), "sample_type": ("t", 1024)}, {}, denied),  # raw parts of any tracepoint
                ({}, {"pid": 0}, invalid),  # the service itself
                ({}, {"pid": 3, "flags": 4}, invalid),  # `pid` as a descriptor of the service
                ({}, {"flags": 1 << 40}, invalid),
                ({}, {"cpu": 99999}, invalid),
                ({}, {"cpu": -1}, invalid),
                ({}, {"pid": 999999999}, "No such process"),
                ({}, {"group": 0, "fds": [0]}, "Bad file descriptor")):
            self.assert_error(self.open_event(client, {**good, **changes}, **more), "Failed", f"Failed to create perf counter: {reason}")

    # --- rights ---

    def test_connect(self):
        """An ordinary user gets kernel symbols, an event of the whole machine, mappings of another user's process, and the BPF program."""
        done = run("setpriv", "--reuid", "daemon", "--clear-groups", CALL_RIGHTS, os.getpid(), env=self.bus.environment)
        self.assertEqual(done.stdout.decode(), "symbols with addresses\nevent\nmappings\n" + WALKER, done.stderr.decode())
        done = run("setpriv", "--reuid", "nobody", "--clear-groups", CALL_RIGHTS, os.getpid(), env=self.bus.environment)
        self.assertEqual((done.stdout, done.returncode), (b"", 1))

    def test_process_of_a_connection_ends_with_it(self):
        client = self.connect()
        service = self.service_pid(client)
        connection = self.take_fd(client.call(NAME, PATH + "/Rights", RIGHTS, "Connect", "a{sv}", [{}]))
        (child,) = children(service)
        wait_for(lambda: set(os.listdir(f"/proc/{child}/fd")) == {"0", "1"}, "the child has only its own descriptors")
        client.close()  # a recording does not depend on the name on the bus
        self.assertEqual(children(service), [child])
        os.close(connection)
        wait_for(lambda: not children(service), "the child has exited")

    def test_monitor(self):
        """It starts with a whole message, has those of other clients, and no descriptors."""
        client, other = self.connect(), self.connect()
        monitor = self.connect()
        monitor.socket.close()
        fd = self.take_fd(client.call(NAME, PATH + "/Rights", RIGHTS, "OpenSystemBusMonitor"))
        monitor.socket = socket.socket(fileno=fd)
        own = self.take_fd(other.call(NAME, PATH, SERVICE, "GetProcFd", "ay", [b"/proc/uptime\0"]))
        os.close(own)
        other.call(NAME, PATH, SERVICE, "GetProcFile", "ay", [b"/proc/uptime\0"])
        seen = []
        while not seen or seen[-1].member != "GetProcFile":
            seen.append(monitor.receive())
        self.assertFalse([message for message in seen if message.fds or message.signature == "h"])
        self.assertEqual(seen[-1].sender, other.name)
        monitor.close()

    # --- settings ---

    def hold_paranoid(self, client, value):
        return self.take_fd(client.call(NAME, PATH + "/Rights", RIGHTS, "HoldParanoid", "i", [value]))

    def test_newest_hold_counts(self):
        before = paranoid()
        client = self.connect()
        first, second = self.hold_paranoid(client, 1 - before % 2), self.hold_paranoid(client, -7)
        self.assertEqual(paranoid(), -1)
        os.close(second)
        wait_for(lambda: paranoid() == 1 - before % 2, "the older hold counts")
        client.close()  # the hold is the descriptor
        os.close(first)
        wait_for(lambda: paranoid() == before, "the former value is restored")

    def test_killed_client(self):
        before = paranoid()
        client = self.connect()
        hold = self.hold_paranoid(client, -1)
        with subprocess.Popen(["sleep", "1000"], pass_fds=[hold]) as holder:
            os.close(hold)
            self.assertEqual(paranoid(), -1)
            holder.kill()
        wait_for(lambda: paranoid() == before, "the former value is restored")

    def test_killed_service(self):
        before = paranoid()
        for restore in (lambda: run(SYSPROFD, "--restore"),
                        lambda: self.connect().call(NAME, PATH, "org.freedesktop.DBus.Peer", "Ping")):  # starts it again
            client = self.connect()
            hold = self.hold_paranoid(client, -1)
            self.kill_service(client)
            self.assertEqual(paranoid(), -1)
            restore()
            self.assertEqual(paranoid(), before)
            os.close(hold)

    def test_files_that_are_not_its_own_restore_nothing(self):
        before = paranoid()
        wanted = 1 - before % 2
        text = f"{wanted}\n{before}\n"
        held = "/run/sysprof/held"
        file = f"{held}/paranoid"
        os.makedirs(held, 0o700, exist_ok=True)

        def restore(prepare):
            prepare()
            try:
                run(SYSPROFD, "--restore")
                return paranoid()
            finally:
                pathlib.Path(PARANOID).write_text(str(before), encoding="ascii")
                os.chown(held, 0, 0)
                os.chmod(held, 0o700)
                pathlib.Path(file).unlink(missing_ok=True)

        def write(contents=text):
            pathlib.Path(file).write_text(contents, encoding="ascii")

        self.assertEqual(restore(write), wanted)  # else the following would prove nothing
        elsewhere = self.bus.directory / "elsewhere"
        elsewhere.write_text(text, encoding="ascii")
        for prepare in (lambda: os.symlink(elsewhere, file), lambda: os.mkfifo(file),
                        lambda: (write(), os.chown(file, DAEMON, 0)), lambda: (write(), os.chmod(file, 0o666)),
                        lambda: (write(), os.chown(held, DAEMON, 0)), lambda: (write(), os.chmod(held, 0o777)),
                        lambda: write(text[:-1]), lambda: write(text[:2]), lambda: write(""), lambda: write("x" * 10000),
                        lambda: write("0" * 100 + text)):
            self.assertEqual(restore(prepare), before)

    def test_change_by_others_stays(self):
        before = paranoid()
        self.addCleanup(lambda: run("sh", "-c", f"echo {before} > {PARANOID}"))
        client = self.connect()
        hold = self.hold_paranoid(client, -1)
        run("sh", "-c", f"echo 0 > {PARANOID}")
        os.close(hold)
        wait_for(lambda: not os.path.exists("/run/sysprof/held/paranoid"), "the hold has ended")
        self.assertEqual(paranoid(), 0)

    def test_power_profile(self):
        self.check_power_profile("org.freedesktop.UPower.PowerProfiles")

    def test_power_profile_of_a_daemon_before_version_0_20(self):
        self.check_power_profile("net.hadess.PowerProfiles")

    def check_power_profile(self, name):
        profiles = PowerProfiles(self.bus.address, name)
        try:
            client = self.connect()
            hold = self.take_fd(client.call(NAME, PATH + "/Rights", RIGHTS, "HoldPowerProfile", "s", ["performance"]))
            self.assertEqual(profiles.profile, "performance")
            os.close(hold)
            wait_for(lambda: profiles.profile == "balanced", "the former profile is restored")
            hold = self.take_fd(client.call(NAME, PATH + "/Rights", RIGHTS, "HoldPowerProfile", "s", ["power-saver"]))
            os.kill(self.service_pid(client), signal.SIGKILL)
            run(SYSPROFD, "--restore", env=self.bus.environment)
            self.assertEqual(profiles.profile, "balanced")
            os.close(hold)
            hold = self.take_fd(client.call(NAME, PATH + "/Rights", RIGHTS, "HoldPowerProfile", "s", ["power-saver"]))
            newest = self.take_fd(client.call(NAME, PATH + "/Rights", RIGHTS, "HoldPowerProfile", "s", ["performance"]))
            self.assertEqual(profiles.profile, "performance")
            os.close(newest)
            wait_for(lambda: profiles.profile == "power-saver", "the older hold counts")
            self.kill_service(client)
            client.call(NAME, PATH, "org.freedesktop.DBus.Peer", "Ping")  # starts it again
            wait_for(lambda: profiles.profile == "balanced", "the former profile is restored")
            os.close(hold)
        finally:
            profiles.close()
        reply = self.connect().call(NAME, PATH + "/Rights", RIGHTS, "HoldPowerProfile", "s", ["performance"])
        self.assertEqual(reply.error, "org.freedesktop.DBus.Error.Failed")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


if __name__ == "__main__":
    tap.main()
