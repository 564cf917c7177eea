#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program with call-frame information in its debug file only: its stacks are complete if that file is
installed."""

import json
import os
import pathlib
import platform
import secrets
import shutil
import subprocess
import unittest

import tap
from decoder import Capture
from programs import CLI, REPORT, Case, needs_root, run, skip_without_bpf

SOURCES = pathlib.Path(__file__).parent
INSTALLED = pathlib.Path("/usr/lib/debug/.build-id")


@unittest.skipUnless(platform.machine() == "x86_64", "stacks are walked in the kernel on x86-64 alone")
@unittest.skipUnless(shutil.which("objcopy"), "objcopy is not installed")
class DebugFiles(Case):
    def build(self, build_id):
        """The program without its debug information, and that."""
        subprocess.run(["cc", "-g", "-O1", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
                        f"-Wl,--build-id=0x{build_id}", "-o", "around", SOURCES / "around.c", SOURCES / "around.s"], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", "around", "around.debug"], check=True)
        subprocess.run(["objcopy", "--strip-all", "around"], check=True)

    def install(self, build_id):
        path = INSTALLED / build_id[:2] / (build_id[2:] + ".debug")
        made = [folder for folder in (path.parent, INSTALLED, INSTALLED.parent) if not folder.exists()]

        def remove():
            path.unlink()
            for folder in made:
                folder.rmdir()

        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy("around.debug", path)
        self.addCleanup(remove)

    def record(self):
        """Samples of the program, the later half: in the first there may be no table yet."""
        program = subprocess.Popen(["./around"])
        try:
            done = run(CLI, "-f", "--duration", "2", "--pid", program.pid, "x.syscap")
        finally:
            program.kill()
            program.wait()
        self.assertEqual(done.returncode, 0, done.stderr)
        if Capture.open("x.syscap").metadata()["org.gnome.sysprof.unwind"] != "tables":
            skip_without_bpf(self, done.stderr.decode())
        shown = run(REPORT, "samples", "--format", "json", "x.syscap")
        rows = [row for row in json.loads(shown.stdout)["rows"] if row["stack"]]
        self.assertGreater(len(rows), 100)
        return rows[len(rows) // 2:]

    @needs_root
    def test_rules_of_debug_file(self):
        build_id = secrets.token_hex(20)
        self.build(build_id)
        rows = self.record()
        self.assertEqual([row for row in rows if row["complete"]], [], "whole without what is in the debug file")

        self.install(build_id)
        rows = self.record()
        self.assertEqual([row["reason"] for row in rows if not row["complete"]], [])
        for row in rows:
            names = [frame["symbol"] for frame in row["stack"]]
            self.assertIn("main", names)

    @needs_root
    def test_debug_file_of_another_build(self):
        build_id = secrets.token_hex(20)
        self.build(secrets.token_hex(20))
        os.rename("around.debug", "other.debug")
        self.build(build_id)
        os.rename("other.debug", "around.debug")
        self.install(build_id)
        self.assertEqual([row for row in self.record() if row["complete"]], [], "another build's rules were taken")


if __name__ == "__main__":
    tap.main()
