#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program on a file system that stopped answering: the recording continues, ends, and reports the missing
data. A report of a capture that names such a file, or a path that is no regular file, has all other names."""

import contextlib
import json
import os
import platform
import re
import stat
import subprocess
import sys
import unittest

import captures
import tap
from decoder import Capture
from programs import CLI, REPORT, Case, needs_root, run, skip_without_bpf, wait_for, wait_for_cpu_time
from silent_fs import SilentFileSystem

PROGRAM = os.environ.get("MOVED_FILES", "moved-files")
LIBRARY = os.environ.get("MOVED_LIBRARY", "moved-library.so")


class WithFileSystem(Case):
    def setUp(self):
        super().setUp()
        os.mkdir("silent")
        with open(self.contents(), "rb") as file:
            contents = file.read()
        try:
            self.files = SilentFileSystem(self.path("silent"), contents)
        except OSError as error:
            self.skipTest(f"no file system can be made in user space here: {error}")
        self.addCleanup(self.files.close)

    def contents(self):
        return LIBRARY


class Named(WithFileSystem):
    """By a capture, which names what it likes."""

    def names_of_both(self, path):
        """Returns the report's names of an address in that file, and of one in a program on a working file
        system."""
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
        self.assertIn("cannot be read", report)
        self.files.close()

    def test_that_opens_and_is_silent(self):
        self.files.silence(only_reading=True)
        report = self.names_of_both(self.files.path)
        self.assertIn("not an ELF file, or a damaged one", report)
        self.files.close()

    def test_that_is_none(self):
        """A pipe without a writer, and an endless device."""
        os.mkfifo("pipe")
        os.mknod("zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        for path in (self.path("pipe"), self.path("zero")):
            self.assertIn("not on this machine", self.names_of_both(path))


class DebugFile(WithFileSystem):
    """If a file does not answer, only the data of this file are missing, and a message names its path."""

    LEFT_OUT = "debug file ignored: it could not be read, took too long or too much memory, or crashed the parser: "

    def build(self):
        """Both are in its symbol table, and one for who links to it."""
        with open("program.c", "w", encoding="ascii") as file:
            file.write("int n;\nstatic __attribute__ ((noinline, used)) void hidden (void) { n++; }\n"
                       "__attribute__ ((noinline)) void shown (void) { hidden (); n++; }\n"
                       "int main (void) { shown (); return 0; }\n")
        subprocess.run(["cc", "-g", "-O1", "-rdynamic", "-Wl,--build-id", "-o", "program", "program.c"], check=True)

    def contents(self):
        self.build()
        subprocess.run(["objcopy", "--only-keep-debug", "program", "file"], check=True)
        nm = subprocess.run(["nm", "program"], check=True, stdout=subprocess.PIPE).stdout.decode()
        self.address_of = {line.split()[2]: int(line.split()[0], 16) for line in nm.splitlines() if len(line.split()) == 3}
        subprocess.run(["objcopy", "--strip-all", "--add-gnu-debuglink=file", "program"], check=True)
        os.rename("file", "copy")
        return "copy"

    def report(self, *paths):
        """Names in such files, each in a process of its own, and the report's text for those."""
        capture = captures.Capture()
        headers = subprocess.run(["readelf", "-lW", "program"], check=True, stdout=subprocess.PIPE).stdout.decode()
        offset, start, size = (int(number, 16) for number in re.search(r"LOAD +(\w+) (\w+) \w+ (\w+) \w+ R E", headers).groups())
        for pid, path in enumerate(paths, 4000001):
            capture.process("program", pid=pid)
            capture.map(0x100000, 0x100000 + (size + 4095 & ~4095), path, offset, os.stat(path).st_ino, pid=pid)
            for name in ("shown", "shown", "hidden"):
                capture.sample([captures.USER, 0x100000 + self.address_of[name] + 1 - start], pid=pid)
        capture.save("named.syscap")
        done = run(REPORT, "quality", "--no-inlines", "--format", "json", "named.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)["rows"]
        return {row.get("example") for row in rows}, {(row["binary"], row["reason"]) for row in rows}

    def test_that_answers(self):
        os.symlink("silent", ".debug")
        names, told = self.report(self.path("program"))
        self.assertIn("shown", names)
        self.assertFalse([reason for _, reason in told if "unnamed" in reason or self.LEFT_OUT in reason])

    def test_that_is_silent(self):
        """Under two paths: the second one's is not waited for again."""
        os.symlink("silent", ".debug")
        os.link("program", "another")
        self.files.silence(only_reading=True)
        names, told = self.report(self.path("program"), self.path("another"))
        self.files.close()
        self.assertIn("shown", names)
        for name in ("program", "another"):
            self.assertIn((name, f"{self.LEFT_OUT}'{self.path('.debug/file')}'"), told)
            self.assertIn((name, "unnamed: stripped, and its debug file could not be read"), told)


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
        wait_for_cpu_time(program.pid, 0.05)  # it computes: all that it needs was read
        self.files.silence()
        return program

    def assert_counted(self, pid):
        """Its samples are recorded. Stacks that needed its table carry the reason."""
        done = run(REPORT, "samples", "--format", "json", "--process", pid, "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [row for row in json.loads(done.stdout)["rows"] if row["stack"]]
        self.assertGreater(len(rows), 20)
        self.assertIn("table-failed", {row["reason"] for row in rows if not row["complete"]})

    def assert_nothing_stays(self):
        """A child that waits for an answer ends when the server is gone."""
        self.files.close()
        wait_for(lambda: not self.find_children(), self.find_children)

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
            skip_without_bpf(self, done.stderr.decode())
        self.assert_counted(program.pid)


if __name__ == "__main__":
    tap.main()
