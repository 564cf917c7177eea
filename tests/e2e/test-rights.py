#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysprof-cli without rights: what is missing is named with the ways to grant it, and the rest is recorded."""

import os

import tap
from capture import Capture
from programs import BUSY, CLI, DENY_PERF, Case, run


def paranoid():
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        return int(file.read())


class Rights(Case):
    def assert_named(self, done):
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 0, text)
        for word in ("kernel.perf_event_paranoid", "CAP_PERFMON"):
            self.assertIn(word, text)

    def assert_rest_recorded(self, path):
        capture = Capture.open(path)
        self.assertTrue(capture.of("process"))
        self.assertTrue(capture.of("map"))
        self.assertTrue(capture.of("ctrset"))
        self.assertIn("hostname", capture.metadata())
        return capture

    def test_every_event_refused(self):
        done = run(DENY_PERF, CLI, "-d", "0.5", "x.syscap")
        self.assert_named(done)
        self.assertEqual(self.assert_rest_recorded("x.syscap").of("sample"), [])

    def test_ordinary_user(self):
        if paranoid() < 1:
            self.skipTest("kernel.perf_event_paranoid lets everybody sample here")
        (cli,), as_nobody = self.as_nobody(CLI)
        done = run(*as_nobody, cli, "-d", "0.5", self.path("x.syscap"))
        self.assert_named(done)
        self.assert_rest_recorded("x.syscap")

    def test_ordinary_user_samples_own_command(self):
        (cli, busy), as_nobody = self.as_nobody(CLI, BUSY)
        done = run(*as_nobody, cli, self.path("x.syscap"), "--", busy, "0.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"child_work", done.stdout)
        self.assert_rest_recorded("x.syscap")

    def test_ordinary_user_is_no_reader_of_others(self):
        (cli,), as_nobody = self.as_nobody(CLI)
        done = run(*as_nobody, cli, "--quiet", "-d", "0.2", self.path("x.syscap"))
        self.assertEqual(done.returncode, 0, done.stderr)
        maps = {frame.pid for frame in Capture.open("x.syscap").of("map")}
        self.assertNotIn(os.getpid(), maps)


if __name__ == "__main__":
    tap.main()
