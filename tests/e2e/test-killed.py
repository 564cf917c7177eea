#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recorder that is killed: nothing of it stays behind, and what it had written can be read."""

import json
import os
import signal

import tap
from programs import REPORT, TIMEOUT, Case, needs_root, needs_sampling, run, wait_for

# Settings that recorders change and have to restore.
SETTINGS = ["/proc/sys/kernel/perf_event_paranoid", "/proc/sys/kernel/perf_event_max_sample_rate", "/proc/sys/kernel/kptr_restrict",
            "/proc/sys/kernel/nmi_watchdog", "/proc/sys/kernel/bpf_stats_enabled", "/proc/sys/kernel/printk", "/proc/sys/kernel/sched_schedstats",
            "/sys/kernel/tracing/events/enable", "/sys/kernel/debug/tracing/events/enable", "/proc/self/mounts"]
EVERYTHING = ["--scheduler", "--off-cpu", "--pressure", "--thermal", "--gpu", "--rapl", "--kernel-log"]


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        return error.strerror


def descendants(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        for child in read(f"/proc/{pid}/task/{task}/children").split():
            found += [int(child), *descendants(int(child))]
    return found


def lives(pid):
    _, has_name, rest = read(f"/proc/{pid}/stat").rpartition(")")
    return bool(has_name) and rest.split()[0] not in ("Z", "X")


class Killed(Case):
    @needs_root
    @needs_sampling
    def test_nothing_stays(self):
        before = [read(path) for path in SETTINGS]
        pinned = os.listdir("/sys/fs/bpf") if os.path.isdir("/sys/fs/bpf") else []
        recorder = self.recorder("--json-status", *EVERYTHING, "x.syscap")
        recorder.wait_for_status()
        recorder.process.stderr.readline()  # a second later there is something in the file
        children = descendants(recorder.process.pid)
        recorder.send(signal.SIGKILL)
        recorder.process.communicate(timeout=TIMEOUT)

        wait_for(lambda: not any(lives(child) for child in children), lambda: [read(f"/proc/{child}/cmdline") for child in children])
        self.assertEqual([read(path) for path in SETTINGS], before)
        if os.path.isdir("/sys/fs/bpf"):
            self.assertEqual(os.listdir("/sys/fs/bpf"), pinned)
        self.assertEqual(sorted(os.listdir(".")), ["notify", "x.syscap"])

        done = run(REPORT, "functions", "--format", "json", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["capture"]["samples"], 0)


if __name__ == "__main__":
    tap.main()
