#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks that are walked outside the kernel, from copies: chosen where BPF is not permitted, whole, and no copy in the file."""

import json
import os
import platform
import re
import shutil
import subprocess
import unittest

import tap
from decoder import Capture
from programs import BUSY, CLI, REPORT, Case, needs_root, run

WITHOUT_BPF = ["setpriv", "--bounding-set", "-bpf,-sys_admin"]
MOST_SIZE = 65536


@unittest.skipUnless(platform.machine() == "x86_64", "copies are walked on x86-64 alone")
class Copies(Case):
    def samples_of(self, path, pid):
        done = run(REPORT, "samples", "--format", "json", "--process", pid, path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"]

    def pid_of_busy(self, done):
        return re.search(rb"pid (\d+)", done.stdout).group(1).decode()

    def assert_whole(self, path, done):
        self.assertEqual(Capture.open(path).metadata()["org.gnome.sysprof.unwind"], "copy")
        rows = self.samples_of(path, self.pid_of_busy(done))
        self.assertGreater(len(rows), 50)
        self.assertEqual({row["unwind"] for row in rows} - {"none"}, {"copy"})
        whole = [row for row in rows if row["complete"]]
        self.assertGreaterEqual(len(whole), 0.97 * len(rows), {row["reason"] for row in rows})
        self.assertTrue(any(row["stack"][-1]["symbol"] == "_start" for row in whole))

    @needs_root
    def test_auto_takes_copies_without_the_right_to_bpf(self):
        done = run(*WITHOUT_BPF, CLI, "x.syscap", "--", BUSY, "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_whole("x.syscap", done)
        self.assertIn("CAP_BPF", done.stderr.decode())
        refused = run(*WITHOUT_BPF, CLI, "--unwind", "tables", "-d", "1", "y.syscap")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("CAP_BPF", refused.stderr.decode())

    @needs_root
    def test_asked_for(self):
        for words in (["--unwind", "copy"], ["--stack-size", "32768"]):
            with self.subTest(words):
                done = run(CLI, "-f", *words, "x.syscap", "--", BUSY, "0.3")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("CAP_BPF", done.stderr.decode())
                self.assert_whole("x.syscap", done)

    @needs_root
    def test_tracepoints(self):
        """They can have no program of ours."""
        done = run(CLI, "--event", "sched:sched_switch", "x.syscap", "--", BUSY, "0.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("for tracepoints such as 'sched:sched_switch'", done.stderr.decode())
        self.assertNotIn("Cannot open", done.stderr.decode())
        refused = run(CLI, "--event", "sched:sched_switch", "--unwind", "tables", "-d", "1", "y.syscap")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("Cannot use --unwind tables", refused.stderr.decode())
        self.assertEqual(Capture.open("x.syscap").metadata()["org.gnome.sysprof.unwind"], "copy")

    def test_a_user_and_his_own_command(self):
        (cli, busy), as_nobody = self.as_nobody(CLI, BUSY)
        done = run(*as_nobody, cli, self.path("x.syscap"), "--", busy, "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_whole("x.syscap", done)

    @needs_root
    def test_no_byte_of_a_copy_is_in_the_file(self):
        """The environment stands on a program's first stack, and in no command line."""
        marker = "known-bytes-" + os.urandom(8).hex()
        environment = dict(os.environ, MARKER=marker)
        done = run(CLI, "--stack-size", MOST_SIZE, "x.syscap", "--", BUSY, "0.5", env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_whole("x.syscap", done)
        with open("x.syscap", "rb") as file:
            self.assertNotIn(marker.encode(), file.read())

        # The same copies, kept. Now and then the kernel finds the page of the environment absent.
        if shutil.which("perf"):
            self.assertTrue(any(self.is_in_copies(marker, environment) for _ in range(8)))

    def is_in_copies(self, marker, environment):
        # Without --buildid-mmap perf fails at mapping records that the kernel marks because another recorder
        # requests build IDs.
        done = run("perf", "record", "-q", "-N", "--buildid-mmap", "-e", "cpu-clock", "--call-graph", f"dwarf,{MOST_SIZE - 8}", "-o", "perf.data", BUSY, "0.2", env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return subprocess.call(["grep", "-q", marker, "perf.data"]) == 0


if __name__ == "__main__":
    tap.main()
