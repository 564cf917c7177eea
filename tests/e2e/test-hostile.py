#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures that were recorded here, then cut and changed anywhere: every program opens what can be read, or says in one line
why not. Worth most under the address sanitizer.

HOSTILE_SEED in the environment chooses other changes than the usual ones; what fails says the number that repeats it.
"""

import concurrent.futures
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile

import tap
from decoder import whole
from output_formats import FORMATS, VIEWS, check_output, options_of
from programs import BUSY, CAT, CLI, REPORT, Case, run

CHANGE = os.environ.get("CHANGE_CAPTURES", "change-captures")
WRITE = os.environ.get("WRITE_CAPTURE", "write-capture")
TARGET = os.environ.get("COLLECTOR_TARGET", "collector-target")
DEBIAN = os.environ.get("WITH_DEBIAN_RECORDER", "with-debian-recorder")

SEED = int(os.environ.get("HOSTILE_SEED", "20260301"))
N_CUTS, N_CHANGES = 200, 2000
N_THROUGH_PROGRAMS = 12
MOST_MEMORY = 1 << 30  # bytes; the address sanitizer keeps freed memory
SECONDS = 120
SANITIZERS = dict(ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":exitcode=99:allocator_may_return_null=1:max_allocation_size_mb=1024",
                  UBSAN_OPTIONS=os.environ.get("UBSAN_OPTIONS", "") + ":exitcode=99")
ALARMS = (b"Sanitizer", b"runtime error", b"CRITICAL", b"WARNING **", b"ERROR:")


def record_narrowly(folder):
    """One program, sampled; and beside it a frame of every type."""
    one, other, both = (os.path.join(folder, name) for name in ("narrow", "every", "joined"))
    with subprocess.Popen([BUSY, "0.5"], stdout=subprocess.DEVNULL) as busy:
        done = run(CLI, "-F", "500", "--pid", busy.pid, one)
    assert done.returncode == 0, done.stderr
    subprocess.run([WRITE, other], check=True)
    done = run(CLI, "--merge", one, other)
    assert done.returncode == 0, done.stderr
    with open(both, "wb") as file:
        file.write(done.stdout)
    assert {"jitmap", "file", "ctrset", "process", "map"} <= set(whole(done.stdout).counts())
    return both


def record_all(folder):
    path = os.path.join(folder, "all")
    done = run(CLI, "-F", "50", path, "--", BUSY, "0.1")
    assert done.returncode == 0, done.stderr
    return path


def record_with_debian(folder):
    """None where Debian's recorder cannot record."""
    path = os.path.join(folder, "debian")
    try:
        done = run(DEBIAN, "/usr/bin/sysprof-cli", "-f", path, "--", TARGET, "all")
    except FileNotFoundError:
        return None
    if done.returncode == 77:
        return None
    assert done.returncode == 0, done.stderr
    return path


class Bases:
    """(name, path, share of all changes in per cent)"""

    folder = None
    rows = []

    @classmethod
    def all(cls):
        if not cls.rows:
            cls.folder = tempfile.TemporaryDirectory(prefix="sysprof-hostile-")
            debian = record_with_debian(cls.folder.name)
            cls.rows = [("narrow", record_narrowly(cls.folder.name), 70 if debian else 95),
                        ("all", record_all(cls.folder.name), 5)]
            if debian:
                cls.rows.append(("debian", debian, 25))
        return cls.rows

    @classmethod
    def narrow(cls):
        return cls.all()[0][1]


class InOneProcess(Case):
    """Thousands of changes through the libraries; their JSON is checked here."""

    def follow(self, tries):
        """Reads what it tells; what it was at when it ended, and how many it did."""
        n_done, n_reports, number = 0, 0, None
        for line in tries.stdout:
            words = line.split()
            if not words or not words[0].isdigit():
                continue  # GLib says here why it gives up
            if len(words) == 1:
                number = int(words[0])
                n_done += 1
                continue
            n_reports += 1
            json.loads(tries.stdout.read(int(words[2])).decode())
        return n_done, n_reports, number

    def try_numbers(self, way, path, first, end):
        with tempfile.TemporaryFile() as complaints:
            with subprocess.Popen([CHANGE, way, path, str(SEED), str(first), str(end)], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=complaints, env={**os.environ, **SANITIZERS}) as tries:
                n_done, n_reports, number = self.follow(tries)
                _, status, usage = os.wait4(tries.pid, 0)
                tries.returncode = os.waitstatus_to_exitcode(status)
            complaints.seek(0)
            what = f"{way} {path} {SEED} {number}: " + complaints.read().decode(errors="replace")
        self.assertEqual(tries.returncode, 0, what)
        self.assertEqual(n_done, end - first, what)
        self.assertLess(usage.ru_maxrss * 1024, MOST_MEMORY, what)
        return n_reports

    def try_all(self, way, n):
        """Two at a time."""
        parts, begin = [], 0
        for _, path, share in Bases.all():
            end = begin + n * share // 100
            middle = (begin + end) // 2
            parts += [(path, begin, middle), (path, middle, end)]
            begin = end
        self.assertEqual(begin, n)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            tries = [pool.submit(self.try_numbers, way, *part) for part in parts]
        self.assertGreater(sum(one.result() for one in tries), n)

    def test_cut_captures(self):
        self.try_all("cut", N_CUTS)

    def test_changed_captures(self):
        self.try_all("change", N_CHANGES)

    def test_changed_compressed_captures(self):
        with open(Bases.narrow(), "rb") as file, open("packed", "wb") as packed:
            packed.write(gzip.compress(file.read()))
        self.try_numbers("bytes", "packed", 0, 100)

    def test_changed_folded_stacks(self):
        done = run(REPORT, "--format", "folded", "-o", "stacks", Bases.narrow())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.try_numbers("folded", "stacks", 0, 300)


