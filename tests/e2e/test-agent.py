# SPDX-License-Identifier: GPL-3.0-or-later
"""sysprof-agent as a development environment starts it. One test compares its interface with that of Debian's."""

import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import unittest

import dbus
import decoder
import tap

AGENT = os.environ["SYSPROF_AGENT"]
PEER = "/usr/bin/sysprof-agent"
AGENT_INTERFACE = "org.gnome.Sysprof.Agent"


def is_interface(text):
    """The lines of the interface, without those of GLib around them."""
    text = re.search(rf'<interface name="{AGENT_INTERFACE}">.*?</interface>', text, re.S).group(0)
    return re.sub(r"<!--.*?-->", "", text, flags=re.S).split()


class Connection:
    """Messages over a pair of sockets. Descriptor `far` belongs to the agent."""

    def __init__(self):
        self.near, self.far = socket.socketpair()
        self.near.settimeout(60)
        self.data = b""
        self.serial = 0
        self.logs = []

    def options(self):
        return [f"--read-fd={self.far.fileno()}", f"--write-fd={self.far.fileno()}"]

    def call(self, member, body=b"", interface=AGENT_INTERFACE, **fields):
        """The reply's header and body."""
        self.serial += 1
        self.near.sendall(dbus.message(dbus.CALL, self.serial, body, path="/", interface=interface, member=member, **fields))
        while True:
            head, body = self.receive()
            if head["kind"] in (dbus.REPLY, dbus.ERROR) and head["reply_serial"] == self.serial:
                return head, body

    def receive(self):
        """The next message; EOFError at the end. Keeps the texts of Log."""
        while len(self.data) < 16 or len(self.data) < self.size():
            more = self.near.recv(65536)
            if not more:
                raise EOFError
            self.data += more
        size = self.size()
        raw, self.data = self.data[:size], self.data[size:]
        head = dbus.header(raw)
        body = raw[size - struct.unpack_from("<I", raw, 4)[0]:]
        if head["kind"] == dbus.SIGNAL and head["member"] == b"Log":
            self.logs.append(body[4:-1].decode())
        return head, body

    def size(self):
        body, _, fields = struct.unpack_from("<III", self.data, 4)
        return 16 + fields + -fields % 8 + body

    def receive_all(self):
        try:
            while True:
                self.receive()
        except EOFError:
            return self.logs


