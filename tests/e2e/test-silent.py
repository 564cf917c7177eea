#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program of a file system that has stopped to answer: the recording goes on, ends, and says what it could not have; and who reads a
capture that names such a file, or one that is no file, has the rest."""

import contextlib
import json
import os
import platform
import stat
import subprocess
import sys
import unittest

import captures
import tap
from decoder import Capture
from programs import CLI, REPORT, Case, needs_root, run
from silent_fs import SilentFileSystem

PROGRAM = os.environ.get("MOVED_FILES", "moved-files")
LIBRARY = os.environ.get("MOVED_LIBRARY", "moved-library.so")


class WithFileSystem(Case):
    def setUp(self):
        super().setUp()
        os.mkdir("silent")
        with open(LIBRARY, "rb") as file:
            contents = file.read()
        try:
            self.files = SilentFileSystem(self.path("silent"), contents)
        except OSError as error:
            self.skipTest(f"no file system can be made in user space here: {error}")
        self.addCleanup(self.files.close)


class Named(WithFileSystem):
    """By a capture, which names what it likes."""

    def names_of_both(self, path):
        """What the report says of an address in that file, and of one in a program that is there."""
        capture = captures.Capture()
        capture.process("program", pid=4000001)
        for start, file in ((0x100000, path), (0x200000, PROGRAM)):
            capture.map(start, start + 0x1000, file, 0, 0, pid=4000001)
            capture.sample([captures.USER, start + 0x10], pid=4000001)
        capture.save("named.syscap")
        done = run(REPORT, "quality", "--format", "json", "named.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def test_that_is_silent(self):
        self.files.silence()
        report = self.names_of_both(self.files.path)
        self.assertIn("may not be read", report)
        self.files.close()

    def test_that_opens_and_is_silent(self):
        self.files.silence(only_reading=True)
        report = self.names_of_both(self.files.path)
        self.assertIn("not an ELF file, or a damaged one", report)
        self.files.close()

    def test_that_is_none(self):
        """A pipe that nobody writes, and a device without end."""
        os.mkfifo("pipe")
        os.mknod("zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        for path in (self.path("pipe"), self.path("zero")):
            self.assertIn("not on this machine", self.names_of_both(path))


@unittest.skipUnless(platform.machine() == "x86_64", "stacks are walked in the kernel on x86-64 alone")
class Silent(WithFileSystem):
    def start(self):
        """A program with a library of that file system, whose stacks cannot be had without its table; now nothing is answered any more."""
        program = subprocess.Popen([PROGRAM, self.files.path, "kept", "600"], stdout=subprocess.PIPE)

        def end():
            program.kill()
            program.communicate()

        self.addCleanup(end)
        self.assertEqual(program.stdout.readline(), f"pid {program.pid}\n".encode())
        with open(f"/proc/{program.pid}/stat", encoding="ascii") as stat:
            while int(stat.read().rsplit(")")[1].split()[11]) < 5:  # it computes: all that it needs was read
                stat.seek(0)
        self.files.silence()
        return program

    def assert_counted(self, pid):
        """Its samples are there, and those whose stack needed its table say so."""
        done = run(REPORT, "samples", "--format", "json", "--process", pid, "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [row for row in json.loads(done.stdout)["rows"] if row["stack"]]
        self.assertGreater(len(rows), 20)
        self.assertIn("table-failed", {row["reason"] for row in rows if not row["complete"]})

    def assert_nothing_stays(self):
        """Who was left behind, waiting for an answer, ends when there is nobody any more to give one."""
        self.files.close()
        while self.find_children():
            pass

    def find_children(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/cwd") == self.folder and os.readlink(f"/proc/{pid}/exe") != os.path.realpath(sys.executable):
                    found.append(pid)
        return [pid for pid in found if int(pid) != self.program.pid]

    @needs_root
    def test_recording_ends(self):
        program = self.program = self.start()
        done = run(CLI, "-f", "--duration", "3", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(self.find_children(), [], "nothing was asked of the file system")
        self.assert_nothing_stays()
        if Capture.open("x.syscap").metadata()["org.gnome.sysprof.unwind"] != "tables":
            self.skipTest("stacks are not walked in the kernel here: " + done.stderr.decode())
        self.assert_counted(program.pid)


if __name__ == "__main__":
    tap.main()