class ThroughPrograms(Case):
    """Fewer changes, through the programs as they are."""

    def run_limited(self, *words):
        with open("out", "wb+") as out, open("err", "wb+") as err:
            process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       env={**os.environ, **SANITIZERS, "LC_ALL": "C.UTF-8"})
            self.addCleanup(process.kill)
            try:
                process.wait(SECONDS)
            finally:
                process.kill()
            out.seek(0)
            err.seek(0)
            return process.returncode, out.read(), err.read()

    def check(self, *words, other_lines=0):
        """The status is 0 or 1. At most one line reports damage. With status 1, one line gives the reason."""
        status, out, err = self.run_limited(*words)
        said = f"{words}: status {status}: {err.decode(errors='replace')}"
        self.assertIn(status, (0, 1), said)
        for alarm in ALARMS:
            self.assertNotIn(alarm, err, said)
        lines = len(err.splitlines())
        self.assertLessEqual(lines, 1 + status + other_lines, said)
        self.assertGreaterEqual(lines, status, said)
        if err:
            self.assertTrue(err.startswith(os.path.basename(str(words[0])).encode() + b": "), said)
            check_output("text", err.decode())
        return status, out

    def changed(self, number):
        """A capture as `number` changes it."""
        bases = Bases.all()
        way = "cut" if number % 5 == 4 else "change"
        with open("changed", "wb") as file:
            subprocess.run([CHANGE, way, bases[number % len(bases)][1], str(SEED), str(number)], stdout=file, check=True)
        return "changed"

    def test_report(self):
        formats_of_views = itertools.cycle((view, form) for form in FORMATS for view in VIEWS)
        for number in range(N_THROUGH_PROGRAMS):
            path = self.changed(number)
            for view, form in itertools.islice(formats_of_views, 16):  # so that all 12 captures together go through every one
                with self.subTest(number=number, view=view, form=form):
                    status, out = self.check(REPORT, view, "--format", form, *options_of(view, "main"), path)
                    if status == 0:
                        check_output(form, out.decode())
                    else:
                        self.assertEqual(out, b"")

    def test_cat(self):
        for number in range(N_THROUGH_PROGRAMS):
            with self.subTest(number=number):
                status, out = self.check(CAT, self.changed(number))
                if status == 0:
                    self.assertTrue(out.endswith(b"}\n"))

    def test_merge(self):
        for number in range(N_THROUGH_PROGRAMS):
            with self.subTest(number=number):
                path = self.changed(number)
                status, out = self.check(CLI, "--merge", Bases.narrow(), path, other_lines=3)  # events, the kernel's functions, damaged lists
                if status == 0:
                    whole(out, odd=True)  # what is joined is whole
                else:
                    self.assertEqual(out, b"")

    def test_folded_stacks(self):
        done = run(REPORT, "--format", "folded", "-o", "stacks", Bases.narrow())
        self.assertEqual(done.returncode, 0, done.stderr)
        for number in range(N_THROUGH_PROGRAMS):
            with self.subTest(number=number):
                with open("changed", "wb") as file:
                    subprocess.run([CHANGE, "folded", "stacks", str(SEED), str(number)], stdout=file, check=True)
                status, out = self.check(REPORT, "functions", "--format", "json", "changed")
                if status == 0:
                    json.loads(out)


if __name__ == "__main__":
    sys.setrecursionlimit(100000)
    print(f"# seed {SEED}")
    try:
        tap.main()
    finally:
        if Bases.folder is not None:
            Bases.folder.cleanup()
