#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that measures what its own functions take is recovered from a recording; perf beside it agrees.

The program is tests/workloads/busy.c; its path and ours come from the environment, as for tests/e2e."""

import collections
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tap
from programs import BUSY, CLI, REPORT, can_sample, run

SECONDS = 2
HERTZ = 1000
BEGINNINGS = ("_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_main@@GLIBC_2.34", "__libc_start_call_main", "clone3", "__clone3", "start_thread")
# The output of busy, and the callers of its functions.
PATHS = {
    "main heavy_work": ("main", "run_main_thread", "heavy_work"),
    "main light_work": ("main", "run_main_thread", "light_work"),
    "second heavy_work": ("run_second_thread", "heavy_work"),
    "second nested_work": ("run_second_thread", "shared_work", "nested_work"),
    "child child_work": ("main", "run_child", "child_work"),
}


def deviation(share, n):
    """Standard deviation of a share among n samples."""
    return (share * (1 - share) / n) ** 0.5


class KnownSplit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not can_sample():
            raise unittest.SkipTest("may not sample the machine: needs root or kernel.perf_event_paranoid below 1")
        folder = tempfile.TemporaryDirectory(prefix="sysprof-truth-")
        cls.addClassCleanup(folder.cleanup)
        cls.capture = f"{folder.name}/run.syscap"
        cls.perf_data = f"{folder.name}/perf.data" if shutil.which("perf") else None
        # perf may keep things in the home directory.
        cls.environment = dict(os.environ, HOME=folder.name)
        # perf has to request build IDs because our recorder does. The kernel (seen with 6.18) marks mapping
        # records as having one for all readers as soon as one of them requests it, and perf report then fails
        # on its own file ("assertion failed at util/build-id.c"). It records the program alone, without -a,
        # because other programs do not matter here.
        beside = ["perf", "record", "-q", "--buildid-mmap", "-N", "-g", "-e", "cpu-clock", "-c", str(10**9 // HERTZ),
                  "-o", cls.perf_data, "--"] if cls.perf_data else []
        done = run(CLI, "-F", HERTZ, "--quiet", "-o", cls.capture, "--", *beside, BUSY, SECONDS, env=cls.environment)
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        text = done.stdout.decode()
        cls.pid, cls.child = (int(number) for number in re.match(r"pid (\d+) child (\d+)\n", text).groups())
        cls.used = {name: int(used) / 1000 for name, used in re.findall(r"^(\w+ \w+) (\d+)$", text, re.MULTILINE)}

    def report(self, view, *options):
        # As in perf's report: inlined code belongs to its function.
        done = run(REPORT, view, "--no-inlines", "--format", "json", "--limit", "0", *options, self.capture)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"]

    def of_program(self, view, *options):
        return self.report(view, "--process", self.pid, "--process", self.child, *options)

    def calls(self):
        """{path from the root: total} of all nodes of the program's call tree."""
        found = collections.Counter()

        def visit(node, above):
            path = (*above, node["symbol"])
            found[path] += node["total"]
            for child in node["children"]:
                visit(child, path)

        for row in self.of_program("tree"):
            visit(row, ())
        return found

    def under(self, calls, path):
        """Weight of the nodes that are reached by `path`, whatever stands above."""
        return sum(total for at, total in calls.items() if at[-len(path):] == path)

    def test_split_is_recovered(self):
        self.assertEqual(set(self.used), set(PATHS))
        calls = self.calls()
        samples = {name: self.under(calls, path) for name, path in PATHS.items()}
        n, seconds = sum(samples.values()), sum(self.used.values())
        # A virtual machine that is not scheduled misses its timer. Therefore the number of samples is not
        # checked here.
        self.assertGreater(n, 0.5 * HERTZ * seconds)
        for name in PATHS:
            share, truth = samples[name] / n, self.used[name] / seconds
            print(f"# {name}: {share:.2%} of {n} samples, in truth {truth:.2%}")
            # Besides chance: a virtual machine that is not let run counts that time for the thread, but has no timer then.
            self.assertLess(abs(share - truth), 4 * deviation(truth, n) + 0.01, name)

    def test_leaves_are_called_from_nowhere_else(self):
        calls = self.calls()
        total = max(calls.values())
        for leaf in {path[-1] for path in PATHS.values()}:
            right = sum(self.under(calls, path) for path in PATHS.values() if path[-1] == leaf)
            # Until the walker is loaded stacks follow frame pointers: a sample in a function's first instructions misses the caller.
            self.assertGreaterEqual(right, 0.95 * self.under(calls, (leaf,)), leaf)
        # All that the program does is done below these; what remains is its start, its end and its own clock.
        whole = sum(self.under(calls, path) for path in PATHS.values())
        self.assertGreaterEqual(whole, 0.97 * total)

    def test_threads_and_child_are_told_apart(self):
        # A thread that has just ended has no number any more: the kernel says -1.
        found = {(row["pid"], row["tid"]): row["total"] for row in self.of_program("threads") if row["tid"] != -1}
        n, seconds = sum(found.values()), sum(self.used.values())
        second = [tid for pid, tid in found if pid == self.pid and tid != pid]
        self.assertEqual(len(second), 1, found)
        self.assertEqual(set(found), {(self.pid, self.pid), (self.pid, second[0]), (self.child, self.child)})
        for word, key in (("main", (self.pid, self.pid)), ("second", (self.pid, second[0])), ("child", (self.child, self.child))):
            truth = sum(used for name, used in self.used.items() if name.startswith(word)) / seconds
            self.assertLess(abs(found[key] / n - truth), 4 * deviation(truth, n) + 0.02, word)

    def perf_rows(self, *options):
        """Returns {symbol: (samples, samples with callees)} by perf, kernel and user together."""
        done = run("perf", "report", "-i", self.perf_data, "--stdio", "--no-inline", "--children", "-g", "none", "--percent-limit", "0",
                   "--sort", "sym", "-F", "overhead_children,overhead,sample,sym", "-t", "|", *options, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^ *([\d.]+)% *\| *([\d.]+)% *\| *(\d+) *\| *\[[.k]\] (\S+) *$", done.stdout.decode(), re.MULTILINE)
        self.assertGreater(len(rows), 10, done.stdout)
        return {name: (int(n), float(total) / 100) for total, _, n, name in rows}

    def test_perf_agrees_on_the_ten_hottest(self):
        if self.perf_data is None:
            self.skipTest("perf is not installed")
        theirs = self.perf_rows()
        ours = collections.defaultdict(lambda: (0, 0))
        for row in self.of_program("functions"):
            if row["kind"] in ("user", "kernel"):
                own, total = ours[row["symbol"]]
                ours[row["symbol"]] = own + row["self"], total + row["total"]
        n_ours, n_theirs = sum(own for own, _ in ours.values()), sum(n for n, _ in theirs.values())
        for of, share_ours, share_theirs in (
            ("self", lambda name: ours[name][0] / n_ours, lambda name: theirs.get(name, (0, 0))[0] / n_theirs),
            ("total", lambda name: ours[name][1] / n_ours, lambda name: theirs.get(name, (0, 0))[1]),
        ):
            ten = sorted(theirs, key=share_theirs)[-10:]
            hottest = set(ten) | set(sorted(ours, key=share_ours)[-10:])
            for name in sorted(hottest, key=share_theirs, reverse=True):
                if of == "total" and name in BEGINNINGS and share_theirs(name) < 0.01:
                    continue  # perf's stacks follow frame pointers, and end in the C library before; but it may be interrupted there
                a, b = share_ours(name), share_theirs(name)
                print(f"# {of} {name}: ours {a:.2%}, perf {b:.2%}")
                allowed = 4 * (deviation(b, n_theirs) ** 2 + deviation(a, n_ours) ** 2) ** 0.5 + 0.01
                self.assertLess(abs(a - b), allowed, f"{of} of {name}: ours {a:.4f}, perf's {b:.4f}")


if __name__ == "__main__":
    tap.main()
