#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Losses are counted by kind: a program counts its own page faults and mappings, and while it runs the recorder is stopped, so that the
rings overflow."""

import json
import os
import re
import signal
import subprocess
import sys
import unittest

import tap
from decoder import Capture
from programs import REPORT, Case, needs_sampling, run

N_FAULTS = 150_000
N_MAPPINGS = 30_000
MOST_OTHER = 60  # faults and mappings of the interpreter itself, between its own counts and the begin and end of the recording

WORKLOAD = """
import mmap, resource, sys
n_faults, n_mappings, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
memory = mmap.mmap(-1, n_faults * 4096)
memory.madvise(mmap.MADV_NOHUGEPAGE)
file = open(path, "rb")
print(flush=True)
sys.stdin.readline()
before = resource.getrusage(resource.RUSAGE_SELF)
for i in range(0, n_faults * 4096, 4096):
    memory[i] = 1
for i in range(n_mappings):
    mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt, flush=True)
sys.stdin.readline()
"""


class Losses(Case):
    def record(self, words):
        """(faults, the capture, the last status, what the recorder printed)"""
        with open("mapped", "wb") as file:
            file.write(bytes(4096))
        workload = subprocess.Popen([sys.executable, "-c", WORKLOAD, str(N_FAULTS), str(N_MAPPINGS), self.path("mapped")],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(workload.communicate)
        self.addCleanup(workload.kill)
        workload.stdout.readline()
        recorder = self.recorder("-f", "--event", "page-faults:1", "--no-decode", *words(workload.pid), self.path("x.syscap"))
        if "--json-status" in words(0):
            recorder.wait_for_status()
        else:
            recorder.wait_until_recording()
        recorder.send(signal.SIGSTOP)
        os.waitpid(recorder.process.pid, os.WUNTRACED)
        workload.stdin.write(b"\n")
        workload.stdin.flush()
        faults = int(workload.stdout.readline())
        recorder.send(signal.SIGCONT)
        recorder.send(signal.SIGINT)
        status, _, err = recorder.finish()
        self.assertEqual(status, 0, err)
        return faults, Capture.open("x.syscap"), err

    def check(self, *words):
        faults, capture, err = self.record(lambda pid: ["--json-status", "-p", pid, *words])
        last = json.loads([line for line in err.splitlines() if line.startswith('{"time"')][-1])
        metadata = capture.metadata()
        self.assertEqual([last[key] for key in ("lost", "lost-samples", "lost-records")],
                         [int(metadata["org.gnome.sysprof." + key]) for key in ("lost", "lost-samples", "lost-records")])
        self.assertGreater(last["lost-samples"], N_FAULTS // 10)
        self.assertGreater(last["lost-records"], N_MAPPINGS // 10)
        self.assertEqual(last["lost"], last["lost-samples"] + last["lost-records"])

        n_samples = len(list(capture.of("sample")))
        n_mappings = sum(frame["path"].endswith("/mapped") for frame in capture.of("map"))
        self.assertIn(n_samples + last["lost-samples"] - faults, range(MOST_OTHER))
        self.assertIn(n_mappings + last["lost-records"] - N_MAPPINGS, range(MOST_OTHER))

        done = run(REPORT, "summary", "--format", "json", "x.syscap")
        reported = json.loads(done.stdout)["capture"]
        for key in ("lost", "lost-samples", "lost-records"):
            self.assertEqual(reported[key], last[key])
        shown = run(REPORT, "x.syscap").stdout.decode()
        self.assertIn(f"{last['lost-samples']:,} lost; {last['lost-records']:,} records lost", shown)

    @needs_sampling
    def test_frame_pointers(self):
        self.check("--unwind", "frame-pointer")

    @needs_sampling
    def test_tables(self):
        self.check()

    @needs_sampling
    def test_copies(self):
        self.check("--unwind", "copy")

    @needs_sampling
    def test_printed_by_kind(self):
        _, capture, err = self.record(lambda pid: [])
        metadata = capture.metadata()
        self.assertEqual(re.findall(r"Samples are missing: (\d+) lost", err), [metadata["org.gnome.sysprof.lost-samples"]])
        self.assertIn(metadata["org.gnome.sysprof.lost-records"],
                      re.findall(r"sysprof-cli: (\d+) records lost \(\d+ of processes, mappings and recorded programs\): stacks", err) or err)


if __name__ == "__main__":
    tap.main()
