# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that run outside of a Flatpak sandbox. The recorder is in a sandbox of bubblewrap, as Flatpak makes it; the other end of
HostCommand is a service of this test, on a session bus of its own."""

import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import termios
import unittest

import tap
from decoder import Capture
from programs import CLI, TIMEOUT, Case, run, wait_for

TARGET = os.environ["COLLECTOR_TARGET"]
SERVICE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "host_command_service.py")
HOST_COMMAND = os.environ["HOST_COMMAND"]
QUIET = ("--no-perf", "--no-cpu", "--no-disk", "--no-memory", "--no-network", "--no-battery", "--no-pressure", "--no-gpu",
         "--no-system-log", "--no-graphics-info", "--no-process-usage", "--no-recorder", "--no-decode", "--quiet", "--force",
         "--exit-status")


@unittest.skipUnless(shutil.which("bwrap"), "bubblewrap is not installed")
class HostCommand(Case):
    def setUp(self):
        super().setUp()
        bus = subprocess.Popen(["dbus-daemon", "--session", "--print-address", "--nofork"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, bus)
        self.environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": bus.stdout.readline().strip(),
                            "SYSPROF_LIBEXECDIR": os.path.dirname(HOST_COMMAND)}
        self.service = subprocess.Popen(["/usr/bin/python3", SERVICE], stdout=subprocess.PIPE, text=True,
                                        env={**self.environment, "HOST_ONLY": "host"})
        self.addCleanup(self.end, self.service)
        self.assertEqual(self.service.stdout.readline(), "ready\n")

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        process.stdout.close()

    def sandbox(self, *words):
        """Everything is there, and the file that tells that this is a sandbox."""
        names = [f"/{name}" for name in os.listdir("/") if not os.path.islink(f"/{name}") and name not in ("proc", "dev")]
        links = [(os.readlink(f"/{name}"), f"/{name}") for name in os.listdir("/") if os.path.islink(f"/{name}")]
        return ["bwrap", *(word for name in names for word in ("--bind", name, name)),
                *(word for link in links for word in ("--symlink", *link)), "--proc", "/proc", "--dev", "/dev",
                "--file", "0", "/.flatpak-info", *map(str, words)]

    def record(self, *command, options=(), **variables):
        return run(*self.sandbox(CLI, *QUIET, *options, "c.syscap", "--", *command), env={**self.environment, **variables})

    def test_command_runs_on_the_host(self):
        done = self.record("sh", "-c", 'echo "$ON_HOST $HOST_ONLY $GIVEN $PWD"; test -e /.flatpak-info || exit 7', options=("--env=GIVEN=v",))
        self.assertEqual((done.returncode, done.stdout.decode()), (7, f"yes host v {os.getcwd()}\n"), done.stderr)

    def test_command_writes_marks_into_the_recording(self):
        done = self.record(TARGET, "all")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(Capture.open("c.syscap").of("mark")), 4)

    def test_command_writes_its_own_capture(self):
        done = self.record("env", "-u", "SYSPROF_CONTROL_FD", TARGET, "all", options=("--use-trace-fd",))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(Capture.open("c.syscap").of("mark")), 4)

    def test_command_that_does_not_exist(self):
        done = self.record("/no/such/program")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"Cannot run '/no/such/program' on the host: ", done.stderr)

    def start(self, *words, **more):
        process = subprocess.Popen([HOST_COMMAND, "--", *words], env=self.environment, **more)
        self.addCleanup(process.kill)
        return process

    def test_ends_as_the_command(self):
        self.assertEqual(self.start("sh", "-c", "exit 9").wait(TIMEOUT), 9)
        self.assertEqual(self.start("sh", "-c", "kill -TERM $$").wait(TIMEOUT), -signal.SIGTERM)
        done = run(HOST_COMMAND, "--clear-env", "--env=A=1", "--cwd=/usr", "--", "/usr/bin/env", env=self.environment)
        self.assertEqual(done.stdout, b"A=1\n")

    def test_signals_reach_the_command(self):
        process = self.start("sh", "-c", "trap 'exit 4' TERM; echo; while :; do read line; done", stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"\n")
        process.terminate()
        process.stdin.write(b"\n")  # a shell handles a signal behind its read
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT), 4)
        process.stdout.close()

    def test_command_is_killed_with_its_caller(self):
        process = self.start("sh", "-c", "echo $$; exec tail -f /dev/null", stdout=subprocess.PIPE)
        pid = int(process.stdout.readline())
        process.kill()
        process.wait()
        process.stdout.close()
        wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the command has ended")

    def test_command_ends_with_the_service(self):
        process = self.start("sh", "-c", "echo $$; exec tail -f /dev/null", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(os.kill, int(process.stdout.readline()), signal.SIGKILL)
        self.service.kill()
        self.assertRegex(process.stderr.readline(), b"has ended|disconnected")
        self.assertEqual(process.wait(TIMEOUT), 1)
        process.stdout.close()
        process.stderr.close()

    def test_command_has_a_terminal_of_its_own(self):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 99, 0, 0))
        before = termios.tcgetattr(slave)
        process = self.start("sh", "-c", "test -t 1 && stty size </dev/tty && read line && echo got $line && exit 6",
                             stdin=slave, stdout=slave, stderr=slave)
        self.read_until(master, b"33 99")
        os.write(master, b"word\r")
        self.read_until(master, b"got word")
        self.assertEqual(process.wait(TIMEOUT), 6)
        self.assertEqual(termios.tcgetattr(slave), before)
        os.close(slave)
        os.close(master)

    def read_until(self, fd, text):
        data = b""
        while text not in data:
            data += os.read(fd, 1024)
        return data


if __name__ == "__main__":
    tap.main()
