#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""CPU time and memory of recorded processes, against what ps and the processes themselves measure."""

import json
import shutil
import sys
import textwrap
import unittest

import tap
from programs import CLI, REPORT, Case, run

MB = 10**6
PIECE = 4 << 20
N_PIECES = 40
PAUSE = 0.08  # seconds between two pieces

# Uses memory and CPU time, and prints what ps says about it at its end: KiB, then seconds from the program's own clock.
PROGRAM = textwrap.dedent(f"""
    import os, subprocess, sys, time
    kept, start = [], time.monotonic()
    for i in range({N_PIECES}):
        if sys.argv[1] == "grow" or i == 0:
            kept.append(b"x" * ({PIECE} if sys.argv[1] == "grow" else {PIECE * N_PIECES}))
        while time.monotonic() < start + (i + 1) * {PAUSE}:
            pass
    used = time.process_time()
    ps = subprocess.run(["ps", "-o", "rss=", "-p", str(os.getpid())], stdout=subprocess.PIPE, check=True)
    with open("said", "w") as file:
        print(os.getpid(), int(ps.stdout) * 1024, used, file=file)
""")


@unittest.skipIf(shutil.which("ps") is None, "ps is not installed")
class ProcessUsage(Case):
    def record(self, how, *options):
        done = run(CLI, "-f", "--quiet", "--no-perf", "--no-decode", *options, "x.syscap", "--", sys.executable, "-c", PROGRAM, how)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open("said", encoding="ascii") as file:
            pid, rss, used = file.read().split()
        return int(pid), int(rss), float(used)

    def report(self, *words):
        done = run(REPORT, *words, "--format", "json", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def row_of(self, pid):
        return next(row for row in self.report("processes", "--process", str(pid))["rows"] if row["pid"] == pid)

    def growths(self):
        return [finding for finding in self.report("summary")["findings"] if finding["kind"] == "memory-growth"]

    def test_a_program_that_grows(self):
        pid, rss, used = self.record("grow")
        row = self.row_of(pid)
        grown = row["rss-last"] - row["rss-first"]
        # It may grow for half a second after the last reading, and much longer on a busy machine.
        self.assertLessEqual(row["rss-last"], rss + MB)
        self.assertGreater(grown, PIECE * N_PIECES // 2)
        self.assertLess(grown, PIECE * N_PIECES + 20 * MB)
        self.assertLessEqual(row["cpu-time"] / 1e9, used + 0.1)
        self.assertGreater(row["cpu-time"] / 1e9, used / 2)

        finding, = self.growths()
        self.assertEqual(finding["process"].split("/")[-1], str(pid))
        amount = float(finding["text"].split(" uses ")[1].split(" MB")[0])
        self.assertAlmostEqual(amount, grown / MB, delta=1)
        self.assertRegex(finding["text"], r"it grew by [0-9.]+ MB/s\.")

    def test_a_program_that_does_not_grow(self):
        pid, rss, _ = self.record("stay")
        self.assertAlmostEqual(self.row_of(pid)["rss-max"], rss, delta=5 * MB)
        self.assertEqual(self.growths(), [])

    def test_it_can_be_left_out(self):
        self.record("stay", "--no-process-usage")
        counters = self.report("counters")["rows"]
        self.assertEqual([row for row in counters if row["category"] == "Process"], [])
        self.assertNotEqual(counters, [])


if __name__ == "__main__":
    tap.main()
