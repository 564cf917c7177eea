#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Code whose file is not, or not any more, where its mapping says: stacks through it are walked with its own table."""

import json
import os
import platform
import shutil
import unittest

import tap
from decoder import Capture
from programs import CLI, REPORT, Case, needs_root, run, skip_without_bpf

PROGRAM = os.environ.get("MOVED_FILES", "moved-files")
LIBRARY = os.environ.get("MOVED_LIBRARY", "moved-library.so")
DEPTH = 6  # functions of the library below each other: moved_spin, and five times one that calls itself


@unittest.skipUnless(platform.machine() == "x86_64", "stacks are walked in the kernel on x86-64 alone")
class Moved(Case):
    def record(self, *command):
        done = run(CLI, "-f", "x.syscap", "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        if Capture.open("x.syscap").metadata()["org.gnome.sysprof.unwind"] != "tables":
            skip_without_bpf(self, done.stderr.decode())
        return done.stdout.decode().split()[1]

    def assert_whole(self, pid):
        done = run(REPORT, "samples", "--format", "json", "--process", pid, "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [row for row in json.loads(done.stdout)["rows"] if len(row["stack"]) > 0 and row["unwind"] in ("tables", "copy")]
        whole = [row for row in rows if row["complete"]]
        self.assertGreater(len(whole), 50, {row["reason"] for row in rows})
        # Before its table is ready, which takes longer on a busy machine, its stacks may be truncated. So may
        # those of the programs that it executed before, whose files no process maps any more. Other reasons
        # are allowed for one stack in a thousand only.
        cut = {row["reason"] for row in rows if not row["complete"]}
        others = [row for row in rows
                  if not row["complete"] and row["reason"] not in ("no-table", "no-process", "no-mapping", "not-yet", "fault", "table-failed")]
        self.assertLessEqual(len(others), 1 + len(rows) / 1000, others[:5])
        deep = [row for row in whole if len(row["stack"]) > DEPTH]
        covered = rows[len(rows) // 2:]
        self.assertGreaterEqual(sum(row["complete"] for row in covered), 0.97 * len(covered), cut)
        self.assertGreaterEqual(len(deep), 0.9 * len(whole), "walks that are whole have left out the library")

    @needs_root
    def test_files_that_are_gone(self):
        for how in ("kept", "deleted", "replaced", "memory"):
            with self.subTest(how):
                shutil.copy(LIBRARY, self.path("library.so"))
                self.assert_whole(self.record(PROGRAM, self.path("library.so"), how, "1.2"))

    @needs_root
    def test_file_of_another_mount_namespace(self):
        os.mkdir("container")
        if not shutil.which("unshare") or run("unshare", "-m", "mount", "-t", "tmpfs", "none", self.path("container")).returncode != 0:
            self.skipTest("no mount namespace can be made here")
        script = 'mount -t tmpfs none container && cp "$1" container/library.so && exec "$2" "$PWD/container/library.so" kept 1.2'
        pid = self.record("unshare", "-m", "sh", "-c", script, "sh", LIBRARY, PROGRAM)
        self.assertFalse(os.path.exists("container/library.so"))
        self.assert_whole(pid)


if __name__ == "__main__":
    tap.main()
