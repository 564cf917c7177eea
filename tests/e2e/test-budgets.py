#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work that an ordinary user, or the author of a capture, can cause is bounded in total, and what was skipped is reported."""

import gzip
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

import captures
import tap
from decoder import Capture
from programs import BUSY, CLI, NOBODY, REPORT, Case, needs_sampling, run

N_PROGRAMS = 6
MOST_SECONDS = 60  # of a recording: 20 s are the budget, the rest is for a loaded machine
HAS_TOOLS = all(shutil.which(tool) for tool in ("strip", "objcopy", "setpriv"))


@unittest.skipUnless(os.geteuid() == 0 and HAS_TOOLS, "needs root, binutils and setpriv")
class DebugFiles(Case):
    """Programs of an unprivileged user with debug links to sparse files, while root records."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        os.mkdir("theirs")
        os.chown("theirs", NOBODY, NOBODY)

    def make(self, number, size):
        """A stripped program, and the file of `size` bytes that its debug link names."""
        name = f"hungry-{number}"
        link = f"{name}.debug".encode()
        pathlib.Path("link").write_bytes(link + bytes(4 - len(link) % 4) + b"\1\2\3\4")
        subprocess.run(["strip", "-o", "stripped", BUSY], check=True)
        subprocess.run(["objcopy", "--remove-section", ".note.gnu.build-id", "--remove-section", ".gnu_debuglink",
                        "--add-section", ".gnu_debuglink=link", "stripped", f"theirs/{name}"], check=True)
        with open(f"theirs/{name}.debug", "wb") as file:
            file.write(pathlib.Path("stripped").read_bytes())
            file.truncate(size)
        for path in (f"theirs/{name}", f"theirs/{name}.debug"):
            os.chown(path, NOBODY, NOBODY)

    def start(self, number):
        process = subprocess.Popen(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                                    f"theirs/hungry-{number}", "300"], stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(os.killpg, process.pid, signal.SIGKILL)  # it has a child

    @needs_sampling
    def test_that_have_terabytes(self):
        for number in range(N_PROGRAMS):
            self.make(number, 2 << 40)
            self.start(number)
        begin = time.monotonic()
        done = run(CLI, "-d", "2", "-F", "200", "x.syscap", env={**os.environ, "SYSPROF_SYMBOL_CACHE": ""})
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 0, text)
        self.assertLess(time.monotonic() - begin, MOST_SECONDS)
        self.assertRegex(text, rf"{N_PROGRAMS} files of other users were not read for symbols")
        capture = Capture.open("x.syscap")
        self.assertIn(b"skipped", capture.file("__unnamed__"))
        summary = json.loads(run(REPORT, "summary", "--format", "json", "x.syscap").stdout)
        self.assertTrue([row for row in summary["findings"] if "files of other users" in row["text"]], summary["findings"])

    @staticmethod
    def cpu_ticks_of_children(pid):
        ticks = {}
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                ticks[stat] = int(fields[11]) + int(fields[12])
        return ticks

    @needs_sampling
    def test_interrupt_keeps_what_was_found(self):
        """The first ^C of a recording that has ended by itself, while a file is read for symbols."""
        self.make(0, 40 << 30)
        self.start(0)
        recorder = self.recorder("-d", "1", "-F", "200", "--json-status", "x.syscap",
                                 env={**os.environ, "SYSPROF_SYMBOL_CACHE": ""})
        last = None
        for line in iter(recorder.process.stderr.readline, b""):
            status = json.loads(line) if line.startswith(b"{") else {}
            if "time" in status:  # else it is a message
                if last is not None and status["samples"] > 0 and status["time"] == last:
                    break
                last = status["time"]
        before = self.cpu_ticks_of_children(recorder.process.pid)
        until = time.monotonic() + MOST_SECONDS
        is_busy = False
        while not is_busy and time.monotonic() < until:
            now = self.cpu_ticks_of_children(recorder.process.pid)
            is_busy = any(ticks - before.get(child, 0) > os.sysconf("SC_CLK_TCK") // 2 for child, ticks in now.items())
        self.assertTrue(is_busy, "no child reads the file")
        recorder.send(signal.SIGINT)
        status, _, text = recorder.finish()
        self.assertEqual(status, 0, text)
        self.assertIn("symbols found so far", text)
        self.assertIn("was interrupted", text)
        self.assertTrue(Capture.open("x.syscap").file("__symbols__"))


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and unshare")
class Namespaces(Case):
    """In a PID namespace the kernel's answers would mislead a recorder, so it prints that it runs in one."""

    def refuse(self, *front):
        if run("unshare", *front, "true").returncode != 0:
            self.skipTest(f"the kernel refuses unshare {' '.join(front)}")
        return run("unshare", *front, CLI, "-d", "1", "x.syscap")

    @needs_sampling
    def test_other_clock(self):
        done = self.refuse("--time", "--monotonic", "100000", "--fork")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, rb"its clock differs by 100000 s from the kernel's")

    @needs_sampling
    def test_other_users(self):
        done = self.refuse("--user", "--map-root-user", "--mount")
        self.assertIn(b"only in its user namespace", done.stderr)
        self.assertNotIn(b"seccomp", done.stderr)


class Captures(Case):
    @staticmethod
    def limit(seconds, memory):
        def apply():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            if b"__asan_init" not in pathlib.Path(CLI).read_bytes():
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        return apply

    def join(self, offset_of):
        """Joins a capture whose table has 32,768 entries that name parts of one text of 4 MB."""
        n, size = 32768, 4 << 20
        rows = [(0x400000 + 16 * i, 0x400010 + 16 * i, 7, offset_of (i), 0) for i in range(n)]
        capture = captures.Capture(time=1000, now=1000).process("a", pid=7, time=1000)
        capture.map(0x400000, 0x500000, "/bin/a", pid=7, time=1000)
        capture.chunked_file("__symbols__", captures.packed_symbols(rows, b"n" * size + b"\0a\0"))
        capture.sample([captures.USER, 0x400010], 7, pid=7, time=1001)
        path = capture.save("long-name.syscap")
        done = run(CLI, "--merge", path, path, stdout=open("joined.syscap", "wb"), preexec_fn=self.limit(20, 1 << 30))
        self.assertEqual(done.returncode, 0, done.stderr)
        table = Capture.open("joined.syscap").file("__symbols__")
        self.assertLess(len(table), 4 * size)
        for i in range(0, n, 1000):
            begin, end, pid, name, _, _ = struct.unpack_from("<QQIIII", table, 32 * i)
            self.assertEqual((begin, end, pid), (0x400000 + 16 * i, 0x400010 + 16 * i, 7))
            self.assertEqual(table.index(b"\0", name) - name, size - offset_of (i))

    def test_join_of_one_long_name(self):
        self.join(lambda i: 0)

    def test_join_of_parts_of_one_long_name(self):
        self.join(lambda i: i)

    def test_compressed_zeros(self):
        header = captures.Capture(time=1000, now=1000).process("a", pid=7, time=1000)
        header.save("head.syscap")
        with open("head.syscap", "rb") as head:
            packed = gzip.compress(head.read()) + 2 * 1024 * gzip.compress(bytes(1 << 20), 9)
        with open("zeros.syscap.gz", "wb") as file:
            file.write(packed)
        done = run(REPORT, "zeros.syscap.gz", preexec_fn=self.limit(60, 3 << 29))
        self.assertEqual((done.returncode, done.stdout), (1, b""), done.stderr)
        self.assertRegex(done.stderr, rb"more than 200 times as large.*unpack it with the gzip program")


if __name__ == "__main__":
    tap.main()