class Agent(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.capture = os.path.join(folder.name, "a.syscap")

    def start(self, *words, program=AGENT, connection=None, **more):
        options = connection.options() if connection is not None else []
        passed = list(more.pop("pass_fds", ())) + ([connection.far.fileno()] if connection is not None else [])
        process = subprocess.Popen([program, f"--capture={self.capture}", *options, *words], pass_fds=passed,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **{"stdout": subprocess.DEVNULL, **more})
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        if connection is not None:
            connection.far.close()
        return process

    def run_it(self, *words, **more):
        process = self.start(*words, **more)
        output, errors = process.communicate(timeout=120)
        return process.returncode, output, errors.decode()

    def test_both_have_the_same_interface(self):
        texts = []
        for program in (AGENT, PEER):
            connection = Connection()
            process = self.start("--", "tail", "-f", "/dev/null", program=program, connection=connection)
            _, body = connection.call("Introspect", interface="org.freedesktop.DBus.Introspectable")
            texts.append(is_interface(body[4:-1].decode()))
            connection.call("ForceExit")
            process.kill()
        self.assertEqual(texts[0], texts[1])

    def test_ends_as_its_command(self):
        self.assertEqual(self.run_it("--", "sh", "-c", "exit 7")[0], 7)
        self.assertEqual(self.run_it("--", "sh", "-c", "kill -SEGV $$")[0], -signal.SIGSEGV)
        self.assertEqual(self.run_it("--", "true")[0], 0)
        code, _, errors = self.run_it("--", "/no/such/program")
        self.assertEqual(code, 1)
        self.assertIn("Cannot start '/no/such/program'", errors)

    def test_command_gets_what_it_should(self):
        read, write = os.pipe()
        code, output, _ = self.run_it(
            "--clear-env", "--env=A=b=c", "--env", "EMPTY", f"--forward-fd={write}", "--directory", "/usr", "--tracefd", "--gjs",
            "--", "/bin/sh", "-c", f'echo "$A,$EMPTY,$HOME,$PWD"; echo "$SYSPROF_TRACE_FD,$GJS_TRACE_FD"; echo x >&{write}',
            pass_fds=[write], stdout=subprocess.PIPE)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            self.assertEqual(pipe.read(), b"x\n")
        lines = output.decode().split()
        self.assertEqual((code, lines[0]), (0, "b=c,,,/usr"))
        self.assertRegex(lines[1], r"^\d+,\d+$")

    def test_client_controls_the_command(self):
        connection = Connection()
        read, write = os.pipe()
        work = f"trap 'exit 5' USR1; i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo >&{write}; while :; do :; done"
        process = self.start("--cpu", "--perf", "--decode", f"--forward-fd={write}", "--", "sh", "-c", work,
                             connection=connection, pass_fds=[write])
        os.close(write)
        head, _ = connection.call("SendSignal", struct.pack("<i", 4000), signature="i")
        self.assertEqual(head["kind"], dbus.ERROR)
        self.assertEqual(head["error_name"], b"org.freedesktop.DBus.Error.InvalidArgs")
        with os.fdopen(read, "rb") as pipe:
            self.assertEqual(pipe.read(1), b"\n")  # it has worked
            connection.call("SendSignal", struct.pack("<i", signal.SIGUSR1), signature="i")
        logs = connection.receive_all()
        self.assertEqual(process.wait(timeout=120), 5)
        pid = re.search(r"Created process (\d+)", "\n".join(logs)).group(1)
        self.assertIn(f"Process {pid} exited", logs)
        capture = decoder.Capture.open(self.capture)
        self.assertIn(int(pid), {frame["pid"] for frame in capture.of("sample")})
        self.assertIn("__symbols__", dict(capture.files()))

    def test_forced_exit(self):
        connection = Connection()
        process = self.start("--", "tail", "-f", "/dev/null", connection=connection)
        connection.call("ForceExit")
        connection.receive_all()
        self.assertEqual(process.wait(timeout=120), -signal.SIGKILL)

    def test_recording_is_complete_when_the_client_vanishes(self):
        connection = Connection()
        process = self.start("--cpu", "--", "tail", "-f", "/dev/null", connection=connection)
        connection.call("Ping", interface="org.freedesktop.DBus.Peer")
        pid = int(re.search(r"Created process (\d+)", "\n".join(connection.logs)).group(1))
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        connection.near.close()
        self.assertEqual(process.wait(timeout=120), 0)
        self.assertGreater(decoder.Capture.open(self.capture).end_time, 0)

    def test_signal_stops_only_the_recording(self):
        connection = Connection()
        process = self.start("--cpu", "--", "tail", "-f", "/dev/null", connection=connection)
        connection.call("Ping", interface="org.freedesktop.DBus.Peer")
        process.terminate()
        connection.call("SendSignal", struct.pack("<i", signal.SIGTERM), signature="i")
        connection.receive_all()
        self.assertEqual(process.wait(timeout=120), -signal.SIGTERM)

    def test_wrong_command_lines(self):
        for words, message in ((["--read-fd=0"], "belong together"), (["--forward-fd=77"], "not an open descriptor"),
                               (["--power-profile=fast"], "--power-profile"), (["--nothing"], "--nothing")):
            with self.subTest(words):
                code, _, errors = self.run_it(*words, "--", "true")
                self.assertEqual(code, 1)
                self.assertIn(message, errors)
        ended = subprocess.run([AGENT, "--", "true"], capture_output=True, timeout=60)
        self.assertEqual((ended.returncode, ended.stderr), (1, b"sysprof-agent: You must provide --capture=PATH\n"))


if __name__ == "__main__":
    tap.main()
