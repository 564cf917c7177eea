#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The symbol cache changes no report: one recording is read with an empty cache, a partial one, a full one,
and a damaged one."""

import json
import os
import pathlib
import shutil
import subprocess
import time
import unittest.mock

import tap
from programs import BUSY, CLI, REPORT, Case, run

VARIABLE = "SYSPROF_SYMBOL_CACHE"


class SymbolCache(Case):
    def setUp(self):
        super().setUp()
        self.cache = pathlib.Path("cache/symbols").resolve()
        environment = unittest.mock.patch.dict(os.environ, {VARIABLE: str(self.cache)})
        environment.start()
        self.addCleanup(environment.stop)

    def record(self, *command):
        done = run(CLI, "-f", "--duration", "0.5", "--no-decode", "x.syscap", "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)

    def report(self, view="tree", cached=True):
        with unittest.mock.patch.dict(os.environ, {} if cached else {VARIABLE: ""}):
            done = run(REPORT, view, "--format", "json", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def entries(self):
        return sorted(self.cache.glob("*.names")) + sorted(self.cache.glob("*.lines"))

    def test_reports_are_the_same(self):
        self.record(BUSY)
        expected = {view: self.report(view, cached=False) for view in ("tree", "functions", "samples")}
        self.assertFalse(self.cache.exists())
        self.assertTrue(any(row["symbol"] == "main" for row in json.loads(expected["functions"])["rows"]))
        for view, text in expected.items():  # the first finds nothing, all others what it left
            self.assertEqual(self.report(view), text, view)
        self.assertTrue(self.entries())

        # Damaged entries are written again.
        whole = {path: path.read_bytes() for path in self.entries()}
        for path, text in whole.items():
            path.write_bytes(text[:-1] + bytes([text[-1] ^ 1]))
        self.assertEqual(self.report(), expected["tree"])
        self.assertEqual({path: path.read_bytes() for path in self.entries()}.keys(), whole.keys())
        for path, text in whole.items():
            path.write_bytes(text[:len(text) // 2])
        self.assertEqual(self.report(), expected["tree"])

        # Nowhere to keep it.
        shutil.rmtree("cache")
        pathlib.Path("cache").write_text("")
        self.assertEqual(self.report(), expected["tree"])

    @unittest.skipUnless(shutil.which("objcopy"), "objcopy is not installed")
    def test_debug_file_that_comes_later(self):
        """The program has no symbols at first. Then its debug file is added, then replaced by that of another
        program."""
        shutil.copy(BUSY, "program")
        subprocess.run(["objcopy", "--only-keep-debug", "program", "program.debug"], check=True)
        subprocess.run(["objcopy", "--strip-all", "--add-gnu-debuglink=program.debug", "program"], check=True)
        os.mkdir("kept")
        os.rename("program.debug", "kept/program.debug")
        time.sleep(0.2)  # what has just been written is not remembered
        self.record("./program")

        def names():
            text = self.report("functions")
            self.assertEqual(text, self.report("functions", cached=False))
            return {row["symbol"] for row in json.loads(text)["rows"] if row["binary"] == "program"}

        for _ in range(2):
            self.assertNotIn("main", names())
        os.rename("kept/program.debug", "program.debug")
        for _ in range(2):
            self.assertIn("main", names())
        os.rename("program.debug", "kept/program.debug")
        self.assertNotIn("main", names())
        subprocess.run(["objcopy", "--only-keep-debug", REPORT, "program.debug"], check=True)
        self.assertNotIn("main", names())
        os.rename("kept/program.debug", "program.debug")
        self.assertIn("main", names())


if __name__ == "__main__":
    tap.main()
