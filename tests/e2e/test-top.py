#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""--top: what is hot now, in a terminal and in a pipe, and what is left of it afterwards."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

import tap
from decoder import Capture
from programs import BUSY, CLI, TIMEOUT, Case, can_sample, run

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


class Terminal:
    """A terminal of a user."""

    def __init__(self, *words, **variables):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self.theirs = theirs
        self.process = subprocess.Popen([str(word) for word in words], stdin=theirs, stdout=theirs, stderr=theirs,
                                        env={**os.environ, "TERM": "xterm", **variables}, preexec_fn=self.take)
        self.seen = b""

    def take(self):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read_until(self, *parts):
        end = time.monotonic() + TIMEOUT
        while not all(part in self.seen for part in parts):
            assert time.monotonic() < end, self.seen[-3000:]
            if not select.select([self.ours], [], [], 1)[0]:
                continue
            self.seen += os.read(self.ours, 65536)

    def end(self):
        """All that was seen, and the status."""
        end = time.monotonic() + TIMEOUT
        while self.process.poll() is None or select.select([self.ours], [], [], 0)[0]:
            assert time.monotonic() < end, self.seen[-3000:]
            if select.select([self.ours], [], [], 0.05)[0]:
                self.seen += os.read(self.ours, 65536)
        return self.seen, self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


@unittest.skipUnless(can_sample(), "needs the right to sample the whole machine")
class Top(Case):
    def setUp(self):
        super().setUp()
        busy = subprocess.Popen([BUSY, "600"], stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(busy.wait)
        self.addCleanup(os.killpg, busy.pid, signal.SIGKILL)

    def test_pipe(self):
        for seconds in 5, 20, 60:  # until it has told twice, on a busy machine
            done = run(CLI, "--top", "-d", seconds)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = done.stdout.decode()
            self.assertNotIn("\x1b", text)
            blocks = text.split("Functions of ")[1:]
            if len(blocks) >= 2:
                break
        self.assertGreaterEqual(len(blocks), 2, text)
        for block in blocks:
            self.assertRegex(block, r"busy +heavy_work")
        # A window, not all there was: five seconds of each CPU, and what is read late.
        samples = [int(re.search(r"([\d,]+) samples?\b", block).group(1).replace(",", "")) for block in blocks]
        self.assertLess(max(samples), os.cpu_count() * 1000 * 7, samples)
        self.assertEqual(text.count("Counters of "), len(blocks))
        self.assertRegex(done.stderr.decode(), r"Recorded .* samples, .*, not kept\. The recorder")
        self.assertNotRegex(done.stderr.decode(), r"\d [kM]B")
        self.assertEqual(os.listdir("."), [])

    def terminal(self, *words, **more):
        terminal = Terminal(*words, **more)
        self.addCleanup(terminal.close)
        return terminal

    def test_terminal_until_q(self):
        terminal = self.terminal(CLI, "--top")
        terminal.read_until(ENTER, b"heavy_work")
        self.assertNotIn(LEAVE, terminal.seen)
        os.write(terminal.ours, b"xq")
        seen, status = terminal.end()
        self.assertEqual(status, 0, seen[-2000:])
        self.assertEqual(seen.count(ENTER), 1)
        self.assertEqual(seen.count(LEAVE), 1)
        self.assertEqual(termios.tcgetattr(terminal.theirs), terminal.before)
        self.assertIn(b"Recorded ", seen.split(LEAVE)[1])
        # One screen is as high as the terminal: more would roll it away.
        for screen in seen.split(b"\x1b[H")[1:]:
            self.assertLess(screen.split(b"\x1b[J")[0].count(b"\n"), 30)
        self.assertEqual(os.listdir("."), [])

    def test_terminal_without_utf8(self):
        terminal = self.terminal(CLI, "--top", LC_ALL="C", TERM="vt100")
        terminal.read_until(ENTER, b"heavy_work")
        os.write(terminal.ours, b"q")
        seen, status = terminal.end()
        self.assertEqual(status, 0, seen[-2000:])
        self.assertTrue(seen.isascii(), seen)
        self.assertNotRegex(seen, rb"\x1b\[[34]8;")  # 256 or 24-bit colors

    def test_recording_that_is_kept(self):
        terminal = self.terminal(CLI, "--top", "x.syscap")
        terminal.read_until(b"heavy_work")
        terminal.process.send_signal(signal.SIGINT)
        seen, status = terminal.end()
        self.assertEqual(status, 0, seen[-2000:])
        self.assertEqual(termios.tcgetattr(terminal.theirs), terminal.before)
        capture = Capture.open("x.syscap")
        self.assertGreater(capture.counts()["sample"], 100)

    def test_command_keeps_its_keys(self):
        terminal = self.terminal(CLI, "--top", "--", "sh", "-c", "read line; echo \"got $line\" >said")
        terminal.read_until(b"heavy_work")
        os.write(terminal.ours, b"q\n")
        seen, status = terminal.end()
        self.assertEqual(status, 0, seen[-2000:])
        with open("said", encoding="ascii") as file:
            self.assertEqual(file.read(), "got q\n")


if __name__ == "__main__":
    tap.main()
