#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A long recording of a machine on which programs start and end all the time. The memory of the recorder does
not grow, all losses are reported, and nothing remains afterwards. SOAK_SECONDS sets the duration; the
default is 60."""

import json
import os
import re
import signal
import statistics
import subprocess
import threading
import time

import tap
from programs import REPORT, Case, needs_root, needs_sampling, run

SECONDS = int(os.environ.get("SOAK_SECONDS", "60"))
MB = 1 << 20
# A table of a big program that runs for the first time is a single step. Memory kept for each process would
# be a slope: a thousand processes start each second, so that a leak of this many bytes for each exceeds the
# limit within ten seconds.
SPAN = 10
MOST_GROWTH = MB // 10
LEAST_LEVELS = 12  # so that steps are the fewer: three minutes
MOST_MEMORY = 256 * MB
# Settings that a recorder could change and forget.
SETTINGS = ["/proc/sys/kernel/perf_event_paranoid", "/proc/sys/kernel/kptr_restrict", "/proc/sys/kernel/perf_event_max_sample_rate",
            "/proc/sys/kernel/bpf_stats_enabled", "/sys/kernel/tracing/events/enable", "/proc/self/mounts"]
STORM = "while :; do /bin/true; done"


def text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        return str(error)


def memory(pid):
    """Private bytes of a process and its children, and its share of the shared ones."""
    total = 0
    try:
        for line in open(f"/proc/{pid}/smaps_rollup", encoding="ascii"):
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in text(f"/proc/{pid}/task/{task}/children").split():
                total += memory(int(child)) if child.isdigit() else 0
    except OSError:
        pass
    return total


def processes_started():
    """Of the whole machine, since it was."""
    return int(re.search(r"^processes (\d+)$", text("/proc/stat"), re.MULTILINE).group(1))


class Soak(Case):
    def storm(self):
        process = subprocess.Popen(["sh", "-c", STORM], start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(os.killpg, process.pid, signal.SIGKILL)

    @needs_root
    @needs_sampling
    def test_long_recording(self):
        before = [text(path) for path in SETTINGS]
        n_programs = len(os.listdir("/sys/fs/bpf")) if os.path.isdir("/sys/fs/bpf") else 0
        for _ in range(os.cpu_count()):
            self.storm()
        recorder = self.recorder("--json-status", "x.syscap")
        recorder.wait_for_status()

        lines = []
        reader = threading.Thread(target=lambda: lines.extend(recorder.process.stderr), daemon=True)
        reader.start()
        taken = []
        started = processes_started()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self.assertIsNone(recorder.process.poll(), lines[-3:])
            taken.append(memory(recorder.process.pid))
            time.sleep(1)
        rate = (processes_started() - started) / SECONDS
        recorder.send(signal.SIGINT)
        recorder.process.wait(timeout=300)
        reader.join(timeout=60)
        self.assertEqual(recorder.process.returncode, 0, lines[-3:])

        settled = taken[len(taken) // 3:]
        levels = [statistics.median(settled[i:i + SPAN]) for i in range(0, len(settled) - SPAN + 1, SPAN)]
        growth = statistics.median(b - a for a, b in zip(levels, levels[1:]))
        print(f"# {SECONDS} s: {levels[0] / MB:.1f} MB after a third, {levels[-1] / MB:.1f} MB in the end, {max(taken) / MB:.1f} MB at most, "
              f"{growth / 1024:.0f} KB more each {SPAN} s; {rate:.0f} processes and threads started a second")
        if len(levels) >= LEAST_LEVELS:
            self.assertLess(growth, MOST_GROWTH, [round(size / MB, 1) for size in taken])
        self.assertLess(max(levels), MOST_MEMORY)

        self.assertEqual([text(path) for path in SETTINGS], before)
        if os.path.isdir("/sys/fs/bpf"):
            self.assertEqual(len(os.listdir("/sys/fs/bpf")), n_programs)
        self.assertEqual(sorted(os.listdir(".")), ["notify", "x.syscap"])

        last_status = json.loads([line for line in lines if line.startswith(b'{"time"')][-1])
        self.assertTrue(last_status["finished"])
        print(f"# {last_status['samples']} samples, {last_status['lost']} lost, {last_status['size'] / MB:.0f} MB, recorder "
              f"{last_status['cpu-time'] / 1e7 / SECONDS:.2f} % of a CPU")
        capture = self.report("functions", "--limit", "5")["capture"]
        self.assertEqual(capture["samples"], last_status["samples"])
        self.assertEqual(capture["lost"], last_status["lost"])
        told = [re.match(r"Lost (\d+) samples", row["message"]) for row in self.report("logs")["rows"]]
        self.assertEqual(sum(int(found.group(1)) for found in told if found), last_status["lost-samples"])

    def report(self, *words):
        done = run(REPORT, *words, "--format", "json", "x.syscap", timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


if __name__ == "__main__":
    tap.main()
