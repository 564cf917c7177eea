#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/perf-capture takes over what perf sampled: as many samples as perf counts, with the stacks that perf script prints."""

import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import tap
from decoder import Capture
from programs import BUSY, CLI, REPORT, Case, can_sample, run

PERF_CAPTURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/perf-capture")
NO_ADDRESS = 2**64 - 4095  # from here on: contexts
OF_BUSY = {"main", "run_main_thread", "run_second_thread", "run_child", "heavy_work", "light_work", "shared_work", "nested_work",
           "child_work"}


class PerfCapture(Case):
    @unittest.skipUnless(can_sample() and shutil.which("perf"), "needs the right to sample the machine, and perf")
    def test_stacks_of_a_program(self):
        perf = subprocess.Popen(["perf", "record", "-q", "-a", "-g", "-e", "cpu-clock", "-c", "1000000", "-k", "CLOCK_MONOTONIC",
                                 "--buildid-mmap", "-N", "-o", "perf.data"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = run(CLI, "--quiet", "-o", "ours.syscap", "--", "sh", "-c", 'sleep 1; exec "$0" 1', BUSY)
        perf.send_signal(signal.SIGINT)
        perf.wait()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run(PERF_CAPTURE, "perf.data", "ours.syscap", "theirs.syscap").returncode, 0)

        pid = int(re.match(rb"pid (\d+)", done.stdout)[1])
        made = [frame for frame in Capture.open("theirs.syscap").of("sample") if frame["pid"] == pid]
        script = run("perf", "script", "--ns", "-F", "time,ip,sym", "--pid", str(pid), "-i", "perf.data").stdout.decode()
        printed = {int(seconds) * 10**9 + int(rest): stack.count("\n\t") for seconds, rest, stack in
                   re.findall(r"^ *(\d+)\.(\d{9}):(.*(?:\n\t.*)*)", script, re.MULTILINE)}
        self.assertGreater(len(made), 100)
        for frame in made:
            addresses = [address for address in frame["addrs"] if address < NO_ADDRESS]
            self.assertEqual(printed[frame["time"]], len(addresses), frame)

        functions = run(REPORT, "functions", "--process", "busy", "theirs.syscap").stdout.decode()
        self.assertIn("heavy_work", functions)

    @unittest.skipUnless(can_sample() and shutil.which("perf"), "needs the right to sample the machine, and perf")
    def test_copies_that_perf_walked(self):
        """perf script prints offsets in files: looked up in the capture's mappings, also of a fork, they have the names that perf gives."""
        perf = subprocess.Popen(["perf", "record", "-q", "-a", "--call-graph", "dwarf,8192", "-e", "cpu-clock", "-c", "5000000", "-k",
                                 "CLOCK_MONOTONIC", "--buildid-mmap", "-N", "-o", "perf.data"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = run(CLI, "--quiet", "--unwind", "frame-pointer", "-o", "ours.syscap", "--", "sh", "-c", 'sleep 1; exec "$0" 1', BUSY)
        perf.send_signal(signal.SIGINT)
        perf.wait()
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(PERF_CAPTURE, "perf.data", "ours.syscap", "theirs.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)

        made = Capture.open("theirs.syscap")
        rows = json.loads(run(REPORT, "samples", "--no-inlines", "--process", "busy", "--format", "json", "theirs.syscap").stdout)["rows"]
        ours = {(made.time + row["time"], row["tid"]): [entry["symbol"] for entry in row["stack"] if entry["symbol"] in OF_BUSY]
                for row in rows}
        script = run("perf", "script", "--ns", "--no-inline", "-F", "tid,time,ip,sym", "-i", "perf.data").stdout.decode()
        perfs = {(int(seconds) * 10**9 + int(rest), int(tid)): [name for name in re.findall(r"\n\t *[0-9a-f]+ (\S+)", stack) if name in OF_BUSY]
                 for tid, seconds, rest, stack in re.findall(r"^ *(\d+) +(\d+)\.(\d{9}):(.*(?:\n\t.*)*)", script, re.MULTILINE)}
        named = [key for key, names in ours.items() if names]
        self.assertGreater(len(named), 20)
        for key in named:
            self.assertEqual(ours[key], perfs[key])
        for name in ("main", "run_second_thread", "run_child"):
            self.assertIn(name, {name for key in named for name in ours[key]})

    def test_what_is_no_file_of_perf(self):
        for data in (b"", b"PERFILE2", b"text" * 100):
            with open("perf.data", "wb") as file:
                file.write(data)
            done = run(PERF_CAPTURE, "perf.data", "ours.syscap", "theirs.syscap")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"cannot read 'perf.data'", done.stderr)


if __name__ == "__main__":
    tap.main()
