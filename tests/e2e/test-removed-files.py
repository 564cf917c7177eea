#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are gone, and whose processes are gone, when the recording ends: their functions have the names that nm gives them. Programs
that the recorder has never seen have complete stacks from their exec on."""

import json
import os
import re
import shutil
import subprocess
import unittest

import tap
from decoder import Capture
from programs import BUSY, CLI, REPORT, Case, needs_root, needs_sampling, run, skip_without_bpf

PROGRAM = os.environ.get("MOVED_FILES", "moved-files")
LIBRARY = os.environ.get("MOVED_LIBRARY", "moved-library.so")
SHORT_LIFE = os.environ.get("SHORT_LIFE", "short-life")
FREQUENCY = 4000  # of 0.2 s of CPU time: some 800 samples
LEAST_STACKS = 100  # where the machine takes fewer samples
LEAST_COMPLETE = 0.99
USER_CONTEXT = 2**64 - 512
SECONDS = "0.7"  # its table takes some milliseconds, and may wait for its turn


def functions_of(path):
    return set(re.findall(r"^\S+ [tTwW] (\S+)$", run("nm", path).stdout.decode(), re.MULTILINE))


@unittest.skipUnless(shutil.which("nm"), "needs nm")
class Vanished(Case):
    def record(self, script, *words):
        """Programs that the script starts have ended when it ends."""
        done = run(CLI, "-f", "--max-size", "200M", "x.syscap", "--", "sh", "-c", f"{script}; true", "sh", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        if Capture.open("x.syscap").metadata()["org.gnome.sysprof.unwind"] == "frame-pointer":
            skip_without_bpf(self, done.stderr.decode())

    def assert_named(self, binary, file, name):
        done = run(REPORT, "functions", "--no-inlines", "--format", "json", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["symbol"] for row in json.loads(done.stdout)["rows"] if row["binary"] == binary}
        self.assertIn(name, rows)
        # The linker's own stubs have no name, and are reported by their address.
        self.assertLessEqual({row for row in rows if not row.startswith(f"[{binary}:0x")}, functions_of(file))

    @needs_root
    def test_library(self):
        for how in ("deleted", "replaced"):
            with self.subTest(how):
                shutil.copy(LIBRARY, "library.so")
                self.record('"$@"', PROGRAM, self.path("library.so"), how, SECONDS)
                self.assert_named("library.so", LIBRARY, "moved_spin")

    @needs_root
    def test_program(self):
        name = f"inner-{os.getpid()}"
        shutil.copy(BUSY, name)
        self.record('"$1" "$2" >/dev/null & until [ "$(readlink /proc/$!/exe)" = "$1" ]; do :; done; rm "$1"; wait', self.path(name), SECONDS)
        self.assertFalse(os.path.exists(name))
        self.assert_named(name, BUSY, "heavy_work")

    @needs_root
    def test_file_system(self):
        """In a mount namespace that only the program has."""
        name = f"inner-{os.getpid()}"
        os.mkdir("place")
        if not shutil.which("unshare") or run("unshare", "-m", "mount", "-t", "tmpfs", "none", "place").returncode != 0:
            self.skipTest("no mount namespace can be made here")
        self.record('unshare -m sh -c \'mount -t tmpfs none place && cp "$0" "place/$1" && "place/$1" "$2" >/dev/null; umount -l place\' "$@"',
                    BUSY, name, SECONDS)
        self.assert_named(name, BUSY, "heavy_work")


class FirstStacks(Case):
    def stacks(self, path):
        """Of each sample in the program with a user stack, the reason why it is truncated; None = it is complete."""
        capture = Capture.open(path)
        names = {address: name for frame in capture.of("jitmap") for address, name in frame["names"]}
        pids = {pid for pid, names in capture.names().items() if any("never-seen" in name for name in names)}
        for frame in capture.of("sample"):
            if frame["pid"] in pids and USER_CONTEXT in frame["addrs"]:
                marker = re.match(r"\[stack (?:cut|truncated): (.*)\]", names.get(frame["addrs"][-1], ""))
                yield marker.group(1) if marker else None

    @needs_sampling
    @needs_root
    def test_program_that_was_never_seen(self):
        shell = subprocess.Popen(["sh", "-c", "read start; ./never-seen; :"], stdin=subprocess.PIPE)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.kill)
        recorder = self.recorder("-f", "-F", FREQUENCY, "--no-decode", "--unwind", "tables", "--json-status", "--pid", shell.pid,
                                 "x.syscap")
        try:
            recorder.wait_for_status()
        except AssertionError as error:
            self.skipTest(str(error))
        shutil.copy(SHORT_LIFE, "never-seen")
        shell.communicate(b"\n")
        status, _, told = recorder.finish()
        self.assertEqual(status, 0, told)

        reasons = list(self.stacks("x.syscap"))
        if len(reasons) < LEAST_STACKS:
            self.skipTest(f"the kernel took only {len(reasons)} samples of the program")
        complete = reasons.count(None) / len(reasons)
        self.assertGreaterEqual(complete, LEAST_COMPLETE, {reason: reasons.count(reason) for reason in set(reasons)})


if __name__ == "__main__":
    tap.main()
