#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our recorder as an ordinary user: with the rights of our service, refused by it, and beside services that cannot help."""

import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import time

import decoder
import private_bus
import tap
from bus_client import Client
from programs import BUSY, REPORT, run, wait_for_cpu_time
from user_case import DEBIAN_SERVICE, KERNEL, MARKERS, QUIET, UserCase, restricted_bus

SYSPROFD = os.environ["SYSPROFD"]


class Recording(UserCase):
    def setUp(self):
        super().setUp()
        self.work = subprocess.Popen([BUSY, "1000"], stdout=subprocess.DEVNULL,  # pylint: disable=consider-using-with
                                     start_new_session=True)
        self.addCleanup(self.work.wait)
        self.addCleanup(os.killpg, self.work.pid, signal.SIGKILL)

    def bus(self, service):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        return stack.enter_context(restricted_bus(service))

    def record(self, user, bus, *options, **more):
        path = f"{self.directory}/{user}.syscap"
        done = run("setpriv", "--reuid", user, "--clear-groups", f"{self.directory}/sysprof-cli", *QUIET, "-d", "1", *options, path,
                   env={**bus.environment, "HOME": self.directory}, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        capture = decoder.Capture.open(path)
        return done.stderr.decode(), capture, [frame for frame in capture.of("sample") if frame["pid"] == self.work.pid]

    def test_user_with_authorization_records_everything(self):
        errors, capture, samples = self.record("daemon", self.bus(private_bus.confined(SYSPROFD)))
        self.assertEqual(errors, "")
        self.assertTrue(samples)
        self.assertTrue(any(KERNEL <= address < MARKERS for frame in capture.of("sample") for address in frame["addrs"]))
        self.assertIn(b"main", capture.file("__symbols__"))  # of a process of root
        self.assertIn(b" do_syscall_64" if os.uname().machine == "x86_64" else b" el0", capture.file("/proc/kallsyms"))

    def test_recording_continues_when_the_service_dies(self):
        """With all its children, as systemd ends them."""
        bus = self.bus(private_bus.confined(SYSPROFD))
        self.addCleanup(os.umask, os.umask(0))
        recorder = self.recorder(*QUIET, f"{self.directory}/x.syscap", executable=f"{self.directory}/sysprof-cli", user="daemon",
                                 extra_groups=[], env={**bus.environment, "HOME": self.directory})
        os.chmod(self.folder, 0o755)
        recorder.wait_until_recording()
        wait_for_cpu_time(self.work.pid, 0.2)
        with Client(bus.address) as client:
            service = client.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s",
                                  ["org.gnome.Sysprof3"]).body[0]
        with open(f"/proc/{service}/task/{service}/children", encoding="ascii") as file:
            children = [int(pid) for pid in file.read().split()]
        self.assertTrue(children)
        for pid in (service, *children):
            os.kill(pid, signal.SIGKILL)
        death = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        wait_for_cpu_time(self.work.pid, 0.5)
        recorder.send(signal.SIGINT)
        status, _, errors = recorder.finish()
        self.assertEqual((status, errors), (0, ""))
        done = run(REPORT, "samples", "--format", "json", "--limit", "0", "--process", self.work.pid, f"{self.directory}/x.syscap")
        rows = json.loads(done.stdout)["rows"]
        begin = decoder.Capture.open(f"{self.directory}/x.syscap").time
        after = [row for row in rows if begin + row["time"] > death]
        self.assertGreater(len(after), 100)
        self.assertEqual([row["reason"] for row in after if not row["complete"]], [])
        self.assertIn("main", {entry["symbol"] for row in after for entry in row["stack"]})

    def test_user_without_authorization_gets_nothing_of_others(self):
        errors, capture, samples = self.record("games", self.bus(private_bus.confined(SYSPROFD)))
        self.assertIn("Rights: sysprofd gives no rights: the request was not authorized. Authenticate as an administrator", errors)
        self.assertEqual(samples, [])
        self.assertEqual([frame for frame in capture.of("sample") if any(KERNEL <= address < MARKERS for address in frame["addrs"])], [])
        self.assertTrue(capture.of("ctrset"))  # the rest is recorded

    def test_user_who_does_not_want_the_service_is_not_asked(self):
        for options in (("--no-sysprofd",), ("--no-perf",)):
            errors, _, samples = self.record("games", self.bus(private_bus.confined(SYSPROFD)), *options)
            self.assertNotIn("Rights: ", errors)
            self.assertEqual(samples, [])

    def test_services_that_cannot_help(self):
        errors, _, samples = self.record("games", self.bus(None))
        self.assertNotIn("Rights: ", errors)
        self.assertIn("or install sysprofd", errors)
        self.assertEqual(samples, [])

    def test_older_service(self):
        """It gives samples and the mappings of root's processes to users with authorization, and the report names what it cannot."""
        if not os.path.exists(DEBIAN_SERVICE):
            self.skipTest("no Sysprof 3.46 here")
        bus = self.bus(DEBIAN_SERVICE)
        errors, capture, samples = self.record("daemon", bus)
        self.assertIn("is of an older version", errors)
        self.assertTrue(samples)
        self.assertIn(b"heavy_work", capture.file("__symbols__"))
        errors, _, samples = self.record("daemon", bus, "--frequency=20000")
        self.assertIn("or install a newer sysprofd", errors)
        self.assertEqual(samples, [])
        errors, _, samples = self.record("games", bus)
        self.assertIn("the request was not authorized", errors)
        self.assertEqual(samples, [])

    def test_terminal_asks_for_a_password(self):
        """With the user's terminal as controlling terminal."""
        if not shutil.which("pkttyagent"):
            self.skipTest("pkttyagent is not installed")
        bus = self.bus(private_bus.confined(SYSPROFD))
        child, terminal = pty.fork()
        if child == 0:
            os.execvpe("setpriv", ["setpriv", "--reuid", "games", "--clear-groups", f"{self.directory}/sysprof-cli", *QUIET, "-d", "1",
                                   f"{self.directory}/tty.syscap"], {"DBUS_SYSTEM_BUS_ADDRESS": bus.address, "PATH": os.environ["PATH"], "HOME": self.directory})
        text = b""
        while b"Authenticating as: root" not in text:  # a line before that for the password
            text += os.read(terminal, 1024)
        self.assertIn(b"AUTHENTICATING FOR org.gnome.sysprof3.profile", text)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


if __name__ == "__main__":
    tap.main()
